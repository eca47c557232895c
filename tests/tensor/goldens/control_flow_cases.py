# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops and branches by jax.lax; gradients where JAX has them, else of the same loop with its trips written out."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from gradient_cases import case as gradient_case

FLOATS = ("f32", "f64")
rng = np.random.default_rng(48)


def draw(*shape):
    return rng.standard_normal(shape).astype(np.float32).astype(np.float64)


def recurrence(reverse):
    def f(h, xs, a):
        def step(h, x):
            h = jnp.tanh(a * h + x)
            return h, h * 2
        return lax.scan(step, h, xs, reverse=bool(reverse))
    return f


def tallies(n, xs, ws):  # two carried values, two inputs, two outputs of other ranks
    def step(carried, rows):
        count, total = carried
        x, w = rows
        count, total = count + jnp.sum(x > 0), total * 0.5 + x * w
        return (count, total), (jnp.max(total), total[:, None])
    (count, total), (largest, totals) = lax.scan(step, (n, jnp.zeros(3, ws.dtype)), (xs, ws))
    return [count, total, largest, totals]


def powers(h, w):  # no inputs
    return lax.scan(lambda h, _: (h @ w, jnp.sum(h)), h, None, length=4)


def rounds(begin, end):
    return lambda x, a: lax.fori_loop(begin, end, lambda i, x: x * a + i.astype(x.dtype), x)


def halvings(x, limit):
    return lax.while_loop(lambda c: jnp.sum(c[0]) > limit, lambda c: (c[0] * 0.5, c[1] + 1), (x, jnp.int64(0)))


def unrolled_halvings(x, limit):
    for _ in range(6):
        x = jnp.where(jnp.sum(x) > limit, x * 0.5, x)
    return x


def collatz(n):
    step = lambda c: (jnp.where(c[0] % 2 == 0, c[0] // 2, 3 * c[0] + 1), c[1] + 1)
    return lax.while_loop(lambda c: c[0] != 1, step, (n, jnp.int64(0)))


def branches(yes, x, w):
    return lax.cond(yes, lambda x: jnp.sin(x) * w, lambda x: x * x, x)


def nested(h, xs, a):  # a loop in each step
    def step(h, x):
        h = lax.fori_loop(0, 3, lambda i, v: jnp.tanh(v * a + x), h)
        return h, h
    return lax.scan(step, h, xs)


def values(f, name, function, inputs, **attributes):
    f.case(name, inputs, [np.asarray(y) for y in jax.tree_util.tree_leaves(jax.jit(function)(*map(jnp.asarray, inputs)))],
           **attributes)


def recurrent_inputs(dtype=np.float64):
    return [x.astype(dtype) for x in (draw(3), draw(5, 3), draw(3))]


def control_flow_cases(f):
    for dtype in (np.float32, np.float64):
        for reverse in (0, 1):
            values(f, "scan", recurrence(reverse), recurrent_inputs(dtype), mode="recurrence", reverse=reverse)
        values(f, "scan", recurrence(0), [np.ones(3, dtype), np.zeros((0, 3), dtype), np.ones(3, dtype)],
               mode="recurrence", reverse=0)
        values(f, "scan", tallies, [np.array(2), draw(4, 3).astype(dtype), draw(4, 3).astype(dtype)], mode="tallies")
        values(f, "scan", powers, [draw(2, 3).astype(dtype), draw(3, 3).astype(dtype)], mode="powers")
        values(f, "scan", nested, recurrent_inputs(dtype), mode="nested")
        for begin, end in ((0, 5), (3, 7), (4, 2)):
            values(f, "fori_loop", rounds(begin, end), [draw(4).astype(dtype), draw(4).astype(dtype)], begin=begin, end=end)
        for limit in (1.0, 100.0):
            values(f, "while_loop", halvings, [np.abs(draw(4)).astype(dtype) + 8, np.array(limit, dtype)], mode="halvings")
        for yes in (False, True):
            values(f, "cond", branches, [np.array(yes), draw(3).astype(dtype), draw(3).astype(dtype)])
    for n in (1, 7, 27):
        values(f, "while_loop", collatz, [np.array(n)], mode="collatz")


def gradient_control_flow_cases(f):
    for reverse in (0, 1):
        gradient_case(f, "scan", recurrence(reverse), recurrent_inputs(), mode="recurrence", reverse=reverse)
    gradient_case(f, "scan", tallies, [np.array(2), draw(4, 3), draw(4, 3)], mode="tallies")
    gradient_case(f, "scan", powers, [draw(2, 3), draw(3, 3)], mode="powers")
    gradient_case(f, "scan", nested, recurrent_inputs(), mode="nested")
    gradient_case(f, "fori_loop", lambda x, a: rounds(3, 7)(x, a), [draw(4), draw(4)], begin=3, end=7)
    # A threshold is no path: its gradient is zero.
    gradient_case(f, "while_loop", lambda x, limit: [unrolled_halvings(x, limit)],
                  [np.abs(draw(4)) + 8, np.array(1.0)], mode="halvings")
    for yes in (False, True):
        gradient_case(f, "cond", branches, [np.array(yes), draw(3), draw(3)])
