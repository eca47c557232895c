// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Donated inputs: results reuse their memory, and nothing reads them afterwards.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/ir/text/text.hpp"
#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

BufferRef on_device(Runtime& runtime, const Array& array) {
  BufferRef out = runtime.device().allocate(array.bytes.size());
  out->device().write(*out, 0, array.bytes.data(), array.bytes.size());
  return out;
}

Array read_back(const BufferRef& buffer, const Array& like) {
  Array out = Array::zeros(like.dtype, like.shape);
  buffer->device().read(*buffer, 0, out.bytes.data(), out.bytes.size());
  return out;
}

const char* const kStep = R"(graph step(%w: f32[64], %v: f32[64], %g: f32[64]) {
  %v1 = add %v, %g                 : f32[64]
  %w1 = add %w, %v1                : f32[64]
  return %w1, %v1
})";

const char* const kRow = R"(graph row(%x: f32[16, 4], %i: i64[1, 4], %v: f32[1, 4]) {
  %y = store %x, %i, %v, axis=0 : f32[16, 4]
  return %y
})";

}  // namespace

TEST_CASE("results take the memory of donated inputs") {
  for (const std::string& backend : backends()) {
    for (const bool validate : {false, true}) {
      CAPTURE(backend, validate);
      RuntimeOptions options = options_for(backend, backend);
      options.validate = validate;
      options.guard_bytes = validate ? 64 : 0;
      Runtime runtime(options);
      for (const char* const text : {kStep, kRow}) {
        const Graph graph = parse_graph(text, runtime.builder());
        std::vector<Array> inputs;
        for (const NodeRef& param : graph.params) {
          std::vector<int64_t> shape;
          for (const Dim& dim : param->shape) shape.push_back(dim.value());
          inputs.push_back(numbers(param->dtype, shape));
        }
        const std::vector<Array> expected = evaluate(graph, inputs);
        const bool donates[] = {false, true};
        for (const bool donate : donates) {
          std::vector<BufferRef> buffers;
          std::vector<std::pair<tn_memory*, uint64_t>> places;
          for (const Array& input : inputs) {
            buffers.push_back(on_device(runtime, input));
            places.emplace_back(buffers.back()->memory(), buffers.back()->offset());
          }
          const std::vector<BufferRef> got =
              runtime.run(graph, buffers, {}, nullptr, std::vector<bool>(buffers.size(), donate));
          int moved = 0;
          for (size_t o = 0; o < got.size(); ++o) {
            CHECK(read_back(got[o], expected[o]).bytes == expected[o].bytes);
            moved += static_cast<int>(
                std::ranges::count(places, std::pair(got[o]->memory(), got[o]->offset())));
          }
          CHECK(moved == (donate ? static_cast<int>(got.size()) : 0));
          for (size_t i = 0; i < buffers.size() && !donate; ++i)
            CHECK(read_back(buffers[i], inputs[i]).bytes == inputs[i].bytes);
          if (donate)
            CHECK_THROWS_WITH(
                runtime.run(graph, buffers),
                Catch::Matchers::ContainsSubstring("that an earlier run was given to write over"));
        }
      }
      CHECK(runtime.device().check_guards().empty());
    }
  }
}

TEST_CASE("a buffer that is two inputs is not written over") {
  for (const std::string& backend : backends()) {
    CAPTURE(backend);
    Runtime runtime(options_for(backend, backend));
    const Graph graph = parse_graph(kStep, runtime.builder());
    const Array input = numbers(DType::kF32, {64});
    const BufferRef one = on_device(runtime, input);
    runtime.run(graph, {one, one, one}, {}, nullptr, {true, true, true});
    CHECK(read_back(one, input).bytes == input.bytes);
  }
}
