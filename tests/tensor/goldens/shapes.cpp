// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Making and moving tensors against NumPy.
#include <catch2/catch_test_macros.hpp>

#include "tenon/make.hpp"
#include "tenon/move.hpp"
#include "tests/tensor/goldens/golden.hpp"

namespace tenon::test {
namespace {

using I = std::vector<int64_t>;

std::optional<DType> dtype_of(const Call& call) {
  return call.has("dtype") ? std::optional(call.dtype()) : std::nullopt;
}

template <class F>
auto on(F function) {
  return [function](const Call& call) { return Tensors{function(call.in.at(0), call)}; };
}
template <class F>
auto make(F function) {
  return [function](const Call& call) { return Tensors{function(call)}; };
}

/// "1:5:2,:,-1::-1"
std::vector<Slice> slices(const std::string& text) {
  std::vector<Slice> ranges(1);
  std::string number;
  int field = 0;
  const auto end = [&] {
    if (!number.empty()) {
      const int64_t value = std::stoll(number);
      if (field == 0) ranges.back().begin = value;
      if (field == 1) ranges.back().end = value;
      if (field == 2) ranges.back().step = value;
    }
    number.clear();
    ++field;
  };
  for (const char c : text) {
    if (c != ',' && c != ':') {
      number += c;
      continue;
    }
    end();
    if (c == ',') {
      ranges.emplace_back();
      field = 0;
    }
  }
  end();
  return ranges;
}

std::vector<std::pair<int64_t, int64_t>> pairs(const I& flat) {
  std::vector<std::pair<int64_t, int64_t>> result;
  for (size_t i = 0; i < flat.size(); i += 2) result.emplace_back(flat[i], flat[i + 1]);
  return result;
}

PadMode pad_mode(const std::string& word) {
  return word == "reflect" ? PadMode::kReflect
         : word == "edge"  ? PadMode::kReplicate
                           : PadMode::kCircular;
}

const Function kMake[] = {
    {"zeros_like", on([](const Tensor& x, const Call& c) { return zeros_like(x, dtype_of(c)); })},
    {"ones_like", on([](const Tensor& x, const Call& c) { return ones_like(x, dtype_of(c)); })},
    {"full_like", on([](const Tensor& x, const Call& c) {
       return full_like(x, c.integer("value"), dtype_of(c));
     })},
    {"arange_int", make([](const Call& c) {
       return arange(c.integer("begin"), c.integer("end"), c.integer("step"), dtype_of(c),
                     c.context);
     })},
    {"arange_float", make([](const Call& c) {
       return arange(c.real("begin"), c.real("end"), c.real("step"), dtype_of(c), c.context);
     }),
     2, 2, /*of_largest=*/true, /*signed_zero=*/false},
    {"linspace", make([](const Call& c) {
       return linspace(c.real("begin"), c.real("end"), c.integer("count"), c.integer("endpoint"),
                       c.dtype(), c.context);
     }),
     1, 1, /*of_largest=*/true},
    {"logspace", make([](const Call& c) {
       return logspace(c.real("begin"), c.real("end"), c.integer("count"), c.integer("endpoint"),
                       c.real("base"), c.dtype(), c.context);
     }),
     8, 8},
    {"eye", make([](const Call& c) {
       return eye(c.integer("rows"), c.integer("columns"), c.integer("offset"), c.dtype(),
                  c.context);
     })},
    {"tri", make([](const Call& c) {
       return tri(c.integer("rows"), c.integer("columns"), c.integer("offset"), c.dtype(),
                  c.context);
     })},
    {"tril", on([](const Tensor& x, const Call& c) { return tril(x, c.integer("offset")); })},
    {"triu", on([](const Tensor& x, const Call& c) { return triu(x, c.integer("offset")); })},
    {"one_hot", on([](const Tensor& x, const Call& c) {
       return one_hot(x, c.integer("classes"), c.dtype());
     })},
    {"meshgrid", [](const Call& c) { return meshgrid(c.in, c.integer("ij") != 0); }},
};

const Function kMove[] = {
    {"concatenate", make([](const Call& c) { return concatenate(c.in, c.axis()); }), 0, 0, false,
     true, /*moves=*/true},
    {"stack", make([](const Call& c) { return stack(c.in, c.axis()); }), 0, 0, false, true,
     /*moves=*/true},
    {"vstack", make([](const Call& c) { return vstack(c.in); }), 0, 0, false, true, /*moves=*/true},
    {"hstack", make([](const Call& c) { return hstack(c.in); }), 0, 0, false, true, /*moves=*/true},
    {"split", [](const Call& c) { return split(c.in.at(0), c.integers("sizes"), c.axis()); }, 0, 0,
     false, true, /*moves=*/true},
    {"chunk", [](const Call& c) { return chunk(c.in.at(0), c.integer("count"), c.axis()); }, 0, 0,
     false, true, /*moves=*/true},
    {"tile", on([](const Tensor& x, const Call& c) { return tile(x, c.integers("counts")); }), 0, 0,
     false, true, /*moves=*/true},
    {"repeat",
     on([](const Tensor& x, const Call& c) { return repeat(x, c.integer("count"), c.axis()); }), 0,
     0, false, true, /*moves=*/true},
    {"roll",
     on([](const Tensor& x, const Call& c) { return roll(x, c.integers("shifts"), c.axes()); }), 0,
     0, false, true, /*moves=*/true},
    {"broadcast_to",
     on([](const Tensor& x, const Call& c) { return broadcast_to(x, c.integers("shape")); }), 0, 0,
     false, true, /*moves=*/true},
    {"moveaxis",
     on([](const Tensor& x, const Call& c) { return moveaxis(x, c.axes("from"), c.axes("to")); }),
     0, 0, false, true, /*moves=*/true},
    {"swapaxes",
     on([](const Tensor& x, const Call& c) { return swapaxes(x, c.axes().at(0), c.axes().at(1)); }),
     0, 0, false, true, /*moves=*/true},
    {"rot90", on([](const Tensor& x, const Call& c) {
       return rot90(x, static_cast<int>(c.integer("times")), c.axes().at(0), c.axes().at(1));
     }),
     0, 0, false, true, /*moves=*/true},
    {"expand_dims", on([](const Tensor& x, const Call& c) { return expand_dims(x, c.axes()); }), 0,
     0, false, true, /*moves=*/true},
    {"squeeze", on([](const Tensor& x, const Call& c) { return squeeze(x, c.axes()); }), 0, 0,
     false, true, /*moves=*/true},
    {"atleast_nd", on([](const Tensor& x, const Call& c) {
       return atleast_nd(x, static_cast<int>(c.integer("rank")));
     }),
     0, 0, false, true, /*moves=*/true},
    {"ravel", on([](const Tensor& x, const Call&) { return ravel(x); }), 0, 0, false, true,
     /*moves=*/true},
    {"slice", on([](const Tensor& x, const Call& c) { return x.slice(slices(c.word("ranges"))); }),
     0, 0, false, true, /*moves=*/true},
    {"as_strided", on([](const Tensor& x, const Call& c) {
       return as_strided(x, c.integers("shape"), c.integers("strides"), c.integer("offset"));
     }),
     0, 0, false, true, /*moves=*/true},
    {"diagonal", on([](const Tensor& x, const Call& c) {
       return diagonal(x, c.integer("offset"), c.axes().at(0), c.axes().at(1));
     }),
     0, 0, false, true, /*moves=*/true},
    {"diag", on([](const Tensor& x, const Call& c) { return diag(x, c.integer("offset")); }), 0, 0,
     false, true, /*moves=*/true},
    {"unfold", on([](const Tensor& x, const Call& c) {
       return unfold(x, c.axis(), c.integer("size"), c.integer("step"));
     }),
     0, 0, false, true, /*moves=*/true},
    {"pad", on([](const Tensor& x, const Call& c) {
       return c.word("mode") == "constant"
                  ? x.pad(pairs(c.integers("pairs")), c.integer("value"))
                  : pad(x, pairs(c.integers("pairs")), pad_mode(c.word("mode")));
     }),
     0, 0, false, true, /*moves=*/true},
    {"contiguous",
     on([](const Tensor& x, const Call&) { return contiguous(x.matrix_transpose()); }), 0, 0, false,
     true, /*moves=*/true},
    {"copy", on([](const Tensor& x, const Call&) { return copy(x); }), 0, 0, false, true,
     /*moves=*/true},
};

TEST_CASE("tensors from shapes and rules") { run_goldens("make", kMake); }
TEST_CASE("shapes, order and parts") { run_goldens("move", kMove); }

}  // namespace

std::span<const Function> make_functions() { return kMake; }
std::span<const Function> move_functions() { return kMove; }

}  // namespace tenon::test
