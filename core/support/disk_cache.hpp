// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A cache on disk shared by all processes of a user, for compiled kernels and probe results.
// Entries store their whole key, which is compared, so hash collisions do no harm
// (docs/decisions/0006).
//
// The cache never fails or blocks a program. A folder that cannot be written, or that another user
// could change, gives one warning and no cache. A damaged file is moved aside with one warning and
// replaced. Waiting for a locked file is limited to half a second in all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

struct sqlite3;

namespace tenon {

class DiskCache {
 public:
  static constexpr uint64_t kDefaultBytes = uint64_t{512} << 20;

  /// Never throws. `folder` empty: no cache. Evicts the least recently used beyond `most_bytes`.
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
  std::string prepare_file() const;  ///< an error, or ""
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
  int waited_ms_ = 0;  ///< total wait for locks of other processes
};

}  // namespace tenon
