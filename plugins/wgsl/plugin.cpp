// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The WGSL backend: every adapter of a WebGPU implementation is a device.
#include "plugins/wgsl/device.hpp"
#include "sdk/render/dialect_ops.hpp"
#include "sdk/render/wgsl_dialect.hpp"
#include "sdk/shader/properties.hpp"

namespace tenon::wgsl {

std::unique_ptr<sdk::PropertyTable> make_properties(const WGPULimits& limits, bool is_software,
                                                    std::string_view name) {
  auto made = sdk::shader_properties(is_software);
  made->claim(sdk::kWgslOps);
  made->compute({TN_DTYPE_BOOL}).store_all(2);  // packed in words
  made->atomics({TN_DTYPE_U32});
  tn_memory_space space = TN_INIT(tn_memory_space);
  space.flags = TN_MEMORY_DEVICE;
  space.alignment = limits.minStorageBufferOffsetAlignment;
  space.largest = limits.maxBufferSize / 4 * 4;
  space.copy_from = 3;
  made->add_memory(space);
  space.flags = TN_MEMORY_HOST_VISIBLE | TN_MEMORY_COHERENT | TN_MEMORY_IMPORT;
  made->add_memory(space);
  made->workgroup(limits.maxComputeWorkgroupSizeX, limits.maxComputeWorkgroupSizeY,
                  limits.maxComputeWorkgroupSizeZ, limits.maxComputeInvocationsPerWorkgroup);
  tn_properties& p = made->fields();
  // What WGSL leaves open: https://www.w3.org/TR/WGSL/#floating-point-evaluation
  p.numerics = TN_NUMERICS_FLUSH_INPUT | TN_NUMERICS_FLUSH_OUTPUT | TN_NUMERICS_NO_NAN |
               TN_NUMERICS_NO_INF | TN_NUMERICS_NO_SIGNED_ZERO | TN_NUMERICS_CONTRACT;
  p.storage_bytes = 4;
  for (uint32_t& axis : p.max_grid) axis = limits.maxComputeWorkgroupsPerDimension;
  p.max_bindings = limits.maxStorageBuffersPerShaderStage;
  p.max_buffer_bytes = limits.maxStorageBufferBindingSize;
  p.max_shared_bytes = limits.maxComputeWorkgroupStorageSize;
  p.max_scratch_bytes = 8192;  // https://www.w3.org/TR/WGSL/#limits: variables of a function
  if (is_software && name.starts_with("llvmpipe")) {
    p.max_loop_trips = sdk::kLlvmpipeLoopTrips;
    // WGSL sets variables to zero, which is a store for each element, and LLVM's coroutines take
    // the square of their number: 80 s for 1,428 floats.
    p.max_scratch_bytes = 1024;
  }
  return made;
}

namespace {

/// What every adapter has, in the order of https://www.w3.org/TR/webgpu/#limits.
constexpr WGPULimits kDefaults = {nullptr, 8192, 8192,     2048, 256,   4,  24,    1000,     8,
                                  4,       16,   16,       8,    4,     12, 65536, 1u << 27, 256,
                                  256,     8,    1u << 28, 16,   2048,  16, 8,     32,       16384,
                                  256,     256,  256,      64,   65535, 0};

class WgslBackend : public sdk::Backend {
 public:
  static constexpr sdk::BackendInfo kInfo{"wgsl", TENON_VERSION, "Apache-2.0 WITH LLVM-exception",
                                          -20};  // after drivers closer to the hardware

  std::vector<tn_device_info> enumerate(std::string& reason) override {
    std::vector<tn_device_info> infos;
    reason = adapters().reason;
    for (WGPUAdapter adapter : adapters().handles) {
      WGPUAdapterInfo info = WGPU_ADAPTER_INFO_INIT;
      library().gpu.AdapterGetInfo(adapter, &info);
      const bool is_cpu = info.adapterType == WGPUAdapterType_CPU;
      infos.push_back(sdk::device_info(is_cpu ? TN_DEVICE_CPU : TN_DEVICE_GPU, text_of(info.device),
                                       "wgsl", library().name + ", " + text_of(info.description)));
      library().gpu.AdapterInfoFreeMembers(info);
    }
    return infos;
  }

  std::unique_ptr<sdk::Device> open(uint32_t index, sdk::Options&) override {
    return std::make_unique<WgslDevice>(adapters().handles[index]);
  }

  const tn_properties* target(std::string_view name) override {
    static const auto& table = *make_properties(kDefaults, false, "").release();
    return name == "wgsl" ? &table.get() : nullptr;
  }

  tn_support supports(const sdk::Target&, const sdk::ProgramView& program,
                      std::string& reason) override {
    tn_error error = TN_INIT(tn_error);
    const int32_t status = sdk::guarded(&error, [&] { sdk::print_wgsl(program); });
    reason = error.message;
    return status == TN_OK ? TN_SUPPORT_YES : TN_SUPPORT_NO;
  }

  std::unique_ptr<sdk::Executable> compile(const sdk::Target& target,
                                           const sdk::ProgramView& program,
                                           tn_compile_report& report) override {
    auto made = std::make_unique<WgslExecutable>(sdk::Program(program), target.device);
    report.binary_bytes = made->source.size();
    report.shared_bytes = program.header().shared_bytes;
    return made;
  }

  std::unique_ptr<sdk::Executable> load(const sdk::Target& target,
                                        std::span<const std::byte> bytes) override {
    return std::make_unique<WgslExecutable>(WgslExecutable::saved_program(bytes), target.device);
  }

  const void* extension(std::string_view id) override {
    return id == TN_TIMING_ID ? &sdk::timing_table() : nullptr;
  }
};

}  // namespace
}  // namespace tenon::wgsl

TENON_BACKEND(tenon::wgsl::WgslBackend)
