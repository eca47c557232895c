// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A row beside the best of its peers: who can run it, whether results agree, the rates.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/bench/measure.hpp"
#include "tests/bench/report.hpp"

namespace tenon::bench {

class PeerProcess;

struct Peer {
  std::string name;
  Contender contender;
};

struct Peers {
  std::vector<Peer> all;  ///< those that run it
  std::string missing;    ///< why others do not
  std::string wrong;      ///< how our result differs from that of one of them
};

/// Has every peer of the process make itself ready: `prepare` of its name says why it cannot, or
/// "", and has then written the result beside ours into `file`; none: results are not compared.
Peers prepared(PeerProcess* process,
               const std::function<std::string(const std::string& name)>& prepare,
               const std::vector<float>& got, const std::string& file, double tolerance);

/// "" if the results are the same, but for what rounding does to the largest.
std::string mismatch(const std::vector<float>& got, const std::vector<float>& expected,
                     double tolerance);

/// What a row says: rates of `work` in 1e9 a second or, where `work` is 0, times, seconds times
/// `scale`. Where there is a limit, what it does is timed in the same rounds, and the row's share
/// is that of `share_work` a second of ours in `limit_work` a second of its.
struct Beside {
  std::string name, unit;
  double work = 0, scale = 1;
  Contender limit = {};
  double limit_work = 0, share_work = 0;  ///< of one call, in the same unit
};
Row beside_best(const Beside& of, const Contender& ours, const Peers& peers, int rounds = 9);

}  // namespace tenon::bench
