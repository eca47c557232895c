// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Targets by name, for Backend::target: their tables live as long as the process.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "sdk/backend/property_table.hpp"

namespace tenon::sdk {

/// `Table` has get(), as PropertyTable.
template <class Table = PropertyTable>
class NamedTargets {
 public:
  /// The properties of a target. `make` makes its table as a smart pointer when it is first asked
  /// for, and null if the name means nothing.
  template <class Make>
  const tn_properties* find(std::string_view name, const Make& make) {
    const std::lock_guard lock(mutex_);
    auto at = tables_.find(name);
    if (at == tables_.end()) {
      std::shared_ptr<const Table> made = make();
      if (!made) return nullptr;
      at = tables_.emplace(name, std::move(made)).first;
    }
    return &at->second->get();
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Table>, std::less<>> tables_;
};

}  // namespace tenon::sdk
