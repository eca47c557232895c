// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of shapes, parts, draws and loops.
#include "tests/sizes/case.hpp"

namespace tenon::test {
namespace {

Key size_key(const Tensor& x) { return Key(5, x.context()); }

}  // namespace

std::vector<SizeCase> tensor_size_cases() {
  return {
      {"reshape", {"n2m"}, TENON_CALL(reshape(x[0], {-1, 2}), x[0].reshape({x[0].sizes()[0], -1}))},
      {"ravel", {"nm"}, TENON_CALL(ravel(x[0]))},
      {"broadcast_to",
       {"n1", "m"},
       TENON_CALL(broadcast_to(x[0], {x[0].sizes()[0], x[1].sizes()[0]}))},
      {"transpose", {"anb"}, TENON_CALL(transpose(x[0]), transpose(x[0], {1, 2, 0}))},
      {"matrix_transpose", {"anb"}, TENON_CALL(matrix_transpose(x[0]))},
      {"swapaxes", {"anb"}, TENON_CALL(swapaxes(x[0], 0, 1))},
      {"moveaxis", {"anb"}, TENON_CALL(moveaxis(x[0], 0, -1))},
      {"flip", {"anb"}, TENON_CALL(flip(x[0], 1), flip(x[0]))},
      {"rot90", {"anb"}, TENON_CALL(rot90(x[0]), rot90(x[0], 3, 1, 2))},
      {"expand_dims", {"nm"}, TENON_CALL(expand_dims(x[0], {0, 2}))},
      {"squeeze", {"n1m"}, TENON_CALL(squeeze(x[0], 1))},
      {"atleast_nd", {"nm"}, TENON_CALL(atleast_nd(x[0], 4))},
      {"slice",
       {"nm"},
       TENON_CALL(slice(x[0], {Slice{1, {}, 2}, Slice{0, -1}}), slice(x[0], {Slice{{}, {}, -1}})),
       {},
       {{'n', 2}}},
      {"take", {"nm", "k:i64"}, TENON_CALL(take(x[0], x[1], 1), take(x[0], -1, 0))},
      {"diagonal", {"nbm"}, TENON_CALL(diagonal(x[0], 0, 0, 2), diagonal(x[0], 1, 0, 2))},
      {"diag", {"n", "mm"}, TENON_CALL(diag(x[0]), diag(x[0], 2), diag(x[1]), diag(x[0], -1))},
      {"tril", {"bnm"}, TENON_CALL(tril(x[0]), tril(x[0], 1))},
      {"eye",
       {"nm"},
       TENON_CALL(x[0] * eye(x[0].sizes()[0], x[0].sizes()[1], 1, DType::kF32, x[0].context()))},
      {"tri",
       {"nm"},
       TENON_CALL(x[0] * tri(x[0].sizes()[0], x[0].sizes()[1], -1, DType::kF32, x[0].context()))},
      {"triu", {"bnm"}, TENON_CALL(triu(x[0]), triu(x[0], -1))},
      {"unfold", {"anb"}, TENON_CALL(unfold(x[0], 1, 3), unfold(x[0], 1, 2, 3)), {}, {{'n', 3}}},
      {"as_strided", {"nm"}, TENON_CALL(as_strided(x[0], {2, 2}, {1, 2})), {}, {{'n', 4}}},
      {"pad",
       {"anb"},
       TENON_CALL(pad(x[0], {{1, 2}, {0, 3}}, 7), pad(x[0], {{0, 0}, {2, 1}}, PadMode::kReflect),
                  pad(x[0], {{1, 0}, {2, 1}}, PadMode::kReplicate),
                  pad(x[0], {{0, 0}, {2, 1}}, PadMode::kCircular)),
       {},
       {{'n', 3}}},
      {"tile", {"anb"}, TENON_CALL(tile(x[0], {2, 1, 3}), tile(x[0], {2, 1, 2, 1}))},
      {"repeat", {"anb"}, TENON_CALL(repeat(x[0], 3, 1), repeat(x[0], 2, -1))},
      {"roll", {"anb"}, TENON_CALL(roll(x[0], {2}, 1), roll(x[0], {-1}))},
      {"concatenate", {"anb", "akb"}, TENON_CALL(concatenate({x[0], x[1], x[0]}, 1))},
      {"stack", {"nm"}, TENON_CALL(stack({x[0], -x[0]}, 1))},
      {"vstack", {"nm"}, TENON_CALL(vstack({x[0], -x[0]}))},
      {"hstack", {"nm"}, TENON_CALL(hstack({x[0], -x[0]}))},
      {"split",
       {"n5b"},
       TENON_CALL(split(x[0], {2, 3}, 1)[1]),
       {{'5', "the sizes of the parts, which are numbers, add up to it"}}},
      {"chunk",
       {"n5b"},
       TENON_CALL(chunk(x[0], 2, 1)[1]),
       {{'5', "it decides how many parts there are"}}},
      {"gather", {"anb", "akb:i64"}, TENON_CALL(gather(x[0], 1, x[1]))},
      {"scatter", {"anb", "akb:i64", "akb"}, TENON_CALL(scatter(x[0], 1, x[1], x[2]))},
      {"scatter_add", {"anb", "akb:i64", "akb"}, TENON_CALL(scatter_add(x[0], 1, x[1], x[2]))},
      {"take_along_axis", {"anb", "akb:i64"}, TENON_CALL(take_along_axis(x[0], x[1] - 1, 1))},
      {"put_along_axis",
       {"anb", "akb:i64", "akb"},
       TENON_CALL(put_along_axis(x[0], x[1], x[2], 1, Combine::kAdd),
                  put_along_axis(x[0], x[1], x[2], 1, Combine::kMax))},
      {"get",
       {"nm", "k:i64"},
       TENON_CALL(get(x[0], {0, Slice{1, {}}}), get(x[0], {Slice{0, 9}, new_axis, -1}),
                  get(x[0], {ellipsis, x[1]}), x[0][x[1]]),
       {},
       {{'m', 2}}},
      {"set",
       {"nm", "k:i64", "k"},
       TENON_CALL(set(x[0], {0}, 3), set(x[0], {ellipsis, x[1]}, 2.0),
                  set(x[0], {Slice{}, x[1]}, x[2], Combine::kAdd), set(x[0], {x[0] > 0}, 0))},
      {"uniform", {"nm"}, TENON_CALL(x[0] * uniform(size_key(x[0]), x[0].sizes(), 0, 2))},
      {"normal", {"nm"}, TENON_CALL(x[0] * normal(size_key(x[0]), x[0].sizes()))},
      {"randint", {"nm"}, TENON_CALL(x[0] + randint(size_key(x[0]), x[0].sizes(), 0, 9))},
      {"bernoulli", {"nm"}, TENON_CALL(bernoulli(size_key(x[0]), x[0].sizes(), 0.3))},
      {"dropout_mask", {"nm"}, TENON_CALL(x[0] * dropout_mask(size_key(x[0]), x[0].sizes(), 0.3))},
      {"exponential", {"nm"}, TENON_CALL(x[0] * exponential(size_key(x[0]), x[0].sizes()))},
      {"truncated_normal",
       {"nm"},
       TENON_CALL(x[0] * truncated_normal(size_key(x[0]), x[0].sizes(), -2, 2))},
      {"gamma", {"nm"}, TENON_CALL(gamma(size_key(x[0]), exp(x[0])))},
      {"beta", {"nm"}, TENON_CALL(beta(size_key(x[0]), exp(x[0]), 2 + x[0] * 0))},
      {"dirichlet", {"nm"}, TENON_CALL(dirichlet(size_key(x[0]), exp(x[0])))},
      {"poisson", {"nm"}, TENON_CALL(poisson(size_key(x[0]), exp(x[0])))},
      {"categorical", {"nm"}, TENON_CALL(categorical(size_key(x[0]), x[0]))},
      {"permutation", {"nm"}, TENON_CALL(permutation(size_key(x[0]), x[0], 0))},
      {"choice",
       {"n"},
       TENON_CALL(choice(size_key(x[0]), x[0], {2}), choice(size_key(x[0]), x[0], {2}, false),
                  choice(size_key(x[0]), x[0], {2}, true, exp(x[0]))),
       {},
       {{'n', 2}}},
      {"scan",
       {"nm", "m"},
       [](const Tensors& x) {
         const Scanned all = scan(
             [](const Tensors& carried, const Tensors& rows) {
               const Tensor h = (carried[0] * 0.5 + rows[0]).tanh();
               return Scanned{{h}, {h.sum()}};
             },
             {x[1]}, {x[0]});
         return Tensors{all.carried[0], all.outputs[0]};
       }},
      {"fori_loop",
       {"nm"},
       TENON_CALL(fori_loop(0, 3,
                            [](const Tensor& i, const Tensors& carried) {
                              return Tensors{carried[0] * 0.5 + i.astype(DType::kF32)};
                            },
                            {x[0]})[0])},
      {"while_loop",
       {"nm"},
       TENON_CALL(while_loop([](const Tensors& carried) { return carried[1] < 3; },
                             [](const Tensors& carried) {
                               return Tensors{carried[0] * 0.5, carried[1] + 1};
                             },
                             {x[0], zeros({}, DType::kI64, x[0].context())}, {.max_trips = 5})[0])},
      {"cond",
       {"nm"},
       TENON_CALL(cond(
           x[0].sum() > 0, [](const Tensors& in) { return Tensors{in[0] * 2}; },
           [](const Tensors& in) { return Tensors{-in[0]}; }, {x[0]})[0])},
      {"composite",
       {"nm"},
       TENON_CALL(composite("own", [](const Tensors& in) { return Tensors{in[0].exp()}; })(x)[0])},
      {"checkpoint", {"nm"}, TENON_CALL(checkpoint([](const Tensors& in) {
         return Tensors{in[0].exp()};
       })(x)[0])},
      {"grad", {"nm"}, TENON_CALL(grad(x[0].tanh().sum(), {x[0]})[0])},
      {"value_and_grad",
       {"nm"},
       TENON_CALL(value_and_grad([](const Tensors& in) { return in[0].tanh().sum(); })(x).value)},
      {"vjp",
       {"nm"},
       TENON_CALL(vjp([](const Tensors& in) { return Tensors{in[0].tanh()}; }, x, x).products[0])},
      {"jvp",
       {"nm"},
       TENON_CALL(jvp([](const Tensors& in) { return Tensors{in[0].tanh()}; }, x, x).products[0])},
  };
}

}  // namespace tenon::test
