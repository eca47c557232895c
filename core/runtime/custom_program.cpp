// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/custom_program.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/reference/reference.hpp"
#include "core/runtime/layout.hpp"
#include "core/support/error.hpp"
#include "core/support/hash.hpp"
#include "sdk/program/text.hpp"

namespace tenon {
namespace {

constexpr int kTrials = 2;  ///< the second with infinities, NaN and integers of any size
constexpr uint8_t kGuard = 0xA5;

std::string describe_param(const tn_param& param) {
  if (param.kind == TN_PARAM_SCALAR)
    return fmt::format("a scalar {}", sdk::dtype_text(static_cast<uint8_t>(param.dtype)));
  const bool reads = param.access & TN_ACCESS_READ, writes = param.access & TN_ACCESS_WRITE;
  return fmt::format("a {} buffer of {}",
                     reads && writes ? "read and written"
                     : writes        ? "written"
                                     : "read",
                     sdk::dtype_text(static_cast<uint8_t>(param.dtype)));
}

/// The params that a launch binds: all but allocations.
std::vector<const tn_param*> bound_params(const sdk::ProgramView& program) {
  std::vector<const tn_param*> out;
  for (uint32_t p = 0; p < program.param_count(); ++p)
    if (program.param(p).kind != TN_PARAM_ALLOC) out.push_back(&program.param(p));
  return out;
}

void check_params(const sdk::ProgramView& program, const sdk::ProgramView& model) {
  const auto given = bound_params(program), wanted = bound_params(model);
  TN_REQUIRE(given.size() == wanted.size(), "expected {} params that are bound, got {}",
             wanted.size(), given.size());
  for (size_t p = 0; p < given.size(); ++p) {
    const tn_param &a = *given[p], &b = *wanted[p];
    // The trial finds a program that reads or writes less than the kernel does.
    const bool fits = a.kind == b.kind && a.dtype == b.dtype && a.count <= b.count &&
                      (a.access & ~b.access & (TN_ACCESS_READ | TN_ACCESS_WRITE)) == 0;
    TN_REQUIRE(fits, "expected {} of at least {} elements as param {}, got {} of {}",
               describe_param(b), b.count, p, describe_param(a), a.count);
    TN_REQUIRE(a.alignment <= b.alignment, "expected param {} aligned to at most {} bytes, got {}",
               p, b.alignment, a.alignment);
  }
}

/// Imported memory may be bound where no vector of it is aligned.
void check_aligned_loads(const sdk::ProgramView& program, const sdk::ProgramView& model) {
  const auto given = bound_params(program), wanted = bound_params(model);
  for (uint32_t i = 0; i < program.op_count(); ++i) {
    const tn_op& op = program.op(i);
    if (op.op != TN_OP_TAKE || !(op.flags & TN_OP_ALIGNED)) continue;
    const tn_op& memory = program.op(program.operands(op)[0]);
    const auto at = std::ranges::find(given, &program.param(static_cast<uint32_t>(memory.imm)));
    if (memory.op != TN_OP_PARAM || at == given.end()) continue;
    const auto p = static_cast<size_t>(at - given.begin());
    const uint32_t bytes = op.lanes * sdk::dtype_bytes(op.dtype);
    TN_REQUIRE(bytes <= wanted[p]->alignment,
               "expected loads of param {} aligned to at most {} bytes, got one to {}", p,
               wanted[p]->alignment, bytes);
  }
}

/// Checks the ops, dtypes and limits of a program against what the device claims.
void check_claims(const sdk::ProgramView& program, const std::array<int64_t, 3>& workgroups,
                  const Capabilities& capabilities) {
  const auto need = [](bool condition, std::string_view what, auto limit, auto got) {
    if (!condition)
      fail(ErrorKind::kUnsupported, "expected {} of at most {} on the device, got {}", what, limit,
           got);
  };
  uint64_t threads = 1;
  for (size_t d = 0; d < 3; ++d) {
    const uint32_t size = program.header().workgroup[d], most = capabilities.max_workgroup[d];
    need(size <= most, "a workgroup", most, size);
    threads *= size;
    const uint32_t grid = capabilities.max_grid[d];
    need(grid == 0 || workgroups[d] <= int64_t{grid}, "numbers of workgroups", grid, workgroups[d]);
  }
  need(threads <= capabilities.max_workgroup_threads, "threads in a workgroup",
       capabilities.max_workgroup_threads, threads);
  const uint32_t subgroup = program.header().subgroup_size;
  need(subgroup == 0 ||
           (subgroup >= capabilities.subgroup_min && subgroup <= capabilities.subgroup_max),
       "a subgroup", capabilities.subgroup_max, subgroup);
  for (uint32_t i = 0; i < program.op_count(); ++i) {
    const auto op = static_cast<Op>(program.op(i).op);
    const auto dtype = static_cast<DType>(program.op(i).dtype);
    if (is_optional(op) && !capabilities.has(op))
      fail(ErrorKind::kUnsupported, "expected ops that the device has, got {}", op_info(op).text);
    if (dtype == DType::kVoid) continue;
    const DTypeCaps& can = capabilities.of(dtype);
    if (!(is_elementwise(op) && op != Op::CAST ? can.arithmetic : can.arithmetic || can.storage))
      fail(ErrorKind::kUnsupported, "expected dtypes that the device has for {}, got {}",
           op_info(op).text, dtype_name(dtype));
  }
}

/// Multiples of 1/8 from -2 to 2, and small integers. `with_specials`: about one element in 61 is
/// infinite, NaN or an integer of any size.
Array drawn_array(DType dtype, std::vector<int64_t> shape, uint64_t seed, bool with_specials) {
  Array array = Array::zeros(dtype, std::move(shape));
  for (int64_t i = 0; i < array.count(); ++i) {
    const uint64_t random = hash_mix(seed, static_cast<uint64_t>(i));
    const bool special = with_specials && random % 61 == 0;
    const auto small = static_cast<int64_t>(random >> 8);
    if (is_float(dtype)) {
      constexpr double kSpecial[] = {-0.0, HUGE_VAL, -HUGE_VAL, NAN};
      array.set(i, Scalar::of(dtype, special ? kSpecial[small & 3]
                                             : static_cast<double>(small & 31) / 8 - 2));
    } else if (dtype == DType::kBool) {
      array.set(i, {dtype, random >> 63});
    } else {
      array.set(i, special ? Scalar{dtype, random >> (64 - dtype_bits(dtype))}
                           : Scalar::of_int(dtype, small & 7));
    }
  }
  return array;
}

/// The buffers of a kernel, each with a guard zone on both sides.
class Trial {
 public:
  Trial(Device& device, const Graph& graph, const std::vector<int>& alias,
        const std::vector<Array>& inputs)
      : device_(device),
        guard_((4096 + device.memory_alignment() - 1) / device.memory_alignment() *
               device.memory_alignment()) {
    for (const Array& input : inputs) inputs_.push_back(make(input));
    for (size_t o = 0; o < graph.outputs.size(); ++o) {
      results_.push_back(
          Array::zeros(graph.outputs[o]->dtype, concrete_shape(graph.outputs[o]->shape, {})));
      const int shared = o < alias.size() ? alias[o] : -1;
      outputs_.push_back(shared < 0 ? make(results_[o]) : inputs_[static_cast<size_t>(shared)]);
    }
  }

  /// Returns the outputs. Throws kInvalid if a guard zone was overwritten.
  std::vector<Array> run(const Executable& executable, const LoweredKernel& kernel) {
    std::vector<tn_argument> arguments;
    std::vector<BufferRef> used;
    for (const LaunchArgument& argument : kernel.arguments) {
      const auto index = static_cast<size_t>(argument.index);
      const Place& at =
          argument.kind == LaunchArgument::Kind::kInput ? inputs_.at(index) : outputs_.at(index);
      tn_argument a{};
      a.kind = TN_ARGUMENT_BUFFER;
      a.memory = at.buffer->memory();
      a.offset = at.buffer->offset() + guard_;
      a.size = at.bytes;
      arguments.push_back(a);
      used.push_back(at.buffer);
    }
    tn_command command{};
    command.struct_size = sizeof command;
    command.kind = TN_COMMAND_LAUNCH;
    command.executable = executable.handle;
    for (size_t d = 0; d < 3; ++d) {
      command.grid[d] = static_cast<uint32_t>(kernel.grid[d].value());
      command.block[d] = kernel.block[d];
      command.cluster[d] = 1;
    }
    command.argument_count = static_cast<uint32_t>(arguments.size());
    command.argument_stride = sizeof(tn_argument);
    command.arguments = arguments.data();
    device_.submit({command}, used);
    device_.synchronize();
    for (size_t o = 0; o < outputs_.size(); ++o)
      if (!results_[o].bytes.empty())
        device_.read(*outputs_[o].buffer, guard_, results_[o].bytes.data(),
                     results_[o].bytes.size());
    for (const Place& place : inputs_) check_guards(place, "an input");
    for (const Place& place : outputs_) check_guards(place, "an output");
    return results_;
  }

 private:
  struct Place {
    BufferRef buffer;
    uint64_t bytes = 0;
  };

  Place make(const Array& array) {
    const uint64_t bytes = whole_words(array.bytes.size(), device_.capabilities());
    std::vector<uint8_t> all(bytes + 2 * guard_, kGuard);
    std::ranges::copy(array.bytes, all.begin() + static_cast<int64_t>(guard_));
    Place place{device_.allocate(all.size(), "the trial of a program"), bytes};
    device_.write(*place.buffer, 0, all.data(), all.size());
    return place;
  }

  void check_guards(const Place& place, std::string_view what) const {
    std::vector<uint8_t> zone(guard_);
    for (const uint64_t at : {uint64_t{0}, guard_ + place.bytes}) {
      device_.read(*place.buffer, at, zone.data(), zone.size());
      TN_REQUIRE(std::ranges::all_of(zone, [](uint8_t b) { return b == kGuard; }),
                 "expected writes inside of buffers, got one {} the {} bytes of {}",
                 at == 0 ? "before" : "after", place.bytes, what);
    }
  }

  Device& device_;
  const uint64_t guard_;
  std::vector<Place> inputs_, outputs_;
  std::vector<Array> results_;
};

bool has_sums(const Graph& graph) {
  return std::ranges::any_of(topological(graph.outputs), [](const NodeRef& n) {
    return n->op == Op::REDUCE || n->op == Op::STORE;
  });
}

/// Throws kInvalid where an element is off by more than 8 units in its last place. `reorders`: sums
/// may be added in another order, so some units of the largest element are allowed too.
void compare_outputs(size_t output, const Array& got, const Array& expected, bool reorders) {
  double unit = 0, largest = 0;
  if (is_float(got.dtype)) {
    const Scalar one = Scalar::of(got.dtype, 1);
    unit = Scalar{one.dtype, one.bits + 1}.as_double() - 1;
    for (int64_t i = 0; reorders && i < expected.count(); ++i)
      if (const double e = std::abs(expected.at(i).as_double()); std::isfinite(e))
        largest = std::max(largest, e);
  }
  const double floor = std::min(1024 * unit, 1.0 / 64) * largest;
  for (int64_t i = 0; i < got.count(); ++i) {
    const Scalar g = got.at(i), e = expected.at(i);
    if (g == e) continue;
    const double a = g.as_double(), b = e.as_double();
    const bool close = is_float(g.dtype) && ((std::isnan(a) && std::isnan(b)) || a == b ||
                                             std::abs(a - b) <= 8 * unit * std::abs(b) + floor);
    TN_REQUIRE(close, "output {}, element {}: expected {}, got {}", output, i, to_string(e),
               to_string(g));
  }
}

}  // namespace

CustomProgram parse_custom_program(std::string_view text,
                                   const std::array<int64_t, 3>& workgroups) {
  CustomProgram out;
  std::string error;
  out.program = sdk::parse_program(text, error);
  TN_REQUIRE(error.empty(), "[program] {}", error);
  out.workgroups = workgroups;
  for (const int64_t count : workgroups)
    TN_REQUIRE(count >= 1 && count < (int64_t{1} << 31),
               "[program] expected from 1 to 2^31 - 1 workgroups along an axis, got {}", count);
  return out;
}

LoweredKernel with_program(LoweredKernel own, const CustomProgram& program,
                           const UnchosenKernel& kernel) {
  if (!kernel.tree.symbols.empty())
    fail(ErrorKind::kUnsupported,
         "expected a kernel of fixed sizes, got one with {} symbol(s): a program is for one size",
         kernel.tree.symbols.size());
  const sdk::ProgramView view = program.program.view();
  check_params(view, own.program.view());
  check_aligned_loads(view, own.program.view());
  check_claims(view, program.workgroups, kernel.capabilities);
  LoweredKernel out = own;
  out.model = std::make_shared<const LoweredKernel>(std::move(own));
  out.program = program.program;
  for (size_t d = 0; d < 3; ++d) {
    out.grid[d] = program.workgroups[d];
    out.block[d] = view.header().workgroup[d];
  }
  return out;
}

void try_program(Device& device, const Executable& executable, const LoweredKernel& kernel,
                 const Graph& graph, const std::vector<int>& alias) {
  const ExecutableRef model = device.compile(*kernel.model->program.get());
  const std::string name(kernel.model->program.view().name());
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<Array> inputs;
    for (const NodeRef& param : graph.params)
      inputs.push_back(drawn_array(param->dtype, concrete_shape(param->shape, {}),
                                   hash_mix(static_cast<uint64_t>(trial), inputs.size()),
                                   trial > 0));
    const std::vector<Array> expected =
        Trial(device, graph, alias, inputs).run(*model, *kernel.model);
    try {
      const std::vector<Array> got = Trial(device, graph, alias, inputs).run(executable, kernel);
      for (size_t o = 0; o < got.size(); ++o)
        compare_outputs(o, got[o], expected[o], has_sums(graph));
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("[kernel] {} on {} with the program set for it: {}",
                                            name, device.id(), error.what()));
    }
  }
}

}  // namespace tenon
