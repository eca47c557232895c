// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/wgsl/harness.hpp"

#include <fmt/format.h>

namespace tenon::wgsl_test {

const tn_plugin& plugin() {
  static const tn_plugin& loaded = load_plugin(TENON_BINARY_DIR "/lib/tenon/libtenon_wgsl.so");
  return loaded;
}

sdk::Program scaled_program(uint32_t threads) {
  const std::string text = fmt::format(
      R"(program scaled(%x: global f32 read, %y: global f32 write, %n: i32 in [0, 1000], %count: i32 in [0, 1000]) workgroup {0} 1 1 {{
  %4 = index grid.x : i32
  %5 = index block.x : i32
  %6 = const {0} : i32
  %7 = mul %4, %6 : i32
  %8 = add %7, %5 : i32
  %9 = cmplt %8, %count : bool
  if %9 {{
    %11 = load %x, %8 : f32
    %12 = add %11, %11 : f32
    %13 = cast %n : f32
    %14 = add %12, %13 : f32
    store %y, %8, %14
  }}
}}
)",
      threads);
  return parsed(text);
}

Bytes floats(std::initializer_list<float> values) { return bytes_of(std::vector<float>(values)); }

Bytes counting(size_t size, unsigned first) {
  Bytes bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(first + i * 7 + i / 256);
  return bytes;
}

}  // namespace tenon::wgsl_test
