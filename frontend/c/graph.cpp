// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <deque>
#include <map>

#include "frontend/c/handles.hpp"
#include "frontend/c/types.hpp"

using namespace tenon;
using namespace tenon::c;

namespace {

/// The inputs of a call, in use as long as this is.
class Inputs {
 public:
  /// `donated`: places of those that the call spends.
  Inputs(const char* call, tenon_tensor* const* inputs, uint64_t count,
         const std::vector<size_t>& donated) {
    if (count > 0) given(call, "inputs", inputs);
    std::map<const tenon_tensor*, bool> all;  // one may come twice
    for (uint64_t i = 0; i < count; ++i) {
      if (inputs[i] == nullptr) refuse("[{}] expected a tensor as input {}, got null", call, i);
      tensors.push_back(inputs[i]->tensor);
      all.emplace(inputs[i], false);
    }
    for (const size_t place : donated) all[inputs[place]] = true;
    for (const auto& [tensor, donates] : all) uses_.emplace_back(call, *tensor, donates);
  }
  std::vector<Tensor> tensors;

 private:
  std::deque<Use> uses_;
};

CallOptions options_of(const char* call, const tenon_run_options* given_options,
                       uint64_t input_count) {
  CallOptions out;
  if (given_options == nullptr) return out;
  const auto options = read_struct(call, "options", *given_options, sizeof(tenon_run_options));
  if (options.symbol_count > 0) given(call, "options.symbols", options.symbols);
  for (uint32_t i = 0; i < options.symbol_count; ++i) {
    const tenon_symbol& symbol = options.symbols[i];
    const std::string name = &given(call, "the name of a symbol", symbol.name);
    if (!out.symbols.emplace(name, symbol.value).second)
      refuse("[{}] expected each symbol once, got {} again", call, name);
  }
  for (uint64_t i = 0; options.donated && i < input_count; ++i)
    if (options.donated[i]) out.donate.push_back(i);
  return out;
}

/// A C string ends at a zero byte, so such a name could not be told, nor given.
void check_names(const char* call, const char* what, const std::vector<FunctionValue>& values) {
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i].name.find('\0') != std::string::npos)
      refuse("[{}] expected names without zero bytes, got one in that of {} {}", call, what, i);
}

tenon_status describe(const char* call, const std::vector<FunctionValue> tenon_graph::*list,
                      const tenon_graph* graph, uint64_t number, tenon_type* type,
                      const char** name) {
  return guarded([&] {
    const std::vector<FunctionValue>& values = given(call, "graph", graph).*list;
    if (number >= values.size())
      refuse("[{}] expected a number below {}, got {}", call, values.size(), number);
    const FunctionValue& value = values[number];
    if (type) write_type(call, value.dtype, value.sizes, type);
    if (name) *name = value.name.c_str();
  });
}

}  // namespace

tenon_status tenon_graph_parse(tenon_context* context, const char* text, const char* origin,
                               tenon_graph** out) {
  constexpr auto kCall = "tenon_graph_parse";
  return guarded([&] {
    const auto& on = given(kCall, "context", context).context;
    const char* const words = &given(kCall, "text", text);
    given(kCall, "out", out);
    auto made =
        std::make_unique<tenon_graph>(on, Function::parse(words, *on, origin ? origin : "<text>"));
    check_names(kCall, "input", made->inputs);
    check_names(kCall, "output", made->outputs);
    *out = made.release();
  });
}

void tenon_graph_destroy(tenon_graph* graph) { delete graph; }

tenon_status tenon_graph_text(const tenon_graph* graph, char* out, uint64_t capacity,
                              uint64_t* length) {
  constexpr auto kCall = "tenon_graph_text";
  return guarded([&] {
    write_part(kCall, given(kCall, "graph", graph).function.text(), out, capacity, length);
  });
}

tenon_status tenon_graph_counts(const tenon_graph* graph, uint64_t* inputs, uint64_t* outputs) {
  constexpr auto kCall = "tenon_graph_counts";
  return guarded([&] {
    given(kCall, "graph", graph);
    if (inputs) *inputs = graph->inputs.size();
    if (outputs) *outputs = graph->outputs.size();
  });
}

tenon_status tenon_graph_input(const tenon_graph* graph, uint64_t number, tenon_type* type,
                               const char** name) {
  return describe("tenon_graph_input", &tenon_graph::inputs, graph, number, type, name);
}

tenon_status tenon_graph_output(const tenon_graph* graph, uint64_t number, tenon_type* type,
                                const char** name) {
  return describe("tenon_graph_output", &tenon_graph::outputs, graph, number, type, name);
}

tenon_status tenon_graph_gradient(const tenon_graph* graph, const char* output,
                                  const char* const* inputs, uint64_t count, tenon_graph** out) {
  constexpr auto kCall = "tenon_graph_gradient";
  return guarded([&] {
    given(kCall, "graph", graph);
    given(kCall, "out", out);
    std::vector<std::string> names;
    if (count > 0) given(kCall, "inputs", inputs);
    for (uint64_t i = 0; i < count; ++i)
      names.emplace_back(&given(kCall, "the name of an input", inputs[i]));
    *out = new tenon_graph(graph->context,
                           graph->function.gradient(names, *graph->context, output ? output : ""));
  });
}

tenon_status tenon_graph_compile(const tenon_graph* graph, tenon_tensor* const* inputs,
                                 uint64_t input_count, const tenon_run_options* options) {
  constexpr auto kCall = "tenon_graph_compile";
  return guarded([&] {
    given(kCall, "graph", graph);
    const Inputs given_inputs(kCall, inputs, input_count, {});
    graph->context->prepare(graph->function, given_inputs.tensors,
                            options_of(kCall, options, input_count));
  });
}

tenon_status tenon_graph_run(const tenon_graph* graph, tenon_tensor* const* inputs,
                             uint64_t input_count, const tenon_run_options* options,
                             tenon_tensor** outputs, uint64_t output_count) {
  constexpr auto kCall = "tenon_graph_run";
  return guarded([&] {
    given(kCall, "graph", graph);
    if (output_count != graph->outputs.size())
      refuse("[{}] expected room for {} outputs, got {}", kCall, graph->outputs.size(),
             output_count);
    if (output_count > 0) given(kCall, "outputs", outputs);
    const CallOptions how = options_of(kCall, options, input_count);
    const Inputs given_inputs(kCall, inputs, input_count, how.donate);
    std::vector<std::unique_ptr<tenon_tensor>> made;
    for (Tensor& result : graph->context->call(graph->function, given_inputs.tensors, how))
      made.emplace_back(new tenon_tensor{graph->context, std::move(result)});
    for (size_t i = 0; i < made.size(); ++i) outputs[i] = made[i].release();
  });
}
