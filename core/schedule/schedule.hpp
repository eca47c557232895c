// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Partitions a graph into kernels, assigns them to devices, inserts copies.
//
// A kernel is a small Graph: its params are the buffers it reads, its outputs those it writes. So a
// schedule has a text form, and the reference can run each kernel alone.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/ir/build.hpp"
#include "core/ir/capabilities.hpp"
#include "core/ir/node.hpp"

namespace tenon {

enum class BufferKind : uint8_t { kInput, kTemporary, kOutput };

struct ScheduledBuffer {
  BufferKind kind = BufferKind::kTemporary;
  DType dtype = DType::kVoid;
  Shape shape;
  int device = 0;    ///< index into Schedule::devices
  std::string name;  ///< of the param or output; may be empty
};

struct Schedule;
struct PreparedKernels;  // core/compile

/// graph.params[i] reads buffer inputs[i]; graph.outputs[i] is written to buffer outputs[i]. A
/// buffer has the dtype and number of elements of its param or output; the shape may differ by a
/// reshape. alias[i] >= 0: output i and param alias[i] are one buffer, and no element is read after
/// another iteration wrote it. A STORE's first operand is always aliased.
struct KernelCall {
  Graph graph;
  std::vector<int> inputs, outputs, alias;
  /// Number of outputs of each section, in order. Sections are independent and have workgroups of
  /// their own (horizontal fusion). Empty: one section.
  std::vector<int> sections;
};

/// Copies as many elements as the destination has, from element `offset` of the source on. The
/// offset is 0 except for ranges of a memory-only device's buffer.
struct CopyCall {
  int source = 0, destination = 0;
  Expr offset = 0;
};

struct IfCall {
  int condition = 0;
  std::shared_ptr<const Schedule> then_schedule, else_schedule;
  std::vector<int> captured, outputs;
};

struct LoopCall {
  int trips = 0;
  std::shared_ptr<const Schedule> body;
  bool is_while = false;
  std::vector<int> initial, captured, outputs;  ///< outputs: the carried values at the end
};

struct Step {
  std::variant<KernelCall, CopyCall, IfCall, LoopCall> call;
  int device = 0;
};

struct Schedule {
  std::string name;
  std::vector<std::string> devices;
  std::vector<Expr> symbols;
  std::vector<ScheduledBuffer> buffers;
  std::vector<int> inputs;   ///< buffer of each graph param
  std::vector<int> outputs;  ///< buffer of each graph output; may name an input or repeat
  std::vector<Step> steps;   ///< in an order that respects every dependency; nothing writes a
                             ///< buffer that is always empty
  /// Kernels that fuses_reductions compiled while it was asked for them.
  std::shared_ptr<const PreparedKernels> prepared;
};

struct ScheduleDevice {
  std::string name;  ///< "cpu:0"
  CapabilitiesRef capabilities;
};

/// The device of an input, and whether its buffer is donated: to no output, to any output or
/// temporary, or to the output of this number.
struct InputPlace {
  static constexpr int kNotDonated = -1, kForAny = -2;
  int device = 0;
  int donated = kNotDonated;
  InputPlace(int device, int donated = kNotDonated) : device(device), donated(donated) {}  // NOLINT
  bool operator==(const InputPlace&) const = default;
};

struct ScheduleOptions {
  std::vector<ScheduleDevice> devices;   ///< [0] is the default
  std::vector<InputPlace> input_places;  ///< of each graph param; empty: all on [0], not donated
  bool fuse = true;                      ///< false: one kernel a node, for tests and search
  /// Whether dependent reductions can be one kernel on that device, as softmax and its maximum can.
  /// Empty: never.
  std::function<bool(const Graph& kernel, int device)> fuses_reductions = {};
};

/// `graph` is verified and simplified (core/rewrite). Throws kUnsupported, naming op and limit, for
/// what its device cannot run.
Schedule schedule(const Graph& graph, const ScheduleOptions& options, Builder& builder);

/// As `tenon show --stage schedule` prints it: each kernel as a graph, each copy as a line, then
/// the memory plan.
std::string print(const Schedule& schedule);

/// Calls `use` for each kernel of a schedule and of its branches and loops, in order.
void each_kernel(const Schedule& schedule,
                 const std::function<void(const KernelCall&, int device)>& use);

}  // namespace tenon
