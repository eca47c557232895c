// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The graphs of tests/golden/in, simplified and scheduled, as text. TENON_GOLDEN=write in the
// environment writes the files anew.
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/ir/text/text.hpp"
#include "core/rewrite/passes.hpp"
#include "core/schedule/memory_plan.hpp"
#include "tests/schedule/execute.hpp"
#include "tests/schedule/models.hpp"

namespace tenon::test {
namespace {

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  REQUIRE(file.good());
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

struct Golden {
  Models m;
  Graph graph;
  Schedule schedule;

  explicit Golden(const std::string& name) {
    const std::string path = std::string(TENON_SOURCE_DIR) + "/tests/golden/in/" + name + ".tn";
    graph = simplify(parse_graph(file_text(path), m.builder, path), m.builder);
    schedule = tenon::schedule(graph, on_one_device(), m.builder);
  }
};

void require_golden(const std::string& name) {
  const Golden golden(name);
  const std::string text = print(golden.schedule);
  const std::string path =
      std::string(TENON_SOURCE_DIR) + "/tests/golden/out/" + name + ".schedule.txt";
  const char* mode = std::getenv("TENON_GOLDEN");
  if (mode && std::string(mode) == "write") std::ofstream(path) << text;
  REQUIRE(text == file_text(path));
}

TEST_CASE("the schedules of softmax, layer norm and matmul with bias and gelu") {
  for (const char* name : {"softmax", "layer_norm", "matmul_bias_gelu"}) {
    INFO(name);
    REQUIRE(kernel_count(Golden(name).schedule) == 1);
    require_golden(name);
  }
}

TEST_CASE("the transformer of four layers fits in 35% of the sum of its intermediates") {
  const Golden golden("transformer4");
  const MemoryPlan plan = plan_memory(golden.schedule, {}, 64);
  INFO(plan.arena_bytes[0] << " of " << plan.sum_bytes << " bytes in "
                           << kernel_count(golden.schedule) << " kernels");
  REQUIRE(static_cast<double>(plan.arena_bytes[0]) <= 0.35 * static_cast<double>(plan.sum_bytes));
  REQUIRE(kernel_count(golden.schedule) <= 4 * 11 + 1);
}

}  // namespace
}  // namespace tenon::test
