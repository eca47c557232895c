// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/lower/index_width.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/support/error.hpp"

namespace tenon {
namespace {

using Values = std::map<std::string, int64_t>;

/// 2^31 minus room for a loop counter's last step past the end.
constexpr double kLimit = 2147483647.0 - 65536;

/// Bounds of a value, and of the magnitudes of its intermediate values. Doubles, as products may
/// exceed 64 bits.
struct Span {
  double low = 0, high = 0, most = 0;
};

/// `values`: of the symbols; null: their bounds.
class Spans {
 public:
  explicit Spans(const Values* values) : values_(values) {}

  Span of(const Expr& expr) const {
    Span span = inside(expr);
    span.low = std::max(span.low, static_cast<double>(expr.min()));
    span.high = std::min(span.high, static_cast<double>(expr.max()));
    span.most = std::max({span.most, std::abs(span.low), std::abs(span.high)});
    return span;
  }

 private:
  Span symbol(const Expr& expr) const {
    if (values_ == nullptr)
      return {static_cast<double>(expr.min()), static_cast<double>(expr.max()), 0};
    if (const auto at = values_->find(expr.name()); at != values_->end())
      return {static_cast<double>(at->second), static_cast<double>(at->second), 0};
    if (const Expr* extent = expr.extent()) return {0, std::max(0.0, of(*extent).high - 1), 0};
    return {static_cast<double>(expr.min()), static_cast<double>(expr.max()), 0};
  }

  Span sum(const Expr& expr) const {
    const auto constant = static_cast<double>(expr.constant());
    Span out{constant, constant, 0};
    double together = std::abs(constant);
    for (const auto& [coefficient, term] : expr.terms()) {
      const auto factor = static_cast<double>(coefficient);
      const Span span = of(term);
      out.low += std::min(factor * span.low, factor * span.high);
      out.high += std::max(factor * span.low, factor * span.high);
      // The factor applies to the term, not to its intermediate values.
      together += std::abs(factor) * std::max(std::abs(span.low), std::abs(span.high));
      out.most = std::max(out.most, span.most);
    }
    out.most = std::max(out.most, together);
    return out;
  }

  Span inside(const Expr& expr) const {
    if (expr.kind() == ExprKind::kConst) {
      const auto value = static_cast<double>(expr.value());
      return {value, value, 0};
    }
    if (expr.kind() == ExprKind::kSymbol) return symbol(expr);
    if (expr.kind() == ExprKind::kSum) return sum(expr);
    std::vector<Span> operands;
    Span out{0, 1, 0};  // of a condition
    for (const Expr& operand : expr.operands()) {
      operands.push_back(of(operand));
      out.most = std::max(out.most, operands.back().most);
    }
    if (expr.kind() == ExprKind::kProduct) {
      out = {1, 1, 1};
      for (const Span& s : operands) {
        const auto ends =
            std::minmax({out.low * s.low, out.low * s.high, out.high * s.low, out.high * s.high});
        out = {ends.first, ends.second, out.most * std::max(1.0, s.most)};
      }
    } else if (expr.kind() == ExprKind::kDiv) {
      const double least = std::max(1.0, operands[1].low), most = std::max(1.0, operands[1].high);
      const double low = operands[0].low, high = operands[0].high;
      out.low = std::floor(std::min(low / least, low / most));
      out.high = std::floor(std::max(high / least, high / most));
    } else if (expr.kind() == ExprKind::kMod) {
      out.high = std::max(0.0, operands[1].high - 1);
    } else if (expr.kind() == ExprKind::kMin || expr.kind() == ExprKind::kMax) {
      const bool is_max = expr.kind() == ExprKind::kMax;
      out.low = operands[0].low, out.high = operands[0].high;
      for (const Span& s : operands) {
        out.low = is_max ? std::max(out.low, s.low) : std::min(out.low, s.low);
        out.high = is_max ? std::max(out.high, s.high) : std::min(out.high, s.high);
      }
    }
    return out;
  }

  const Values* values_;
};

/// True also if 64-bit integers are pairs of words: no register holds a longer index.
bool has_short_indices(const Capabilities& capabilities) {
  return capabilities.index_bits < 64 || capabilities.splits_wide();
}

/// Calls `use` for every index expression of the kernel; buffer is -1 if it addresses none.
void each_index(const Kernel& kernel, const std::function<void(const Expr&, int buffer)>& use) {
  std::set<std::pair<const Expr::Node*, int>> seen;
  const auto see = [&](const Expr& expr, int buffer) {
    if (seen.emplace(expr.node(), buffer).second) use(expr, buffer);
  };
  const auto see_value = [&](const KValueRef& root) {
    visit(root, [&](const KValueRef& v) { see(v->index, v->buffer), see(v->mask, -1); });
  };
  walk(kernel.body, [&](const Statement& s) {
    see(s.index, s.buffer), see(s.mask, -1);
    if (s.range) see(s.range->begin, -1), see(s.range->end, -1);
    if (s.value) see_value(s.value);
    for (const ReduceState& state : s.states) see_value(state.value);
  });
  for (const Let& let : kernel.lets) see_value(let.value);
  for (const Guard& guard : kernel.guards) see(guard.lower, -1), see(guard.upper, -1);
  for (const KernelAxis& axis : kernel.axes) see(axis.extent, -1);
  for (const Expr& s : kernel.symbols) see(s, -1);
}

IndexBound bound_of(const Kernel& kernel, const Expr& expr, int buffer,
                    const Capabilities& capabilities) {
  if (buffer < 0) return {expr, "", 0};
  const KernelBuffer& b = kernel.buffers[static_cast<size_t>(buffer)];
  return {expr, b.name, b.count, is_wide(b.dtype) && capabilities.splits_wide() ? 2.0 : 1.0};
}

[[noreturn]] void refuse(const IndexBound& bound, double got) {
  const std::string what = bound.buffer.empty() ? "an index " + to_string(bound.index)
                                                : fmt::format("buffer {} of {} elements",
                                                              bound.buffer, to_string(bound.count));
  fail(ErrorKind::kUnsupported,
       "[lower] expected indices below 2^31 for a device of 32-bit indices, got up to {:.0f} in {}",
       got, what);
}

}  // namespace

DType index_dtype(const Kernel& kernel, const Capabilities& capabilities) {
  const bool is_short = has_short_indices(capabilities);
  Values smallest;
  for (const Expr& s : kernel.symbols) smallest[s.name()] = s.min();
  const Spans spans(is_short ? &smallest : nullptr);
  bool fits = true;
  each_index(kernel, [&](const Expr& expr, int buffer) {
    const IndexBound bound = bound_of(kernel, expr, buffer, capabilities);
    const double most = bound.words * spans.of(expr).most;
    fits = fits && most < kLimit;
    if (is_short && !fits) refuse(bound, most);
  });
  return fits ? DType::kI32 : DType::kI64;
}

void IndexBound::check(const std::map<std::string, int64_t>& symbols) const {
  const double bound = words * Spans(&symbols).of(index).most;
  if (bound >= kLimit) refuse(*this, bound);
}

std::vector<IndexBound> index_bounds(const Kernel& kernel, const Capabilities& capabilities) {
  std::vector<IndexBound> out;
  if (!has_short_indices(capabilities) || kernel.symbols.empty()) return out;
  each_index(kernel, [&](const Expr& expr, int buffer) {
    const IndexBound bound = bound_of(kernel, expr, buffer, capabilities);
    if (bound.words * Spans(nullptr).of(expr).most >= kLimit) out.push_back(bound);
  });
  return out;
}

}  // namespace tenon
