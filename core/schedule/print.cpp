// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A schedule as people read it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "core/ir/text/text.hpp"
#include "core/schedule/memory_plan.hpp"
#include "core/schedule/schedule.hpp"

namespace tenon {
namespace {

constexpr int64_t kShownSymbol = 256;
constexpr int64_t kShownAlignment = 64;

std::string buffer_list(const std::vector<int>& buffers) {
  std::string out;
  for (int b : buffers) out += fmt::format("{}b{}", out.empty() ? "" : ", ", b);
  return out;
}

std::string indented(const std::string& text, const std::string& indent) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);)
    out += line.empty() ? "\n" : indent + line + "\n";
  return out;
}

std::string_view kind_text(BufferKind kind) {
  switch (kind) {
    case BufferKind::kInput:
      return "input";
    case BufferKind::kTemporary:
      return "temporary";
    case BufferKind::kOutput:
      return "output";
  }
  return "?";
}

class Printer {
 public:
  explicit Printer(const Schedule& schedule) : schedule_(schedule) {}

  std::string run() {
    int kernels = 0, copies = 0;
    for (const Step& step : schedule_.steps) {
      kernels += std::holds_alternative<KernelCall>(step.call);
      copies += std::holds_alternative<CopyCall>(step.call);
    }
    out_ = fmt::format("schedule {}: {} steps, {} kernels, {} copies\n", schedule_.name,
                       schedule_.steps.size(), kernels, copies);
    for (size_t b = 0; b < schedule_.buffers.size(); ++b) print_buffer(static_cast<int>(b));
    out_ += fmt::format("  inputs ({}) outputs ({})\n", buffer_list(schedule_.inputs),
                        buffer_list(schedule_.outputs));
    for (size_t s = 0; s < schedule_.steps.size(); ++s) {
      head_ = fmt::format("step {} on {}: ", s, device(schedule_.steps[s].device));
      std::visit([this](const auto& call) { print_call(call); }, schedule_.steps[s].call);
    }
    print_memory();
    return std::move(out_);
  }

 private:
  const std::string& device(int d) const { return schedule_.devices[d]; }

  void print_buffer(int b) {
    const ScheduledBuffer& buffer = schedule_.buffers[b];
    out_ += fmt::format("  b{} {} {}{} on {}{}{}\n", b, kind_text(buffer.kind),
                        dtype_name(buffer.dtype), to_string(buffer.shape), device(buffer.device),
                        buffer.name.empty() ? "" : " %", buffer.name);
  }

  void print_call(const KernelCall& call) {
    out_ += fmt::format("{}kernel ({}) -> ({})", head_, buffer_list(call.inputs),
                        buffer_list(call.outputs));
    for (size_t o = 0; o < call.alias.size(); ++o)
      if (call.alias[o] >= 0)
        out_ += fmt::format(", b{} over b{}", call.outputs[o], call.inputs[call.alias[o]]);
    if (!call.sections.empty())
      out_ += fmt::format(", sections of {} outputs", fmt::join(call.sections, ", "));
    out_ += "\n" + indented(print(call.graph), "  ");
  }

  void print_call(const CopyCall& call) {
    const bool is_whole =
        call.offset.is_const(0) &&
        same_shape(schedule_.buffers[call.source].shape, schedule_.buffers[call.destination].shape);
    out_ += fmt::format("{}copy b{}{} -> b{} from {}\n", head_, call.source,
                        is_whole ? "" : fmt::format("[{}..]", to_string(call.offset)),
                        call.destination, device(schedule_.buffers[call.source].device));
  }

  void print_call(const IfCall& call) {
    out_ += fmt::format("{}if b{} ({}) -> ({})\n", head_, call.condition,
                        buffer_list(call.captured), buffer_list(call.outputs));
    out_ += "  then\n" + indented(print(*call.then_schedule), "    ");
    out_ += "  else\n" + indented(print(*call.else_schedule), "    ");
  }

  void print_call(const LoopCall& call) {
    out_ += fmt::format("{}{} b{} carried ({}) captured ({}) -> ({})\n", head_,
                        call.is_while ? "while" : "loop", call.trips, buffer_list(call.initial),
                        buffer_list(call.captured), buffer_list(call.outputs));
    out_ += indented(print(*call.body), "    ");
  }

  void print_memory() {
    std::map<std::string, int64_t> values;
    std::string where;
    for (const Expr& s : schedule_.symbols) {
      values[s.name()] = std::clamp(kShownSymbol, s.min(), std::max(s.min(), s.max()));
      where += fmt::format("{} {} = {}", where.empty() ? " with" : ",", s.name(), values[s.name()]);
    }
    const MemoryPlan plan = plan_memory(schedule_, values, kShownAlignment);
    int64_t arena = 0;
    for (int64_t bytes : plan.arena_bytes) arena += bytes;
    out_ += fmt::format("memory{}: arena {} bytes, sum {} bytes", where, arena, plan.sum_bytes);
    if (plan.sum_bytes > 0)
      out_ += fmt::format(" ({:.0f}%)",
                          100.0 * static_cast<double>(arena) / static_cast<double>(plan.sum_bytes));
    out_ += "\n";
    for (size_t b = 0; b < plan.bytes.size(); ++b)
      if (plan.offset[b] >= 0)
        out_ += fmt::format("  b{} [{}, {})\n", b, plan.offset[b], plan.offset[b] + plan.bytes[b]);
  }

  const Schedule& schedule_;
  std::string head_, out_;
};

}  // namespace

std::string print(const Schedule& schedule) { return Printer(schedule).run(); }

}  // namespace tenon
