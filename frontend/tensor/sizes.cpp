// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes that are known when a graph runs: what a caller writes, and whose value a tensor tells.
#include "tenon/size.hpp"

#include "core/ir/structure.hpp"
#include "core/ir/text/cursor.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/origin.hpp"
#include "frontend/tensor/sizes.hpp"

namespace tenon {

Size Size::symbol(const std::string& name, int64_t minimum, int64_t maximum) {
  TN_REQUIRE(is_symbol_name(name), "[size] expected a symbol name like n or size_2, got '{}'",
             name.substr(0, kMaxName));
  TN_REQUIRE(0 <= minimum && minimum <= maximum,
             "[size] expected 0 <= minimum <= maximum for {}, got {} and {}", name, minimum,
             maximum);
  return size_of(Expr::symbol(name, minimum, maximum));
}

Size::Size(std::shared_ptr<const Expr> expr) : expr_(std::move(expr)) {}

int64_t Size::value() const {
  TN_REQUIRE(is_fixed(), "[size] expected a fixed size, got {} in [{}, {}]", text(), minimum(),
             maximum());
  return value_;
}
int64_t Size::minimum() const { return expr_ ? expr_->min() : value_; }
int64_t Size::maximum() const { return expr_ ? expr_->max() : value_; }
std::string Size::text() const { return to_string(dim_of(*this)); }
bool Size::operator==(const Size& other) const {
  if (is_fixed() && other.is_fixed()) return value_ == other.value_;
  return dim_of(*this) == dim_of(other);
}

Size operator+(const Size& a, const Size& b) { return size_of(dim_of(a) + dim_of(b)); }
Size operator-(const Size& a, const Size& b) { return size_of(dim_of(a) - dim_of(b)); }
Size operator*(const Size& a, const Size& b) { return size_of(dim_of(a) * dim_of(b)); }

namespace {

void require_divisor(const Size& b) {
  TN_REQUIRE(b.minimum() >= 1, "[size] expected a divisor of at least 1, got {}", b.text());
}

}  // namespace

Size operator/(const Size& a, const Size& b) {
  require_divisor(b);
  return size_of(floor_div(dim_of(a), dim_of(b)));
}
Size operator%(const Size& a, const Size& b) {
  require_divisor(b);
  return size_of(mod(dim_of(a), dim_of(b)));
}

Dim dim_of(const Size& size) { return size.expr() ? *size.expr() : Dim(size.value()); }

Size size_of(const Dim& dim) {
  return dim.is_const() ? Size(dim.value()) : Size(std::make_shared<const Expr>(dim));
}

Shape to_shape(const Sizes& sizes) {
  Shape shape;
  for (const Size& size : sizes) shape.push_back(dim_of(size));
  return shape;
}

Sizes to_sizes(const Shape& shape) {
  std::vector<Size> sizes;
  for (const Dim& dim : shape) sizes.push_back(size_of(dim));
  return sizes;
}

bool at_most(const Dim& a, const Dim& b) { return less(b, a).is_const(0); }

int64_t fixed_axis(const char* op, const Tensor& x, int axis) {
  axis = normalise_axis(op, axis, x.rank());
  const Dim& dim = dims_of(x)[static_cast<size_t>(axis)];
  TN_REQUIRE(dim.is_const(), "[{}] expected a number as the size of axis {}, got {} in [{}, {}]",
             op, axis, to_string(dim), dim.min(), dim.max());
  return dim.value();
}

int64_t fixed_size(const char* op, const Dim& dim) {
  TN_REQUIRE(dim.is_const(), "[{}] expected a fixed size, got {} in [{}, {}]", op, to_string(dim),
             dim.min(), dim.max());
  return dim.value();
}

namespace {

/// The owner of a PARAM: it holds the buffer, and knows more than that.
struct OwnedBuffer {
  BufferRef buffer;
  SymbolValues symbols;
  Made made;
  void operator()(const Buffer* /*held by `buffer`*/) const {}
};

const OwnedBuffer* owned_by(const Node& node) {
  const auto* const attr = std::get_if<ParamAttr>(&node.attr);
  return attr ? std::get_deleter<OwnedBuffer>(attr->owner) : nullptr;
}

const SymbolValues& no_symbols() {
  static const auto& none = *new SymbolValues();
  return none;
}
const Made& not_made() {
  static const auto& none = *new Made();
  return none;
}
/// Before there are threads: a child made by fork would wait for one that makes it.
[[maybe_unused]] const SymbolValues& no_symbols_made_at_load = no_symbols();
[[maybe_unused]] const Made& not_made_made_at_load = not_made();

}  // namespace

BufferRef owner_of(BufferRef buffer, const Shape& shape, const SymbolValues& symbols, Made made) {
  if (const auto* own = std::get_deleter<OwnedBuffer>(buffer)) buffer = BufferRef(own->buffer);
  std::map<std::string, Expr> used;
  for (const Dim& dim : shape) dim.collect_symbols(used);
  if (used.empty() && !made.origin) return buffer;
  OwnedBuffer owner{buffer, {}, std::move(made)};
  for (const auto& [name, symbol] : used) owner.symbols.emplace(name, symbols.at(name));
  return BufferRef(buffer.get(), std::move(owner));
}

const SymbolValues& symbols_of(const Node& node) {
  const OwnedBuffer* const own = owned_by(node);
  return own ? own->symbols : no_symbols();
}

const Made& made_of(const Node& node) {
  const OwnedBuffer* const own = owned_by(node);
  return own ? own->made : not_made();
}

long owners_of_memory(const Node& node) {
  const std::shared_ptr<void>& owner = node.as<ParamAttr>().owner;
  const OwnedBuffer* const own = owned_by(node);
  // Whoever had imported memory before has it still.
  return owner.use_count() + (own ? own->buffer.use_count() - 1 : 0) +
         buffer_of(node)->is_imported();
}

void add_symbols(const char* op, const Node& node, SymbolValues& symbols) {
  for (const auto& [name, value] : symbols_of(node)) {
    const int64_t known = symbols.emplace(name, value).first->second;
    TN_REQUIRE(known == value, "[{}] expected one value of {} in a run, got {} and {}, of {}", op,
               name, known, value, type_string(node));
  }
}

void SymbolsUsed::add(const Node& node) {
  for (const Dim& dim : node.shape) add(dim);
  if (const auto* view = std::get_if<ViewAttr>(&node.attr)) {
    for (const auto& [a, b] : view->pairs) add(a), add(b);
  } else if (const auto* param = std::get_if<ParamAttr>(&node.attr)) {
    if (param->is_dim) add(param->dim);
  }
  for (const Graph* const inner : structure::graphs_of(node.attr))
    for (const Expr& symbol : inner->symbols) add(symbol);
}

void SymbolsUsed::add(const Dim& dim) {
  if (dim.is_const()) return;
  std::map<std::string, Expr> found;
  dim.collect_symbols(found);
  for (const auto& [name, symbol] : found) {
    const Expr& known = used_.emplace(name, symbol).first->second;
    TN_REQUIRE(known == symbol,
               "[{}] expected one symbol {}, got {} <= {} <= {} and {} <= {} <= {}", op_, name,
               known.min(), name, known.max(), symbol.min(), name, symbol.max());
  }
}

std::vector<Expr> SymbolsUsed::list() const {
  std::vector<Expr> out;
  for (const auto& [name, symbol] : used_) out.push_back(symbol);
  return out;
}

SymbolValues SymbolsUsed::values(const SymbolValues& known) const {
  SymbolValues out;
  for (const auto& [name, symbol] : used_) {
    const auto at = known.find(name);
    TN_REQUIRE(at != known.end(),
               "[{}] expected a tensor that has the size {}, so that its value is known, got none",
               op_, name);
    out.emplace(name, at->second);
  }
  return out;
}

std::vector<Expr> symbols_in(const char* op, const Graph& graph) {
  SymbolsUsed used(op);
  for (const NodeRef& param : graph.params) used.add(*param);
  for (const NodeRef& node : topological(graph.outputs)) used.add(*node);
  return used.list();
}

std::vector<int64_t> shape_of_value(const Tensor& x) {
  const Node& node = *node_of(x);
  std::vector<int64_t> out;
  for (const Dim& dim : node.shape)
    out.push_back(dim.is_const() ? dim.value() : dim.evaluate(symbols_of(node)));
  return out;
}

Dim count_over(const Tensor& x, const std::vector<int>& axes) {
  Dim count(1);
  for (const int axis : axes) count = count * dims_of(x)[static_cast<size_t>(axis)];
  return count;
}

Tensor count_as(const Tensor& like, const Dim& count) {
  if (count.is_const())
    return constant_like(like, is_float(like.dtype()) ? Number(static_cast<double>(count.value()))
                                                      : Number(count.value()));
  Builder& builder = builder_of(like);
  const NodeRef value = builder.cast(builder.dim(count), like.dtype());
  return make_tensor(like.context(), broadcast_to(builder, value, dims_of(like)));
}

Sizes Tensor::sizes() const { return to_sizes(dims_of(*this)); }

Tensor from_size(const Size& size, Context& context) {
  Builder& builder = builder_of(context);
  return make_tensor(context, size.is_fixed()
                                  ? builder.constant(Scalar::of_int(DType::kI64, size.value()))
                                  : builder.dim(dim_of(size)));
}

Tensor Tensor::with_size(int axis, const Size& size) const {
  axis = normalise_axis("with_size", axis, rank());
  const Dim dim = dim_of(size);
  TN_REQUIRE(dim.is_const() || dim.kind() == ExprKind::kSymbol,
             "[with_size] expected a number or a symbol, got {}", to_string(dim));
  realize({*this});
  const NodeRef& own = node_of(*this);
  const auto at = static_cast<size_t>(axis);
  const int64_t value = shape_of_value(*this)[at];
  TN_REQUIRE(dim.min() <= value && value <= dim.max(),
             "[with_size] expected {} for axis {}, got {}",
             dim.is_const() ? to_string(dim)
                            : fmt::format("{} <= {} <= {}", dim.min(), size.text(), dim.max()),
             axis, value);
  Shape shape = own->shape;
  SymbolValues symbols = symbols_of(*own);
  shape[at] = dim;
  if (!dim.is_const()) {
    // Of a symbol that another axis has too, the value is that one's.
    std::map<std::string, Expr> others;
    for (size_t i = 0; i < shape.size(); ++i)
      if (i != at) shape[i].collect_symbols(others);
    if (!others.contains(dim.name())) symbols.erase(dim.name());
    const int64_t known = symbols.emplace(dim.name(), value).first->second;
    TN_REQUIRE(known == value, "[with_size] expected {} = {} for axis {} too, got {}", dim.name(),
               known, axis, value);
  }
  return make_tensor(context(), buffer_node(context(), buffer_of(*own), own->dtype, shape, symbols,
                                            made_from("with_size", builder_of(context()), own,
                                                      /*has_gradient=*/false)));
}

}  // namespace tenon
