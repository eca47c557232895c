// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes by key on disk, shared by all processes of a user: compiled kernels and probe results.
//
// A cache never fails a program: a folder that cannot be written gives one warning and no cache, a
// damaged file is set aside with one warning and started anew.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;

namespace tenon {

class DiskCache {
 public:
  static constexpr uint64_t kDefaultBytes = uint64_t{512} << 20;

  /// Never throws. `folder` empty: no cache. The least recently used go when `most_bytes` are held.
  explicit DiskCache(std::filesystem::path folder, uint64_t most_bytes = kDefaultBytes);
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  std::optional<std::vector<uint8_t>> get(const std::string& key);
  void put(const std::string& key, const std::vector<uint8_t>& bytes);
  void remove(const std::string& key);
  bool works() const;

 private:
  bool open();
  int check_schema();  ///< an SQLite code
  void set_aside(const std::string& why);
  void give_up(const std::string& why);
  void close();
  bool execute(const char* sql);
  template <class F>
  void attempt(F&& action);
  void evict(uint64_t incoming);

  std::filesystem::path file_;
  const uint64_t most_bytes_;
  mutable std::mutex mutex_;
  sqlite3* database_ = nullptr;
  int repairs_ = 0;
};

/// XXH3-128 as 32 hexadecimal digits.
std::string hash_text(std::string_view bytes);

}  // namespace tenon
