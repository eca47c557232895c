// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop tree: one kernel as loops with named axes around loads, reductions and stores.
//
// Statements run in order. Bindings of axes say how loops run and do not change results. An axis
// bound to unroll or vector is replicated innermost in every statement of its loop (unroll and
// jam); around a reduction that gives a register tile of accumulators.
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
  kParallel,  ///< independent iterations
  kOrdered,   ///< iterations run in order, as along the axis of a scatter
  kReduce,    ///< iterations combine into accumulators
};

enum class Bind : uint8_t {
  kLoop,
  kUnroll,
  kVector,
  kDot,     ///< one DOT does all iterations
  kMatrix,  ///< one matrix atom of a subgroup does all iterations
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
  Expr symbol() const;  ///< position in [0, extent); the constant 0 if the extent is 1
};

enum class BufferSpace : uint8_t { kGlobal, kScratch, kShared };

/// `count` elements of a tile, `step` elements apart.
struct TileDigit {
  int64_t step = 1, count = 1;
};

/// Swizzled tiles: lines of 128 bytes with pieces of 16. The swizzle repeats after a pattern.
constexpr int64_t kPieceBytes = 16, kLineBytes = 128,
                  kPatternBytes = kLineBytes * (kLineBytes / kPieceBytes);

struct KernelBuffer {
  std::string name;
  DType dtype = DType::kVoid;
  Expr count;
  BufferSpace space = BufferSpace::kGlobal;
  int input = -1, output = -1;  ///< of the graph; both for an aliased output
  bool read = false, written = false;
  bool materialised = false;  ///< a tile that a reduction or loops fill for later loops
  bool zero_filled = false;   ///< materialised: out-of-range points are stored too, as 0
  /// Shared: piece p of line l is at piece p ^ (l % 8), so that neither rows nor columns of pieces
  /// have bank conflicts (CUTLASS's 128-byte swizzle). Indices are those without the swizzle.
  bool swizzled = false;
  /// The elements that a thread holds of a materialised tile in registers (register_tiles.hpp).
  /// Empty for others.
  std::vector<TileDigit> digits = {};
};

/// One accumulator of a reduction. Its identity follows from op and dtype. The accumulators of one
/// reduction share its loops.
struct ReduceState {
  Op op = Op::ADD;
  DType dtype = DType::kVoid;                 ///< of the accumulator
  KValueRef value;                            ///< that a step combines into it
  Precision precision = Precision::kDefault;  ///< of the factors of a sum of products
};

/// Iterations [begin, end) of a loop, within its extent; none if end <= begin.
struct LoopRange {
  Expr begin, end;
};

struct Statement {
  enum class Kind : uint8_t {
    kLoop,    ///< `axis`, `body`, `range`
    kReduce,  ///< reduction `id`: initialises `states`, runs `body` (loops around its one kStep; in
              ///< a running one also stores after the step, which take the prefix result)
    kStep,    ///< of the reduction around it
    kStore,   ///< `value` to element `index` of `buffer` where `mask` holds
    kStage,   ///< `body` copies into the tile `buffer`; between workgroup barriers if shared
    kMatrix,  ///< moves the accumulators of reduction `id` from or to the tile `buffer`: see `use`
  };
  /// What a kMatrix does.
  enum class MatrixUse : uint8_t {
    kTake,   ///< stores the sums to a tile of the subgroup, from which `body` loads them
    kPut,    ///< stores the sums to a tile of the workgroup
    kBegin,  ///< loads the accumulators of a `continues` reduction from the tile
    kEnd,    ///< stores them back
  };
  Kind kind = Kind::kLoop;
  int axis = -1;
  std::optional<LoopRange> range;  ///< none: the whole extent
  std::vector<int> carried;        ///< kLoop: reductions whose accumulators iterations carry
  int id = -1;
  bool running = false;  ///< kReduce: a scan, whose iterations run in order
  /// kReduce: starts with its result of the previous iteration of the carrying loop, times `value`
  /// (a load that depends on the rows alone).
  bool continues = false;
  int buffer = -1;
  Expr index;
  Expr mask = 1;
  KValueRef value;
  std::vector<ReduceState> states;
  std::vector<Statement> body;
  /// kStage: number of iterations that it runs ahead of the rest of the loop. Its tile has ahead +
  /// 1 stages.
  int64_t ahead = 0;
  // kMatrix: `index` is the first element of the first atom in the tile.
  MatrixUse use = MatrixUse::kTake;
  int64_t pitch = 0;        ///< elements between rows of the tile; if transposed, columns
  bool transposed = false;  ///< columns of the product are contiguous
  int64_t threads = 0;      ///< of the subgroup
  int64_t across = 0;       ///< of these on block.x; the others are on block.y
};

inline bool is_loop(const Statement& s) { return s.kind == Statement::Kind::kLoop; }
inline bool is_reduce(const Statement& s) { return s.kind == Statement::Kind::kReduce; }

/// The bounds of an axis that a split or pad extends: points with lower < upper are in range.
struct Guard {
  Expr lower, upper;
  bool fills = false;  ///< of a copy: out-of-range points of the tile get the fill of the load
  Expr condition() const { return less(lower, upper); }
};

/// A symbol of Exprs whose value is computed or loaded.
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
  /// Number of statements of `body` in each section, in order. Sections run in consecutive ranges
  /// of workgroups along grid.x. Empty: one section.
  std::vector<int> sections;
  int reductions = 0;
  double iterations = 0;  ///< iterations_of before the first transform; 0: there was none yet

  int axis(std::string_view axis_name) const;  ///< -1 if there is none
  int add_axis(std::string axis_name, Expr extent, AxisKind kind);
};

/// The statements of each section; the whole body if there are no sections.
std::vector<std::span<const Statement>> sections_of(const Kernel& kernel);
/// The running reduction that has the loop of the axis; null if there is none.
const Statement* running_reduction(const Kernel& kernel, int axis);
/// Statements from the outermost to the loop of an axis, inclusive; empty if there is no such loop.
std::vector<Statement*> path_to(Kernel& kernel, int axis);
/// Iterations by which copies of a multi-buffered loop run ahead; 0 for other loops.
int64_t ahead_in(const Statement& loop);
/// True if a statement or its body loads from one of the buffers.
bool reads_any(const Statement& s, const std::set<int>& buffers);
void walk(std::vector<Statement>& body, const std::function<void(Statement&)>& use);
void walk(const std::vector<Statement>& body, const std::function<void(const Statement&)>& use);
void substitute(Kernel& kernel, const std::map<std::string, Expr>& values);
/// Rewrites every value of the kernel: stores, steps and lets.
void rewrite_values(Kernel& kernel, const std::function<KValueRef(const KValueRef&)>& change);

/// The axes that a value or expression depends on, through lets and reductions. Valid until the
/// kernel changes.
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
  std::vector<Expr> keep_;  ///< alive, so that addresses in exprs_ stay unique
  std::vector<KValueRef> keep_values_;
};

/// Text of the tree, for people.
std::string print(const Kernel& kernel);

}  // namespace tenon
