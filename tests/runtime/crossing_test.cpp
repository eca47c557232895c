// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two devices and more in one context: copies that nobody waits for, failures that stay where they
// belong, and random graphs over several devices.
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <random>
#include <thread>

#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

RuntimeOptions options_of(const std::string& devices) {
  RuntimeOptions options = options_for(devices, "fake");
  for (const char* name : {"null", "cpu", "disk"})
    if (fs::exists(plugin_file(name))) options.plugins.push_back(plugin_file(name));
  return options;
}

uint64_t copy_all(const BufferRef& from, const BufferRef& to) {
  return to->device().copy(*from, 0, *to, 0, to->size());
}

ExecutableRef kernel(Device& device, const char* name) {
  return device.compile(*named_program(name).get());
}

/// While it is closed, no submission of a fake device with gated=1 begins, and waits for one fail.
class Gate {
 public:
  explicit Gate(const Device& device)
      : is_closed_(*static_cast<uint64_t*>(
            const_cast<void*>(device.plugin().get_extension("org.tenon.fake.gate")))) {
    is_closed_.store(1);
  }
  ~Gate() { open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  void open() { is_closed_.store(0); }

 private:
  std::atomic_ref<uint64_t> is_closed_;
};

}  // namespace

TEST_CASE("a copy waits for its source, and nobody for the copy") {
  for (const auto& [from, to] : {std::pair{"fake:0", "fake:1"}, std::pair{"fake:1", "fake:2"},
                                 std::pair{"fake:2", "fake:0"}}) {
    CAPTURE(from, to);
    // The asynchronous fake device runs in submit: only the others can be held up.
    const std::string gated = std::string(from) == "fake:1" ? "" : "@gated=1";
    Runtime runtime(options_of(std::string(from) + gated + "," + to));
    Device& source = runtime.device(from);
    Device& target = runtime.device(to);
    const ExecutableRef fill = kernel(source, "fill7");
    BufferRef a = filled(source, 5 << 20, 1);
    const BufferRef b = target.allocate(5 << 20), c = target.allocate(64);
    launch(fill, filled(source, 64, 1));  // each device's first launch is waited for
    const ExecutableRef fill_target = kernel(target, "fill7");
    launch(fill_target, c);
    Gate gate(source);
    launch(fill, a);
    copy_all(a, b);
    launch(fill_target, c);
    a.reset();  // kept by the copy
    const BufferRef next = source.allocate(5 << 20);
    gate.open();
    CHECK(contents(b) == std::vector<uint8_t>(5 << 20, 7));
    CHECK(contents(c) == std::vector<uint8_t>(64, 7));
  }
}

TEST_CASE("independent work of the source goes on while a copy waits for the target") {
  Runtime runtime(options_of("fake:0,fake:2@gated=1"));
  Device& source = runtime.device("fake:0");
  Device& target = runtime.device("fake:2");
  const BufferRef a = filled(source, 64, 3), b = target.allocate(64), c = target.allocate(64);
  const ExecutableRef fill = kernel(target, "fill7");
  launch(fill, c);  // the first one is waited for
  Gate gate(target);
  launch(fill, c);
  copy_all(a, b);  // after it
  const BufferRef d = source.allocate(64);
  launch(kernel(source, "fill7"), d);
  CHECK(contents(d)[0] == 7);
  // A write to a buffer that is being read waits for the copy.
  const std::jthread opens([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.open();
  });
  const std::vector<uint8_t> nines(64, 9);
  source.write(*a, 0, nines.data(), 64);
  CHECK(contents(b)[0] == 3);
}

TEST_CASE("a failure travels with the copy, and both devices go on") {
  for (const std::string from : {"fake:0", "fake:1"}) {
    const std::string to = from == "fake:0" ? "fake:1" : "fake:0";
    CAPTURE(from);
    Runtime runtime(options_of(from + "," + to));
    Device& source = runtime.device(from);
    Device& target = runtime.device(to);
    for (int i = 0; i < 3; ++i) {
      const BufferRef bad = filled(source, 64, 1), there = target.allocate(64);
      launch(kernel(source, "broken"), bad);
      copy_all(bad, there);
      CHECK(has(error_of([&] { contents(there); }), "[submit] " + from));
      const BufferRef good = filled(source, 64, 1), well = target.allocate(64);
      launch(kernel(source, "fill7"), good);
      copy_all(good, well);
      launch(kernel(target, "fill7"), target.allocate(64));
      CHECK(contents(well) == std::vector<uint8_t>(64, 7));
    }
    source.synchronize();
    target.synchronize();
  }
}

TEST_CASE("a lost device takes nobody with it") {
  for (const std::string lost : {"fake:0", "fake:1"}) {
    CAPTURE(lost);
    Runtime runtime(options_of(lost + "@lose=1,null"));
    Device& gone = runtime.device(lost);
    Device& other = runtime.device("null");
    const BufferRef a = filled(other, 64, 1), b = gone.allocate(64), c = other.allocate(64);
    launch(kernel(gone, "fill7"), b);
    ErrorKind kind{};
    error_of(
        [&] {
          copy_all(b, c);
          contents(c);
        },
        &kind);
    CHECK(kind == ErrorKind::kDeviceLost);
    for (int i = 0; i < 2; ++i) {
      CHECK(has(error_of([&] { copy_all(b, c); }, &kind), "[submit] " + lost));
      CHECK(kind == ErrorKind::kDeviceLost);
      CHECK(has(error_of([&] { copy_all(a, b); }), "[submit] " + lost));
      // Graphs on the other device still run, in the same runtime.
      Builder& build = runtime.builder();
      Graph graph;
      graph.params = {build.param("x", DType::kI32, {Expr(4)})};
      graph.outputs = {build.binary(Op::ADD, graph.params[0], graph.params[0])};
      graph.output_names = {""};
      Array x = Array::zeros(DType::kI32, {4});
      x.set(2, Scalar::of_int(DType::kI32, 21));
      const auto results = runtime.run(graph, std::vector<Array>{x}, {}, "null");
      CHECK(results[0].at(2) == Scalar::of_int(DType::kI32, 42));
    }
  }
}

TEST_CASE("devices that copy to each other from several threads come to an end") {
  Runtime runtime(options_of("fake:0,fake:1,fake:2"));
  std::atomic<int> wrong{0};
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      const auto device = [&]() -> Device& {
        return runtime.device("fake:" + std::to_string(random() % 3));
      };
      BufferRef at = filled(device(), 70'000, static_cast<uint8_t>(t));
      for (int i = 0; i < 300; ++i) {
        const BufferRef next = device().allocate(at->size());
        copy_all(at, next);
        at = next;
      }
      wrong += contents(at) != std::vector<uint8_t>(70'000, static_cast<uint8_t>(t));
    });
  }
  threads.clear();
  CHECK(wrong == 0);
}

namespace {

/// Whole numbers, movement and reductions over `devices`, a copy on every third edge.
Graph random_graph(Builder& build, std::mt19937& random, const std::vector<std::string>& devices) {
  Graph graph;
  graph.name = "random";
  const Shape shape{Expr(6), Expr(5)};
  for (const char* name : {"a", "b", "c"})
    graph.params.push_back(build.param(name, DType::kI64, shape));
  std::vector<NodeRef> nodes = graph.params;
  const auto any = [&] {
    NodeRef node = nodes[random() % nodes.size()];
    return random() % 3 ? node : build.copy(node, devices[random() % devices.size()]);
  };
  for (int i = 0; i < 14; ++i) {
    NodeRef x = any();
    const auto first = static_cast<int64_t>(random() % 5);
    switch (random() % 5) {
      case 0:
        x = build.reduce(Op::ADD, x, {static_cast<int>(random() % 2)});
        x = build.expand(x, shape);
        break;
      case 1:
        x = build.expand(build.shrink(x, {{Dim(first), Dim(first + 1)}, {Dim(0), Dim(5)}}), shape);
        break;
      case 2:
        x = build.reshape(build.permute(x, {1, 0}), shape);
        break;
      default:
        x = build.binary(random() % 2 ? Op::ADD : Op::SUB, x, any());
    }
    nodes.push_back(x);
  }
  for (int o = 0; o < 3; ++o) {
    graph.outputs.push_back(nodes[nodes.size() - 1 - random() % 6]);
    graph.output_names.emplace_back();
  }
  return graph;
}

}  // namespace

TEST_CASE("random graphs over several devices are right") {
  const char* more = std::getenv("TENON_MUTATIONS");
  const int count = more ? std::atoi(more) / 100 : 40;
  const TempFolder folder;
  std::vector<std::string> selectors{"null,disk:" + folder.path.string()};
  if (fs::exists(plugin_file("cpu"))) selectors = {"cpu," + selectors[0], selectors[0] + ",cpu"};
  for (const std::string& selector : selectors) {
    CAPTURE(selector);
    Runtime runtime(options_of(selector));
    std::vector<std::string> all, computing;
    for (const auto& device : runtime.devices()) {
      all.push_back(device->id());
      if (device->capabilities().compute) computing.push_back(device->id());
    }
    std::mt19937 random(3);
    for (int i = 0; i < count; ++i) {
      CAPTURE(i);
      const Graph graph = random_graph(runtime.builder(), random, i % 2 ? all : computing);
      std::vector<Array> inputs(3, Array::zeros(DType::kI64, {6, 5}));
      std::vector<BufferRef> buffers;
      for (Array& input : inputs) {
        for (int64_t k = 0; k < 30; ++k)
          input.set(k, Scalar::of_int(DType::kI64, static_cast<int64_t>(random() % 1000)));
        Device& device = runtime.device(all[random() % all.size()]);
        buffers.push_back(device.allocate(input.bytes.size()));
        device.write(*buffers.back(), 0, input.bytes.data(), input.bytes.size());
      }
      const std::vector<Array> expected = evaluate(graph, inputs);
      for (int again = 0; again < 2; ++again) {
        const auto got = runtime.run(graph, buffers);
        for (size_t o = 0; o < got.size(); ++o) CHECK(contents(got[o]) == expected[o].bytes);
      }
    }
  }
}
