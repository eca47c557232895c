// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers: division by zero, and shifts out of range. Narrow ones are held in 32 bits.
#include "sdk/render/dialect.hpp"
#include "sdk/render/shader_helpers.hpp"

namespace tenon::sdk {
namespace {

// {0} type {1} the unsigned one {2} bits
constexpr std::string_view kSignedDivision[] = {"tn_idiv_{0}",
                                                R"(fn tn_idiv_{0}(x: {0}, y: {0}) -> {0} {
  if (y == {0}(0)) { return {0}(0); }
  if (y == {0}(-1)) { return {0}(0) - x; }
  return x / y;
}
)"};
constexpr std::string_view kUnsignedDivision[] = {"tn_idiv_{0}",
                                                  R"(fn tn_idiv_{0}(x: {0}, y: {0}) -> {0} {
  if (y == {0}(0)) { return {0}(0); }
  return x / y;
}
)"};
constexpr std::string_view kRemainder[] = {"tn_mod_{0}", R"(fn tn_mod_{0}(x: {0}, y: {0}) -> {0} {
  return x - tn_idiv_{0}(x, y) * y;
}
)"};
constexpr std::string_view kLeft[] = {"tn_shl_{0}", R"(fn tn_shl_{0}(x: {0}, y: {0}) -> {0} {
  if ({1}(y) >= {1}({2}u)) { return {0}(0); }
  return x << u32(y);
}
)"};
constexpr std::string_view kSignedRight[] = {"tn_shr_{0}", R"(fn tn_shr_{0}(x: {0}, y: {0}) -> {0} {
  if ({1}(y) >= {1}({2}u)) { return x >> {3}u; }
  return x >> u32(y);
}
)"};
constexpr std::string_view kUnsignedRight[] = {"tn_shr_{0}",
                                               R"(fn tn_shr_{0}(x: {0}, y: {0}) -> {0} {
  if (y >= {1}({2}u)) { return {0}(0); }
  return x >> u32(y);
}
)"};

}  // namespace

void add_integer_helpers(std::vector<ShaderHelper>& out, const std::string& bits) {
  const std::string last = std::to_string(std::stoi(bits) - 1);
  const auto add = [&](const std::string_view(&helper)[2], const std::string& sign) {
    const std::initializer_list<std::string> words = {sign + bits, "u" + bits, bits, last};
    out.push_back({fill_pattern(helper[0], words), fill_pattern(helper[1], words)});
  };
  add(kSignedDivision, "i");
  add(kUnsignedDivision, "u");
  for (const char* sign : {"i", "u"}) {
    add(kRemainder, sign);
    add(kLeft, sign);
  }
  add(kSignedRight, "i");
  add(kUnsignedRight, "u");
}

}  // namespace tenon::sdk
