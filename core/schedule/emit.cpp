// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/schedule/emit.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "core/schedule/contiguous_view.hpp"
#include "core/schedule/kernel_graph.hpp"
#include "core/support/error.hpp"

namespace tenon::scheduling {
namespace {

constexpr size_t kLongName = 100;
constexpr int kForEver = std::numeric_limits<int>::max();

class Emitter {
 public:
  Emitter(const SchedulerInput& input, const Cut& cut, const Units& units, Builder& builder)
      : input_(input), cut_(cut), units_(units), builder_(builder) {
    buffer_.assign(input.nodes.size(), -1);
    last_read_.assign(input.nodes.size(), -1);
    outputs_of_.resize(input.nodes.size());
  }

  Schedule run() {
    out_.name = input_.graph.name;
    out_.symbols = input_.graph.symbols;
    for (const ScheduleDevice& d : input_.options.devices) out_.devices.push_back(d.name);
    find_last_reads();
    add_inputs();
    for (size_t u = 0; u < units_.units.size(); ++u) emit_unit(static_cast<int>(u));
    name_outputs();
    reuse_in_place(out_, identity_);
    return std::move(out_);
  }

 private:
  int device(int i) const { return std::max(0, input_.device[i]); }

  void find_last_reads() {
    for (size_t u = 0; u < units_.units.size(); ++u)
      for (const CutRead& read : units_.units[u].reads)
        last_read_[read.node] =
            std::max(last_read_[read.node], crosses(u, read.node) ? kForEver : static_cast<int>(u));
    for (size_t o = 0; o < input_.graph.outputs.size(); ++o) {
      const int root = cut_.buffer_of[input_.at(input_.graph.outputs[o])];
      last_read_[root] = kForEver;
      outputs_of_[root].push_back(static_cast<int>(o));
    }
    find_store_outputs();
  }

  /// A STORE that becomes an output, perhaps through other STOREs, may use that output's donated
  /// buffer.
  void find_store_outputs() {
    for (size_t o = 0; o < input_.graph.outputs.size(); ++o) {
      int root = cut_.buffer_of[input_.at(input_.graph.outputs[o])];
      while (input_.node(root).op == Op::STORE) {
        root = cut_.buffer_of[input_.sources[root][0]];
        if (input_.node(root).op == Op::STORE) outputs_of_[root].push_back(static_cast<int>(o));
      }
    }
  }

  /// True for a copy to another device. Its source is never reused: no later step waits for the
  /// copy.
  bool crosses(size_t u, int node) const {
    const Unit& unit = units_.units[u];
    return unit.kind == Unit::Kind::kCopy && device(unit.roots[0]) != device(node);
  }

  int add_buffer(BufferKind kind, const Node& node, int device, std::string name = {}) {
    out_.buffers.push_back({kind, node.dtype, node.shape, device, std::move(name)});
    return static_cast<int>(out_.buffers.size()) - 1;
  }

  void add_inputs() {
    for (size_t p = 0; p < input_.graph.params.size(); ++p) {
      const NodeRef& param = input_.graph.params[p];
      const InputPlace where =
          input_.options.input_places.empty() ? 0 : input_.options.input_places[p];
      const std::string& name = param->as<ParamAttr>().name;
      const int b = add_buffer(BufferKind::kInput, *param, where.device, name);
      donated_.push_back(where.donated);
      out_.inputs.push_back(b);
      if (const int* i = input_.index.find(param.get())) buffer_[*i] = b;
      // Temporaries are named t7: an input of such a name, or of one that is taken, is renamed.
      const bool plain = !name.empty() && name.size() < kLongName && !looks_temporary(name) &&
                         taken_.insert(name).second;
      input_names_.push_back(plain ? name : fmt::format("input_{}", p));
    }
  }

  static bool looks_temporary(const std::string& name) {
    return name.find_first_not_of("0123456789", 1) == std::string::npos && name[0] == 't';
  }

  std::string name_of(int node) const {
    const int b = buffer_[node];
    return b < static_cast<int>(input_names_.size()) ? input_names_[b] : fmt::format("t{}", b);
  }

  bool is_needed(int root) const { return last_read_[root] > units_.unit_of[root]; }

  int define(int root) {
    return buffer_[root] = add_buffer(BufferKind::kTemporary, input_.node(root), device(root));
  }

  void add_step(std::variant<KernelCall, CopyCall, IfCall, LoopCall> call, int device,
                std::vector<bool> identity = {}) {
    out_.steps.push_back({std::move(call), device});
    identity_.push_back(std::move(identity));
  }

  void emit_unit(int u) {
    const Unit& unit = units_.units[u];
    const int root = unit.roots[0];
    switch (unit.kind) {
      case Unit::Kind::kKernel:
        return emit_kernel(unit, u);
      case Unit::Kind::kStore:
        return emit_store(root, u);
      case Unit::Kind::kCopy:
        return emit_copy(root);
      case Unit::Kind::kControl:
        return input_.node(root).op == Op::IF ? emit_if(unit) : emit_loop(unit);
    }
  }

  void emit_copy(int root) {
    const CopiedRange range = copied_range(input_, root);
    define(root);
    add_step(CopyCall{buffer_[cut_.buffer_of[range.base]], buffer_[root], range.offset},
             device(root));
  }

  int source_buffer(int node, int source) const {
    return buffer_[cut_.buffer_of[input_.sources[node][source]]];
  }

  /// True if `root` may take the buffer of node `old`, whose last reader is unit `u`.
  bool may_take(int old, int root, int u) const {
    const int b = buffer_[old];
    if (last_read_[old] != u) return false;
    if (out_.buffers[b].kind == BufferKind::kTemporary) return true;
    const int donated = donated_[b];
    return donated == InputPlace::kForAny ||
           std::ranges::find(outputs_of_[root], donated) != outputs_of_[root].end();
  }

  static bool is_empty(const Node& node) {
    return std::any_of(node.shape.begin(), node.shape.end(),
                       [](const Dim& dim) { return dim.is_const(0); });
  }

  /// Sets `sections` to the number of needed roots in each section, if the unit has several.
  std::vector<int> needed_roots(const Unit& unit, std::vector<int>& sections) const {
    std::vector<int> roots;
    size_t next = 0;
    for (const int count :
         unit.sections.empty() ? std::vector{static_cast<int>(unit.roots.size())} : unit.sections) {
      const size_t before = roots.size(), end = next + static_cast<size_t>(count);
      for (; next < end; ++next)
        if (is_needed(unit.roots[next])) roots.push_back(unit.roots[next]);
      if (roots.size() > before) sections.push_back(static_cast<int>(roots.size() - before));
    }
    if (sections.size() < 2) sections.clear();
    return roots;
  }

  void emit_kernel(const Unit& unit, int u) {
    KernelCall call;
    const std::vector<int> roots = needed_roots(unit, call.sections);
    if (roots.empty()) return;
    // All outputs of a section have the same shape: an empty one needs no kernel.
    if (is_empty(input_.node(roots[0]))) {
      for (int root : roots) define(root);
      return;
    }
    KernelGraph kernel = write(roots, unit.roots);
    std::vector<bool> identity;
    for (int node : kernel.reads) {
      call.inputs.push_back(buffer_[node]);
      const auto read = std::find_if(unit.reads.begin(), unit.reads.end(),
                                     [&](const CutRead& r) { return r.node == node; });
      identity.push_back(unit.reduces.any || read == unit.reads.end() ? false : read->identity);
    }
    for (size_t first = 0; first < roots.size(); first = call.outputs.size())
      place_section(kernel, identity, roots, first, u, call);
    call.graph = std::move(kernel.graph);
    add_step(std::move(call), device(roots[0]), std::move(identity));
  }

  /// Assigns buffers to the outputs of the section that begins at `first`. Only reads of this
  /// section count as identity: other sections read at other times (horizontal_fusion.cpp).
  void place_section(const KernelGraph& kernel, std::vector<bool> identity,
                     const std::vector<int>& roots, size_t first, int u, KernelCall& call) {
    size_t end = 0;
    for (const int outputs : call.sections)
      if (end <= first) end += static_cast<size_t>(outputs);
    if (call.sections.empty()) end = roots.size();
    const size_t last_read = end < roots.size() ? kernel.reads_before[end] : kernel.reads.size();
    for (size_t i = 0; i < identity.size(); ++i)
      if (i < kernel.reads_before[first] || i >= last_read) identity[i] = false;
    const std::vector<int> own(roots.begin() + static_cast<std::ptrdiff_t>(first),
                               roots.begin() + static_cast<std::ptrdiff_t>(end));
    for (size_t r = 0; r < own.size(); ++r) {
      call.alias.push_back(donated_input(kernel.reads, identity, own, r, u, call.alias));
      const int taken = call.alias.back();
      call.outputs.push_back(taken < 0 ? define(own[r]) : call.inputs[static_cast<size_t>(taken)]);
      buffer_[own[r]] = call.outputs.back();
    }
  }

  /// Index of the donated input whose buffer output r of the kernel may take; -1 if there is none.
  /// All outputs are computed before the first store (core/lower/stores.cpp), so other reads at the
  /// same position do no harm.
  int donated_input(const std::vector<int>& reads, const std::vector<bool>& identity,
                    const std::vector<int>& roots, size_t r, int u,
                    const std::vector<int>& taken) const {
    const Node& output = input_.node(roots[r]);
    const auto like_output = [&](int node) {
      return same_shape(without_ones(input_.node(node).shape), without_ones(output.shape));
    };
    // Outputs of one shape are stored in one loop (core/kernel/tree/build.cpp).
    const bool is_one_loop = std::ranges::all_of(
        roots, [&](int root) { return same_shape(input_.node(root).shape, output.shape); });
    if (outputs_of_[roots[r]].empty() || !is_one_loop) return -1;
    for (size_t i = 0; i < reads.size(); ++i) {
      const int b = buffer_[reads[i]];
      if (identity[i] && out_.buffers[b].kind == BufferKind::kInput &&
          may_take(reads[i], roots[r], u) && like_output(reads[i]) &&
          out_.buffers[b].dtype == output.dtype && out_.buffers[b].device == device(roots[r]) &&
          std::ranges::find(taken, static_cast<int>(i)) == taken.end() &&
          std::ranges::count_if(reads, [&](int n) { return buffer_[n] == b; }) == 1)
        return static_cast<int>(i);
    }
    return -1;
  }

  KernelGraph write(const std::vector<int>& outputs, const std::vector<int>& computed) {
    KernelGraph kernel = kernel_graph(
        input_, cut_, outputs, computed, [&](int node) { return name_of(node); }, builder_);
    kernel.graph.name = fmt::format("k{}", kernels_++);
    return kernel;
  }

  /// Updates in place if the target is temporary or donated and has no later reader; else a copy.
  void emit_store(int root, int u) {
    if (!is_needed(root)) return;
    const int updated = cut_.buffer_of[input_.sources[root][0]];
    if (is_empty(input_.node(root))) {
      define(root);
      return;
    }
    KernelGraph kernel = write({root}, {root});
    const int old = buffer_[updated];
    const bool in_place = may_take(updated, root, u) && !kernel.reads_updated;
    if (in_place) {
      buffer_[root] = old;
    } else {
      define(root);
      add_step(CopyCall{old, buffer_[root], 0}, device(root));
    }
    KernelCall call;
    for (int node : kernel.reads) call.inputs.push_back(buffer_[node]);
    call.inputs[0] = buffer_[root];
    call.outputs = {buffer_[root]};
    call.alias = {0};
    call.graph = std::move(kernel.graph);
    add_step(std::move(call), device(root));
  }

  /// A buffer for each result of the call, read or not.
  std::vector<int> result_buffers(const Unit& unit, const std::vector<NodeRef>& like) {
    std::vector<int> out(like.size(), -1);
    for (int root : unit.roots) {
      const Node& node = input_.node(root);
      const int result = node.op == Op::IF ? node.as<IfAttr>().result : node.as<LoopAttr>().result;
      out[result] = define(root);
    }
    for (size_t r = 0; r < like.size(); ++r)
      if (out[r] < 0) out[r] = add_buffer(BufferKind::kTemporary, *like[r], device(unit.roots[0]));
    return out;
  }

  ScheduleOptions region_options(const std::vector<int>& captured) const {
    ScheduleOptions options = input_.options;
    options.input_places.clear();
    for (int b : captured) options.input_places.push_back(out_.buffers[b].device);
    return options;
  }

  std::shared_ptr<const Schedule> region(const Graph& graph, const ScheduleOptions& options,
                                         int where) {
    Graph inner = graph;
    if (inner.symbols.empty())
      inner.symbols = input_.graph.symbols;  // those of the graph around it
    return std::make_shared<const Schedule>(schedule_region(inner, options, builder_, where));
  }

  void emit_if(const Unit& unit) {
    const int root = unit.roots[0], where = device(root);
    const IfAttr& attr = input_.node(root).as<IfAttr>();
    IfCall call;
    call.condition = source_buffer(root, 0);
    for (size_t s = 1; s < input_.sources[root].size(); ++s)
      call.captured.push_back(source_buffer(root, static_cast<int>(s)));
    const ScheduleOptions options = region_options(call.captured);
    call.then_schedule = region(*attr.then_graph, options, where);
    call.else_schedule = region(*attr.else_graph, options, where);
    call.outputs = result_buffers(unit, attr.then_graph->outputs);
    add_step(std::move(call), where);
  }

  void emit_loop(const Unit& unit) {
    const int root = unit.roots[0], where = device(root);
    const LoopAttr& attr = input_.node(root).as<LoopAttr>();
    LoopCall call;
    call.is_while = attr.is_while;
    call.trips = source_buffer(root, 0);
    std::vector<NodeRef> carried;
    for (int s = 1; s < static_cast<int>(input_.sources[root].size()); ++s) {
      const bool is_carried = s <= attr.carried;
      (is_carried ? call.initial : call.captured).push_back(source_buffer(root, s));
      if (is_carried) carried.push_back(input_.node(root).sources[s]);
    }
    std::vector<int> inputs = call.initial;
    inputs.insert(inputs.end(), call.captured.begin(), call.captured.end());
    ScheduleOptions options = region_options(inputs);
    options.input_places.insert(options.input_places.begin(), where);  // the trip number
    // A while loop discards its last iteration, so it needs the values before it.
    if (!attr.is_while)
      for (int k = 0; k < attr.carried; ++k)
        options.input_places[static_cast<size_t>(k) + 1].donated = k;
    call.body = region(*attr.body, options, where);
    call.outputs = result_buffers(unit, carried);
    add_step(std::move(call), where);
  }

  void name_outputs() {
    for (size_t o = 0; o < input_.graph.outputs.size(); ++o) {
      const int b = buffer_[cut_.buffer_of[input_.at(input_.graph.outputs[o])]];
      out_.outputs.push_back(b);
      ScheduledBuffer& buffer = out_.buffers[b];
      if (buffer.kind != BufferKind::kTemporary) continue;
      buffer.kind = BufferKind::kOutput;
      buffer.shape = input_.graph.outputs[o]->shape;
      if (o < input_.graph.output_names.size()) buffer.name = input_.graph.output_names[o];
    }
  }

  const SchedulerInput& input_;
  const Cut& cut_;
  const Units& units_;
  Builder& builder_;
  Schedule out_;
  std::vector<int> buffer_, last_read_;
  std::vector<std::vector<int>> outputs_of_;  ///< graph outputs that a node is or becomes in place
  std::vector<int> donated_;                  ///< InputPlace::donated of each input
  std::set<std::string> taken_;
  std::vector<std::string> input_names_;
  std::vector<std::vector<bool>> identity_;
  int kernels_ = 0;
};

}  // namespace

Shape without_ones(const Shape& shape) {
  Shape out;
  for (const Dim& dim : shape)
    if (!dim.is_const(1)) out.push_back(dim);
  return out;
}

Schedule emit(const SchedulerInput& input, const Cut& cut, const Units& units, Builder& builder) {
  return Emitter(input, cut, units, builder).run();
}

}  // namespace tenon::scheduling
