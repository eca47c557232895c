// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/compile.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>

#include "core/ir/substitute.hpp"
#include "core/runtime/run_plan.hpp"
#include "core/support/error.hpp"
#include "core/support/log.hpp"
#include "core/support/process.hpp"
#include "frontend/tensor/donation.hpp"
#include "frontend/tensor/origin.hpp"
#include "frontend/tensor/sizes.hpp"
#include "frontend/tensor/tape.hpp"
#include "frontend/tensor/trace.hpp"

namespace tenon {
namespace {

/// From here on somebody is told that traces cost more than they serve.
constexpr size_t kManyTraces = 8;
/// Traces that a function keeps, of about 40 KB each and more with what they capture.
constexpr size_t kMostTraces = 256;
constexpr int kDeepest = 256;  ///< calls of functions that are traced, within each other

/// What a function is traced for, of one input.
struct InputType {
  DType dtype = DType::kVoid;
  Shape shape;
  const Device* device = nullptr;  ///< null: a number
  bool donated = false;
  bool operator==(const InputType&) const = default;
};

std::string to_string(const std::vector<InputType>& inputs) {
  std::vector<std::string> words;
  for (const InputType& input : inputs) words.push_back(type_string(input.dtype, input.shape));
  return fmt::format("({})", fmt::join(words, ", "));
}

/// Tells the function's owner, who keeps something for each trace, when one is gone.
struct Told {
  CompiledFunction::Forget forget;
  size_t number = 0;
  Told(CompiledFunction::Forget who, size_t trace) : forget(std::move(who)), number(trace) {}
  Told(const Told&) = delete;
  Told& operator=(const Told&) = delete;
  ~Told() {
    if (forget) forget(number);
  }
};

struct Trace {
  std::shared_ptr<const Told> told;
  std::shared_ptr<std::atomic<Context*>> context;  ///< null once it is destroyed
  std::vector<InputType> inputs;
  std::vector<int64_t> key;
  size_t number = 0;
  GraphRef graph;
  std::vector<Tensor> captured;
  std::mutex mutex;  ///< of the plan while it is made, and of the numbers
  std::optional<PlanUse> use;
  /// Of each input that is a number, its last value, on the device.
  std::vector<std::pair<Scalar, BufferRef>> numbers;
};

}  // namespace

struct CompiledFunction::Impl {
  Traced function;
  Forget forget;
  std::string name;
  std::mutex mutex;                            ///< of what follows
  std::vector<std::shared_ptr<Trace>> traces;  ///< the last used one is the last
  std::vector<std::shared_ptr<Trace>> under_way;
  size_t next_number = 0;
  bool warned = false, warned_of_drop = false;

  struct UnderWay {
    Impl& impl;
    std::shared_ptr<Trace> trace;
    ~UnderWay() {
      const std::lock_guard lock(impl.mutex);
      std::erase(impl.under_way, trace);
    }
  };

  std::shared_ptr<Trace> get(Context& context, const std::vector<Tensor>& inputs,
                             std::vector<InputType> types, const std::vector<int64_t>& key) {
    const auto fits = [&](const auto& trace) {
      return trace->context == context.impl().life && trace->inputs == types && trace->key == key;
    };
    const auto find = [&]() -> std::shared_ptr<Trace> {
      const std::lock_guard lock(mutex);
      const auto at = std::ranges::find_if(traces, fits);
      if (at == traces.end()) return nullptr;
      std::rotate(at, at + 1, traces.end());
      return traces.back();
    };
    if (auto found = find()) return found;
    // One for all functions, as they may call each other and themselves.
    const std::lock_guard one_at_a_time(context.impl().tracing);
    if (auto found = find()) return found;
    auto out = std::make_shared<Trace>();
    {
      const std::lock_guard lock(mutex);
      TN_REQUIRE(std::ranges::none_of(under_way, fits),
                 "[{}] expected calls of itself that come to an end, got one for {} while it is "
                 "traced for that",
                 name, to_string(types));
      out->context = context.impl().life;
      out->inputs = std::move(types);
      out->key = key;
      out->number = next_number++;
      out->told = std::make_shared<const Told>(forget, out->number);
      under_way.push_back(out);
    }
    const UnderWay hold{*this, out};
    make(*out, context, inputs);
    std::vector<std::shared_ptr<Trace>> dropped;  // live until the lock is gone
    const std::lock_guard lock(mutex);
    // Those of contexts that are gone would keep devices open.
    std::erase_if(traces, [&](auto& trace) {
      if (trace->context->load()) return false;
      dropped.push_back(std::move(trace));
      return true;
    });
    warn(*out);
    if (traces.size() >= kMostTraces) {
      dropped.push_back(std::move(traces.front()));
      traces.erase(traces.begin());
      if (!std::exchange(warned_of_drop, true))
        log_warning(
            fmt::format("[{}] keeps {} traces: from now on the one that was not used for longest "
                        "goes for a new one, and a call that needs it again is traced again",
                        name, kMostTraces));
    }
    traces.push_back(out);
    return out;
  }

  void make(Trace& out, Context& context, const std::vector<Tensor>& inputs) const {
    Builder& builder = builder_of(context);
    std::vector<NodeRef> like;
    std::vector<bool> numbers;
    for (const Tensor& x : inputs) {
      numbers.push_back(is_number(x));
      like.push_back(numbers.back() ? builder.constant(x.state()->number->as(
                                          name.c_str(), out.inputs[like.size()].dtype))
                                    : node_of(x));
    }
    const tenon::Traced traced = trace(
        name, [&](const auto& arguments) { return function(arguments, out.number); }, like, context,
        numbers, /*ahead=*/true);
    for (const NodeRef& node : traced.captured) out.captured.push_back(make_tensor(context, node));
    realize(out.captured);
    Graph graph = inline_calls(*traced.body, builder);
    graph.symbols = symbols_in(name.c_str(), graph);
    out.graph = std::make_shared<const Graph>(std::move(graph));
    out.numbers.resize(inputs.size());
  }

  /// The call of a function that is traced becomes part of that.
  Results part_of_another(const std::vector<Tensor>& inputs) {
    thread_local int depth = 0;
    TN_REQUIRE(depth < kDeepest,
               "[{}] expected calls of itself that come to an end, got {} within "
               "each other",
               name, depth);
    Results out;
    {
      const std::lock_guard lock(mutex);
      out.trace = next_number++;
      out.hold = std::make_shared<const Told>(forget, out.trace);
    }
    const Deeper hold(depth);
    out.values = function(inputs, out.trace);
    return out;
  }

  void warn(const Trace& now) {
    if (traces.size() + 1 < kManyTraces || warned) return;
    warned = true;
    log_warning(fmt::format(
        "[{}] is traced and planned for the {}th time, now for {}, before for {}: a call costs a "
        "compilation wherever types or integers among the arguments differ; pad shapes to a few "
        "sizes, and pass what changes as a Tensor",
        name, traces.size() + 1, to_string(now.inputs), to_string(traces.back()->inputs)));
  }
};

CompiledFunction::CompiledFunction(Traced f, std::string name, Forget forget)
    : impl_(std::make_shared<Impl>()) {
  TN_REQUIRE(!name.empty() && name.size() <= kMaxName,
             "[compile] expected a name of 1 to {} bytes, got {}", kMaxName, name.size());
  impl_->function = std::move(f);
  impl_->forget = std::move(forget);
  impl_->name = std::move(name);
}

size_t CompiledFunction::traces() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->traces.size();
}

size_t CompiledFunction::nodes() const {
  const std::lock_guard lock(impl_->mutex);
  size_t out = 0;
  for (const auto& trace : impl_->traces) out += topological(trace->graph->outputs).size();
  return out;
}

void compiled::check_donated_place(const std::string& name, size_t place, size_t count) {
  TN_REQUIRE(place < count, "[{}] expected donated arguments among its {}, got number {}", name,
             count, place);
}

namespace {

/// How the results of a call are made, if a gradient can go through one. From what was donated
/// there is no way back.
std::shared_ptr<const Origin> origin_of(const Trace& trace, const std::vector<Tensor>& inputs,
                                        const std::vector<InputType>& types,
                                        const std::vector<bool>& gives) {
  if (std::ranges::none_of(trace.graph->outputs,
                           [](const NodeRef& output) { return is_float(output->dtype); }))
    return nullptr;
  std::vector<NodeRef> given;
  std::vector<Scalar> numbers(inputs.size());
  given.reserve(inputs.size() + trace.captured.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    given.push_back(types[i].device ? node_of(inputs[i]) : nullptr);
    if (!types[i].device)
      numbers[i] = inputs[i].state()->number->as(trace.graph->name.c_str(), types[i].dtype);
  }
  for (const Tensor& x : trace.captured) given.push_back(node_of(x));
  if (Tape* const tape = Tape::current())
    for (size_t i = 0; i < given.size(); ++i)
      if (given[i] && (i >= gives.size() || !gives[i])) tape->hold({given[i]});
  return make_origin(trace.graph->name, trace.graph, given, numbers);
}

/// Numbers on the device that the run begins on; those that have changed are written by it.
class Numbers {
 public:
  Numbers(Trace& trace, Device& device) : trace_(trace), device_(device) {}

  BufferRef place(size_t i, const Scalar& value) {
    auto& [last, buffer] = trace_.numbers[i];
    if (buffer && last == value && !device_.has_failed(buffer->last_use())) return buffer;
    const auto bytes = static_cast<uint32_t>(dtype_size(value.dtype));
    buffer = device_.allocate(bytes, "numbers");
    last = value;
    fills_.device = &device_;
    fills_.commands.push_back(fill_command({buffer.get(), 0}, value.bits, bytes));
    return buffer;
  }
  const Fills& fills() const { return fills_; }

 private:
  Trace& trace_;
  Device& device_;
  Fills fills_;
};

}  // namespace

CompiledFunction::Results CompiledFunction::call(const std::vector<Tensor>& inputs,
                                                 const std::vector<bool>& donated,
                                                 const std::vector<int64_t>& key) const {
  Impl& impl = *impl_;
  Context& context = context_of(impl.name.c_str(), {inputs});
  Runtime& runtime = runtime_of(context);
  std::vector<Tensor> lazy;
  for (const Tensor& x : inputs)
    if (!is_number(x)) lazy.push_back(x);
  if (depends_on_arguments(lazy)) return impl.part_of_another(inputs);
  realize(lazy);
  lazy.clear();

  std::vector<InputType> types;
  Device* home = nullptr;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& x = inputs[i];
    InputType type{x.dtype(), dims_of(x), nullptr, i < donated.size() && donated[i]};
    if (!is_number(x)) {
      Device& device = buffer_of(*node_of(x))->device();
      type.device = &device;
      if (!home && device.capabilities().compute) home = &device;
    }
    types.push_back(std::move(type));
  }
  if (!home) home = &runtime.device();
  // A number meets what it meets in full, where the device has it so.
  const bool has_f64 = home->capabilities().of(DType::kF64).storage;
  for (InputType& type : types)
    if (!type.device && is_float(type.dtype)) type.dtype = has_f64 ? DType::kF64 : DType::kF32;

  const std::shared_ptr<Trace> trace = impl.get(context, inputs, types, key);
  Results out;
  out.trace = trace->number;
  out.hold = trace->told;
  // Calls of one trace on several threads take turns until they are submitted.
  const ForkHold hold;  // before the lock: at its end arrays of others are given back
  const std::lock_guard lock(trace->mutex);
  Numbers numbers(*trace, *home);
  std::vector<bool> gives;
  for (const InputType& type : types) gives.push_back(type.donated && type.device);
  Donation donation(context, impl.name, inputs, gives);
  std::vector<BufferRef> buffers, results;
  SymbolValues symbols;
  try {
    for (size_t i = 0; i < inputs.size(); ++i)
      buffers.push_back(types[i].device ? buffer_of(*node_of(inputs[i]))
                                        : numbers.place(i, inputs[i].state()->number->as(
                                                               impl.name.c_str(), types[i].dtype)));
    for (const Tensor& x : trace->captured) buffers.push_back(buffer_of(*node_of(x)));
    for (const Tensor& x : inputs)
      if (!is_number(x)) add_symbols(impl.name.c_str(), *node_of(x), symbols);
    for (const Tensor& x : trace->captured) add_symbols(impl.name.c_str(), *node_of(x), symbols);
    if (!trace->use || !runtime.is_current(*trace->use))
      trace->use = runtime.planned(*trace->graph, buffers, nullptr, gives);
    results =
        runtime.run_planned(*trace->graph, *trace->use, buffers, symbols, nullptr, numbers.fills());
  } catch (...) {
    trace->numbers.assign(inputs.size(), {});  // they may not be there
    throw;
  }
  const std::shared_ptr<const Origin> origin = origin_of(*trace, inputs, types, gives);
  donation.complete();
  for (size_t o = 0; o < results.size(); ++o) {
    const Node& node = *trace->graph->outputs[o];
    out.values.push_back(make_tensor(
        context, buffer_node(context, std::move(results[o]), node.dtype, node.shape, symbols,
                             is_float(node.dtype) ? Made{origin, o} : Made())));
  }
  return out;
}

}  // namespace tenon
