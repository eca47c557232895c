# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compile, gradients, loops and branches, over structures."""
import gc
import threading
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest
import tenon as tn

Pair = namedtuple("Pair", "a b")


@dataclass
class Layer:
    weight: tn.Tensor
    scale: float
    name: str = "layer"


def test_structures_go_through():
    @tn.compile
    def f(tree, *, factor):
        return {"a": tree["a"] * factor, "rest": [tree["pair"].b, (tree["layer"].weight + tree["layer"].scale, None, "x")],
                "layer": Layer(tree["layer"].weight * 2, 3.0, tree["layer"].name)}
    tree = {"a": tn.ones(2), "pair": Pair(tn.ones(1), tn.zeros(1)), "layer": Layer(tn.ones(3), 0.5, "first")}
    out = f(tree, factor=2.0)
    assert out["a"].tolist() == [2, 2] and out["rest"][0].tolist() == [0]
    assert out["rest"][1][0].tolist() == [1.5] * 3 and out["rest"][1][1:] == (None, "x")
    assert isinstance(out["layer"], Layer) and out["layer"].weight.tolist() == [2] * 3 and out["layer"].name == "first"
    assert f(tree, factor=3.0)["a"].tolist() == [3, 3] and f.traces == 1  # a float is an input
    tree["layer"].name = "other"
    assert f(tree, factor=3.0)["layer"].name == "other" and f.traces == 2  # a text is not
    assert tree["layer"].weight.tolist() == [1] * 3


def test_integers_and_bools_are_fixed():
    @tn.compile
    def f(x, n, flag):
        return x * n if flag else x
    assert [f(tn.ones(1), n, flag).tolist() for n, flag in ((2, True), (1, True), (True, True), (2, False))] == [[2], [1], [1], [1]]
    assert f.traces == 4


def test_arrays_of_numpy_are_inputs():
    f = tn.compile(lambda x: x + 1)
    for i in range(3):
        assert f(np.full(2, i, np.float32)).tolist() == [i + 1, i + 1]
    assert f.traces == 1


def test_donation():
    f = tn.compile(lambda x, y: x + y, donate=0)
    x = tn.realize(tn.ones(4) * 2)
    assert f(x, tn.ones(4)).tolist() == [3] * 4
    with pytest.raises(ValueError, match="donated"):
        x.tolist()
    with pytest.raises(ValueError, match="argument 3"):
        tn.compile(lambda x: x, donate=3)(tn.ones(1))


def test_errors_of_the_function_come_through():
    @tn.compile
    def f(x):
        raise KeyError("mine")
    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            f(tn.ones(1))
    with pytest.raises(ValueError, match="traced|no value"):
        tn.compile(lambda x: x if x.sum() > 0 else -x)(tn.ones(2))
    with pytest.raises(TypeError, match="hash"):
        tn.compile(lambda x, y: x)(tn.ones(1), bytearray(b"x") and {1, 2})
    loop = []
    loop.append(loop)
    with pytest.raises(ValueError, match="holds itself"):
        tn.compile(lambda x: x)(loop)


def test_methods():
    class Model:
        @tn.compile
        def double(self, x):
            return x * 2
    assert Model().double(tn.ones(2)).tolist() == [2, 2]


def test_traces_are_let_go():
    f = tn.compile(lambda x: x * 1)
    for n in range(300):
        f(tn.ones(n + 1))
    gc.collect()
    assert f.traces <= 256


def test_compiled_calls_of_threads():
    f = tn.compile(lambda x, k: {"y": x * k})
    out = [None] * 4

    def work(i):
        out[i] = [f(tn.full(3, float(i)), float(k))["y"].tolist() for k in range(20)]
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert out == [[[i * k] * 3 for k in range(20)] for i in range(4)]


def test_gradients_have_the_structure():
    def loss(w, x):
        return ((w["a"] * x + w["b"][0]) ** 2).sum()
    w = {"a": tn.asarray([1.0, 2.0]), "b": [tn.asarray(0.5), 3, None], "c": tn.asarray([1])}
    value, g = tn.value_and_grad(loss)(w, 2.0)
    assert value.item() == 2.5 ** 2 + 4.5 ** 2
    assert g["a"].tolist() == [10.0, 18.0] and g["b"][0].item() == 14.0 and g["b"][1:] == [3, None] and g["c"] is None
    by_both = tn.grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(tn.asarray([2.0]), tn.asarray([3.0]))
    assert [x.tolist() for x in by_both] == [[3.0], [2.0]]
    (value, aux), g = tn.value_and_grad(lambda x: ((x * x).sum(), {"x": x + 1}), has_aux=True)(tn.asarray([3.0]))
    assert (value.item(), aux["x"].tolist(), g.tolist()) == (9.0, [4.0], [6.0])


def test_gradients_of_gradients():
    cubic = tn.grad(lambda x: (x ** 3).sum())
    assert tn.grad(lambda x: cubic(x).sum())(tn.asarray([2.0])).tolist() == [12.0]
    step = tn.compile(lambda w: w - 0.1 * tn.grad(lambda v: (v * v).sum())(w))
    assert step(tn.asarray([1.0])).tolist() == pytest.approx([0.8])


def test_wrong_gradients():
    with pytest.raises(ValueError, match="one element"):
        tn.grad(lambda x: x)(tn.ones(2))
    with pytest.raises(ValueError, match="depend"):
        tn.grad(lambda x, y: y.sum())(tn.ones(2), tn.ones(2))
    with pytest.raises(ValueError, match="argnums"):
        tn.grad(lambda x: x.sum(), argnums=3)(tn.ones(2))
    with pytest.raises(TypeError, match="pair of loss and aux"):
        tn.grad(lambda x: x.sum(), has_aux=True)(tn.ones(2))


def test_products_with_the_jacobian():
    y, pullback = tn.vjp(lambda a, b: {"y": a * b}, tn.asarray([2.0]), tn.asarray([5.0]))
    assert y["y"].tolist() == [10.0] and [g.tolist() for g in pullback({"y": tn.asarray([1.0])})] == [[5.0], [2.0]]
    value, tangent = tn.jvp(lambda x: (x.sin(), x), (tn.asarray([0.0]),), (tn.asarray([2.0]),))
    assert value[0].tolist() == [0.0] and tangent[0].tolist() == [2.0] and tangent[1].tolist() == [2.0]


def test_loops_and_branches():
    carried, ys = tn.scan(lambda c, x: ({"s": c["s"] + x["a"]}, {"p": c["s"] * x["b"]}), {"s": tn.asarray(0.0)},
                          {"a": tn.arange(4).astype(tn.float32), "b": tn.ones(4)})
    assert carried["s"].item() == 6.0 and ys["p"].tolist() == [0, 0, 1, 3]
    assert tn.scan(lambda c, _: (c * 2, None), tn.asarray(1.0), length=5)[0].item() == 32.0
    assert tn.scan(lambda c, x: (c, x), tn.asarray(0.0), tn.arange(3), reverse=True)[1].tolist() == [0, 1, 2]
    g = tn.grad(lambda w: tn.fori_loop(0, 5, lambda i, x: x * w, tn.asarray(1.0)))(tn.asarray(2.0))
    assert g.item() == 80.0
    assert tn.while_loop(lambda s: s[0] < 100, lambda s: (s[0] * 3, s[1] + 1), (tn.asarray(1), tn.asarray(0)))[1].item() == 5
    f = tn.compile(lambda x: tn.cond(x.sum() > 0, lambda v: {"v": v}, lambda v: {"v": -v}, x))
    assert f(tn.asarray([1.0]))["v"].tolist() == [1.0] and f(tn.asarray([-1.0]))["v"].tolist() == [1.0]
    with pytest.raises(TypeError, match="pair"):
        tn.scan(lambda c, x: c, tn.asarray(0.0), tn.arange(3))


def test_random_keys():
    draw = tn.compile(lambda key: tn.random.uniform(key, (3,)))
    a, b = tn.random.Key(0).split()
    assert draw(a).tolist() == tn.random.uniform(tn.random.Key(0).split()[0], 3).tolist() != draw(b).tolist()
    assert draw.traces == 1
    assert tn.compile(lambda key: key.split(2))(tn.random.Key(5))[1].words.tolist() == tn.random.Key(5).split()[1].words.tolist()
