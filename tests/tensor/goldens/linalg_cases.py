# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear algebra: NumPy's answers in f64, rounded once."""
import numpy as np

from golden_file import DTYPES, to_dtype
from sample_inputs import floats, integers

SUMS = [("ij,jk->ik", [(3, 4), (4, 5)]), ("ij,jk", [(3, 4), (4, 5)]), ("ij->ji", [(3, 4)]), ("ij->", [(3, 4)]),
        ("ii", [(4, 4)]), ("ii->i", [(4, 4)]), ("iij->j", [(3, 3, 2)]), ("i,j->ij", [(3,), (4,)]),
        ("bij,bjk->bik", [(2, 3, 4), (2, 4, 2)]), ("...ij,...jk->...ik", [(2, 3, 4), (4, 5)]),
        ("...i->...", [(2, 3)]), ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]),
        ("abc,cd,def,fa->be", [(2, 3, 4), (4, 2), (2, 3, 2), (2, 2)]), ("ij,ij->ij", [(2, 3), (2, 3)]),
        ("ij,kj->ki", [(2, 3), (4, 3)]), ("i,i,i->", [(4,), (4,), (4,)]), ("ij,k->i", [(2, 3), (4,)]),
        (",->", [(), ()]), ("ij,jk->ik", [(0, 4), (4, 2)]), ("ij,jk->ik", [(2, 0), (0, 2)]),
        ("...,...->...", [(2, 1, 3), (4, 1)])]


def positive(n, dtype, batch=()):
    a = floats("f64", batch + (n, n), 20 + n)
    return to_dtype(a @ np.swapaxes(a, -1, -2) + n * np.eye(n), dtype)


def linalg_cases(f):
    for text, shapes in SUMS:
        for dtype in ("f32", "i32") if shapes[0] != (3, 4) else ("f32", "f64", "i32", "f16", "bf16", "u8"):
            make = integers if dtype in DTYPES and dtype[0] in "iu" else floats
            xs = [make(dtype, s, 3 + i) for i, s in enumerate(shapes)]
            wide = [x.astype(np.float64) if dtype[0] in "fb" else x for x in xs]
            y = np.einsum(text, *wide)
            f.case("einsum", xs, to_dtype(y, dtype) if dtype[0] in "fb" else y.astype(DTYPES[dtype]), text=text)
    for dtype in ("f32", "f64", "i32", "f16"):
        make = integers if dtype == "i32" else floats
        done = (lambda y: y.astype(np.int32)) if dtype == "i32" else (lambda y: to_dtype(y, dtype))
        wide = lambda x: x.astype(np.int64 if dtype == "i32" else np.float64)
        a, b, v, t = make(dtype, (3, 4), 1), make(dtype, (4, 2), 2), make(dtype, (4,), 3), make(dtype, (2, 4, 3), 4)
        for x, y in ((a, b), (a, v), (v, v), (a, t), (v, t), (np.asarray(a[0, 0]), b)):
            f.case("dot", [x, y], done(np.dot(wide(x), wide(y))))
        f.case("outer", [a, v], done(np.outer(wide(a), wide(v))))
        for x, y in ((a, b), (v, a), (a, v), (v, v)):
            f.case("kron", [x, y], done(np.kron(wide(x), wide(y))))
        total = (lambda y: y) if dtype == "i32" else done  # i64, as NumPy's
        f.case("trace", [a], total(np.trace(wide(a))), offset=0, axes=[0, 1])
        f.case("trace", [t], total(np.trace(wide(t), 1, 0, 2)), offset=1, axes=[0, 2])
        f.case("tensordot", [a, b], done(np.tensordot(wide(a), wide(b), 1)), count=1)
        f.case("tensordot", [a, v], done(np.tensordot(wide(a), wide(v), 0)), count=0)
        f.case("tensordot", [t, a], done(np.tensordot(wide(t), wide(a), ([1, 2], [1, 0]))), a=[1, 2], b=[1, 0])
        s = make(dtype, (2, 3, 3), 6)
        for power in (0, 1, 2, 5) if dtype != "f16" else (2,):
            f.case("matrix_power", [s], done(np.linalg.matrix_power(wide(s), power)), power=power)
    for dtype in ("f32", "f64", "f16"):
        for n, batch in ((1, ()), (2, ()), (5, ()), (3, (2, 2)), (0, ())) if dtype != "f16" else ((4, ()),):
            p, s = positive(n, dtype, batch), to_dtype(floats("f64", batch + (n, n), 7 + n) + 2 * np.eye(n), dtype)
            b = floats(dtype, batch + (n, 3), 9)
            wp, ws, wb = p.astype(np.float64), s.astype(np.float64), b.astype(np.float64)
            f.case("cholesky", [p], to_dtype(np.linalg.cholesky(wp), dtype))
            f.case("solve", [s, b], to_dtype(np.linalg.solve(ws, wb), dtype))
            f.case("solve", [s, b[..., 0].reshape(-1)[:n]], to_dtype(
                np.linalg.solve(ws, wb[..., 0].reshape(-1)[:n]), dtype))
            f.case("inv", [s], to_dtype(np.linalg.inv(ws), dtype))
            f.case("slogdet", [s], [to_dtype(np.asarray(y), dtype) for y in np.linalg.slogdet(ws)])
            f.case("det", [s], to_dtype(np.asarray(np.linalg.det(ws)), dtype))
            for lower in (0, 1):
                triangle = np.tril(wp) if lower else np.triu(wp)
                f.case("solve_triangular", [p, b], to_dtype(np.linalg.solve(triangle, wb), dtype), lower=lower, unit=0)
            f.case("matrix_power", [s], to_dtype(np.linalg.matrix_power(np.linalg.inv(ws), 2), dtype), power=-2)
            if n == 0:
                continue
            f.case("eigenvalues", [p], to_dtype(np.linalg.eigvalsh(wp), dtype))
            e, v = np.linalg.eigh(ws + np.swapaxes(ws, -1, -2))
            y = v * np.exp(e / 4)[..., None, :] @ np.swapaxes(v, -1, -2)
            f.case("expm", [to_dtype((ws + np.swapaxes(ws, -1, -2)) / 4, dtype)], to_dtype(y, dtype))
        for shape in ((4, 4), (5, 3), (3, 5), (2, 4, 3)) if dtype != "f16" else ((5, 3),):
            x = floats(dtype, shape, 11)
            q, r = np.linalg.qr(x.astype(np.float64))
            f.case("qr", [x], [to_dtype(q, dtype), to_dtype(r, dtype)])
            f.case("singular_values", [x], to_dtype(np.linalg.svd(x.astype(np.float64))[1], dtype))
            if len(shape) == 2:
                b = floats(dtype, (shape[0], 2), 12)
                f.case("lstsq", [x, b], to_dtype(np.linalg.lstsq(x.astype(np.float64), b.astype(np.float64), None)[0], dtype))
    large = np.array([[0, 1e30], [1e30, 0]], np.float32)
    f.case("slogdet", [large], [np.float32(-1), np.float32(np.log(1e60))])
    f.case("slogdet", [np.zeros((2, 2), np.float32)], [np.float32(0), np.float32(-np.inf)])
    turn = np.array([[0, -20.0], [20.0, 0]])
    f.case("expm", [turn], np.array([[np.cos(20), -np.sin(20)], [np.sin(20), np.cos(20)]]))
    f.case("expm", [np.zeros((2, 2))], np.eye(2))
    f.case("expm", [np.array([[1.0, 1e3], [0, 1]])], np.e * np.array([[1.0, 1e3], [0, 1]]))
    f.case("cholesky", [np.float32([[1, 2], [2, 1]])], np.float32([[1, 0], [2, np.nan]]))
    f.case("lu", [np.float32([[0, 2, 1], [1, 1, 0], [4, 2, 0]])],
           [np.array([2, 0, 1]), np.float32([[1, 0, 0], [0, 1, 0], [0.25, 0.25, 1]]),
            np.float32([[4, 2, 0], [0, 2, 1], [0, 0, -0.25]])])
