// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/lower/interpreter.hpp"

#include <algorithm>
#include <cstring>

#include "conformance/abi/programs/model.hpp"
#include "core/ir/scalar_op.hpp"
#include "tests/lower/dot.hpp"
#include "tests/lower/fragments.hpp"
#include "tests/lower/whole_words.hpp"

namespace tenon::test {
namespace {

using conformance::abi::programs::ModelMemory;
using conformance::abi::programs::ModelValue;
using conformance::abi::programs::ProgramModel;

constexpr uint8_t kPoison = 0xA5;  ///< bytes that nothing was written to

class LoweredModel : public ProgramModel {
 public:
  LoweredModel(const sdk::ProgramView& program, std::vector<std::vector<ModelValue>> memory,
               const uint32_t (&grid)[3], const std::vector<MatrixAtom>& atoms)
      : ProgramModel(program, std::move(memory), grid,
                     {.is_host = true, .shares_words = true, .most_lanes = UINT64_MAX}),
        atoms_(atoms) {}

 private:
  bool run_other(uint32_t i, const Mask& mask) override {
    const tn_op& op = program_.op(i);
    const auto operands = program_.operands(op);
    if (op.op == TN_OP_DOT) {
      for (uint32_t t = 0; t < threads_; ++t)
        if (mask[t])
          set(i, t,
              dot(program_, op, lanes(operands[0], t), lanes(operands[1], t),
                  lanes(operands[2], t)));
      return true;
    }
    if (op.op >= TN_OP_ASYNC_COPY && op.op <= TN_OP_ASYNC_WAIT) return copy_later(i, mask);
    if (op.op < TN_OP_MATRIX_LOAD || op.op > TN_OP_MATRIX_STORE) return false;
    const uint32_t size = program_.header().subgroup_size;
    for (uint32_t first = 0; first < threads_; first += size) {
      const auto on = std::count(mask.begin() + first, mask.begin() + first + size, uint8_t{1});
      if (on != 0 && on != size) refuse(i, "the whole subgroup");
      if (on == 0) continue;
      op.op == TN_OP_MATRIX_MULTIPLY ? matrix_multiply(i, first) : matrix_access(i, first);
    }
    return true;
  }

  std::vector<uint64_t> lanes(uint32_t value, uint32_t thread) {
    std::vector<uint64_t> out;
    for (uint32_t l = 0; l < program_.op(value).lanes; ++l)
      out.push_back(at(value, thread, l).bits);
    return out;
  }
  void set(uint32_t value, uint32_t thread, const std::vector<uint64_t>& lanes) {
    for (uint32_t l = 0; l < lanes.size(); ++l) at(value, thread, l) = {lanes[l], true};
  }

  const MatrixAtom& atom(uint32_t i) const {
    const auto id = static_cast<uint32_t>(program_.op(i).imm);
    for (const MatrixAtom& a : atoms_)
      if (a.id == id && a.subgroup == static_cast<int>(program_.header().subgroup_size)) return a;
    refuse(i, "an atom of the device");
  }

  void matrix_access(uint32_t i, uint32_t first) {
    const tn_op& op = program_.op(i);
    const auto operands = program_.operands(op);
    const FragmentLayout layout(atom(i), op.imm & TN_MATRIX_ROLE);
    const bool is_load = op.op == TN_OP_MATRIX_LOAD;
    const uint32_t fragment = is_load ? i : operands[3];
    if (program_.op(fragment).lanes != layout.lanes()) refuse(i, "the lanes of the atom");
    const int64_t index = counter(i, operands[1], first), stride = counter(i, operands[2], first);
    for (uint32_t t = 0; t < program_.header().subgroup_size; ++t) {
      const uint32_t thread = first + t;
      if (counter(i, operands[1], thread) != index || counter(i, operands[2], thread) != stride)
        refuse(i, "one index in the subgroup");
      ModelMemory& memory = memory_of(operands[0], thread);
      for (int l = 0; l < layout.lanes(); ++l) {
        const int e = layout.element(static_cast<int>(t), l), width = layout.columns();
        const int64_t place = matrix_place(op, index, e / width, e % width, stride);
        if (place < 0 || static_cast<size_t>(place) >= memory.size())
          refuse(i, fmt::format("an element below {}, got {}", memory.size(), place));
        ModelValue& value = at(fragment, thread, static_cast<uint32_t>(l));
        const auto cell = static_cast<size_t>(place);
        if (is_load ? !memory.read(cell, thread_id(thread), value)
                    : !memory.write(cell, thread_id(thread), value, true))
          refuse(i, "no other thread that touches it meanwhile");
      }
    }
  }

  void matrix_multiply(uint32_t i, uint32_t first) {
    const MatrixAtom& a = atom(i);
    const uint64_t roles[] = {TN_MATRIX_A, TN_MATRIX_B, TN_MATRIX_C};
    const auto dtype = static_cast<DType>(program_.op(i).dtype);
    std::vector<Scalar> dense[3];
    for (size_t k = 0; k < 3; ++k) {
      const FragmentLayout layout(a, roles[k]);
      dense[k].resize(static_cast<size_t>(layout.rows() * layout.columns()));
      const uint32_t operand = program_.operands(program_.op(i))[k];
      const auto from = static_cast<DType>(program_.op(operand).dtype);
      for (int t = 0; t < a.subgroup; ++t) {
        const auto fragment = lanes(operand, first + static_cast<uint32_t>(t));
        for (int l = 0; l < layout.lanes(); ++l)
          dense[k][static_cast<size_t>(layout.element(t, l))] =
              cast(Scalar{from, fragment[static_cast<size_t>(l)]}, dtype);
      }
    }
    const FragmentLayout layout(a, TN_MATRIX_C);
    const std::vector<uint64_t> c = multiply_add(a, dtype, dense[0], dense[1], dense[2]);
    for (int t = 0; t < a.subgroup; ++t) {
      std::vector<uint64_t> out;
      for (int l = 0; l < a.c_lanes; ++l) out.push_back(c[size_t(layout.element(t, l))]);
      set(i, first + static_cast<uint32_t>(t), out);
    }
  }

  /// Copies that may be late are late: they arrive when they are waited for.
  bool copy_later(uint32_t i, const Mask& mask) {
    const tn_op& op = program_.op(i);
    const auto operands = program_.operands(op);
    if (op.op != TN_OP_ASYNC_COPY && std::ranges::count(mask, 0) > 0) refuse(i, "all threads");
    for (uint32_t t = 0; op.op == TN_OP_ASYNC_COPY && t < threads_; ++t) {
      if (!mask[t]) continue;
      const auto size = static_cast<int64_t>(sdk::dtype_bytes(program_.op(operands[0]).dtype));
      const int64_t count = static_cast<int64_t>(op.imm) / size;
      const auto place = [&](uint32_t buffer, uint32_t index) {
        const int64_t first = counter(i, index, t);
        const auto whole = static_cast<int64_t>(memory_of(buffer, t).size());
        if (first < 0 || first + count > whole || first % count != 0)
          refuse(i, fmt::format("{} aligned elements of {}, got {}", count, whole, first));
        return static_cast<size_t>(first);
      };
      const size_t to = place(operands[0], operands[1]), from = place(operands[2], operands[3]);
      for (size_t k = 0; k < static_cast<size_t>(count); ++k)
        copies_.push_back(
            {&memory_of(operands[0], t), to + k, memory_of(operands[2], t).value(from + k)});
    }
    if (op.op == TN_OP_ASYNC_COMMIT) groups_.push_back(std::exchange(copies_, {}));
    while (op.op == TN_OP_ASYNC_WAIT && groups_.size() > op.imm) {
      for (const LateCopy& copy : groups_.front()) copy.to->set(copy.at, copy.value);
      groups_.erase(groups_.begin());
    }
    return true;
  }

  struct LateCopy {
    ModelMemory* to;
    size_t at;
    ModelValue value;
  };
  const std::vector<MatrixAtom>& atoms_;
  std::vector<LateCopy> copies_;  ///< not committed yet
  std::vector<std::vector<LateCopy>> groups_;
};

/// Elements of `size` bytes.
std::vector<ModelValue> values_of(const std::vector<uint8_t>& bytes, size_t size) {
  std::vector<ModelValue> out(bytes.size() / size, {0, true});
  for (size_t i = 0; i < out.size(); ++i) std::memcpy(&out[i].bits, &bytes[i * size], size);
  return out;
}

void store_values(const ModelMemory& memory, std::vector<uint8_t>& bytes, size_t size) {
  for (size_t i = 0; i < memory.size(); ++i) {
    if (memory.value(i).known)
      std::memcpy(&bytes[i * size], &memory.value(i).bits, size);
    else
      std::fill_n(&bytes[i * size], size, kPoison);
  }
}

}  // namespace

std::vector<Array> run(const LoweredKernel& kernel, const Graph& graph,
                       const std::vector<int>& alias, const std::vector<Array>& inputs,
                       const SymbolValues& symbols, const std::vector<MatrixAtom>& atoms,
                       int64_t* most_trips) {
  std::vector<Array> ins = inputs, outs;
  for (const NodeRef& out : graph.outputs) {
    std::vector<int64_t> shape;
    for (const Dim& d : out->shape) shape.push_back(d.evaluate(symbols));
    std::ranges::fill(outs.emplace_back(Array::zeros(out->dtype, shape)).bytes, kPoison);
  }
  const sdk::ProgramView program = kernel.program.view();
  if (is_in_words(program)) {
    fill_up(ins);
    fill_up(outs);
  }
  const auto size_of = [&](uint32_t p) {
    return static_cast<size_t>(sdk::dtype_bytes(static_cast<uint8_t>(program.param(p).dtype)));
  };
  std::vector<std::vector<ModelValue>> memory(program.param_count());
  std::vector<std::vector<uint8_t>*> buffers(program.param_count());
  size_t next = 0;
  for (uint32_t p = 0; p < program.param_count(); ++p) {
    if (program.param(p).kind == TN_PARAM_ALLOC) continue;
    const LaunchArgument& a = kernel.arguments.at(next++);
    if (a.kind == LaunchArgument::Kind::kSymbol) {
      memory[p] = {{static_cast<uint64_t>(a.value.evaluate(symbols)), true}};
      continue;
    }
    buffers[p] = &(a.kind == LaunchArgument::Kind::kInput ? ins : outs).at(a.index).bytes;
    if (std::count(buffers.begin(), buffers.end(), buffers[p]) > 1)
      throw std::runtime_error("expected a param for each buffer, got two for one");
    memory[p] = values_of(*buffers[p], size_of(p));
  }
  const auto count = [&](size_t d) {
    return static_cast<uint32_t>(kernel.grid[d].evaluate(symbols));
  };
  const uint32_t grid[3] = {count(0), count(1), count(2)};
  LoweredModel model(program, std::move(memory), grid, atoms);
  model.run();
  for (uint32_t p = 0; p < program.param_count(); ++p)
    if (buffers[p]) store_values(model.memory(p), *buffers[p], size_of(p));
  if (most_trips != nullptr) *most_trips = model.most_trips();
  cut_off(ins);
  cut_off(outs);
  for (size_t o = 0; o < outs.size(); ++o)
    if (!alias.empty() && alias[o] >= 0) outs[o] = ins[static_cast<size_t>(alias[o])];
  return outs;
}

}  // namespace tenon::test
