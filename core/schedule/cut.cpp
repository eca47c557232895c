// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/cut.hpp"

#include <algorithm>

#include "core/schedule/contiguous_view.hpp"
#include "core/schedule/cost.hpp"
#include "core/support/error.hpp"
#include "core/support/hash.hpp"

namespace tenon::scheduling {
namespace {

constexpr int kUsualBindings = 31;  // if the device has no limit: keeps kernels readable
constexpr int kMostVariables = 64;

/// What a kernel counts as buffers that it may come to read.
enum class Counted : uint8_t {
  kNeeded,  ///< nodes that cannot be inlined: more than it binds may come to be where others are
            ///< not
  kAll,     ///< every node that it has met and not inlined: never more than it binds
};

class Cutter {
 public:
  Cutter(const SchedulerInput& input, const std::vector<OnlineSoftmax>& softmaxes,
         const std::vector<Rematerialised>& rematerialised, Counted counted)
      : input_(input),
        counted_(counted),
        demands_(input.nodes.size()),
        materialised_(input.nodes.size()),
        fusion_(input.nodes.size(), Fusion::kNo),
        outputs_of_(input.nodes.size(), -1) {
    out_.buffer_of.assign(input.nodes.size(), -1);
    for (const OnlineSoftmax& softmax : softmaxes) {
      fusion_[softmax.root] = Fusion::kRoot;
      for (const int i : softmax.fused_nodes) fusion_[i] = Fusion::kFused;
      add_outputs(softmax.root, softmax.extra_outputs);
    }
    for (const Rematerialised& group : rematerialised) {
      for (const int i : group.roots) fusion_[i] = Fusion::kRoot;
      for (const int i : group.fused_nodes)
        if (fusion_[i] == Fusion::kNo) fusion_[i] = Fusion::kFused;
      for (const std::vector<int>& roots : group.fused_roots)
        add_outputs(roots[0], {roots.begin() + 1, roots.end()});
    }
  }

  Cut run() {
    for (const NodeRef& o : input_.graph.outputs) materialise(input_.at(o));
    for (int i = static_cast<int>(input_.nodes.size()); i-- > 0;) visit(i);
    resolve_aliases();
    std::reverse(out_.kernels.begin(), out_.kernels.end());
    return std::move(out_);
  }

 private:
  /// The outputs of a kernel that has several.
  struct Outputs {
    int root = -1;
    std::vector<int> extra;
    int kernel = -1;  ///< its number once it exists
  };
  void add_outputs(int root, std::vector<int> extra_outputs) {
    if (extra_outputs.empty()) return;
    const int number = static_cast<int>(several_.size());
    outputs_of_[root] = number;
    for (const int i : extra_outputs) outputs_of_[i] = number;
    several_.push_back({root, std::move(extra_outputs)});
  }

  void materialise(int i) { materialised_[i] = true; }

  /// A materialised reshape shares the buffer of its source, unless the source has one already.
  bool try_share_buffer(int i) {
    const Node& node = input_.node(i);
    if (node.op != Op::VIEW || node.as<ViewAttr>().kind != ViewKind::kReshape) return false;
    const int source = input_.sources[i][0];
    const Node& below = input_.node(source);
    if (is_param(below) || is_leaf(below) || below.op == Op::IF || below.op == Op::LOOP)
      return false;
    if (materialised_[source] || out_.buffer_of[source] >= 0) return false;
    materialise(source);
    out_.buffer_of[i] = source;
    out_.buffer_of[source] = source;
    return true;
  }

  void visit(int i) {
    const Node& node = input_.node(i);
    const bool demanded = !demands_[i].empty();
    if (is_param(node)) {
      out_.buffer_of[i] = i;
      note_reads(i);
    } else if (is_command(node)) {
      if (node.op == Op::COPY) {
        materialise(copied_range(input_, i).base);
      } else {
        for (int s : input_.sources[i]) materialise(s);
      }
      out_.buffer_of[i] = i;
      note_reads(i);
    } else if (outputs_of_[i] >= 0) {
      if (materialised_[i] || demanded) visit_output(i, several_[outputs_of_[i]]);
    } else if (materialised_[i]) {
      if (try_share_buffer(i)) {
        if (demanded) inline_into_all(i);
      } else {
        begin_kernel(i);
      }
    } else if (demanded && !is_leaf(node)) {
      if (input_.options.fuse && is_inlined(i) && fits(i))
        inline_into_all(i);
      else
        begin_kernel(i);
    }
    std::vector<Demand>().swap(demands_[i]);
  }

  bool is_inlined(int i) const {
    if (fusion_[i] != Fusion::kNo) return fusion_[i] == Fusion::kFused;
    return may_inline(input_, out_.kernels, i, demands_[i]);
  }

  void note_reads(int i) {
    for (const Demand& d : demands_[i]) note_read(i, d);
  }

  void note_read(int i, const Demand& d) {
    CutKernel& k = out_.kernels[d.kernel];
    const bool same = is_identity(d.map, k.identity);
    if (!k.reads.empty() && k.reads.back().node == i) {
      k.reads.back().identity &= same;
    } else {
      k.reads.push_back({i, same});
    }
  }

  /// Visits one of a kernel's outputs. Its other outputs may come before or after it.
  void visit_output(int i, Outputs& all) {
    if (all.kernel < 0) {
      all.kernel = static_cast<int>(out_.kernels.size());
      begin_kernel(all.root, all.extra);
    }
    const int number = all.kernel;
    out_.buffer_of[i] = i;
    bool is_computed = i == all.root;
    for (const Demand& d : demands_[i]) {
      if (d.kernel == number) {
        push(i, d);
        is_computed = true;
      } else {
        note_read(i, d);
      }
    }
    if (!is_computed) push(i, {number, row_of(i, out_.kernels[static_cast<size_t>(number)])});
  }

  /// The kernel's position projected to a result with fewer dimensions.
  IndexMap row_of(int i, CutKernel& kernel) {
    const Shape &shape = input_.node(i).shape, &whole = input_.node(kernel.root).shape;
    IndexMap out;
    const std::optional<std::vector<int>> axes = axes_in(shape, whole);
    for (size_t d = 0; d < shape.size(); ++d) {
      const int axis = axes ? (*axes)[d] : -1;
      out.axes.push_back(axis >= 0 ? kernel.identity.axes[static_cast<size_t>(axis)] : AxisIndex{});
      if (axis < 0 && !shape[d].is_const(1))
        out.axes.back() = new_variable(kernel, input_.estimate.of(shape[d]), 0, false);
    }
    return out;
  }

  void begin_kernel(int i, const std::vector<int>& extra_outputs = {}) {
    out_.buffer_of[i] = i;
    if (extra_outputs.empty()) note_reads(i);
    const Node& node = input_.node(i);
    CutKernel k;
    k.root = i;
    k.extra_outputs = extra_outputs;
    const Shape& loops = node.op == Op::STORE ? node.sources[2]->shape : node.shape;
    for (const Dim& dim : loops) {
      AxisIndex axis;
      if (!dim.is_const(1)) axis = new_variable(k, input_.estimate.of(dim), 0, false);
      k.identity.axes.push_back(axis);
    }
    k.root_variables = k.identity.variables();
    const int number = static_cast<int>(out_.kernels.size());
    out_.kernels.push_back(std::move(k));
    open_sources(out_.kernels.back(), i);
    // A kernel of several outputs is tried: it need not be.
    const int used = static_cast<int>(out_.kernels.back().open.size() + 1);
    if (extra_outputs.empty() && used > binding_limit(input_, i))
      fail(ErrorKind::kUnsupported, "[{}] expected at most {} buffers in one launch on {}, got {}",
           op_info(node.op).text, binding_limit(input_, i),
           input_.options.devices[std::max(0, input_.device[i])].name, used);
    if (node.op == Op::STORE) {
      materialise(input_.sources[i][0]);
      out_.kernels.back().reads.push_back({input_.sources[i][0], false});
      out_.kernels.back().reduces.contraction = true;  // nothing is fused into a scatter
      demand(input_.sources[i][1], {number, out_.kernels.back().identity});
      demand(input_.sources[i][2], {number, out_.kernels.back().identity});
    } else {
      push(i, {number, out_.kernels.back().identity});
    }
  }

  AxisIndex new_variable(CutKernel& k, double size, uint64_t context, bool contraction) {
    TN_REQUIRE(k.variables.size() < kMostVariables, "[schedule] expected at most {} axes, got more",
               kMostVariables);
    const uint64_t bit = uint64_t{1} << k.variables.size();
    k.variables.push_back({std::max(1.0, size), context | bit, contraction});
    return {bit, hash_mix(0x10090, k.variables.size()) | 1};
  }

  /// A node that could be rematerialised where it is used still needs a buffer if it is an output.
  bool needs_buffer(int i) const {
    if (counted_ == Counted::kAll) return !is_leaf(input_.node(i));
    return input_.analysis[i].needs_buffer || (materialised_[i] && !is_leaf(input_.node(i)));
  }

  void open_sources(CutKernel& k, int i) {
    for (int s : input_.sources[i])
      if (needs_buffer(s)) k.open.insert(input_.strip_scalar_views(s));
  }

  bool fits(int i) {
    int last = -1;
    for (const Demand& d : demands_[i]) {
      if (d.kernel == last) continue;
      last = d.kernel;
      const CutKernel& k = out_.kernels[d.kernel];
      size_t after = k.open.size() - k.open.count(i);
      for (int s : input_.sources[i])
        after += needs_buffer(s) && !k.open.count(input_.strip_scalar_views(s));
      const size_t outputs = 1 + k.extra_outputs.size();
      if (after > k.open.size() &&
          static_cast<int>(after + outputs) > binding_limit(input_, k.root))
        return false;
      if (k.size >= kMostNodes) return false;
      if (input_.node(i).op != Op::REDUCE) continue;
      if (k.reductions >= kMostReductions ||
          k.variables.size() + input_.node(i).as<ReduceAttr>().axes.size() > kMostVariables)
        return false;
    }
    return true;
  }

  void inline_into_all(int i) {
    int last = -1;
    for (const Demand& d : demands_[i]) {
      CutKernel& k = out_.kernels[d.kernel];
      if (d.kernel != last) {
        k.open.erase(i);
        open_sources(k, i);
        k.size += input_.node(i).op != Op::VIEW;
      }
      last = d.kernel;
      push(i, d);
    }
  }

  /// Demands each source of node i, evaluated at `at`, at the index where i reads it.
  void push(int i, const Demand& at) {
    const Node& node = input_.node(i);
    const std::vector<int>& sources = input_.sources[i];
    if (node.op == Op::VIEW) {
      demand(sources[0], {at.kernel, through_view(node, at.map, input_.estimate)});
    } else if (node.op == Op::TAKE) {
      demand(sources[1], {at.kernel, at.map});
      demand(sources[0], {at.kernel, through_take(node, at.map)});
    } else if (node.op == Op::REDUCE) {
      push_reduce(i, at);
    } else {
      for (int s : sources) demand(s, at);
    }
  }

  void push_reduce(int i, const Demand& at) {
    CutKernel& k = out_.kernels[at.kernel];
    const Node& node = input_.node(i);
    const bool contraction = input_.analysis[i].contraction;
    const uint64_t row = closure(k, at.map.variables());
    IndexMap terms = at.map;
    double length = 1;
    for (int axis : node.as<ReduceAttr>().axes) {
      const double size = input_.estimate.of(node.sources[0]->shape[axis]);
      length *= std::max(1.0, size);
      terms.axes[axis] = {};
      if (!node.sources[0]->shape[axis].is_const(1))
        terms.axes[axis] = new_variable(k, size, row, contraction);
    }
    k.reduces = {true, contraction, row, product(k, row), length};
    ++k.reductions;
    demand(input_.sources[i][0], {at.kernel, terms});
  }

  void demand(int i, Demand d) {
    if (const int base = input_.strip_scalar_views(i); base != i) {
      d.map.axes.assign(input_.node(base).shape.size(), {});
      ++d.map.views;
      return demand(base, std::move(d));
    }
    if (is_leaf(input_.node(i))) return;
    std::vector<Demand>& all = demands_[i];
    // A node with so many demands is materialised: no need to compare them. Fused nodes, as the
    // mask that all layers of a model share, are not.
    const bool many = all.size() > kMostKnownDemands && fusion_[i] != Fusion::kFused;
    if (is_param(input_.node(i)) || many) return note_read(i, d);
    for (const Demand& known : all)
      if (known == d) return;
    // Sorted by kernel, so that a walk meets each kernel once.
    auto at = std::find_if(all.rbegin(), all.rend(),
                           [&](const Demand& known) { return known.kernel == d.kernel; });
    all.insert(at == all.rend() ? all.end() : at.base(), std::move(d));
  }

  void resolve_aliases() {
    for (int i = 0; i < static_cast<int>(input_.nodes.size()); ++i)
      if (out_.buffer_of[i] >= 0 && out_.buffer_of[i] != i)
        out_.buffer_of[i] = out_.buffer_of[out_.buffer_of[i]];
  }

  const SchedulerInput& input_;
  const Counted counted_;
  Cut out_;
  std::vector<std::vector<Demand>> demands_;
  std::vector<bool> materialised_;
  enum class Fusion : uint8_t { kNo, kFused, kRoot };
  std::vector<Fusion> fusion_;
  std::vector<Outputs> several_;
  std::vector<int> outputs_of_;  ///< index into several_ of each node; -1: none
};

bool binds_too_much(const SchedulerInput& input, const Cut& cut) {
  return std::ranges::any_of(cut.kernels, [&](const CutKernel& kernel) {
    std::unordered_set<int> buffers{kernel.root};
    buffers.insert(kernel.extra_outputs.begin(), kernel.extra_outputs.end());
    for (const CutRead& read : kernel.reads) buffers.insert(cut.buffer_of[read.node]);
    return static_cast<int>(buffers.size()) > binding_limit(input, kernel.root);
  });
}

}  // namespace

std::optional<std::vector<int>> axes_in(const Shape& shape, const Shape& whole) {
  std::vector<int> out;
  size_t next = 0;
  for (const Dim& dim : shape) {
    if (dim.is_const(1)) {
      out.push_back(-1);
      continue;
    }
    while (next < whole.size() && !(whole[next] == dim)) ++next;
    if (next == whole.size()) return std::nullopt;
    out.push_back(static_cast<int>(next++));
  }
  return out;
}

int binding_limit(const SchedulerInput& input, int i) {
  const uint32_t limit = input.capabilities(i).max_bindings;
  return limit ? static_cast<int>(std::min<uint32_t>(limit, 1000)) : kUsualBindings;
}

Cut cut(const SchedulerInput& input, const std::vector<OnlineSoftmax>& softmaxes,
        const std::vector<Rematerialised>& rematerialised) {
  Cut out = Cutter(input, softmaxes, rematerialised, Counted::kNeeded).run();
  if (!binds_too_much(input, out)) return out;
  return Cutter(input, softmaxes, rematerialised, Counted::kAll).run();
}

}  // namespace tenon::scheduling
