// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/formats/tensorboard.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>

#include "core/support/error.hpp"
#include "frontend/formats/append_file.hpp"
#include "frontend/formats/event_record.hpp"

namespace tenon::formats {
namespace {

double now() {
  using Seconds = std::chrono::duration<double>;
  return Seconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

EventWriter::EventWriter(const std::string& folder) {
  std::error_code ignored;  // what is wrong with the folder, the file will say
  std::filesystem::create_directories(folder, ignored);
  // A file for each writer: TensorBoard takes all of a folder together.
  static std::atomic<int> count = 0;
  const std::string name = fmt::format("events.out.tfevents.{:010}.{}.{}",
                                       static_cast<int64_t>(now()), getpid(), count++);
  file_ =
      std::make_unique<AppendFile>(std::filesystem::path(folder) / name, AppendFile::Open::kNew);
  file_->append(event_record(version_event(now())));
}

EventWriter::~EventWriter() = default;

const std::string& EventWriter::path() const { return file_->path(); }

void EventWriter::scalar(std::string_view tag, int64_t step, float value) {
  file_->append(event_record(scalar_event(now(), step, tag, value)));
}

}  // namespace tenon::formats
