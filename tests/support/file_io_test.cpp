// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole files: replaced at once, modes kept, links followed where that is safe, nothing waited for.
#include "core/support/file_io.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <thread>
#include <vector>

#include "core/support/error.hpp"

using namespace tenon;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "tenon-files-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(path), fs::directory_iterator()));
  }
};

mode_t mode_of(const fs::path& path) {
  struct stat facts = {};
  REQUIRE(stat(path.c_str(), &facts) == 0);
  return facts.st_mode & 07777;
}

struct Umask {
  explicit Umask(mode_t mask) : before(umask(mask)) {}
  ~Umask() { umask(before); }
  mode_t before;
};

}  // namespace

TEST_CASE("a new file has the mode of the umask, an old one keeps its own") {
  Folder folder;
  const Umask mask(027);
  write_file(folder.path / "new", "one");
  CHECK(mode_of(folder.path / "new") == 0640);
  for (const mode_t mode : {0600, 0644, 0666, 0700}) {
    REQUIRE(chmod((folder.path / "new").c_str(), mode) == 0);
    write_file(folder.path / "new", "two");
    CHECK(mode_of(folder.path / "new") == mode);
  }
  CHECK(read_file(folder.path / "new") == "two");
  CHECK(folder.files() == 1);
}

TEST_CASE("a symbolic link stays and its target is written") {
  Folder folder;
  write_file(folder.path / "target", "old");
  REQUIRE(chmod((folder.path / "target").c_str(), 0600) == 0);
  fs::create_symlink("target", folder.path / "link");
  fs::create_symlink(folder.path / "link", folder.path / "again");
  fs::create_symlink("none", folder.path / "dangling");
  write_file(folder.path / "again", "new");
  CHECK(fs::is_symlink(folder.path / "link"));
  CHECK(read_file(folder.path / "target") == "new");
  CHECK(mode_of(folder.path / "target") == 0600);
  write_file(folder.path / "dangling", "made");
  CHECK(read_file(folder.path / "none") == "made");
  fs::create_symlink("round", folder.path / "round");
  CHECK_THROWS_WITH(write_file(folder.path / "round", "x"), ContainsSubstring("round"));
}

TEST_CASE("what a stranger laid into a folder for all is not followed and not filled") {
  if (geteuid() != 0) SKIP("only root can make files of another user");
  Folder folder;
  REQUIRE(chmod(folder.path.c_str(), 01777) == 0);
  write_file(folder.path / "victim", "precious");
  fs::create_symlink("victim", folder.path / "link");
  REQUIRE(lchown((folder.path / "link").c_str(), 1234, 1234) == 0);
  CHECK_THROWS_WITH(write_file(folder.path / "link", "x"), ContainsSubstring("another user"));
  CHECK(read_file(folder.path / "victim") == "precious");
  REQUIRE(chown((folder.path / "victim").c_str(), 1234, 1234) == 0);
  CHECK_THROWS_WITH(write_file(folder.path / "victim", "x"), ContainsSubstring("another user"));
  CHECK(read_file(folder.path / "victim") == "precious");
}

TEST_CASE("a name that a temporary may have is no trap") {
  Folder folder;
  write_file(folder.path / "victim", "precious");
  fs::create_symlink("victim", folder.path / fmt::format("x.npy.{}.part", getpid()));
  write_file(folder.path / "x.npy", "array");
  CHECK(read_file(folder.path / "victim") == "precious");
  CHECK(read_file(folder.path / "x.npy") == "array");
}

TEST_CASE("devices and pipes are written through and stay what they are") {
  Folder folder;
  const fs::path device = folder.path / "null";
  if (mknod(device.c_str(), S_IFCHR | 0600, (1 << 8) | 3) == 0) {
    write_file(device, "nothing");
    CHECK(fs::is_character_file(device));
  }
  CHECK_THROWS_WITH(write_file("/dev/full", "x"), ContainsSubstring("No space left"));
  const fs::path pipe = folder.path / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(write_file(pipe, "x"), ContainsSubstring("nobody reads"));
  {
    const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    write_file(pipe, "through");
    char bytes[16] = {};
    CHECK(read(reader, bytes, sizeof bytes) == 7);
    close(reader);
  }
  CHECK(fs::is_fifo(pipe));
  // A reader that leaves is an error and no SIGPIPE.
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  std::thread leaves([&] {
    pollfd begun{reader, POLLIN, 0};
    poll(&begun, 1, -1);
    close(reader);
  });
  CHECK_THROWS_WITH(write_file(pipe, std::string(1 << 20, 'x')), ContainsSubstring("Broken pipe"));
  leaves.join();
}

TEST_CASE("writers at the same time leave one whole file") {
  Folder folder;
  const fs::path path = folder.path / "x";
  std::vector<std::thread> writers;
  std::atomic<int> failed = 0;
  for (int k = 0; k < 8; ++k) {
    writers.emplace_back([&, k] {
      for (int i = 0; i < 20; ++i) {
        try {
          write_file(path, std::string(100'000, static_cast<char>('a' + k)));
        } catch (const Error&) {
          ++failed;
        }
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  CHECK(failed == 0);
  const std::string text = read_file(path);
  CHECK(text == std::string(100'000, text[0]));
  CHECK(folder.files() == 1);
}

TEST_CASE("a write that fails leaves the old file and no temporary") {
  Folder folder;
  const fs::path path = folder.path / "x";
  write_file(path, "old");
  struct rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  struct rlimit small = before;
  small.rlim_cur = 4096;
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string said;
  try {
    write_file(path, std::string(10'000, 'x'));
  } catch (const Error& error) {
    said = error.what();
  }
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK_THAT(said, ContainsSubstring("File too large"));
  CHECK(read_file(path) == "old");
  CHECK(folder.files() == 1);
  CHECK_THROWS_WITH(write_file(folder.path, "x"), ContainsSubstring("directory"));
  CHECK_THROWS_WITH(write_file(folder.path / "none" / "x", "x"), ContainsSubstring("No such file"));
  CHECK_THROWS_WITH(write_file(path.string() + std::string("\0y", 2), "x"),
                    ContainsSubstring("without NUL"));
}

TEST_CASE("only regular files are read, and no more than was said") {
  Folder folder;
  const fs::path pipe = folder.path / "pipe", sock = folder.path / "socket";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  sock.string().copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  CHECK_THROWS_WITH(read_file(pipe), ContainsSubstring("got a pipe"));
  CHECK_THROWS_WITH(read_file(sock), ContainsSubstring("got a socket"));
  CHECK_THROWS_WITH(read_file("/dev/zero"), ContainsSubstring("got a device"));
  CHECK_THROWS_WITH(read_file(folder.path), ContainsSubstring("got a folder"));
  CHECK_THROWS_WITH(read_file(folder.path / "none"), ContainsSubstring("No such file"));
  close(listener);
  write_file(folder.path / "empty", "");
  CHECK(read_file(folder.path / "empty").empty());
  write_file(folder.path / "ten", "0123456789");
  CHECK(read_file(folder.path / "ten", 10) == "0123456789");
  CHECK_THROWS_WITH(read_file(folder.path / "ten", 9), ContainsSubstring("at most 9 bytes"));
  REQUIRE(truncate((folder.path / "ten").c_str(), off_t{1} << 40) == 0);
  CHECK_THROWS_WITH(read_file(folder.path / "ten"), ContainsSubstring("at most"));
  CHECK(read_file("/proc/self/stat").size() > 10);  // a regular file without a size
}
