// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/judge/steps.hpp"

#include <algorithm>

#include "conformance/judge/compare.hpp"
#include "conformance/judge/device_run.hpp"
#include "conformance/judge/findings.hpp"
#include "core/ir/text/text.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::judge {
namespace {

Array read(Device& device, Buffer& buffer, const Array& like) {
  Array out = Array::zeros(like.dtype, like.shape);
  if (!out.bytes.empty()) device.read(buffer, 0, out.bytes.data(), out.bytes.size());
  return out;
}

/// States and data of a case on the device.
class Training {
 public:
  Training(Runtime& runtime, const Case& test, uint8_t poison)
      : runtime_(runtime), test_(test), donated_(test.inputs.size()) {
    for (size_t i = 0; i + 1 < test.graph.outputs.size(); ++i) donated_[i] = true;
    runtime.device().set_poison(poison);
    for (const Array& array : test.inputs) {
      inputs_.push_back(runtime.device().allocate(array.bytes.size(), "input"));
      runtime.device().write(*inputs_.back(), 0, array.bytes.data(), array.bytes.size());
    }
  }

  /// The loss of one step; the states are those after it. `looks`: the host waits for it.
  BufferRef step(const std::function<void()>& planned, bool looks = true) {
    const PlanUse use = runtime_.planned(test_.graph, inputs_, nullptr, donated_);
    planned();
    std::vector<BufferRef> outputs = runtime_.run_planned(test_.graph, use, inputs_, test_.symbols);
    if (looks) runtime_.device().synchronize();
    std::move(outputs.begin() + 1, outputs.end(), inputs_.begin());
    return outputs[0];
  }

  Array state(size_t i) const { return read(runtime_.device(), *inputs_[i], test_.inputs[i]); }
  size_t states() const { return test_.graph.outputs.size() - 1; }
  /// A sentence about data that is not what was written, or nothing.
  std::string changed_data() const {
    for (size_t i = states(); i < inputs_.size(); ++i)
      if (state(i) != test_.inputs[i])
        return fmt::format("input {} was written to", test_.graph.params[i]->as<ParamAttr>().name);
    return {};
  }

 private:
  Runtime& runtime_;
  const Case& test_;
  std::vector<bool> donated_;
  std::vector<BufferRef> inputs_;
};

/// One answer for each element.
bool is_point(const IntervalArray& array) {
  for (int64_t i = 0; i < array.value.count(); ++i)
    if (relative_width(array, i) != 0) return false;
  return true;
}

/// FAIL of the first output that is wrong, by its name. There is one.
Outcome wrong_tensor(const Graph& graph, const Expectation& expectation,
                     const std::vector<Array>& got, const Profile& profile) {
  constexpr std::string_view kHead = "output 0 ";
  for (size_t k = 0;; ++k) {
    const Expectation expected{expectation.at(k)};
    const std::vector<Array> own{got[k]};
    const std::optional<std::string> mismatch = compare(expected, own, profile).mismatch;
    if (!mismatch) continue;
    Outcome outcome = failed(
        "mismatch", fmt::format("{} {}", graph.output_names[k], mismatch->substr(kHead.size())));
    outcome.diff = diff_of(expected, own, profile);
    return outcome;
  }
}

}  // namespace

Outcome run_steps(Runtime& runtime, Runtime& unwatched, const Case& test, const Profile& profile,
                  const Progress& progress) {
  Device& device = runtime.device();
  Outcome outcome;
  Training training(runtime, test, kPoison);
  Case now = test;
  double first = 0, last = 0;
  std::vector<Array> losses, after;  // of each step, of all; and the last states
  bool is_exact = true;              // every device has these bits
  for (uint32_t s = 0; s < test.steps; ++s) {
    const auto wrong = [&](const char* kind, const std::string& text) {
      outcome.status = Status::kFail;
      outcome.kind = kind;
      outcome.text = fmt::format("step {} of {}: {}", s + 1, test.steps, text);
      return outcome;
    };
    const Expectation expectation = expect(now, profile);
    const BufferRef loss =
        training.step([&] { progress(s == 0 ? RunPhase::kFirstLaunch : RunPhase::kLaunch); });
    std::vector<Array> got{read(device, *loss, expectation[0].value)};
    for (size_t i = 0; i < training.states(); ++i) got.push_back(training.state(i));
    if (const std::string text = device.check_guards(); !text.empty()) return wrong("guard", text);
    const Comparison comparison = compare(expectation, got, profile);
    outcome.worst_ulp = std::max(outcome.worst_ulp, comparison.worst_ulp);
    if (comparison.mismatch) {
      Outcome tensor = wrong_tensor(test.graph, expectation, got, profile);
      outcome.diff = std::move(tensor.diff);
      return wrong("mismatch", tensor.text);
    }
    if (const std::string text = vacuity(expectation); !text.empty()) {
      outcome.status = Status::kVacuous;
      outcome.text = fmt::format("step {} of {}: {}", s + 1, test.steps, text);
      return outcome;
    }
    is_exact = is_exact && std::ranges::all_of(expectation, is_point);
    last = got[0].at(0).as_double();
    if (s == 0) first = last;
    losses.push_back(std::move(got[0]));
    std::move(got.begin() + 1, got.end(), now.inputs.begin());
  }
  outcome.digest = digest_of(losses);
  if (const std::string text = training.changed_data(); !text.empty()) return failed("input", text);
  // Once more, and nobody looks before the end: what is late or stale stays so.
  Case other = test;
  other.graph = parse_graph(print(test.graph), unwatched.builder());
  Training again(unwatched, other, kOtherPoison);
  BufferRef loss;
  for (uint32_t s = 0; s < test.steps; ++s)
    loss = again.step([&] { progress(RunPhase::kLaunch); }, false);
  unwatched.device().synchronize();
  after.push_back(read(unwatched.device(), *loss, losses.back()));
  for (size_t i = 0; i < again.states(); ++i) after.push_back(again.state(i));
  const bool deterministic = device.capabilities().deterministic;
  for (size_t k = 0; (deterministic || is_exact) && k < after.size(); ++k) {
    const Array& before = k == 0 ? losses.back() : now.inputs[k - 1];
    if (after[k] == before) continue;
    int64_t e = 0;
    while (after[k].at(e).bits == before.at(e).bits) ++e;
    return failed(is_exact ? "mismatch" : "nondeterminism",
                  fmt::format("{} steps without a look of the host between them: {}, element {}: "
                              "expected {}, as with a look after each, got {}",
                              test.steps, test.graph.output_names[k], e, to_string(before.at(e)),
                              to_string(after[k].at(e))));
  }
  outcome.text = fmt::format("loss {:.4g} to {:.4g} in {} steps", first, last, test.steps);
  return outcome;
}

}  // namespace tenon::conformance::judge
