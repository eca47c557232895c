// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/disk_cache.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <chrono>

#include "core/support/log.hpp"

namespace tenon {
namespace {

namespace fs = std::filesystem;

constexpr int kSchema = 1;
constexpr int kBusyMilliseconds = 5000;
constexpr int kMostRepairs = 2;

int64_t now() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

int64_t checksum(const void* bytes, size_t size) {
  return static_cast<int64_t>(XXH3_64bits(bytes, size));
}

/// What a damaged file answers, as opposed to a busy or missing one.
bool is_damage(int code) {
  const int primary = code & 0xff;
  return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB || primary == SQLITE_MISMATCH ||
         primary == SQLITE_ERROR;
}

/// One prepared statement; its values live as long as it does.
class Statement {
 public:
  Statement(sqlite3* database, const char* sql) {
    code_ = sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind(int i, const std::string& text) {
    if (statement_)
      sqlite3_bind_text(statement_, i, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  }
  void bind(int i, int64_t value) {
    if (statement_) sqlite3_bind_int64(statement_, i, value);
  }
  void bind(int i, const std::vector<uint8_t>& bytes) {
    if (!statement_) return;
    if (bytes.empty()) {
      sqlite3_bind_zeroblob(statement_, i, 0);  // a null pointer would bind NULL
    } else {
      sqlite3_bind_blob64(statement_, i, bytes.data(), bytes.size(), SQLITE_STATIC);
    }
  }
  bool row() {
    if (!statement_) return false;
    code_ = sqlite3_step(statement_);
    return code_ == SQLITE_ROW;
  }
  bool done() { return !row() && code_ == SQLITE_DONE; }
  int64_t integer(int i) { return sqlite3_column_int64(statement_, i); }
  std::vector<uint8_t> blob(int i) {
    const auto* data = static_cast<const uint8_t*>(sqlite3_column_blob(statement_, i));
    const int size = sqlite3_column_bytes(statement_, i);
    return data ? std::vector<uint8_t>(data, data + size) : std::vector<uint8_t>();
  }
  int code() const { return code_; }

 private:
  sqlite3_stmt* statement_ = nullptr;
  int code_ = SQLITE_OK;
};

}  // namespace

std::string hash_text(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

DiskCache::DiskCache(fs::path folder, uint64_t most_bytes) : most_bytes_(most_bytes) {
  if (folder.empty()) return;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    give_up(fmt::format("{}: {}", folder.string(), error.message()));
    return;
  }
  file_ = folder / "cache.sqlite";
  if (!open() && !file_.empty()) give_up(file_.string() + " cannot be opened");
}

DiskCache::~DiskCache() { close(); }

bool DiskCache::works() const {
  const std::lock_guard lock(mutex_);
  return database_ != nullptr;
}

void DiskCache::close() {
  if (database_) sqlite3_close_v2(database_);
  database_ = nullptr;
}

void DiskCache::give_up(const std::string& why) {
  close();
  file_.clear();
  log_warning(fmt::format("the kernel cache is off: {}", why));
}

void DiskCache::set_aside(const std::string& why) {
  close();
  const fs::path aside = file_.string() + fmt::format(".damaged-{}", now());
  std::error_code error;
  fs::rename(file_, aside, error);
  for (const char* suffix : {"-wal", "-shm", "-journal"}) {
    std::error_code ignored;  // they need not be there
    fs::remove(file_.string() + suffix, ignored);
  }
  if (error) return give_up(fmt::format("{} is damaged and cannot be moved", file_.string()));
  log_warning(fmt::format("the kernel cache {} is damaged ({}); it is now {}", file_.string(), why,
                          aside.filename().string()));
}

bool DiskCache::execute(const char* sql) {
  return sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
}

int DiskCache::check_schema() {
  {
    // The first statement that reads the file, and so finds out whether it is a database.
    Statement version(database_, "PRAGMA user_version");
    if (!version.row()) return version.code();
    if (version.integer(0) == kSchema) return SQLITE_OK;
  }
  const bool made = execute(
      "BEGIN IMMEDIATE; DROP TABLE IF EXISTS entries;"
      "CREATE TABLE entries(key TEXT PRIMARY KEY, bytes BLOB NOT NULL, size INTEGER NOT NULL,"
      " sum INTEGER NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID;"
      "CREATE INDEX entries_used ON entries(used);"
      "PRAGMA user_version = 1; COMMIT;");
  if (made) return SQLITE_OK;
  const int code = sqlite3_errcode(database_);
  if (!sqlite3_get_autocommit(database_)) execute("ROLLBACK");
  return code;
}

bool DiskCache::open() {
  for (;;) {
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(file_.c_str(), &database_, flags, nullptr);
    if (code == SQLITE_OK) {
      sqlite3_extended_result_codes(database_, 1);
      sqlite3_busy_timeout(database_, kBusyMilliseconds);
      execute("PRAGMA synchronous = OFF; PRAGMA trusted_schema = OFF");
      code = check_schema();
      if (code == SQLITE_OK && sqlite3_db_readonly(database_, nullptr) == 0) return true;
      if (code == SQLITE_OK) code = SQLITE_READONLY;
    }
    if (!is_damage(code) || ++repairs_ > kMostRepairs) {
      give_up(fmt::format("{}: {}", file_.string(), sqlite3_errstr(code)));
      return false;
    }
    set_aside(sqlite3_errstr(code));
    if (file_.empty()) return false;
  }
}

/// Runs an action that gives an SQLite code; a damaged file is replaced, other faults are passed
/// over.
template <class F>
void DiskCache::attempt(F&& action) {
  const std::lock_guard lock(mutex_);
  if (!database_) return;
  const int code = action();
  if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
  TN_LOG("cache", "{}: {}", file_.string(), sqlite3_errstr(code));
  if (!is_damage(code)) return;
  if (++repairs_ > kMostRepairs) return give_up(file_.string() + " is damaged again and again");
  set_aside(sqlite3_errstr(code));
  if (!file_.empty()) open();
}

std::optional<std::vector<uint8_t>> DiskCache::get(const std::string& key) {
  std::optional<std::vector<uint8_t>> result;
  attempt([&]() -> int {
    int64_t used = 0;
    {
      Statement select(database_, "SELECT bytes, sum, used FROM entries WHERE key = ?");
      select.bind(1, key);
      if (!select.row()) return select.code();
      std::vector<uint8_t> bytes = select.blob(0);
      if (checksum(bytes.data(), bytes.size()) != select.integer(1)) return SQLITE_CORRUPT;
      used = select.integer(2);
      result = std::move(bytes);
    }
    if (now() - used < 3600) return SQLITE_OK;  // a coarse clock spares most readers the write
    Statement touch(database_, "UPDATE entries SET used = ? WHERE key = ?");
    touch.bind(1, now());
    touch.bind(2, key);
    touch.done();
    return touch.code();
  });
  return result;
}

void DiskCache::put(const std::string& key, const std::vector<uint8_t>& bytes) {
  if (bytes.size() > most_bytes_) return;
  attempt([&]() -> int {
    evict(bytes.size());
    Statement insert(database_, "INSERT OR REPLACE INTO entries VALUES(?, ?, ?, ?, ?)");
    insert.bind(1, key);
    insert.bind(2, bytes);
    insert.bind(3, static_cast<int64_t>(bytes.size()));
    insert.bind(4, checksum(bytes.data(), bytes.size()));
    insert.bind(5, now());
    insert.done();
    return insert.code();
  });
}

void DiskCache::remove(const std::string& key) {
  attempt([&]() -> int {
    Statement erase(database_, "DELETE FROM entries WHERE key = ?");
    erase.bind(1, key);
    erase.done();
    return erase.code();
  });
}

void DiskCache::evict(uint64_t incoming) {
  Statement sum(database_, "SELECT COALESCE(SUM(size), 0) FROM entries");
  if (!sum.row()) return;
  const auto held = static_cast<uint64_t>(std::max<int64_t>(sum.integer(0), 0));
  if (held + incoming <= most_bytes_) return;
  // Down to three quarters, so that not every put evicts.
  int64_t surplus = static_cast<int64_t>(held + incoming - most_bytes_ / 4 * 3);
  std::vector<std::string> oldest;
  Statement by_age(database_, "SELECT key, size FROM entries ORDER BY used, key");
  while (surplus > 0 && by_age.row()) {
    const std::vector<uint8_t> key = by_age.blob(0);
    oldest.emplace_back(key.begin(), key.end());
    surplus -= by_age.integer(1);
  }
  TN_LOG("cache", "{}: evicting {} entries", file_.string(), oldest.size());
  for (const std::string& key : oldest) {
    Statement erase(database_, "DELETE FROM entries WHERE key = ?");
    erase.bind(1, key);
    erase.done();
  }
}

}  // namespace tenon
