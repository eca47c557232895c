// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/schedule/execute.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <random>

#include "core/ir/verify.hpp"
#include "core/schedule/memory_plan.hpp"

namespace tenon::test {
namespace {

std::vector<int64_t> sizes(const Shape& shape, const SymbolValues& symbols) {
  std::vector<int64_t> out;
  for (const Dim& dim : shape) out.push_back(dim.evaluate(symbols));
  return out;
}

class Machine {
 public:
  Machine(const Schedule& schedule, const SymbolValues& symbols,
          const std::vector<InputPlace>& places)
      : schedule_(schedule),
        symbols_(symbols),
        places_(places),
        plan_(plan_memory(schedule, symbols, 64)) {
    for (int64_t bytes : plan_.arena_bytes) arenas_.emplace_back(bytes, uint8_t{0xA5});
    for (int64_t bytes : plan_.bytes) own_.emplace_back(bytes, uint8_t{0x5A});
  }

  std::vector<Array> run(const std::vector<Array>& inputs) {
    REQUIRE(inputs.size() == schedule_.inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      REQUIRE(static_cast<int64_t>(inputs[i].bytes.size()) == plan_.bytes[schedule_.inputs[i]]);
      if (!inputs[i].bytes.empty())
        std::memcpy(at(schedule_.inputs[i]), inputs[i].bytes.data(), inputs[i].bytes.size());
    }
    for (const Step& step : schedule_.steps)
      std::visit([this](const auto& call) { run_call(call); }, step.call);
    for (size_t i = 0; i < inputs.size(); ++i)  // a user's input is not written unless donated
      if (places_.empty() || places_[i].donated == InputPlace::kNotDonated)
        REQUIRE(read(schedule_.inputs[i], inputs[i].shape).bytes == inputs[i].bytes);
    std::vector<Array> out;
    for (int b : schedule_.outputs)
      out.push_back(read(b, sizes(schedule_.buffers[b].shape, symbols_)));
    return out;
  }

 private:
  uint8_t* at(int b) {
    if (plan_.offset[b] < 0) return own_[b].data();
    return arenas_[schedule_.buffers[b].device].data() + plan_.offset[b];
  }

  Array read(int b, std::vector<int64_t> shape) {
    Array out = Array::zeros(schedule_.buffers[b].dtype, std::move(shape));
    REQUIRE(static_cast<int64_t>(out.bytes.size()) == plan_.bytes[b]);
    if (!out.bytes.empty()) std::memcpy(out.bytes.data(), at(b), out.bytes.size());
    return out;
  }

  void write(int b, const Array& array) {
    REQUIRE(array.dtype == schedule_.buffers[b].dtype);
    REQUIRE(static_cast<int64_t>(array.bytes.size()) == plan_.bytes[b]);
    if (!array.bytes.empty()) std::memcpy(at(b), array.bytes.data(), array.bytes.size());
  }

  Array whole(int b) { return read(b, sizes(schedule_.buffers[b].shape, symbols_)); }

  void run_call(const KernelCall& call) {
    verify(call.graph);
    REQUIRE(call.inputs.size() == call.graph.params.size());
    REQUIRE(call.outputs.size() == call.graph.outputs.size());
    REQUIRE(call.alias.size() == call.outputs.size());
    std::vector<Array> inputs;
    for (size_t i = 0; i < call.inputs.size(); ++i)
      inputs.push_back(read(call.inputs[i], sizes(call.graph.params[i]->shape, symbols_)));
    const std::vector<Array> outputs = evaluate(call.graph, inputs, symbols_);
    for (size_t o = 0; o < outputs.size(); ++o) {
      const int alias = call.alias[o];
      if (call.graph.outputs[o]->op == Op::STORE) REQUIRE(alias == 0);
      if (alias >= 0) REQUIRE(at(call.outputs[o]) == at(call.inputs[alias]));
      write(call.outputs[o], outputs[o]);
    }
  }

  void run_call(const CopyCall& call) {
    const ScheduledBuffer& to = schedule_.buffers[call.destination];
    const auto element = static_cast<int64_t>(dtype_size(to.dtype));
    const int64_t begin = call.offset.evaluate(symbols_) * element;
    REQUIRE(begin >= 0);
    REQUIRE(begin + plan_.bytes[call.destination] <= plan_.bytes[call.source]);
    const Array from = whole(call.source);
    Array part = Array::zeros(to.dtype, sizes(to.shape, symbols_));
    REQUIRE(static_cast<int64_t>(part.bytes.size()) == plan_.bytes[call.destination]);
    if (!part.bytes.empty())
      std::memcpy(part.bytes.data(), from.bytes.data() + begin, part.bytes.size());
    write(call.destination, part);
  }

  void run_call(const IfCall& call) {
    const Schedule& branch =
        whole(call.condition).at(0).is_zero() ? *call.else_schedule : *call.then_schedule;
    std::vector<Array> inputs;
    for (int b : call.captured) inputs.push_back(whole(b));
    const std::vector<Array> outputs = execute(branch, inputs, symbols_);
    for (size_t o = 0; o < outputs.size(); ++o) write(call.outputs[o], outputs[o]);
  }

  void run_call(const LoopCall& call) {
    const int64_t trips = whole(call.trips).at(0).as_int();
    std::vector<InputPlace> places(call.body->inputs.size(), InputPlace(0));
    for (size_t k = 0; k < call.initial.size() && !call.is_while; ++k) {
      places[k + 1].donated = static_cast<int>(k);
    }
    std::vector<Array> carried;
    for (int b : call.initial) carried.push_back(whole(b));
    for (int64_t i = 0; i < trips; ++i) {
      std::vector<Array> inputs{Array::zeros(DType::kI64, {})};
      inputs[0].set(0, Scalar::of_int(DType::kI64, i));
      inputs.insert(inputs.end(), carried.begin(), carried.end());
      for (int b : call.captured) inputs.push_back(whole(b));
      std::vector<Array> outputs = execute(*call.body, inputs, symbols_, places);
      if (call.is_while) {
        if (outputs[0].at(0).is_zero()) break;
        outputs.erase(outputs.begin());
      }
      carried = std::move(outputs);
    }
    for (size_t o = 0; o < carried.size(); ++o) write(call.outputs[o], carried[o]);
  }

  const Schedule& schedule_;
  const SymbolValues& symbols_;
  const std::vector<InputPlace>& places_;
  MemoryPlan plan_;
  std::vector<std::vector<uint8_t>> arenas_, own_;
};

}  // namespace

std::vector<Array> execute(const Schedule& schedule, const std::vector<Array>& inputs,
                           const SymbolValues& symbols, const std::vector<InputPlace>& places) {
  return Machine(schedule, symbols, places).run(inputs);
}

std::vector<Array> some_inputs(const Graph& graph, uint32_t seed, const SymbolValues& symbols) {
  std::mt19937 random(seed);
  std::vector<Array> out;
  for (const NodeRef& param : graph.params) {
    Array array = Array::zeros(param->dtype, sizes(param->shape, symbols));
    for (int64_t i = 0; i < array.count(); ++i) {
      const int value = static_cast<int>(random() % 9) - 4;
      array.set(i, is_float(param->dtype) ? Scalar::of(param->dtype, value / 4.0)
                                          : Scalar::of_int(param->dtype, value));
    }
    out.push_back(std::move(array));
  }
  return out;
}

void require_same(const Graph& graph, const Schedule& schedule, uint32_t seed,
                  const SymbolValues& symbols, const std::vector<InputPlace>& places) {
  const std::vector<Array> inputs = some_inputs(graph, seed, symbols);
  const std::vector<Array> expected = evaluate(graph, inputs, symbols);
  const std::vector<Array> got = execute(schedule, inputs, symbols, places);
  REQUIRE(got.size() == expected.size());
  for (size_t o = 0; o < got.size(); ++o) {
    INFO("output " << o << "\n" << print(schedule));
    REQUIRE(got[o].dtype == expected[o].dtype);
    const int b = schedule.outputs[o];  // an input's buffer has the input's shape
    if (schedule.buffers[static_cast<size_t>(b)].kind != BufferKind::kInput)
      REQUIRE(got[o].shape == expected[o].shape);
    REQUIRE(got[o].bytes == expected[o].bytes);
  }
}

}  // namespace tenon::test
