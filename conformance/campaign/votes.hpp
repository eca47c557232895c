// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What other plugins answer to a case that one of them fails: is it the plugin, or the reference?
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "conformance/worker/worker_client.hpp"

namespace tenon::conformance::campaign {

class Voters {
 public:
  /// The other backends that are installed. `worker`: of the plugin under test.
  explicit Voters(const worker::WorkerOptions& worker);

  /// A line for each of up to three plugins ("null: PASS"), and what follows from them; "" if there
  /// is no other plugin, or no time left.
  std::string ask(const std::string& reproducer);

 private:
  struct Voter {
    std::string backend;
    std::unique_ptr<worker::WorkerClient> client;
  };
  void call_in();

  worker::WorkerOptions worker_;
  std::deque<worker::WorkerOptions> candidates_;
  std::vector<Voter> voters_;
  double spent_ = 0;
};

}  // namespace tenon::conformance::campaign
