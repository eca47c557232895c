// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/compile/compiler.hpp"

#include <chrono>

#include "core/ir/structure.hpp"
#include "core/ir/substitute.hpp"
#include "core/ir/text/text.hpp"
#include "core/ir/verify.hpp"
#include "core/kernel/templates/templates.hpp"
#include "core/kernel/tree/build.hpp"
#include "core/kernel/tree/verify.hpp"
#include "core/lower/split.hpp"
#include "core/lower/storage_words.hpp"
#include "core/rewrite/passes.hpp"
#include "core/schedule/canonical.hpp"
#include "core/support/log.hpp"
#include "sdk/program/text.hpp"

namespace tenon {
namespace {

using Clock = std::chrono::steady_clock;

void check(const Graph& graph) { verify(graph); }
void check(const Kernel& tree) { verify(tree); }
void check(const Chosen& chosen) { verify(chosen.kernel); }
void check(const sdk::Program& program) { check_program(program); }
void check(const Schedule& schedule) {
  each_kernel(schedule, [](const KernelCall& call, int) { verify(call.graph); });
}

std::string print(const sdk::Program& program) { return sdk::print_program(program.view()); }

/// A name from the graph's structure, so that equal kernels give equal programs.
std::string kernel_name(const Graph& graph) {
  std::string_view verb = "move";
  for (const NodeRef& node : topological(graph.outputs)) {
    if (node->op == Op::STORE) verb = "store";
    if (node->op == Op::REDUCE && verb != "store") verb = "reduce";
    if (is_elementwise(node->op) && verb == "move") verb = "map";
  }
  return fmt::format("{}_{:016x}", verb, structure_hash(graph));
}

}  // namespace

/// Times, verifies and reports successive passes on one graph or kernel.
class Compiler::Run {
 public:
  Run(const Compiler& compiler, std::string subject)
      : compiler_(compiler),
        subject_(std::move(subject)),
        logs_(log_enabled("compile")),
        listens_(logs_ || compiler.options_.observer) {
    if (listens_) begin_ = Clock::now();
  }

  template <class T>
  T done(Pass pass, T given) {
    tell(pass, given);
    return given;
  }

  /// Verifies and reports a pass's result.
  template <class T>
  void tell(Pass pass, const T& given) {
    const auto end = listens_ ? Clock::now() : begin_;
    if (compiler_.options_.verify) check(given);
    if (!listens_) return;
    const double ms = std::chrono::duration<double, std::milli>(end - begin_).count();
    if (logs_)
      log_line("compile", fmt::format("{}: {} {:.3f} ms", subject_, pass_info(pass).name, ms));
    if (compiler_.options_.observer) {
      const std::function<std::string()> text = [&given] { return print(given); };
      const std::lock_guard lock(compiler_.observing_);
      compiler_.options_.observer->saw({pass, subject_, ms, text});
    }
    begin_ = Clock::now();
  }

 private:
  const Compiler& compiler_;
  const std::string subject_;
  const bool logs_, listens_;
  Clock::time_point begin_;
};

Graph Compiler::inlined(Run& run, const Graph& graph) const {
  return has_calls(graph) ? run.done(Pass::kInline, inline_calls(graph, builder_)) : graph;
}

Graph Compiler::simplify(const Graph& graph, std::span<const Capabilities* const> devices) const {
  Run run(*this, graph.name);
  return run.done(Pass::kSimplify, simplify_for(inlined(run, graph), devices, builder_));
}

Schedule Compiler::schedule(const Graph& graph, const ScheduleOptions& options, Precision allowed,
                            const rewrite::Rules& rules) const {
  verify(graph);
  Run run(*this, graph.name);
  Graph permitted = inlined(run, graph);
  if (!rules.empty())
    permitted = run.done(Pass::kRules, rewrite::run_bounded(permitted, rules, builder_));
  if (allowed != Precision::kDefault)
    permitted = run.done(Pass::kPrecision, allow_precision(permitted, allowed, builder_));
  std::vector<const Capabilities*> devices;
  for (const ScheduleDevice& device : options.devices) devices.push_back(&*device.capabilities);
  const Graph simple = run.done(Pass::kSimplify, simplify_for(permitted, devices, builder_));
  const auto prepared = std::make_shared<PreparedKernels>();
  ScheduleOptions with = options;
  with.fuses_reductions = [&](const Graph& kernel, int device) {
    const Graph graph =
        canonical_kernel(kernel, builder_).graph;  // layers of a model have equal ones
    const auto [at, is_new] = prepared->kernels.try_emplace({device, graph.params, graph.outputs});
    if (is_new) at->second = fused(graph, *devices[static_cast<size_t>(device)]);
    return at->second != nullptr;
  };
  Schedule out = tenon::schedule(simple, with, builder_);
  out.prepared = prepared;
  return run.done(Pass::kSchedule, std::move(out));
}

std::shared_ptr<const PreparedKernel> Compiler::fused(const Graph& kernel,
                                                      const Capabilities& capabilities) const {
  PreparedKernel out = prepare(kernel, capabilities, {});
  Run run(*this, out.name);
  std::optional<Chosen> chosen = choose_fused(out.tree, capabilities);
  if (!chosen) return nullptr;
  out.chosen = std::make_shared<const Chosen>(std::move(*chosen));
  run.tell(Pass::kChoose, *out.chosen);
  return std::make_shared<const PreparedKernel>(std::move(out));
}

Graph Compiler::legalise(const Graph& kernel, const Capabilities& capabilities) const {
  Run run(*this, kernel.name);
  return run.done(Pass::kLegalise, tenon::legalise(kernel, capabilities, builder_));
}

PreparedKernel Compiler::built(Graph legal, const LowerOptions& options) const {
  PreparedKernel out;
  out.name = options.name.empty() ? kernel_name(legal) : options.name;
  Run run(*this, out.name);
  out.tree = run.done(Pass::kBuild, build_kernel(legal, options.alias, options.sections));
  out.legal = std::move(legal);
  return out;
}

PreparedKernel Compiler::prepare(const Graph& kernel, const Capabilities& capabilities,
                                 const LowerOptions& options) const {
  return built(legalise(kernel, capabilities), options);
}

LoweredKernel Compiler::lower(const PreparedKernel& kernel, const Capabilities& capabilities,
                              TransformChooser& chooser, size_t number) const {
  const std::string& name = kernel.name;
  Run run(*this, name);
  const auto lower_chosen = [&](const Chosen& chosen) {
    if (&chosen != kernel.chosen.get()) run.tell(Pass::kChoose, chosen);
    LoweredKernel out = emit_program(chosen, capabilities, name);
    run.tell(Pass::kEmit, out.program);
    if (capabilities.storage_bytes == 4)
      out.program = run.done(Pass::kPack, pack_storage(out.program, capabilities));
    if (capabilities.splits_wide())
      out.program = run.done(Pass::kSplit, split_wide(out.program, capabilities));
    check_program(out.program);
    return out;
  };
  LoweredKernel out =
      chooser.choose({kernel.tree, capabilities, number, lower_chosen, name, kernel.chosen.get()});
  check_memory(out.program, capabilities);
  TN_LOG("program", "{}\n{}", name, print(out.program));
  return out;
}

LoweredKernel Compiler::lower(const KernelCall& call, const Capabilities& capabilities,
                              TransformChooser& chooser, size_t number, std::string name) const {
  const LowerOptions options{call.alias, call.sections, std::move(name)};
  return lower(prepare(call.graph, capabilities, options), capabilities, chooser, number);
}

LoweredKernel Compiler::lower(const Graph& legal, const Capabilities& capabilities,
                              const LowerOptions& options, TransformChooser& chooser,
                              size_t number) const {
  return lower(built(legal, options), capabilities, chooser, number);
}

LoweredKernel Compiler::lower(const Graph& legal, const Capabilities& capabilities,
                              const LowerOptions& options) const {
  TemplateChooser templates;
  return lower(legal, capabilities, options, templates);
}

}  // namespace tenon
