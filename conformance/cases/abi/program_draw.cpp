// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draws programs, statement by statement.
#include <bit>
#include <cmath>
#include <optional>

#include "conformance/cases/abi/program_bounds.hpp"
#include "conformance/cases/abi/program_memory.hpp"
#include "conformance/cases/abi/program_shape.hpp"
#include "conformance/cases/abi/programs.hpp"
#include "sdk/program/op_info.hpp"
#include "sdk/program/text.hpp"

namespace tenon::conformance::abi {
namespace {

constexpr int64_t kInputs = 48, kReached = 32;  ///< elements of an input; first ones of a vector
constexpr int64_t kContended = 4;               ///< cells of atomics that all threads use
constexpr int kDeepest = 3;
class ProgramDrawer {
 public:
  ProgramDrawer(Choices& choices, bool is_single)
      : choices_(choices),
        palette_(draw_palette(choices)),
        shape_(draw_shape(choices, is_single)),
        builder_("random"),
        pool_(choices, builder_, palette_) {}

  SequenceStep draw() {
    builder_.workgroup(shape_.workgroup[0], shape_.workgroup[1], shape_.workgroup[2]);
    if (shape_.subgroup) builder_.subgroup(shape_.subgroup);
    declare();
    place_thread();
    for (const Memory& memory : own_) fill_own(memory);
    const int64_t statements = choices_.between(1, 9);
    for (int64_t i = 0; i < statements; ++i) statement(0, Together::kBlock);
    use_declared();
    for (const Memory& memory : outputs_) store_all(memory);
    SequenceStep step{"program", {}};
    for (const uint32_t axis : shape_.grid) step.numbers.push_back(axis);
    step.numbers.push_back(choices_.between(0, 99) + 1);
    int64_t flags = 0;
    for (const auto& [flag, percent] :
         {std::pair(kReloaded, 15), {kAgain, 30}, {kTwin, 15}, {kApart, 20}})
      if (choices_.chance(static_cast<uint32_t>(percent))) flags |= flag;
    step.numbers.push_back(flags);
    step.text = sdk::print_program(builder_.finish().view());
    return step;
  }

 private:
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
    if (shape_.group > 1 && choices_.chance(30)) {
      declare_tile("tile", first);
      if (choices_.chance(40)) declare_tile("tile_2", first);
    }
    if (choices_.chance(15)) {
      constexpr tn_dtype kCounters[] = {TN_DTYPE_U32, TN_DTYPE_I32};
      tn_dtype dtype = choices_.pick(kCounters);
      // Of 64 bits where the program has such numbers anyway.
      for (const tn_dtype there : palette_.dtypes)
        if (there == TN_DTYPE_U64 || there == TN_DTYPE_I64) dtype = there;
      const auto count = static_cast<uint64_t>(shape_.threads + kContended);
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
    const auto count = static_cast<uint64_t>(shape_.group * tile.each);
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
    const auto count = static_cast<uint64_t>(shape_.threads * out.stride + choices_.between(0, 3));
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
    const auto along = [&](tn_axis first, std::span<const uint32_t> sizes) {
      std::optional<ProgramValue> all;
      for (int axis = 2; axis >= 0; --axis) {
        if (sizes[axis] == 1) continue;
        const ProgramValue at{builder_.index(static_cast<tn_axis>(first + axis), palette_.index),
                              palette_.index, 1};
        pool_.add(at);
        if (first == TN_AXIS_GRID_X) equal_.push_back(at);
        const ProgramValue size = index_constant(sizes[axis]);
        all = all ? index_op(TN_OP_ADD, index_op(TN_OP_MUL, *all, size, true), at, true) : at;
      }
      return all;
    };
    const auto group = along(TN_AXIS_GRID_X, shape_.grid);
    const auto local = along(TN_AXIS_BLOCK_X, shape_.workgroup);
    local_ = local ? *local : index_constant(0);
    thread_ = local_;
    if (group) {
      thread_ = shape_.group > 1 ? index_op(TN_OP_MUL, *group, index_constant(shape_.group), true)
                                 : *group;
      if (local) thread_ = index_op(TN_OP_ADD, thread_, local_, true);
    }
    pool_.add(thread_);
    if (shape_.subgroup) place_subgroup();
    if (palette_.lanes > 1 && choices_.chance(50))
      pool_.add({builder_.index(TN_AXIS_LANE, palette_.index, palette_.lanes), palette_.index,
                 palette_.lanes});
  }

  void place_subgroup() {
    const auto index = [&](tn_axis axis) {
      return ProgramValue{builder_.index(axis, palette_.index), palette_.index, 1};
    };
    subgroup_ = index(TN_AXIS_SUBGROUP);
    pool_.add(*subgroup_);
    pool_.add(index(TN_AXIS_SUBGROUP_LANE));
  }

  ProgramValue element(const Memory& memory, const ProgramValue& e) {
    const ProgramValue& far = memory.strided ? e : thread_;
    const ProgramValue& near = memory.strided ? thread_ : e;
    const ProgramValue step = index_constant(memory.strided ? shape_.threads : memory.stride);
    return index_op(TN_OP_ADD, index_op(TN_OP_MUL, far, step, true), near, true);
  }

  Exact exactness(const Memory& memory) const {
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
          pool_.all(memory.dtype, 1, exactness(memory)));
    const uint16_t lanes = palette_.lanes;
    if (lanes == 1) return;
    const ProgramValue first = element(memory, index_constant(memory.each + 1));
    store(memory, memory.strided ? pool_.spread(first, lanes, shape_.threads) : first,
          pool_.all(memory.dtype, lanes, exactness(memory)));
  }

  void store_at(const Memory& memory, const ProgramValue& e) {
    store(memory, element(memory, e), pool_.fitting(memory.dtype, 1, exactness(memory)));
  }

  void statement(int depth, Together together) {
    const Choices::Scope scope(choices_, Part::kNode);
    using Statement = void (ProgramDrawer::*)(int, Together);
    static constexpr Statement kStatements[] = {
        &ProgramDrawer::let,    &ProgramDrawer::write, &ProgramDrawer::let,
        &ProgramDrawer::read,   &ProgramDrawer::loop,  &ProgramDrawer::write,
        &ProgramDrawer::branch, &ProgramDrawer::loop,  &ProgramDrawer::visit,
        &ProgramDrawer::share,  &ProgramDrawer::count, &ProgramDrawer::exchange};
    if (left_-- <= 0) return let(depth, together);
    (this->*choices_.pick(kStatements))(depth, together);
  }

  /// What was declared is not there for nothing.
  void use_declared() {
    const auto use = [&](bool is_there, void (ProgramDrawer::*statement)(int, Together)) {
      if (!is_there) return;
      const Choices::Scope scope(choices_, Part::kNode);
      (this->*statement)(0, Together::kBlock);
    };
    use(!tiles_.empty(), &ProgramDrawer::share);
    use(cells_.has_value(), &ProgramDrawer::count);
    use(subgroup_.has_value(), &ProgramDrawer::exchange);
    use(palette_.lanes > 1, &ProgramDrawer::read);
    use(palette_.lanes > 1, &ProgramDrawer::write);
  }

  void let(int, Together) {
    const int64_t count = choices_.between(1, 4);
    for (int64_t i = 0; i < count; ++i) pool_.grow();
  }

  void write(int, Together) {
    const Memory& memory = choices_.pick(outputs_);
    const uint16_t lanes = palette_.lanes;
    if (lanes > 1 && memory.each >= lanes && choices_.chance(70))
      return write_vector(memory, lanes);
    if (!choices_.chance(35)) return store_at(memory, own_element(memory));
    if (memory.strided || memory.each == 1)
      return store(memory, element(memory, own_element(memory)),
                   pool_.fitting(memory.dtype, 1, exactness(memory)), pool_.any(TN_DTYPE_BOOL, 1));
    // Beyond its own elements nothing is stored: the mask says so.
    const ProgramValue e = pool_.below(pool_.any(palette_.index, 1), 16);
    const ProgramValue mask =
        pool_.op(TN_OP_CMPLT, TN_DTYPE_BOOL, {e, index_constant(memory.each)});
    const ProgramValue at =
        index_op(TN_OP_ADD, index_op(TN_OP_MUL, thread_, index_constant(memory.stride)), e);
    store(memory, at, pool_.fitting(memory.dtype, 1, exactness(memory)), mask);
  }

  ProgramValue own_element(const Memory& memory) {
    if (memory.each == 1) return index_constant(0);
    return pool_.below(pool_.any(palette_.index, 1), memory.each);
  }

  void write_vector(const Memory& memory, uint16_t lanes) {
    const ProgramValue value = pool_.fitting(memory.dtype, lanes, exactness(memory));
    std::optional<ProgramValue> mask;
    if (choices_.chance(40)) mask = pool_.any_mask(lanes);
    const ProgramValue first = element(memory, index_constant(0));
    if (!memory.strided) {
      const bool aligned = memory.aligned && memory.each == lanes && choices_.chance(60);
      return store(memory, first, value, mask, aligned ? TN_OP_ALIGNED : 0);
    }
    store(memory, pool_.spread(first, lanes, shape_.threads), value, mask);
  }

  void read(int, Together) {
    const Memory& output = choices_.pick(outputs_);
    if (inputs_.empty() || (output.readable && choices_.chance(25))) {
      if (!output.readable) return let(0, Together::kAlone);
      load(output, element(output, own_element(output)), 1, exactness(output));
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

  void loop(int depth, Together together) {
    if (depth >= kDeepest) return let(depth, together);
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
    for (int64_t i = 0; i < statements; ++i)
      statement(depth + 1, bounds.uniform ? together : Together::kAlone);
    std::vector<uint32_t> next;
    for (const ProgramValue& carry : carries) next.push_back(pool_.next(carry).id);
    if (is_while) next.push_back(pool_.goes_on({id, palette_.index, 1}).id);
    builder_.end(next);
    pool_.cut(height);
    for (const ProgramValue& carry : carries) pool_.add(carry);
  }

  /// What is equal in the threads that wait for each other, now and then: then they may do so
  /// inside as well.
  ProgramValue condition(Together& together) {
    if (together == Together::kAlone || choices_.chance(50)) {
      together = Together::kAlone;
      return pool_.any(TN_DTYPE_BOOL, 1);
    }
    const bool of_subgroup = subgroup_ && choices_.chance(50);
    if (of_subgroup) together = Together::kSubgroup;
    const ProgramValue number = of_subgroup      ? *subgroup_
                                : equal_.empty() ? index_constant(1)
                                                 : choices_.pick(equal_);
    return pool_.op(TN_OP_CMPLT, TN_DTYPE_BOOL, {number, index_constant(choices_.between(0, 3))});
  }

  void branch(int depth, Together together) {
    if (depth >= kDeepest) return let(depth, together);
    builder_.begin_if(condition(together).id);
    const size_t height = pool_.height();
    const auto side = [&] {
      const int64_t statements = choices_.between(0, 2);
      for (int64_t i = 0; i < statements; ++i) statement(depth + 1, together);
      if (own_.empty() || choices_.chance(50))
        write(depth, together);
      else
        visit(depth, together);
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
  void visit(int depth, Together together) {
    if (own_.empty()) return let(depth, together);
    const Memory& memory = own_.front();
    const ProgramValue at = pool_.below(pool_.any(palette_.index, 1), memory.each);
    const Exact exact = kept_exact(memory.dtype);
    if (choices_.chance(50)) store(memory, at, pool_.fitting(memory.dtype, 1, exact));
    load(memory, at, 1, exact);
  }

  /// Each thread writes its elements of the tiles, and reads another one's.
  void share(int depth, Together together) {
    if (tiles_.empty() || together != Together::kBlock) return let(depth, together);
    const Exact exact = kept_exact(tiles_[0].dtype);
    const auto barrier = [&] { builder_.op(TN_OP_BARRIER, TN_DTYPE_VOID, 0, {}, TN_SCOPE_BLOCK); };
    const auto on_page = [&](const ProgramValue& thread, int64_t page) {
      return page ? index_op(TN_OP_ADD, thread, index_constant(page * shape_.group), true) : thread;
    };
    std::vector<int64_t> pages;
    for (const Memory& tile : tiles_) {
      const int64_t page = choices_.between(0, tile.each - 1);
      pages.push_back(page);
      for (const int64_t at : {(page + tile.each / 2) % tile.each, page})
        store(tile, on_page(local_, at), pool_.fitting(tile.dtype, 1, exact));
    }
    barrier();
    const ProgramValue last = index_constant(shape_.group - 1);
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
  void count(int depth, Together together) {
    if (!cells_) return let(depth, together);
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

  /// Threads of a subgroup take each other's values.
  void exchange(int depth, Together together) {
    if (!subgroup_ || together == Together::kAlone) return let(depth, together);
    const tn_dtype dtype = choices_.pick(palette_.dtypes);
    if (dtype == TN_DTYPE_BOOL || !pool_.computes(dtype)) return let(depth, together);
    const auto size = static_cast<int64_t>(shape_.subgroup);
    ProgramValue value = pool_.fitting(dtype, 1, input(dtype));
    std::vector<uint32_t> operands = {value.id};
    tn_opcode op = TN_OP_SUBGROUP_SHUFFLE;
    uint64_t imm = 0;
    switch (choices_.between(0, 2)) {
      case 0:
        operands.push_back(pool_.below(pool_.any(palette_.index, 1), size).id);
        break;
      case 1:
        op = TN_OP_SUBGROUP_BROADCAST;
        imm = static_cast<uint64_t>(choices_.between(0, size - 1));
        break;
      default: {
        op = TN_OP_SUBGROUP_REDUCE;
        const Exact sum{value.exact.bound * static_cast<double>(size), value.exact.unit};
        const bool adds = !is_float(dtype) || holds(static_cast<uint8_t>(dtype), sum);
        imm = adds && choices_.chance(60) ? TN_OP_ADD : TN_OP_MAX;
        if (is_float(dtype) && imm == TN_OP_ADD) value.exact = sum;
      }
    }
    value.id = builder_.op(op, dtype, 1, operands, imm);
    pool_.add(value);
  }

  Choices& choices_;
  const Palette palette_;
  const ProgramShape shape_;
  sdk::ProgramBuilder builder_;
  ProgramPool pool_;
  ProgramValue thread_, local_;
  std::vector<ProgramValue> equal_;       ///< in all threads of a workgroup
  std::optional<ProgramValue> subgroup_;  ///< the number of a thread's subgroup
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
