// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An open device of the variant that its options name.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "conformance/selftest/plugin/code.hpp"
#include "conformance/selftest/plugin/distort.hpp"
#include "conformance/selftest/plugin/slabs.hpp"
#include "conformance/selftest/plugin/spare_things.hpp"
#include "conformance/selftest/plugin/work_queue.hpp"
#include "sdk/backend/property_table.hpp"

namespace tenon::planted {

inline constexpr uint32_t kQueues = 2;
inline std::atomic<int> unseen_submissions{0};  ///< since the host last mapped memory

/// What a device of the variant declares.
std::unique_ptr<const sdk::PropertyTable> make_properties(Variant variant);

/// Programs that are compiled already.
class CodeCache {
 public:
  explicit CodeCache(Variant variant) : variant_(variant) {}
  std::shared_ptr<const Code> find_or_make(const sdk::ProgramView& program);

 private:
  std::string key_of(const sdk::ProgramView& program) const;

  const Variant variant_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const Code>> made_;
};

class PlantedDevice final : public sdk::HostDevice {
 public:
  /// `compile_time`: what each compilation lasts at least, as that of a slow compiler.
  PlantedDevice(Variant variant, std::chrono::milliseconds compile_time);
  ~PlantedDevice() override;

  Variant variant() const { return variant_; }
  CodeCache& cache() { return cache_; }
  std::chrono::milliseconds compile_time() const { return compile_time_; }
  const tn_properties& properties() const override { return properties_->get(); }
  std::unique_ptr<sdk::Memory> allocate(uint32_t space, uint64_t size) override;
  void submit(const sdk::Submission& submission) override;
  std::unique_ptr<sdk::Timeline> make_timeline(uint64_t value) override;

 protected:
  void launch(const sdk::HostCommand& command,
              std::span<const sdk::HostArgument> arguments) override;

 private:
  void share_in_flight(Job& job);

  const Variant variant_;
  const std::chrono::milliseconds compile_time_;
  std::unique_ptr<const sdk::PropertyTable> properties_;
  std::shared_ptr<SlabPool> slabs_;
  CodeCache cache_;
  std::mutex order_;  ///< of submissions
  LaunchOrder launches_;
  const int closed_before_;  ///< devices of the process, when it was opened
  SpareThings spare_;
  std::unique_ptr<WorkQueue> queues_[kQueues];
};

}  // namespace tenon::planted
