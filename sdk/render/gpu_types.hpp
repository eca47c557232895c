// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types and literals of CUDA C++ and HIP C++, without headers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::sdk {

/// The type of variables and memory. f16, bf16 and f8 are stored as bits.
std::string_view gpu_type(uint8_t dtype);
/// A literal of an integer dtype from its bits.
std::string gpu_integer(uint64_t bits, uint8_t dtype);
/// A literal of any dtype from its bits.
std::string gpu_literal(uint64_t bits, uint8_t dtype);
/// Casts as ops.def defines them, and bit casts.
std::string gpu_cast(const std::string& value, uint8_t from, uint8_t to);
std::string gpu_bit_cast(const std::string& value, uint8_t from, uint8_t to);

}  // namespace tenon::sdk
