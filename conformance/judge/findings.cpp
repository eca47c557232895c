// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/judge/findings.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "core/interval/allowed_ulps.hpp"
#include "core/interval/ops.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::judge {
namespace {

constexpr int kMostLines = 16;
constexpr size_t kMostSamples = 64;

std::string expected_text(const IntervalArray& expected, int64_t i) {
  const Interval range = expected.at(i);
  if (range.any) return "anything";
  std::string value = to_string(expected.value.at(i));
  if (expected.exact() || (range.low == range.high && !range.nan)) return value;
  return fmt::format("{} in [{}, {}]{}", value, range.low, range.high, range.nan ? " or nan" : "");
}

/// The one float input of a graph of a single op that works element by element.
bool is_unary_float(const Graph& graph) {
  if (graph.outputs.size() != 1 || graph.params.size() != 1) return false;
  const Node& op = *graph.outputs[0];
  if (op.sources.size() != 1 || op.sources[0] != graph.params[0]) return false;
  if (const auto* cast = std::get_if<CastAttr>(&op.attr); cast && cast->bits) return false;
  return is_elementwise(op.op) && is_float(op.dtype) && is_float(op.sources[0]->dtype);
}

/// How far the declared profile lets an answer be from the reference's value; -1: not known.
double bound_of(const IntervalArray& expected, int64_t i) {
  const double bound = allowed_ulps(expected, i);
  return std::isfinite(bound) ? bound : -1;
}

}  // namespace

std::string diff_of(const Expectation& expectation, const std::vector<Array>& got,
                    const Profile& profile) {
  std::string out;
  int lines = 0;
  for (size_t k = 0; k < got.size(); ++k) {
    const IntervalArray& expected = expectation[k];
    for (int64_t i = 0; i < got[k].count() && lines < kMostLines; ++i) {
      const Scalar mine = got[k].at(i);
      if (is_right(expected, i, mine, profile)) continue;
      out += fmt::format("{}{}\t{}\t{}\t{}", lines++ ? "\n" : "", position_text(i, got[k].shape),
                         expected_text(expected, i), got_text(mine),
                         ulp_distance(mine, expected.value.at(i)));
    }
  }
  return out;
}

std::vector<UlpSample> worst_ulps(const Case& test, const Expectation& expectation,
                                  const std::vector<Array>& got) {
  if (!is_unary_float(test.graph)) return {};
  const Array &input = test.inputs[0], &output = got[0];
  const IntervalArray& expected = expectation[0];
  if (output.bytes == expected.value.bytes) return {};
  const size_t size = dtype_size(output.dtype);
  std::map<int, std::pair<UlpSample, int64_t>> worst;
  for (int64_t i = 0; i < output.count(); ++i) {
    const size_t at = static_cast<size_t>(i) * size;
    if (std::memcmp(&output.bytes[at], &expected.value.bytes[at], size) == 0) continue;
    const double x = input.at(i).as_double();
    if (!std::isfinite(x) || x == 0) continue;
    const double ulp = ulp_distance(output.at(i), expected.value.at(i));
    if (!std::isfinite(ulp)) continue;
    const int bucket = ulp_bucket(x);
    const auto [place, fresh] = worst.try_emplace(bucket, UlpSample{bucket, ulp, x, -1}, i);
    if (!fresh && ulp > place->second.first.ulp) place->second = {{bucket, ulp, x, -1}, i};
  }
  std::vector<UlpSample> out;
  for (auto& [bucket, sample] : worst) {
    sample.first.bound = bound_of(expected, sample.second);
    out.push_back(sample.first);
  }
  if (out.size() <= kMostSamples) return out;
  std::ranges::stable_sort(out, [](const auto& a, const auto& b) { return a.ulp > b.ulp; });
  out.resize(kMostSamples);
  return out;
}

}  // namespace tenon::conformance::judge
