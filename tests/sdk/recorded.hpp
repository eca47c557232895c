// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A recorder that does at once, on host memory, what it would record.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "sdk/backend/property_table.hpp"
#include "sdk/shader/recorder.hpp"
#include "tests/sdk/commands.hpp"

namespace tenon::sdk {

inline std::unique_ptr<PropertyTable> recorded_properties() {
  auto table = std::make_unique<PropertyTable>(TN_DEVICE_COMPUTE);
  tn_memory_space space = TN_INIT(tn_memory_space);
  space.alignment = 16;
  table->add_memory(space);
  table->fields().max_grid[0] = 8;
  table->fields().max_buffer_bytes = 64;
  return table;
}

class LoggingRecorder : public Recorder {
 public:
  explicit LoggingRecorder(const Device& device) : Recorder(device) {}
  std::vector<std::string> log;
  std::vector<std::byte> scalars;  ///< of the last launch

 private:
  static std::byte* data(const Range& range) {
    return static_cast<const HostMemory&>(*range.memory).data() + range.offset;
  }
  void begin(uint32_t launches, uint32_t buffers) override {
    log = {"begin " + std::to_string(launches) + " " + std::to_string(buffers)};
  }
  void end() override { log.push_back("end"); }
  void dispatch(const Launch& launch) override {
    std::string line = "dispatch";
    for (const Range& range : launch.buffers) line += range.memory ? " bytes" : " none";
    log.push_back(line);
    scalars.assign(launch.scalars.begin(), launch.scalars.end());
  }
  void copy(const Range& to, const Range& from) override {
    log.push_back("copy");
    std::memcpy(data(to), data(from), to.size);
  }
  void fill_words(const Range& to, uint32_t word) override {
    log.push_back(to.offset % 4 || to.size % 4 ? "fill of no words" : "fill");
    for (uint64_t i = 0; i < to.size; i += 4) std::memcpy(data(to) + i, &word, 4);
  }
  void write(const Range& to, const std::byte* from) override {
    log.push_back(to.size > kWriteBytes ? "write too much" : "write");
    touch(to, true);
    std::memcpy(data(to), from, to.size);
  }
  void barrier() override { log.push_back("barrier"); }
};

}  // namespace tenon::sdk
