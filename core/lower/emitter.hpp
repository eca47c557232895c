// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks a loop tree once and emits its ops.
//
// While it walks, each open axis has a position: a value, a constant (one copy of an unrolled
// axis), or the lanes of a vector. Leaves are emitted once for each combination of the unrolled
// axes that they depend on, so a jam needs no copy of the tree.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <tuple>

#include "core/ir/capabilities.hpp"
#include "core/kernel/tree/matrix.hpp"
#include "core/lower/op_tree.hpp"

namespace tenon {

/// Bytes that the first element of a bound buffer is aligned to.
inline uint32_t buffer_alignment(const KernelBuffer& buffer, const Capabilities& capabilities) {
  return std::max(capabilities.alignment, static_cast<uint32_t>(dtype_size(buffer.dtype)));
}

class Emitter {
 public:
  using Value = OpTree::Value;

  Emitter(const Kernel& kernel, const Capabilities& capabilities);
  void run();

  struct Param {
    enum class Kind : uint8_t { kBuffer, kScalar, kShared } kind = Kind::kBuffer;
    int buffer = -1;  ///< kBuffer: of the kernel
    Expr symbol;      ///< kScalar
    DType dtype = DType::kVoid;
    int64_t count = 0;  ///< kShared
  };
  const std::vector<Param>& params() const { return params_; }  ///< numbers of OpTree::param
  const OpTree& tree() const { return tree_; }
  /// Workgroups and threads that the bound axes ask for.
  const Expr& extent(Bind place) const {
    return places_[static_cast<size_t>(place) - static_cast<size_t>(Bind::kGridX)].extent;
  }
  static constexpr uint32_t kTileAlignment = 64;  ///< bytes
  /// Threads of a subgroup that the program counts on; 0 if it does not.
  uint32_t subgroup() const { return subgroup_; }
  /// Threads that shuffle with one another on the device; 1: none.
  static int64_t subgroup_threads(const Capabilities& capabilities);

 private:
  struct Position {
    enum class Kind : uint8_t { kClosed, kValue, kConstant, kLane } kind = Kind::kClosed;
    Value value = 0;
    int64_t constant = 0;
  };
  struct Key {
    const void* what;
    uint64_t instance;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& k) const {
      return std::hash<const void*>()(k.what) * 31 + k.instance;
    }
  };
  using Memo = std::unordered_map<Key, Value, KeyHash>;

  /// A dimension of the launch.
  struct Place {
    bool used = false, uneven = false;  ///< uneven: axes of several extents
    Expr extent = 1;
  };
  struct LaneForm {
    bool contiguous = false;
    Expr base;
  };
  static constexpr Value kNone = ~Value{0};

  /// The reduction whose loops are being emitted. Accumulators are indexed
  /// (instance * copies + copy) * states + state.
  struct Active {
    const Statement* statement = nullptr;
    AxisSet own, outside;
    int instances = 1, copies = 1, lanes = 1;
    bool lane_partials = false;  ///< lanes hold parts of one total
    int group_axis = -1;
    std::array<int, 3> matrix{-1, -1, -1};  ///< its m, n and k, if it is tensorized
    std::vector<int> jam;                   ///< that was open around it
    MatrixProduct product;
    const MatrixAtom* atom = nullptr;
    std::vector<Value> accumulators;
  };

  // emit_ops.cpp: single ops
  Value constant(DType dtype, uint64_t bits, int lanes = 1);
  Value index_constant(int64_t value) { return constant(index_, static_cast<uint64_t>(value)); }
  Value broadcast(Value v, int lanes);
  Value op(tn_opcode code, DType dtype, std::vector<Value> operands, uint64_t imm = 0,
           uint32_t flags = 0);
  Value cast(Value v, DType dtype);
  bool is_constant(Value v, int64_t& value) const;
  Value add(Value a, Value b);       ///< of indices; exact
  Value multiply(Value a, Value b);  ///< of indices; exact
  Value both(Value a, Value b);      ///< of conditions
  Value combine(Op code, DType dtype, Value a, Value b, uint32_t flags = 0);
  Value lane_index();

  // emit_expr.cpp
  Value integer(const Expr& expr);
  Value condition(const Expr& expr);
  Value sum(const Expr& expr);
  Value quotient(const Expr& expr);
  Value remainder(const Expr& expr);
  Value symbol(const Expr& expr);

  // emit_value.cpp
  Value value(const KValueRef& v);
  Value emit(const KValueRef& v);
  Value emit_load(const KValue& v);
  Value emit_op(const KValue& v);
  /// The mask of an access with this index: its own and the guards that concern it. False: none.
  /// `concerned`: the axes whose guards count.
  bool access_mask(const Expr& index, const Expr& own, const AxisSet& concerned, Value& mask);
  /// The condition of a guard for an index that may be the same in all lanes.
  Value guard_condition(const Guard& guard, bool uniform);
  bool in_lanes(const AxisSet& set) const { return lane_axis_ >= 0 && set[lane_axis_]; }
  /// Vector or scalar index of an access; lanes of the access.
  Value access_index(const Expr& index, bool spread, int& lanes, bool& contiguous);
  uint32_t access_flags(int buffer, const Expr& index, int lanes, bool contiguous);
  int64_t alignment(int buffer) const;        ///< bytes
  bool streams(int buffer, int lanes) const;  ///< too large to be found in a cache again
  Value buffer(int b);

  // emit_statement.cpp
  void body(const std::vector<Statement>& statements);
  void loop(const Statement& s);
  void run_loop(const Statement& s);
  void stores(std::span<const Statement> run);
  void store(const Statement& s, Value v);
  /// Guards that a store into a tile need not heed: its positions are all there.
  std::vector<size_t> filled_guards(int buffer) const;
  void stage(const Statement& s);
  void launch_axis(const Statement& s);
  Value launch_index(Bind bind);

  // emit_loop.cpp
  void serial_loop(const Statement& s);
  /// `bare`: of points that are real, without their masks.
  void counted(const Statement& s, const Expr& begin, const Expr& end, bool bare = false);
  /// Guards that hold in a loop's iterations [0, full): those to switch off there.
  struct Peel {
    std::vector<size_t> guards;
    Expr full;
  };
  Peel peel(int axis) const;
  void with_guards_off(const std::vector<size_t>& guards, const std::function<void()>& emit);

  void guarded(const std::function<void()>& emit);  ///< without further peeling

  // emit_reduce.cpp
  void reduce(const Statement& s);
  void step();
  Value merge(Op code, DType dtype, std::vector<Value> parts);
  Value lane_total(Op code, DType dtype, Value v);

  // emit_group.cpp
  std::vector<Value> group_total(const Active& active, const std::vector<Value>& partials);
  /// How many of `width` threads on block.x, side by side, can shuffle their parts; 1: none.
  int64_t shuffled_threads(int64_t width, const std::vector<Value>& partials);
  Value shuffled_total(const ReduceState& state, Value part, int64_t threads);

  // emit_matrix.cpp
  bool begin_matrix(Active& active);  ///< false if the reduction is not tensorized
  void multiply_step();
  Value fragment(const MatrixOperand& operand, uint64_t role);
  void take_sums(const Statement& s);

  // instances
  uint64_t instance(const AxisSet& set) const;
  void each_instance(const AxisSet& set, const std::function<void(int)>& emit);
  int count_instances(const AxisSet& set) const;
  void push_memo() { memo_.emplace_back(); }
  void pop_memo() { memo_.pop_back(); }

  const Kernel& kernel_;
  const Capabilities& capabilities_;
  Dependence dependence_;
  OpTree tree_;
  DType index_;
  std::vector<Param> params_;
  std::vector<Value> buffers_;            ///< of the kernel; kNone: not bound yet
  std::map<std::string, Value> symbols_;  ///< SCALAR params
  std::map<std::string, KValueRef> lets_;
  std::unordered_map<std::string, int> axis_of_;
  std::vector<Position> positions_;  ///< of each axis
  std::vector<int> jam_;             ///< open unrolled axes, outermost first
  AxisSet pinned_;                   ///< those of which one copy is emitted at a time
  int lane_axis_ = -1, lanes_ = 1;
  std::vector<AxisSet> guard_axes_;
  std::vector<bool> guard_off_;
  bool specialise_ = true;  ///< false inside the guarded part of a loop
  std::vector<Memo> memo_;
  std::map<std::tuple<int, int, uint64_t>, Value> results_;     ///< (reduction, state, instance)
  std::unordered_map<const Expr::Node*, LaneForm> lane_forms_;  ///< of this vector axis
  std::vector<uint32_t> floor_;  ///< of each buffer: region that loads of a tile stay inside
  Active* active_ = nullptr;
  std::map<int, Active> sums_;  ///< finished tensorized reductions: a fragment for each instance
  uint32_t subgroup_ = 0;
  bool in_place_ = false;        ///< some buffer is read and written
  std::array<Place, 6> places_;  ///< grid.x to block.z
  std::vector<Bind> open_places_;
  AxisSet around_;  ///< axes of the open loops
};

}  // namespace tenon
