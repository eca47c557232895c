// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/op_tree.hpp"

#include <algorithm>

#include "core/support/error.hpp"
#include "core/support/hash.hpp"

namespace tenon {
namespace {

uint64_t hash_of(const OpTree::Op& op, std::span<const uint32_t> operands) {
  uint64_t h = hash_mix(uint64_t{op.op} << 32 | uint64_t{op.dtype} << 16 | op.lanes, op.imm);
  h = hash_mix(h, op.flags);
  for (const uint32_t v : operands) h = hash_mix(h, v);
  return h;
}

}  // namespace

OpTree::OpTree() { regions_.emplace_back(); }

OpTree::Value OpTree::add(Op op, std::span<const Value> operands) {
  op.first = static_cast<uint32_t>(operands_.size());
  op.count = static_cast<uint32_t>(operands.size());
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  ops_.push_back(op);
  return static_cast<Value>(ops_.size() - 1);
}

uint32_t OpTree::place(std::span<const Value> operands, uint32_t floor) const {
  uint32_t region = floor;
  for (const Value v : operands)
    if (regions_[ops_[v].region].depth > regions_[region].depth) region = ops_[v].region;
  return region;
}

OpTree::Value OpTree::shared(Op op, std::span<const Value> operands) {
  const uint64_t hash = hash_of(op, operands);
  const auto [begin, end] = known_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const Op& old = ops_[it->second];
    if (old.op == op.op && old.dtype == op.dtype && old.lanes == op.lanes && old.imm == op.imm &&
        old.flags == op.flags && regions_[old.region].open &&
        regions_[old.region].depth <= regions_[op.region].depth &&
        std::ranges::equal(this->operands(it->second), operands))
      return it->second;
  }
  const Value v = add(op, operands);
  regions_[op.region].items.push_back(v);
  known_.emplace(hash, v);
  return v;
}

OpTree::Value OpTree::param(tn_dtype dtype, uint64_t number) {
  Op op;
  op.op = TN_OP_PARAM;
  op.dtype = dtype;
  op.imm = number;
  return add(op, {});
}

OpTree::Value OpTree::pure(tn_opcode code, tn_dtype dtype, uint16_t lanes,
                           std::span<const Value> operands, uint64_t imm, uint32_t flags) {
  Op op;
  op.op = code;
  op.dtype = dtype;
  op.lanes = lanes;
  op.imm = imm;
  op.flags = flags;
  op.region = place(operands, 0);
  return shared(op, operands);
}

OpTree::Value OpTree::load(tn_dtype dtype, uint16_t lanes, std::span<const Value> operands,
                           uint32_t flags, uint32_t floor, bool fixed) {
  Op op;
  op.op = TN_OP_TAKE;
  op.dtype = dtype;
  op.lanes = lanes;
  op.flags = flags;
  op.region = fixed ? current_ : place(operands, floor);
  if (!fixed) return shared(op, operands);
  const bool is_held = forwarded_buffers_.contains(operands[0]) && lanes == 1 &&
                       operands.size() == 2 && ops_[operands[1]].op == TN_OP_CONST;
  Forwarded* const held = is_held ? &forwarded_[{operands[0], operands[1]}] : nullptr;
  if (held && held->value != 0 && held->region == current_) return held->value;
  const Value v = add(op, operands);
  regions_[current_].items.push_back(v);
  if (held) *held = {v, current_};
  return v;
}

void OpTree::forward_stored(std::span<const Value> operands) {
  const bool is_one =
      operands.size() == 3 && ops_[operands[1]].op == TN_OP_CONST && ops_[operands[2]].lanes == 1;
  if (is_one)
    forwarded_[{operands[0], operands[1]}] = {operands[2], current_};
  else
    std::erase_if(forwarded_, [&](const auto& entry) { return entry.first.first == operands[0]; });
}

OpTree::Value OpTree::matrix_load(tn_dtype dtype, uint16_t lanes, std::span<const Value> operands,
                                  uint64_t imm, uint32_t floor) {
  Op op;
  op.op = TN_OP_MATRIX_LOAD;
  op.dtype = dtype;
  op.lanes = lanes;
  op.imm = imm;
  op.region = place(operands, floor);
  return shared(op, operands);
}

void OpTree::changed(Value buffer) {
  std::erase_if(known_, [&](const auto& entry) {
    const Op& op = ops_[entry.second];
    return (op.op == TN_OP_TAKE || op.op == TN_OP_MATRIX_LOAD) && operands_[op.first] == buffer;
  });
}

void OpTree::effect(tn_opcode code, std::span<const Value> operands, uint64_t imm, uint32_t flags) {
  Op op;
  op.op = code;
  op.lanes = 0;
  op.imm = imm;
  op.flags = flags;
  op.region = current_;
  const Value v = add(op, operands);
  regions_[current_].items.push_back(v);
  if (is_forwarded_store(ops_[v])) forward_stored(operands);
}

OpTree::Value OpTree::atomic(tn_dtype dtype, std::span<const Value> operands, uint64_t imm) {
  Op op;
  op.op = TN_OP_ATOMIC;
  op.dtype = dtype;
  op.imm = imm;
  op.region = current_;
  const Value v = add(op, operands);
  regions_[current_].items.push_back(v);
  return v;
}

uint32_t OpTree::open(Value opener, bool conditional) {
  Region region;
  region.parent = ops_[opener].region;
  region.depth = regions_[region.parent].depth + 1;
  region.opener = opener;
  region.conditional = conditional;
  regions_.push_back(std::move(region));
  return current_ = static_cast<uint32_t>(regions_.size()) - 1;
}

OpTree::Value OpTree::begin_loop(Value begin, Value end, Value step, std::span<const Value> initial,
                                 bool skips) {
  std::vector<Value> operands{begin, end, step};
  operands.insert(operands.end(), initial.begin(), initial.end());
  Op op;
  op.op = TN_OP_LOOP;
  op.dtype = ops_[begin].dtype;
  op.region = current_;
  const Value loop = add(op, operands);
  const uint32_t body = open(loop, false);
  regions_[body].skips = skips;
  ops_[loop].body = body;
  for (size_t k = 0; k < initial.size(); ++k) {
    Op carry;
    carry.op = TN_OP_CARRY;
    carry.dtype = ops_[initial[k]].dtype;
    carry.lanes = ops_[initial[k]].lanes;
    carry.imm = k;
    carry.region = body;
    carry.source = loop;
    add(carry, {});
  }
  // The induction variable is the loop's own value, visible in its body.
  Op position;
  position.op = TN_OP_LOOP;
  position.dtype = op.dtype;
  position.region = body;
  position.source = loop;
  position.result = true;
  add(position, {});
  return loop;
}

std::vector<OpTree::Value> OpTree::end_loop(std::span<const Value> next) {
  Region& region = regions_[current_];
  region.open = false;
  region.next.assign(next.begin(), next.end());
  const Value loop = region.opener;
  current_ = region.parent;
  regions_[current_].items.push_back(loop);
  std::vector<Value> results;
  for (size_t k = 0; k < next.size(); ++k) {
    Op result = ops_[loop + 1 + k];
    result.region = current_;
    result.result = true;
    results.push_back(add(result, {}));
  }
  return results;
}

void OpTree::begin_if(Value condition) {
  Op op;
  op.op = TN_OP_IF;
  op.lanes = 0;
  op.region = current_;
  const Value v = add(op, std::span(&condition, 1));
  const uint32_t body = open(v, true);
  ops_[v].body = body;
}

void OpTree::begin_else() {
  const Value v = regions_[current_].opener;
  regions_[current_].open = false;
  const uint32_t other = open(v, true);
  ops_[v].other = other;
}

void OpTree::end_if() {
  Region& region = regions_[current_];
  region.open = false;
  const Value v = region.opener;
  current_ = region.parent;
  regions_[current_].items.push_back(v);
}

uint32_t OpTree::conditional() const {
  uint32_t region = current_;
  while (region != 0 && !regions_[region].conditional && !regions_[region].skips)
    region = regions_[region].parent;
  return region;
}

bool OpTree::in_loop() const {
  uint32_t region = current_;
  while (region != 0 && regions_[region].conditional) region = regions_[region].parent;
  return region != 0;
}

std::vector<bool> OpTree::live() const {
  std::vector<bool> live(ops_.size(), false);
  std::vector<Value> work;
  const auto need = [&](Value v) {
    if (!live[v]) live[v] = true, work.push_back(v);
  };
  std::map<Value, std::vector<Value>> stores;  // to forwarded buffers
  for (Value v = 0; v < ops_.size(); ++v)
    if (is_forwarded_store(ops_[v]))
      stores[operands_[ops_[v].first]].push_back(v);
    else if (ops_[v].op == TN_OP_STORE || ops_[v].op == TN_OP_ATOMIC ||
             ops_[v].op == TN_OP_BARRIER || ops_[v].op == TN_OP_MATRIX_STORE ||
             (ops_[v].op >= TN_OP_ASYNC_COPY && ops_[v].op <= TN_OP_ASYNC_WAIT))
      need(v);
  while (!work.empty()) {
    const Value v = work.back();
    work.pop_back();
    const Op& op = ops_[v];
    for (const Value operand : operands(v)) need(operand);
    if (op.op == TN_OP_TAKE)
      if (const auto of = stores.find(operands_[op.first]); of != stores.end())
        for (const Value store : of->second) need(store);
    if (op.op == TN_OP_CARRY || op.result) need(op.source);
    if (op.region != 0) need(regions_[op.region].opener);
    if (op.op == TN_OP_LOOP && !op.result)
      for (const Value next : regions_[op.body].next) need(next);
  }
  return live;
}

class OpTree::Writer {
 public:
  Writer(const OpTree& tree, sdk::ProgramBuilder& builder, std::span<const uint32_t> params)
      : tree_(tree), builder_(builder), live_(tree.live()), to_(tree.ops_.size(), 0) {
    for (Value v = 0; v < tree.ops_.size(); ++v)
      if (tree.ops_[v].op == TN_OP_PARAM) to_[v] = params[tree.ops_[v].imm];
  }

  void region(uint32_t r) {
    for (const Value v : tree_.regions_[r].items)
      if (live_[v]) one(v);
  }

 private:
  /// The program's value; a loop's results are its carries.
  uint32_t get(Value v) const {
    const Op& op = tree_.ops_[v];
    if (op.op == TN_OP_CARRY) return to_[op.source] + 1 + static_cast<uint32_t>(op.imm);
    if (op.op == TN_OP_LOOP && op.result) return to_[op.source];
    return to_[v];
  }

  std::vector<uint32_t> get(std::span<const Value> values) const {
    std::vector<uint32_t> out;
    for (const Value v : values) out.push_back(get(v));
    return out;
  }

  void one(Value v) {
    const Op& op = tree_.ops_[v];
    const std::vector<uint32_t> operands = get(tree_.operands(v));
    if (op.op == TN_OP_LOOP) {
      to_[v] = builder_.begin_loop(operands[0], operands[1], operands[2],
                                   std::span(operands).subspan(3), op.flags);
      region(op.body);
      builder_.end(get(tree_.regions_[op.body].next));
    } else if (op.op == TN_OP_IF) {
      builder_.begin_if(operands[0]);
      region(op.body);
      if (op.other) {
        builder_.begin_else();
        region(op.other);
      }
      builder_.end();
    } else {
      to_[v] = builder_.op(op.op, op.dtype, op.lanes, operands, op.imm, op.flags);
    }
  }

  const OpTree& tree_;
  sdk::ProgramBuilder& builder_;
  std::vector<bool> live_;
  std::vector<uint32_t> to_;
};

void OpTree::write(sdk::ProgramBuilder& builder, std::span<const uint32_t> params) const {
  Writer(*this, builder, params).region(0);
}

}  // namespace tenon
