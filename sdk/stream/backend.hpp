// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A backend of stream devices: everything but driver functions, language and compiler.
#pragma once

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sdk/backend/backend.hpp"
#include "sdk/backend/named_targets.hpp"
#include "sdk/render/dialect.hpp"
#include "sdk/stream/executable.hpp"
#include "sdk/stream/timeline.hpp"
#include "sdk/stream/vendor.hpp"

namespace tenon::sdk {

/// Compiles source to a binary. Thread-safe.
class StreamCompiler {
 public:
  virtual ~StreamCompiler() = default;
  /// Empty for a target that this compiler does not know.
  virtual std::optional<StreamLimits> find_target(std::string_view name) const = 0;
  /// Compiles the source in `code` and sets binary, registers and spills. Throws
  /// TN_ERROR_COMPILE_FAILED with the message of the compiler.
  virtual void compile(const ProgramView& program, StreamCode& code) const = 0;
  /// Throws TN_ERROR_UNSUPPORTED if it cannot.
  virtual std::string disassemble(const StreamCode& code) const = 0;
  /// As "NVRTC 13.0": what besides source and target determines a binary.
  virtual std::string identity() const = 0;
};

/// The parts that a backend provides. The open functions throw TN_ERROR_NOT_FOUND with the reason.
struct StreamPlatform {
  std::unique_ptr<StreamVendor> (*open_driver)();
  /// `driver_version` as the driver reports it, 12040 for CUDA 12.4; 0 without a driver.
  std::unique_ptr<StreamCompiler> (*open_compiler)(int driver_version);
  const Dialect& (*dialect)();
  std::span<const tn_matrix_atom> (*atoms)(std::string_view target);
};

class StreamBackend : public Backend {
 public:
  /// `version` of the backend.
  StreamBackend(const StreamPlatform& platform, std::string version)
      : platform_(platform), version_(std::move(version)) {}

  std::vector<tn_device_info> enumerate(std::string& reason) override;
  std::unique_ptr<Device> open(uint32_t index, Options& options) override;
  const tn_properties* target(std::string_view name) override;
  tn_support supports(const Target& target, const ProgramView& program,
                      std::string& reason) override;
  std::unique_ptr<Executable> compile(const Target& target, const ProgramView& program,
                                      tn_compile_report& report) override;
  std::unique_ptr<Executable> load(const Target& target, std::span<const std::byte> bytes) override;
  const void* extension(std::string_view id) override;

 private:
  const std::vector<StreamDeviceFacts>& devices();
  const StreamCompiler& compiler();
  std::shared_ptr<PropertyTable> make_table(const StreamLimits& limits, std::string_view target);
  static std::string target_name(const Target& target);
  std::string identity(const std::string& target);
  std::unique_ptr<Executable> make_executable(const Target& target, Program program,
                                              StreamCode code);

  const StreamPlatform platform_;
  const std::string version_;
  std::once_flag discovered_;
  std::unique_ptr<StreamVendor> driver_;
  std::vector<StreamDeviceFacts> devices_;
  std::string reason_;      ///< why there are no devices
  int driver_version_ = 0;  ///< 0: no driver
  pid_t process_ = 0;       ///< the process that opened the driver
  StreamScheduler scheduler_;
  std::mutex mutex_;  ///< guards the compiler
  std::unique_ptr<StreamCompiler> compiler_;
  NamedTargets<> targets_;
};

}  // namespace tenon::sdk
