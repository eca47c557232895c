// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/transforms/legality.hpp"

#include <algorithm>

#include "core/kernel/tree/dot.hpp"
#include "core/kernel/tree/matrix.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

class Limits {
 public:
  Limits(const Kernel& kernel, const Capabilities& capabilities)
      : kernel_(kernel), capabilities_(capabilities) {}

  void check() {
    for (const std::span<const Statement> section : sections_of(kernel_)) {
      workgroups_.fill(1);
      body(section, 1);
      sum_ += workgroups_[0];
    }
    if (!kernel_.sections.empty())
      need(capabilities_.max_grid[0] == 0 || sum_ <= capabilities_.max_grid[0],
           "workgroups on grid.x", capabilities_.max_grid[0], sum_);
    uint64_t threads = 1;
    for (const uint64_t b : block_) threads *= b;
    need(threads <= std::max(1u, capabilities_.max_workgroup_threads) ||
             capabilities_.max_workgroup_threads == 0,
         "threads in a workgroup", capabilities_.max_workgroup_threads, threads);
    if (barriers_ && !capabilities_.has(Op::BARRIER))
      fail(ErrorKind::kUnsupported, "[kernel] {}: expected barriers on the device, got none",
           kernel_.name);
    size_t bindings = 0;
    for (const KernelBuffer& b : kernel_.buffers)
      bindings += b.space == BufferSpace::kGlobal && (b.read || b.written);
    need(capabilities_.max_bindings == 0 || bindings <= capabilities_.max_bindings, "bindings",
         capabilities_.max_bindings, bindings);
  }

 private:
  void need(bool fits, std::string_view what, uint64_t limit, uint64_t got) const {
    if (!fits)
      fail(ErrorKind::kUnsupported, "[kernel] {}: expected at most {} {}, got {}", kernel_.name,
           limit, what, got);
  }

  void axis(const KernelAxis& a) {
    const auto extent = static_cast<uint64_t>(std::max<int64_t>(0, a.extent.max()));
    if (is_grid(a.bind)) {
      const int d = static_cast<int>(a.bind) - static_cast<int>(Bind::kGridX);
      workgroups_[d] = std::max(workgroups_[d], extent);
      const uint32_t limit = capabilities_.max_grid[d];
      need(limit == 0 || extent <= limit, "workgroups on " + std::string(bind_name(a.bind)), limit,
           extent);
    }
    if (is_block(a.bind)) {
      const int d = static_cast<int>(a.bind) - static_cast<int>(Bind::kBlockX);
      const uint32_t limit = capabilities_.max_workgroup[d];
      need(limit == 0 || extent <= limit, "threads on " + std::string(bind_name(a.bind)), limit,
           extent);
      block_[d] = extent;
      barriers_ |= a.kind == AxisKind::kReduce;
    }
    if (a.bind == Bind::kVector && extent > 1 && !capabilities_.has(Op::BROADCAST))
      fail(ErrorKind::kUnsupported, "[kernel] {}: expected vectors on the device, got none",
           kernel_.name);
  }

  void body(std::span<const Statement> statements, int64_t copies) {
    for (const Statement& s : statements) {
      int64_t inside = copies;
      if (s.kind == Statement::Kind::kLoop) {
        const KernelAxis& a = kernel_.axes[s.axis];
        axis(a);
        if (a.bind == Bind::kUnroll) inside *= a.extent.value();
        need(inside <= kMaxCopies, "unrolled copies", kMaxCopies, static_cast<uint64_t>(inside));
      }
      if (s.kind == Statement::Kind::kMatrix) matrix(s);
      if (s.kind == Statement::Kind::kReduce) dot(s);
      if (s.kind == Statement::Kind::kReduce && s.running) running(s);
      if (s.kind == Statement::Kind::kStage)
        barriers_ |= kernel_.buffers[s.buffer].space == BufferSpace::kShared;
      body(s.body, inside);
    }
  }

  void matrix(const Statement& s) {
    barriers_ = true;
    block_[0] = static_cast<uint64_t>(s.across);
    if (s.across < s.threads) block_[1] = static_cast<uint64_t>(s.threads / s.across);
    walk(kernel_.body, [&](const Statement& r) {
      if (r.kind != Statement::Kind::kReduce || r.id != s.id) return;
      const auto [m, n, k] = matrix_axes(kernel_, r);
      const MatrixProduct product = matrix_product(kernel_, r, m, n, k);
      if (capabilities_.has(Op::MATRIX_MULTIPLY) &&
          find_atom(kernel_, r, product, m, n, k, s.threads, capabilities_))
        return;
      const auto extent = [&](int axis) { return kernel_.axes[axis].extent.value(); };
      fail(ErrorKind::kUnsupported,
           "[kernel] {}: expected a matrix atom {}x{}x{} of {}, {} and {} by {} threads on the "
           "device, got none",
           kernel_.name, extent(m), extent(n), extent(k), dtype_name(product.a.load->dtype),
           dtype_name(product.b.load->dtype), dtype_name(r.states[0].dtype), s.threads);
    });
  }

  void running(const Statement& s) const {
    if (capabilities_.has(Op::COMPOSE) && capabilities_.has(Op::EXTRACT)) return;
    walk(s.body, [&](const Statement& loop) {
      if (loop.kind == Statement::Kind::kLoop && kernel_.axes[loop.axis].bind == Bind::kVector)
        fail(ErrorKind::kUnsupported,
             "[kernel] {}: expected vectors with compose and extract on the device, got others",
             kernel_.name);
    });
  }

  void dot(const Statement& s) const {
    const int axis = dot_axis(s, kernel_);
    if (axis >= 0 && !dot_factors(kernel_, s, axis, capabilities_))
      fail(ErrorKind::kUnsupported,
           "[kernel] {}: expected a dot product of {} elements to {} on the device, got none",
           kernel_.name, to_string(kernel_.axes[axis].extent), dtype_name(s.states[0].dtype));
  }

  const Kernel& kernel_;
  const Capabilities& capabilities_;
  std::array<uint64_t, 3> block_{1, 1, 1}, workgroups_{1, 1, 1};
  uint64_t sum_ = 0;  ///< of all sections along grid.x
  bool barriers_ = false;
};

}  // namespace

void check_limits(const Kernel& kernel, const Capabilities& capabilities) {
  Limits(kernel, capabilities).check();
}

bool fits_limits(const Kernel& kernel, const Capabilities& capabilities) {
  try {
    check_limits(kernel, capabilities);
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUnsupported) throw;
    return false;
  }
}

}  // namespace tenon
