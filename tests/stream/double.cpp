// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of StreamApi, on the simulated machine.
#include "tests/stream/double.hpp"

#include <chrono>
#include <cstdlib>
#include <cstring>

#include "sdk/program/builder.hpp"
#include "tests/stream/machine.hpp"

namespace tenon::sdk {
namespace {

using Lock = std::lock_guard<std::recursive_mutex>;

enum : int {
  kInvalid = 1,
  kOutOfMemory = 2,
  kInvalidImage = 200,
  kNoBinaryForGpu = 209,
  kInvalidHandle = 400,
  kNotFound = 500,
  kAlreadyRegistered = 712,
  kCaptureUnsupported = 900,
};
constexpr uint64_t kMemoryBytes = 64 << 20;
constexpr unsigned kMostBlock[] = {1024, 1024, 64}, kMostThreads = 1024;
constexpr unsigned kMostGrid[] = {0x7fffffff, 65535, 65535};
/// Shared memory of a block, in CUDA's manner as it is and with opt-in (8.9), and in HIP's.
constexpr unsigned kShared = 48 << 10, kSharedOptIn = 99 << 10, kSharedHip = 64 << 10;

/// One op, at the end of a stream or of what it captures.
int enqueue(const char* name, ApiStream* stream, QueuedOp op) {
  Lock lock(machine().mutex);
  if (const int code = machine().begin(name)) return code;
  if (!machine().streams.contains(stream)) {
    machine().violation(std::string(name) + " on a stream that is not there");
    return kInvalid;
  }
  if (stream->device != current_device()) {
    machine().violation(std::string(name) + " on a stream of another device");
    return kInvalidHandle;
  }
  if (stream->is_capturing) {
    stream->captured.push_back(std::move(op));
  } else {
    machine().check_touched(op.touched, stream->device);
    stream->queue.push_back(std::move(op));
  }
  return 0;
}

template <class T>
int destroy(const char* name, std::set<T*>& all, T* object) {
  Lock lock(machine().mutex);
  machine().recorded.emplace_back(name);
  if (current_device() < 0) machine().violation(std::string(name) + " without a context");
  if (all.erase(object) == 0) {
    machine().violation(std::string(name) + " of what is not there");
    return kInvalid;
  }
  delete object;
  return 0;
}

int stream_create(ApiStream** out, unsigned) {
  Lock lock(machine().mutex);
  if (const int code = machine().begin("stream_create")) return code;
  *out = new ApiStream{current_device(), {}, false, {}};
  machine().streams.insert(*out);
  return 0;
}

int stream_destroy(ApiStream* stream) {
  Lock lock(machine().mutex);
  if (machine().streams.contains(stream) && !stream->queue.empty() &&
      !machine().lost[static_cast<size_t>(stream->device)]) {
    machine().violation("a stream is destroyed with work in it");
  }
  return destroy("stream_destroy", machine().streams, stream);
}

int stream_synchronize(ApiStream* stream) {
  Lock lock(machine().mutex);
  if (const int code = machine().begin("stream_synchronize")) return code;
  if (stream->is_capturing) return kCaptureUnsupported;
  const int& lost = machine().lost[static_cast<size_t>(stream->device)];
  machine().run_until([&] { return stream->queue.empty() || lost; }, "stream_synchronize");
  return lost;
}

int stream_wait_event(ApiStream* stream, ApiEvent* event, unsigned) {
  QueuedOp op;
  op.wait = event;
  op.generation = event->recorded;
  return enqueue("stream_wait_event", stream, std::move(op));
}

int event_create(ApiEvent** out, unsigned flags) {
  Lock lock(machine().mutex);
  if (const int code = machine().begin("event_create")) return code;
  *out = new ApiEvent{current_device(), (flags & kApiEventDisableTiming) == 0};
  machine().events.insert(*out);
  return 0;
}

int event_record(ApiEvent* event, ApiStream* stream) {
  Lock lock(machine().mutex);
  if (event->device != stream->device) {
    machine().violation("event_record on a stream of another device");
    return kInvalidHandle;
  }
  QueuedOp op;
  const uint64_t generation = event->recorded + 1;
  op.run = [event, generation] {
    event->done = std::max(event->done, generation);
    const std::chrono::duration<double, std::milli> now =
        std::chrono::steady_clock::now().time_since_epoch();
    event->milliseconds = now.count();
  };
  const int code = enqueue("event_record", stream, std::move(op));
  if (code == 0) event->recorded = generation;
  return code;
}

int event_query(ApiEvent* event) {
  Lock lock(machine().mutex);
  if (const int code = machine().begin("event_query")) return code;
  if (event->done < event->recorded) machine().step_any();
  if (const int lost = machine().lost[static_cast<size_t>(event->device)]) return lost;
  return event->done >= event->recorded ? 0 : kApiNotReady;
}

int event_synchronize(ApiEvent* event) {
  Lock lock(machine().mutex);
  if (const int code = machine().begin("event_synchronize")) return code;
  const int& lost = machine().lost[static_cast<size_t>(event->device)];
  machine().run_until([&] { return event->done >= event->recorded || lost; }, "event_synchronize");
  return lost;
}

int event_elapsed(float* out, ApiEvent* begin, ApiEvent* end) {
  Lock lock(machine().mutex);
  if (const int code = machine().begin("event_elapsed")) return code;
  for (const ApiEvent* event : {begin, end}) {
    if (!event->is_timed || event->recorded == 0) {
      machine().violation("event_elapsed of an event without a time");
      return kInvalidHandle;
    }
    if (event->done < event->recorded) return kApiNotReady;
  }
  *out = static_cast<float>(end->milliseconds - begin->milliseconds);
  return 0;
}

int allocate(const char* name, uint64_t* out, size_t size, int device, bool is_pooled) {
  Lock lock(machine().mutex);
  if (const int code = machine().begin(name)) return code;
  if (size == 0) return kInvalid;
  uint64_t held = 0;
  for (const auto& [address, block] : machine().memory) held += block.size;
  if (size > kMemoryBytes - held) return kOutOfMemory;
  void* bytes = std::aligned_alloc(256, (size + 255) / 256 * 256);
  std::memset(bytes, 0xA5, size);
  *out = reinterpret_cast<uint64_t>(bytes);
  machine().memory[*out] = {size, device, false, is_pooled};
  return 0;
}

int release(const char* name, uint64_t address, bool is_host, bool is_import, bool is_pooled) {
  Lock lock(machine().mutex);
  machine().recorded.emplace_back(name);
  if (current_device() < 0) machine().violation(std::string(name) + " without a context");
  const auto at = machine().memory.find(address);
  if (at == machine().memory.end() || (at->second.device < 0) != is_host ||
      at->second.is_import != is_import || at->second.is_pooled != is_pooled) {
    machine().violation(std::string(name) + " of what is not there");
    return kInvalid;
  }
  if (machine().is_in_flight(address, at->second.size, nullptr)) {
    machine().violation(std::string(name) + " while queued work uses it");
  }
  if (!is_import) std::free(reinterpret_cast<void*>(address));
  machine().memory.erase(at);
  return 0;
}

int host_allocate(void** out, size_t size, unsigned) {
  uint64_t address = 0;
  const int code = allocate("host_allocate", &address, size, -1, false);
  if (code == 0) *out = reinterpret_cast<void*>(address);
  return code;
}

int host_register(void* pointer, size_t size, unsigned) {
  Lock lock(machine().mutex);
  if (const int code = machine().begin("host_register")) return code;
  const auto address = reinterpret_cast<uint64_t>(pointer);
  if (!pointer || size == 0) return kInvalid;
  for (const auto& [at, block] : machine().memory) {
    if (block.device < 0 && at < address + size && address < at + block.size) {
      return kAlreadyRegistered;
    }
  }
  machine().memory[address] = {size, -1, true, false};
  return 0;
}

int host_device_address(uint64_t* out, void* pointer, unsigned) {
  Lock lock(machine().mutex);
  if (const int code = machine().begin("host_device_address")) return code;
  *out = reinterpret_cast<uint64_t>(pointer);
  return 0;
}

template <class T>
int fill(const char* name, uint64_t address, T value, size_t count, ApiStream* stream) {
  if (address % sizeof(T)) machine().violation("a fill that is not aligned to its width");
  QueuedOp op;
  op.touched = {{address, count * sizeof(T)}};
  op.run = [=] { std::fill_n(reinterpret_cast<T*>(address), count, value); };
  return enqueue(name, stream, std::move(op));
}

/// Compiled once for each program: loading is what is tested, not the C compiler.
const CKernel& kernel_of(const Program& program) {
  static std::map<std::string, std::unique_ptr<CKernel>> kernels;
  const auto bytes = program.view().bytes();
  auto& kernel = kernels[std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())];
  if (!kernel) kernel = std::make_unique<CKernel>(program);
  return *kernel;
}

int module_load(ApiModule** out, const void* image) {
  Lock lock(machine().mutex);
  if (const int code = machine().begin("module_load")) return code;
  ImageHeader header;
  if (std::memcmp(image, header.magic, sizeof header.magic) != 0) return kInvalidImage;
  std::memcpy(&header, image, sizeof header);
  if (header.toolkit / 1000 > machine().driver / 1000) return kInvalidImage;
  if (header.architecture != kDoubleArchitecture) return kNoBinaryForGpu;
  const char* bytes = static_cast<const char*>(image) + sizeof header;
  tn_program size = {};
  std::memcpy(static_cast<void*>(&size), bytes, sizeof size);
  const Program program(bytes, size.total_size);
  const std::string name(program.view().name());
  const int device = current_device();
  *out = new ApiModule{device,
                       "kernel_" + name,
                       {&kernel_of(program), LaunchSignature(program.view()), device,
                        name.starts_with("lose"), Double::is_hip() ? kSharedHip : kShared}};
  machine().modules.insert(*out);
  return 0;
}

int function_set_attribute(ApiFunction* function, int attribute, int value) {
  Lock lock(machine().mutex);
  if (const int code = machine().begin("function_set_attribute")) return code;
  if (attribute != kApiFunctionDynamicShared || value < 0 ||
      static_cast<unsigned>(value) > kSharedOptIn) {
    return kInvalid;
  }
  function->most_dynamic = static_cast<unsigned>(value);
  return 0;
}

int module_function(ApiFunction** out, ApiModule* from, const char* name) {
  Lock lock(machine().mutex);
  if (const int code = machine().begin("module_function")) return code;
  if (from->entry != name) return kNotFound;
  *out = &from->function;
  return 0;
}

/// Whether a driver takes a launch of this size.
bool is_launchable(const unsigned (&grid)[3], const unsigned (&block)[3], unsigned shared,
                   const ApiFunction& function) {
  for (int axis = 0; axis < 3; ++axis) {
    if (grid[axis] == 0 || grid[axis] > kMostGrid[axis]) return false;
    if (block[axis] == 0 || block[axis] > (Double::is_hip() ? 1024 : kMostBlock[axis])) {
      return false;
    }
    if (Double::is_hip() && uint64_t{grid[axis]} * block[axis] > UINT32_MAX) return false;
  }
  return block[0] * block[1] * block[2] <= kMostThreads && shared <= function.most_dynamic;
}

int launch(ApiFunction* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
           unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, ApiStream* stream,
           void** arguments, void**) {
  const unsigned grid[] = {grid_x, grid_y, grid_z}, block[] = {block_x, block_y, block_z};
  if (!is_launchable(grid, block, shared, *function)) return kInvalid;
  if (function->device != stream->device) return kInvalidHandle;
  const auto& expected = function->signature.arguments;
  std::vector<uint64_t> values;
  QueuedOp op;
  for (size_t i = 0; i < expected.size(); ++i) {
    values.push_back(*static_cast<const uint64_t*>(arguments[i]));
    if (expected[i].kind == TN_PARAM_BUFFER && expected[i].bytes) {
      op.touched.push_back({values.back(), expected[i].bytes});
    }
  }
  op.run = [=, device = stream->device]() mutable {
    if (function->loses) {
      machine().lost[static_cast<size_t>(device)] = 719;
      return;
    }
    std::vector<void*> pointers;
    for (size_t i = 0; i < values.size(); ++i) {
      const bool is_buffer = function->signature.arguments[i].kind == TN_PARAM_BUFFER;
      pointers.push_back(is_buffer ? reinterpret_cast<void*>(values[i]) : &values[i]);
    }
    function->kernel->run({grid_x, grid_y, grid_z}, pointers.data());
  };
  return enqueue("launch", stream, std::move(op));
}

int capture_begin(ApiStream* stream, int) {
  Lock lock(machine().mutex);
  if (const int code = machine().begin("capture_begin")) return code;
  stream->is_capturing = true;
  return 0;
}

int capture_end(ApiStream* stream, ApiGraph** out) {
  Lock lock(machine().mutex);
  if (const int code = machine().begin("capture_end")) return code;
  stream->is_capturing = false;
  *out = new ApiGraph{std::move(stream->captured)};
  machine().graphs.insert(*out);
  return 0;
}

int graph_instantiate(ApiGraphExec** out, ApiGraph* graph, unsigned long long) {
  Lock lock(machine().mutex);
  if (const int code = machine().begin("graph_instantiate")) return code;
  *out = new ApiGraphExec{current_device(), graph->ops};
  machine().execs.insert(*out);
  return 0;
}

int graph_launch(ApiGraphExec* exec, ApiStream* stream) {
  QueuedOp all;
  for (const QueuedOp& op : exec->ops) {
    all.touched.insert(all.touched.end(), op.touched.begin(), op.touched.end());
  }
  all.run = [exec, stream] {
    if (!machine().execs.contains(exec)) {
      machine().violation("a graph runs that is destroyed");
      return;
    }
    for (const QueuedOp& op : exec->ops) {
      if (!machine().lost[static_cast<size_t>(stream->device)]) op.run();
    }
  };
  return enqueue("graph_launch", stream, std::move(all));
}

template <class T>
auto graph_abilities(StreamApi& api, T&& has) {
  if (!has) return;
  api.capture_begin = capture_begin;
  api.capture_end = capture_end;
  api.graph_instantiate = graph_instantiate;
  api.graph_launch = graph_launch;
  api.graph_exec_destroy = [](ApiGraphExec* exec) {
    return destroy("graph_exec_destroy", machine().execs, exec);
  };
  api.graph_destroy = [](ApiGraph* graph) {
    return destroy("graph_destroy", machine().graphs, graph);
  };
}

void device_functions(StreamApi& api) {
  api.init = [](unsigned) { return machine().begin("init", false); };
  api.driver_version = [](int* out) { return *out = machine().driver, 0; };
  api.device_count = [](int* out) { return *out = kDoubleDevices, 0; };
  api.device_name = [](char* out, int size, int) {
    return std::strncpy(out, "recording double", static_cast<size_t>(size)), 0;
  };
  api.device_uuid = [](unsigned char* out, int device) {
    std::fill_n(out, 16, static_cast<unsigned char>(device + 1));
    return 0;
  };
  // The driver's order is not that of the buses.
  api.device_bus_id = [](char* out, int, int device) {
    std::strcpy(out, "0000:00:00.0");
    out[5] = static_cast<char>('9' - device);
    return 0;
  };
  api.device_memory = [](size_t* out, int) { return *out = kMemoryBytes, 0; };
  api.device_attribute = [](int* out, int attribute, int) {
    *out = attribute == 115 && machine().has_pools;
    if (attribute == 97) *out = Double::is_hip() ? kSharedHip : kSharedOptIn;
    return 0;
  };
  api.can_access_peer = [](int* out, int, int) { return *out = 1, 0; };
}

}  // namespace

void fill_double(StreamApi& api) {
  device_functions(api);
  api.stream_create = stream_create;
  api.stream_destroy = stream_destroy;
  api.stream_synchronize = stream_synchronize;
  api.stream_wait_event = stream_wait_event;
  api.event_create = event_create;
  api.event_destroy = [](ApiEvent* e) { return destroy("event_destroy", machine().events, e); };
  api.event_record = event_record;
  api.event_query = event_query;
  api.event_synchronize = event_synchronize;
  api.event_elapsed = event_elapsed;
  api.memory_allocate = [](uint64_t* out, size_t size) {
    return allocate("memory_allocate", out, size, current_device(), false);
  };
  api.memory_free = [](uint64_t at) { return release("memory_free", at, false, false, false); };
  if (machine().has_pools) {
    // A pool is its device's number and one.
    api.default_pool = [](ApiPool** out, int device) {
      *out = reinterpret_cast<ApiPool*>(static_cast<uintptr_t>(device) + 1);
      return 0;
    };
    api.pool_set_access = [](ApiPool* pool, const ApiPoolAccess* access, size_t count) {
      const auto owner = reinterpret_cast<uintptr_t>(pool) - 1;
      const bool is_right = count == 1 && access->location_type == 1 && access->flags == 3 &&
                            access->location != static_cast<int>(owner);
      if (is_right) machine().reached.emplace(access->location, static_cast<int>(owner));
      return is_right ? 0 : 1;
    };
    api.memory_allocate_async = [](uint64_t* out, size_t size, ApiStream*) {
      return allocate("memory_allocate_async", out, size, current_device(), true);
    };
    api.memory_free_async = [](uint64_t at, ApiStream*) {
      return release("memory_free_async", at, false, false, true);
    };
  }
  api.host_allocate = host_allocate;
  api.host_free = [](void* at) {
    return release("host_free", reinterpret_cast<uint64_t>(at), true, false, false);
  };
  api.host_register = host_register;
  api.host_unregister = [](void* at) {
    return release("host_unregister", reinterpret_cast<uint64_t>(at), true, true, false);
  };
  api.host_device_address = host_device_address;
  api.fill8 = [](uint64_t at, unsigned char v, size_t n, ApiStream* s) {
    return fill<unsigned char>("fill8", at, v, n, s);
  };
  api.fill16 = [](uint64_t at, unsigned short v, size_t n, ApiStream* s) {
    return fill<unsigned short>("fill16", at, v, n, s);
  };
  api.fill32 = [](uint64_t at, unsigned v, size_t n, ApiStream* s) {
    return fill<unsigned>("fill32", at, v, n, s);
  };
  api.module_load = module_load;
  api.module_unload = [](ApiModule* m) { return destroy("module_unload", machine().modules, m); };
  api.module_function = module_function;
  if (!Double::is_hip()) api.function_set_attribute = function_set_attribute;
  api.launch = launch;
  graph_abilities(api, machine().has_graphs);
}

int double_copy(uint64_t to, uint64_t from, size_t size, ApiStream* stream) {
  QueuedOp op;
  op.touched = {{to, size}, {from, size}};
  op.run = [=] {
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), size);
  };
  return enqueue("copy", stream, std::move(op));
}

}  // namespace tenon::sdk
