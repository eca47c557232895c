// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds helper names in the text, instantiates families, and orders helpers by dependency.
#include "sdk/render/gpu_prelude.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sdk/program/op_info.hpp"
#include "sdk/program/view.hpp"
#include "sdk/render/gpu_types.hpp"

namespace tenon::sdk {
namespace {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string instance(std::string_view family, uint8_t dtype) {
  const uint32_t bits = dtype_bytes(dtype) * 8;
  std::string text = replaced(std::string(family), "{n}", dtype_text(dtype));
  text = replaced(text, "{t}", gpu_type(dtype));
  text = replaced(text, "{bits}", std::to_string(bits));
  if (is_narrow_float(dtype)) {
    const NarrowFormat& f = dtype_info(dtype)->format;
    text = replaced(text, "{sign}", fmt::format("{:#x}u", f.sign));
    text = replaced(text, "{m}", std::to_string(f.mantissa_bits));
    text = replaced(text, "{bias}", std::to_string(f.bias));
    text = replaced(text, "{most}", fmt::format("{:#x}", f.max_finite));
    text = replaced(text, "{over}", fmt::format("{:#x}", f.overflow));
    text = replaced(text, "{nan}", fmt::format("{:#x}", f.quiet_nan));
  }
  if (!is_integer(dtype)) return text;
  text = replaced(text, "{u}", bits == 64 ? "unsigned long long" : "unsigned");
  const uint64_t ones = ~uint64_t{0} >> (64 - bits);
  text = replaced(text, "{least}", is_signed(dtype) ? gpu_integer(ones / 2 + 1, dtype) : "0");
  return replaced(text, "{most}", gpu_integer(is_signed(dtype) ? ones / 2 : ones, dtype));
}

class HelperPicker {
 public:
  explicit HelperPicker(std::span<const GpuHelper> own) : own_(own) {}

  void pick_from(std::string_view text) {
    for (size_t at = text.find("tn_"); at != text.npos; at = text.find("tn_", at)) {
      size_t end = at;
      while (end < text.size() && is_name_character(text[end])) ++end;
      const bool is_whole = at == 0 || !is_name_character(text[at - 1]);
      if (is_whole) pick(text.substr(at, end - at));
      at = end;
    }
  }
  std::string take() { return std::move(out_); }

 private:
  std::string_view row(std::string_view name) const {
    for (const auto table : {own_, common_gpu_helpers()}) {
      const auto at = std::ranges::find(table, name, &GpuHelper::name);
      if (at != table.end()) return at->text;
    }
    return {};
  }

  std::string definition(std::string_view name) const {
    if (const auto text = row(name); text.data()) return std::string(text);
    const size_t cut = name.rfind('_');
    const uint8_t dtype = dtype_by_text(name.substr(cut + 1));
    if (dtype == TN_DTYPE_VOID) return {};
    const std::string_view stem = name.substr(0, cut);
    const auto own = is_narrow_float(dtype) ? row(fmt::format("{}_{{f}}", stem)) : "";
    return instance(own.empty() ? row(fmt::format("{}_{{}}", stem)) : own, dtype);
  }

  void pick(std::string_view name) {
    if (!picked_.emplace(name).second) return;
    const std::string text = definition(name);
    pick_from(text);
    out_ += text;
  }

  std::span<const GpuHelper> own_;
  std::set<std::string, std::less<>> picked_;
  std::string out_;
};

}  // namespace

std::string used_gpu_helpers(std::string_view kernel, std::span<const GpuHelper> own) {
  HelperPicker picker(own);
  picker.pick_from(kernel);
  return picker.take();
}

}  // namespace tenon::sdk
