// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The failures of a run that are looked at one by one. However many there are, it stays small: of
// those that look alike the first by index are kept, so that it is the same on any --jobs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "conformance/cases/outcome.hpp"

namespace tenon::conformance::campaign {

class FailureBook {
 public:
  void add(Finished finished);
  size_t seen() const { return seen_; }
  std::vector<Finished> listed() const;  ///< by index
  /// How many that fail in this way are not listed.
  uint64_t dropped(const std::string& op, const std::string& dtype, const std::string& kind) const;
  /// Of all ways, as `restore` takes them.
  const std::map<std::string, uint64_t>& dropped() const { return dropped_; }
  void restore(const std::vector<Finished>& listed, std::map<std::string, uint64_t> dropped);

 private:
  std::map<std::string, std::map<uint64_t, Finished>> alike_;
  std::map<std::string, uint64_t> dropped_;
  size_t seen_ = 0;
};

}  // namespace tenon::conformance::campaign
