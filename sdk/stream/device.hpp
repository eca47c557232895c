// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An open GPU of a StreamVendor: its memory, one stream, and captured graphs.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sdk/backend/property_table.hpp"
#include "sdk/backend/timing.hpp"
#include "sdk/stream/memory.hpp"
#include "sdk/stream/timeline.hpp"
#include "tenon/ext/graphs.h"
#include "tenon/ext/peers.h"

namespace tenon::sdk {

class StreamGraph;

class StreamDevice : public Device, public TimedDevice {
 public:
  /// Throws Failure if the driver does not open device number `ordinal`. The scheduler must outlive
  /// it.
  StreamDevice(StreamVendor& vendor, uint32_t ordinal, std::string target,
               std::shared_ptr<const PropertyTable> table, StreamScheduler& scheduler);
  ~StreamDevice() override;
  StreamDevice(const StreamDevice&) = delete;
  StreamDevice& operator=(const StreamDevice&) = delete;

  const tn_properties& properties() const override { return table_->get(); }
  std::unique_ptr<Memory> allocate(uint32_t space, uint64_t size) override;
  std::unique_ptr<Memory> import_host(uint32_t space, void* pointer, uint64_t size) override;
  void submit(const Submission& submission) override;
  std::unique_ptr<Timeline> make_timeline(uint64_t value) override;
  uint64_t run_timed(const tn_submission& commands) override;

  std::unique_ptr<StreamGraph> record(const Submission& commands);
  void launch(const StreamGraph& graph, const Submission& submission);
  bool can_copy_from(StreamDevice& source);
  const std::shared_ptr<StreamContext>& context() const { return context_; }
  const std::string& target() const { return target_; }

 private:
  void schedule(const Submission& submission, std::function<void()> enqueue);
  void start(const StreamScheduler::Work& work, const std::function<void()>& enqueue);
  HostWork read(const Submission& submission);
  void check_slab(tn_memory* memory, bool may_be_peer);

  std::shared_ptr<StreamContext> context_;
  std::string target_;
  std::shared_ptr<const PropertyTable> table_;
  StreamScheduler& scheduler_;
  ApiStream* stream_ = nullptr;      ///< all work
  ApiStream* allocation_ = nullptr;  ///< allocations and frees only; null without memory pools
};

/// The tables of tenon/ext, for devices that are StreamDevices.
const tn_graphs& stream_graphs();
const tn_peers& stream_peers();

}  // namespace tenon::sdk
