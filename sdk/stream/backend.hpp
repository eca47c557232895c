// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A backend of stream devices: all but the driver's names, the language and the compiler.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sdk/helpers/backend.hpp"
#include "sdk/helpers/property_table.hpp"
#include "sdk/render/dialect.hpp"
#include "sdk/stream/executable.hpp"
#include "sdk/stream/limits.hpp"
#include "sdk/stream/timeline.hpp"

namespace tenon::sdk {

/// What a driver says of a device.
struct StreamDeviceFacts {
  tn_device_info info = TN_INIT(tn_device_info);
  std::string bus_id;    ///< "0000:17:00.0": devices are in its order
  uint32_t ordinal = 0;  ///< the driver's number
  StreamLimits limits;
};

class StreamBackend : public Backend {
 public:
  std::vector<tn_device_info> enumerate(std::string& reason) override;
  std::unique_ptr<Device> open(uint32_t index, Options& options) override;
  const tn_properties* target(std::string_view name) override;
  tn_support supports(const Target& target, const ProgramView& program,
                      std::string& reason) override;
  std::unique_ptr<Executable> compile(const Target& target, const ProgramView& program,
                                      tn_compile_report& report) override;
  std::unique_ptr<Executable> load(const Target& target, std::span<const std::byte> bytes) override;
  const void* extension(std::string_view id) override;

 protected:
  /// Asked once. Throws TN_ERROR_NOT_FOUND with the reason where there is no driver.
  virtual std::vector<StreamDeviceFacts> discover() = 0;
  /// Asked only if there are devices.
  virtual StreamVendor& vendor() = 0;
  virtual const Dialect& dialect() const = 0;
  virtual bool has_dynamic_shared(const ProgramView& program) const = 0;
  virtual std::span<const tn_matrix_atom> atoms(std::string_view target) const = 0;
  /// Null for a name that means nothing; throws TN_ERROR_NOT_FOUND where there is no compiler.
  virtual std::optional<StreamLimits> find_target(std::string_view name) = 0;
  /// Fills binary, registers and spills; throws TN_ERROR_COMPILE_FAILED with the compiler's words.
  virtual void compile_source(StreamCode& code) = 0;
  /// As StreamExecutable's Disassemble.
  virtual std::string disassemble(const StreamCode& code) = 0;
  /// Backend, version and compiler: what else than the target decides what a binary is.
  virtual std::string identity() = 0;

 private:
  const std::vector<StreamDeviceFacts>& devices();
  std::shared_ptr<PropertyTable> make_table(const StreamLimits& limits, std::string_view target);
  static std::string target_name(const Target& target);
  std::string identity_for(const std::string& target);
  std::unique_ptr<Executable> make_executable(const Target& target, Program program,
                                              StreamCode code);

  std::once_flag discovered_;
  std::vector<StreamDeviceFacts> devices_;
  std::string reason_;
  StreamScheduler scheduler_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<PropertyTable>, std::less<>> targets_;
};

}  // namespace tenon::sdk
