// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop tree: one kernel as loops with named axes around loads, reductions and stores.
//
// Statements run in order. What a tree computes does not depend on how axes are bound: a binding
// only says how a loop is run. An axis bound to unroll or vector is replicated innermost through
// every statement of its loop ("jam"), so around a reduction it makes a tile of accumulators.
#pragma once

#include <bitset>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/kernel/tree/value.hpp"
#include "tenon/precision.hpp"

namespace tenon {

inline constexpr int kMaxAxes = 256;
using AxisSet = std::bitset<kMaxAxes>;

enum class AxisKind : uint8_t {
  kParallel,  ///< iterations are independent
  kOrdered,   ///< iterations run in order (the axis of a scatter)
  kReduce,    ///< iterations combine into accumulators
};

enum class Bind : uint8_t {
  kLoop,
  kUnroll,
  kVector,
  kDot,     ///< of a dot product: neighbours of both factors, one DOT for all iterations
  kMatrix,  ///< of a matrix atom: a subgroup does all iterations together
  kGridX,
  kGridY,
  kGridZ,
  kBlockX,
  kBlockY,
  kBlockZ,
};
std::string_view bind_name(Bind bind);  ///< "grid.x"; "" for kLoop
inline bool is_jam(Bind b) { return b == Bind::kUnroll || b == Bind::kVector; }
inline bool is_grid(Bind b) { return b >= Bind::kGridX && b <= Bind::kGridZ; }
inline bool is_block(Bind b) { return b >= Bind::kBlockX; }

struct KernelAxis {
  std::string name;
  Expr extent;
  AxisKind kind = AxisKind::kParallel;
  Bind bind = Bind::kLoop;
  Expr symbol() const;  ///< its position, in [0, extent): 0 where there is one
};

enum class BufferSpace : uint8_t { kGlobal, kScratch, kShared };

/// `count` places, `step` elements of a tile apart.
struct TileDigit {
  int64_t step = 1, count = 1;
};

/// Of tiles of lines: after a pattern of lines their pieces are exchanged in the same way again.
constexpr int64_t kPieceBytes = 16, kLineBytes = 128,
                  kPatternBytes = kLineBytes * (kLineBytes / kPieceBytes);

struct KernelBuffer {
  std::string name;
  DType dtype = DType::kVoid;
  Expr count;
  BufferSpace space = BufferSpace::kGlobal;
  int input = -1, output = -1;  ///< of the graph; both for an aliased output
  bool read = false, written = false;
  bool kept = false;   ///< a tile that a reduction or loops fill for loops after it
  bool whole = false;  ///< kept: 0 at points that are not real, which are stored as well
  /// Shared: memory is lines of 128 bytes, and number p of the 8 pieces of line l stands in the
  /// place of piece p ^ l % 8, so that neither rows nor columns of pieces meet in a bank. Indices
  /// know nothing of it.
  bool lines = false;
  /// Of a kept tile in the threads' registers (register_tiles.hpp): which of its elements a thread
  /// has, as what the rest of an index is made of. Empty for others.
  std::vector<TileDigit> digits = {};
};

/// One component of a reduction's state: a monoid. The identity follows from op and dtype.
/// Components of one reduction share its loops.
struct ReduceState {
  Op op = Op::ADD;
  DType dtype = DType::kVoid;                 ///< of the accumulator
  KValueRef value;                            ///< what a step combines into it
  Precision precision = Precision::kDefault;  ///< of the factors of a sum of products
};

/// Iterations [begin, end) of a loop, inside its extent; none where end is not above begin.
struct LoopRange {
  Expr begin, end;
};

struct Statement {
  enum class Kind : uint8_t {
    kLoop,    ///< `axis`, `body`, `range`
    kReduce,  ///< reduction `id`: starts `states`, runs `body` (loops around its one kStep; of a
              ///< running one also stores after it, which take the results so far)
    kStep,    ///< of the reduction around it
    kStore,   ///< `value` to element `index` of `buffer` where `mask` holds
    kStage,   ///< `body` copies into the tile `buffer`; workgroup barriers around it if shared
    kMatrix,  ///< reduction `id`, done with matrix atoms, and the tile `buffer`: `use`
  };
  /// What a kMatrix does.
  enum class MatrixUse : uint8_t {
    kTake,   ///< the sums go into a tile of the subgroup; `body` takes its elements from there
    kPut,    ///< the sums go into a tile of the workgroup
    kBegin,  ///< a reduction that continues begins with what is in the tile
    kEnd,    ///< and leaves there what it has come to
  };
  Kind kind = Kind::kLoop;
  int axis = -1;
  std::optional<LoopRange> range;  ///< none: the whole extent
  std::vector<int> carried;        ///< kLoop: reductions that continue from iteration to iteration
  int id = -1;
  bool running = false;  ///< of a reduction: its iterations have an order
  /// Of a reduction: it starts with what it came to in the iteration before, times `value` (a load
  /// that follows the rows alone).
  bool continues = false;
  int buffer = -1;
  Expr index;
  Expr mask = 1;
  KValueRef value;
  std::vector<ReduceState> states;
  std::vector<Statement> body;
  /// kStage: iterations of the loop around it that it runs ahead of what else is in the loop. Its
  /// tile has a place for each of them and one more.
  int64_t ahead = 0;
  // kMatrix: `index` is where the atom that stands first in the tile begins
  MatrixUse use = MatrixUse::kTake;
  int64_t pitch = 0;        ///< elements between rows of the tile; if transposed, columns
  bool transposed = false;  ///< columns of the product lie side by side
  int64_t threads = 0;      ///< of the subgroup
  int64_t across = 0;       ///< of these on block.x; the others are on block.y
};

inline bool is_loop(const Statement& s) { return s.kind == Statement::Kind::kLoop; }
inline bool is_reduce(const Statement& s) { return s.kind == Statement::Kind::kReduce; }

/// A split or padding that does not divide: points with lower < upper are real, others are not.
struct Guard {
  Expr lower, upper;
  bool fills = false;  ///< of a copy: an unreal point of the tile gets the fill of its load
  Expr condition() const { return less(lower, upper); }
};

/// A symbol of Exprs that the data defines.
struct Let {
  std::string symbol;
  KValueRef value;  ///< bool: the symbol is 0 or 1
};

struct Kernel {
  std::string name;
  std::vector<Expr> symbols;  ///< of the graph
  std::vector<KernelBuffer> buffers;
  std::vector<KernelAxis> axes;
  std::vector<Let> lets;
  std::vector<Guard> guards;
  std::vector<Statement> body;
  /// Statements of `body` in each section, in order: a section runs in workgroups of its own, those
  /// along grid.x that follow the section's before it. Empty: one section.
  std::vector<int> sections;
  int reductions = 0;

  int axis(std::string_view axis_name) const;  ///< -1 if there is none
  int add_axis(std::string axis_name, Expr extent, AxisKind kind);
};

/// The statements of each section; of the whole body if there is one.
std::vector<std::span<const Statement>> sections_of(const Kernel& kernel);
/// The running reduction whose loop the axis is; null if there is none.
const Statement* running_reduction(const Kernel& kernel, int axis);
/// Statements from the outermost to the loop of an axis, both ends included; empty if there is
/// none.
std::vector<Statement*> path_to(Kernel& kernel, int axis);
/// Iterations by which the copies of a loop run ahead of it; 0: none does.
int64_t ahead_in(const Statement& loop);
/// Whether a value anywhere in a statement is loaded from one of the buffers.
bool reads_any(const Statement& s, const std::set<int>& buffers);
void walk(std::vector<Statement>& body, const std::function<void(Statement&)>& use);
void walk(const std::vector<Statement>& body, const std::function<void(const Statement&)>& use);
void substitute(Kernel& kernel, const std::map<std::string, Expr>& values);
/// Rewrites every value of the kernel: stores, steps and lets.
void rewrite_values(Kernel& kernel, const std::function<KValueRef(const KValueRef&)>& change);

/// Which axes something depends on, through lets and reductions. Valid until the kernel changes.
class Dependence {
 public:
  explicit Dependence(const Kernel& kernel);
  const AxisSet& of(const Expr& expr);
  const AxisSet& of(const KValueRef& value);
  const AxisSet& of_reduction(int id);

 private:
  struct Reduction {
    const Statement* statement = nullptr;
    AxisSet own, outside;
    bool known = false;
  };
  void collect(const Expr& expr, AxisSet& out);
  const Kernel& kernel_;
  std::unordered_map<std::string, int> axes_, lets_;
  std::unordered_map<const Expr::Node*, AxisSet> exprs_;
  std::unordered_map<const KValue*, AxisSet> values_;
  std::vector<Reduction> reductions_;
  std::vector<Expr> keep_;  ///< so that no address in exprs_ is used again
  std::vector<KValueRef> keep_values_;
};

/// The tree as people read it.
std::string print(const Kernel& kernel);

}  // namespace tenon
