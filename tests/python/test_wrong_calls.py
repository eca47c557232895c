# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls that mean nothing: each has the exception of its kind, with what was expected and what was found."""
import inspect
import os
import re

import numpy as np
import pytest
import tenon as tn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

X = tn.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
I = tn.asarray([[1, 2], [3, 4]])
UNARY = """abs acos acosh asin asinh atan atanh cbrt ceil celu conj contiguous copy cos cosh degrees elu erf erfc exp exp2 expm1 floor
frac gelu gelu_exact hardsigmoid hardswish isfinite isinf isnan leaky_relu log log10 log1p log2 log_sigmoid logical_not
matrix_transpose mish nan_to_num negative positive radians ravel real imag reciprocal relu relu6 round rsqrt selu sigmoid sign
signbit silu sin sinh softplus sqrt square tan tanh transpose trunc tril triu diag bitwise_invert nonzero unique_values
unique_counts unique_inverse unique_all bincount""".split()
BINARY = """add subtract multiply divide floor_divide remainder fmod pow maximum minimum fmax fmin copysign heaviside hypot atan2
logaddexp xlogy equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor bitwise_and
bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift nextafter isclose matmul vecdot dot outer isin tensordot""".split()
REDUCTIONS = """sum prod max min mean var std ptp norm any all count_nonzero argmax argmin logsumexp median softmax log_softmax
layer_norm cumsum cumprod cummax cummin logcumsumexp cumulative_sum cumulative_prod sort argsort flip squeeze unstack diff""".split()
WRONG = [("abc", "str"), ([1, 2], "list"), (None, "NoneType"), (object(), "object"), ({1: 2}, "dict")]


def is_told(error, found):
    assert isinstance(error.value, (TypeError, ValueError)), error
    assert re.search(r"expected|incompatible|unsupported|must be|argument", str(error.value)), error.value
    assert found in str(error.value), error.value


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("value,found", WRONG[:3], ids=[f for _, f in WRONG[:3]])
def test_what_is_no_tensor(name, value, found):
    with pytest.raises(TypeError) as error:
        getattr(tn, name)(value)
    is_told(error, found)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("value,found", WRONG[:1] + WRONG[3:], ids=["str", "object", "dict"])
def test_what_is_no_second_tensor(name, value, found):
    with pytest.raises(TypeError) as error:
        getattr(tn, name)(X, value)
    is_told(error, found)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_axes_that_are_not_there(name):
    f = getattr(tn, name)
    for axis in (2, -3, 100):
        with pytest.raises((IndexError, ValueError)) as error:
            f(X, axis=axis)
        assert str(axis) in str(error.value), error.value
    for axis in ("a", 1.5):
        with pytest.raises(TypeError) as error:
            f(X, axis=axis)
        is_told(error, repr(axis).strip("'"))


@pytest.mark.parametrize("name", sorted(set(UNARY + BINARY + REDUCTIONS)))
def test_arguments_that_are_none_of_its(name):
    with pytest.raises(TypeError):
        getattr(tn, name)(X, 1, 2, 3, 4, 5, 6, 7, 8, 9)
    with pytest.raises(TypeError):
        getattr(tn, name)(X, X, colour="red")
    with pytest.raises(TypeError):
        getattr(tn, name)()


CALLS = [
    (lambda: tn.asarray([[1], [2, 3]]), ValueError, "1 elements"),
    (lambda: tn.asarray([[1], 2]), ValueError, "no list"),
    (lambda: tn.asarray([1, [2]]), ValueError, "number at level 1"),
    (lambda: tn.asarray([1, "a"]), TypeError, "str"),
    (lambda: tn.asarray(np.array([None, object()])), TypeError, "format"),
    (lambda: tn.asarray(np.array(["a", "b"])), TypeError, "format"),
    (lambda: tn.asarray(np.ones(2, np.complex64)), TypeError, "format"),
    (lambda: tn.asarray(np.ones(2, ">f4")), TypeError, "order of bytes"),
    (lambda: tn.asarray(np.zeros(2, "datetime64[s]")), BufferError, "."),
    (lambda: tn.asarray(np.zeros(2, [("a", "f4")])), TypeError, "format"),
    (lambda: tn.asarray(1 << 70), ValueError, "64 bits"),
    (lambda: tn.asarray([300], dtype=tn.uint8), ValueError, "u8"),
    (lambda: tn.asarray([-1], dtype=tn.uint8), ValueError, "-1"),
    (lambda: tn.asarray([1.5], dtype=tn.int32), ValueError, "1.5"),
    (lambda: tn.asarray(1j), TypeError, "complex"),
    (lambda: tn.asarray("text"), TypeError, "str"),
    (lambda: tn.asarray([1], dtype="float31"), TypeError, "float31"),
    (lambda: tn.asarray([1], dtype=5), TypeError, "int"),
    (lambda: tn.zeros(-1), ValueError, "-1"),
    (lambda: tn.zeros((2, "a")), TypeError, "str"),
    (lambda: tn.zeros(2.5), TypeError, "float"),
    (lambda: tn.zeros((1 << 40, 1 << 40)).sum().item(), (ValueError, RuntimeError), "."),
    (lambda: tn.ones((1,) * 17), ValueError, "16 axes"),
    (lambda: tn.full(2, "a"), TypeError, "str"),
    (lambda: tn.arange(0, 10, 0), ValueError, "step"),
    (lambda: tn.arange(0, 300, dtype=tn.int8), ValueError, "i8"),
    (lambda: tn.linspace(0, 1, -1), ValueError, "-1"),
    (lambda: tn.eye(-2), ValueError, "-2"),
    (lambda: tn.reshape(X, (4, 4)), ValueError, r"\[2, 3\]"),
    (lambda: tn.reshape(X, (-1, -1)), ValueError, "-1"),
    (lambda: X.reshape("a"), TypeError, "str"),
    (lambda: tn.broadcast_to(X, (3, 3)), ValueError, "3"),
    (lambda: tn.broadcast_shapes((2,), (3,)), ValueError, r"\(2,\)"),
    (lambda: tn.permute_dims(X, (0, 0)), ValueError, "0"),
    (lambda: tn.permute_dims(X, (0,)), ValueError, "."),
    (lambda: tn.concat([X, tn.ones((3, 2))]), ValueError, "."),
    (lambda: tn.concat([]), ValueError, "."),
    (lambda: tn.concat(X[0, 0]), TypeError, "."),
    (lambda: tn.stack([X, I]), ValueError, "."),
    (lambda: tn.split(tn.arange(5), 2), ValueError, "divides 5"),
    (lambda: tn.squeeze(X, 0), ValueError, "size"),
    (lambda: tn.expand_dims(X, 5), IndexError, "5"),
    (lambda: tn.repeat(X, -1, axis=0), ValueError, "-1"),
    (lambda: tn.repeat(X, [1, 2, 3], axis=0), ValueError, "2 counts"),
    (lambda: tn.tile(X, -1), ValueError, "-1"),
    (lambda: tn.roll(X, "a"), TypeError, "str"),
    (lambda: tn.pad(X, -1), ValueError, "."),
    (lambda: tn.pad(X, 1, mode="wild"), ValueError, "wild"),
    (lambda: tn.pad(X, 9, mode="reflect"), ValueError, "."),
    (lambda: tn.meshgrid(tn.arange(2), indexing="zz"), ValueError, "zz"),
    (lambda: X[2], IndexError, "from -2 to 1 on axis 0, got 2"),
    (lambda: X[0, -4], IndexError, "axis 1, got -4"),
    (lambda: X[0, 0, 0], IndexError, "2 axes"),
    (lambda: X["a"], TypeError, "str"),
    (lambda: X[1.5], TypeError, "float"),
    (lambda: X[::0], ValueError, "0"),
    (lambda: X["a":], TypeError, "slice"),
    (lambda: X[[True, False, True]], IndexError, "2 elements"),
    (lambda: X[tn.ones((2, 3, 1), tn.bool)], IndexError, "."),
    (lambda: X[..., ...], ValueError, "ellips"),
    (lambda: X[[0.5]], ValueError, "integer|index"),
    (lambda: X[[[0], [1, 2]]], ValueError, "elements"),
    (lambda: X[True, 0], TypeError, "bool"),
    (lambda: X.__setitem__(5, 0), IndexError, "5"),
    (lambda: X.__setitem__(0, tn.ones(7)), ValueError, "."),
    (lambda: X.__setitem__(0, "a"), TypeError, "str"),
    (lambda: X.__setitem__(0, [1, 2]), TypeError, "list"),
    (lambda: X @ X, ValueError, r"\[2, 3\]"),
    (lambda: X @ 2, ValueError, "."),
    (lambda: X & X, (ValueError, TypeError), "."),
    (lambda: X << 1, (ValueError, TypeError), "."),
    (lambda: ~X, (ValueError, TypeError), "."),
    (lambda: X + "a", TypeError, "str"),
    (lambda: "a" * X, TypeError, "float32"),
    (lambda: X + tn.ones(7), ValueError, "7"),
    (lambda: I + (1 << 64), ValueError, "."),
    (lambda: tn.asarray([1], dtype=tn.uint8) + 300, ValueError, "300"),
    (lambda: bool(X), ValueError, "one element, got 6"),
    (lambda: float(X), ValueError, "6"),
    (lambda: X.item(), ValueError, "6"),
    (lambda: len(tn.asarray(1)), TypeError, "rank 0"),
    (lambda: iter(tn.asarray(1)), TypeError, "rank 0"),
    (lambda: [1][tn.asarray(0.0)], TypeError, "float32"),
    (lambda: X.T.T.mT.T[0].T, ValueError, "rank"),
    (lambda: X.astype("no"), TypeError, "no"),
    (lambda: X.view(tn.int8), ValueError, "."),
    (lambda: X.to("abacus"), ValueError, "abacus"),
    (lambda: X.to(5), TypeError, "int"),
    (lambda: X.sum(0, 1), TypeError, "."),
    (lambda: X.sum(keepdims="yes"), TypeError, "yes"),
    (lambda: X.sum(dtype="no"), TypeError, "no"),
    (lambda: X.sum((0, 0)), ValueError, "0"),
    (lambda: X.var(ddof=0, correction=1), ValueError, "both"),
    (lambda: X.quantile(2.0), ValueError, "2"),
    (lambda: X.quantile(0.5, method="wild"), ValueError, "wild"),
    (lambda: tn.max(tn.zeros(0, tn.int32)), ValueError, "."),
    (lambda: tn.argmax(tn.zeros(0)), ValueError, "."),
    (lambda: tn.searchsorted(I, 1), ValueError, "."),
    (lambda: tn.searchsorted(tn.arange(3), 1, side="up"), ValueError, "up"),
    (lambda: tn.topk(X, 9), ValueError, "9"),
    (lambda: tn.bincount(tn.asarray([-1])), ValueError, "-1|negative"),
    (lambda: tn.histogram(X, 0), ValueError, "0"),
    (lambda: tn.one_hot(X, 3), ValueError, "."),
    (lambda: tn.take(X, 7, axis=0), IndexError, "7"),
    (lambda: tn.take(X, 0, axis=7), ValueError, "7"),
    (lambda: tn.take_along_axis(X, tn.asarray([0]), 0), ValueError, "."),
    (lambda: tn.gather(X, 0, X), ValueError, "."),
    (lambda: tn.einsum("ij,jk", X), ValueError, "."),
    (lambda: tn.einsum("i!", X), ValueError, "."),
    (lambda: tn.einsum(5, X), TypeError, "int"),
    (lambda: tn.linalg.inv(X), ValueError, "."),
    (lambda: tn.linalg.solve(X, X), ValueError, "."),
    (lambda: tn.linalg.cross(X, X[:, :2]), ValueError, "3"),
    (lambda: tn.linalg.qr(X, mode="half"), ValueError, "half"),
    (lambda: tn.linalg.matrix_norm(X, ord="odd"), ValueError, "odd"),
    (lambda: tn.fft.fft(X), TypeError, "pair"),
    (lambda: tn.fft.rfft(X, norm="no"), ValueError, "no"),
    (lambda: tn.random.normal(5, 3), TypeError, "Key"),
    (lambda: tn.random.Key("a"), TypeError, "str"),
    (lambda: tn.random.Key(-1), ValueError, "-1"),
    (lambda: tn.random.randint(tn.random.Key(0), 3, 5, 5), ValueError, "5"),
    (lambda: tn.random.choice(tn.random.Key(0), 3, 5, replace=False), ValueError, "5"),
    (lambda: tn.random.dropout_mask(tn.random.Key(0), 3, 1.0), ValueError, "1"),
    (lambda: tn.compile(5), TypeError, "function"),
    (lambda: tn.compile(lambda x: x)(slice(1)), TypeError, "hash"),
    (lambda: tn.compile(lambda x: x, donate="a")(X), (TypeError, ValueError), "."),
    (lambda: tn.grad(lambda x: x.sum(), argnums=1)(X), ValueError, "argnums"),
    (lambda: tn.grad(lambda x: 5.0)(X), ValueError, "depend"),
    (lambda: tn.grad(lambda x: "a")(X), TypeError, "str"),
    (lambda: tn.vjp(lambda x: x, X)[1](tn.ones(3)), ValueError, "."),
    (lambda: tn.jvp(lambda x: x, (X,), (tn.ones(3),)), ValueError, "."),
    (lambda: tn.scan(lambda c, x: (c.astype(tn.int32), x), tn.ones(()), X), ValueError, "."),
    (lambda: tn.scan(lambda c, x: (c, x), tn.ones(()), None), ValueError, "."),
    (lambda: tn.cond(X, lambda: 1.0, lambda: 2.0), ValueError, "."),
    (lambda: tn.cond(tn.asarray(True), lambda: tn.ones(1), lambda: tn.ones(2)), ValueError, "."),
    (lambda: tn.while_loop(lambda x: x, lambda x: x, tn.ones(())), ValueError, "bool"),
    (lambda: tn.Size.symbol("n", 5, 1), ValueError, "."),
    (lambda: tn.Size.symbol("9x", 1, 5), ValueError, "9x"),
    (lambda: tn.with_size(X, 0, tn.Size.symbol("n", 5, 9)), ValueError, "."),
    (lambda: tn.finfo(tn.int32), ValueError, "int32"),
    (lambda: tn.iinfo(tn.float32), ValueError, "float32"),
    (lambda: tn.isdtype(tn.int32, "odd"), ValueError, "odd"),
    (lambda: tn.result_type(), TypeError, "."),
    (lambda: tn.promote_types("a", "b"), TypeError, "a"),
    (lambda: tn.device("abacus"), ValueError, "abacus"),
    (lambda: tn.from_file("disk:/nowhere/x", tn.float32, (2,)), (ValueError, RuntimeError), "nowhere"),
    (lambda: X.__array_namespace__(api_version="1999.01"), ValueError, "1999"),
    (lambda: tn.Tensor(5), TypeError, "."),
    (lambda: hash(X.dtype) and X.shape.append(1), AttributeError, "append"),
]


@pytest.mark.parametrize("call,error,text", CALLS, ids=[inspect.getsource(c[0]).split(", ")[0].strip() + f" {i}" for i, c in enumerate(CALLS)])
def test_call(call, error, text):
    before = X.tolist()
    with pytest.raises(error, match=text) as raised:
        call()
    assert str(raised.value).strip()
    assert X.tolist() == before


def test_there_are_enough():
    assert len(UNARY) * 3 + len(BINARY) * 3 + len(REDUCTIONS) * 5 + len(CALLS) >= 300


NAMES = [name for name in tn.__all__ if callable(getattr(tn, name)) and name[0].islower() and
         name not in {"autodiff", "fft", "linalg", "nn", "optim", "random", "while_loop", "from_file", "with_size"}]
ARGUMENTS = st.one_of(
    st.sampled_from([X, I, tn.asarray(2), tn.zeros((0, 3)), tn.asarray([True, False]), tn.ones(2, tn.float16), np.ones((2, 3)),
                     tn.float32, "float32", None, True, -1, 0, 1, 2, 0.5, (0, 1), [0], (2, 3), "ij->ji", (), [X, X], abs,
                     lambda x: x, tn.inf, 1 << 40]),
    st.integers(-3, 4), st.lists(st.integers(-2, 3), max_size=3).map(tuple))


@settings(max_examples=int(os.environ.get("TENON_PYTHON_EXAMPLES", 300)), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(NAMES), st.lists(ARGUMENTS, max_size=4))
def test_any_call_returns_or_raises(name, arguments):
    try:
        out = getattr(tn, name)(*arguments)
        if isinstance(out, tn.Tensor) and out.size < 10000:
            out.tolist()
    except (tn.Error, TypeError, ValueError, IndexError, AttributeError, OverflowError, BufferError, ZeroDivisionError, MemoryError):
        pass
