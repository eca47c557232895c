// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A whole backend: it interprets programs, all threads of a workgroup in lockstep, op by op. Copy
// it, and replace Interpreter by what your device does.
#include <algorithm>

#include "sdk/backend/backend.hpp"
#include "sdk/backend/host_device.hpp"
#include "sdk/backend/property_table.hpp"
#include "sdk/program/scalar.hpp"
#include "sdk/program/text.hpp"

namespace {
namespace sdk = tenon::sdk;

/// What is known about a program before it runs: where each value is kept, what each op calls.
class NullExecutable : public sdk::ProgramExecutable {
 public:
  explicit NullExecutable(sdk::Program source)
      : ProgramExecutable(std::move(source)),
        closes(sdk::region_closes(program())),
        places(sdk::allocation_places(program())) {
    for (uint32_t axis : signature().workgroup) threads *= axis;
    for (uint32_t i = 0; i < program().op_count(); ++i) {
      const tn_op& op = program().op(i);
      functions.push_back(sdk::scalar_function(program(), op));
      offsets.push_back(value_count);
      value_count += size_t{threads} * op.lanes;
    }
  }

  std::vector<uint32_t> closes;
  std::vector<sdk::AllocationPlace> places;
  uint32_t threads = 1;
  size_t value_count = 0;
  std::vector<sdk::ScalarFunction> functions;  ///< of elementwise ops and lane_reduce
  std::vector<size_t> offsets;                 ///< of each op's value: [threads, lanes] words
};

/// One launch. A mask says which threads take part; a barrier then has nothing left to do.
class Interpreter {
 public:
  using Mask = std::vector<uint8_t>;

  Interpreter(const NullExecutable& code, std::span<const sdk::HostArgument> arguments)
      : code_(code), view_(code.program()), words_(code.value_count) {
    for (uint32_t i = 0, argument = 0; i < view_.param_count(); ++i) {
      const bool is_own = view_.param(i).kind == TN_PARAM_ALLOC;
      is_private_.push_back(is_own && view_.param(i).space != TN_SPACE_SHARED);
      const uint64_t bytes = code.places[i].bytes;
      own_.emplace_back(is_private_[i] ? bytes * code.threads : bytes);
      bound_.push_back(is_own ? sdk::HostArgument{own_[i].data(), bytes} : arguments[argument++]);
    }
  }

  void run_group(const uint32_t (&group)[3]) {
    std::copy_n(group, 3, group_);
    run(0, view_.op_count(), Mask(code_.threads, 1));
  }

 private:
  uint64_t* words(uint32_t value) { return words_.data() + code_.offsets[value]; }
  uint64_t& word(uint32_t value, uint32_t thread, uint32_t lane) {
    const uint32_t lanes = view_.op(value).lanes;
    return words(value)[thread * lanes + (lanes == 1 ? 0 : lane)];  // one lane serves all
  }
  int64_t integer(uint32_t value, uint32_t thread, uint32_t lane = 0) {
    const uint64_t bits = word(value, thread, lane);
    return static_cast<int64_t>(sdk::convert(bits, view_.op(value).dtype, TN_DTYPE_I64));
  }
  static bool any(const Mask& mask) { return std::ranges::find(mask, 1) != mask.end(); }

  void run(uint32_t first, uint32_t last, const Mask& mask) {
    for (uint32_t i = first; i < last; ++i) {
      const tn_op& op = view_.op(i);
      if (op.op == TN_OP_LOOP) {
        run_loop(i, op, mask);
        i = code_.closes[i];
      } else if (op.op == TN_OP_IF) {
        const uint32_t condition = view_.operands(op)[0], other = code_.closes[i];
        Mask yes = mask, no = mask;
        for (uint32_t t = 0; t < code_.threads; ++t) {
          (word(condition, t, 0) ? no : yes)[t] = 0;
        }
        if (any(yes)) run(i + 1, other, yes);
        i = code_.closes[other];  // an END closes itself
        if (i != other && any(no)) run(other + 1, i, no);
      } else if (op.op == TN_OP_TAKE || op.op == TN_OP_STORE || op.op == TN_OP_ATOMIC) {
        access(i, op, mask);
      } else if (op.lanes) {
        compute(i, op);
      }
    }
  }

  void run_loop(uint32_t i, const tn_op& op, Mask mask) {
    const auto operands = view_.operands(op);
    const uint32_t last = code_.closes[i], carries = op.operand_count - 3u;
    const auto next = view_.operands(view_.op(last));
    for (uint32_t k = 0; k <= carries; ++k) {  // the induction variable, then the carries
      std::copy_n(words(k ? operands[2 + k] : operands[0]), code_.threads * view_.op(i + k).lanes,
                  words(i + k));
    }
    std::vector<uint64_t> fresh;
    for (;;) {
      for (uint32_t t = 0; t < code_.threads; ++t) {
        mask[t] = mask[t] && integer(i, t) < integer(operands[1], t);
      }
      if (!any(mask)) return;
      run(i + 1 + carries, last, mask);
      fresh.clear();  // all are read before one is written, and the condition after them
      for (const uint32_t value : next) {
        fresh.insert(fresh.end(), words(value),
                     words(value) + code_.threads * view_.op(value).lanes);
      }
      const uint64_t* from = fresh.data();
      for (uint32_t k = 0; k < carries; ++k) {
        const uint32_t lanes = view_.op(i + 1 + k).lanes;
        for (uint32_t t = 0; t < code_.threads; ++t, from += lanes) {
          if (mask[t]) std::copy_n(from, lanes, words(i + 1 + k) + t * lanes);
        }
      }
      for (uint32_t t = 0; t < code_.threads; ++t) {
        const auto at = static_cast<uint64_t>(integer(i, t));
        const auto left = static_cast<uint64_t>(integer(operands[1], t)) - at;
        const auto step = static_cast<uint64_t>(integer(operands[2], t));
        if (left <= step || (next.size() > carries && !from[t])) mask[t] = 0;
        word(i, t, 0) = sdk::convert(at + step, TN_DTYPE_I64, op.dtype);
      }
    }
  }

  /// The memory that a PARAM stands for in a thread.
  std::span<std::byte> memory(uint32_t value, uint32_t thread) {
    const uint64_t param = view_.op(value).imm;
    const sdk::HostArgument& bound = bound_[param];
    return {bound.data + (is_private_[param] ? thread * bound.size : 0), bound.size};
  }

  void access(uint32_t i, const tn_op& op, const Mask& mask) {
    const auto operands = view_.operands(op);
    const bool is_load = op.op == TN_OP_TAKE, is_store = op.op == TN_OP_STORE;
    const size_t guard = is_load ? 2 : is_store ? 3 : 4;  // an ATOMIC has none
    const uint32_t lanes = is_store ? view_.op(operands[2]).lanes : op.lanes;
    const uint64_t bytes = sdk::dtype_bytes(view_.op(operands[0]).dtype);
    const bool is_run = view_.op(operands[1]).lanes == 1;  // of consecutive elements
    for (uint32_t t = 0; t < code_.threads; ++t) {
      if (!mask[t]) continue;
      const std::span<std::byte> room = memory(operands[0], t);
      for (uint32_t lane = 0; lane < lanes; ++lane) {
        if (operands.size() > guard && !word(operands[guard], t, lane)) {
          if (is_load) word(i, t, lane) = operands.size() > 3 ? word(operands[3], t, lane) : 0;
          continue;
        }
        const auto index =
            static_cast<uint64_t>(integer(operands[1], t, lane) + (is_run ? lane : 0));
        if (index >= room.size() / bytes) {
          throw sdk::Failure(TN_ERROR_INTERNAL,
                             "op " + std::to_string(i) + ": index outside memory");
        }
        std::byte* at = room.data() + index * bytes;
        uint64_t old = 0;
        std::memcpy(&old, at, bytes);
        if (!is_store) word(i, t, lane) = old;
        if (is_load) continue;
        uint64_t value = word(operands[2], t, lane);
        const uint64_t wanted = operands.size() > 3 ? word(operands[3], t, lane) : 0;
        if (!is_store) value = sdk::apply_atomic(op, old, value, wanted);
        std::memcpy(at, &value, bytes);
      }
    }
  }

  /// Ops without effect run in every thread, whatever the mask.
  void compute(uint32_t i, const tn_op& op) {
    const auto operands = view_.operands(op);
    uint64_t* out = words(i);
    const uint32_t count = code_.threads * op.lanes;
    const uint64_t* in[3] = {out, out, out};
    for (size_t k = 0; k < operands.size() && k < 3; ++k) in[k] = words(operands[k]);
    const sdk::ScalarFunction function = code_.functions[i];
    if (function && op.op != TN_OP_LANE_REDUCE) {
      for (uint32_t e = 0; e < count; ++e) out[e] = function(in[0][e], in[1][e], in[2][e]);
      return;
    }
    for (uint32_t e = 0; e < count; ++e) {
      const uint32_t thread = e / op.lanes, lane = e % op.lanes;
      if (op.op == TN_OP_CONST) out[e] = op.imm;
      if (op.op == TN_OP_PARAM) out[e] = bound_[op.imm].scalar;
      if (op.op == TN_OP_INDEX) out[e] = coordinate(op.imm, thread, lane);
      if (op.op == TN_OP_BROADCAST) out[e] = in[0][thread];
      if (op.op == TN_OP_COMPOSE) out[e] = words(operands[lane])[thread];
      if (op.op == TN_OP_EXTRACT) out[e] = word(operands[0], thread, static_cast<uint32_t>(op.imm));
      if (op.op == TN_OP_LANE_REDUCE) {
        out[e] = word(operands[0], thread, 0);
        for (uint32_t k = 1; k < view_.op(operands[0]).lanes; ++k) {
          out[e] = function(out[e], word(operands[0], thread, k), 0);
        }
      }
    }
  }

  uint64_t coordinate(uint64_t axis, uint32_t thread, uint32_t lane) const {
    const uint32_t* size = view_.header().workgroup;
    if (axis <= TN_AXIS_GRID_Z) return group_[axis];
    if (axis == TN_AXIS_BLOCK_X) return thread % size[0];
    if (axis == TN_AXIS_BLOCK_Y) return thread / size[0] % size[1];
    if (axis == TN_AXIS_BLOCK_Z) return thread / size[0] / size[1];
    return axis == TN_AXIS_LANE ? lane : 0;
  }

  const NullExecutable& code_;
  sdk::ProgramView view_;
  std::vector<uint64_t> words_;
  std::vector<sdk::HostArgument> bound_;     ///< by param: what the launch or `own_` gives it
  std::vector<std::vector<std::byte>> own_;  ///< by param: of allocations, for all threads
  std::vector<bool> is_private_;             ///< by param: each thread has its own
  uint32_t group_[3] = {};
};

/// Narrow floats are stored only; the core computes with them in f32.
const tn_properties& null_properties() {
  static const sdk::PropertyTable* const table = [] {
    auto* t = new sdk::PropertyTable(TN_DEVICE_COMPUTE | TN_DEVICE_DETERMINISTIC |
                                     TN_DEVICE_SYMBOLIC | TN_DEVICE_SAVE);
    t->store_all().compute_all(4);
    t->claim(sdk::kVectorOps).claim(sdk::kWorkgroupOps);
    t->atomics({TN_DTYPE_I32, TN_DTYPE_U32, TN_DTYPE_I64, TN_DTYPE_U64});
    t->add_memory(sdk::host_memory_space(64, 1)).workgroup(64, 64, 64, 64);
    t->fields().max_bindings = 16;
    t->fields().max_shared_bytes = t->fields().max_scratch_bytes = 32768;
    t->fields().compute_units = 1;
    return t;
  }();
  return table->get();
}

class NullDevice : public sdk::HostDevice {
 public:
  const tn_properties& properties() const override { return null_properties(); }

 protected:
  void launch(const sdk::HostCommand& command, std::span<const sdk::HostArgument> args) override {
    Interpreter interpreter(static_cast<const NullExecutable&>(*command.executable), args);
    sdk::each_workgroup(command.grid, [&](const auto& group) { interpreter.run_group(group); });
  }
};

class NullBackend : public sdk::Backend {
 public:
  static constexpr sdk::BackendInfo kInfo = {"null", "0.1.0", "Apache-2.0 WITH LLVM-exception",
                                             -100};

  std::vector<tn_device_info> enumerate(std::string&) override {
    return {sdk::device_info(TN_DEVICE_CPU, "program interpreter", "interpreter")};
  }
  std::unique_ptr<sdk::Device> open(uint32_t, sdk::Options&) override {
    return std::make_unique<NullDevice>();
  }
  const tn_properties* target(std::string_view name) override {
    return name == "interpreter" ? &null_properties() : NULL;
  }
  std::unique_ptr<sdk::Executable> compile(const sdk::Target&, const sdk::ProgramView& program,
                                           tn_compile_report&) override {
    return std::make_unique<NullExecutable>(sdk::Program(program));
  }
  std::unique_ptr<sdk::Executable> load(const sdk::Target&,
                                        std::span<const std::byte> bytes) override {
    return std::make_unique<NullExecutable>(NullExecutable::saved_program(bytes));
  }
};

}  // namespace

TENON_BACKEND(NullBackend)
