// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One run with guard zones, a second one with the other poison, and the verdict.
#include "conformance/judge/harness.hpp"

#include <algorithm>

#include "conformance/cases/shapes.hpp"
#include "conformance/judge/refusal.hpp"
#include "core/runtime/discovery.hpp"
#include "core/runtime/environment.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance {
namespace {

constexpr uint32_t kGuardBytes = 256;
constexpr uint8_t kPoison = 0xA5, kOtherPoison = 0x5A;

std::unique_ptr<Context> make_context(const Target& target) {
  ContextOptions options;
  options.devices = target.backend;
  if (target.plugin) options.plugins.push_back(*target.plugin);
  options.disk_cache = false;
  options.validate = false;
  options.guard_bytes = kGuardBytes;
  return std::make_unique<Context>(std::move(options));
}

/// The operands of one element, where all inputs have the output's shape.
std::string operands_text(const Case& test, int64_t index, int64_t count) {
  std::string text;
  for (const Array& input : test.inputs) {
    if (input.count() != count) return {};
    text += (text.empty() ? "" : ", ") + to_string(input.at(index));
  }
  return text;
}

}  // namespace

Harness::Harness(const Target& target) : context_(make_context(target)), plugin_(target.plugin) {
  capabilities_ = context_->device().capabilities();
  profile_ = Profile::of(capabilities_);
}

std::string Harness::device_id() const { return context_->device().id(); }
std::string Harness::device_name() const { return context_->device().info().name; }

std::string Harness::plugin_path() const {
  if (plugin_) return plugin_->string();
  const std::string id = device_id(), backend = id.substr(0, id.find(':'));
  DiscoveryOptions options;
  options.env_plugins = environment("TENON_PLUGINS");
  options.env_plugin_path = environment("TENON_PLUGIN_PATH");
  for (const PluginCandidate& candidate : discover_plugins(options).candidates)
    if (candidate.backend == backend && !candidate.shadowed) return candidate.path.string();
  return backend;
}

std::string Harness::declaration() const {
  std::string text = capabilities_.strict ? "strict" : "relaxed";
  constexpr std::string_view kNumerics[] = {"flushes subnormal inputs",
                                            "flushes subnormal results",
                                            "no NaN",
                                            "no infinity",
                                            "no signed zero",
                                            "contracts"};
  for (size_t i = 0; i < std::size(kNumerics); ++i)
    if (capabilities_.numerics >> i & 1) text += fmt::format(", {}", kNumerics[i]);
  return text + (capabilities_.deterministic ? ", deterministic" : ", not deterministic");
}

Harness::Run Harness::run_once(uint8_t poison, const Case& test,
                               const std::function<void()>& on_launched) {
  Device& device = context_->device();
  device.set_poison(poison);
  std::vector<BufferRef> inputs;
  for (const Array& array : test.inputs) {
    inputs.push_back(device.allocate(array.bytes.size(), "input"));
    if (!array.bytes.empty())
      device.write(*inputs.back(), 0, array.bytes.data(), array.bytes.size());
  }
  const std::vector<BufferRef> outputs = context_->run(test.graph, inputs, test.symbols);
  on_launched();
  device.synchronize();
  Run run;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Node& node = *test.graph.outputs[i];
    Array array = Array::zeros(node.dtype, concrete(node.shape, test.symbols));
    if (!array.bytes.empty()) device.read(*outputs[i], 0, array.bytes.data(), array.bytes.size());
    run.outputs.push_back(std::move(array));
  }
  for (size_t i = 0; i < inputs.size() && run.changed.empty(); ++i) {
    std::vector<uint8_t> after(test.inputs[i].bytes.size());
    if (!after.empty()) device.read(*inputs[i], 0, after.data(), after.size());
    const auto different = std::ranges::mismatch(after, test.inputs[i].bytes).in1 - after.begin();
    if (after != test.inputs[i].bytes)
      run.changed = fmt::format("input {} was written to at byte {}", i, different);
  }
  run.guards = device.check_guards();
  return run;
}

Outcome Harness::judge(const Case& test, const Expectation& expectation,
                       const std::function<void()>& on_launched) {
  const Run first = run_once(kPoison, test, on_launched);
  Outcome outcome;
  const Comparison comparison = compare(expectation, first.outputs, profile_);
  outcome.worst_ulp = comparison.worst_ulp;
  if (comparison.worst_index >= 0)
    outcome.worst_input = operands_text(test, comparison.worst_index, first.outputs[0].count());
  const auto failed = [&](const char* kind, std::string text) {
    outcome.status = Status::kFail;
    outcome.kind = kind;
    outcome.text = std::move(text);
    return outcome;
  };
  if (!first.guards.empty()) return failed("guard", first.guards);
  if (!first.changed.empty()) return failed("input", first.changed);
  const Run second = run_once(kOtherPoison, test, on_launched);
  if (!second.guards.empty()) return failed("guard", second.guards);
  if (comparison.mismatch) {
    // Wrong once and right with other garbage around: what it read was never written.
    if (!compare(expectation, second.outputs, profile_).mismatch)
      return failed("poison", *comparison.mismatch + "; right with another poison");
    if (capabilities_.deterministic && !first_difference(first.outputs, second.outputs).empty())
      return failed("poison", *comparison.mismatch + "; wrong otherwise with another poison");
    return failed("mismatch", *comparison.mismatch);
  }
  if (const Comparison again = compare(expectation, second.outputs, profile_); again.mismatch)
    return failed("poison", *again.mismatch + "; right with another poison");
  if (capabilities_.deterministic)
    if (const std::string text = first_difference(first.outputs, second.outputs); !text.empty())
      return failed("nondeterminism", text);
  return outcome;
}

Outcome Harness::run(const Case& test, const Expectation* expectation,
                     const std::function<void()>& on_launched) {
  try {
    if (test.refusal) return offer_op(TargetCompiler(context_->device()), *test.graph.outputs[0]);
    return judge(test, *expectation, on_launched);
  } catch (const Error& error) {
    return from_error(error, test, capabilities_);
  } catch (const std::exception& error) {
    return failed("error", error.what());
  }
}

}  // namespace tenon::conformance
