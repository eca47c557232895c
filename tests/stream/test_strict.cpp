// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What real drivers refuse, and how the host logic gets along with it: contexts of the calling
// thread, sizes of launches, shared memory, binaries, registrations.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <thread>

#include "sdk/program/builder.hpp"
#include "tests/stream/rig.hpp"

using namespace tenon::sdk;

namespace {

/// The third of `shared` i32 in shared memory, written and read.
Program roomy_program(uint64_t shared) {
  ProgramBuilder b("roomy");
  const auto in = b.buffer("in", TN_DTYPE_I32, TN_ACCESS_READ, 4);
  const auto out = b.buffer("out", TN_DTYPE_I32, TN_ACCESS_WRITE, 4);
  const auto tile = b.allocate("tile", TN_DTYPE_I32, TN_SPACE_SHARED, shared, 16);
  const auto at = b.constant(TN_DTYPE_I32, 3), last = b.constant(TN_DTYPE_I32, shared - 1);
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {tile, last, b.op(TN_OP_TAKE, TN_DTYPE_I32, 1, {in, at})});
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, at, b.op(TN_OP_TAKE, TN_DTYPE_I32, 1, {tile, last})});
  return b.finish();
}

}  // namespace

TEST_CASE_METHOD(Fresh, "every entry point leaves the calling thread's context as it was") {
  for (const int own : {-1, 2}) {
    Double::reset();
    Double::set_current(own);  // a thread that works on another device
    const std::string before = Double::contexts();
    Rig rig;
    std::vector<std::string> changed;
    const auto unchanged = [&](const char* what) {
      if (Double::contexts() != before) changed.emplace_back(what);
    };
    StreamDevice& device = rig.device(0);
    unchanged("open");
    StreamDevice& other = rig.device(1);
    {
      const auto a = device.allocate(kDeviceSpace, 64), host = device.allocate(kPinnedSpace, 64);
      unchanged("allocate");
      std::vector<int32_t> bytes(16);
      const auto import = device.import_host(kPinnedSpace, bytes.data(), 64);
      unchanged("import");
      const auto add = compiled(rig, device, add_program(16, 1));
      unchanged("compile");
      const auto timeline = device.make_timeline(0), gate = other.make_timeline(0);
      const auto there = other.make_timeline(0);
      Work().launch(*add, *a, *a).signal(*timeline, 1).submit(device);
      unchanged("submit");
      Work().fill(*host, 0, 64, 1, 4).wait(*gate, 1).signal(*there, 1).submit(other);
      gate->signal(1);  // starts work of another device
      unchanged("signal");
      const auto graph = Work().launch(*add, *a, *a).record(device);
      unchanged("record");
      Work().wait(*timeline, 1).signal(*timeline, 2).launch_graph(*graph);
      unchanged("launch");
      timeline->query();
      unchanged("query");
      CHECK(status_of([&] { timeline->wait(3, 1000); }) == TN_ERROR_TIMEOUT);
      unchanged("wait, too short");
      timeline->wait(2, kForEver);
      there->wait(1, kForEver);
      unchanged("wait");
      CHECK(device.can_copy_from(other));
      unchanged("can_copy");
      host->map(0, 64);
      unchanged("map");
      std::thread([&] {
        timeline->query();
        CHECK(Double::contexts().empty());
      }).join();
    }
    unchanged("destroy");
    rig.close();
    unchanged("close");
    CHECK(changed == std::vector<std::string>());
    rig.check();
  }
}

TEST_CASE_METHOD(Fresh, "what the double refuses of a launch, as drivers do") {
  const auto driver = open_double_driver();
  const auto compiler = open_double_compiler(0);
  REQUIRE(driver->retain(0) == 0);
  {
    const ActiveDevice active(*driver, 0);
    const StreamApi& api = driver->api();
    StreamCode code;
    compiler->compile(add_program(4, 1).view(), code);
    ApiStream* stream = nullptr;
    ApiModule* module = nullptr;
    ApiFunction* function = nullptr;
    REQUIRE(api.stream_create(&stream, 1) == 0);
    REQUIRE(api.module_load(&module, code.binary.data()) == 0);
    REQUIRE(api.module_function(&function, module, "kernel_add") == 0);
    uint64_t in = 0, out = 0;
    REQUIRE(api.memory_allocate(&in, 16) == 0);
    REQUIRE(api.memory_allocate(&out, 16) == 0);
    void* arguments[] = {&in, &out};
    const auto launch = [&](unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by,
                            unsigned bz, unsigned shared) {
      return api.launch(function, x, y, z, bx, by, bz, shared, stream, arguments, nullptr);
    };
    const bool is_hip = Double::is_hip();
    CHECK(launch(1, 1, 1, 1, 1, 1, 0) == 0);
    CHECK(launch(0, 1, 1, 1, 1, 1, 0) != 0);
    CHECK(launch(0x80000000, 1, 1, 1, 1, 1, 0) != 0);
    CHECK(launch(1, 65536, 1, 1, 1, 1, 0) != 0);
    CHECK(launch(1, 1, 1, 1025, 1, 1, 0) != 0);
    CHECK(launch(1, 1, 1, 64, 32, 1, 0) != 0);
    CHECK((launch(1, 1, 1, 1, 1, 65, 0) == 0) == is_hip);
    CHECK(launch(1, 1, 1, 1, 1, 1, 48 << 10) == 0);
    CHECK((launch(1, 1, 1, 1, 1, 1, 64 << 10) == 0) == is_hip);
    CHECK(launch(1, 1, 1, 1, 1, 1, (64 << 10) + 1) != 0);
    // 2^32 threads along an axis.
    StreamLimits limits;
    if (is_hip) limits.axis_threads = UINT32_MAX;
    const uint32_t most = most_workgroups(limits, 0);
    CHECK(launch(most, 1, 1, 1024, 1, 1, 0) == 0);
    CHECK((launch(1 << 22, 1, 1, 1024, 1, 1, 0) == 0) == !is_hip);
    if (!is_hip) {
      CHECK(api.function_set_attribute(function, kApiFunctionDynamicShared, 100 << 10) != 0);
      CHECK(api.function_set_attribute(function, kApiFunctionDynamicShared, 99 << 10) == 0);
      CHECK(launch(1, 1, 1, 1, 1, 1, 99 << 10) == 0);
    }
    CHECK(Double::violations().empty());
    // Nothing of it has run, and nothing will.
    api.memory_free(in);
    api.memory_free(out);
    api.module_unload(module);
    api.stream_destroy(stream);
  }
  driver->release(0);
  CHECK(Double::leftovers().empty());
  Double::reset();
}

TEST_CASE_METHOD(Fresh, "shared memory beyond what a kernel may declare is asked for") {
  Rig rig;
  StreamDevice& device = rig.device();
  const uint32_t most = device.properties().max_shared_bytes;
  CHECK(most == (Double::is_hip() ? 64u << 10 : 99u << 10));
  for (const uint64_t bytes : {uint64_t{48} << 10, uint64_t{50} << 10, uint64_t{most}}) {
    INFO(bytes);
    const auto host = device.allocate(kPinnedSpace, 16), out = device.allocate(kPinnedSpace, 16);
    static_cast<int32_t*>(host->map(0, 16))[3] = 42;
    const auto timeline = device.make_timeline(0);
    const auto roomy = compiled(rig, device, roomy_program(bytes / 4));
    Work().launch(*roomy, *host, *out).signal(*timeline, 1).submit(device);
    timeline->wait(1, kForEver);
    CHECK(static_cast<int32_t*>(out->map(0, 16))[3] == 42);
  }
  rig.check();
}

TEST_CASE_METHOD(Fresh, "binaries for a newer driver or another GPU are incompatible") {
  Rig rig;
  StreamDevice& device = rig.device();
  const Program program = add_program(4, 1);
  Double::set_versions(12040, 12080, 80);  // minor versions get along
  CHECK_NOTHROW(compiled(rig, device, program));
  Double::set_versions(12040, 13000, 80);
  CHECK(status_of([&] { compiled(rig, device, program); }) == TN_ERROR_INCOMPATIBLE);
  Double::set_versions(12040, 12040, 90);
  CHECK(status_of([&] { compiled(rig, device, program); }) == TN_ERROR_INCOMPATIBLE);
  rig.check();
}

TEST_CASE_METHOD(Fresh, "host memory is registered once") {
  Rig rig;
  StreamDevice& device = rig.device();
  std::vector<int32_t> own(64);
  {
    const auto first = device.import_host(kPinnedSpace, own.data(), 128);
    CHECK(status_of([&] { device.import_host(kPinnedSpace, own.data(), 128); }) ==
          TN_ERROR_UNSUPPORTED);
    CHECK(status_of([&] { device.import_host(kPinnedSpace, own.data() + 16, 128); }) ==
          TN_ERROR_UNSUPPORTED);
    CHECK_NOTHROW(device.import_host(kPinnedSpace, own.data() + 32, 128));
  }
  CHECK_NOTHROW(device.import_host(kPinnedSpace, own.data(), 128));
  rig.check();
}
