# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of functions: compiled, differentiated, looped. Names and meaning are JAX's."""
import functools

from tenon import _core
from tenon._core import stop_gradient

__all__ = ["checkpoint", "compile", "cond", "fori_loop", "grad", "jvp", "realize", "scan", "stop_gradient",
           "value_and_grad", "vjp", "while_loop"]


def compile(f=None, *, donate=(), name=None):
    """`f` traced once for each combination of dtypes, shapes and structure of its arguments, and replayed after that.

    Arguments and results are tensors, floats, arrays, or lists, tuples, dicts, dataclasses and modules of them. Floats
    and arrays are inputs: other values need no new trace. Integers, strings and all else are fixed: another value is
    traced anew. Tensors that `f` takes from outside stay what they were as it was traced.

    `donate`: places of arguments whose memory results may take; their tensors are spent after the call.

    >>> @tn.compile
    ... def step(w, x):
    ...     return w - 0.5 * (w - x)
    >>> step(tn.asarray([0.0, 2.0]), tn.asarray([1.0, 1.0]))
    Tensor([0.5 1.5], dtype=float32, device='cpu:0')
    >>> step.traces
    1
    """
    if f is None:
        return functools.partial(compile, donate=donate, name=name)
    if not callable(f):
        raise _core.ArgumentError(f"[compile] expected a function, got {f!r} ({type(f).__name__})")
    places = [donate] if isinstance(donate, int) else list(donate)
    return Compiled(f, _core._Compiled(f, name or getattr(f, "__name__", "function"), places))


class Compiled:
    """What `compile` returns: called as the function, with `traces`, how many traces are kept."""

    def __init__(self, f, core):
        self._core = core
        functools.update_wrapper(self, f)

    def __call__(self, *args, **kwargs):
        return self._core(*args, **kwargs)

    @property
    def traces(self) -> int:
        return self._core.traces

    def __get__(self, owner, kind=None):
        return self if owner is None else functools.partial(self, owner)


def value_and_grad(f, argnums=0, *, has_aux=False):
    """A function that returns `(f(*args), gradients)`: the loss, a tensor of one element, and its gradient by `argnums`.

    Gradients have the structure of the argument, or are a tuple if `argnums` is one. What is no float in a structure has
    None. With `has_aux`, f returns (loss, aux), and the result is ((loss, aux), gradients). Raises InvalidError for a
    loss of more than one element, and one that does not depend on the argument.

    >>> tn.value_and_grad(lambda w: (w * w).sum())(tn.asarray([1.0, 2.0]))
    (Tensor(5.0, dtype=float32, device='cpu:0'), Tensor([2. 4.], dtype=float32, device='cpu:0'))
    """
    @functools.wraps(f)
    def with_gradients(*args, **kwargs):
        places = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        for place in places:
            if not -len(args) <= place < len(args):
                raise _core.InvalidError(f"[grad] expected argnums below {len(args)}, the number of arguments by place, "
                                         f"got {place}")
        places = tuple(place % len(args) for place in places)

        def call(_, chosen):
            given = list(args)
            for place, value in zip(places, chosen):
                given[place] = value
            result = f(*given, **kwargs)
            if not has_aux:
                return result, None
            if not isinstance(result, tuple) or len(result) != 2:
                raise _core.ArgumentError(f"[value_and_grad] expected a pair of loss and aux, got {type(result).__name__}")
            return result

        loss, gradients, aux = _core._value_and_grad(f, tuple(args[place] for place in places), call)
        value = (loss, aux) if has_aux else loss
        return value, gradients[0] if isinstance(argnums, int) else gradients

    return with_gradients


def grad(f, argnums=0, *, has_aux=False):
    """A function that returns the gradients alone, as `value_and_grad`; with `has_aux`, (gradients, aux).

    >>> tn.grad(lambda w: (w ** 3).sum())(tn.asarray([1.0, 2.0]))
    Tensor([ 3. 12.], dtype=float32, device='cpu:0')
    """
    both = value_and_grad(f, argnums, has_aux=has_aux)

    @functools.wraps(f)
    def gradients(*args, **kwargs):
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradients


def vjp(f, *primals):
    """`(f(*primals), pullback)`: pullback(cotangents), of the structure of the result, is a tuple of a product with the
    Jacobian for each primal. Reverse mode.

    >>> y, pullback = tn.vjp(lambda x: x * x, tn.asarray([1.0, 2.0]))
    >>> pullback(tn.asarray([1.0, 10.0]))
    (Tensor([ 2. 40.], dtype=float32, device='cpu:0'),)
    """
    def pullback(cotangents):
        return _core._vjp(f, primals, cotangents)[1]

    return f(*primals), pullback


def jvp(f, primals, tangents):
    """`(f(*primals), how it changes along the tangents)`: a product with the Jacobian. Forward mode.

    >>> tn.jvp(lambda x: x * x, (tn.asarray([1.0, 2.0]),), (tn.asarray([1.0, 1.0]),))[1]
    Tensor([2. 4.], dtype=float32, device='cpu:0')
    """
    return _core._jvp(f, tuple(primals), tuple(tangents))


def checkpoint(f):
    """`f`, whose values between inputs and results are not kept for the gradient but computed again.

    >>> tn.grad(tn.checkpoint(lambda x: (x.sin() ** 2).sum()))(tn.asarray([0.0]))
    Tensor([0.], dtype=float32, device='cpu:0')
    """
    @functools.wraps(f)
    def checkpointed(*args):
        return _core._checkpoint(f, args)

    return checkpointed


def scan(f, init, xs=None, length=None, reverse=False):
    """Steps along axis 0 of `xs` [n, ..]: f(carried, x) returns (carried, y). Returns (the last carried, the ys stacked).

    `f` is called once, with tensors that have types but no values. A carried value keeps its dtype and shape. `length`:
    the number of steps where there are no xs; `reverse`: from the last row to the first.

    >>> tn.scan(lambda total, x: (total + x, total), tn.asarray(0.0), tn.asarray([1.0, 2.0, 3.0]))
    (Tensor(6.0, dtype=float32, device='cpu:0'), Tensor([0. 1. 3.], dtype=float32, device='cpu:0'))
    """
    return _core._scan(f, init, xs, reverse, length)


def fori_loop(lower, upper, body, init):
    """carried = body(i, carried) for i = lower, .. upper - 1. The bounds may be tensors.

    >>> tn.fori_loop(0, 3, lambda i, x: x * 2, tn.asarray(1.0))
    Tensor(8.0, dtype=float32, device='cpu:0')
    """
    return _core._fori_loop(lower, upper, body, init)


def while_loop(condition, body, init, *, max_trips=None):
    """carried = body(carried) while condition(carried), a bool of rank 0. Gradients need `max_trips`.

    >>> tn.while_loop(lambda x: x < 10, lambda x: x * 2, tn.asarray(1.0))
    Tensor(16.0, dtype=float32, device='cpu:0')
    """
    return _core._while_loop(condition, body, init, max_trips)


def cond(condition, true_fun, false_fun, *operands):
    """true_fun(*operands) where the condition, a bool of rank 0, is true, else false_fun(*operands): one of them runs.

    >>> tn.cond(tn.asarray(True), lambda x: x + 1, lambda x: x - 1, tn.asarray(1.0))
    Tensor(2.0, dtype=float32, device='cpu:0')
    """
    return _core._cond(condition, true_fun, false_fun, operands)


def realize(*trees):
    """Computes what is lazy in tensors and structures of them, as one graph; returns what it was given, or a tuple.

    >>> tn.realize(tn.ones(2) + 1)
    Tensor([2. 2.], dtype=float32, device='cpu:0')
    """
    _core._realize(_core.tree_leaves(trees))
    return trees[0] if len(trees) == 1 else trees
