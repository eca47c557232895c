// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/text/statement.hpp"
#include "core/support/printable.hpp"

#include <optional>

#include "core/support/printable.hpp"

namespace tenon {
namespace {

constexpr size_t kMaxOperands = 4096;

/// Parses a statement into the parts that Builder::make takes.
class Statement {
 public:
  Statement(Cursor& cursor, const Scope& scope) : cursor_(cursor), scope_(scope) {}

  NodeRef parse(Builder& builder) {
    const size_t start = cursor_.position();
    const std::string word = cursor_.identifier("an op");
    parts_of(word, start);
    if (cursor_.accept(":")) written_ = parse_type(cursor_, scope_.symbols);
    finish_const();
    NodeRef node;
    located(cursor_, start, [&] {
      node = builder.make(op_, written_.type.dtype, written_.type.shape, std::move(operands_),
                          std::move(attr_));
    });
    check_type(*node);
    return node;
  }

 private:
  void parts_of(const std::string& word, size_t start) {
    if (const auto kind = view_of(word)) return view(*kind);
    if (word == "dim") return dim();
    if (word == "bitcast") return plain(Op::CAST, CastAttr{true});
    if (word.starts_with("reduce.")) return reduce(word.substr(7), start);
    if (word == "store.add") return store(StoreMode::kAdd);
    const auto op = op_from_text(word);
    if (!op) unknown(word, start);
    switch (*op) {
      case Op::CONST:
        return constant();
      case Op::INDEX:
        op_ = Op::INDEX;
        attr_ = IndexAttr{axis()};
        return;
      case Op::CAST:
        return plain(Op::CAST, CastAttr{false});
      case Op::TAKE:
        plain(Op::TAKE, {});
        comma();
        attr_ = TakeAttr{axis()};
        return;
      case Op::STORE:
        return store(StoreMode::kLast);
      case Op::COPY:
        return copy();
      case Op::IF:
        return choice();
      case Op::LOOP:
        return loop();
      case Op::CALL:
        return call();
      case Op::PARAM:
      case Op::VIEW:
      case Op::REDUCE:
        unknown(word, start);
      default:
        break;
    }
    if (!is_elementwise(*op)) unknown(word, start);
    plain(*op, std::monostate());
  }

  [[noreturn]] void unknown(const std::string& word, size_t start) {
    cursor_.error_at(start, fmt::format("expected an op of graphs, got {}", sdk::quote(word)));
  }

  static std::optional<ViewKind> view_of(std::string_view word) {
    if (word == "reshape") return ViewKind::kReshape;
    if (word == "expand") return ViewKind::kExpand;
    if (word == "permute") return ViewKind::kPermute;
    if (word == "pad") return ViewKind::kPad;
    if (word == "shrink") return ViewKind::kShrink;
    if (word == "flip") return ViewKind::kFlip;
    return std::nullopt;
  }

  /// Parses "%a, %b" while a value follows the comma.
  void values() {
    while (cursor_.peek("%")) {
      const size_t start = cursor_.position();
      if (operands_.size() == kMaxOperands)
        cursor_.expected(fmt::format("at most {} operands", kMaxOperands));
      operands_.push_back(scope_.value(cursor_, start, cursor_.value_name()));
      const size_t before = cursor_.position();
      if (!cursor_.accept(",") || !cursor_.peek("%")) {
        cursor_.seek(before);
        return;
      }
    }
  }

  void plain(Op op, Attr attr) {
    op_ = op;
    attr_ = std::move(attr);
    if (!cursor_.peek("%")) cursor_.expected("a value like %x");
    values();
  }

  void comma() { cursor_.expect(","); }

  void key(std::string_view name) {
    cursor_.expect_word(name);
    cursor_.expect("=");
  }

  /// ", name=" if it comes next.
  bool optional_key(std::string_view name) {
    const size_t before = cursor_.position();
    if (cursor_.accept(",") && cursor_.accept_word(name) && cursor_.accept("=")) return true;
    cursor_.seek(before);
    return false;
  }

  int small(std::string_view what) {
    const size_t start = cursor_.position();
    const int64_t value = cursor_.integer(what);
    if (value < 0 || value > 1'000'000)
      cursor_.error_at(start, fmt::format("expected {} of at least 0, got {}", what, value));
    return static_cast<int>(value);
  }

  int axis() {
    key("axis");
    return small("an axis");
  }

  std::vector<int> axes() {
    std::vector<int> list;
    key("axes");
    cursor_.expect("[");
    if (cursor_.accept("]")) return list;
    do {
      if (list.size() == kMaxRank) cursor_.expected(fmt::format("at most {} axes", kMaxRank));
      list.push_back(small("an axis"));
    } while (cursor_.accept(","));
    cursor_.expect("]");
    return list;
  }

  std::vector<std::pair<Dim, Dim>> pairs(std::string_view name) {
    std::vector<std::pair<Dim, Dim>> list;
    key(name);
    cursor_.expect("[");
    if (cursor_.accept("]")) return list;
    do {
      if (list.size() == kMaxRank) cursor_.expected(fmt::format("at most {} pairs", kMaxRank));
      cursor_.expect("(");
      Dim first = parse_expr(cursor_, scope_.symbols);
      comma();
      list.emplace_back(std::move(first), parse_expr(cursor_, scope_.symbols));
      cursor_.expect(")");
    } while (cursor_.accept(","));
    cursor_.expect("]");
    return list;
  }

  Scalar scalar(DType dtype, size_t position) {
    cursor_.seek(position);
    const std::string_view text = cursor_.scalar();
    const auto value = scalar_from_string(dtype, text);
    if (!value)
      cursor_.error_at(position, fmt::format("expected a value of {}, got {}", dtype_name(dtype),
                                             sdk::quote(shortened_text(text, 40))));
    return *value;
  }

  void view(ViewKind kind) {
    ViewAttr attr{kind, {}, {}, {}};
    plain(Op::VIEW, {});
    if (kind == ViewKind::kReshape || kind == ViewKind::kExpand) {
      attr_ = std::move(attr);
      needs_shape_ = true;
      return;
    }
    comma();
    if (kind == ViewKind::kPermute || kind == ViewKind::kFlip) attr.axes = axes();
    if (kind == ViewKind::kPad) attr.pairs = pairs("pairs");
    if (kind == ViewKind::kShrink) attr.pairs = pairs("ranges");
    if (kind == ViewKind::kPad) {
      const DType dtype = operands_[0]->dtype;
      attr.fill = zero(dtype);
      if (optional_key("fill")) attr.fill = scalar(dtype, cursor_.position());
    }
    attr_ = std::move(attr);
  }

  void constant() {
    op_ = Op::CONST;
    number_at_ = cursor_.position();
    cursor_.scalar();
    needs_dtype_ = needs_shape_ = true;
  }

  void dim() {
    op_ = Op::PARAM;
    attr_ = ParamAttr{"", true, parse_expr(cursor_, scope_.symbols), 0};
  }

  void reduce(const std::string& name, size_t start) {
    const auto op = op_from_text(name);
    if (!op) unknown("reduce." + name, start);
    ReduceAttr attr{*op, {}, DType::kVoid};
    plain(Op::REDUCE, {});
    comma();
    attr.axes = axes();
    if (optional_key("acc")) {
      const size_t at = cursor_.position();
      const std::string dtype = cursor_.identifier("a dtype");
      const auto found = dtype_from_name(dtype);
      if (!found) cursor_.error_at(at, fmt::format("expected a dtype, got {}", sdk::quote(dtype)));
      attr.accumulator = *found;
    }
    if (optional_key("matmul")) {
      const size_t at = cursor_.position();
      const std::string precision = cursor_.identifier("exact, tf32 or bf16");
      const auto found = precision_from_name(precision);
      if (!found)
        cursor_.error_at(
            at, fmt::format("expected exact, tf32 or bf16, got {}", sdk::quote(precision)));
      attr.precision = *found;
    }
    attr_ = std::move(attr);
  }

  void store(StoreMode mode) {
    plain(Op::STORE, {});
    comma();
    attr_ = StoreAttr{axis(), mode};
  }

  void copy() {
    plain(Op::COPY, {});
    comma();
    key("device");
    attr_ = CopyAttr{cursor_.name("a device like \"cpu:0\"")};
  }

  GraphRef graph(std::string_view role) {
    comma();
    key(role);
    return named_graph();
  }

  GraphRef named_graph() {
    const size_t start = cursor_.position();
    const std::string name = cursor_.name("a graph's name");
    const auto at = scope_.graphs.find(name);
    if (at == scope_.graphs.end())
      cursor_.error_at(start,
                       fmt::format("expected a graph defined above, got {}", sdk::quote(name)));
    return at->second;
  }

  int result() { return optional_key("result") ? small("the number of an output") : 0; }

  void choice() {
    plain(Op::IF, {});
    GraphRef then_graph = graph("then");
    GraphRef else_graph = graph("else");
    attr_ = IfAttr{std::move(then_graph), std::move(else_graph), result()};
  }

  void loop() {
    plain(Op::LOOP, {});
    LoopAttr attr;
    attr.body = graph("body");
    comma();
    key("carried");
    attr.carried = small("a number of carried values");
    attr.is_while = flag("while");
    attr.result = result();
    attr_ = std::move(attr);
  }

  void call() {
    op_ = Op::CALL;
    CallAttr attr;
    if (cursor_.peek("%")) {
      values();
      comma();
    }
    key("body");
    attr.body = named_graph();
    if (optional_key("gradient")) attr.gradient = named_graph();
    if (flag("recompute")) attr.mode = CallMode::kRecompute;
    if (flag("stop")) attr.mode = CallMode::kStop;
    attr.result = result();
    attr_ = std::move(attr);
  }

  /// ", name=true" or ", name=false" if it comes next.
  bool flag(std::string_view name) {
    if (!optional_key(name)) return false;
    if (cursor_.accept_word("true")) return true;
    cursor_.expect_word("false");
    return false;
  }

  void finish_const() {
    const bool cast = op_ == Op::CAST || op_ == Op::INDEX;
    needs_dtype_ |= cast;
    needs_shape_ |= op_ == Op::INDEX;
    if ((needs_dtype_ && !written_.has_dtype) || (needs_shape_ && !written_.has_shape))
      cursor_.expected(needs_shape_ ? "': ' and a type like f32[4, n]" : "': ' and a dtype");
    if (op_ != Op::CONST) return;
    const size_t end = cursor_.position();
    attr_ = ConstAttr{scalar(written_.type.dtype, number_at_)};
    cursor_.seek(end);
  }

  void check_type(const Node& node) {
    const NodeType& type = written_.type;
    if ((written_.has_dtype && type.dtype != node.dtype) ||
        (written_.has_shape && type.shape != node.shape))
      cursor_.error_at(written_.position,
                       fmt::format("expected type {}, got {}", type_string(node),
                                   type_string(written_.has_dtype ? type.dtype : node.dtype,
                                               written_.has_shape ? type.shape : node.shape)));
  }

  Cursor& cursor_;
  const Scope& scope_;
  Op op_ = Op::INVALID;
  std::vector<NodeRef> operands_;
  Attr attr_;
  WrittenType written_;
  size_t number_at_ = 0;  ///< position of a constant, parsed when its dtype is known
  bool needs_dtype_ = false, needs_shape_ = false;
};

}  // namespace

void Scope::define(Cursor& cursor, size_t start, std::string_view name, NodeRef node) {
  if (values.size() >= kMaxNodes)
    cursor.error_at(start,
                    fmt::format("expected at most {} values in a graph, got more", kMaxNodes));
  if (!numbers.try_emplace(name, static_cast<uint32_t>(values.size())).second)
    cursor.error_at(start, fmt::format("expected each value once, got {} twice", name));
  values.push_back(std::move(node));
}

const NodeRef& Scope::value(Cursor& cursor, size_t start, std::string_view name) const {
  const uint32_t* number = numbers.find(name);
  if (!number)
    cursor.error_at(start, fmt::format("expected a value defined above, got {}", sdk::quote(name)));
  return values[*number];
}

NodeRef parse_statement(Cursor& cursor, const Scope& scope, Builder& builder) {
  return Statement(cursor, scope).parse(builder);
}

}  // namespace tenon
