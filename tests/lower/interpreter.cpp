// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/lower/interpreter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "core/ir/scalar_op.hpp"
#include "tests/lower/dot.hpp"
#include "tests/lower/fragments.hpp"
#include "tests/lower/races.hpp"
#include "tests/lower/whole_words.hpp"

namespace tenon::test {
namespace {

using Bits = std::vector<uint64_t>;

struct Memory {
  std::vector<uint8_t>* bytes = nullptr;
  std::vector<std::vector<uint8_t>> own;  ///< of an allocation: one a thread, or one if shared
};

class Machine {
 public:
  Machine(const sdk::ProgramView& program, const std::vector<std::vector<uint8_t>*>& buffers,
          const std::vector<uint64_t>& scalars, const std::vector<MatrixAtom>& atoms)
      : program_(program), memory_(program.param_count()), scalars_(scalars), atoms_(atoms) {
    for (int d = 0; d < 3; ++d) block_[d] = program.header().workgroup[d];
    threads_ = block_[0] * block_[1] * block_[2];
    size_t next = 0;
    for (uint32_t p = 0; p < program.param_count(); ++p)
      if (program.param(p).kind == TN_PARAM_BUFFER) memory_[p].bytes = buffers[next++];
    ends_.assign(program.op_count(), 0);
    else_.assign(program.op_count(), 0);
    std::vector<uint32_t> open;
    for (uint32_t i = 0; i < program.op_count(); ++i) {
      const uint16_t op = program.op(i).op;
      if (op == TN_OP_LOOP || op == TN_OP_IF) open.push_back(i);
      if (op == TN_OP_ELSE) else_[open.back()] = i;
      if (op == TN_OP_END) ends_[open.back()] = i, open.pop_back();
    }
  }

  void workgroup(uint32_t x, uint32_t y, uint32_t z) {
    grid_[0] = x, grid_[1] = y, grid_[2] = z;
    for (uint32_t p = 0; p < program_.param_count(); ++p) {
      const tn_param& param = program_.param(p);
      if (param.kind != TN_PARAM_ALLOC) continue;
      const size_t copies = param.space == TN_SPACE_SHARED ? 1 : threads_;
      const size_t size = param.count * sdk::dtype_bytes(static_cast<uint8_t>(param.dtype));
      memory_[p].own.assign(copies, std::vector<uint8_t>(size, uint8_t{0xA5}));
    }
    races_.emplace(threads_, program_.header().subgroup_size);
    values_.assign(program_.op_count(), std::vector<Bits>(threads_));
    trips_.assign(threads_, 0);
    region(0, program_.op_count(), std::vector<bool>(threads_, true));
    most_trips_ = std::max(most_trips_, *std::ranges::max_element(trips_));
  }
  int64_t most_trips() const { return most_trips_; }

 private:
  using Mask = std::vector<bool>;

  [[noreturn]] void error(uint32_t i, const std::string& what) const {
    throw std::runtime_error(fmt::format("op {} {}: {}", i, sdk::op_text(program_.op(i).op), what));
  }
  uint64_t lane(uint32_t v, uint32_t t, uint32_t l) const {
    const Bits& bits = values_[v][t];
    return bits[bits.size() == 1 ? 0 : l];
  }

  int64_t integer(uint32_t v, uint32_t t, uint32_t l = 0) const {
    const Scalar s{static_cast<DType>(program_.op(v).dtype), lane(v, t, l)};
    return s.as_int();
  }

  void region(uint32_t begin, uint32_t end, const Mask& active) {
    for (uint32_t i = begin; i < end; ++i) {
      const tn_op& op = program_.op(i);
      const auto operands = program_.operands(op);
      if (op.op == TN_OP_LOOP) {
        loop(i, operands, active);
        i = ends_[i];
      } else if (op.op == TN_OP_IF) {
        Mask then(threads_), other(threads_);
        for (uint32_t t = 0; t < threads_; ++t) {
          then[t] = active[t] && lane(operands[0], t, 0);
          other[t] = active[t] && !lane(operands[0], t, 0);
        }
        const uint32_t middle = else_[i] ? else_[i] : ends_[i];
        if (any(then)) region(i + 1, middle, then);
        if (else_[i] && any(other)) region(middle + 1, ends_[i], other);
        i = ends_[i];
      } else if (op.op == TN_OP_BARRIER) {
        if (std::ranges::count(active, false)) error(i, "expected all threads at the barrier");
        op.imm == TN_SCOPE_SUBGROUP ? races_->met_in_subgroups() : races_->met_all();
      } else if (op.op >= TN_OP_SUBGROUP_SHUFFLE && op.op <= TN_OP_ASYNC_WAIT) {
        together(i, op, operands, active);
      } else {
        for (uint32_t t = 0; t < threads_; ++t)
          if (active[t]) one(i, op, operands, t);
      }
    }
  }

  /// Ops of a whole subgroup; copies that may be late are late: they arrive when waited for.
  void together(uint32_t i, const tn_op& op, std::span<const uint32_t> operands,
                const Mask& active) {
    if (op.op >= TN_OP_ASYNC_COPY) return copy_later(i, op, operands, active);
    const uint32_t size = program_.header().subgroup_size;
    for (uint32_t first = 0; first < threads_; first += size) {
      bool some = false, all = true;
      for (uint32_t t = first; t < first + size; ++t) some |= active[t], all &= active[t];
      if (some && !all) error(i, "expected the whole subgroup");
      if (!some) continue;
      switch (op.op) {
        case TN_OP_SUBGROUP_SHUFFLE:
        case TN_OP_SUBGROUP_BROADCAST:
          for (uint32_t t = first; t < first + size; ++t) {
            const int64_t from = op.op == TN_OP_SUBGROUP_SHUFFLE ? integer(operands[1], t)
                                                                 : static_cast<int64_t>(op.imm);
            if (from < 0 || from >= size) error(i, "expected a lane of the subgroup");
            values_[i][t] = values_[operands[0]][first + static_cast<uint32_t>(from)];
          }
          break;
        case TN_OP_SUBGROUP_REDUCE:
          subgroup_reduce(i, op, operands[0], first, size);
          break;
        case TN_OP_MATRIX_LOAD:
        case TN_OP_MATRIX_STORE:
          matrix_access(i, op, operands, first);
          break;
        default:
          matrix_multiply(i, op, operands, first);
      }
    }
  }

  void subgroup_reduce(uint32_t i, const tn_op& op, uint32_t operand, uint32_t first,
                       uint32_t size) {
    const auto dtype = static_cast<DType>(op.dtype);
    Bits total = values_[operand][first];
    for (uint32_t t = first + 1; t < first + size; ++t)
      for (size_t l = 0; l < total.size(); ++l)
        total[l] = evaluate_scalar(static_cast<Op>(op.imm), dtype,
                                   {Scalar{dtype, total[l]}, Scalar{dtype, values_[operand][t][l]}})
                       .bits;
    for (uint32_t t = first; t < first + size; ++t) values_[i][t] = total;
  }

  const MatrixAtom& atom(uint32_t i) const {
    const auto id = static_cast<uint32_t>(program_.op(i).imm);
    for (const MatrixAtom& a : atoms_)
      if (a.id == id && a.subgroup == static_cast<int>(program_.header().subgroup_size)) return a;
    error(i, "expected an atom of the device");
  }

  void matrix_access(uint32_t i, const tn_op& op, std::span<const uint32_t> operands,
                     uint32_t first) {
    const FragmentLayout layout(atom(i), op.imm & TN_MATRIX_ROLE);
    const bool is_load = op.op == TN_OP_MATRIX_LOAD;
    const tn_op& fragment = is_load ? op : program_.op(operands[3]);
    if (fragment.lanes != layout.lanes()) error(i, "expected the lanes of the atom");
    const size_t size = sdk::dtype_bytes(fragment.dtype);
    const int64_t index = integer(operands[1], first), stride = integer(operands[2], first);
    for (int t = 0; t < static_cast<int>(program_.header().subgroup_size); ++t) {
      const uint32_t thread = first + static_cast<uint32_t>(t);
      if (integer(operands[1], thread) != index || integer(operands[2], thread) != stride)
        error(i, "expected one index in the subgroup");
      if (is_load) values_[i][thread].assign(op.lanes, 0);
      for (int l = 0; l < layout.lanes(); ++l) {
        const int e = layout.element(t, l);
        const int width = layout.columns();
        const int64_t at = matrix_place(op, index, e / width, e % width, stride);
        std::vector<uint8_t>& bytes = bytes_of(operands[0], thread);
        if (at < 0 || (static_cast<size_t>(at) + 1) * size > bytes.size())
          error(i, fmt::format("element {} outside of {}", at, bytes.size() / size));
        uint8_t* const place = bytes.data() + static_cast<size_t>(at) * size;
        const bool same =
            !is_load &&
            std::memcmp(place, &values_[operands[3]][thread][static_cast<size_t>(l)], size) == 0;
        touch(i, operands[0], static_cast<size_t>(at) * size, thread, !is_load, same);
        if (is_load)
          std::memcpy(&values_[i][thread][static_cast<size_t>(l)], place, size);
        else
          std::memcpy(place, &values_[operands[3]][thread][static_cast<size_t>(l)], size);
      }
    }
  }

  void matrix_multiply(uint32_t i, const tn_op& op, std::span<const uint32_t> operands,
                       uint32_t first) {
    const MatrixAtom& a = atom(i);
    const uint64_t roles[] = {TN_MATRIX_A, TN_MATRIX_B, TN_MATRIX_C};
    const auto dtype = static_cast<DType>(op.dtype);
    std::vector<Scalar> dense[3];
    for (size_t operand = 0; operand < 3; ++operand) {
      const FragmentLayout layout(a, roles[operand]);
      dense[operand].resize(static_cast<size_t>(layout.rows() * layout.columns()));
      const auto from = static_cast<DType>(program_.op(operands[operand]).dtype);
      for (int t = 0; t < a.subgroup; ++t)
        for (int l = 0; l < layout.lanes(); ++l)
          dense[operand][static_cast<size_t>(layout.element(t, l))] =
              cast(Scalar{from, lane(operands[operand], first + static_cast<uint32_t>(t),
                                     static_cast<uint32_t>(l))},
                   dtype);
    }
    const FragmentLayout layout(a, TN_MATRIX_C);
    const std::vector<uint64_t> c = multiply_add(a, dtype, dense[0], dense[1], dense[2]);
    for (int t = 0; t < a.subgroup; ++t) {
      Bits& out = values_[i][first + static_cast<uint32_t>(t)];
      out.assign(op.lanes, 0);
      for (int l = 0; l < a.c_lanes; ++l) out[size_t(l)] = c[size_t(layout.element(t, l))];
    }
  }

  struct LateCopy {
    std::vector<uint8_t>* to;
    size_t at;
    std::vector<uint8_t> bytes;
  };

  void copy_later(uint32_t i, const tn_op& op, std::span<const uint32_t> operands,
                  const Mask& active) {
    for (uint32_t t = 0; t < threads_; ++t) {
      if (!active[t] && op.op != TN_OP_ASYNC_COPY) error(i, "expected all threads");
      if (!active[t] || op.op != TN_OP_ASYNC_COPY) continue;
      const size_t size = sdk::dtype_bytes(program_.op(operands[0]).dtype), bytes = op.imm;
      const auto place = [&](uint32_t buffer, uint32_t index) {
        const std::vector<uint8_t>& memory = bytes_of(buffer, t);
        const int64_t at = integer(index, t) * static_cast<int64_t>(size);
        if (at < 0 || static_cast<size_t>(at) + bytes > memory.size() ||
            static_cast<size_t>(at) % bytes != 0)
          error(i, fmt::format("byte {} of {}, aligned to {}", at, memory.size(), bytes));
        return static_cast<size_t>(at);
      };
      const size_t to = place(operands[0], operands[1]), from = place(operands[2], operands[3]);
      const uint8_t* const source = bytes_of(operands[2], t).data() + from;
      copies_.push_back({&bytes_of(operands[0], t), to, {source, source + bytes}});
    }
    if (op.op == TN_OP_ASYNC_COMMIT) groups_.push_back(std::exchange(copies_, {}));
    if (op.op != TN_OP_ASYNC_WAIT) return;
    while (groups_.size() > op.imm) {
      for (const LateCopy& copy : groups_.front())
        std::ranges::copy(copy.bytes, copy.to->begin() + static_cast<std::ptrdiff_t>(copy.at));
      groups_.erase(groups_.begin());
    }
  }

  static bool any(const Mask& mask) { return std::ranges::count(mask, true) > 0; }

  void loop(uint32_t i, std::span<const uint32_t> operands, const Mask& active) {
    const size_t carries = operands.size() - 3;
    for (uint32_t t = 0; t < threads_; ++t) {
      if (!active[t]) continue;
      values_[i][t] = values_[operands[0]][t];
      for (size_t k = 0; k < carries; ++k) values_[i + 1 + k][t] = values_[operands[3 + k]][t];
    }
    const auto next = program_.operands(program_.op(ends_[i]));
    for (;;) {
      Mask going(threads_);
      for (uint32_t t = 0; t < threads_; ++t)
        trips_[t] += going[t] = active[t] && integer(i, t) < integer(operands[1], t);
      if (!any(going)) break;
      region(i + 1 + static_cast<uint32_t>(carries), ends_[i], going);
      for (uint32_t t = 0; t < threads_; ++t) {
        if (!going[t]) continue;
        std::vector<Bits> carried;
        for (const uint32_t v : next) carried.push_back(values_[v][t]);
        for (size_t k = 0; k < carries; ++k) values_[i + 1 + k][t] = carried[k];
        const auto dtype = static_cast<DType>(program_.op(i).dtype);
        values_[i][t] = {Scalar::of_int(dtype, integer(i, t) + integer(operands[2], t)).bits};
      }
    }
    for (uint32_t t = 0; t < threads_; ++t) trips_[t] += active[t];  // the last look
  }

  void one(uint32_t i, const tn_op& op, std::span<const uint32_t> operands, uint32_t t) {
    const auto dtype = static_cast<DType>(op.dtype);
    Bits& out = lanes_;  // its memory is used again
    out.assign(op.lanes, 0);
    switch (op.op) {
      case TN_OP_CONST:
        out.assign(op.lanes, op.imm);
        break;
      case TN_OP_PARAM:
        if (program_.param(static_cast<uint32_t>(op.imm)).kind == TN_PARAM_SCALAR)
          out[0] = scalars_[next_scalar(static_cast<uint32_t>(op.imm))];
        break;
      case TN_OP_INDEX:
        for (uint32_t l = 0; l < op.lanes; ++l) out[l] = axis(op.imm, t, l);
        break;
      case TN_OP_TAKE:
        load(i, op, operands, t, out);
        break;
      case TN_OP_STORE:
        store(i, operands, t);
        return;
      case TN_OP_ATOMIC:
        out[0] = add_atomically(i, op, operands, t);
        break;
      case TN_OP_BROADCAST:
        out.assign(op.lanes, lane(operands[0], t, 0));
        break;
      case TN_OP_EXTRACT:
        out[0] = lane(operands[0], t, static_cast<uint32_t>(op.imm));
        break;
      case TN_OP_COMPOSE:
        for (uint32_t l = 0; l < op.lanes; ++l) out[l] = lane(operands[l], t, 0);
        break;
      case TN_OP_LANE_REDUCE: {
        const Bits& from = values_[operands[0]][t];
        Scalar total{dtype, from[0]};
        for (size_t l = 1; l < from.size(); ++l)
          total = evaluate_scalar(static_cast<Op>(op.imm), dtype, {total, Scalar{dtype, from[l]}});
        out[0] = total.bits;
        break;
      }
      case TN_OP_DOT:
        out = dot(program_, op, values_[operands[0]][t], values_[operands[1]][t],
                  values_[operands[2]][t]);
        break;
      default:
        elementwise(op, operands, t, out);
    }
    values_[i][t] = out;
  }

  void elementwise(const tn_op& op, std::span<const uint32_t> operands, uint32_t t, Bits& out) {
    const auto dtype = static_cast<DType>(op.dtype);
    for (uint32_t l = 0; l < op.lanes; ++l) {
      std::array<Scalar, 4> args;
      for (size_t k = 0; k < operands.size(); ++k)
        args.at(k) = {static_cast<DType>(program_.op(operands[k]).dtype), lane(operands[k], t, l)};
      out[l] = op.op == TN_OP_CAST && op.imm == TN_CAST_BITS
                   ? args[0].bits
                   : evaluate_scalar(static_cast<Op>(op.op), dtype,
                                     std::span<const Scalar>(args.data(), operands.size()))
                         .bits;
    }
  }

  size_t next_scalar(uint32_t param) const {
    return param == 0
               ? 0
               : next_scalar(param - 1) + (program_.param(param - 1).kind == TN_PARAM_SCALAR);
  }

  uint64_t axis(uint64_t which, uint32_t t, uint32_t l) const {
    switch (which) {
      case TN_AXIS_BLOCK_X:
        return t % block_[0];
      case TN_AXIS_BLOCK_Y:
        return t / block_[0] % block_[1];
      case TN_AXIS_BLOCK_Z:
        return t / (block_[0] * block_[1]);
      case TN_AXIS_LANE:
        return l;
      case TN_AXIS_SUBGROUP:
        return t / program_.header().subgroup_size;
      case TN_AXIS_SUBGROUP_LANE:
        return t % program_.header().subgroup_size;
      default:
        return grid_[which];
    }
  }

  std::vector<uint8_t>& bytes_of(uint32_t v, uint32_t t) {
    Memory& m = memory_[program_.op(v).imm];
    return m.bytes ? *m.bytes : m.own[m.own.size() == 1 ? 0 : t];
  }

  /// Byte offset of a lane's element; checked.
  size_t place(uint32_t i, std::span<const uint32_t> operands, uint32_t t, uint32_t l,
               uint32_t lanes, size_t size) {
    const bool vector_index = values_[operands[1]][t].size() > 1;
    int64_t at = integer(operands[1], t, l);
    if (program_.op(i).flags & TN_OP_ALIGNED && at % lanes != 0) error(i, "not aligned");
    if (!vector_index) at += l;
    const std::vector<uint8_t>& bytes = bytes_of(operands[0], t);
    if (at < 0 || (static_cast<size_t>(at) + 1) * size > bytes.size())
      error(i, fmt::format("element {} outside of {}", at, bytes.size() / size));
    return static_cast<size_t>(at) * size;
  }

  /// Of elements whose first bytes stand for them.
  void touch(uint32_t i, uint32_t buffer, size_t byte, uint32_t thread, bool writes,
             bool same = false) {
    const auto param = static_cast<uint32_t>(program_.op(buffer).imm);
    const tn_param& p = program_.param(param);
    if (p.kind != TN_PARAM_ALLOC || p.space != TN_SPACE_SHARED) return;
    if (!races_->touch(param, byte, thread, writes, same))
      error(i, fmt::format("thread {} {} byte {} of shared memory %{} beside another thread",
                           thread, writes ? "writes" : "reads", byte, param));
  }

  void load(uint32_t i, const tn_op& op, std::span<const uint32_t> operands, uint32_t t,
            Bits& out) {
    const size_t size = sdk::dtype_bytes(op.dtype);
    for (uint32_t l = 0; l < op.lanes; ++l) {
      if (operands.size() > 2 && !lane(operands[2], t, l)) {
        out[l] = lane(operands[3], t, l);
        continue;
      }
      const size_t at = place(i, operands, t, l, op.lanes, size);
      out[l] = 0;
      touch(i, operands[0], at, t, false);
      std::memcpy(&out[l], bytes_of(operands[0], t).data() + at, size);
    }
  }

  void store(uint32_t i, std::span<const uint32_t> operands, uint32_t t) {
    const tn_op& from = program_.op(operands[2]);
    const size_t size = sdk::dtype_bytes(from.dtype);
    for (uint32_t l = 0; l < from.lanes; ++l) {
      if (operands.size() > 3 && !lane(operands[3], t, l)) continue;
      const size_t at = place(i, operands, t, l, from.lanes, size);
      const uint64_t bits = lane(operands[2], t, l);
      uint8_t* const to = bytes_of(operands[0], t).data() + at;
      touch(i, operands[0], at, t, true, std::memcmp(to, &bits, size) == 0);
      std::memcpy(to, &bits, size);
    }
  }

  uint64_t add_atomically(uint32_t i, const tn_op& op, std::span<const uint32_t> operands,
                          uint32_t t) {
    if ((op.imm & 0xff) != TN_ATOMIC_ADD) error(i, "expected an add");
    const size_t size = sdk::dtype_bytes(op.dtype);
    uint8_t* at = bytes_of(operands[0], t).data() + place(i, operands, t, 0, 1, size);
    uint64_t old = 0;
    std::memcpy(&old, at, size);
    const uint64_t sum = old + lane(operands[2], t, 0);
    std::memcpy(at, &sum, size);
    return old;
  }

  const sdk::ProgramView program_;
  std::vector<Memory> memory_;
  std::vector<uint64_t> scalars_;
  const std::vector<MatrixAtom>& atoms_;
  std::vector<LateCopy> copies_;  ///< not committed yet
  std::vector<std::vector<LateCopy>> groups_;
  std::vector<uint32_t> ends_, else_;
  std::vector<std::vector<Bits>> values_;  ///< [op][thread]
  Bits lanes_;                             ///< of the value that is computed
  std::vector<int64_t> trips_;             ///< [thread], of a workgroup
  std::optional<Races> races_;
  int64_t most_trips_ = 0;
  uint32_t block_[3] = {1, 1, 1}, grid_[3] = {0, 0, 0}, threads_ = 1;
};

}  // namespace

std::vector<Array> run(const LoweredKernel& kernel, const Graph& graph,
                       const std::vector<int>& alias, const std::vector<Array>& inputs,
                       const SymbolValues& symbols, const std::vector<MatrixAtom>& atoms,
                       int64_t* most_trips) {
  std::vector<Array> ins = inputs, outs;
  for (const NodeRef& out : graph.outputs) {
    std::vector<int64_t> shape;
    for (const Dim& d : out->shape) shape.push_back(d.evaluate(symbols));
    std::ranges::fill(outs.emplace_back(Array::zeros(out->dtype, shape)).bytes, uint8_t{0xA5});
  }
  std::vector<std::vector<uint8_t>*> buffers;
  std::vector<uint64_t> scalars;
  const sdk::ProgramView program = kernel.program.view();
  if (is_in_words(program)) {
    fill_up(ins);
    fill_up(outs);
  }
  size_t next = 0;
  for (uint32_t p = 0; p < program.param_count(); ++p) {
    if (program.param(p).kind == TN_PARAM_ALLOC) continue;
    const LaunchArgument& a = kernel.arguments.at(next++);
    switch (a.kind) {
      case LaunchArgument::Kind::kInput:
        buffers.push_back(&ins.at(a.index).bytes);
        break;
      case LaunchArgument::Kind::kOutput:
        buffers.push_back(&outs.at(a.index).bytes);
        break;
      case LaunchArgument::Kind::kSymbol:
        scalars.push_back(static_cast<uint64_t>(a.value.evaluate(symbols)));
        break;
    }
  }
  Machine machine(program, buffers, scalars, atoms);
  const auto count = [&](size_t d) { return kernel.grid[d].evaluate(symbols); };
  for (uint32_t k = 0; k < count(2); ++k)
    for (uint32_t j = 0; j < count(1); ++j)
      for (uint32_t i = 0; i < count(0); ++i) machine.workgroup(i, j, k);
  if (most_trips != nullptr) *most_trips = machine.most_trips();
  cut_off(ins);
  cut_off(outs);
  for (size_t o = 0; o < outs.size(); ++o)
    if (!alias.empty() && alias[o] >= 0) outs[o] = ins[static_cast<size_t>(alias[o])];
  return outs;
}

}  // namespace tenon::test
