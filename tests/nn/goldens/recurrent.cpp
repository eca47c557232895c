// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrent layers and their gradients against PyTorch's.
#include <map>
#include <set>

#include "tenon/move.hpp"
#include "tests/nn/goldens/case.hpp"

namespace tenon::test {
namespace {

Tensor flat(const Tensor& first, const Tensors& rest) {
  Tensors all{first.ravel()};
  for (const Tensor& x : rest) all.push_back(x.ravel());
  return concatenate(all);
}

template <class M>
void check_names(Given& g, M& module) {
  std::string names;
  for (const nn::Named& named : nn::tensors(module))
    names += (names.empty() ? "" : ",") + named.name;
  CHECK(names == g.call.word("names"));
}

Tensors run_recurrent(Given& g, nn::Recurrence kind) {
  const auto state_of = [](const Tensors& x) { return Tensors(x.begin() + 1, x.end()); };
  if (g.flag("cell")) {
    nn::RecurrentCell cell(kind, 3, 4, g.flag("bias"));
    check_names(g, cell);
    return run(g, cell, [&](nn::RecurrentCell& used, const Tensors& x, const Mode&) {
      const Tensors next = used(x.at(0), state_of(x));
      return flat(next.at(0), {next.begin() + 1, next.end()});
    });
  }
  nn::Recurrent layers(kind, 3, 4,
                       {.layers = g.integer("num_layers"),
                        .bias = g.flag("bias"),
                        .batch_first = g.flag("batch_first"),
                        .bidirectional = g.flag("bidirectional")});
  check_names(g, layers);
  return run(g, layers, [&](nn::Recurrent& used, const Tensors& x, const Mode& mode) {
    const nn::RecurrentResult out = used(x.at(0), state_of(x), mode);
    return flat(out.output, out.state);
  });
}

const std::map<std::string, nn::Recurrence> kRecurrences{{"tanh", nn::Recurrence::kTanh},
                                                         {"relu", nn::Recurrence::kRelu},
                                                         {"lstm", nn::Recurrence::kLstm},
                                                         {"gru", nn::Recurrence::kGru}};

}  // namespace

TEST_CASE("recurrent layers and their gradients are those of PyTorch") {
  on_each_device([](Context& context) {
    std::set<std::string> seen;
    for (const Case& test : read_cases("nn/goldens/recurrent")) {
      INFO("recurrent.txt:" << test.line << ": " << test.function);
      seen.insert(test.function);
      Given given{test, {context, tensors_of(test.inputs, context), test.attributes}};
      const Tensors results = run_recurrent(given, kRecurrences.at(test.function));
      REQUIRE(results.size() == test.outputs.size());
      realize(results);
      for (size_t i = 0; i < results.size(); ++i) {
        INFO("result " << i);
        check_close(results[i].to_array(), test.outputs[i], 1e-5);
      }
    }
    CHECK(seen.size() == kRecurrences.size());
  });
}

}  // namespace tenon::test
