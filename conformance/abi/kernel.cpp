// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the small programs compute, said once more in plain words.
#include "conformance/abi/kernel.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "conformance/abi/lowest_bit.hpp"
#include "conformance/cases/abi/scalars.hpp"
#include "sdk/program/op_info.hpp"

namespace tenon::conformance::abi {
namespace {

constexpr uint32_t kGrid[3] = {4, 3, 2};
constexpr int64_t kScalarLimit = 100;

int significant_bits(uint8_t dtype) { return sdk::dtype_info(dtype)->format.mantissa_bits + 1; }

/// No order of additions rounds: a device may choose one.
bool adds_exactly(std::span<const double> terms, uint8_t dtype) {
  double unit = HUGE_VAL, total = 0;
  for (const double term : terms) {
    if (!std::isfinite(term)) return false;
    if (term == 0) continue;
    unit = std::min(unit, lowest_bit(term));
    total += std::fabs(term);
  }
  return total <= std::ldexp(unit, significant_bits(dtype));
}

uint64_t limited(uint64_t value, uint64_t limit) { return limit ? std::min(value, limit) : value; }

bool can_shared(const OpenDevice& device, const KernelSpec& spec) {
  const tn_properties& p = device.properties();
  return device.claims(TN_OP_BARRIER) && spec.threads > 1 &&
         spec.threads * sdk::dtype_bytes(spec.dtype) <= p.max_shared_bytes;
}

bool can_grid(const tn_properties& p) {
  for (int axis = 0; axis < 3; ++axis)
    if (p.max_grid[axis] && p.max_grid[axis] < kGrid[axis]) return false;
  return true;
}

}  // namespace

std::optional<Kernel> Kernel::fit(const KernelSpec& request, const OpenDevice& device) {
  if (!device.computes()) return {};
  const tn_properties& p = device.properties();
  KernelSpec spec = request;
  const uint32_t bytes = sdk::dtype_bytes(spec.dtype);
  constexpr uint32_t kNeeded = TN_DTYPE_STORAGE | TN_DTYPE_ARITHMETIC;
  if (bytes == 0 || (device.dtype_flags(spec.dtype) & kNeeded) != kNeeded) return {};
  if (bytes < p.storage_bytes) return {};
  const uint64_t most = limited(limited(1024, p.max_workgroup[0]), p.max_workgroup_threads);
  spec.threads = static_cast<uint32_t>(std::clamp<uint64_t>(spec.threads, 1, most));
  const bool is_float = sdk::is_float(static_cast<uint8_t>(spec.dtype));
  if (is_float && (spec.kind == "divide" || spec.kind == "accumulate")) return {};
  if (spec.kind == "shared" && !can_shared(device, spec)) return {};
  if (spec.kind == "scalar" && !(p.flags & TN_DEVICE_SYMBOLIC)) return {};
  if (spec.kind == "grid" && !can_grid(p)) return {};
  if (spec.kind == "sum" || spec.kind == "grid") spec.threads = 1;
  if (p.max_bindings == 1) return {};
  Kernel kernel(std::move(spec), !(p.numerics & TN_NUMERICS_NO_SIGNED_ZERO));
  kernel.most_groups_ = limited(65535, p.max_grid[0]);
  const bool is_whole = kernel.spec_.kind == "reverse";  // in one launch
  if (is_whole && kernel.length() / kernel.spec_.threads > kernel.most_groups_) return {};
  return kernel;
}

uint64_t Kernel::bits_of(int64_t number) const {
  const auto dtype = static_cast<uint8_t>(spec_.dtype);
  // In floats -1 stands for -0, the constant that caches confuse with 0.
  if (sdk::is_float(dtype))
    return from_double(number == -1 ? -0.0 : static_cast<double>(number), dtype);
  return convert(static_cast<uint64_t>(number), TN_DTYPE_I64, dtype);
}

uint64_t Kernel::length() const {
  const uint64_t steps = 1 + static_cast<uint64_t>(std::llabs(spec_.constant % 64));
  return steps * spec_.threads;
}

int64_t Kernel::shift() const { return std::llabs(spec_.constant % 64); }

bool Kernel::has_input() const {
  return spec_.kind != "constant" && spec_.kind != "grid" && !writes_in_place();
}

bool Kernel::is_elementwise() const {
  return spec_.kind != "reverse" && spec_.kind != "sum" && spec_.kind != "shared" &&
         spec_.kind != "shifted";
}

Kernel::Extent Kernel::extent(uint64_t count) const {
  Extent e;
  if (count == 0) return e;
  const uint64_t groups = std::clamp<uint64_t>(count / spec_.threads, 1, most_groups_);
  e.grid[0] = static_cast<uint32_t>(groups);
  e.outputs = e.inputs = groups * spec_.threads;
  if (spec_.kind == "reverse") {
    e.outputs = e.inputs = length();
    e.grid[0] = static_cast<uint32_t>(length() / spec_.threads);
  } else if (spec_.kind == "sum") {
    e.grid[0] = static_cast<uint32_t>(e.outputs = std::min<uint64_t>(groups, 1024));
    e.inputs = e.outputs * length();
  } else if (spec_.kind == "grid") {
    std::copy_n(kGrid, 3, e.grid);
    e.outputs = uint64_t{kGrid[0]} * kGrid[1] * kGrid[2];
  } else if (spec_.kind == "shifted") {
    e.inputs += static_cast<uint64_t>(shift());
  }
  if (!has_input()) e.inputs = 0;
  return e;
}

uint64_t Kernel::scalar_bits(int64_t request) const {
  return bits_of(std::llabs(request % (kScalarLimit + 1)));
}

sdk::Program Kernel::build() const {
  using Value = sdk::ProgramBuilder::Value;
  sdk::ProgramBuilder b(spec_.renamed ? "another" : "kernel");
  const tn_dtype dtype = spec_.dtype;
  b.workgroup(spec_.threads, 1, 1);
  const Value out =
      b.buffer("y", dtype, writes_in_place() ? TN_ACCESS_READ | TN_ACCESS_WRITE : TN_ACCESS_WRITE);
  const Value in = has_input() ? b.buffer("x", dtype, TN_ACCESS_READ) : out;
  const bool is_integer = sdk::is_integer(static_cast<uint8_t>(dtype));
  const Value scalar = has_scalar() ? b.scalar("s", dtype, 0, is_integer ? kScalarLimit : 0) : out;
  const Value shared =
      spec_.kind == "shared" ? b.allocate("tile", dtype, TN_SPACE_SHARED, spec_.threads) : out;
  const auto whole = [&](int64_t n) {
    return b.constant(TN_DTYPE_I32, static_cast<uint32_t>(static_cast<int32_t>(n)));
  };
  const auto index = [&](tn_opcode op, Value l, Value r) {
    return b.op(op, TN_DTYPE_I32, 1, {l, r});
  };
  const auto take = [&](Value at) { return b.op(TN_OP_TAKE, dtype, 1, {in, at}); };
  const auto with = [&](tn_opcode op, Value l, Value r) {
    return spec_.swapped ? b.op(op, dtype, 1, {r, l}) : b.op(op, dtype, 1, {l, r});
  };
  const Value group = b.index(TN_AXIS_GRID_X, TN_DTYPE_I32);
  Value at = group, thread = group;
  if (spec_.threads > 1) {
    thread = b.index(TN_AXIS_BLOCK_X, TN_DTYPE_I32);
    at = index(TN_OP_ADD, index(TN_OP_MUL, group, whole(spec_.threads)), thread);
  }
  const Value c = b.constant(dtype, bits_of(spec_.constant));
  Value result = c;
  if (spec_.kind == "add") {
    result = with(TN_OP_ADD, take(at), c);
  } else if (spec_.kind == "mul") {
    result = with(TN_OP_MUL, take(at), c);
  } else if (spec_.kind == "max") {
    result = with(TN_OP_MAX, take(at), c);
  } else if (spec_.kind == "divide") {
    result = with(TN_OP_IDIV, take(at), c);
  } else if (spec_.kind == "less") {
    const Value x = take(at);
    const Value l = spec_.swapped ? c : x, r = spec_.swapped ? x : c;
    const Value less = b.op(TN_OP_CMPLT, TN_DTYPE_BOOL, 1, {l, r});
    result = b.op(TN_OP_WHERE, dtype, 1,
                  {less, b.constant(dtype, bits_of(1)), b.constant(dtype, bits_of(2))});
  } else if (spec_.kind == "scalar") {
    result = with(TN_OP_ADD, take(at), scalar);
  } else if (spec_.kind == "accumulate") {
    const Value three = b.constant(dtype, bits_of(3));
    result = b.op(TN_OP_ADD, dtype, 1, {b.op(TN_OP_MUL, dtype, 1, {take(at), three}), c});
  } else if (spec_.kind == "reverse") {
    const Value minus = b.op(TN_OP_MUL, TN_DTYPE_I32, 1, {at, whole(-1)});
    result = take(index(TN_OP_ADD, minus, whole(static_cast<int64_t>(length()) - 1)));
  } else if (spec_.kind == "shifted") {
    result = take(index(TN_OP_ADD, at, whole(shift())));
  } else if (spec_.kind == "sum") {
    const Value begin = whole(0), end = whole(static_cast<int64_t>(length())), one = whole(1);
    const Value first[] = {b.constant(dtype, 0)};
    const Value row = index(TN_OP_MUL, at, end);
    const Value loop = b.begin_loop(begin, end, one, first);
    const Value next[] = {b.op(TN_OP_ADD, dtype, 1, {loop + 1, take(index(TN_OP_ADD, row, loop))})};
    b.end(next);
    result = loop + 1;
  } else if (spec_.kind == "grid") {
    const Value y = b.index(TN_AXIS_GRID_Y, TN_DTYPE_I32),
                z = b.index(TN_AXIS_GRID_Z, TN_DTYPE_I32);
    const Value plane = index(TN_OP_ADD, index(TN_OP_MUL, z, whole(kGrid[1])), y);
    at = index(TN_OP_ADD, index(TN_OP_MUL, plane, whole(kGrid[0])), group);
    const Value number = dtype == TN_DTYPE_I32 ? at : b.op(TN_OP_CAST, dtype, 1, {at});
    result = b.op(TN_OP_ADD, dtype, 1, {number, c});
  } else if (spec_.kind == "shared") {
    b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {shared, thread, take(at)});
    b.op(TN_OP_BARRIER, TN_DTYPE_VOID, 0, {}, TN_SCOPE_BLOCK);
    const Value minus = b.op(TN_OP_MUL, TN_DTYPE_I32, 1, {thread, whole(-1)});
    const Value other = index(TN_OP_ADD, minus, whole(int64_t{spec_.threads} - 1));
    result = b.op(TN_OP_TAKE, dtype, 1, {shared, other});
  }
  b.op(TN_OP_STORE, TN_DTYPE_VOID, 0, {out, at, result});
  return b.finish();
}

/// Not where the numerics leave room: NaN, infinity, subnormals.
bool Kernel::is_certain(uint64_t bits) const {
  const auto dtype = static_cast<uint8_t>(spec_.dtype);
  if (!sdk::is_float(dtype)) return true;
  const double value = to_double(bits, dtype);
  if (value == 0) return exact_zeros_;
  return std::isfinite(value) && std::fabs(value) >= least_normal(dtype);
}

Kernel::Value Kernel::load(ModelBytes from, uint64_t index) const {
  const uint32_t size = element_bytes();
  Value value{0, true};
  std::memcpy(&value.bits, from.bytes.data() + index * size, size);
  for (uint32_t k = 0; k < size; ++k) value.known &= from.known[index * size + k] != 0;
  return value;
}

Kernel::Value Kernel::combine(uint16_t op, Value a, Value b) const {
  const auto dtype = static_cast<uint8_t>(spec_.dtype);
  const uint8_t to = op == TN_OP_CMPLT ? static_cast<uint8_t>(TN_DTYPE_BOOL) : dtype;
  const uint64_t bits = evaluate_op(op, dtype, to, a.bits, b.bits, 0);
  const bool certain =
      is_certain(a.bits) && is_certain(b.bits) && (op == TN_OP_CMPLT || is_certain(bits));
  return {bits, a.known && b.known && certain};
}

Kernel::Value Kernel::element(ModelBytes in, ModelBytes out, uint64_t i, uint64_t scalar) const {
  const Value c{bits_of(spec_.constant), true};
  const auto with = [&](uint16_t op, Value x, Value y) {
    return spec_.swapped ? combine(op, y, x) : combine(op, x, y);
  };
  if (spec_.kind == "add") return with(TN_OP_ADD, load(in, i), c);
  if (spec_.kind == "mul") return with(TN_OP_MUL, load(in, i), c);
  if (spec_.kind == "max") return with(TN_OP_MAX, load(in, i), c);
  if (spec_.kind == "divide") return with(TN_OP_IDIV, load(in, i), c);
  if (spec_.kind == "scalar") return with(TN_OP_ADD, load(in, i), {scalar, true});
  if (spec_.kind == "less") {
    const Value less = with(TN_OP_CMPLT, load(in, i), c);
    return {bits_of(less.bits ? 1 : 2), less.known};
  }
  if (spec_.kind == "accumulate")
    return combine(TN_OP_ADD, combine(TN_OP_MUL, load(out, i), {bits_of(3), true}), c);
  if (spec_.kind == "reverse") return load(in, length() - 1 - i);
  if (spec_.kind == "shifted") return load(in, i + static_cast<uint64_t>(shift()));
  if (spec_.kind == "shared") {
    const uint64_t thread = i % spec_.threads;
    return load(in, i - thread + spec_.threads - 1 - thread);
  }
  if (spec_.kind == "sum") {
    const auto dtype = static_cast<uint8_t>(spec_.dtype);
    Value total{0, true};
    std::vector<double> terms;
    for (uint64_t k = 0; k < length(); ++k) {
      const Value term = load(in, i * length() + k);
      total = combine(TN_OP_ADD, total, term);
      terms.push_back(to_double(term.bits, dtype));
    }
    if (sdk::is_float(dtype)) total.known &= adds_exactly(terms, dtype);
    return total;
  }
  if (spec_.kind == "grid") return combine(TN_OP_ADD, {bits_of(static_cast<int64_t>(i)), true}, c);
  return {c.bits, is_certain(c.bits)};  // constant
}

void Kernel::apply(const Extent& extent, ModelBytes in, ModelBytes out, uint64_t scalar) const {
  const uint32_t size = element_bytes();
  for (uint64_t i = 0; i < extent.outputs; ++i) {
    const Value value = element(in, out, i, scalar);
    std::memcpy(out.bytes.data() + i * size, &value.bits, size);
    std::fill_n(out.known.data() + i * size, size, value.known ? 1 : 0);
  }
}

std::optional<Loaded> load_kernel(const KernelSpec& request, const OpenDevice& device) {
  auto kernel = Kernel::fit(request, device);
  if (!kernel) return {};
  CompileAnswer answer = device.compile(*kernel->build().get());
  if (!answer.executable) return {};
  return Loaded{std::move(*kernel), std::move(answer.executable)};
}

tn_command launch_command(const Kernel& kernel, tn_executable* executable,
                          const Kernel::Extent& extent, BoundRange out, BoundRange in,
                          uint64_t scalar, LaunchArguments& arguments) {
  size_t count = 0;
  const auto bind = [&](BoundRange range, uint64_t elements) {
    const uint64_t size = elements * kernel.element_bytes();
    arguments.rows[count++] =
        buffer_argument(size ? range.memory : nullptr, size ? range.offset : 0, size);
  };
  bind(out, extent.outputs);
  if (kernel.has_input()) bind(in, extent.inputs);
  if (kernel.has_scalar()) arguments.rows[count++] = sdk::scalar_argument(scalar);
  return launch_command(executable, {extent.grid[0], extent.grid[1], extent.grid[2]},
                        {kernel.spec().threads}, std::span(arguments.rows, count));
}

}  // namespace tenon::conformance::abi
