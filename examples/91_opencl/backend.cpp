// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every OpenCL device that computes in double: memory objects, one queue in order, kernels.
#include "sdk/backend/backend.hpp"

#include <algorithm>
#include <array>

#include "driver.hpp"
#include "sdk/backend/property_table.hpp"
#include "sdk/shader/queue_device.hpp"
#include "sdk/shader/source_executable.hpp"

namespace opencl {

const sdk::Dialect& dialect();  // dialect.cpp

namespace {

class ClMemory : public sdk::Memory {
 public:
  ClMemory(cl_context context, cl_command_queue maps, uint64_t size) : maps_(maps), size_(size) {
    cl_int code = 0;
    const cl_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR;
    buffer_.reset(cl.CreateBuffer(context, flags, size, nullptr, &code));
    check(code, "allocate");
  }
  void* map(uint64_t offset, uint64_t size) override {
    cl_int code = 0;
    mapped_ = cl.EnqueueMapBuffer(maps_, buffer_.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, offset,
                                  size, 0, nullptr, nullptr, &code);
    check(code, "map");
    return mapped_;
  }
  void unmap() override {
    check(cl.EnqueueUnmapMemObject(maps_, buffer_.get(), mapped_, 0, nullptr, nullptr), "unmap");
    check(cl.Finish(maps_), "unmap");
  }
  uint64_t size() const override { return size_; }
  cl_mem buffer() const { return buffer_.get(); }

 private:
  const cl_command_queue maps_;
  const uint64_t size_;
  Buffer buffer_;
  void* mapped_ = nullptr;
};

cl_mem buffer_of(const sdk::Range& range) {
  return range.memory ? static_cast<const ClMemory*>(range.memory)->buffer() : nullptr;
}

class ClMark : public sdk::Mark {
 public:
  explicit ClMark(cl_event event) : event_(event) {}
  bool is_reached() override {
    cl_int status = 0;
    check(cl.GetEventInfo(event_.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                          nullptr),
          "query");
    if (status < 0)
      throw sdk::Failure(TN_ERROR_DEVICE_LOST, fmt::format("OpenCL's error {}", status));
    return status == CL_COMPLETE;
  }
  void wait() override {
    cl_event event = event_.get();
    cl.WaitForEvents(1, &event);
  }

 private:
  const Event event_;
};

void fill_properties(cl_device_id device, sdk::PropertyTable& table) {
  table.claim(dialect().data().ops).claim(sdk::kVectorOps).claim(sdk::kWorkgroupOps);
  table.store_all().compute_all();
  tn_memory_space space = TN_INIT(tn_memory_space);
  space.flags = TN_MEMORY_DEVICE | TN_MEMORY_HOST_VISIBLE;
  space.alignment = std::min(info<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8, 64u);
  space.total = info<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  space.largest = info<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  space.copy_from = 1;
  table.add_memory(space);
  const auto small = [](size_t n) { return static_cast<uint32_t>(std::min<size_t>(n, 1024)); };
  const auto sizes = info<std::array<size_t, 3>>(device, CL_DEVICE_MAX_WORK_ITEM_SIZES);
  table.workgroup(small(sizes[0]), small(sizes[1]), small(sizes[2]),
                  small(info<size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE)));
  tn_properties& p = table.fields();
  std::ranges::fill(p.max_grid, INT32_MAX);
  // Of each a pointer and an offset; some room for scalars.
  p.max_bindings = small((info<size_t>(device, CL_DEVICE_MAX_PARAMETER_SIZE) - 128) / 16);
  p.max_buffer_bytes = space.largest;
  p.max_shared_bytes = static_cast<uint32_t>(info<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE));
  p.max_scratch_bytes = 16384;
  p.compute_units = info<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS);
  if (!(info<cl_device_fp_config>(device, CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_DENORM))
    p.numerics = TN_NUMERICS_FLUSH_INPUT | TN_NUMERICS_FLUSH_OUTPUT;
  if (info<cl_device_type>(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU)
    p.flags |= TN_DEVICE_SOFTWARE;
}

class ClDevice : public sdk::QueueDevice {
 public:
  explicit ClDevice(cl_device_id device);
  ~ClDevice() override { close(); }

  const tn_properties& properties() const override { return properties_.get(); }
  std::unique_ptr<sdk::Memory> allocate(uint32_t space, uint64_t size) override;

  cl_device_id id() const { return id_; }
  cl_context context() const { return context_.get(); }
  /// Who compiled, and for what: saved kernels of others are refused.
  std::string identity() const { return text(id_, CL_DEVICE_NAME) + text(id_, CL_DRIVER_VERSION); }

 private:
  void launch(const Launch& launch) override;
  void copy(const sdk::Range& to, const sdk::Range& from) override;
  void fill_words(const sdk::Range& to, uint32_t word) override;
  void write(const sdk::Range& to, std::span<const std::byte> bytes) override;
  std::unique_ptr<sdk::Mark> mark() override;
  void drain() noexcept override { cl.Finish(queue_.get()); }

  const cl_device_id id_;
  sdk::PropertyTable properties_;
  Context context_;
  Queue queue_, maps_;
};

class ClExecutable : public sdk::SourceExecutable {
 public:
  /// From source, or from the binary of one that was saved.
  ClExecutable(sdk::Program program, const ClDevice& device,
               std::span<const std::byte> binary = {});
  std::vector<std::byte> binary() const override;
  cl_kernel kernel() const { return kernel_.get(); }

 private:
  Code code_;
  Kernel kernel_;
};

ClDevice::ClDevice(cl_device_id device)
    : id_(device),
      properties_(TN_DEVICE_COMPUTE | TN_DEVICE_ASYNC | TN_DEVICE_DETERMINISTIC |
                  TN_DEVICE_SYMBOLIC | TN_DEVICE_SAVE) {
  const sdk::SignalGuard guard;
  fill_properties(device, properties_);
  cl_int code = 0;
  context_.reset(cl.CreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
  check(code, "open");
  for (Queue* queue : {&queue_, &maps_}) {
    queue->reset(cl.CreateCommandQueue(context_.get(), device, 0, &code));
    check(code, "open");
  }
}

std::unique_ptr<sdk::Memory> ClDevice::allocate(uint32_t, uint64_t size) {
  require_alive();
  return std::make_unique<ClMemory>(context_.get(), maps_.get(), size);
}

void ClDevice::launch(const Launch& launch) {
  const auto& code = static_cast<const ClExecutable&>(launch.executable);
  cl_uint number = 0;
  const auto set = [&](const void* value, size_t size) {
    check(cl.SetKernelArg(code.kernel(), number++, size, value), "launch");
  };
  for (const auto& [buffer, scalar] : launch.arguments) {
    if (!scalar.empty()) {
      set(scalar.data(), scalar.size());
    } else {
      const cl_mem memory = buffer_of(buffer);
      set(&memory, sizeof memory);
      set(&buffer.offset, sizeof buffer.offset);
    }
  }
  size_t global[3], local[3];
  for (int axis = 0; axis < 3; ++axis) {
    local[axis] = code.signature().workgroup[axis];
    global[axis] = launch.grid[axis] * local[axis];
  }
  check(cl.EnqueueNDRangeKernel(queue_.get(), code.kernel(), 3, nullptr, global, local, 0, nullptr,
                                nullptr),
        "launch");
}

void ClDevice::copy(const sdk::Range& to, const sdk::Range& from) {
  check(cl.EnqueueCopyBuffer(queue_.get(), buffer_of(from), buffer_of(to), from.offset, to.offset,
                             to.size, 0, nullptr, nullptr),
        "copy");
}

void ClDevice::fill_words(const sdk::Range& to, uint32_t word) {
  check(cl.EnqueueFillBuffer(queue_.get(), buffer_of(to), &word, sizeof word, to.offset, to.size, 0,
                             nullptr, nullptr),
        "fill");
}

void ClDevice::write(const sdk::Range& to, std::span<const std::byte> bytes) {
  check(cl.EnqueueWriteBuffer(queue_.get(), buffer_of(to), CL_FALSE, to.offset, to.size,
                              bytes.data(), 0, nullptr, nullptr),
        "fill");
}

std::unique_ptr<sdk::Mark> ClDevice::mark() {
  cl_event event = nullptr;
  check(cl.EnqueueMarkerWithWaitList(queue_.get(), 0, nullptr, &event), "submit");
  auto made = std::make_unique<ClMark>(event);
  check(cl.Flush(queue_.get()), "submit");
  return made;
}

ClExecutable::ClExecutable(sdk::Program made, const ClDevice& device,
                           std::span<const std::byte> binary)
    : SourceExecutable(std::move(made), &device, dialect(), device.identity()) {
  const cl_device_id id = device.id();
  const cl_context context = device.context();
  cl_int code = 0;
  const char* text = source().c_str();
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const size_t size = binary.size();
  code_.reset(size ? cl.CreateProgramWithBinary(context, 1, &id, &size, &bytes, nullptr, &code)
                   : cl.CreateProgramWithSource(context, 1, &text, nullptr, &code));
  check(code, "compile");
  std::string options = "-cl-std=CL1.2";
  if (info<cl_device_fp_config>(id, CL_DEVICE_SINGLE_FP_CONFIG) &
      CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT)
    options += " -cl-fp32-correctly-rounded-divide-sqrt";
  if (cl.BuildProgram(code_.get(), 1, &id, options.c_str(), nullptr, nullptr) != CL_SUCCESS) {
    char log[4096] = {};
    cl.GetProgramBuildInfo(code_.get(), id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, nullptr);
    throw sdk::Failure(TN_ERROR_COMPILE_FAILED, log);
  }
  kernel_.reset(
      cl.CreateKernel(code_.get(), sdk::Dialect::function_name(program()).c_str(), &code));
  check(code, "compile");
}

std::vector<std::byte> ClExecutable::binary() const {
  size_t size = 0;
  check(cl.GetProgramInfo(code_.get(), CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr),
        "save");
  std::vector<std::byte> bytes(size);
  std::byte* to = bytes.data();
  check(cl.GetProgramInfo(code_.get(), CL_PROGRAM_BINARIES, sizeof to, &to, nullptr), "save");
  return bytes;
}

class OpenClBackend : public sdk::Backend {
 public:
  static constexpr sdk::BackendInfo kInfo{"opencl", "1.0", "Apache-2.0 WITH LLVM-exception", -30};

  std::vector<tn_device_info> enumerate(std::string& reason) override {
    std::vector<tn_device_info> infos;
    for (cl_device_id device : devices(reason)) {
      const bool is_cpu = info<cl_device_type>(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU;
      infos.push_back(sdk::device_info(is_cpu ? TN_DEVICE_CPU : TN_DEVICE_GPU,
                                       text(device, CL_DEVICE_NAME), "opencl1.2",
                                       text(device, CL_DRIVER_VERSION)));
    }
    return infos;
  }

  std::unique_ptr<sdk::Device> open(uint32_t index, sdk::Options&) override {
    std::string reason;
    return std::make_unique<ClDevice>(devices(reason)[index]);
  }

  std::unique_ptr<sdk::Executable> compile(const sdk::Target& target,
                                           const sdk::ProgramView& program,
                                           tn_compile_report& report) override {
    report.shared_bytes = program.header().shared_bytes;
    return std::make_unique<ClExecutable>(sdk::Program(program), on(target));
  }

  std::unique_ptr<sdk::Executable> load(const sdk::Target& target,
                                        std::span<const std::byte> bytes) override {
    const ClDevice& device = on(target);
    const auto [program, binary] = ClExecutable::saved(bytes, device.identity());
    return std::make_unique<ClExecutable>(program, device, binary);
  }

 private:
  static const ClDevice& on(const sdk::Target& target) {
    return static_cast<const ClDevice&>(*target.device);
  }
};

}  // namespace
}  // namespace opencl

TENON_BACKEND(opencl::OpenClBackend)
