// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/cases/abi/program_shape.hpp"

namespace tenon::conformance::abi {
namespace {

constexpr uint32_t kWorkgroups[][3] = {{4, 1, 1}, {8, 1, 1}, {3, 2, 1},  {2, 2, 2},
                                       {1, 4, 1}, {7, 1, 1}, {32, 1, 1}, {16, 2, 1}};
constexpr uint32_t kSingle[3] = {1, 1, 1};  ///< all that some devices have
constexpr uint32_t kFewGroups[][3] = {{1, 1, 1}, {2, 1, 1}, {5, 1, 1},
                                      {3, 2, 1}, {2, 2, 2}, {1, 1, 3}};
constexpr uint32_t kGrids[][3] = {{1, 1, 1}, {5, 1, 1},  {3, 2, 1}, {2, 2, 2},
                                  {1, 4, 3}, {64, 1, 1}, {9, 5, 3}, {33, 7, 1}};
constexpr uint32_t kSubgroups[] = {8, 32, 4, 16};  ///< of a software driver, of most GPUs

int64_t product(std::span<const uint32_t> axes) { return int64_t{axes[0]} * axes[1] * axes[2]; }

}  // namespace

ProgramShape draw_shape(Choices& choices, bool is_single) {
  const Choices::Scope scope(choices, Part::kDimension);
  ProgramShape out;
  const bool is_many = !is_single && choices.chance(45);
  out.workgroup = is_many ? std::span(choices.pick(kWorkgroups)) : std::span(kSingle);
  out.grid = is_many ? std::span(choices.pick(kFewGroups)) : std::span(choices.pick(kGrids));
  out.group = product(out.workgroup);
  out.threads = out.group * product(out.grid);
  if (is_many && choices.chance(30)) {
    const uint32_t subgroup = choices.pick(kSubgroups);
    if (out.workgroup[0] % subgroup == 0) out.subgroup = subgroup;
  }
  return out;
}

}  // namespace tenon::conformance::abi
