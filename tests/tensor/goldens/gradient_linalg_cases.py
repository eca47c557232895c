# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of linear algebra, transforms and draws, as gradient_cases.py has those of the other functions.

What is defined up to signs is multiplied out. JAX is given the matrix that the function reads.
"""
import jax
import jax.numpy as jnp
import numpy as np

from gradient_cases import case, generic
from random_cases import wide, words

EINSUMS = [("ij,jk->ik", [(2, 3), (3, 2)]), ("ij->ji", [(2, 3)]), ("ij->", [(2, 3)]), ("ii", [(3, 3)]),
           ("ii->i", [(3, 3)]), ("i,j->ij", [(3,), (2,)]), ("bij,bjk->bik", [(2, 2, 3), (2, 3, 2)]),
           ("...ij,jk->...ik", [(2, 2, 3), (3, 2)]), ("ij,jk,kl->il", [(2, 3), (3, 2), (2, 2)]),
           ("ij,ij->ij", [(2, 3), (2, 3)]), ("i,i,i->", [(3,), (3,), (3,)])]


def matrix(number, n=3, batch=()):
    """Far from singular ones."""
    return generic(batch + (n, n), number, 1.0) + 2 * np.eye(n)


def positive(number, n=3, batch=()):
    a = generic(batch + (n, n), number)
    return a @ np.swapaxes(a, -1, -2) + np.eye(n)


def symmetric(x):
    """Of the lower triangle."""
    return jnp.tril(x) + jnp.swapaxes(jnp.tril(x, -1), -1, -2)


def series(x):
    """e^x of small x."""
    total = term = jnp.eye(x.shape[-1])
    for k in range(1, 30):
        term = term @ x / k
        total = total + term
    return total


def spectral(x):
    values, vectors = jnp.linalg.eigh(symmetric(x))
    return vectors @ jnp.diag(jnp.sin(values)) @ vectors.T


def polar(x):
    u, _, vh = jnp.linalg.svd(x, full_matrices=False)
    return u @ vh


def factors(x):
    lower_upper, _, order = jax.lax.linalg.lu(x)
    return [order, jnp.tril(lower_upper, -1) + jnp.eye(x.shape[0]), jnp.triu(lower_upper)]


def products(f):
    for text, shapes in EINSUMS:
        case(f, "einsum", lambda *v: jnp.einsum(text, *v), [generic(s, 20 + i) for i, s in enumerate(shapes)], text=text)
    a, b, v, w = generic((2, 3), 21), generic((3, 2), 22), generic((3,), 23), generic((3,), 24)
    for mode, x, y in (("matrices", a, b), ("vector", a, v), ("vectors", v, w), ("number", a[0, 0], b)):
        case(f, "dot", jnp.dot, [x, y], mode=mode)
    case(f, "outer", jnp.outer, [a, v])
    case(f, "kron", jnp.kron, [a, b])
    case(f, "trace", jnp.trace, [matrix(25)], offset=0, axes=[0, 1])
    case(f, "trace", lambda x: jnp.trace(x, 1), [matrix(25)], offset=1, axes=[0, 1])
    case(f, "tensordot", lambda x, y: jnp.tensordot(x, y, 1), [a, b], count=1)
    case(f, "tensordot", lambda x, y: jnp.tensordot(x, y, ([0, 1], [1, 0])), [a, b], a=[0, 1], b=[1, 0])
    for power in (0, 1, 3, -2):
        case(f, "matrix_power", lambda x: jnp.linalg.matrix_power(x, power), [matrix(26)], power=power)


def factorisations(f):
    m, b, v = matrix(30), generic((3, 2), 31), generic((3,), 32)
    case(f, "cholesky", lambda x: jnp.linalg.cholesky(symmetric(x)), [positive(33)])
    case(f, "cholesky", lambda x: jnp.linalg.cholesky(symmetric(x)), [positive(33, 2, (2,))], mode="batch")
    for lower in (0, 1):
        for unit in (0, 1):
            def solved(a, c):
                return jax.scipy.linalg.solve_triangular(a, c, lower=bool(lower), unit_diagonal=bool(unit))
            case(f, "solve_triangular", solved, [m, b], lower=lower, unit=unit, mode=f"{lower}{unit}")
    case(f, "solve", jnp.linalg.solve, [m, b])
    case(f, "solve", jnp.linalg.solve, [m, v], mode="vector")
    case(f, "solve", jnp.linalg.solve, [matrix(34, 2, (2,)), generic((2, 2, 1), 35)], mode="batch")
    case(f, "inv", jnp.linalg.inv, [m])
    case(f, "det", jnp.linalg.det, [m])
    case(f, "slogdet", lambda x: list(jnp.linalg.slogdet(x)), [m])
    case(f, "lu", factors, [generic((3, 3), 36)])
    case(f, "qr", lambda x: list(jnp.linalg.qr(x)), [matrix(37)])
    case(f, "qr", lambda x: list(jnp.linalg.qr(x)), [generic((4, 3), 38)], mode="tall")
    case(f, "eigh", lambda x: jnp.linalg.eigvalsh(symmetric(x)), [positive(39)], mode="values")
    case(f, "eigh", spectral, [positive(40)], mode="vectors")
    for mode, shape in (("square", (3, 3)), ("tall", (4, 2)), ("wide", (2, 4))):
        x = generic(shape, 41)
        case(f, "svd", lambda a: jnp.linalg.svd(a, compute_uv=False), [x], mode=f"values_{mode}")
        case(f, "svd", polar, [x], mode=f"vectors_{mode}")
    case(f, "lstsq", lambda a, c: jnp.linalg.solve(a.T @ a, a.T @ c), [generic((4, 2), 42), generic((4, 2), 43)])
    case(f, "lstsq", lambda a, c: a.T @ jnp.linalg.solve(a @ a.T, c), [generic((2, 4), 44), generic((2, 1), 45)],
         mode="wide")
    case(f, "expm", series, [generic((3, 3), 46, 1.0)])
    case(f, "expm", lambda x: jnp.linalg.matrix_power(series(x / 8), 8), [generic((2, 2), 47, 8.0)], mode="large")


def transforms(f):
    def pair(z):
        return [z.real, z.imag]
    x, y = generic((2, 6), 50), generic((2, 6), 51)
    for norm in ("backward", "ortho", "forward"):
        case(f, "fft", lambda a, b: pair(jnp.fft.fft(a + 1j * b, None, 1, norm)), [x, y], axis=1, norm=norm)
        case(f, "ifft", lambda a, b: pair(jnp.fft.ifft(a + 1j * b, None, 1, norm)), [x, y], axis=1, norm=norm)
        case(f, "rfft", lambda a: pair(jnp.fft.rfft(a, None, 1, norm)), [x], axis=1, norm=norm)
        case(f, "irfft", lambda a, b: jnp.fft.irfft(a + 1j * b, None, 1, norm), [x[:, :4], y[:, :4]], axis=1, norm=norm)
    case(f, "rfft", lambda a: pair(jnp.fft.rfft(a)), [generic((40,), 52)], axis=0, norm="backward", mode="factors")
    case(f, "rfft", lambda a: pair(jnp.fft.rfft(a)), [generic((131,), 53)], axis=0, norm="backward", mode="chirp")
    case(f, "fftshift", lambda a: jnp.fft.fftshift(a, 1), [x[:, :5]], axes=[1])
    case(f, "ifftshift", lambda a: jnp.fft.ifftshift(a, 1), [x[:, :5]], axes=[1])
    k = generic((3,), 54)
    for mode in ("full", "same", "valid"):
        case(f, "convolve", lambda a, b: jnp.convolve(a, b, mode), [x[0], k], axis=0, mode=mode)
        case(f, "fft_convolve", lambda a, b: jnp.convolve(a, b, mode), [x[0], k], mode=mode)


def draws(f):
    key = np.array([7, 99], np.uint32)
    n = 4
    first = (wide(key, n) >> np.uint64(11)).astype(np.float64) * 2.0 ** -53
    high, low = words(key, n, 1)
    second = ((high.astype(np.uint64) << np.uint64(32) | low) >> np.uint64(11)).astype(np.float64) * 2.0 ** -53
    unit = np.sqrt(-2 * np.log(1 - first)) * np.cos(2 * np.pi * second)
    a, b = generic((n,), 60), generic((n,), 61) + 4
    case(f, "uniform", lambda _, x, y: x + (y - x) * first, [key, a, b], shape=[n])
    case(f, "normal", lambda _, x, y: x + y * unit, [key, a, b], shape=[n])
    case(f, "exponential", lambda _, x: -jnp.log(1 - first) / x, [key, b], shape=[n])
    order = np.argsort(wide(key, n), kind="stable")
    case(f, "permutation", lambda _, x: x[order], [key, a])
    case(f, "choice", lambda _, x: x[(wide(key, 6) % np.uint64(n)).astype(np.int64)], [key, a], shape=[6])


def gradient_linalg_cases(f):
    products(f)
    factorisations(f)
    transforms(f)
    draws(f)
