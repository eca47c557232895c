# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms of pairs of real tensors; names as in numpy.fft."""
from tenon._core._fft import convolve, fft, fft_convolve, fftshift, ifft, ifftshift, irfft, rfft
from tenon._core._fft import _fftfreq, _rfftfreq
from tenon._devices import placed

__all__ = ["convolve", "fft", "fft_convolve", "fftfreq", "fftshift", "ifft", "ifftshift", "irfft", "rfft", "rfftfreq"]


def fftfreq(n, d=1.0, *, dtype=None, device=None):
    """Frequencies of fft's results at a sample spacing: 0, 1, .., -2, -1 over n * d, [n].

    >>> tn.fft.fftfreq(4)
    Tensor([ 0.    0.25 -0.5  -0.25], dtype=float32, device='cpu:0')
    """
    return placed(_fftfreq(n, d, dtype=dtype), device)


def rfftfreq(n, d=1.0, *, dtype=None, device=None):
    """Frequencies of rfft's results: 0, 1, .., n/2 over n * d.

    >>> tn.fft.rfftfreq(4)
    Tensor([0.   0.25 0.5 ], dtype=float32, device='cpu:0')
    """
    return placed(_rfftfreq(n, d, dtype=dtype), device)
