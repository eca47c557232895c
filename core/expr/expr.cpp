// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expr as a value: its nodes, their order and hash, and the accessors.
#include "core/expr/expr.hpp"

#include <algorithm>

#include "core/expr/expr_node.hpp"
#include "core/support/error.hpp"
#include "core/support/hash.hpp"

namespace tenon {
namespace expr {
namespace {

constexpr uint8_t kMaxLevels = 200;
/// Walks take an expression for a tree, so this bounds each of them.
constexpr uint64_t kMaxSize = uint64_t{1} << 14;

template <class T>
int order(const T& a, const T& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

constexpr int kMostSteps = 4000;
thread_local int steps_open = 0, steps_left = 0;

}  // namespace

Step::Step() {
  if (steps_open++ == 0) steps_left = kMostSteps;
  if (steps_left > 0) --steps_left;
}
Step::~Step() { --steps_open; }
Step::operator bool() const { return steps_left > 0; }

uint64_t name_mask(std::string_view name) { return uint64_t{1} << (hash_bytes(0, name) & 63); }

Expr finish(Expr::Node node) {
  uint64_t h = hash_mix(static_cast<uint64_t>(node.kind), static_cast<uint64_t>(node.value));
  uint8_t levels = 0;
  uint64_t size = 1;
  if (node.kind == ExprKind::kSymbol) {
    h = hash_mix(hash_mix(hash_bytes(h, node.name), static_cast<uint64_t>(node.min)),
                 static_cast<uint64_t>(node.max));
    node.mask = name_mask(node.name);
  }
  for (const Expr& e : node.operands) {
    h = hash_mix(h, e.hash());
    levels = std::max(levels, e.node()->levels);
    if (node.kind != ExprKind::kSymbol) size += e.node()->size;
    // A symbol does not depend on its extent: the extent only bounds it.
    if (node.kind != ExprKind::kSymbol) node.mask |= e.node()->mask;
  }
  for (const auto& [coefficient, e] : node.terms) {
    h = hash_mix(hash_mix(h, static_cast<uint64_t>(coefficient)), e.hash());
    levels = std::max(levels, e.node()->levels);
    size += e.node()->size;
    node.mask |= e.node()->mask;
  }
  TN_REQUIRE(levels < kMaxLevels, "[expr] expected at most {} nested operations, got more",
             kMaxLevels);
  TN_REQUIRE(size <= kMaxSize,
             "[expr] expected at most {} operations, each counted as often as it is used, got {}",
             kMaxSize, size);
  node.levels = node.operands.empty() && node.terms.empty() ? 0 : levels + 1;
  node.size = static_cast<uint32_t>(size);
  node.has_extent = node.kind == ExprKind::kSymbol && !node.operands.empty();
  for (const Expr& e : node.operands)
    node.has_extent |= node.kind == ExprKind::kProduct && e.node()->has_extent;
  node.hash = h;
  return Expr(std::make_shared<const Expr::Node>(std::move(node)));
}

Expr make(ExprKind kind, std::vector<Expr> operands, int64_t min, int64_t max) {
  if (min == max) return Expr(min);
  Expr::Node node;
  node.kind = kind;
  node.min = min;
  node.max = max;
  node.operands = std::move(operands);
  return finish(std::move(node));
}

int compare(const Expr& a, const Expr& b) {
  const Expr::Node *x = a.node(), *y = b.node();
  if (x == y) return 0;
  if (x->kind != y->kind) return order(x->kind, y->kind);
  if (const int c = order(x->name, y->name)) return c;
  if (const int c = order(x->value, y->value)) return c;
  if (x->kind == ExprKind::kSymbol) {
    if (const int c = order(x->min, y->min)) return c;
    if (const int c = order(x->max, y->max)) return c;
  }
  if (const int c = order(x->operands.size(), y->operands.size())) return c;
  for (size_t i = 0; i < x->operands.size(); ++i)
    if (const int c = compare(x->operands[i], y->operands[i])) return c;
  if (const int c = order(x->terms.size(), y->terms.size())) return c;
  for (size_t i = 0; i < x->terms.size(); ++i) {
    if (const int c = compare(x->terms[i].second, y->terms[i].second)) return c;
    if (const int c = order(x->terms[i].first, y->terms[i].first)) return c;
  }
  return 0;
}

}  // namespace expr

namespace {

Expr make_number(int64_t value) {
  Expr::Node node;
  node.value = node.min = node.max = value;
  return expr::finish(std::move(node));
}

/// Cached constants, from -1 on: frequent sizes, axes and strides.
constexpr int64_t kCommonNumbers = 1025;

struct CommonNodes {
  std::vector<Expr> numbers, none;
  CommonNodes() {
    for (int64_t i = 0; i < kCommonNumbers; ++i) numbers.push_back(make_number(i - 1));
  }
};

const CommonNodes& common_nodes() {
  // Never destroyed: destructors of static objects make expressions too.
  static const auto& instance = *new CommonNodes();
  return instance;
}
/// Made at load: a child of fork would hang if a thread of its parent was constructing them.
[[maybe_unused]] const CommonNodes& made_at_load = common_nodes();

}  // namespace

Expr::Expr(int64_t value)
    : node_(-1 <= value && value < kCommonNumbers - 1
                ? common_nodes().numbers[static_cast<size_t>(value + 1)].node_
                : make_number(value).node_) {}

Expr Expr::symbol(std::string name, int64_t minimum, int64_t maximum) {
  TN_REQUIRE(!name.empty(), "[expr] expected a symbol name, got none");
  TN_REQUIRE(minimum <= maximum, "[expr] expected minimum <= maximum of {}, got {} and {}", name,
             minimum, maximum);
  Node node;
  node.kind = ExprKind::kSymbol;
  node.name = std::move(name);
  node.min = minimum;
  node.max = maximum;
  return expr::finish(std::move(node));
}

Expr Expr::symbol(std::string name, const Expr& extent) {
  const int64_t last = std::max<int64_t>(extent.max(), 1) - 1;
  if (extent.is_const()) return symbol(std::move(name), 0, last);
  TN_REQUIRE(!name.empty(), "[expr] expected a symbol name, got none");
  Node node;
  node.kind = ExprKind::kSymbol;
  node.name = std::move(name);
  node.max = last;
  node.operands = {extent};
  return expr::finish(std::move(node));
}

ExprKind Expr::kind() const { return node_->kind; }
bool Expr::is_const(int64_t value) const { return is_const() && node_->value == value; }
int64_t Expr::min() const { return node_->min; }
int64_t Expr::max() const { return node_->max; }
uint64_t Expr::hash() const { return node_->hash; }
uint32_t Expr::size() const { return node_->size; }

int64_t Expr::value() const {
  TN_ASSERT(is_const());
  return node_->value;
}

const std::string& Expr::name() const {
  TN_ASSERT(kind() == ExprKind::kSymbol);
  return node_->name;
}

int64_t Expr::constant() const {
  return kind() == ExprKind::kSum || kind() == ExprKind::kConst ? node_->value : 0;
}

std::vector<std::pair<int64_t, Expr>> Expr::terms() const {
  if (kind() == ExprKind::kSum) return node_->terms;
  if (kind() == ExprKind::kConst) return {};
  return {{1, *this}};
}

const Expr* Expr::extent() const {
  return kind() == ExprKind::kSymbol && !node_->operands.empty() ? &node_->operands[0] : nullptr;
}

const std::vector<Expr>& Expr::operands() const {
  return kind() == ExprKind::kSymbol ? common_nodes().none : node_->operands;
}

bool Expr::operator==(const Expr& other) const {
  return node_ == other.node_ ||
         (node_->hash == other.node_->hash && expr::compare(*this, other) == 0);
}

}  // namespace tenon
