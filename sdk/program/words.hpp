// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The keywords of the text form, shared by printer and parser.
#pragma once

#include <cstdint>
#include <string_view>

#include "tenon/program.h"

namespace tenon::sdk::words {

struct Word {
  uint32_t value;
  std::string_view text;
};

inline constexpr Word kFlags[] = {{TN_OP_CONTRACT, "contract"}, {TN_OP_APPROXIMATE, "approximate"},
                                  {TN_OP_STREAM, "stream"},     {TN_OP_UNROLL, "unroll"},
                                  {TN_OP_WHILE, "while"},       {TN_OP_ALIGNED, "aligned"},
                                  {TN_OP_NO_WRAP, "no_wrap"}};

inline constexpr Word kAxes[] = {{TN_AXIS_GRID_X, "grid.x"},
                                 {TN_AXIS_GRID_Y, "grid.y"},
                                 {TN_AXIS_GRID_Z, "grid.z"},
                                 {TN_AXIS_BLOCK_X, "block.x"},
                                 {TN_AXIS_BLOCK_Y, "block.y"},
                                 {TN_AXIS_BLOCK_Z, "block.z"},
                                 {TN_AXIS_LANE, "lane"},
                                 {TN_AXIS_SUBGROUP, "subgroup"},
                                 {TN_AXIS_SUBGROUP_LANE, "subgroup_lane"},
                                 {TN_AXIS_CPU_THREAD, "cpu_thread"}};

inline constexpr Word kSpaces[] = {{TN_SPACE_GLOBAL, "global"},
                                   {TN_SPACE_CONSTANT, "constant"},
                                   {TN_SPACE_SHARED, "shared"},
                                   {TN_SPACE_REGISTER, "register"},
                                   {TN_SPACE_SCRATCH, "scratch"}};

inline constexpr Word kAccess[] = {
    {TN_ACCESS_READ, "read"}, {TN_ACCESS_WRITE, "write"}, {TN_ACCESS_NOALIAS, "noalias"}};

inline constexpr Word kScopes[] = {{TN_SCOPE_SUBGROUP, "subgroup"}, {TN_SCOPE_BLOCK, "block"}};

inline constexpr Word kAtomics[] = {{TN_ATOMIC_ADD, "add"},
                                    {TN_ATOMIC_MIN, "min"},
                                    {TN_ATOMIC_MAX, "max"},
                                    {TN_ATOMIC_EXCHANGE, "exchange"},
                                    {TN_ATOMIC_COMPARE_EXCHANGE, "compare_exchange"}};

inline constexpr Word kRoles[] = {
    {TN_MATRIX_A >> 32, "a"}, {TN_MATRIX_B >> 32, "b"}, {TN_MATRIX_C >> 32, "c"}};

template <class Words>
std::string_view text_of(const Words& words, uint64_t value) {
  for (const Word& word : words) {
    if (word.value == value) return word.text;
  }
  return "?";
}

/// Null if the word is unknown.
template <class Words>
const Word* find(const Words& words, std::string_view text) {
  for (const Word& word : words) {
    if (word.text == text) return &word;
  }
  return nullptr;
}

}  // namespace tenon::sdk::words
