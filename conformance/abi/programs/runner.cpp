// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/abi/programs/runner.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>

#include "conformance/abi/programs/model_cooperation.hpp"
#include "conformance/abi/programs/stand_ins.hpp"
#include "conformance/abi/programs/twin.hpp"
#include "conformance/abi/saved.hpp"
#include "conformance/cases/abi/patterns/made_program.hpp"
#include "conformance/cases/abi/program_data.hpp"
#include "conformance/cases/abi/programs.hpp"
#include "conformance/cases/abi/scalars.hpp"
#include "core/support/error.hpp"
#include "sdk/backend/check_support.hpp"
#include "sdk/program/op_info.hpp"

namespace tenon::conformance::abi::programs {
namespace {

constexpr uint64_t kGuard = 64;  ///< bytes on both sides of a buffer
constexpr uint8_t kGuardByte = 0xA7;
constexpr uint64_t kMostElements = 1 << 20;
constexpr int64_t kMostGroups = 1024, kMostLaunches = 64;

int64_t number(const SequenceStep& step, size_t i) {
  return i < step.numbers.size() ? step.numbers[i] : 0;
}

/// Null where there is no room for it.
ExecutableHandle compile(const OpenDevice& device, const sdk::Program& program, bool reloaded) {
  CompileAnswer answer = device.compile(*program.get());
  if (!answer.executable && answer.status != TN_ERROR_OUT_OF_MEMORY)
    find("support", "compile: expected a program within what is claimed to be taken, got {} ({})",
         status_text(answer.status), answer.text);
  if (!answer.executable || !reloaded || !can_save(device)) return std::move(answer.executable);
  LoadAnswer loaded = load(device, save(device, answer.executable.get()));
  if (loaded.status != TN_OK)
    find("error", "executable_load: expected TN_OK for what executable_save gave, got {}",
         status_text(loaded.status));
  return std::move(loaded.executable);
}

/// What the device declares of its numbers.
Profile profile_of(const OpenDevice& device) {
  const tn_properties& p = device.properties();
  Profile out;
  out.strict = p.accuracy == TN_ACCURACY_STRICT;
  out.numerics = p.numerics;
  std::ranges::copy(p.native_ops, out.native_ops.begin());
  for (size_t dtype = 0; dtype < out.arithmetic.size(); ++dtype)
    out.arithmetic[dtype] = device.dtype_flags(static_cast<uint32_t>(dtype)) & TN_DTYPE_ARITHMETIC;
  return out;
}

/// A launch of a program on memory of its own.
class ProgramRun {
 public:
  ProgramRun(const OpenDevice& device, const Profile& profile, const sdk::Program& program,
             const SequenceStep& step, uint64_t seed)
      : device_(device), profile_(profile), program_(program.view()), seed_(seed) {
    for (size_t axis = 0; axis < 3; ++axis)
      grid_[axis] = static_cast<uint32_t>(std::clamp<int64_t>(number(step, axis), 0, kMostGroups));
    place();
  }

  const uint32_t (&grid() const)[3] { return grid_; }

  /// What it means.
  ProgramModel model() const {
    const ModelRules rules{.keeps = keeps(), .profile = &profile_};
    CooperationModel out(program_, contents(), grid_, rules, device_.atoms());
    out.run();
    return ProgramModel(std::move(out));
  }

  /// Fills memory of its own; false where there is no room.
  bool prepare() {
    memory_ = device_.allocate(0, before_.size());
    if (memory_) device_.write(memory_.get(), 0, 0, before_);
    return memory_ != nullptr;
  }

  /// Valid as long as this.
  tn_command command(tn_executable* executable) { return launch(executable, memory_.get()); }

  void expect_result(const ProgramModel& model) const {
    std::vector<uint8_t> after(before_.size());
    device_.read(memory_.get(), 0, 0, after);
    compare(model, after);
  }

 private:
  Specials keeps() const { return kept_by(device_.properties().numerics); }
  bool is_buffer(uint32_t i) const { return program_.param(i).kind == TN_PARAM_BUFFER; }
  uint64_t bytes_of(const tn_param& param) const {
    return sdk::dtype_bytes(static_cast<uint8_t>(param.dtype));
  }

  uint64_t input(uint32_t i, uint64_t element) const {
    const tn_param& param = program_.param(i);
    const std::string_view name = program_.string(param.name);
    if (param.kind == TN_PARAM_SCALAR) return program_scalar(seed_, name, param);
    return program_input(seed_, name, static_cast<uint8_t>(param.dtype), element);
  }

  /// All buffers in one slab, with guards between them.
  void place() {
    uint64_t end = 0;
    for (uint32_t i = 0; i < program_.param_count(); ++i) {
      const tn_param& param = program_.param(i);
      offsets_.push_back(0);
      if (!is_buffer(i)) continue;
      TN_REQUIRE(param.count <= kMostElements, "[program] expected buffers of at most {} elements",
                 kMostElements);
      const uint64_t alignment =
          std::max<uint64_t>({device_.spaces()[0].alignment, param.alignment, 16});
      offsets_[i] = (end + kGuard + alignment - 1) / alignment * alignment;
      end = offsets_[i] + param.count * bytes_of(param);
    }
    before_.assign((end + kGuard + 15) / 16 * 16, kGuardByte);
    for (uint32_t i = 0; i < program_.param_count(); ++i)
      for (uint64_t e = 0; is_buffer(i) && e < program_.param(i).count; ++e)
        put(before_, i, e, input(i, e));
  }

  void put(std::vector<uint8_t>& bytes, uint32_t param, uint64_t element, uint64_t bits) const {
    const uint64_t size = bytes_of(program_.param(param));
    std::memcpy(bytes.data() + offsets_[param] + element * size, &bits, size);
  }
  uint64_t get(const std::vector<uint8_t>& bytes, uint32_t param, uint64_t element) const {
    const uint64_t size = bytes_of(program_.param(param));
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + offsets_[param] + element * size, size);
    return bits;
  }

  std::vector<std::vector<ModelValue>> contents() const {
    std::vector<std::vector<ModelValue>> out(program_.param_count());
    for (uint32_t i = 0; i < out.size(); ++i) {
      const tn_param& param = program_.param(i);
      for (uint64_t e = 0; param.kind != TN_PARAM_ALLOC && e < param.count; ++e)
        out[i].push_back(as_it_is(static_cast<uint8_t>(param.dtype), input(i, e), keeps()));
    }
    return out;
  }

  tn_command launch(tn_executable* executable, tn_memory* memory) {
    for (uint32_t i = 0; i < program_.param_count(); ++i) {
      const tn_param& param = program_.param(i);
      if (param.kind == TN_PARAM_ALLOC) continue;
      const uint64_t size = param.count * bytes_of(param);
      arguments_.push_back(
          is_buffer(i) ? buffer_argument(size ? memory : nullptr, size ? offsets_[i] : 0, size)
                       : sdk::scalar_argument(input(i, 0)));
    }
    const uint32_t* block = program_.header().workgroup;
    return launch_command(executable, {grid_[0], grid_[1], grid_[2]},
                          {block[0], block[1], block[2]}, arguments_);
  }

  static std::string expected_text(const ModelValue& value, uint8_t dtype) {
    std::string text = scalar_text(value.bits, dtype);
    if (value.known) return text;
    return fmt::format("{} (from {} to {}{})", text, value.range.low, value.range.high,
                       value.range.nan ? ", or NaN" : "");
  }

  /// Of the buffers, which one is wrong where; without a text if none is.
  Finding wrong_elements(const ProgramModel& model, const std::vector<uint8_t>& after) const {
    const bool signed_zeros = !(device_.properties().numerics & TN_NUMERICS_NO_SIGNED_ZERO);
    for (uint32_t i = 0; i < program_.param_count(); ++i) {
      const tn_param& param = program_.param(i);
      const auto dtype = static_cast<uint8_t>(param.dtype);
      uint64_t wrong = 0, first = 0;
      for (uint64_t e = 0; is_buffer(i) && e < param.count; ++e) {
        const ModelValue& value = model.memory(i).value(e);
        if (accepts(dtype, value, get(after, i, e), signed_zeros)) continue;
        if (wrong++ == 0) first = e;
      }
      if (wrong)
        return {"mismatch",
                fmt::format("{} [{}]: expected {}, got {}; {} of {} elements differ",
                            program_.string(param.name), first,
                            expected_text(model.memory(i).value(first), dtype),
                            scalar_text(get(after, i, first), dtype), wrong, param.count),
                std::string(program_.string(param.name)), first};
    }
    return {};
  }

  /// Of the bytes that belong to no buffer, the first that has changed, by the nearest buffer.
  std::string damage(const std::vector<uint8_t>& after) const {
    std::vector<uint8_t> rest = before_;
    for (uint32_t i = 0; i < program_.param_count(); ++i)
      for (uint64_t e = 0; is_buffer(i) && e < program_.param(i).count; ++e)
        put(rest, i, e, get(after, i, e));
    const auto [place, other] = std::ranges::mismatch(rest, after);
    if (place == rest.end()) return {};
    const auto at = static_cast<uint64_t>(place - rest.begin());
    uint64_t nearest = UINT64_MAX;
    std::string where;
    for (uint32_t i = 0; i < program_.param_count(); ++i) {
      if (!is_buffer(i)) continue;
      const uint64_t size = program_.param(i).count * bytes_of(program_.param(i));
      const bool is_before = at < offsets_[i];
      const uint64_t distance = is_before ? offsets_[i] - at : at - (offsets_[i] + size);
      if (distance >= nearest) continue;
      nearest = distance;
      where = fmt::format("byte {} {} the {} bytes of {}", distance, is_before ? "before" : "after",
                          size, program_.string(program_.param(i).name));
    }
    return fmt::format("{}, outside of all buffers: expected {:#04x}, got {:#04x}", where, *place,
                       *other);
  }

  /// What is written outside says more than what is therefore missing inside.
  void compare(const ProgramModel& model, const std::vector<uint8_t>& after) const {
    const std::string outside = damage(after);
    const Finding inside = wrong_elements(model, after);
    if (!outside.empty())
      abi::find("guard", "{}{}{}", outside, inside.text.empty() ? "" : "; and ", inside.text);
    if (!inside.text.empty()) throw inside;
  }

  const OpenDevice& device_;
  const Profile& profile_;
  sdk::ProgramView program_;
  uint64_t seed_;
  MemoryHandle memory_;
  uint32_t grid_[3] = {};
  std::vector<uint64_t> offsets_;  ///< of buffers in the slab, by param
  std::vector<uint8_t> before_;
  std::vector<tn_argument> arguments_;
};

}  // namespace

std::string unclaimed(const OpenDevice& device, const sdk::ProgramView& program,
                      const uint32_t (&grid)[3]) {
  if (!device.computes() || !device.submits()) return "the device has memory only";
  const tn_properties& p = device.properties();
  if (std::string e = sdk::exceeds_properties(program, p); !e.empty()) return e;
  // Where memory is packed in words, a dtype that is only stored is never a value.
  for (uint32_t i = 0; i < program.op_count(); ++i) {
    const tn_op& op = program.op(i);
    if (op.lanes && op.dtype != TN_DTYPE_BOOL && sdk::dtype_bytes(op.dtype) < p.storage_bytes &&
        !(device.dtype_flags(op.dtype) & TN_DTYPE_ARITHMETIC))
      return fmt::format("values of {} are only stored", sdk::dtype_text(op.dtype));
  }
  for (int axis = 0; axis < 3; ++axis)
    if (p.max_grid[axis] && grid[axis] > p.max_grid[axis]) return "a smaller grid";
  for (uint32_t i = 0; i < program.param_count(); ++i) {
    const tn_param& param = program.param(i);
    const uint64_t bytes = param.count * sdk::dtype_bytes(static_cast<uint8_t>(param.dtype));
    if (param.kind == TN_PARAM_SCALAR && !(p.flags & TN_DEVICE_SYMBOLIC)) return "no scalars";
    if (param.kind == TN_PARAM_BUFFER && p.max_buffer_bytes && bytes > p.max_buffer_bytes)
      return "a smaller buffer";
  }
  return {};
}

namespace {

using Models = std::vector<ProgramModel>;

/// A program, its executable and its launches.
struct Part {
  sdk::Program program;
  std::string change;  ///< of a twin
  std::vector<std::unique_ptr<ProgramRun>> runs;
  Models models;
  ExecutableHandle executable;
};

/// Launches of a program, and perhaps of a twin of it, that are submitted together.
class ProgramRuns {
 public:
  ProgramRuns(const OpenDevice& device, const SequenceStep& step)
      : device_(device), profile_(profile_of(device)), step_(step), flags_(number(step, 4)) {
    sdk::Program program = program_of(step);
    StandIns other =
        with_stand_ins(program.view(), [&](tn_opcode op) { return device.claims(op); });
    stand_ins_ = std::move(other.changes);
    parts_.push_back(
        part_of(other.program.empty() ? std::move(program) : std::move(other.program)));
  }

  LeftOut run() {
    const Part& own = parts_[0];
    if (std::string why = unclaimed(device_, own.program.view(), own.runs[0]->grid()); !why.empty())
      return {why};
    try {
      model(parts_[0]);
    } catch (const ProgramTooLong& error) {
      return {error.what(), true};
    } catch (const Error& error) {
      if (!stand_ins_.empty()) return {fmt::format("with {}: {}", stand_ins_, error.what())};
      throw IllegalCase{std::string(kProgramKind), error.what()};
    }
    if (flags_ & kTwin) add_twin();
    for (Part& part : parts_) {
      part.executable = compile(device_, part.program, flags_ & kReloaded);
      if (!part.executable) return {};
      use_otherwise(part);
      for (const auto& run : part.runs) {
        if (!run->prepare()) return {};
        commands_.push_back(run->command(part.executable.get()));
      }
    }
    // The last one runs what was used otherwise once more since it was launched.
    const bool is_used_again = flags_ & (kSaved | kTold) && commands_.size() > 1;
    const std::vector<tn_command> last =
        is_used_again ? std::vector{commands_.back()} : std::vector<tn_command>();
    if (is_used_again) commands_.pop_back();
    if (flags_ & kApart && device_.is_async())
      submit_apart();
    else
      device_.run(commands_);
    if (is_used_again) {
      use_otherwise(parts_.back());
      device_.run(last);
    }
    for (const Part& part : parts_)
      for (size_t i = 0; i < part.runs.size(); ++i) expect_result(part, i);
    return {};
  }

 private:
  /// The same again is on other contents and with other scalars.
  Part part_of(sdk::Program program) const {
    Part part{std::move(program), {}, {}, {}, {}};
    const int64_t usual = flags_ & kAgain ? 2 : 1;
    const int64_t launches = step_.numbers.size() > 5 ? number(step_, 5) : usual;
    for (int64_t i = 0; i < std::clamp<int64_t>(launches, 1, kMostLaunches); ++i)
      part.runs.push_back(std::make_unique<ProgramRun>(
          device_, profile_, part.program, step_, static_cast<uint64_t>(number(step_, 3) + i)));
    return part;
  }

  static void model(Part& part) {
    for (const auto& run : part.runs) part.models.push_back(run->model());
  }

  /// Saved, or asked for its texts: neither takes anything from it.
  void use_otherwise(const Part& part) const {
    if (flags_ & kSaved && can_save(device_)) save(device_, part.executable.get());
    if (!(flags_ & kTold) || !device_.table().executable_text) return;
    const tn_sink sink = [](void*, const void*, size_t) {};
    for (const uint32_t kind : {TN_TEXT_SOURCE, TN_TEXT_ASSEMBLY})
      device_.table().executable_text(part.executable.get(), kind, sink, nullptr, nullptr);
  }

  /// One that means something else, if that is found soon.
  void add_twin() {
    constexpr int kTries = 6;
    constexpr uint64_t kMostLanes = 300'000;
    if (parts_[0].models[0].spent() > kMostLanes) return;
    const uint32_t trips = device_.properties().max_loop_trips;
    Random random(mix(static_cast<uint64_t>(number(step_, 3)), parts_[0].program.size()));
    for (int i = 0; i < kTries; ++i) {
      Twin twin = draw_twin(parts_[0].program, random);
      if (twin.program.empty()) return;
      Part part = part_of(std::move(twin.program));
      part.change = std::move(twin.change);
      if (!unclaimed(device_, part.program.view(), part.runs[0]->grid()).empty()) continue;
      try {
        model(part);
      } catch (const ProgramTooLong&) {
        return;
      } catch (const Error&) {
        continue;  // it has no certain meaning
      }
      // Nobody counts its iterations; there are fewer than what they compute.
      if (trips && part.models[0].spent() > trips) continue;
      if (!differ(parts_[0], part)) continue;
      parts_.push_back(std::move(part));
      return;
    }
  }

  static bool differ(const Part& a, const Part& b) {
    const sdk::ProgramView program = a.program.view();
    for (uint32_t i = 0; i < program.param_count(); ++i) {
      if (program.param(i).kind != TN_PARAM_BUFFER) continue;
      for (uint64_t e = 0; e < program.param(i).count; ++e) {
        const ModelValue x = a.models[0].memory(i).value(e), y = b.models[0].memory(i).value(e);
        if (x.known && y.known && x.bits != y.bits) return true;
      }
    }
    return false;
  }

  /// A submission for each launch; all wait for the host, and none for another.
  void submit_apart() const {
    const TimelineHandle gate = device_.make_timeline(0);
    std::vector<TimelineHandle> ends;
    Unfinished work(device_, gate.get(), 1);
    const tn_point wait{gate.get(), 1};
    for (const tn_command& command : commands_) {
      ends.push_back(device_.make_timeline(0));
      const tn_point signal{ends.back().get(), 1};
      device_.submit(submission_of({&command, 1}, {&wait, 1}, {&signal, 1}));
      work.ends_with(signal);
    }
    device_.signal(gate.get(), 1);
    for (const TimelineHandle& end : ends) device_.wait(end.get(), 1);
  }

  void expect_result(const Part& part, size_t i) const {
    try {
      part.runs[i]->expect_result(part.models[i]);
    } catch (const Finding& finding) {
      std::string where;
      if (i > 0)
        where += flags_ & kApart && device_.is_async() ? "launched again: "
                                                       : "launched again in one submission: ";
      if (parts_.size() > 1)
        where += fmt::format("{}beside a twin ({}): ", part.change.empty() ? "" : "of the twin, ",
                             parts_[1].change);
      if (!stand_ins_.empty()) where = fmt::format("with {}: {}", stand_ins_, where);
      Finding told = finding;
      told.text = where + finding.text;
      throw told;
    }
  }

  const OpenDevice& device_;
  const Profile profile_;
  const SequenceStep& step_;
  const int64_t flags_;
  std::string stand_ins_;  ///< for ops that are not claimed
  std::deque<Part> parts_;
  std::vector<tn_command> commands_;
};

}  // namespace

namespace {

ProgramRuns runs_of(const OpenDevice& device, const SequenceStep& step) {
  try {
    return {device, step};
  } catch (const Error& error) {
    throw IllegalCase{std::string(kProgramKind), error.what()};
  }
}

}  // namespace

LeftOut run_program(const OpenDevice& device, const SequenceStep& step) {
  return runs_of(device, step).run();
}

LeftOut run_made(const OpenDevice& device, const SequenceStep& step) {
  const AtomFamily& family = *find_atom_family(step.verb);
  std::vector<tn_matrix_atom> atoms;
  for (const tn_matrix_atom& atom : device.atoms())
    // One that truncates may be off by an ULP a term: the judge of kernels knows by how much.
    if (atom.scope == static_cast<uint32_t>(family.scope) && !(atom.numerics & TN_ATOM_TRUNCATES))
      atoms.push_back(atom);
  if (atoms.empty() || !device.claims(family.op))
    return {fmt::format("the device claims no exact atoms for {}", family.verb)};
  const tn_matrix_atom& atom = atoms[static_cast<uint64_t>(number(step, 0)) % atoms.size()];
  const AtomRow& row = family.rows[static_cast<uint64_t>(number(step, 1)) % family.rows.size()];
  try {
    return run_program(device, family.make(atom, row.uses, number(step, 2)));
  } catch (const Finding& finding) {
    const auto dtype = [](uint32_t code) { return sdk::dtype_text(static_cast<uint8_t>(code)); };
    throw Finding{finding.kind,
                  fmt::format("atom {} ({}x{}x{}, {} and {} to {}), {}: {}", atom.id, atom.m,
                              atom.n, atom.k, dtype(atom.a_dtype), dtype(atom.b_dtype),
                              dtype(atom.accumulator_dtype), row.name, finding.text)};
  }
}

}  // namespace tenon::conformance::abi::programs
