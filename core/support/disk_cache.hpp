// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes on disk by what they are about, shared by all processes of a user: compiled kernels and
// probe results. What an entry is about is stored whole and compared, so that no hash is believed
// (docs/decisions/0006).
//
// A cache never fails a program and never holds it up: a folder that cannot be written, or that
// another user could change, gives one warning and no cache; a damaged file is set aside with one
// warning and started anew; a locked one is waited for half a second in all.
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
  explicit DiskCache(const std::filesystem::path& folder, uint64_t most_bytes = kDefaultBytes);
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  std::optional<std::vector<uint8_t>> get(const std::string& about);
  void put(const std::string& about, const std::vector<uint8_t>& bytes);
  void remove(const std::string& about);
  bool works() const;

 private:
  bool open();
  std::string prepare_file() const;  ///< what is wrong with it, or ""
  static int when_busy(void* cache, int attempts);
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
  int waited_ms_ = 0;  ///< for other processes' locks
};

}  // namespace tenon
