// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/tree/verify.hpp"

#include <numeric>
#include <set>

#include "core/support/error.hpp"

namespace tenon {
namespace {

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel) : kernel_(kernel) {
    for (const Expr& symbol : kernel.symbols) names_.insert(std::string(symbol.name()));
    for (const KernelAxis& axis : kernel.axes) names_.insert(axis.name);
    for (const Let& let : kernel.lets) names_.insert(let.symbol);
  }

  void run() {
    expect(names_.size() == kernel_.symbols.size() + kernel_.axes.size() + kernel_.lets.size(),
           "one name for each symbol, axis and let");
    for (const Let& let : kernel_.lets) value(let.value);
    for (const Guard& guard : kernel_.guards) known(guard.lower), known(guard.upper);
    body(kernel_.body, nullptr);
    expect(kernel_.sections.empty() ||
               std::accumulate(kernel_.sections.begin(), kernel_.sections.end(), size_t{0}) ==
                   kernel_.body.size(),
           "a section for each statement");
    walk(kernel_.body, [&](const Statement& s) {
      expect(s.kind != Statement::Kind::kMatrix || reductions_.contains(s.id),
             "a matrix of a reduction before it");
    });
  }

 private:
  void expect(bool holds, std::string_view what) const {
    if (!holds) fail(ErrorKind::kInternal, "[kernel] {}: expected {}", kernel_.name, what);
  }

  void body(const std::vector<Statement>& statements, const Statement* reduction) {
    for (const Statement& s : statements) statement(s, reduction);
  }

  void statement(const Statement& s, const Statement* reduction) {
    known(s.index), known(s.mask);
    if (s.value) value(s.value);
    using Kind = Statement::Kind;
    switch (s.kind) {
      case Kind::kLoop:
        expect(s.axis >= 0 && static_cast<size_t>(s.axis) < kernel_.axes.size(),
               "loops over axes of the kernel");
        expect(loops_.insert(s.axis).second, "one loop for each axis");
        known(kernel_.axes[s.axis].extent);
        if (s.range) {
          known(s.range->begin), known(s.range->end);
          expect(kernel_.axes[s.axis].bind == Bind::kLoop, "a range of a loop that is not bound");
        }
        break;
      case Kind::kReduce: {
        expect(s.id >= 0 && s.id < kernel_.reductions && reductions_.insert(s.id).second,
               "a number of its own for each reduction");
        expect(!s.states.empty(), "a reduction with states");
        for (const ReduceState& state : s.states) value(state.value);
        const size_t before = steps_;
        body(s.body, &s);
        expect(steps_ > before, "a step in each reduction");
        return;
      }
      case Kind::kStep:
        expect(reduction != nullptr, "steps inside a reduction");
        ++steps_;
        break;
      case Kind::kStore:
        expect(s.value != nullptr && buffer(s.buffer).written,
               "stores to buffers that are written");
        break;
      case Kind::kStage:
      case Kind::kMatrix:
        expect(buffer(s.buffer).space != BufferSpace::kGlobal, "tiles in near memory");
        break;
    }
    body(s.body, reduction);
  }

  const KernelBuffer& buffer(int b) const {
    expect(b >= 0 && static_cast<size_t>(b) < kernel_.buffers.size(), "buffers of the kernel");
    return kernel_.buffers[b];
  }

  void value(const KValueRef& root) {
    visit(root, [&](const KValueRef& v) {
      if (!values_.insert(v.get()).second) return;
      known(v->index), known(v->mask);
      if (v->kind == KValueKind::kLoad) {
        expect(buffer(v->buffer).read, "loads from buffers that are read");
        expect(buffer(v->buffer).dtype == v->dtype, "loads of their buffer's dtype");
      }
      if (v->kind == KValueKind::kResult)
        expect(v->reduction >= 0 && v->reduction < kernel_.reductions, "results of reductions");
    });
  }

  void known(const Expr& expr) {
    std::map<std::string, Expr> symbols;
    expr.collect_symbols(symbols);
    for (const auto& [name, symbol] : symbols)
      expect(names_.contains(name), "indices over axes, lets and symbols, got " + name);
  }

  const Kernel& kernel_;
  std::set<std::string, std::less<>> names_;
  std::set<int> loops_, reductions_;
  std::set<const KValue*> values_;
  size_t steps_ = 0;
};

}  // namespace

void verify(const Kernel& kernel) { Verifier(kernel).run(); }

}  // namespace tenon
