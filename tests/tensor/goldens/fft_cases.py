# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms and convolutions: NumPy's answers in f64, rounded once."""
import numpy as np

from golden_file import to_dtype
from sample_inputs import floats, integers

LENGTHS = (1, 2, 3, 4, 5, 7, 12, 17, 30, 64, 90, 131)  # 131 goes by a chirp
NORMS = ("backward", "ortho", "forward")


def same(a, b, mode):
    """As scipy.signal.fftconvolve: of the size of a."""
    whole = np.convolve(a, b)
    if mode == "same":
        begin = (len(whole) - len(a)) // 2
        return whole[begin:begin + len(a)]
    return np.convolve(a, b, mode)


def fft_cases(f):
    def pair(name, function, inputs, dtype, **attributes):
        y = function(*[x.astype(np.float64) for x in inputs])
        f.case(name, inputs, [to_dtype(y.real, dtype), to_dtype(y.imag, dtype)], **attributes)

    def inverse(x, y, length, axis, norm, dtype, **attributes):
        z = np.fft.irfft(x.astype(np.float64) + 1j * y.astype(np.float64), length, axis, norm)
        f.case("irfft", [x, y], to_dtype(z, dtype), axis=axis, norm=norm, **attributes)

    for dtype in ("f32", "f64", "f16", "bf16", "i32"):
        out = "f32" if dtype == "i32" else dtype
        make = integers if dtype == "i32" else floats
        wide = dtype in ("f32", "f64")
        for n in LENGTHS if dtype == "f32" else (5, 12, 131) if wide else (12,):
            x, y = make(dtype, (n,), 1), make(dtype, (n,), 2)
            pair("rfft", lambda v: np.fft.rfft(v), [x], out, axis=0, norm="backward")
            pair("fft", lambda v, w: np.fft.fft(v + 1j * w), [x, y], out, axis=-1, norm="backward")
            if n < 50:
                pair("ifft", lambda v, w: np.fft.ifft(v + 1j * w), [x, y], out, axis=-1, norm="backward")
                half = n // 2 + 1
                inverse(x[:half], y[:half], n, -1, "backward", out, n=n)
        x, y = make(dtype, (2, 6, 3), 3), make(dtype, (2, 6, 3), 4)
        for norm in NORMS if dtype == "f32" else ("ortho",):
            for axis in (0, 1, -1):
                options = {"axis": axis, "norm": norm}
                pair("rfft", lambda v: np.fft.rfft(v, None, axis, norm), [x], out, **options)
                pair("fft", lambda v, w: np.fft.fft(v + 1j * w, None, axis, norm), [x, y], out, **options)
                pair("ifft", lambda v, w: np.fft.ifft(v + 1j * w, None, axis, norm), [x, y], out, **options)
                inverse(x, y, None, axis, norm, out)
    x, y = floats("f32", (4,), 5), floats("f32", (4,), 6)
    for n in (1, 2, 5, 9):  # cut, and filled up
        inverse(x, y, n, 0, "backward", "f32", n=n)
    empty = np.zeros((0, 4), np.float32)
    f.case("rfft", [empty], [np.zeros((0, 3), np.float32)] * 2, axis=1, norm="backward")
    f.case("fft", [empty, empty], [empty, empty], axis=1, norm="backward")
    x = np.array([np.nan, 1, 2], np.float32)
    f.case("rfft", [x], [np.full(2, np.nan, np.float32)] * 2, axis=0, norm="backward")
    for n in (1, 2, 5, 6):
        for dtype in ("f32", "f64", "f16"):
            f.case("fftfreq", [], to_dtype(np.fft.fftfreq(n, 0.3), dtype), n=n, spacing=0.3, dtype=dtype)
            f.case("rfftfreq", [], to_dtype(np.fft.rfftfreq(n, 0.3), dtype), n=n, spacing=0.3, dtype=dtype)
        x = floats("f32", (n, 3), 7)
        for axes in ([0], [0, 1]):
            f.case("fftshift", [x], np.fft.fftshift(x, axes), axes=axes)
            f.case("ifftshift", [x], np.fft.ifftshift(x, axes), axes=axes)
    for mode in ("full", "same", "valid"):
        for dtype in ("f32", "f64", "f16", "bf16", "i32", "u8"):
            whole = dtype in ("i32", "u8")
            make = integers if whole else floats
            for n, m in ((7, 3), (6, 4), (3, 5), (1, 1), (4, 1)) if dtype == "f32" else ((7, 4),):
                x, k = make(dtype, (n,), 8), make(dtype, (m,), 9)
                if whole:
                    y = np.convolve(x, k, mode)
                    f.case("convolve", [x, k], y, mode=mode, axis=0)
                else:
                    y = np.convolve(x.astype(np.float64), k.astype(np.float64), mode)
                    f.case("convolve", [x, k], to_dtype(y, dtype), mode=mode, axis=0)
                y = same(x.astype(np.float64), k.astype(np.float64), mode)
                f.case("fft_convolve", [x, k], to_dtype(y, "f32" if whole else dtype), mode=mode)
        x, k = floats("f32", (2, 6, 3), 10), floats("f32", (3,), 11)
        y = np.apply_along_axis(lambda v: np.convolve(v, k.astype(np.float64), mode), 1, x.astype(np.float64))
        f.case("convolve", [x, k], to_dtype(y, "f32"), mode=mode, axis=1)
        y = np.apply_along_axis(lambda v: same(v, k.astype(np.float64), mode), 1, x.astype(np.float64))
        f.case("fft_convolve", [x, k.reshape(1, 3, 1)], to_dtype(y, "f32"), mode=mode, axes=[1])
        a, b = floats("f32", (5, 6), 12), floats("f32", (2, 3), 13)
        y = np.zeros((6, 8))
        for (i, j), v in np.ndenumerate(b.astype(np.float64)):
            y[i:i + 5, j:j + 6] += v * a
        y = {"full": y, "same": y[0:5, 1:7], "valid": y[1:5, 2:6]}[mode]
        f.case("fft_convolve", [a, b], to_dtype(y, "f32"), mode=mode)
