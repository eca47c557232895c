// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/node_hash.hpp"

namespace tenon {
namespace {

uint64_t hash_scalar(uint64_t h, const Scalar& s) {
  return hash_mix(hash_mix(h, static_cast<uint64_t>(s.dtype)), s.bits);
}

uint64_t hash_ints(uint64_t h, const std::vector<int>& values) {
  h = hash_mix(h, values.size());
  for (const int v : values) h = hash_mix(h, static_cast<uint64_t>(v));
  return h;
}

struct AttrHash {
  uint64_t h;

  uint64_t operator()(const std::monostate&) const { return h; }
  uint64_t operator()(const ConstAttr& a) const { return hash_scalar(h, a.value); }
  uint64_t operator()(const ParamAttr& a) const {
    return hash_mix(hash_mix(hash_mix(hash_bytes(h, a.name), a.is_dim), a.dim.hash()), a.identity);
  }
  uint64_t operator()(const IndexAttr& a) const {
    return hash_mix(h, static_cast<uint64_t>(a.axis));
  }
  uint64_t operator()(const CastAttr& a) const { return hash_mix(h, a.bits); }
  uint64_t operator()(const ViewAttr& a) const {
    uint64_t r = hash_scalar(hash_ints(hash_mix(h, static_cast<uint64_t>(a.kind)), a.axes), a.fill);
    for (const auto& [x, y] : a.pairs) r = hash_mix(hash_mix(r, x.hash()), y.hash());
    return r;
  }
  uint64_t operator()(const ReduceAttr& a) const {
    const uint64_t r = hash_mix(hash_ints(hash_mix(h, static_cast<uint64_t>(a.op)), a.axes),
                                static_cast<uint64_t>(a.accumulator));
    return a.precision == Precision::kDefault ? r : hash_mix(r, static_cast<uint64_t>(a.precision));
  }
  uint64_t operator()(const TakeAttr& a) const {
    return hash_mix(h, static_cast<uint64_t>(a.axis));
  }
  uint64_t operator()(const StoreAttr& a) const {
    return hash_mix(hash_mix(h, static_cast<uint64_t>(a.axis)), static_cast<uint64_t>(a.mode));
  }
  uint64_t operator()(const CopyAttr& a) const { return hash_bytes(h, a.device); }
  // By structure, not by address, so that hashes are the same in every run.
  uint64_t operator()(const IfAttr& a) const {
    return hash_mix(
        hash_mix(hash_mix(h, structure_hash(*a.then_graph)), structure_hash(*a.else_graph)),
        static_cast<uint64_t>(a.result));
  }
  uint64_t operator()(const LoopAttr& a) const {
    return hash_mix(
        hash_mix(hash_mix(hash_mix(h, structure_hash(*a.body)), static_cast<uint64_t>(a.carried)),
                 a.is_while),
        static_cast<uint64_t>(a.result));
  }
  uint64_t operator()(const CallAttr& a) const {
    uint64_t r = hash_mix(h, structure_hash(*a.body));
    if (a.gradient) r = hash_mix(r, structure_hash(*a.gradient));
    return hash_mix(hash_mix(r, static_cast<uint64_t>(a.mode)), static_cast<uint64_t>(a.result));
  }
};

}  // namespace

uint64_t hash_alone(const Node& node) {
  uint64_t h = hash_mix(static_cast<uint64_t>(node.op), static_cast<uint64_t>(node.dtype));
  for (const Dim& d : node.shape) h = hash_mix(h, d.hash());
  return std::visit(AttrHash{hash_mix(h, node.attr.index())}, node.attr);
}

uint64_t hash_node(const Node& node) {
  uint64_t h = hash_alone(node);
  for (const NodeRef& s : node.sources) h = hash_mix(h, s->hash);
  return h;
}

bool equal_node(const Node& a, const Node& b) {
  return a.op == b.op && a.dtype == b.dtype && a.sources == b.sources && a.shape == b.shape &&
         a.attr == b.attr;
}

}  // namespace tenon
