// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/bench/beside.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "tests/bench/peer_process.hpp"

namespace tenon::bench {
namespace {

std::string difference_from(const std::string& file, const std::vector<float>& got,
                            double tolerance) {
  std::vector<float> expected(got.size());
  std::ifstream in(file, std::ios::binary);
  in.read(reinterpret_cast<char*>(expected.data()),
          static_cast<std::streamsize>(got.size() * sizeof(float)));
  if (!in || in.peek() != std::ifstream::traits_type::eof())
    return fmt::format("expected a result of {} elements of the peer", got.size());
  return mismatch(got, expected, tolerance);
}

}  // namespace

std::string mismatch(const std::vector<float>& got, const std::vector<float>& expected,
                     double tolerance) {
  double largest = 0;
  for (const float e : expected) largest = std::max(largest, std::abs(static_cast<double>(e)));
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    if (!(error <= tolerance * largest))
      return fmt::format("element {}: expected {}, got {}", i, expected[i], got[i]);
  }
  return {};
}

Peers prepared(PeerProcess* process,
               const std::function<std::string(const std::string& name)>& prepare,
               const std::vector<float>& got, const std::string& file, double tolerance) {
  Peers out;
  if (!process) {
    out.missing = "none: --peers names no Python";
    return out;
  }
  for (const std::string& name : process->names()) {
    const std::string why = prepare(name);
    if (!why.empty()) {
      out.missing += fmt::format("{}{}: {}", out.missing.empty() ? "" : "; ", name, why);
      continue;
    }
    out.all.push_back({name, [process, name](int calls) { return process->time(name, calls); }});
    const std::string wrong = file.empty() ? "" : difference_from(file, got, tolerance);
    if (out.wrong.empty() && !wrong.empty()) out.wrong = fmt::format("beside {}, {}", name, wrong);
  }
  return out;
}

Row beside_best(const Beside& of, const Contender& ours, const Peers& peers, int rounds) {
  std::vector<Contender> contenders{ours};
  if (of.limit) contenders.push_back(of.limit);
  const size_t first = contenders.size();
  for (const Peer& peer : peers.all) contenders.push_back(peer.contender);
  const std::vector<Timing> timings = measure_calls(contenders, rounds);

  const bool is_rate = of.work > 0;
  const auto value = [&](double seconds) {
    return is_rate ? of.work * 1e-9 / seconds : seconds * of.scale;
  };
  Row row;
  row.name = of.name;
  row.unit = of.unit;
  row.ours = value(timings[0].seconds);
  row.best = value(timings[0].least);
  row.spread = timings[0].spread;
  row.wrong = peers.wrong;
  row.peer_name = peers.missing;
  double least = 0;
  for (size_t p = 0; p < peers.all.size(); ++p) {
    const double seconds = timings[first + p].seconds;
    if (row.peer && seconds >= least) continue;
    least = seconds;
    row.peer = value(seconds);
    row.peer_name = peers.all[p].name;
  }
  row.ratio = ratio_of(row.ours, row.peer, !is_rate);
  if (of.limit)
    row.limit_ratio = of.share_work / timings[0].seconds / (of.limit_work / timings[1].seconds);
  return row;
}

}  // namespace tenon::bench
