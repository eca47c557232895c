// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Targets by name, for Backend::target. Their tables live as long as the process.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "sdk/backend/property_table.hpp"

namespace tenon::sdk {

/// `Table` has get() like PropertyTable.
template <class Table = PropertyTable>
class NamedTargets {
 public:
  /// The properties of a target. At first use, `make` returns a smart pointer to its table, or null
  /// if the name is unknown.
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
