// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/formats/tensorboard.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "core/support/error.hpp"
#include "frontend/formats/event_record.hpp"

namespace tenon::formats {
namespace {

double now() {
  using Seconds = std::chrono::duration<double>;
  return Seconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

[[noreturn]] void cannot_write(const std::string& path, const char* why) {
  fail(ErrorKind::kEnvironment, "{}: expected to write the file, got: {}", path, why);
}

}  // namespace

EventWriter::EventWriter(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto seconds = static_cast<int64_t>(now());
  // A file for each writer: TensorBoard takes all of a folder together.
  for (int i = 0; descriptor_ < 0; ++i) {
    path_ = std::filesystem::path(folder) /
            fmt::format("events.out.tfevents.{:010}.{}.{}", seconds, getpid(), i);
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno != EEXIST) cannot_write(path_, std::strerror(errno));
  }
  try {
    append(version_event(now()));
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

EventWriter::~EventWriter() { close(descriptor_); }

void EventWriter::scalar(std::string_view tag, int64_t step, float value) {
  append(scalar_event(now(), step, tag, value));
}

void EventWriter::append(std::string_view event) {
  const std::string record = event_record(event);
  for (std::string_view rest = record; !rest.empty();) {
    const ssize_t put = write(descriptor_, rest.data(), rest.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) cannot_write(path_, std::strerror(put < 0 ? errno : ENOSPC));
    rest.remove_prefix(static_cast<size_t>(put));
  }
}

}  // namespace tenon::formats
