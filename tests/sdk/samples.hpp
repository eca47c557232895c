// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs in text form that the tests of the sdk share; each is in canonical form.
#pragma once

#include <string_view>

namespace tenon::sdk::samples {

inline constexpr std::string_view kSoftmax =
    R"(program softmax(%x: global f32 read noalias, %y: global f32 read write noalias, %n: i32 in [1, 4096]) workgroup 1 1 1 {
  %3 = index grid.x : i32
  %4 = mul %3, %n no_wrap : i32
  %5 = const 0 : i32
  %6 = const 1 : i32
  %7 = const -inf : f32
  %8 = const 0.0 : f32
  %9 = const 1.442695 : f32
  %10 = const -1.0 : f32
  %11 = loop %5, %n, %6 : i32 {
    %12 = carry %7 : f32
    %13 = add %4, %11 : i32
    %14 = load %x, %13 : f32
    %15 = max %12, %14 : f32
    end %15
  }
  %17 = loop %5, %n, %6 : i32 {
    %18 = carry %8 : f32
    %19 = add %4, %17 : i32
    %20 = load %x, %19 : f32
    %21 = mul %12, %10 : f32
    %22 = add %20, %21 contract : f32
    %23 = mul %22, %9 : f32
    %24 = exp2 %23 approximate : f32
    store %y, %19, %24
    %26 = add %18, %24 : f32
    end %26
  }
  %28 = recip %18 : f32
  %29 = loop %5, %n, %6 unroll : i32 {
    %30 = add %4, %29 : i32
    %31 = load %y, %30 : f32
    %32 = mul %31, %28 : f32
    store %y, %30, %32 stream
  }
}
)";

inline constexpr std::string_view kVectors =
    R"(program vectors(%x: global f32[64] read align 64, %i: constant i32[8] read, %y: global f32[16] write) workgroup 1 1 1 {
  %3 = const 0 : i32
  %4 = load %x, %3 aligned : f32x8
  %5 = index lane : i32x8
  %6 = const 5 : i32x8
  %7 = cmplt %5, %6 : boolx8
  %8 = load %i, %3 : i32x8
  %9 = const -2.5 : f32x8
  %10 = load %x, %8, %7, %9 : f32x8
  %11 = add %4, %10 : f32x8
  %12 = where %7, %11, %9 : f32x8
  store %y, %3, %12, %7
  %14 = lane_reduce.add %12 : f32
  %15 = extract %12, 6 : f32
  %16 = compose %14, %15 : f32x2
  %17 = const 8 : i32
  store %y, %17, %16
  %19 = broadcast %14 : f32x4
  %20 = const 12 : i32
  store %y, %20, %19
}
)";

inline constexpr std::string_view kControl =
    R"(program control(%x: global i64 read, %y: global i64 write, %n: i64 in [0, 1000]) workgroup 1 1 1 {
  %3 = const 0 : i64
  %4 = const 1 : i64
  %5 = const 100 : i64
  %6 = const 3 : i64
  %7 = load %x, %3 : i64
  %8 = loop %3, %n, %4 while : i64 {
    %9 = carry %7 : i64
    %10 = carry %3 : i64
    %11 = mod %9, %6 : i64
    %12 = cmpne %11, %3 : bool
    if %12 {
      store %y, %8, %11
    } else {
      %16 = idiv %9, %6 : i64
      store %y, %8, %16
    }
    %19 = add %9, %4 : i64
    %20 = add %10, %9 : i64
    %21 = cmplt %20, %5 : bool
    end %19, %20, %21
  }
  store %y, %n, %9
  %24 = add %n, %4 : i64
  store %y, %24, %10
}
)";

inline constexpr std::string_view kShared =
    R"(program reverse(%x: global u8 read, %y: global u8 write, %total: u32 in [0, 9]) workgroup 4 2 1 subgroup 8 {
  %tile = param shared u8[8] align 16
  %mine = param register f16[3]
  %5 = index block.x : i32
  %6 = index block.y : i32
  %7 = const 4 : i32
  %8 = mul %6, %7 : i32
  %9 = add %8, %5 : i32
  %10 = load %x, %9 : u8
  store %tile, %9, %10
  barrier block
  %13 = const 7 : i32
  %14 = const -1 : i32
  %15 = mul %9, %14 : i32
  %16 = add %13, %15 : i32
  %17 = load %tile, %16 : u8
  %18 = cast %17 : f16
  %19 = const 0 : i32
  store %mine, %19, %18
  %21 = load %mine, %19 : f16
  %22 = cast.bits %21 : i16
  %23 = cast.bits %22 : f16
  %24 = cast %23 : u8
  store %y, %9, %24
  %scratch = param scratch f64[5]
}
)";

inline constexpr std::string_view kAtomic =
    R"(program count(%x: global i32 read write, %f: f32) workgroup 8 1 1 {
  %2 = const 0 : i32
  %3 = const 1 : i32
  %4 = atomic.add.block %x, %2, %3 : i32
  %5 = atomic.compare_exchange.subgroup %x, %3, %4, %2 : i32
  %6 = index subgroup_lane : i32
  barrier subgroup
}
)";

inline constexpr std::string_view kConstants = R"(program constants() workgroup 1 1 1 {
  %0 = const true : bool
  %1 = const -128 : i8
  %2 = const 65535 : u16
  %3 = const -9223372036854775808 : i64
  %4 = const 18446744073709551615 : u64
  %5 = const 0.0999755859375 : f16
  %6 = const -0.0 : bf16
  %7 = const nan : f32
  %8 = const nan(0x7fc00001) : f32
  %9 = const 1e-45 : f32
  %10 = const 5e-324 : f64
  %11 = const 448.0 : f8e4m3
  %12 = const -inf : f8e5m2x3
}
)";

inline constexpr std::string_view kSubgroup =
    R"(program subgroups(%x: global f32 read, %y: global f32 write) workgroup 64 1 1 subgroup 32 {
  %2 = index block.x : i32
  %3 = index subgroup_lane : i32
  %4 = load %x, %2 : f32
  %5 = const 1 : i32
  %6 = xor %3, %5 : i32
  %7 = subgroup_shuffle %4, %6 : f32
  %8 = subgroup_reduce.max %7 : f32
  %9 = subgroup_broadcast %4, 31 : f32
  %10 = add %8, %9 : f32
  store %y, %2, %10
}
)";

/// c[16 x 8] = a[16 x 32] * b[32 x 8] by one CUDA subgroup, a through shared memory.
inline constexpr std::string_view kMatrix =
    R"(program tile(%a: global f16 read align 16, %b: global f16 read align 16, %c: global f32 write align 16) workgroup 32 1 1 subgroup 32 {
  %s = param shared f16[640] align 16
  %4 = index block.x : i32
  %5 = const 0 : i32
  %6 = const 2 : i32
  %7 = const 8 : i32
  %8 = const 1 : i32
  %9 = loop %5, %6, %8 unroll : i32 {
    %10 = const 32 : i32
    %11 = mul %9, %10 : i32
    %12 = add %11, %4 : i32
    %13 = const 2 : i32
    %14 = shr %12, %13 : i32
    %15 = const 3 : i32
    %16 = and %12, %15 : i32
    %17 = mul %16, %7 : i32
    %18 = const 40 : i32
    %19 = mul %14, %18 : i32
    %20 = add %19, %17 : i32
    %21 = mul %14, %10 : i32
    %22 = add %21, %17 : i32
    async_copy.16 %s, %20, %a, %22
  }
  async_commit
  async_wait 0
  barrier block
  %28 = const 0.0 : f32x4
  %29 = const 32 : i32
  %30 = const 16 : i32
  %31 = const 40 : i32
  %32 = loop %5, %29, %30 : i32 {
    %33 = carry %28 : f32x4
    %34 = matrix_load.1.a %s, %32, %31 : f16x8
    %35 = mul %32, %7 : i32
    %36 = matrix_load.1.b %b, %35, %7 : f16x4
    %37 = matrix_multiply.1 %34, %36, %33 : f32x4
    end %37
  }
  %39 = const 2.0 : f32x4
  %40 = mul %33, %39 : f32x4
  matrix_store.1.c %c, %5, %7, %40
  %42 = const 128 : i32
  matrix_store.1.c.transposed %c, %42, %30, %40
}
)";

/// y = x backwards, over 64 KiB of shared memory: more than CUDA lets a kernel declare.
inline constexpr std::string_view kRoomy =
    R"(program roomy(%x: global f32 read, %y: global f32 write) workgroup 64 1 1 {
  %s = param shared f32[16384] align 16
  %3 = index block.x : i32
  %4 = load %x, %3 : f32
  %5 = const 255 : i32
  %6 = mul %3, %5 : i32
  store %s, %6, %4
  barrier block
  %9 = const 63 : i32
  %10 = const -1 : i32
  %11 = mul %3, %10 : i32
  %12 = add %9, %11 : i32
  %13 = mul %12, %5 : i32
  %14 = load %s, %13 : f32
  store %y, %3, %14
}
)";

/// Vectors of narrow floats.
inline constexpr std::string_view kHalves =
    R"(program halves(%x: global f16 read align 16, %y: global f16 write align 16, %z: global bf16 read write align 16) workgroup 32 1 1 {
  %3 = index block.x : i32
  %4 = const 8 : i32
  %5 = mul %3, %4 : i32
  %6 = load %x, %5 : f16x8
  %7 = const 1.5 : f16x8
  %8 = mul %6, %7 : f16x8
  %9 = neg %8 : f16x8
  %10 = max %9, %6 : f16x8
  store %y, %5, %10
  %12 = load %z, %5 : bf16x8
  %13 = neg %12 : bf16x8
  %14 = cast %6 : bf16x8
  %15 = add %13, %14 : bf16x8
  store %z, %5, %15
}
)";

inline constexpr std::string_view kAll[] = {kSoftmax,   kVectors,  kControl, kShared, kAtomic,
                                            kConstants, kSubgroup, kMatrix,  kRoomy,  kHalves};

/// A loop whose last step would leave the dtype. Its names are not canonical, so kAll lacks it.
inline constexpr std::string_view kStepsToTheEnd =
    R"(program steps(%y: global i32 write) workgroup 1 1 1 {
  %0 = const 2147483000 : i32
  %1 = const 2147483647 : i32
  %2 = const 500 : i32
  %3 = const 0 : i32
  %4 = const 1 : i32
  %i = loop %0, %1, %2 : i32 {
    %a = carry %3 : i32
    %b = carry %4 : i32
    %next = add %a, %b : i32
    end %b, %next
  }
  store %y, %3, %a
  store %y, %4, %b
}
)";

}  // namespace tenon::sdk::samples
