// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs of attention as tests want them: softmax of products, times values.
#pragma once

#include <string>

namespace tenon::test {

struct Attention {
  int64_t heads = 2, queries = 20, keys = 24, size = 5, values = 7;
  std::string unmasked = {};           ///< statements that define %unmasked from %query and %key
  std::string masked_score = "-1e30";  ///< score of masked keys
  bool masks_weights = true;           ///< weights of masked keys are zero
  std::string power = "exp %z";
  int64_t each = 1;           ///< heads of the queries that share one of keys and values
  bool fused = false;         ///< one buffer of queries, keys and values
  std::string dtype = "f32";  ///< of what comes in and goes out; weights are rounded to it
};

/// Statements that define %unmasked.
inline constexpr const char* kCausal =
    "%lt = cmplt %key, %query\n %eq = cmpeq %key, %query\n %unmasked = or %lt, %eq\n";
inline constexpr const char* kWindow =
    "%five = const 5 : i64[2, 20, 24]\n %far = sub %query, %five\n %near = cmplt %far, %key\n"
    "%gt = cmplt %query, %key\n %t = const true : bool[2, 20, 24]\n %le = xor %gt, %t\n"
    "%unmasked = and %near, %le\n";

std::string text(const Attention& a);

}  // namespace tenon::test
