// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One effect after another: loads and stores of each space, masked or not, atomics, barriers,
// subgroup ops and asynchronous copies. A program has one of them between all others. What is
// loaded is added up and stored at the end, so that no other effect stands between two.
#include <array>
#include <optional>

#include "conformance/cases/abi/patterns/pattern.hpp"
#include "conformance/cases/abi/patterns/program_kit.hpp"

namespace tenon::conformance::abi {
namespace {

enum class Effect {
  kLoad,
  kMaskedLoad,
  kStore,
  kMaskedStore,
  kAtomic,
  kBarrier,
  kShuffle,
  kReduce,
  kBroadcast,
  kCopy,
  kCommit,
  kWait
};
struct EffectRow {
  std::string_view name;
  Effect effect;
  uint32_t of = 0;  ///< its tn_space or tn_scope
};
constexpr EffectRow kEffects[] = {
    {"load global", Effect::kLoad, TN_SPACE_GLOBAL},
    {"store global", Effect::kStore, TN_SPACE_GLOBAL},
    {"masked load global", Effect::kMaskedLoad, TN_SPACE_GLOBAL},
    {"masked store global", Effect::kMaskedStore, TN_SPACE_GLOBAL},
    {"load constant", Effect::kLoad, TN_SPACE_CONSTANT},
    {"masked load constant", Effect::kMaskedLoad, TN_SPACE_CONSTANT},
    {"load scratch", Effect::kLoad, TN_SPACE_SCRATCH},
    {"store scratch", Effect::kStore, TN_SPACE_SCRATCH},
    {"masked load scratch", Effect::kMaskedLoad, TN_SPACE_SCRATCH},
    {"masked store scratch", Effect::kMaskedStore, TN_SPACE_SCRATCH},
    {"load register", Effect::kLoad, TN_SPACE_REGISTER},
    {"store register", Effect::kStore, TN_SPACE_REGISTER},
    {"masked load register", Effect::kMaskedLoad, TN_SPACE_REGISTER},
    {"masked store register", Effect::kMaskedStore, TN_SPACE_REGISTER},
    {"load shared", Effect::kLoad, TN_SPACE_SHARED},
    {"store shared", Effect::kStore, TN_SPACE_SHARED},
    {"masked load shared", Effect::kMaskedLoad, TN_SPACE_SHARED},
    {"masked store shared", Effect::kMaskedStore, TN_SPACE_SHARED},
    {"barrier block", Effect::kBarrier, TN_SCOPE_BLOCK},
    {"atomic global", Effect::kAtomic, TN_SPACE_GLOBAL},
    {"atomic shared", Effect::kAtomic, TN_SPACE_SHARED},
    {"barrier subgroup", Effect::kBarrier, TN_SCOPE_SUBGROUP},
    {"shuffle", Effect::kShuffle},
    {"reduce", Effect::kReduce},
    {"broadcast", Effect::kBroadcast},
    {"copy", Effect::kCopy},
    {"commit", Effect::kCommit},
    {"wait", Effect::kWait},
};
constexpr int64_t kEach = 4;  ///< elements of a thread in each memory
constexpr int64_t kMostCopies = 24;

/// What a device has to have for an effect.
enum Need : uint32_t {
  kNeedsGroup = 1,
  kNeedsSubgroup = 2,
  kNeedsAtomics = 4,
  kNeedsCopies = 8,
  kNeedsSubgroupBarrier = 16
};
uint32_t needs_of(const EffectRow& row) {
  switch (row.effect) {
    case Effect::kBarrier:
      return row.of == TN_SCOPE_BLOCK ? kNeedsGroup : kNeedsSubgroupBarrier;
    case Effect::kAtomic:
      return kNeedsAtomics | (row.of == TN_SPACE_SHARED ? uint32_t{kNeedsGroup} : 0);
    case Effect::kShuffle:
    case Effect::kReduce:
    case Effect::kBroadcast:
      return kNeedsSubgroup;
    case Effect::kCopy:
    case Effect::kCommit:
    case Effect::kWait:
      return kNeedsCopies | kNeedsGroup;
    default:
      return row.of == TN_SPACE_SHARED ? uint32_t{kNeedsGroup} : 0;
  }
}

class OrderProgram {
 public:
  OrderProgram(Choices& choices, const EffectRow& row, tn_dtype dtype)
      : choices_(choices), row_(row), dtype_(dtype), kit_("orders") {}

  SequenceStep draw() {
    uint32_t has = needs_of(row_);
    for (const uint32_t need :
         {kNeedsGroup, kNeedsSubgroup, kNeedsAtomics, kNeedsCopies, kNeedsSubgroupBarrier})
      if (choices_.chance(30)) has |= need;
    if (has & kNeedsCopies) has |= kNeedsGroup;
    if (has & kNeedsSubgroupBarrier) has |= kNeedsSubgroup;
    declare(has);
    const bool in_loop = choices_.chance(30);
    if (in_loop) {
      const Value initial[] = {total_};
      loop_ = kit_.builder.begin_loop(kit_.whole(0), kit_.whole(2), kit_.whole(1), initial);
      total_ = *loop_ + 1;
    }
    const uint64_t first = choices_.below(std::size(kEffects));
    for (size_t n = 0; n < std::size(kEffects); ++n) {
      const EffectRow& other = kEffects[(first + n) % std::size(kEffects)];
      if ((needs_of(other) & ~has) != 0) continue;
      const Choices::Scope scope(choices_, Part::kNode);
      take(row_);
      take(other);
    }
    if (in_loop) {
      const Value next[] = {total_};
      kit_.builder.end(next);
      total_ = *loop_ + 1;
    }
    if (copied_) arrive();
    kit_.store(out_, thread_, total_);
    return kit_.step(groups_, choices_.between(1, 99));
  }

 private:
  using Value = ProgramKit::Value;

  void declare(uint32_t has) {
    if (has & kNeedsSubgroup) {
      constexpr uint32_t kSizes[] = {8, 32, 4, 16};
      subgroup_ = choices_.pick(kSizes);
      threads_ = int64_t{subgroup_} * choices_.between(1, 2);
    } else if (has & kNeedsGroup) {
      threads_ = 8;
    }
    if (threads_ > 1) kit_.builder.workgroup(static_cast<uint32_t>(threads_), 1, 1);
    if (subgroup_) kit_.builder.subgroup(subgroup_);
    const int64_t all = threads_ * groups_;
    constexpr uint32_t kBoth = TN_ACCESS_READ | TN_ACCESS_WRITE;
    out_ = kit_.builder.buffer("out", TN_DTYPE_I32, kBoth, uint64_t(all));
    memory_[TN_SPACE_GLOBAL] = kit_.builder.buffer("own", dtype_, kBoth, uint64_t(all * kEach));
    memory_[TN_SPACE_CONSTANT] = kit_.builder.buffer("in", dtype_, TN_ACCESS_READ,
                                                     uint64_t(all * kEach), 0, TN_SPACE_CONSTANT);
    for (const auto& [space, name] :
         {std::pair(TN_SPACE_SCRATCH, "scratch"), {TN_SPACE_REGISTER, "register"}})
      memory_[space] = kit_.builder.allocate(name, dtype_, space, kEach);
    const bool has_shared = has & kNeedsGroup;
    if (has_shared)
      memory_[TN_SPACE_SHARED] =
          kit_.builder.allocate("tile", dtype_, TN_SPACE_SHARED, uint64_t(threads_ * kEach));
    if (has & kNeedsAtomics) {
      cells_[0] = kit_.builder.buffer("cells", TN_DTYPE_I32, kBoth, uint64_t(all));
      if (has_shared)
        cells_[1] = kit_.builder.allocate("shared_cells", TN_DTYPE_I32, TN_SPACE_SHARED,
                                          uint64_t(threads_));
    }
    if (has & kNeedsCopies) {
      from_ = kit_.builder.buffer("from", TN_DTYPE_I32, TN_ACCESS_READ,
                                  uint64_t(threads_ * kMostCopies), 16);
      to_ = kit_.builder.allocate("to", TN_DTYPE_I32, TN_SPACE_SHARED,
                                  uint64_t(threads_ * kMostCopies), 16);
    }
    thread_ = kit_.thread_of_launch(threads_);
    local_ = threads_ > 1 ? kit_.builder.index(TN_AXIS_BLOCK_X, TN_DTYPE_I32) : kit_.whole(0);
    total_ = kit_.whole(1);
    for (const tn_space space : {TN_SPACE_SCRATCH, TN_SPACE_REGISTER, TN_SPACE_SHARED})
      for (int64_t e = 0; memory_[space] && e < kEach; ++e)
        kit_.store(*memory_[space], at(space, e), fresh());
    if (cells_[1]) kit_.store(*cells_[1], local_, kit_.whole(3));
  }

  /// Element `e` of the thread's own.
  Value at(uint32_t space, int64_t e) {
    if (space == TN_SPACE_SCRATCH || space == TN_SPACE_REGISTER) return kit_.whole(e);
    const Value who = space == TN_SPACE_SHARED ? local_ : thread_;
    return kit_.plus(kit_.times(who, kit_.whole(kEach)), kit_.whole(e));
  }
  Value any_at(uint32_t space) {
    const int64_t e = choices_.between(0, 1);
    if (choices_.chance(60)) return at(space, e);
    // As data say: one of the first two.
    const Value bit = kit_.index(TN_OP_AND, total_, kit_.whole(1));
    return kit_.plus(at(space, e), bit);
  }
  /// From what was loaded.
  Value fresh() {
    const Value number = kit_.plus(kit_.times(thread_, kit_.whole(3)), kit_.whole(used_++));
    const Value mixed = kit_.index(TN_OP_XOR, number, total_);
    const Value few = kit_.index(TN_OP_AND, mixed, kit_.whole(dtype_ == TN_DTYPE_BOOL ? 1 : 63));
    return dtype_ == TN_DTYPE_I32 ? few : kit_.cast(few, dtype_);
  }
  Value flag() {
    const Value bit = kit_.index(TN_OP_AND, kit_.plus(total_, kit_.whole(used_++)), kit_.whole(1));
    return kit_.less(kit_.whole(0), bit);
  }
  void see(Value value) {
    if (kit_.builder.at(value).dtype != TN_DTYPE_I32) value = kit_.cast(value, TN_DTYPE_I32);
    total_ = kit_.plus(kit_.times(total_, kit_.whole(3)), value);
  }
  Value exchanged(tn_opcode op, uint64_t imm) {
    std::vector<Value> operands = {total_};
    if (op == TN_OP_SUBGROUP_SHUFFLE)
      operands.push_back(kit_.index(TN_OP_AND,
                                    kit_.plus(kit_.times(local_, kit_.whole(3)), kit_.whole(1)),
                                    kit_.whole(int64_t{subgroup_} - 1)));
    return kit_.builder.op(op, TN_DTYPE_I32, 1, operands, imm);
  }

  void take(const EffectRow& row) {
    switch (row.effect) {
      case Effect::kLoad:
        return see(kit_.load(*memory_[row.of], any_at(row.of)));
      case Effect::kMaskedLoad:
        return see(kit_.builder.op(TN_OP_TAKE, dtype_, 1,
                                   {*memory_[row.of], any_at(row.of), flag(), fresh()}));
      case Effect::kStore:
        return kit_.store(*memory_[row.of], any_at(row.of), fresh());
      case Effect::kMaskedStore:
        kit_.builder.op(TN_OP_STORE, TN_DTYPE_VOID, 0,
                        {*memory_[row.of], any_at(row.of), fresh(), flag()});
        return;
      case Effect::kAtomic: {
        constexpr tn_atomic kWays[] = {TN_ATOMIC_ADD, TN_ATOMIC_MAX, TN_ATOMIC_MIN,
                                       TN_ATOMIC_EXCHANGE};
        const bool is_shared = row.of == TN_SPACE_SHARED;
        const Value value = kit_.plus(total_, kit_.whole(used_++));
        return see(kit_.builder.op(TN_OP_ATOMIC, TN_DTYPE_I32, 1,
                                   {*cells_[is_shared], is_shared ? local_ : thread_, value},
                                   choices_.pick(kWays) | uint64_t{TN_SCOPE_BLOCK} << 8));
      }
      case Effect::kBarrier:
        kit_.barrier(static_cast<tn_scope>(row.of));
        return;
      case Effect::kShuffle:
        return see(exchanged(TN_OP_SUBGROUP_SHUFFLE, 0));
      case Effect::kReduce:
        return see(exchanged(TN_OP_SUBGROUP_REDUCE, TN_OP_MAX));
      case Effect::kBroadcast:
        return see(exchanged(TN_OP_SUBGROUP_BROADCAST, choices_.below(subgroup_)));
      case Effect::kCopy:
        return copy();
      case Effect::kCommit:
        kit_.builder.op(TN_OP_ASYNC_COMMIT, TN_DTYPE_VOID, 0, {});
        return;
      case Effect::kWait:
        kit_.builder.op(TN_OP_ASYNC_WAIT, TN_DTYPE_VOID, 0, {}, choices_.below(3));
        return;
    }
  }

  /// Each to a place of its own, which is looked at after all have arrived.
  void copy() {
    if (copies_ >= kMostCopies) return;
    const Value place = kit_.plus(local_, kit_.whole(copies_++ * threads_));
    kit_.builder.op(TN_OP_ASYNC_COPY, TN_DTYPE_VOID, 0, {*to_, place, *from_, place}, 4);
    copied_ = true;
  }
  void arrive() {
    kit_.builder.op(TN_OP_ASYNC_COMMIT, TN_DTYPE_VOID, 0, {});
    kit_.builder.op(TN_OP_ASYNC_WAIT, TN_DTYPE_VOID, 0, {}, 0);
    kit_.barrier(TN_SCOPE_BLOCK);
    const Value other = kit_.plus(kit_.whole(threads_ - 1), kit_.times(local_, kit_.whole(-1)));
    for (int64_t e = 0; e < copies_; ++e)
      see(kit_.load(*to_, kit_.plus(other, kit_.whole(e * threads_))));
  }

  Choices& choices_;
  const EffectRow& row_;
  const tn_dtype dtype_;
  ProgramKit kit_;
  uint32_t subgroup_ = 0;
  int64_t threads_ = 1, groups_ = 3, used_ = 1, copies_ = 0;
  bool copied_ = false;
  std::array<std::optional<Value>, TN_SPACE_SCRATCH + 1> memory_;
  std::optional<Value> cells_[2], from_, to_, loop_;
  Value out_ = 0, thread_ = 0, local_ = 0, total_ = 0;
};

}  // namespace

std::vector<Pattern> order_patterns() {
  std::vector<Pattern> out;
  for (const EffectRow& row : kEffects)
    out.push_back({"orders", std::string(row.name), [&row](Choices& choices) {
                     constexpr tn_dtype kHeld[] = {TN_DTYPE_I32, TN_DTYPE_F32, TN_DTYPE_U8,
                                                   TN_DTYPE_I16, TN_DTYPE_I64, TN_DTYPE_F16};
                     const tn_dtype dtype = choices.pick(kHeld);
                     return DrawnPattern{{OrderProgram(choices, row, dtype).draw()}, dtype};
                   }});
  return out;
}

}  // namespace tenon::conformance::abi
