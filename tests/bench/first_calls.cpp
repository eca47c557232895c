// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a process of its own does for bench_fresh: something that it has never computed before.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/ir/text/text.hpp"
#include "core/support/error.hpp"
#include "frontend/tensor/state.hpp"
#include "tenon/make.hpp"
#include "tests/bench/gpt2.hpp"
#include "tests/bench/suite.hpp"

namespace tenon::bench {
namespace {

constexpr int64_t kFirstCallCount = 64;
constexpr int64_t kTokens = 64;

/// Seconds to tell of, and what was wrong.
struct Facts {
  double seconds = 0;
  std::string wrong;
};

std::vector<BufferRef> ones(Runtime& runtime, const Graph& graph) {
  std::vector<BufferRef> out;
  for (const NodeRef& param : graph.params) {
    const auto count = static_cast<size_t>(product(param->shape).value());
    out.push_back(to_device(runtime, std::vector<float>(count, 1.0f)));
  }
  return out;
}

/// Compiles a graph whose inputs are ones; the first element of its result should be `expected`.
Facts compiled(Runtime& runtime, const Graph& graph, float expected) {
  RunStats stats;
  const std::vector<BufferRef> out = runtime.run(graph, ones(runtime, graph), {}, &stats);
  const float got = to_host(out[0], 1)[0];
  Facts facts{stats.compile_ms * 1e-3, ""};
  if (!(std::abs(got - expected) <= 1e-5f * expected))
    facts.wrong = fmt::format("expected {}, got {}", expected, got);
  return facts;
}

Facts elementwise(Runtime& runtime) {
  return compiled(runtime, elementwise_graph(runtime.builder(), kFirstCallCount), 2);
}

/// Another kernel than any that is timed.
void compile_another(Runtime& runtime) {
  compiled(
      runtime,
      parse_graph("graph f(%x: f32[96]) {\n %y = mul %x, %x\n return %y\n}", runtime.builder()), 1);
}

/// A product of matrices of ones, alone or with GELU after it.
Graph product_graph(Runtime& runtime, bool with_gelu) {
  const char* const gelu = R"(
  %cubic = const 0.044715 : f32[256, 512]
  %root = const 1.5957691 : f32[256, 512]
  %one = const 1.0 : f32[256, 512]
  %s2 = mul %s, %s
  %c = mul %s2, %cubic
  %c1 = add %c, %one
  %u = mul %s, %c1
  %u2 = mul %u, %root
  %e = exp %u2
  %e1 = add %e, %one
  %r = recip %e1
  %g = sub %one, %r
  %y = mul %s, %g)";
  return parse_graph(fmt::format(R"(graph product(%a: f32[256, 1024, 1], %b: f32[1, 1024, 512]) {{
  %c0 = expand %a : f32[256, 1024, 512]
  %d = expand %b : f32[256, 1024, 512]
  %p = mul %c0, %d
  %t = reduce.add %p, axes=[1]
  %s = reshape %t : f32[256, 512]{}
  return {}
}})",
                                 with_gelu ? gelu : "", with_gelu ? "%y" : "%s"),
                     runtime.builder());
}

Facts first_elementwise() {
  Runtime runtime;
  return elementwise(runtime);
}

Facts second_elementwise() {
  Runtime runtime;
  compile_another(runtime);
  return elementwise(runtime);
}

Facts second_product(bool with_gelu) {
  Runtime runtime;
  compile_another(runtime);
  // GELU of 1,024 is as much.
  return compiled(runtime, product_graph(runtime, with_gelu), 1024);
}

Facts transformer() { return {0, transformer_fault()}; }

template <class F>
double seconds_of(const F& f) {
  const double begin = now();
  f();
  return now() - begin;
}

/// What the first call of `step`, which gives a loss, costs beside a later one, with the opening of
/// the device; how the loss has to change.
template <class Step>
Facts first_call(Gpt2& model, const Step& step) {
  Context& context = Context::standard();
  const double opening = seconds_of([&] { runtime_of(context).device(); });
  load_random(model);
  runtime_of(context).device().synchronize();
  float loss = 0, later_loss = 0;
  const double first = seconds_of([&] { loss = step(); });
  double later = first;
  for (int i = 0; i < 3; ++i) later = std::min(later, seconds_of([&] { later_loss = step(); }));
  Facts facts{opening + first - later, ""};
  // As good as guessing at first; a step that learns makes it less.
  if (!(std::abs(loss - std::log(static_cast<float>(Gpt2::kWords))) < 0.5f) || later_loss > loss)
    facts.wrong = fmt::format("expected a loss of a model that knows nothing, got {} and then {}",
                              loss, later_loss);
  return facts;
}

std::vector<int64_t> some_words() {
  std::vector<int64_t> out;
  for (int64_t i = 0; i <= kTokens; ++i) out.push_back((i * 7919 + 13) % Gpt2::kWords);
  return out;
}

Tensor loss_of(const Gpt2& model, const Tensor& words) {
  const Tensor logits = model(words.slice({{}, {0, kTokens}}));
  return nn::cross_entropy(logits.reshape({kTokens, Gpt2::kWords}),
                           words.slice({{}, {1, kTokens + 1}}).ravel());
}

Facts gpt2_forward() {
  Gpt2 model;
  const auto loss = compile([](const Gpt2& m, const Tensor& words) { return loss_of(m, words); });
  const std::vector<int64_t> words = some_words();
  return first_call(model, [&] {
    return loss(model, tensor<int64_t>(words, {1, kTokens + 1})).template item<float>();
  });
}

Facts gpt2_step() {
  Gpt2 model;
  const nn::Optimizer optimizer = nn::adamw({.learning_rate = 1e-4});
  nn::OptimizerState state;
  const auto step = compile(
      [&](Gpt2 m, nn::OptimizerState s, const Tensor& words) {
        const auto [loss, gradients] =
            nn::value_and_grad(m, [&](Gpt2& at) { return loss_of(at, words); });
        optimizer.update(m, gradients, s);
        return std::tuple(m, s, loss);
      },
      {.name = "step", .donate = {0, 1}});
  const std::vector<int64_t> words = some_words();
  return first_call(model, [&] {
    if (state.slots.empty()) state = optimizer.init(model);
    Tensor loss(0);
    std::tie(model, state, loss) = step(model, state, tensor<int64_t>(words, {1, kTokens + 1}));
    return loss.item<float>();
  });
}

struct Subject {
  const char* name;
  Facts (*facts)();
};

constexpr Subject kSubjects[] = {
    {"elementwise", first_elementwise},
    {"elementwise later", second_elementwise},
    {"product later", [] { return second_product(false); }},
    {"gelu product later", [] { return second_product(true); }},
    {"transformer", transformer},
    {"gpt2 forward", gpt2_forward},
    {"gpt2 step", gpt2_step},
};

}  // namespace

int print_first_result(const std::string& what) {
  for (const Subject& subject : kSubjects) {
    if (what != subject.name) continue;
    const Facts facts = subject.facts();
    fmt::print("{}\n", nlohmann::json{{"seconds", facts.seconds}, {"wrong", facts.wrong}}.dump());
    return 0;
  }
  fail(ErrorKind::kInvalid, "[--first-result] expected a subject, got \"{}\"", what);
}

}  // namespace tenon::bench
