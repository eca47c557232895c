// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs printed as CUDA and HIP, run by an emulator on the host, do what the scalar oracle and
// the null backend do.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstring>
#include <numeric>

#include "sdk/program/op_info.hpp"
#include "sdk/program/scalar.hpp"
#include "sdk/render/c_printer.hpp"
#include "sdk/render/cuda_dialect.hpp"
#include "sdk/render/hip_dialect.hpp"
#include "tests/sdk/gpu_kernels.hpp"
#include "tests/sdk/op_cases.hpp"
#include "tests/sdk/samples.hpp"

using namespace tenon::sdk;

namespace {

const Dialect& each_dialect() {
  const bool is_cuda = GENERATE(true, false);
  return is_cuda ? cuda_dialect() : hip_dialect();
}

}  // namespace

TEST_CASE("every elementwise op and cast as CUDA and HIP") {
  const Dialect& dialect = each_dialect();
  INFO(dialect.data().name);
  GpuKernels kernels(dialect);
  std::vector<OpCase> cases;
  for (const tn_dtype dtype : tested_dtypes()) {
    cases.push_back(elementwise_case(dtype, dialect.data().ops));
    cases.push_back(cast_case(dtype));
  }
  for (const OpCase& c : cases) kernels.add(c.program);
  kernels.build();
  for (size_t k = 0; k < cases.size(); ++k) {
    kernels.run(k, {cases[k].count, 1, 1}, cases[k].arguments());
    for (const std::string& difference : cases[k].differences(cases[k])) FAIL_CHECK(difference);
  }
}

TEST_CASE("vectors, loops and branches as CUDA and HIP agree with the interpreter") {
  const Dialect& dialect = each_dialect();
  INFO(dialect.data().name);
  NullDevice host;
  std::vector<float> x(64);
  std::iota(x.begin(), x.end(), -5.f);
  Bytes in = bytes_of(x), wide = bytes_of(std::vector<int64_t>{10}),
        index = bytes_of(std::vector<int>{63, 1, 20, 3, 9, 1000, -1, 99}),
        letters = bytes_of(std::vector<uint8_t>{1, 2, 3, 5, 8, 13, 21, 34});
  std::string shared(samples::kShared);  // the interpreter has no subgroups
  shared.erase(shared.find(" subgroup 8"), 11);
  const Program programs[] = {parsed(samples::kVectors), parsed(samples::kControl), parsed(shared)};
  GpuKernels kernels(dialect);
  for (const Program& program : programs) kernels.add(program);
  kernels.build();
  for (size_t which = 0; which < 3; ++which) {
    Bytes ours(16 * 8, 1), theirs = ours;
    const auto arguments = [&](Bytes& out) {
      if (which == 0) return std::vector<TestArgument>{{&in}, {&index}, {&out}};
      if (which == 1) return std::vector<TestArgument>{{&wide}, {&out}, {{}, 9}};
      return std::vector<TestArgument>{{&letters}, {&out}, {{}, 3}};
    };
    kernels.run(which, {1, 1, 1}, arguments(ours));
    host.run(programs[which], {1, 1, 1}, arguments(theirs));
    CHECK(ours == theirs);
  }
}

TEST_CASE("a softmax as CUDA and HIP") {
  const Dialect& dialect = each_dialect();
  GpuKernels kernels(dialect);
  kernels.add(parsed(samples::kSoftmax));
  kernels.build();
  Bytes x = bytes_of(std::vector<float>{1, 2, 3, 1, 1, 1}), y = x;
  kernels.run(0, {2, 1, 1}, {{&x}, {&y}, {nullptr, 3}});
  const auto got = values_of<float>(y);
  for (size_t row = 0; row < 2; ++row) {
    CHECK(std::abs(got[row * 3] + got[row * 3 + 1] + got[row * 3 + 2] - 1.f) < 1e-5f);
  }
  CHECK(std::abs(got[2] - 0.66524f) < 1e-4f);
}

TEST_CASE("atomics as CUDA and HIP") {
  struct Row {
    const char* kind;
    tn_dtype dtype;
    double start, value, expected;  ///< four threads do it
  };
  std::vector<Row> rows;
  for (const tn_dtype dtype :
       {TN_DTYPE_I32, TN_DTYPE_U32, TN_DTYPE_I64, TN_DTYPE_U64, TN_DTYPE_F32, TN_DTYPE_F64}) {
    rows.push_back({"add", dtype, 5, 3, 17});
    rows.push_back({"max", dtype, 5, 9, 9});
    rows.push_back({"max", dtype, 5, 2, 5});
    rows.push_back({"min", dtype, 5, 3, 3});
    rows.push_back({"exchange", dtype, 5, 3, 3});
    rows.push_back({"compare_exchange", dtype, 5, 3, 3});
  }
  const Dialect& dialect = each_dialect();
  GpuKernels kernels(dialect);
  for (const Row& row : rows) {
    const std::string type(dtype_text(row.dtype));
    const std::string value = scalar_text(from_double(row.value, row.dtype), row.dtype);
    const std::string start = scalar_text(from_double(row.start, row.dtype), row.dtype);
    kernels.add(parsed(fmt::format(
        "program p(%x: global {0} read write, %old: global {0} write) workgroup 4 1 1 {{\n"
        "  %z = const 0 : i32\n  %t = index block.x : i32\n  %v = const {1} : {0}\n"
        "  %c = const {2} : {0}\n  %o = atomic.{3}.block %x, %z, %v{4} : {0}\n"
        "  store %old, %t, %o\n}}\n",
        type, value, start, row.kind,
        std::string_view(row.kind) == "compare_exchange" ? ", %c" : "")));
  }
  kernels.build();
  for (size_t k = 0; k < rows.size(); ++k) {
    const Row& row = rows[k];
    INFO(row.kind << " " << dtype_text(row.dtype));
    const size_t size = dtype_bytes(row.dtype);
    Bytes x(size), old(4 * size);
    const uint64_t start = from_double(row.start, row.dtype);
    std::memcpy(x.data(), &start, size);
    kernels.run(k, {1, 1, 1}, {{&x}, {&old}});
    uint64_t got = 0, first = 0;
    std::memcpy(&got, x.data(), size);
    std::memcpy(&first, old.data(), size);
    CHECK(to_double(got, row.dtype) == row.expected);
    CHECK(to_double(first, row.dtype) == row.start);
  }
}

TEST_CASE("subgroups as CUDA and HIP") {
  const Dialect& dialect = each_dialect();
  GpuKernels kernels(dialect);
  kernels.add(parsed(samples::kSubgroup));
  kernels.add(parsed(
      R"(program p(%x: global i16 read align 16, %y: global i16 write align 16, %n: global i32 write) workgroup 8 2 2 subgroup 16 {
  %bx = index block.x : i32
  %by = index block.y : i32
  %bz = index block.z : i32
  %lane = index subgroup_lane : i32
  %group = index subgroup : i32
  %c16 = const 16 : i32
  %c8 = const 8 : i32
  %g = mul %group, %c16 : i32
  %thread = add %g, %lane : i32
  %z = mul %bz, %c16 : i32
  %yy = mul %by, %c8 : i32
  %zy = add %z, %yy : i32
  %at = add %zy, %bx : i32
  store %n, %at, %thread
  %c2 = const 2 : i32
  %pair = mul %at, %c2 : i32
  %v = load %x, %pair aligned : i16x2
  %sum = subgroup_reduce.add %v : i16x2
  store %y, %pair, %sum aligned
}
)"));
  kernels.build();
  std::vector<float> x(64), expected(64);
  std::iota(x.begin(), x.end(), -5.f);
  for (size_t i = 0; i < 64; ++i) expected[i] = x[i / 32 * 32 + 31] * 2;
  Bytes in = bytes_of(x), out(64 * 4);
  kernels.run(0, {1, 1, 1}, {{&in}, {&out}});
  CHECK(values_of<float>(out) == expected);

  std::vector<int16_t> pairs(64), sums(64);
  std::vector<int> order(32);
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = 0; i < 64; ++i) pairs[i] = static_cast<int16_t>(i * i);
  for (size_t i = 0; i < 64; ++i) {
    for (size_t k = 0; k < 16; ++k) {
      sums[i] = static_cast<int16_t>(sums[i] + pairs[i / 32 * 32 + k * 2 + i % 2]);
    }
  }
  Bytes short_in = bytes_of(pairs), short_out(128), numbers(128);
  kernels.run(1, {1, 1, 1}, {{&short_in}, {&short_out}, {&numbers}});
  CHECK(values_of<int16_t>(short_out) == sums);
  CHECK(values_of<int>(numbers) == order);
}

TEST_CASE("a tile through asynchronous copies as CUDA") {
  GpuKernels kernels(cuda_dialect());
  const std::string sample(samples::kMatrix);
  kernels.add(parsed(sample));
  std::string hasty = sample;  // does not wait for what it copies
  hasty.replace(hasty.find("async_wait 0"), 12, "async_wait 1");
  kernels.add(parsed(hasty));
  std::string roomy = sample;  // more shared memory than can be declared
  roomy.replace(roomy.find("f16[640]"), 8, "f16[64000]");
  kernels.add(parsed(roomy));
  kernels.build();
  std::vector<uint64_t> a(16 * 32), b(32 * 8);
  for (size_t i = 0; i < a.size(); ++i) a[i] = from_double(double(i % 7) - 3, TN_DTYPE_F16);
  for (size_t i = 0; i < b.size(); ++i) b[i] = from_double(double(i % 5) - 2, TN_DTYPE_F16);
  std::vector<float> expected(2 * 16 * 8);  // plain, then transposed
  for (size_t row = 0; row < 16; ++row) {
    for (size_t column = 0; column < 8; ++column) {
      for (size_t k = 0; k < 32; ++k) {
        expected[row * 8 + column] += 2 * float(to_double(a[row * 32 + k], TN_DTYPE_F16) *
                                                to_double(b[k * 8 + column], TN_DTYPE_F16));
      }
      expected[128 + column * 16 + row] = expected[row * 8 + column];
    }
  }
  Bytes bytes_a = bytes_of(std::vector<uint16_t>(a.begin(), a.end())),
        bytes_b = bytes_of(std::vector<uint16_t>(b.begin(), b.end()));
  for (size_t kernel = 0; kernel < 3; ++kernel) {
    Bytes c(2 * 16 * 8 * 4);
    kernels.run(kernel, {1, 1, 1}, {{&bytes_a}, {&bytes_b}, {&c}});
    CHECK((values_of<float>(c) == expected) == (kernel != 1));
  }
}

TEST_CASE("more shared memory than can be declared") {
  const Dialect& dialect = each_dialect();
  INFO(dialect.data().name);
  GpuKernels kernels(dialect);
  kernels.add(parsed(samples::kRoomy));
  kernels.build();
  std::vector<float> x(64);
  std::iota(x.begin(), x.end(), 1.f);
  Bytes in = bytes_of(x), out(in.size());
  kernels.run(0, {1, 1, 1}, {{&in}, {&out}});
  std::ranges::reverse(x);
  CHECK(values_of<float>(out) == x);
}

TEST_CASE("the emulator sees threads that do not meet and places that are not aligned") {
  GpuKernels kernels(cuda_dialect());
  ProgramBuilder apart("p");  // which the verifier refuses
  apart.workgroup(4, 1, 1);
  apart.buffer("x", TN_DTYPE_F32, TN_ACCESS_READ);
  const uint32_t thread = apart.index(TN_AXIS_BLOCK_X, TN_DTYPE_I32);
  const uint32_t two = apart.constant(TN_DTYPE_I32, 2);
  apart.begin_if(apart.op(TN_OP_CMPLT, TN_DTYPE_BOOL, 1, {thread, two}));
  apart.op(TN_OP_BARRIER, TN_DTYPE_VOID, 0, {}, TN_SCOPE_BLOCK);
  apart.end();
  kernels.add(apart.finish());
  kernels.add(parsed(R"(program q(%x: global f32 read) workgroup 1 1 1 {
  %s = param shared f32[8] align 16
  %one = const 1 : i32
  async_copy.16 %s, %one, %x, %one
}
)"));
  kernels.build();
  Bytes x(64);
  CHECK_THROWS_WITH(kernels.run(0, {1, 1, 1}, {{&x}}), "threads wait for some that never come");
  CHECK_THROWS_WITH(kernels.run(1, {1, 1, 1}, {{&x}}), "an address is not aligned");
}

TEST_CASE("the emulator sees threads that race") {
  // A tile is turned round, with a barrier of the scope between its store and its load.
  const auto turned = [](const char* barrier, int last) {
    return parsed(
        fmt::format(R"(program p(%x: global f32 read write) workgroup 64 1 1 subgroup 32 {{
  %s = param shared f32[64]
  %t = index block.x : i32
  %m = const {} : i32
  %r = xor %t, %m : i32
  %v = load %x, %t : f32
  store %s, %t, %v
{}  %w = load %s, %r : f32
  store %x, %t, %w
}}
)",
                    last, barrier));
  };
  GpuKernels kernels(cuda_dialect());
  kernels.add(turned("  barrier block\n", 63));
  kernels.add(turned("  barrier subgroup\n", 31));
  kernels.add(turned("  barrier subgroup\n", 63));
  kernels.add(turned("", 31));
  kernels.build();
  Bytes x(256);
  CHECK_NOTHROW(kernels.run(0, {1, 1, 1}, {{&x}}));
  CHECK_NOTHROW(kernels.run(1, {1, 1, 1}, {{&x}}));
  const auto shared = Catch::Matchers::ContainsSubstring("touch the same shared memory");
  CHECK_THROWS_WITH(kernels.run(2, {1, 1, 1}, {{&x}}), shared);
  CHECK_THROWS_WITH(kernels.run(3, {1, 1, 1}, {{&x}}), shared);
  // Workgroups have nothing between them.
  CHECK_THROWS_WITH(kernels.run(0, {2, 1, 1}, {{&x}}),
                    Catch::Matchers::ContainsSubstring("touch the same global memory"));
}

// docs/found has both faults alone.
TEST_CASE("what ptxas gets wrong is said in other words") {
  const Program negative = parsed(R"(program p(%x: global i16 read write) workgroup 1 1 1 {
  %i = const 0 : i32
  %v = load %x, %i : i16
  %n = neg %v : i16
  store %x, %i, %n
}
)");
  CHECK_THAT(print_source(negative.view(), cuda_dialect()),
             Catch::Matchers::ContainsSubstring("cvt.s16.s32"));
  CHECK_THAT(print_source(negative.view(), hip_dialect()),
             !Catch::Matchers::ContainsSubstring("asm"));

  // Of each: whether its second store is under a condition that its first is not under.
  const auto stores = [](const char* first, const char* second) {
    return parsed(fmt::format(
        R"(program p(%x: global f32 read write, %y: global f32 read write) workgroup 1 1 1 {{
  %i = const 0 : i32
  %v = load %x, %i : f32
  %m = cmpne %v, %v : bool
  {}
  {}
}}
)",
        first, second));
  };
  const char *plain = "store %x, %i, %v", *masked = "store %x, %i, %v, %m";
  const char* branched = "if %m {\nstore %x, %i, %v\n}";
  const std::pair<Program, bool> cases[] = {
      {stores(plain, masked), true},
      {stores(plain, branched), true},
      {stores("if %m {\nstore %x, %i, %v", "if %m {\nstore %x, %i, %v\n}\n}"), true},
      {stores("%o = const 1 : i32\n%l = loop %i, %o, %o : i32 {\nstore %x, %i, %v\n}", masked),
       true},
      {stores(plain, plain), false},
      {stores("store %x, %i, %v\nbarrier block", masked), false},
      {stores("store %y, %i, %v", masked), false},
      {stores(masked, masked), false},
      {stores(branched, masked), false},
      {stores("if %m {\nstore %x, %i, %v", "} else {\nstore %x, %i, %v\n}"), false},
  };
  for (const auto& [program, is_again] : cases) {
    const std::string cuda = print_source(program.view(), cuda_dialect());
    INFO(cuda);
    CHECK((cuda.find("volatile float") != std::string::npos) == is_again);
    CHECK_THAT(print_source(program.view(), hip_dialect()),
               !Catch::Matchers::ContainsSubstring("volatile"));
  }
}

TEST_CASE("what the GPU languages have no words for is refused") {
  CHECK_THROWS_WITH(print_source(parsed("program p(%x: global i8 read write) workgroup 1 1 1 {\n"
                                        "  %z = const 0 : i32\n  %v = const 1 : i8\n"
                                        "  %o = atomic.add.block %x, %z, %v : i8\n}\n")
                                     .view(),
                                 cuda_dialect()),
                    "cuda: has no words for atomic");
  std::string other(samples::kMatrix);
  for (const char* name : {"matrix_load.1", "matrix_multiply.1", "matrix_store.1"}) {
    for (size_t at; (at = other.find(name)) != std::string::npos;) {
      other.replace(at + std::strlen(name) - 1, 1, "99");
    }
  }
  CHECK_THROWS_WITH(print_source(parsed(other).view(), hip_dialect()),
                    "hip: has no words for matrix_load");
}
