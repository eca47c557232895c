// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/worker/journal.hpp"

#include <filesystem>
#include <fstream>

#include "conformance/cases/files.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::worker {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostJournal = uint64_t{1} << 20;
constexpr uint64_t kMostLog = uint64_t{4} << 20, kKeptLog = uint64_t{1} << 18;

}  // namespace

Journal::Journal(std::string path) : path_(std::move(path)) {
  if (!path_.empty()) open();
}

Journal::~Journal() {
  if (file_) fclose(file_);
}

void Journal::open() {
  file_ = fopen(path_.c_str(), "ae");
  if (!file_) fail(ErrorKind::kEnvironment, "[journal] expected to write {}, got an error", path_);
  std::error_code error;
  bytes_ = fs::file_size(path_, error);
}

void Journal::line(const std::string& text) {
  if (!file_) return;
  fprintf(file_, "%s\n", text.c_str());
  fflush(file_);
  bytes_ += text.size() + 1;
  if (bytes_ < kMostJournal) return;
  fclose(file_);
  file_ = nullptr;
  fs::rename(path_, path_ + ".old");
  open();
}

void bound_log(const std::string& path) {
  std::error_code error;
  const uint64_t size = path.empty() ? 0 : fs::file_size(path, error);
  if (error || size < kMostLog) return;
  std::ifstream in(path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(size - kKeptLog));
  std::string tail(kKeptLog, '\0');
  in.read(tail.data(), static_cast<std::streamsize>(tail.size()));
  tail.resize(static_cast<size_t>(in.gcount()));
  write_file(path + ".old", tail);
  fs::resize_file(path, 0, error);  // the child appends, so it goes on at the beginning
}

}  // namespace tenon::conformance::worker
