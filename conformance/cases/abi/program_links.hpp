// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What programs have tried, as products of the program format (program.h): an op that feeds
// another, by the operand that it is and the dtype; an op of a dtype by its lanes, by the regions
// around it, and by how the program is launched; two effects that follow each other, by their
// spaces. A link is one such combination that a legal program can hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/cases/abi/sequence.hpp"
#include "tenon/program.h"

namespace tenon::conformance::abi {

/// What makes a value.
struct LinkSource {
  std::string name;  ///< "add", "load.masked", "lane_reduce.max"
  tn_opcode op = TN_OP_INVALID;
  uint64_t imm = 0;  ///< of a CAST, LANE_REDUCE, SUBGROUP_REDUCE
};
/// What takes a value: an op, and which operand.
struct LinkPort {
  std::string name;  ///< "sub.1", "store.value", "carry.next"
  tn_opcode op = TN_OP_INVALID;
  uint64_t imm = 0;
  uint32_t slot = 0;
};
const std::vector<LinkSource>& link_sources();
const std::vector<LinkPort>& link_ports();
/// Those that arithmetic and memory both have: 8-bit floats are only stored.
const std::vector<tn_dtype>& link_dtypes();
bool gives(const LinkSource& source, tn_dtype dtype);
bool takes(const LinkPort& port, tn_dtype dtype);

enum class LinkKind { kFeeds, kLanes, kPlace, kLaunch, kOrder };
inline constexpr LinkKind kLinkKinds[] = {LinkKind::kFeeds, LinkKind::kLanes, LinkKind::kPlace,
                                          LinkKind::kLaunch, LinkKind::kOrder};
std::string_view link_kind_name(LinkKind kind);

/// Links have numbers from 0 on.
uint32_t link_count();
std::string link_name(uint32_t link);  ///< "add -> sub.1 i32", "mul f16 x4", "xor u8 in else"
LinkKind link_kind(uint32_t link);
/// Ascending. None of a step that is no program, or one of other dtypes.
std::vector<uint32_t> links_of(const SequenceStep& step);

}  // namespace tenon::conformance::abi
