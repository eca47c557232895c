// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draws programs, statement by statement.
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "conformance/cases/abi/program_bounds.hpp"
#include "conformance/cases/abi/programs.hpp"
#include "sdk/program/op_info.hpp"
#include "sdk/program/text.hpp"

namespace tenon::conformance::abi {
namespace {

constexpr int64_t kInputs = 48, kReached = 32;  ///< elements of an input; first ones of a vector
constexpr int64_t kContended = 4;               ///< cells of atomics that all threads use
constexpr int kDeepest = 3;
constexpr uint32_t kWorkgroups[][3] = {{4, 1, 1}, {8, 1, 1}, {3, 2, 1},  {2, 2, 2},
                                       {1, 4, 1}, {7, 1, 1}, {32, 1, 1}, {16, 2, 1}};
constexpr uint32_t kSingle[3] = {1, 1, 1};  ///< all that some devices have
constexpr uint32_t kFewGroups[][3] = {{1, 1, 1}, {2, 1, 1}, {5, 1, 1},
                                      {3, 2, 1}, {2, 2, 2}, {1, 1, 3}};
constexpr uint32_t kGrids[][3] = {{1, 1, 1}, {5, 1, 1},  {3, 2, 1}, {2, 2, 2},
                                  {1, 4, 3}, {64, 1, 1}, {9, 5, 3}, {33, 7, 1}};

bool is_float(tn_dtype dtype) { return sdk::is_float(static_cast<uint8_t>(dtype)); }
Exact input(tn_dtype dtype) { return input_exact(static_cast<uint8_t>(dtype)); }
/// Of what is read again from memory that the program writes.
Exact kept_exact(tn_dtype dtype) {
  const Exact wide{128, 2};
  return is_float(dtype) && holds(static_cast<uint8_t>(dtype), wide) ? wide : input(dtype);
}

struct Memory {
  uint32_t id = 0;
  tn_dtype dtype = TN_DTYPE_I32;
  int64_t each = 1;    ///< elements of a thread; of an allocation all
  int64_t stride = 1;  ///< of an output, from thread to thread: what all came to has its own
  bool strided = false, readable = false, aligned = false;
};

class ProgramDrawer {
 public:
  ProgramDrawer(Choices& choices, bool is_single)
      : choices_(choices),
        is_single_(is_single),
        palette_(draw_palette(choices)),
        builder_("random"),
        pool_(choices, builder_, palette_) {}

  SequenceStep draw() {
    draw_shape();
    declare();
    place_thread();
    for (const Memory& memory : own_) fill_own(memory);
    const int64_t statements = choices_.between(1, 9);
    for (int64_t i = 0; i < statements; ++i) statement(0, true);
    use_declared();
    for (const Memory& memory : outputs_) store_all(memory);
    SequenceStep step{"program", {}};
    for (const uint32_t axis : grid_) step.numbers.push_back(axis);
    step.numbers.push_back(choices_.between(0, 99) + 1);
    step.numbers.push_back(choices_.chance(15) ? 1 : 0);
    step.text = sdk::print_program(builder_.finish().view());
    return step;
  }

 private:
  void draw_shape() {
    const Choices::Scope scope(choices_, Part::kDimension);
    if (!is_single_ && choices_.chance(45)) workgroup_ = choices_.pick(kWorkgroups);
    grid_ = workgroup_ == kSingle ? std::span(choices_.pick(kGrids))
                                  : std::span(choices_.pick(kFewGroups));
    for (const uint32_t axis : std::span(workgroup_, 3)) group_ *= axis;
    threads_ = group_;
    for (const uint32_t axis : grid_) threads_ *= axis;
    builder_.workgroup(workgroup_[0], workgroup_[1], workgroup_[2]);
  }

  void declare() {
    const Choices::Scope scope(choices_, Part::kOther);
    for (const tn_dtype dtype : palette_.dtypes) declare_global(dtype);
    for (const tn_dtype dtype : palette_.dtypes)
      if (choices_.chance(30)) declare_scalar("s_", dtype);
    if (choices_.chance(20)) declare_scalar("t_", choices_.pick(palette_.dtypes));
    if (choices_.chance(10)) declare_scalar("flag_", TN_DTYPE_BOOL);
    const tn_dtype first = palette_.dtypes.front();
    if (choices_.chance(30)) {
      Memory& m = own_.emplace_back(Memory{0, first, int64_t{2} << choices_.below(3)});
      m.id = builder_.allocate("own", first,
                               choices_.chance(50) ? TN_SPACE_SCRATCH : TN_SPACE_REGISTER,
                               static_cast<uint64_t>(m.each));
    }
    if (group_ > 1 && choices_.chance(30)) {
      declare_tile("tile", first);
      if (choices_.chance(40)) declare_tile("tile_2", first);
    }
    if (choices_.chance(15)) {
      constexpr tn_dtype kCounters[] = {TN_DTYPE_U32, TN_DTYPE_I32};
      const tn_dtype dtype = choices_.pick(kCounters);
      const auto count = static_cast<uint64_t>(threads_ + kContended);
      cells_ =
          Memory{builder_.buffer("cells", dtype, TN_ACCESS_READ | TN_ACCESS_WRITE, count), dtype};
      constexpr tn_atomic kWays[] = {TN_ATOMIC_ADD, TN_ATOMIC_MAX, TN_ATOMIC_MIN};
      contended_ = choices_.pick(kWays);
    }
  }

  /// Pages of an element for each thread.
  void declare_tile(const char* name, tn_dtype dtype) {
    constexpr int64_t kPages[] = {1, 2, 64};
    Memory& tile = tiles_.emplace_back(Memory{0, dtype, choices_.pick(kPages)});
    const auto count = static_cast<uint64_t>(group_ * tile.each);
    tile.id = builder_.allocate(name, dtype, TN_SPACE_SHARED, count);
  }

  void declare_global(tn_dtype dtype) {
    const std::string name(sdk::dtype_text(static_cast<uint8_t>(dtype)));
    const uint32_t alias = choices_.chance(30) ? TN_ACCESS_NOALIAS : 0;
    Memory out{0, dtype, int64_t{1} << choices_.below(3)};
    if (palette_.lanes > 1 && choices_.chance(60)) out.each = std::bit_ceil(palette_.lanes);
    out.readable = choices_.chance(40);
    out.strided = choices_.chance(30);
    const uint32_t bytes = sdk::dtype_bytes(static_cast<uint8_t>(dtype));
    out.aligned = palette_.lanes == 4 && choices_.chance(40);
    out.stride = out.each + 1 + (palette_.lanes > 1 ? palette_.lanes : 0);
    if (out.aligned) out.stride = (out.stride + 3) / 4 * 4;
    const auto count = static_cast<uint64_t>(threads_ * out.stride + choices_.between(0, 3));
    const uint32_t alignment = out.aligned ? palette_.lanes * bytes : bytes;
    out.id = builder_.buffer("out_" + name, dtype,
                             (out.readable ? TN_ACCESS_READ : 0) | TN_ACCESS_WRITE | alias, count,
                             alignment);
    outputs_.push_back(out);
    if (choices_.chance(20)) return;
    Memory in{0, dtype};
    in.aligned = out.aligned;
    in.id = builder_.buffer("in_" + name, dtype, TN_ACCESS_READ | alias, kInputs, alignment,
                            choices_.chance(20) ? TN_SPACE_CONSTANT : TN_SPACE_GLOBAL);
    inputs_.push_back(in);
  }

  void declare_scalar(const char* prefix, tn_dtype dtype) {
    const std::string name = prefix + std::string(sdk::dtype_text(static_cast<uint8_t>(dtype)));
    const auto [least, most] = draw_scalar_bounds(choices_, dtype);
    pool_.add({builder_.scalar(name, dtype, least, most), dtype, 1, input(dtype)});
  }

  ProgramValue index_constant(int64_t value) { return pool_.number(palette_.index, value); }
  ProgramValue index_op(tn_opcode op, const ProgramValue& x, const ProgramValue& y,
                        bool is_exact = false) {
    const bool says_so = is_exact && choices_.chance(30);
    return pool_.op(op, palette_.index, {x, y}, {}, 0, says_so ? TN_OP_NO_WRAP : 0);
  }

  /// thread_ is the number of the thread in the launch, local_ that in its workgroup.
  void place_thread() {
    const Choices::Scope scope(choices_, Part::kOther);
    const auto along = [&](tn_axis first, const uint32_t* sizes) {
      std::optional<ProgramValue> all;
      for (int axis = 2; axis >= 0; --axis) {
        if (sizes[axis] == 1) continue;
        const ProgramValue at{builder_.index(static_cast<tn_axis>(first + axis), palette_.index),
                              palette_.index, 1};
        pool_.add(at);
        const ProgramValue size = index_constant(sizes[axis]);
        all = all ? index_op(TN_OP_ADD, index_op(TN_OP_MUL, *all, size, true), at, true) : at;
      }
      return all;
    };
    const auto group = along(TN_AXIS_GRID_X, grid_.data());
    const auto local = along(TN_AXIS_BLOCK_X, workgroup_);
    local_ = local ? *local : index_constant(0);
    thread_ = local_;
    if (group) {
      thread_ = group_ > 1 ? index_op(TN_OP_MUL, *group, index_constant(group_), true) : *group;
      if (local) thread_ = index_op(TN_OP_ADD, thread_, local_, true);
    }
    pool_.add(thread_);
    if (palette_.lanes > 1 && choices_.chance(50))
      pool_.add({builder_.index(TN_AXIS_LANE, palette_.index, palette_.lanes), palette_.index,
                 palette_.lanes});
  }

  ProgramValue element(const Memory& memory, const ProgramValue& e) {
    const ProgramValue& far = memory.strided ? e : thread_;
    const ProgramValue& near = memory.strided ? thread_ : e;
    const ProgramValue step = index_constant(memory.strided ? threads_ : memory.stride);
    return index_op(TN_OP_ADD, index_op(TN_OP_MUL, far, step, true), near, true);
  }

  Exact kept(const Memory& memory) const {
    return memory.readable ? kept_exact(memory.dtype) : Exact{HUGE_VAL, 64};
  }

  void store(const Memory& memory, const ProgramValue& index, const ProgramValue& value,
             const std::optional<ProgramValue>& mask = {}, uint32_t flags = 0) {
    std::vector<uint32_t> operands = {memory.id, index.id, value.id};
    if (mask) operands.push_back(mask->id);
    builder_.op(TN_OP_STORE, TN_DTYPE_VOID, 0, operands, 0, flags);
  }

  ProgramValue load(const Memory& memory, const ProgramValue& index, uint16_t lanes,
                    const Exact& exact, const std::optional<ProgramValue>& mask = {},
                    uint32_t flags = 0) {
    std::vector<uint32_t> operands = {memory.id, index.id};
    if (mask) {
      operands.push_back(mask->id);
      operands.push_back(pool_.fitting(memory.dtype, lanes, exact).id);
    }
    const uint32_t id = builder_.op(TN_OP_TAKE, memory.dtype, lanes, operands, 0, flags);
    const ProgramValue out{id, memory.dtype, lanes, exact};
    pool_.add(out);
    return out;
  }

  /// What all values of the dtype came to: none is for nothing.
  void store_all(const Memory& memory) {
    const Choices::Scope scope(choices_, Part::kOutput);
    store(memory, element(memory, index_constant(memory.each)),
          pool_.all(memory.dtype, 1, kept(memory)));
    const uint16_t lanes = palette_.lanes;
    if (lanes == 1) return;
    const ProgramValue first = element(memory, index_constant(memory.each + 1));
    store(memory, memory.strided ? pool_.spread(first, lanes, threads_) : first,
          pool_.all(memory.dtype, lanes, kept(memory)));
  }

  void store_at(const Memory& memory, const ProgramValue& e) {
    store(memory, element(memory, e), pool_.fitting(memory.dtype, 1, kept(memory)));
  }

  /// `uniform`: all threads of a workgroup come here, and equally often.
  void statement(int depth, bool uniform) {
    const Choices::Scope scope(choices_, Part::kNode);
    using Statement = void (ProgramDrawer::*)(int, bool);
    static constexpr Statement kStatements[] = {
        &ProgramDrawer::let,   &ProgramDrawer::write, &ProgramDrawer::let,    &ProgramDrawer::read,
        &ProgramDrawer::loop,  &ProgramDrawer::write, &ProgramDrawer::branch, &ProgramDrawer::loop,
        &ProgramDrawer::visit, &ProgramDrawer::share, &ProgramDrawer::count};
    if (left_-- <= 0) return let(depth, uniform);
    (this->*choices_.pick(kStatements))(depth, uniform);
  }

  /// What was declared is not there for nothing.
  void use_declared() {
    const auto use = [&](bool is_there, void (ProgramDrawer::*statement)(int, bool)) {
      if (!is_there) return;
      const Choices::Scope scope(choices_, Part::kNode);
      (this->*statement)(0, true);
    };
    use(!tiles_.empty(), &ProgramDrawer::share);
    use(cells_.has_value(), &ProgramDrawer::count);
    use(palette_.lanes > 1, &ProgramDrawer::read);
    use(palette_.lanes > 1, &ProgramDrawer::write);
  }

  void let(int, bool) {
    const int64_t count = choices_.between(1, 4);
    for (int64_t i = 0; i < count; ++i) pool_.grow();
  }

  void write(int, bool) {
    const Memory& memory = choices_.pick(outputs_);
    const uint16_t lanes = palette_.lanes;
    if (lanes > 1 && memory.each >= lanes && choices_.chance(70))
      return write_vector(memory, lanes);
    if (!choices_.chance(35)) return store_at(memory, own_element(memory));
    if (memory.strided || memory.each == 1)
      return store(memory, element(memory, own_element(memory)),
                   pool_.fitting(memory.dtype, 1, kept(memory)), pool_.any(TN_DTYPE_BOOL, 1));
    // Beyond its own elements nothing is stored: the mask says so.
    const ProgramValue e = pool_.below(pool_.any(palette_.index, 1), 16);
    const ProgramValue mask =
        pool_.op(TN_OP_CMPLT, TN_DTYPE_BOOL, {e, index_constant(memory.each)});
    const ProgramValue at =
        index_op(TN_OP_ADD, index_op(TN_OP_MUL, thread_, index_constant(memory.stride)), e);
    store(memory, at, pool_.fitting(memory.dtype, 1, kept(memory)), mask);
  }

  ProgramValue own_element(const Memory& memory) {
    if (memory.each == 1) return index_constant(0);
    return pool_.below(pool_.any(palette_.index, 1), memory.each);
  }

  void write_vector(const Memory& memory, uint16_t lanes) {
    const ProgramValue value = pool_.fitting(memory.dtype, lanes, kept(memory));
    std::optional<ProgramValue> mask;
    if (choices_.chance(40)) mask = pool_.any_mask(lanes);
    const ProgramValue first = element(memory, index_constant(0));
    if (!memory.strided) {
      const bool aligned = memory.aligned && memory.each == lanes && choices_.chance(60);
      return store(memory, first, value, mask, aligned ? TN_OP_ALIGNED : 0);
    }
    store(memory, pool_.spread(first, lanes, threads_), value, mask);
  }

  void read(int, bool) {
    const Memory& output = choices_.pick(outputs_);
    if (inputs_.empty() || (output.readable && choices_.chance(25))) {
      if (!output.readable) return let(0, false);
      load(output, element(output, own_element(output)), 1, kept(output));
      return;
    }
    const Memory& memory = choices_.pick(inputs_);
    const uint16_t lanes = pool_.any_lanes();
    const Exact exact = input(memory.dtype);
    if (lanes == 1 && choices_.chance(35)) return read_guarded(memory, exact);
    std::optional<ProgramValue> mask;
    if (choices_.chance(30)) mask = pool_.any_mask(lanes);
    const bool gathers = lanes > 1 && choices_.chance(60);
    const ProgramValue request = gathers ? pool_.any_gather() : pool_.any(palette_.index, 1);
    if (memory.aligned && lanes > 1 && !gathers && choices_.chance(60)) {
      const ProgramValue block = pool_.below(request, kReached / lanes);
      load(memory, index_op(TN_OP_MUL, block, index_constant(lanes)), lanes, exact, mask,
           TN_OP_ALIGNED);
      return;
    }
    load(memory, pool_.below(request, kReached), lanes, exact, mask);
  }

  /// Any index, and a mask that is true inside the buffer.
  void read_guarded(const Memory& memory, const Exact& exact) {
    const ProgramValue at = pool_.any(palette_.index, 1);
    const ProgramValue above = pool_.op(TN_OP_CMPLT, TN_DTYPE_BOOL, {index_constant(-1), at});
    const ProgramValue under = pool_.op(TN_OP_CMPLT, TN_DTYPE_BOOL, {at, index_constant(kInputs)});
    load(memory, at, 1, exact, pool_.op(TN_OP_AND, TN_DTYPE_BOOL, {above, under}));
  }

  void loop(int depth, bool uniform) {
    if (depth >= kDeepest) return let(depth, uniform);
    LoopBounds bounds = draw_bounds(choices_, pool_, palette_.index, depth == 0);
    std::vector<ProgramValue> carries;
    const int64_t count = choices_.between(0, 3);
    for (int64_t k = 0; k < count; ++k) {
      const tn_dtype dtype = pool_.any_dtype();
      ProgramValue first = pool_.fitting(dtype, pool_.any_lanes(), kept_exact(dtype));
      first.exact = kept_exact(dtype);
      carries.push_back(first);
    }
    const bool is_while = choices_.chance(35);
    if (is_while) bounds.uniform = false;
    std::vector<uint32_t> initial;
    for (const ProgramValue& carry : carries) initial.push_back(carry.id);
    const uint32_t id = builder_.begin_loop(
        bounds.begin.id, bounds.end.id, bounds.step.id, initial,
        (is_while ? TN_OP_WHILE : 0) | (choices_.chance(25) ? TN_OP_UNROLL : 0));
    const size_t height = pool_.height();
    pool_.add({id, palette_.index, 1});
    for (size_t k = 0; k < carries.size(); ++k) {
      carries[k].id = id + 1 + static_cast<uint32_t>(k);
      pool_.add(carries[k]);
    }
    const int64_t statements = choices_.between(1, 3);
    for (int64_t i = 0; i < statements; ++i) statement(depth + 1, uniform && bounds.uniform);
    std::vector<uint32_t> next;
    for (const ProgramValue& carry : carries) next.push_back(next_value(carry).id);
    if (is_while) next.push_back(goes_on(id).id);
    builder_.end(next);
    pool_.cut(height);
    for (const ProgramValue& carry : carries) pool_.add(carry);
  }

  ProgramValue goes_on(uint32_t induction) {
    if (choices_.chance(50)) return pool_.any(TN_DTYPE_BOOL, 1);
    const ProgramValue turn{induction, palette_.index, 1};
    return pool_.op(TN_OP_CMPLT, TN_DTYPE_BOOL, {turn, pool_.any(palette_.index, 1)});
  }

  /// Floats grow only as far as their bound.
  ProgramValue next_value(const ProgramValue& carry) {
    if (!is_float(carry.dtype)) {
      if (choices_.chance(50)) return pool_.any(carry.dtype, carry.lanes);
      const ProgramValue term = pool_.any(carry.dtype, carry.lanes);
      return pool_.op(TN_OP_ADD, carry.dtype, {carry, term});
    }
    const ProgramValue term = pool_.fitting(carry.dtype, carry.lanes, carry.exact);
    const Exact sum{2 * carry.exact.bound, carry.exact.unit};
    if (choices_.chance(50) || !pool_.computes(carry.dtype) ||
        !holds(static_cast<uint8_t>(carry.dtype), sum))
      return term;
    const auto limit = static_cast<int64_t>(carry.exact.bound);
    const ProgramValue next = pool_.op(TN_OP_ADD, carry.dtype, {carry, term}, sum);
    const auto less = [&](const ProgramValue& x, const ProgramValue& y) {
      return pool_.op(TN_OP_CMPLT, TN_DTYPE_BOOL, {x, y});
    };
    const ProgramValue low = pool_.number(carry.dtype, -limit, carry.lanes);
    const ProgramValue high = pool_.number(carry.dtype, limit, carry.lanes);
    const ProgramValue is_within =
        pool_.op(TN_OP_AND, TN_DTYPE_BOOL, {less(low, next), less(next, high)});
    return pool_.op(TN_OP_WHERE, carry.dtype, {is_within, next, carry}, carry.exact);
  }

  void branch(int depth, bool) {
    if (depth >= kDeepest) return let(depth, false);
    builder_.begin_if(pool_.any(TN_DTYPE_BOOL, 1).id);
    const size_t height = pool_.height();
    const auto side = [&] {
      const int64_t statements = choices_.between(0, 2);
      for (int64_t i = 0; i < statements; ++i) statement(depth + 1, false);
      if (own_.empty() || choices_.chance(50))
        write(depth, false);
      else
        visit(depth, false);
      pool_.cut(height);
    };
    side();
    if (choices_.chance(40)) {
      builder_.begin_else();
      side();
    }
    builder_.end();
  }

  void fill_own(const Memory& memory) {
    const Choices::Scope scope(choices_, Part::kOther);
    for (int64_t e = 0; e < memory.each; ++e)
      store(memory, index_constant(e), pool_.fitting(memory.dtype, 1, kept_exact(memory.dtype)));
  }

  /// An element of the thread's own array is written or read.
  void visit(int depth, bool uniform) {
    if (own_.empty()) return let(depth, uniform);
    const Memory& memory = own_.front();
    const ProgramValue at = pool_.below(pool_.any(palette_.index, 1), memory.each);
    const Exact exact = kept_exact(memory.dtype);
    if (choices_.chance(50)) store(memory, at, pool_.fitting(memory.dtype, 1, exact));
    load(memory, at, 1, exact);
  }

  /// Each thread writes its elements of the tiles, and reads another one's.
  void share(int depth, bool uniform) {
    if (tiles_.empty() || !uniform) return let(depth, uniform);
    const Exact exact = kept_exact(tiles_[0].dtype);
    const auto barrier = [&] { builder_.op(TN_OP_BARRIER, TN_DTYPE_VOID, 0, {}, TN_SCOPE_BLOCK); };
    const auto on_page = [&](const ProgramValue& thread, int64_t page) {
      return page ? index_op(TN_OP_ADD, thread, index_constant(page * group_), true) : thread;
    };
    std::vector<int64_t> pages;
    for (const Memory& tile : tiles_) {
      const int64_t page = choices_.between(0, tile.each - 1);
      pages.push_back(page);
      for (const int64_t at : {(page + tile.each / 2) % tile.each, page})
        store(tile, on_page(local_, at), pool_.fitting(tile.dtype, 1, exact));
    }
    barrier();
    const ProgramValue last = index_constant(group_ - 1);
    ProgramValue other = index_op(TN_OP_ADD, index_op(TN_OP_MUL, local_, index_constant(-1)), last);
    if (choices_.chance(50)) {
      const ProgramValue is_last = pool_.op(TN_OP_CMPLT, TN_DTYPE_BOOL, {local_, last});
      const ProgramValue next = index_op(TN_OP_ADD, local_, index_constant(1));
      other = pool_.op(TN_OP_WHERE, palette_.index, {is_last, next, index_constant(0)});
    }
    for (size_t i = 0; i < tiles_.size(); ++i) load(tiles_[i], on_page(other, pages[i]), 1, exact);
    barrier();
  }

  /// Cells that all threads add to, whose old values are nobody's business; and a thread's own.
  void count(int depth, bool uniform) {
    if (!cells_) return let(depth, uniform);
    const tn_dtype dtype = cells_->dtype;
    const ProgramValue value = pool_.any(dtype, 1);
    const auto imm = [](tn_atomic way) { return way | uint64_t{TN_SCOPE_BLOCK} << 8; };
    if (choices_.chance(50)) {
      const ProgramValue at = pool_.below(pool_.any(palette_.index, 1), kContended);
      builder_.op(TN_OP_ATOMIC, dtype, 1, {cells_->id, at.id, value.id}, imm(contended_));
      return;
    }
    constexpr tn_atomic kWays[] = {TN_ATOMIC_ADD, TN_ATOMIC_MAX, TN_ATOMIC_MIN, TN_ATOMIC_EXCHANGE,
                                   TN_ATOMIC_COMPARE_EXCHANGE};
    const tn_atomic way = choices_.pick(kWays);
    const ProgramValue at = index_op(TN_OP_ADD, thread_, index_constant(kContended));
    std::vector<uint32_t> operands = {cells_->id, at.id, value.id};
    if (way == TN_ATOMIC_COMPARE_EXCHANGE) operands.push_back(pool_.any(dtype, 1).id);
    pool_.add({builder_.op(TN_OP_ATOMIC, dtype, 1, operands, imm(way)), dtype, 1});
  }

  Choices& choices_;
  const bool is_single_;
  const Palette palette_;
  sdk::ProgramBuilder builder_;
  ProgramPool pool_;
  const uint32_t* workgroup_ = kSingle;
  std::span<const uint32_t> grid_;
  int64_t group_ = 1, threads_ = 1;
  ProgramValue thread_, local_;
  std::vector<Memory> inputs_, outputs_, own_, tiles_;
  std::optional<Memory> cells_;
  tn_atomic contended_ = TN_ATOMIC_ADD;
  int left_ = 14;  ///< statements
};

}  // namespace

SequenceStep draw_program(Choices& choices, bool is_single) {
  return ProgramDrawer(choices, is_single).draw();
}

}  // namespace tenon::conformance::abi
