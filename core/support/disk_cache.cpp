// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/support/disk_cache.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <set>

#include "core/support/hash.hpp"
#include "core/support/hold_signals.hpp"
#include "core/support/log.hpp"
#include "core/support/private_folder.hpp"
#include "core/support/process.hpp"

namespace tenon {
namespace {

namespace fs = std::filesystem;

constexpr int kSchema = 4;
constexpr int kMostWaitMilliseconds = 500;
constexpr int kMostRepairs = 2;

int64_t now() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Checksum of a whole entry, so that parts of two entries do not match.
int64_t checksum(std::string_view about, const std::vector<uint8_t>& bytes) {
  const std::string_view data(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return static_cast<int64_t>(hash_bytes(hash_bytes(about.size(), about), data));
}

struct PrintedWarnings {
  ForkSafeMutex mutex;
  std::set<std::string> messages;
};

PrintedWarnings& printed_warnings() {
  static auto& instance =
      *new PrintedWarnings();  // never destroyed: destructors of static objects may use it
  return instance;
}
/// Made at load: a child of fork would hang if a thread of its parent was constructing it.
[[maybe_unused]] const PrintedWarnings& printed_warnings_made_at_load = printed_warnings();

/// Prints a warning once in a process, whatever the number of contexts.
void warn_once(const std::string& message) {
  {
    const std::lock_guard lock(printed_warnings().mutex);
    if (!printed_warnings().messages.insert(message).second) return;
  }
  log_warning(message);
}

/// Whether an SQLite code means a damaged file, not a busy or missing one.
bool is_damage(int code) {
  const int primary = code & 0xff;
  return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB || primary == SQLITE_MISMATCH ||
         primary == SQLITE_ERROR;
}

/// A prepared statement. Its values live as long as it does.
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

DiskCache::DiskCache(const fs::path& folder, uint64_t most_bytes) : most_bytes_(most_bytes) {
  if (folder.empty()) return;
  const std::string why = make_private_folder(folder);
  std::error_code error;
  const fs::path real = why.empty() ? fs::canonical(folder, error) : folder;
  if (!why.empty() || error) {
    give_up(error ? fmt::format("{}: {}", folder.string(), error.message()) : why);
    return;
  }
  file_ = real / "cache.sqlite";
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
  warn_once(fmt::format("the kernel cache is off: {}", why));
}

void DiskCache::set_aside(const std::string& why) {
  close();
  const fs::path aside = file_.string() + fmt::format(".damaged-{}", now());
  std::error_code error;
  fs::rename(file_, aside, error);
  for (const char* suffix : {"-wal", "-shm", "-journal"}) {
    std::error_code ignored;  // the files may be missing
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
    // The first statement that reads the file: fails if it is not a database.
    Statement version(database_, "PRAGMA user_version");
    if (!version.row()) return version.code();
    if (version.integer(0) == kSchema) return SQLITE_OK;
  }
  const bool made = execute(
      "BEGIN IMMEDIATE; DROP TABLE IF EXISTS entries;"
      // Keys lie in indices of their own, and sizes with them: of large rows SQLite reads all when
      // it compares a key, and the sum of their sizes would read all that the cache holds.
      "CREATE TABLE entries(key TEXT PRIMARY KEY NOT NULL, about BLOB NOT NULL,"
      " bytes BLOB NOT NULL, size INTEGER NOT NULL, sum INTEGER NOT NULL, used INTEGER NOT NULL);"
      "CREATE INDEX entries_used ON entries(used, key, size);"
      "PRAGMA user_version = 4; COMMIT;");
  if (made) return SQLITE_OK;
  const int code = sqlite3_errcode(database_);
  if (!sqlite3_get_autocommit(database_)) execute("ROLLBACK");
  return code;
}

std::string DiskCache::prepare_file() const {
  for (const char* suffix : {"", "-journal", "-wal", "-shm"})
    if (std::string why = check_private_file(file_.string() + suffix); !why.empty()) return why;
  constexpr int kFlags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;  // SQLite's own mode is 0644
  const int descriptor = ::open(file_.c_str(), kFlags, 0600);
  if (descriptor < 0) return fmt::format("{}: {}", file_.string(), std::strerror(errno));
  ::close(descriptor);
  return "";
}

/// Retries until this cache has waited its total limit.
int DiskCache::when_busy(void* cache, int attempts) {
  auto& self = *static_cast<DiskCache*>(cache);
  const int pause = std::min(1 + attempts, 20);
  if (self.waited_ms_ + pause > kMostWaitMilliseconds) return 0;
  self.waited_ms_ += pause;
  usleep(static_cast<useconds_t>(pause) * 1000);
  return 1;
}

bool DiskCache::open() {
  const HoldSignals hold;
  for (;;) {
    if (const std::string why = prepare_file(); !why.empty()) {
      give_up(why);
      return false;
    }
    const int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
    int code = sqlite3_open_v2(file_.c_str(), &database_, flags, nullptr);
    if (code == SQLITE_OK) {
      sqlite3_extended_result_codes(database_, 1);
      sqlite3_busy_handler(database_, when_busy, this);
      execute(
          "PRAGMA synchronous = OFF; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;"
          "PRAGMA mmap_size = 0");
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

/// Runs an action that returns an SQLite code. Replaces a damaged file, ignores other faults.
template <class F>
void DiskCache::attempt(F&& action) {
  const std::lock_guard lock(mutex_);
  if (!database_) return;
  const HoldSignals hold;
  const int code = action();
  if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
  TN_LOG("cache", "{}: {}", file_.string(), sqlite3_errstr(code));
  if (!is_damage(code)) return;
  if (++repairs_ > kMostRepairs) return give_up(file_.string() + " is damaged repeatedly");
  set_aside(sqlite3_errstr(code));
  if (!file_.empty()) open();
}

std::optional<std::vector<uint8_t>> DiskCache::get(const std::string& about) {
  std::optional<std::vector<uint8_t>> result;
  const std::string key = hash_digits(about);
  attempt([&]() -> int {
    int64_t used = 0;
    {
      Statement select(database_, "SELECT bytes, sum, used, about FROM entries WHERE key = ?");
      select.bind(1, key);
      if (!select.row()) return select.code();
      std::vector<uint8_t> bytes = select.blob(0);
      const std::vector<uint8_t> stored = select.blob(3);
      const std::string_view subject(reinterpret_cast<const char*>(stored.data()), stored.size());
      if (checksum(subject, bytes) != select.integer(1)) return SQLITE_CORRUPT;
      if (subject != about) return SQLITE_DONE;  // hash collision
      used = select.integer(2);
      result = std::move(bytes);
    }
    if (now() - used < 3600) return SQLITE_OK;  // a coarse clock saves most writes of readers
    Statement touch(database_, "UPDATE entries SET used = ? WHERE key = ?");
    touch.bind(1, now());
    touch.bind(2, key);
    touch.done();
    return touch.code();
  });
  return result;
}

void DiskCache::put(const std::string& about, const std::vector<uint8_t>& bytes) {
  const uint64_t size = about.size() + bytes.size();
  if (size > most_bytes_) return;
  const std::string key = hash_digits(about);
  const std::vector<uint8_t> subject(about.begin(), about.end());
  attempt([&]() -> int {
    evict(size);
    Statement insert(database_, "INSERT OR REPLACE INTO entries VALUES(?, ?, ?, ?, ?, ?)");
    insert.bind(1, key);
    insert.bind(2, subject);
    insert.bind(3, bytes);
    insert.bind(4, static_cast<int64_t>(size));
    insert.bind(5, checksum(about, bytes));
    insert.bind(6, now());
    insert.done();
    return insert.code();
  });
}

void DiskCache::remove(const std::string& about) {
  const std::string key = hash_digits(about);
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
  // Evict down to three quarters, so that not every put evicts.
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
