// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cuts a graph into kernels, places them on devices, inserts copies.
//
// A kernel is itself a small Graph: its params are buffers, its outputs are what it writes. So the
// text form shows a schedule, and the reference can run each kernel alone.
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

/// graph.params[i] reads buffer inputs[i]; graph.outputs[i] goes to buffer outputs[i]. A buffer has
/// the dtype and the number of elements of its param or output; its shape may differ by a reshape.
/// alias[i] >= 0: output i and param alias[i] are one buffer; every element is read before or where
/// it is written (a STORE's first operand is always aliased so).
struct KernelCall {
  Graph graph;
  std::vector<int> inputs, outputs, alias;
  /// Outputs of each section, in order: what has nothing to do with one another, in workgroups of
  /// its own. Empty: one section.
  std::vector<int> sections;
};

/// As many elements as the destination has, from element `offset` of the source on; between devices
/// or on one. 0 but for ranges of what a memory-only device holds.
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
  /// What passes made of kernels when fuses_reductions was asked for them.
  std::shared_ptr<const PreparedKernels> prepared;
};

struct ScheduleDevice {
  std::string name;  ///< "cpu:0"
  CapabilitiesRef capabilities;
};

/// Where an input lives, and whether its buffer may be written over: by no output, by any (or by
/// what is computed on the way), or by one that has this number.
struct InputPlace {
  static constexpr int kKept = -1, kForAny = -2;
  int device = 0;
  int donated = kKept;
  InputPlace(int device, int donated = kKept) : device(device), donated(donated) {}  // NOLINT
  bool operator==(const InputPlace&) const = default;
};

struct ScheduleOptions {
  std::vector<ScheduleDevice> devices;   ///< [0] is the default
  std::vector<InputPlace> input_places;  ///< of each graph param; empty: all on [0], kept
  bool fuse = true;                      ///< false: one kernel a node, for tests and search
  /// Whether a kernel of reductions that depend on one another goes over their axis once, on the
  /// device of that number; none: there are no such kernels.
  std::function<bool(const Graph& kernel, int device)> fuses_reductions = {};
};

/// The graph is verified and simplified (core/rewrite). Throws kUnsupported, naming op and limit,
/// for what no kernel cut can place on its device.
Schedule schedule(const Graph& graph, const ScheduleOptions& options, Builder& builder);

/// As `tenon show --stage schedule` prints it: each kernel as a graph, each copy as a line, then
/// the memory plan.
std::string print(const Schedule& schedule);

/// Every kernel of a schedule and of the schedules inside its branches and loops, in order, with
/// the index of its device.
void each_kernel(const Schedule& schedule,
                 const std::function<void(const KernelCall&, int device)>& use);

}  // namespace tenon
