// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions that are traced once and replayed.
//
//   struct Model { Tensor w, b; auto fields() { return std::tie(w, b); } };
//   const auto step = compile([](Model m, Tensor x, Tensor y, Tensor rate) {
//     auto [loss, g] = value_and_grad(..)(..);
//     return std::pair(Model{m.w - rate * g[0], m.b - rate * g[1]}, loss);
//   }, {.name = "step", .donate = {0}});
//   for (..) std::tie(model, loss) = step(model, x, y, 0.1);
//
// A call takes tensors by value: those that are still lazy are computed first, a number becomes a
// tensor of one element that meets others as a number does. The function runs at the first call for
// each combination of dtypes, shapes and devices, with tensors that have types but no values; other
// values of numbers and keys take no new plan. The last 256 that were used are kept, others are
// traced again. Tensors of outside that it uses are as they were at that call. Within another that
// is traced, a call becomes part of that. A gradient goes through results to the arguments that
// are still held; one that needs a donated argument is an error. An
// integer that does not fit what it meets wraps, as in a cast.
//
// Arguments and results are tensors, keys, or made of them: std::vector, array, pair, tuple,
// optional, structs with `auto fields() { return std::tie(..); }`, which names every member that
// matters. Parameters that are integers or bools are no inputs: each combination of them is traced
// apart. A float number is f64 where the device has that, and takes the dtype of what it meets;
// alone it is f32.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon/export.hpp"
#include "tenon/random.hpp"
#include "tenon/tensor.hpp"

namespace tenon {

struct CompileOptions {
  std::string name = "function";  ///< for messages
  /// Arguments whose memory a call may write results into, by place. The caller's tensors are
  /// spent then: a use of one is an error that says so. A call throws, and spends nothing, if other
  /// tensors depend on one or share its memory.
  std::vector<size_t> donate = {};
};

/// What `compile` makes: over lists of tensors. A cheap handle; thread-safe.
class TENON_API CompiledFunction {
 public:
  /// Called to trace; `number` counts traces from 0.
  using Traced =
      std::function<std::vector<Tensor>(const std::vector<Tensor>& arguments, size_t number)>;
  /// Called with the number of a trace that is gone, on any thread: nothing asks for it again.
  using Forget = std::function<void(size_t number)>;
  struct Results {
    std::vector<Tensor> values;
    size_t trace = 0;
    std::shared_ptr<const void> hold = {};  ///< while it is there, the trace is not gone
  };
  CompiledFunction(Traced f, std::string name, Forget forget = {});
  CompiledFunction(const CompiledFunction&) = default;  // a move is a copy: none is left empty
  CompiledFunction& operator=(const CompiledFunction&) = default;
  /// `donated`: of each input; empty: none. `key` tells traces apart beside types.
  Results call(const std::vector<Tensor>& inputs, const std::vector<bool>& donated = {},
               const std::vector<int64_t>& key = {}) const;
  size_t traces() const;  ///< that are kept, for contexts that are there
  size_t nodes() const;   ///< of the graphs of these

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

namespace compiled {

template <class T>
concept HasFields = requires(T& value) {
  value.fields();
};
template <class T>
concept IsTuple = requires {
  std::tuple_size<T>::value;
};
template <class T>
inline constexpr bool kIsVector = false;
template <class T, class A>
inline constexpr bool kIsVector<std::vector<T, A>> = true;
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

/// Leaves the structure, and holds nothing alive.
struct Forget {
  void operator()(Tensor& x) const { x = Tensor(0); }
};

/// Calls tensor(Tensor&) for each tensor in order, and fixed(int64_t) for what is none.
template <class T, class OnTensor, class OnFixed>
void visit(T& value, const OnTensor& tensor, const OnFixed& fixed) {
  if constexpr (std::is_same_v<T, Tensor>) {
    tensor(value);
  } else if constexpr (std::is_same_v<T, Key>) {
    if constexpr (!std::is_same_v<OnTensor, Forget>) {
      Tensor words = value.words();
      const void* const before = words.state().get();
      tensor(words);
      if (words.state().get() != before) value = Key(words);
    }
  } else if constexpr (kIsVector<T>) {
    fixed(static_cast<int64_t>(value.size()));
    for (auto& element : value) visit(element, tensor, fixed);
  } else if constexpr (kIsOptional<T>) {
    fixed(value.has_value());
    if (value) visit(*value, tensor, fixed);
  } else if constexpr (HasFields<T>) {
    std::apply([&](auto&... part) { (visit(part, tensor, fixed), ...); }, value.fields());
  } else if constexpr (IsTuple<T>) {
    std::apply([&](auto&... part) { (visit(part, tensor, fixed), ...); }, value);
  } else {
    static_assert(!std::is_floating_point_v<T>,
                  "compile: a float that may change is an input: declare it as a Tensor");
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>,
                  "compile: expected tensors, keys, integers, or what is made of them: "
                  "std::vector, array, pair, tuple, optional, a struct with fields()");
    fixed(static_cast<int64_t>(value));
  }
}

TENON_API void check_donated_place(const std::string& name, size_t place, size_t count);

template <class R, class F, class... A>
class Function {
 public:
  Function(F f, const CompileOptions& options)
      : shared_(std::make_shared<Shared>(std::move(f))),
        donate_(options.donate),
        compiled_([shared = shared_](const std::vector<Tensor>& arguments,
                                     size_t number) { return shared->trace(arguments, number); },
                  options.name, [shared = shared_](size_t number) { shared->forget(number); }) {
    for (const size_t place : donate_) check_donated_place(options.name, place, sizeof...(A));
  }

  Function(const Function&) = default;  // a move is a copy: none is left empty
  Function& operator=(const Function&) = default;

  R operator()(A... arguments) const {
    std::tuple<std::decay_t<A>...> values(std::move(arguments)...);
    std::vector<Tensor> inputs;
    std::vector<bool> donated;
    std::vector<int64_t> key;
    size_t place = 0;
    const auto add = [&](auto& argument) {
      const bool donates = std::find(donate_.begin(), donate_.end(), place++) != donate_.end();
      visit(
          argument,
          [&](Tensor& x) {
            inputs.push_back(x);
            donated.push_back(donates);
          },
          [&](int64_t number) { key.push_back(number); });
    };
    std::apply([&](auto&... argument) { (add(argument), ...); }, values);
    // A trace under way on this thread reads the structure that the arguments have here.
    const Structure structure(values);
    const CompiledFunction::Results results = compiled_.call(inputs, donated, key);
    return shared_->result(results);
  }

  size_t traces() const { return compiled_.traces(); }
  size_t nodes() const { return compiled_.nodes(); }

 private:
  using Values = std::tuple<std::decay_t<A>...>;

  struct Structure {
    explicit Structure(const Values& values) : before(current()) { current() = &values; }
    ~Structure() { current() = before; }
    Structure(const Structure&) = delete;
    Structure& operator=(const Structure&) = delete;
    static const Values*& current() {
      thread_local const Values* now = nullptr;
      return now;
    }
    const Values* before;
  };

  struct Shared {
    explicit Shared(F f) : function(std::move(f)) {}

    std::vector<Tensor> trace(const std::vector<Tensor>& arguments, size_t number) {
      Values values = *Structure::current();
      auto next = arguments.begin();
      visit(
          values, [&](Tensor& x) { x = *next++; }, [](int64_t) {});
      R result = std::apply(function, std::move(values));
      std::vector<Tensor> out;
      visit(
          result, [&](Tensor& x) { out.push_back(x); }, [](int64_t) {});
      visit(result, Forget(), [](int64_t) {});
      const std::lock_guard lock(mutex);
      results.insert_or_assign(number, std::move(result));
      return out;
    }

    void forget(size_t number) {
      typename std::map<size_t, R>::node_type gone;  // lives until the lock is gone
      const std::lock_guard lock(mutex);
      gone = results.extract(number);
    }

    R result(const CompiledFunction::Results& from) {
      const std::lock_guard lock(mutex);
      R out = results.at(from.trace);
      auto next = from.values.begin();
      visit(
          out, [&](Tensor& x) { x = *next++; }, [](int64_t) {});
      return out;
    }

    F function;
    std::mutex mutex;
    std::map<size_t, R> results;  ///< of each trace, for its structure
  };

  std::shared_ptr<Shared> shared_;
  std::vector<size_t> donate_;
  CompiledFunction compiled_;
};

template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...) const> {
  template <class F>
  using Of = Function<R, F, A...>;
};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...)> : Signature<R (C::*)(A...) const> {};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...) const noexcept> : Signature<R (C::*)(A...) const> {};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...) noexcept> : Signature<R (C::*)(A...) const> {};
template <class R, class... A>
struct Signature<R (*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <class R, class... A>
struct Signature<R (*)(A...)> {
  template <class F>
  using Of = Function<R, F, A...>;
};

}  // namespace compiled

/// f, a function or a lambda with declared argument types, with graphs and plans that are made
/// once. Throws kInvalid, naming the function and the argument, for arguments that do not fit.
template <class F>
auto compile(F f, const CompileOptions& options = {}) {
  return typename compiled::Signature<F>::template Of<F>(std::move(f), options);
}

}  // namespace tenon
