// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The disk cache only trusts entries that no other user can have written, and whose whole key
// matches.
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <catch2/catch_test_macros.hpp>
#include <functional>

#include "core/support/disk_cache.hpp"
#include "core/support/hash.hpp"
#include "core/support/log.hpp"
#include "core/support/private_folder.hpp"
#include "tests/runtime/support.hpp"

using namespace tenon;
using namespace tenon::test;

namespace {

mode_t mode_of(const fs::path& path) {
  struct stat facts = {};
  REQUIRE(lstat(path.c_str(), &facts) == 0);
  return facts.st_mode & 07777;
}

/// What a child process that does this says on standard error.
std::string said_by(const fs::path& scratch, const std::function<void()>& action) {
  const fs::path log = scratch / "said";
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    dup2(open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
    action();
    fflush(stderr);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  return read_file(log);
}

void run_sql(const fs::path& file, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
  CHECK(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
}

/// Refused: no cache, nothing changed, one warning for two caches.
void check_refused(const TempFolder& scratch, const fs::path& folder, const std::string& why) {
  CAPTURE(folder.string(), why);
  const std::string said = said_by(scratch.path, [&] {
    for (int i = 0; i < 2; ++i) {
      DiskCache cache(folder);
      cache.put("a", bytes_of("one"));
      if (cache.works() || cache.get("a")) log_warning("it works");
    }
  });
  CHECK(has(said, "the kernel cache is off"));
  CHECK(has(said, why));
  CHECK_FALSE(has(said, "it works"));
  CHECK(std::ranges::count(said, '\n') == 1);
}

}  // namespace

TEST_CASE("the cache is private whatever the umask") {
  TempFolder scratch;
  for (const mode_t mask : {0000, 0022, 0777}) {
    const fs::path folder = scratch.path / fmt::format("{:o}", mask) / "deep" / "tenon";
    const mode_t before = umask(mask);
    {
      DiskCache cache(folder);
      cache.put("a", bytes_of("one"));
      CHECK(cache.get("a") == bytes_of("one"));
    }
    umask(before);
    CHECK(mode_of(folder) == 0700);
    CHECK(mode_of(folder.parent_path()) == 0700);
    CHECK((mode_of(folder / "cache.sqlite") & 077) == 0);
  }
}

TEST_CASE("a folder that others can change is no cache") {
  TempFolder scratch;
  const fs::path folder = scratch.path / "cache";
  { DiskCache(folder).put("a", bytes_of("theirs")); }
  SECTION("mode") {
    for (const mode_t mode : {0777, 01777, 0770, 0755, 0711}) {
      REQUIRE(chmod(folder.c_str(), mode) == 0);
      check_refused(scratch, folder, fmt::format("got {:04o}", mode));
    }
  }
  SECTION("owner") {
    if (geteuid() != 0) SKIP("only root can make folders of another user");
    REQUIRE(chown(folder.c_str(), 1234, 1234) == 0);
    check_refused(scratch, folder, "got user 1234's");
  }
  SECTION("a link to a good one") {
    fs::create_directory_symlink(folder, scratch.path / "link");
    check_refused(scratch, scratch.path / "link", "symbolic link");
    check_refused(scratch, scratch.path / "link" / "", "symbolic link");
  }
  SECTION("a folder above that anyone may write") {
    fs::create_directory(scratch.path / "open");
    fs::rename(folder, scratch.path / "open" / "cache");
    REQUIRE(chmod((scratch.path / "open").c_str(), 0777) == 0);
    check_refused(scratch, scratch.path / "open" / "cache", "that not everyone may write");
    REQUIRE(chmod((scratch.path / "open").c_str(), 01777) == 0);  // as /tmp
    CHECK(DiskCache(scratch.path / "open" / "cache").works());
  }
  SECTION("a folder above that is another user's") {
    if (geteuid() != 0) SKIP("only root can make folders of another user");
    fs::create_directory(scratch.path / "other");
    fs::rename(folder, scratch.path / "other" / "cache");
    REQUIRE(chown((scratch.path / "other").c_str(), 1234, 1234) == 0);
    check_refused(scratch, scratch.path / "other" / "cache", "a folder above it");
  }
}

TEST_CASE("the folder that is ours by its name is made private if others could only read it") {
  TempFolder scratch;
  const fs::path folder = scratch.path / "cache";
  for (const mode_t mode : {0755, 0700, 0777, 0775}) {
    fs::create_directory(folder);
    REQUIRE(chmod(folder.c_str(), mode) == 0);
    tighten_folder(folder);
    CHECK(mode_of(folder) == (mode & 022 ? mode : 0700));
  }
  REQUIRE(chmod(folder.c_str(), 0755) == 0);
  fs::create_directory_symlink(folder, scratch.path / "link");
  tighten_folder(scratch.path / "link");
  CHECK(mode_of(folder) == 0755);
}

TEST_CASE("a file that others can change is no cache") {
  TempFolder scratch;
  const fs::path folder = scratch.path / "cache", file = folder / "cache.sqlite";
  { DiskCache(folder).put("a", bytes_of("one")); }
  for (const char* name : {"cache.sqlite", "cache.sqlite-journal", "cache.sqlite-wal"}) {
    const fs::path planted = folder / name, victim = scratch.path / "victim";
    const bool exists = fs::exists(planted);
    if (exists) fs::rename(planted, scratch.path / "kept");
    write_file(victim, "precious");
    fs::create_symlink(victim, planted);
    check_refused(scratch, folder, "symbolic link");
    fs::remove(planted);
    fs::create_hard_link(victim, planted);
    check_refused(scratch, folder, "2 names");
    fs::remove(planted);
    REQUIRE(mkfifo(planted.c_str(), 0600) == 0);
    check_refused(scratch, folder, "regular file");
    fs::remove(planted);
    CHECK(read_file(victim) == "precious");
    if (exists) fs::rename(scratch.path / "kept", planted);
  }
  REQUIRE(chmod(file.c_str(), 0666) == 0);
  check_refused(scratch, folder, "0666");
  REQUIRE(chmod(file.c_str(), 0600) == 0);
  if (geteuid() == 0) {
    REQUIRE(chown(file.c_str(), 1234, 1234) == 0);
    check_refused(scratch, folder, "user 1234's");
    REQUIRE(chown(file.c_str(), 0, 0) == 0);
  }
  CHECK(DiskCache(folder).get("a") == bytes_of("one"));
}

TEST_CASE("an entry under the right key that is about something else is not taken") {
  TempFolder folder;
  {
    DiskCache cache(folder.path);
    cache.put("a", bytes_of("of a"));
    cache.put("b", bytes_of("of b"));
  }
  run_sql(folder.path / "cache.sqlite",
          fmt::format("UPDATE entries SET key = 'x' WHERE key = '{0}';"
                      "UPDATE entries SET key = '{0}' WHERE key = '{1}'",
                      hash_digits("a"), hash_digits("b")));
  DiskCache cache(folder.path);
  CHECK_FALSE(cache.get("a"));
  CHECK(cache.works());
  cache.put("a", bytes_of("of a"));
  CHECK(cache.get("a") == bytes_of("of a"));
}

TEST_CASE("an executable of another program is not run") {
  TempFolder folder;
  const auto compile = [&](const char* name) {
    RuntimeOptions options = options_for("fake:0", "fake");
    options.disk_cache = true;
    options.cache_dir = folder.path;
    Runtime runtime(options);
    return runtime.device().compile(*named_program(name).get())->from_cache;
  };
  CHECK_FALSE(compile("fill7"));
  CHECK_FALSE(compile("fill8"));
  CHECK(compile("fill7"));
  // The two change places: every byte of the file is sound, and each key holds an executable.
  run_sql(folder.path / "cache.sqlite",
          "CREATE TEMP TABLE k AS SELECT key FROM entries;"
          "UPDATE entries SET key = 'x' || (SELECT k.key FROM k WHERE k.key <> entries.key);"
          "UPDATE entries SET key = substr(key, 2)");
  CHECK_FALSE(compile("fill7"));
  CHECK_FALSE(compile("fill8"));
  CHECK(compile("fill7"));
}

TEST_CASE("a locked cache holds nobody up") {
  TempFolder folder;
  { DiskCache(folder.path).put("a", bytes_of("one")); }
  sqlite3* other = nullptr;
  REQUIRE(sqlite3_open((folder.path / "cache.sqlite").c_str(), &other) == SQLITE_OK);
  const auto seconds = [](const std::function<void()>& action) {
    const auto begin = std::chrono::steady_clock::now();
    action();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  DiskCache before(folder.path);
  REQUIRE(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr) == SQLITE_OK);
  CHECK(seconds([&] {
          for (int i = 0; i < 50; ++i) {
            CHECK_FALSE(before.get("a"));
            before.put("a", bytes_of("two"));
          }
        }) < 4);
  CHECK(seconds([&] { CHECK_FALSE(DiskCache(folder.path).works()); }) < 4);
  REQUIRE(sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr) == SQLITE_OK);
  CHECK(before.get("a") == bytes_of("one"));
  sqlite3_close(other);
}
