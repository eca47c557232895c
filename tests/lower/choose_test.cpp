// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choosing transforms: no exception on the way, a refused step changes nothing, and the tree that
// is chosen is the tree that is lowered.
#include <dlfcn.h>

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <random>
#include <set>

#include "core/kernel/templates/templates.hpp"
#include "core/kernel/transforms/fields.hpp"
#include "core/kernel/transforms/random_transforms.hpp"
#include "core/kernel/tree/build.hpp"
#include "core/kernel/tree/verify.hpp"
#include "core/support/file_io.hpp"
#include "sdk/program/text.hpp"
#include "tests/lower/harness.hpp"

namespace {
std::atomic<size_t> thrown{0};
}

/// Counts every exception of this program, then throws it.
extern "C" [[noreturn]] void __cxa_throw(void* object, void* type, void (*destroy)(void*)) {
  using Throw = void (*)(void*, void*, void (*)(void*));
  static const auto next = reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
  ++thrown;
  next(object, type, destroy);
  __builtin_unreachable();
}

using namespace tenon;
using namespace tenon::test;

namespace {

std::vector<std::pair<const char*, Capabilities>> devices() {
  return {{"scalar", scalar_like()},    {"cpu", cpu_like()},     {"gpu", gpu_like()},
          {"both", everything()},       {"warps", warps_like()}, {"waves", waves_like()},
          {"software", software_like()}};
}

/// The trees of the kernels that pass.
class TreeKeeper : public TransformChooser {
 public:
  LoweredKernel choose(const UnchosenKernel& kernel) override {
    trees.push_back(kernel.tree);
    return kernel.lower({kernel.tree, {}});
  }
  std::vector<Kernel> trees;
};

std::vector<Kernel> trees_of(const std::vector<std::string>& graphs,
                             const Capabilities& capabilities) {
  TreeKeeper keeper;
  for (const std::string& name : graphs) {
    Builder builder;
    const Compiler compiler(builder, {.verify = true});
    const std::string path = std::string(TENON_SOURCE_DIR) + "/tests/golden/in/" + name + ".tn";
    ScheduleOptions options;
    options.devices.push_back({"device:0", capabilities});
    const Schedule cut = compiler.schedule(parse_graph(read_file(path), builder, path), options);
    each_kernel(cut, [&](const KernelCall& call, int) {
      compiler.lower(call, capabilities, keeper, 0, "kernel");
    });
  }
  return std::move(keeper.trees);
}

std::vector<Kernel> representative_trees() {
  std::vector<Kernel> trees;
  for (const auto& [name, c] : representative_cases()) {
    Builder builder;
    trees.push_back(build_kernel(parse_graph(c.graph, builder), c.alias, c.sections));
  }
  return trees;
}

/// All that a tree is.
std::string all_of(const Kernel& kernel) {
  std::string text = print(kernel);
  for (const KernelAxis& axis : kernel.axes)
    text += fmt::format("{} {} {}\n", axis.name, to_string(axis.extent), bind_name(axis.bind));
  for (const Guard& guard : kernel.guards)
    text += fmt::format("{} {}\n", to_string(guard.condition()), guard.fills);
  return text + fmt::format("{} {}", kernel.buffers.size(), kernel.reductions);
}

/// Any transform of any axes, legal or not.
Transform any_transform(const Kernel& kernel, const Below& below) {
  const auto pick = [&](size_t count) {
    return static_cast<int>(below(static_cast<uint32_t>(count)));
  };
  const size_t kind = static_cast<size_t>(pick(all_transforms().size()));
  auto out = make_transform<Transform>(all_transforms()[kind].kind);
  each_field(out, [&](auto field, std::string_view, auto& value) {
    using enum FieldKind;
    if constexpr (field == kAxis || field == kFreeAxis || field == kAt)
      value = pick(kernel.axes.size());
    if constexpr (field == kAxes) value = {pick(kernel.axes.size()), pick(kernel.axes.size())};
    if constexpr (field == kInner)
      if (pick(2)) value = pick(kernel.axes.size());
    if constexpr (field == kBuffer) value.buffer = pick(5);
    if constexpr (field == kPlace)
      value = static_cast<Bind>(static_cast<int>(Bind::kGridX) + pick(6));
    if constexpr (field == kFactor || field == kNumber) value = 1 + pick(20);
    if constexpr (field == kWord) value = pick(2) != 0;
  });
  return out;
}

}  // namespace

TEST_CASE("no exception is thrown by drawing ten thousand lists") {
  const std::vector<Kernel> trees = representative_trees();
  const size_t before = thrown;
  size_t lists = 0, steps = 0;
  for (uint32_t seed = 0; lists < 10'000; ++seed) {
    for (const Kernel& tree : trees) {
      std::mt19937 random(seed);
      const Chosen chosen = random_transforms(tree, below_of(random),
                                              {.vectors = seed % 2 != 0, .threads = seed % 4 < 2});
      ++lists;
      steps += chosen.list.size();
    }
  }
  CHECK(thrown == before);
  CHECK(steps > 3 * lists);
}

TEST_CASE("no exception is thrown by templates") {
  size_t kernels = 0;
  for (const auto& [device, capabilities] : devices()) {
    INFO(device);
    std::vector<Kernel> trees =
        trees_of({"softmax", "transformer4", "matmul_bias_gelu"}, capabilities);
    for (Kernel& tree : representative_trees()) trees.push_back(std::move(tree));
    const size_t before = thrown;
    for (const Kernel& tree : trees) {
      const Chosen chosen = choose_transforms(tree, capabilities);
      verify(chosen.kernel);
      ++kernels;
    }
    CHECK(thrown == before);
  }
  CHECK(kernels > 200);
}

TEST_CASE("whatever templates decide, their steps are legal") {
  std::set<std::string, std::less<>> points;
  size_t others = 0;
  for (const auto& [device, capabilities] : devices()) {
    INFO(device);
    for (const Kernel& tree : representative_trees()) {
      const std::string rule = list_text(choose_transforms(tree, capabilities));
      const auto first = [&](std::string_view, std::span<const int64_t>) { return size_t{0}; };
      CHECK(list_text(choose_transforms(tree, capabilities, first)) == rule);
      for (uint32_t seed = 0; seed < 8; ++seed) {
        std::mt19937 random(seed);
        const Chosen chosen = choose_transforms(
            tree, capabilities, [&](std::string_view point, std::span<const int64_t> options) {
              points.emplace(point);
              return size_t{below_of(random)(static_cast<uint32_t>(options.size()))};
            });
        verify(chosen.kernel);
        others += list_text(chosen) != rule;
      }
    }
  }
  CHECK(points.size() >= 5);
  CHECK(others > 100);
}

TEST_CASE("batches that share their columns are rows of one product") {
  Builder builder;
  const auto product_of = [&](int batches, int rows, const char* shape, const char* lead) {
    return build_kernel(
        parse_graph(fmt::format(R"(graph g(%x: f32[{0}, {1}, 64], %w: f32[{2}64, 32]) {{
          %a = reshape %x : f32[{0}, {1}, 64, 1]
          %b = expand %a : f32[{0}, {1}, 64, 32]
          %c = reshape %w : f32[{3}, 1, 64, 32]
          %d = expand %c : f32[{0}, {1}, 64, 32]
          %p = mul %b, %d
          %s = reduce.add %p, axes=[2]
          return %s
        }})",
                                batches, rows, shape, lead),
                    builder));
  };
  Capabilities caps = cpu_like();
  const auto first_step = [&](const Kernel& tree) {
    return kind_of(choose_transforms(tree, caps).list.front());
  };
  caps.l2_bytes = 1 << 20;
  CHECK(first_step(product_of(48, 4, "", "1")) == TransformKind::kFuse);
  CHECK(first_step(product_of(48, 4, "48, ", "48")) == TransformKind::kSplit);
  // Of more rows than stay in the private cache, as many at once as do.
  caps.l2_bytes = 48 << 10;
  const Chosen chosen = choose_transforms(product_of(48, 4, "", "1"), caps);
  REQUIRE(chosen.list.size() > 1);
  CHECK(print(chosen.kernel, {chosen.list[0], chosen.list[1]}).find("96") != std::string::npos);
}

TEST_CASE("a few rows by columns that lie along the sum are dot products") {
  Builder builder;
  const auto list_of = [&](int rows) {
    const std::string text = fmt::format(R"(graph g(%x: f32[{0}, 512], %w: f32[64, 512]) {{
      %a = reshape %x : f32[{0}, 1, 512]
      %b = expand %a : f32[{0}, 64, 512]
      %c = reshape %w : f32[1, 64, 512]
      %d = expand %c : f32[{0}, 64, 512]
      %p = mul %b, %d
      %s = reduce.add %p, axes=[2]
      return %s
    }})",
                                         rows);
    return list_text(choose_transforms(build_kernel(parse_graph(text, builder)), cpu_like()));
  };
  CHECK(list_of(16).find("vectorize r0.i") != std::string::npos);
  CHECK(list_of(16).find("stage") == std::string::npos);
  CHECK(list_of(64).find("stage b1") != std::string::npos);
}

TEST_CASE("an operand that lies across the result goes through registers in squares") {
  Builder builder;
  const auto list_of = [&](const char* order, const char* shape, const char* source) {
    const std::string text = fmt::format(R"(graph g(%x: f32[{2}], %y: f32[{1}]) {{
      %a = permute %x, axes=[{0}]
      %s = add %a, %y
      return %s
    }})",
                                         order, shape, source);
    return list_text(choose_transforms(build_kernel(parse_graph(text, builder)), cpu_like()));
  };
  const auto is_square = [](const std::string& list) {
    return list.starts_with("split a") && list.find("; unroll a") != std::string::npos &&
           list.find("reorder") != std::string::npos;
  };
  CHECK(is_square(list_of("1, 0", "64, 96", "96, 64")));
  // Four squares along what is written, for each of them a line of every row that is read.
  CHECK(list_of("1, 0", "256, 128", "128, 256").find("reorder a1.o.o a0.o a1.o.i a0.i a1.i") !=
        std::string::npos);
  CHECK(is_square(list_of("1, 0", "33, 97", "97, 33")));
  CHECK(is_square(list_of("2, 1, 0", "64, 5, 96", "96, 5, 64")));
  CHECK(is_square(list_of("0, 2, 1", "3, 64, 96", "3, 96, 64")));
  // Rows stay whole, or are too short.
  CHECK_FALSE(is_square(list_of("1, 0, 2", "64, 5, 96", "5, 64, 96")));
  CHECK_FALSE(is_square(list_of("1, 0", "64, 8", "8, 64")));
}

TEST_CASE("an expensive epilogue of a product is a loop over its sums") {
  Builder builder;
  const auto list_of = [&](const char* after) {
    const std::string text = fmt::format(R"(graph g(%x: f32[60, 64], %w: f32[64, 96]) {{
      %a = reshape %x : f32[60, 64, 1]
      %b = expand %a : f32[60, 64, 96]
      %c = reshape %w : f32[1, 64, 96]
      %d = expand %c : f32[60, 64, 96]
      %p = mul %b, %d
      %s = reduce.add %p, axes=[1]
      %t = {} %s{}
      return %t
    }})",
                                         after, after == std::string("add") ? ", %s" : "");
    return list_text(choose_transforms(build_kernel(parse_graph(text, builder)), cpu_like()));
  };
  CHECK(list_of("exp").find("; compute_at r0 a0.o") != std::string::npos);
  CHECK(list_of("add").find("compute_at") == std::string::npos);
}

namespace {

/// [rows, k] times [k, n], or the sums of the columns of [k, n] where there are no rows.
template <class Rows>
std::string columns_graph(const Rows& rows, int k, int n, std::string_view where = "") {
  if (fmt::format("{}", rows) == "0")
    return fmt::format(
        "graph g(%w: f32[{0}, {1}]) {{\n %s = reduce.add %w, axes=[0]\n return %s }}", k, n);
  return fmt::format(R"(graph g(%x: f32[{0}, {1}], %w: f32[{1}, {2}]){3} {{
      %a = reshape %x : f32[{0}, {1}, 1]
      %b = expand %a : f32[{0}, {1}, {2}]
      %c = reshape %w : f32[1, {1}, {2}]
      %d = expand %c : f32[{0}, {1}, {2}]
      %p = mul %b, %d
      %s = reduce.add %p, axes=[1]
      return %s
    }})",
                     rows, k, n, where);
}

}  // namespace

TEST_CASE("few rows by a large matrix: its rows are read in long runs, without packing") {
  Builder builder;
  Capabilities caps = cpu_like();
  const auto list_of = [&](const auto& rows, int k, int n, std::string_view where = "") {
    const Graph graph = parse_graph(columns_graph(rows, k, n, where), builder);
    return list_text(choose_transforms(build_kernel(graph), caps));
  };
  for (const int rows : {0, 1, 4, 16, 64}) {
    CAPTURE(rows);
    CHECK(list_of(rows, 4096, 4096).find("split r0 16; compute_at r0.i a") != std::string::npos);
    CHECK(list_of(rows, 4096, 4096).find("stage") == std::string::npos);
  }
  CHECK(list_of(16, 4096, 4096).find("reorder a1.o a1.i.o a0.o a0.i a1.i.i.o;") !=
        std::string::npos);
  // Rows that are known to be few are as good as a number of them.
  CHECK(list_of("m", 4096, 4096, " where 2 <= m <= 16").find("split r0 16; compute_at r0.i a") !=
        std::string::npos);
  CHECK(list_of("m", 4096, 4096, " where 1 <= m <= 4096").find("split r0 16; compute_at r0.i a") ==
        std::string::npos);
  // More rows, and what stays in a private cache, are as they were.
  CHECK(list_of(65, 4096, 4096).find("stage b1") != std::string::npos);
  CHECK(list_of(1, 64, 64).find("compute_at") == std::string::npos);
  // So are those of more than eight tiles, where registers are few.
  caps.vector_registers = 16;
  CHECK(list_of(32, 4096, 4096).find("stage") == std::string::npos);
  CHECK(list_of(64, 4096, 4096).find("stage b1") != std::string::npos);
}

TEST_CASE("the tile of a product is the one that takes the least time") {
  Builder builder;
  const auto list_of = [&](int m, int n) {
    const Graph graph = parse_graph(columns_graph(m, 64, n), builder);
    return list_text(choose_transforms(build_kernel(graph), cpu_like()));
  };
  const auto begins = [&](int m, int n, const char* with) {
    return list_of(m, n).starts_with(with);
  };
  CHECK(begins(64, 96, "split a0 8; split a1 48;"));   // fewest loads
  CHECK(begins(48, 64, "split a0 12; split a1 32;"));  // a third vector would stand alone
  CHECK(begins(42, 64, "split a0 11; split a1 32;"));  // nine rows, not six, are left
  CHECK(begins(40, 16, "split a0 14; split a1 16;"));
}

TEST_CASE("a sum whose packed columns outgrow the cache goes in blocks") {
  Builder builder;
  Capabilities caps = cpu_like();
  caps.l2_bytes = 64 << 10;
  const auto list_of = [&](const std::string& text) {
    return list_text(choose_transforms(build_kernel(parse_graph(text, builder)), caps));
  };
  const auto has = [](const std::string& list, const char* part) {
    return list.find(part) != std::string::npos;
  };
  CHECK(!has(list_of(columns_graph(80, 170, 96)), "compute_at"));
  for (const auto& [k, split] :
       {std::pair(300, "split r0 150; "), std::pair(301, "split r0 151; ")}) {
    const std::string graph = columns_graph(80, k, 20), list = list_of(graph);
    CAPTURE(list);
    CHECK(has(list, split));  // equal where there are such
    CHECK(has(list, "compute_at r0.i a1.o; stage b1 at r0.o;"));
    CHECK(difference({graph, {}, {}}, caps, "", true) == "");
  }
  caps.l2_bytes = 16 << 10;  // blocks would be too short
  CHECK(!has(list_of(columns_graph(80, 300, 20)), "compute_at"));
}

TEST_CASE("a small product is split over rows only where cores wait for it") {
  Builder builder;
  const auto list_of = [&](int size, uint32_t cores) {
    Capabilities caps = cpu_like();
    caps.compute_units = cores;
    const Graph graph = parse_graph(columns_graph(size, size, size), builder);
    return list_text(choose_transforms(build_kernel(graph), caps));
  };
  CHECK(list_of(160, 1).find("grid.y") == std::string::npos);
  CHECK(list_of(160, 4).find("grid.y") != std::string::npos);
  CHECK(list_of(96, 4).find("grid.y") == std::string::npos);  // its panels are little work each
}

TEST_CASE("what the rules for columns and squares choose computes the same") {
  Capabilities caps = cpu_like();
  caps.l2_bytes = 1 << 10;
  for (const int rows : {0, 1, 3, 16, 21})
    for (const int n : {64, 75}) {
      CAPTURE(rows, n);
      CHECK(difference({columns_graph(rows, 70, n), {}, {}}, caps, "", true) == "");
    }
  for (const char* shape : {"32, 64", "33, 97"}) {
    const std::string flipped = shape[1] == '2' ? "64, 32" : "97, 33";
    const std::string text = fmt::format(R"(graph g(%x: f32[{0}], %y: f32[{1}]) {{
      %a = permute %x, axes=[1, 0]
      %s = add %a, %y
      return %s
    }})",
                                         shape, flipped);
    CHECK(difference({text, {}, {}}, caps, "", true) == "");
  }
}

TEST_CASE("the counter counts") {
  const size_t before = thrown;
  CHECK_THROWS(parse_transforms("soup"));
  CHECK(thrown > before);
}

TEST_CASE("a refused step leaves the tree as it was") {
  size_t applied = 0, refused = 0;
  for (const Kernel& tree : representative_trees()) {
    for (uint32_t seed = 1; seed <= 8; ++seed) {
      std::mt19937 random(seed);
      const Below below = below_of(random);
      Kernel kernel =
          random_transforms(tree, below, {.steps = 6, .vectors = true, .threads = true}).kernel;
      for (int step = 0; step < 12; ++step) {
        if (kernel.axes.empty()) break;
        const Transform t = any_transform(kernel, below);
        INFO(print(kernel) << print(kernel, {t}));
        const std::string before = all_of(kernel);
        if (const auto no = try_apply(kernel, t)) {
          CHECK(no->message.find("expected ") != std::string::npos);
          CHECK(all_of(kernel) == before);
          ++refused;
        } else {
          verify(kernel);
          ++applied;
        }
      }
    }
  }
  CHECK(refused > 500);
  CHECK(applied > 200);
}

TEST_CASE("the tree that is chosen is what its list makes, and what is lowered") {
  for (const auto& [device, capabilities] : devices()) {
    for (const auto& [name, c] : representative_cases()) {
      INFO(name << " on " << device);
      Builder builder;
      const Graph graph = parse_graph(c.graph, builder);
      const LoweredKernel kernel = lower(graph, capabilities, "", true, c.alias, c.sections);
      Kernel again = build_kernel(graph, c.alias, c.sections);
      apply_transforms(again, parse_transforms(list_text(kernel.chosen)));
      CHECK(all_of(again) == all_of(kernel.chosen.kernel));
    }
  }
}

TEST_CASE("what follows sums is written once, also where rows fill no tile") {
  const std::string text = R"(graph g(%a: f32[124, 192, 1], %b: f32[1, 192, 1920]) {
    %ae = expand %a : f32[124, 192, 1920]
    %be = expand %b : f32[124, 192, 1920]
    %p = mul %ae, %be
    %t = reduce.add %p, axes=[1]
    %s = reshape %t : f32[124, 1920]
    %y = exp %s
    return %y })";
  Builder builder;
  const LoweredKernel kernel = lower(parse_graph(text, builder), cpu_like(), "", true);
  REQUIRE(list_text(kernel.chosen).find("compute_at ") != std::string::npos);
  REQUIRE(print(kernel.chosen.kernel).find("real where") != std::string::npos);
  const std::string program = sdk::print_program(kernel.program.view());
  size_t count = 0;
  for (size_t at = 0; (at = program.find(" exp ", at)) != std::string::npos; ++at) ++count;
  INFO(print(kernel.chosen.kernel) << program);
  CHECK(count == 1);
  CHECK(difference({text, {}, {}, 1e-4}, cpu_like(), "", true) == "");
}
