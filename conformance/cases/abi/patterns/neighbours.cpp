// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads and stores of a thread on constant addresses, on addresses that are near without being
// constant, and beside each other: what store-to-load forwarding, dead-store elimination and the
// joining of loads go by. Every order of the table with every dtype and space.
#include <optional>
#include <sstream>

#include "conformance/cases/abi/patterns/pattern.hpp"
#include "conformance/cases/abi/patterns/program_kit.hpp"

namespace tenon::conformance::abi {
namespace {

constexpr int64_t kOwn = 8;        ///< elements of a thread
constexpr int64_t kMostSeen = 16;  ///< loads whose values are stored
constexpr int64_t kNeighbourValues = 48;

struct OrderRow {
  std::string_view name, words;
};
/// Words: S store, L load, of an element; N store, M load, of that element or the next one, as data
/// say; V store, W load, of a vector of four; P masked store, Q masked load; T store of what was
/// loaded last; [ ] three times; { | } two sides of a condition on data.
constexpr OrderRow kOrders[] = {
    {"store_load", "S0 L0"},
    {"store_store_load", "S0 S0 L0"},
    {"load_store_load", "L0 S0 L0"},
    {"load_neighbour_stored", "L0 S1 L0 L1"},
    {"store_near_load", "S0 N0 L0 L1"},
    {"near_then_load", "L0 L1 N0 L0 L1"},
    {"store_near_store", "S0 N0 S0 L0 L1"},
    {"store_load_near", "S0 S1 M0 S0 M0"},
    {"near_load_between", "S0 M0 S0 L0"},
    {"masked_over_store", "S0 P0 L0"},
    {"masked_over_masked", "P0 P0 L0"},
    {"masked_between", "L0 P0 L0 S0 L0"},
    {"masked_loads", "S0 Q0 S0 Q0 P0 Q0"},
    {"vector_then_lanes", "V0 L0 L1 L3"},
    {"lanes_then_vector", "S0 S1 S2 S3 W0"},
    {"lane_over_vector", "V0 S1 W0 L1"},
    {"vectors_overlap", "V0 V2 W0 W2"},
    {"vector_over_lane", "S1 V0 L1"},
    {"masked_over_vector", "V0 P2 W0"},
    {"lane_between_vectors", "W0 S2 W0"},
    {"loop_store_after_load", "[ L0 S0 N0 L1 ] L0"},
    {"loop_store_first", "[ S0 N0 L0 ] L0 L1"},
    {"loop_invariant_load", "[ L0 N0 ] L0 L1"},
    {"loop_invariant_store", "[ S0 M0 S1 ] L0 L1"},
    {"sides_store_apart", "{ S0 | S1 } L0 L1"},
    {"sides_store_same", "{ S0 | S0 } L0"},
    {"one_side_stores", "S0 { S0 } L0"},
    {"one_side_stores_near", "S0 { N0 } L0 L1"},
    {"store_before_sides", "S0 { L0 | S0 } L0"},
    {"loads_around_side", "L0 { S0 } L0 { S1 } L1"},
    {"copy_to_neighbour", "L0 T1 L1 S0 L1"},
    {"swap", "L0 L1 T0 L0 T1 L0 L1"},
    {"downwards", "S7 S6 S5 S4 N6 W4"},
    {"upwards", "S0 S1 S2 S3 N1 L2 W0"},
};
constexpr tn_space kNeighbourSpaces[] = {TN_SPACE_GLOBAL, TN_SPACE_SCRATCH, TN_SPACE_REGISTER,
                                         TN_SPACE_SHARED};
constexpr const char* kNeighbourSpaceNames[] = {"global", "scratch", "register", "shared"};
constexpr tn_dtype kNeighbourDTypes[] = {TN_DTYPE_I32, TN_DTYPE_U8,  TN_DTYPE_F32, TN_DTYPE_I16,
                                         TN_DTYPE_I64, TN_DTYPE_F16, TN_DTYPE_BOOL};

class NeighbourProgram {
 public:
  NeighbourProgram(Choices& choices, std::string_view words, tn_dtype dtype, tn_space space)
      : choices_(choices), words_(words), dtype_(dtype), space_(space), kit_("neighbours") {}

  SequenceStep draw() {
    // One thread has constant addresses.
    const bool is_alone = choices_.chance(40);
    const int64_t threads = is_alone ? 1 : 4, groups = is_alone ? 1 : 3;
    if (threads > 1) kit_.builder.workgroup(static_cast<uint32_t>(threads), 1, 1);
    constexpr uint32_t kBoth = TN_ACCESS_READ | TN_ACCESS_WRITE;
    const int64_t all = threads * groups;
    out_ = kit_.builder.buffer("out", dtype_, kBoth, uint64_t(all * kMostSeen));
    in_ = kit_.builder.buffer("in", dtype_, TN_ACCESS_READ, kNeighbourValues);
    data_ = kit_.builder.buffer("data", TN_DTYPE_I32, TN_ACCESS_READ, kNeighbourValues);
    if (space_ == TN_SPACE_GLOBAL)
      own_ = kit_.builder.buffer("own", dtype_, kBoth, uint64_t(all * kOwn));
    else
      own_ = kit_.builder.allocate("own", dtype_, space_,
                                   uint64_t(space_ == TN_SPACE_SHARED ? threads * kOwn : kOwn));
    thread_ = is_alone ? kit_.whole(0) : kit_.thread_of_launch(threads);
    base_ = first_own(is_alone);
    if (space_ != TN_SPACE_GLOBAL)
      for (int64_t k = 0; k < kOwn; ++k) kit_.store(own_, at(k), fresh());
    std::istringstream words{std::string(words_)};
    for (std::string word; words >> word;) take(word);
    return kit_.step(groups, choices_.between(1, 99), 0);
  }

 private:
  using Value = ProgramKit::Value;

  /// Nothing where constants lead to the thread's elements.
  std::optional<Value> first_own(bool is_alone) {
    if (is_alone) return {};
    if (space_ == TN_SPACE_GLOBAL) return kit_.times(thread_, kit_.whole(kOwn));
    if (space_ != TN_SPACE_SHARED) return {};
    return kit_.times(kit_.builder.index(TN_AXIS_BLOCK_X, TN_DTYPE_I32), kit_.whole(kOwn));
  }
  Value at(int64_t k) {
    if (!base_) return kit_.whole(k);
    return k == 0 ? *base_ : kit_.plus(*base_, kit_.whole(k));
  }
  /// An element of the inputs that is another for each thread and use.
  Value place() {
    const Value offset = kit_.plus(thread_, kit_.whole(7 * used_++));
    return kit_.index(TN_OP_AND, offset, kit_.whole(31));
  }
  Value fresh() { return kit_.load(in_, place()); }
  Value fresh_vector() { return kit_.load(in_, place(), 4); }
  /// 0 or 1, as data say.
  Value bit() { return kit_.index(TN_OP_AND, kit_.load(data_, place()), kit_.whole(1)); }
  Value flag() { return kit_.less(kit_.whole(0), bit()); }
  Value near(int64_t k) { return kit_.plus(at(k), bit()); }

  void see(Value value, uint16_t lanes = 1) {
    last_ = value;
    if (seen_ + lanes > kMostSeen) return;
    const Value first = kit_.times(thread_, kit_.whole(kMostSeen));
    kit_.store(out_, kit_.plus(first, kit_.whole(seen_)), value);
    seen_ += lanes;
  }

  void masked(int64_t k, bool is_store) {
    const Value mask = flag();
    if (is_store)
      kit_.builder.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {own_, at(k), fresh(), mask});
    else
      see(kit_.builder.op(TN_OP_TAKE, dtype_, 1, {own_, at(k), mask, fresh()}));
  }

  void take(const std::string& word) {
    const int64_t k = word.size() > 1 ? word[1] - '0' : 0;
    switch (word[0]) {
      case 'S':
        return kit_.store(own_, at(k), fresh());
      case 'L':
        return see(kit_.load(own_, at(k)));
      case 'N':
        return kit_.store(own_, near(k), fresh());
      case 'M':
        return see(kit_.load(own_, near(k)));
      case 'V':
        return kit_.store(own_, at(k), fresh_vector());
      case 'W': {
        see(kit_.load(own_, at(k), 4), 4);
        last_.reset();
        return;
      }
      case 'P':
      case 'Q':
        return masked(k, word[0] == 'P');
      case 'T':
        return kit_.store(own_, at(k), last_ ? *last_ : fresh());
      case '[':
        kit_.builder.begin_loop(kit_.whole(0), kit_.whole(3), kit_.whole(1));
        last_.reset();
        return;
      case '{':
        kit_.builder.begin_if(flag());
        last_.reset();
        return;
      case '|':
        kit_.builder.begin_else();
        last_.reset();
        return;
      default:
        kit_.builder.end();
        last_.reset();
    }
  }

  Choices& choices_;
  const std::string_view words_;
  const tn_dtype dtype_;
  const tn_space space_;
  ProgramKit kit_;
  Value out_ = 0, in_ = 0, data_ = 0, own_ = 0, thread_ = 0;
  std::optional<Value> base_, last_;
  int64_t used_ = 0, seen_ = 0;
};

/// Words that no row lists.
std::string random_words(Choices& choices) {
  constexpr char kLetters[] = {'S', 'L', 'N', 'M', 'P', 'Q', 'T', 'L'};
  std::string out;
  const int64_t count = choices.between(5, 12);
  for (int64_t i = 0; i < count; ++i) {
    out += choices.pick(kLetters);
    out += static_cast<char>('0' + choices.between(0, 2));
    out += ' ';
  }
  return out;
}

}  // namespace

std::vector<Pattern> neighbour_patterns() {
  std::vector<Pattern> out;
  for (size_t s = 0; s < std::size(kNeighbourSpaces); ++s) {
    const auto add = [&](const std::string& name, std::string_view words) {
      const tn_space space = kNeighbourSpaces[s];
      out.push_back(
          {"neighbours", name + " " + kNeighbourSpaceNames[s], [words, space](Choices& choices) {
             const tn_dtype dtype = choices.pick(kNeighbourDTypes);
             const std::string drawn = words.empty() ? random_words(choices) : "";
             const std::string_view all = words.empty() ? drawn : words;
             return DrawnPattern{{NeighbourProgram(choices, all, dtype, space).draw()}, dtype};
           }});
    };
    for (const OrderRow& row : kOrders) add(std::string(row.name), row.words);
    add("any", "");
  }
  return out;
}

}  // namespace tenon::conformance::abi
