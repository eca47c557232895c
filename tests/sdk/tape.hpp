// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An IR builder that keeps what it is told and runs it. It refuses what builder.hpp rules out:
// division by 0, counts of shifts beyond the width, floats outside an integer's range, conditions
// other than 0 and 1, indices outside memory.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "sdk/program/view.hpp"
#include "sdk/walk/builder.hpp"
#include "tests/sdk/null_device.hpp"

namespace tenon::sdk {

class Tape {
 public:
  using Value = uint32_t;  ///< number of a register
  struct Variable {
    uint32_t at;
  };

  explicit Tape(const ProgramView& program) : places_(allocation_places(program)) {
    for (uint32_t i = 0, argument = 0; i < program.param_count(); ++i) {
      params_.push_back(program.param(i).kind);
      argument_of_.push_back(params_[i] == TN_PARAM_ALLOC ? 0 : argument++);
    }
  }

  /// One thread, by its coordinates.
  void run(std::span<const TestArgument> arguments, const uint32_t (&grid)[3]) {
    registers_.assign(count_, 0);
    memory_.assign(params_.size(), {});
    std::vector<Bytes> own(params_.size());
    for (size_t i = 0; i < params_.size(); ++i) {
      own[i].resize(places_[i].bytes);
      if (params_[i] == TN_PARAM_ALLOC) memory_[i] = own[i];
      if (params_[i] == TN_PARAM_BUFFER) memory_[i] = *arguments[argument_of_[i]].bytes;
    }
    arguments_ = arguments;
    std::copy_n(grid, 3, grid_);
    run(top_);
  }

  Value constant(Kind kind, uint64_t bits) {
    check(!is_word(kind) || bits >> 32 == 0, "bits beyond the kind's");
    return value([bits](Tape&) { return bits; });
  }
  Value memory(uint32_t param) {
    return value([param](Tape&) { return uint64_t{param}; });
  }
  Value scalar(uint32_t param) {
    return value([param](Tape& t) { return t.arguments_[t.argument_of_[param]].scalar; });
  }
  Value coordinate(tn_axis axis) {
    return value([axis](Tape& t) { return axis <= TN_AXIS_GRID_Z ? t.grid_[axis] : 0; });
  }

  Value load(Storage storage, Value memory, Value index) {
    return value([=](Tape& t) {
      uint64_t out = 0;
      std::memcpy(&out, t.element(storage, memory, index), bytes(storage));
      return out;
    });
  }
  void store(Storage storage, Value memory, Value index, Value from) {
    step([=](Tape& t) {
      std::memcpy(t.element(storage, memory, index), &t.registers_[from], bytes(storage));
    });
  }

  Value binary(Binary op, Kind kind, Value x, Value y) {
    return value([=](Tape& t) {
      const uint64_t a = t.registers_[x], c = t.registers_[y];
      if (kind == Kind::kF32) return bits(real(op, as<float>(a), as<float>(c)));
      if (kind == Kind::kF64) return bits(real(op, as<double>(a), as<double>(c)));
      return is_word(kind) ? whole<uint32_t, int32_t>(op, a, c)
                           : whole<uint64_t, int64_t>(op, a, c);
    });
  }
  Value compare(Compare how, Kind kind, Value x, Value y) {
    return value([=](Tape& t) -> uint64_t {
      const uint64_t a = t.registers_[x], c = t.registers_[y];
      if (how == Compare::kUnsignedLess) return a < c;
      if (kind == Kind::kF32) return ordered(how, as<float>(a), as<float>(c));
      if (kind == Kind::kF64) return ordered(how, as<double>(a), as<double>(c));
      return is_word(kind) ? ordered(how, static_cast<int32_t>(a), static_cast<int32_t>(c))
                           : ordered(how, static_cast<int64_t>(a), static_cast<int64_t>(c));
    });
  }
  Value select(Kind, Value condition, Value yes, Value no) {
    return value([=](Tape& t) { return t.registers_[t.is_true(condition) ? yes : no]; });
  }
  Value convert(Value from, Kind is, Kind becomes) {
    return value([=](Tape& t) {
      const uint64_t x = t.registers_[from];
      if (is == Kind::kF32) return from_real(as<float>(x), becomes);
      if (is == Kind::kF64) return from_real(as<double>(x), becomes);
      const int64_t whole = is_word(is) ? static_cast<int32_t>(x) : static_cast<int64_t>(x);
      if (becomes == Kind::kF32) return bits(static_cast<float>(whole));
      if (becomes == Kind::kF64) return bits(static_cast<double>(whole));
      return is_word(becomes) ? static_cast<uint32_t>(whole) : static_cast<uint64_t>(whole);
    });
  }
  Value bits(Value from, Kind is, Kind becomes) {
    check(is_small(is) == is_small(becomes) && is != becomes, "kinds of different size, or one");
    return value([=](Tape& t) { return t.registers_[from]; });
  }
  Value call(const std::string& name, Kind kind, std::span<const Value> operands) {
    check(name.ends_with('f') == (kind == Kind::kF32), "a function of another kind");
    return value([=, x = std::vector<Value>(operands.begin(), operands.end())](Tape& t) {
      const auto at = [&](size_t i) { return t.registers_[x[std::min(i, x.size() - 1)]]; };
      return kind == Kind::kF32
                 ? bits(function(name.substr(0, name.size() - 1), as<float>(at(0)),
                                 as<float>(at(1)), as<float>(at(2))))
                 : bits(function(name, as<double>(at(0)), as<double>(at(1)), as<double>(at(2))));
    });
  }

  Variable variable(Kind) { return {count_++}; }
  Value get(Variable variable) {
    return value([=](Tape& t) { return t.registers_[variable.at]; });
  }
  void set(Variable variable, Value from) {
    step([=](Tape& t) { t.registers_[variable.at] = t.registers_[from]; });
  }
  void begin_if(Value condition) {
    auto yes = std::make_shared<Block>(), no = std::make_shared<Block>();
    step([=](Tape& t) { t.run(t.is_true(condition) ? *yes : *no); });
    others_.push_back(no);
    open_.push_back(yes);
  }
  void begin_else() { open_.back() = others_.back(); }
  void end_if() {
    open_.pop_back();
    others_.pop_back();
  }
  void begin_loop() {
    auto body = std::make_shared<Block>();
    step([=](Tape& t) {
      while (t.run(*body)) {
      }
    });
    open_.push_back(body);
    others_.push_back(nullptr);
  }
  void leave_unless(Value condition) {
    check(!others_.empty() && !others_.back(), "leave_unless in a branch");
    now().push_back([=](Tape& t) { return t.is_true(condition); });
  }
  void end_loop() { end_if(); }

 private:
  using Block = std::vector<std::function<bool(Tape&)>>;

  static void check(bool holds, const char* what) {
    if (!holds) throw std::runtime_error(what);
  }
  static bool is_word(Kind kind) { return kind == Kind::kI32; }
  static bool is_small(Kind kind) { return kind == Kind::kI32 || kind == Kind::kF32; }
  static size_t bytes(Storage storage) {
    constexpr size_t kBytes[] = {1, 2, 4, 8, 4, 8};
    return kBytes[static_cast<size_t>(storage)];
  }
  template <class T>
  static T as(uint64_t bits) {
    if constexpr (sizeof(T) == 4)
      return std::bit_cast<T>(static_cast<uint32_t>(bits));
    else
      return std::bit_cast<T>(bits);
  }
  static uint64_t bits(float x) { return std::bit_cast<uint32_t>(x); }
  static uint64_t bits(double x) { return std::bit_cast<uint64_t>(x); }

  template <class T>
  static T real(Binary op, T x, T y) {
    check(op <= Binary::kDiv, "an operation of integers on floats");
    return op == Binary::kAdd   ? x + y
           : op == Binary::kSub ? x - y
           : op == Binary::kMul ? x * y
                                : x / y;
  }
  template <class U, class S>
  static uint64_t whole(Binary op, uint64_t a, uint64_t c) {
    const auto x = static_cast<U>(a), y = static_cast<U>(c);
    const auto s = static_cast<S>(x);
    if (op >= Binary::kShl) check(y < 8 * sizeof(U), "the count of a shift");
    if (op == Binary::kDiv || op == Binary::kUnsignedDiv) check(y != 0, "division by 0");
    switch (op) {
      case Binary::kAdd:
        return static_cast<U>(x + y);
      case Binary::kSub:
        return static_cast<U>(x - y);
      case Binary::kMul:
        return static_cast<U>(x * y);
      case Binary::kDiv:
        check(y != static_cast<U>(-1), "division by -1");
        return static_cast<U>(s / static_cast<S>(y));
      case Binary::kUnsignedDiv:
        return x / y;
      case Binary::kAnd:
        return x & y;
      case Binary::kOr:
        return x | y;
      case Binary::kXor:
        return x ^ y;
      case Binary::kShl:
        return static_cast<U>(x << y);
      case Binary::kShr:
        return x >> y;
      case Binary::kSar:
        return static_cast<U>(s >> y);
    }
    return 0;
  }
  template <class T>
  static bool ordered(Compare how, T x, T y) {
    return how == Compare::kEqual ? x == y : how == Compare::kNotEqual ? x != y : x < y;
  }
  template <class T>
  static uint64_t from_real(T x, Kind becomes) {
    if (becomes == Kind::kF32) return bits(static_cast<float>(x));
    if (becomes == Kind::kF64) return bits(static_cast<double>(x));
    const double end = is_word(becomes) ? 0x1p31 : 0x1p63;
    const auto whole = std::trunc(static_cast<double>(x));
    check(whole >= -end && whole < end, "a float outside the integer's range");
    return is_word(becomes) ? static_cast<uint32_t>(static_cast<int32_t>(x))
                            : static_cast<uint64_t>(static_cast<int64_t>(x));
  }
  template <class T>
  static T function(const std::string& name, T x, T y, T z) {
    if (name == "sqrt") return std::sqrt(x);
    if (name == "exp2") return std::exp2(x);
    if (name == "log2") return std::log2(x);
    if (name == "sin") return std::sin(x);
    if (name == "cos") return std::cos(x);
    if (name == "exp") return std::exp(x);
    if (name == "log") return std::log(x);
    if (name == "trunc") return std::trunc(x);
    if (name == "floor") return std::floor(x);
    check(name == "fma", "an unknown function");
    return std::fma(x, y, z);
  }

  Block& now() { return open_.empty() ? top_ : *open_.back(); }
  template <class F>
  void step(F what) {
    now().push_back([what](Tape& t) {
      what(t);
      return true;
    });
  }
  template <class F>
  Value value(F what) {
    const Value to = count_++;
    step([=](Tape& t) { t.registers_[to] = what(t); });
    return to;
  }
  /// Whether no leave_unless ended it.
  bool run(const Block& block) {
    for (const auto& each : block)
      if (!each(*this)) return false;
    return true;
  }
  bool is_true(Value condition) const {
    check(registers_[condition] < 2, "a condition other than 0 and 1");
    return registers_[condition];
  }
  void* element(Storage storage, Value memory, Value index) const {
    const std::span<uint8_t> room = memory_[registers_[memory]];
    check(registers_[index] < room.size() / bytes(storage), "an index outside memory");
    return room.data() + registers_[index] * bytes(storage);
  }

  std::vector<AllocationPlace> places_;
  std::vector<uint32_t> params_, argument_of_;
  uint32_t count_ = 0;
  Block top_;
  std::vector<std::shared_ptr<Block>> open_, others_;
  std::vector<uint64_t> registers_;
  std::vector<std::span<uint8_t>> memory_;
  std::span<const TestArgument> arguments_;
  uint32_t grid_[3] = {};
};

}  // namespace tenon::sdk
