// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A few sources as they are printed, against tests/golden/source. To accept a change, copy what the
// failing test prints.
#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <sstream>

#include "sdk/render/c_printer.hpp"
#include "sdk/render/cuda_dialect.hpp"
#include "sdk/render/hip_dialect.hpp"
#include "tests/sdk/null_device.hpp"
#include "tests/sdk/samples.hpp"

using namespace tenon::sdk;

namespace {

void check_golden(std::string_view program, const Dialect& dialect, const std::string& name) {
  std::ifstream file(TENON_SOURCE_DIR "/tests/golden/source/" + name);
  std::stringstream text;
  text << file.rdbuf();
  CHECK(print_source(parsed(program).view(), dialect) == text.str());
}

}  // namespace

TEST_CASE("a softmax is printed as CUDA and HIP") {
  check_golden(samples::kSoftmax, cuda_dialect(), "softmax.cuda.txt");
  check_golden(samples::kSoftmax, hip_dialect(), "softmax.hip.txt");
}
TEST_CASE("a tile of tensor cores is printed as CUDA") {
  check_golden(samples::kMatrix, cuda_dialect(), "tile.cuda.txt");
}
TEST_CASE("subgroup ops are printed as HIP") {
  check_golden(samples::kSubgroup, hip_dialect(), "subgroups.hip.txt");
}
