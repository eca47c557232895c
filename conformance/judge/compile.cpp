// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/judge/compile.hpp"

#include <optional>
#include <string_view>

#include "conformance/cases/files.hpp"
#include "conformance/cases/generator.hpp"
#include "conformance/cases/graphs/cells.hpp"
#include "conformance/cases/random.hpp"
#include "conformance/judge/refusal.hpp"
#include "core/support/error.hpp"
#include "sdk/program/text.hpp"

namespace tenon::conformance::judge {
namespace {

/// A compiler may park a predicate or two; arrays and wide vectors in memory are many more.
constexpr uint32_t kFewSpills = 2;
constexpr std::string_view kElf =
    "\x7f"
    "ELF";

Discovery plugins_for(const Target& target) {
  if (target.plugin) return installed_plugins({*target.plugin});
  return installed_plugins();
}

/// Cells, then graphs; every second graph takes random transforms.
bool takes_random_transforms(const Case& test) {
  const uint64_t position = test.index - kCompileBase;
  return position >= graphs::all_cells().size() && (position - graphs::all_cells().size()) % 2 == 1;
}

}  // namespace

CompileHarness::CompileHarness(const Target& target)
    : compiler_(plugins_for(target), target.backend, target.name), folder_(target.keep) {}

Outcome CompileHarness::run(const Case& test) {
  Outcome outcome;
  try {
    if (test.refusal) return offer_op(compiler_, *test.graph.outputs[0]);
    kernel_ = 0;
    ScheduleOptions options;
    options.devices.push_back({compiler_.who(), compiler_.capabilities()});
    const Schedule cut = pipeline_.schedule(test.graph, options);
    std::optional<TransformChoice> choice;
    if (TransformChoice::wanted(test))
      choice.emplace(test);
    else if (takes_random_transforms(test))
      choice.emplace(mix(test.seed, test.index));
    TemplateChooser templates;
    TransformChooser& chooser = choice ? static_cast<TransformChooser&>(*choice) : templates;
    each_kernel(cut,
                [&](const KernelCall& call, int) { compile_kernel(test, call, chooser, outcome); });
    if (choice) outcome.transforms = choice->text();
  } catch (const Error& error) {
    return from_error(error, test, compiler_.capabilities());
  } catch (const std::exception& error) {
    return failed("error", error.what());
  }
  return outcome;
}

void CompileHarness::compile_kernel(const Case& test, const KernelCall& call,
                                    TransformChooser& chooser, Outcome& outcome) {
  const std::string name = fmt::format("kernel_{}", kernel_);
  const LoweredKernel lowered =
      pipeline_.lower(call, compiler_.capabilities(), chooser, static_cast<size_t>(kernel_), name);
  const CompiledProgram compiled = compiler_.compile(*lowered.program.get());
  keep(test, lowered.program, compiled);
  const auto failed = [&](const char* kind, std::string text) {
    if (outcome.status == Status::kFail) return;
    outcome = {Status::kFail, kind, fmt::format("{}: {}", name, text), 0, {}};
  };
  const tn_compile_report& report = compiled.report();
  if (test.cell.op != "graph" && report.spills > kFewSpills)
    failed("spill",
           fmt::format("expected at most {} spilled registers, got {}", kFewSpills, report.spills));
  const std::vector<uint8_t> saved = compiled.saved();
  const std::string_view bytes(reinterpret_cast<const char*>(saved.data()), saved.size());
  if (bytes.find(kElf) != bytes.npos && bytes.find(name) == bytes.npos)
    failed("entry", "expected the binary to name the kernel, got another one");
  ++kernel_;
}

void CompileHarness::keep(const Case& test, const sdk::Program& program,
                          const CompiledProgram& compiled) {
  if (folder_.empty()) return;
  const std::string stem = fmt::format("{}/{}-{}-{}", folder_, test.seed, test.index, kernel_);
  write_file(stem + ".program", sdk::print_program(program.view()), Sync::kLater);
  write_file(stem + ".source", compiled.text(TN_TEXT_SOURCE), Sync::kLater);
  const std::vector<uint8_t> saved = compiled.saved();
  write_file(stem + ".bin", std::string(saved.begin(), saved.end()), Sync::kLater);
  const tn_compile_report& report = compiled.report();
  write_file(stem + ".report",
             fmt::format("registers {}, spilled {}, shared bytes {}\n", report.registers,
                         report.spills, report.shared_bytes),
             Sync::kLater);
}

}  // namespace tenon::conformance::judge
