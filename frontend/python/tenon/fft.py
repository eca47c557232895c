# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms of pairs of real tensors; names as in numpy.fft."""
from tenon._common import tensor
from tenon._core._fft import _fftfreq, _rfftfreq, convolve, fft, fft_convolve, fftshift, ifft, ifftshift, irfft, rfft
from tenon._devices import placed

__all__ = ["convolve", "fft", "fft_convolve", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn",
           "rfft", "rfftfreq", "rfftn"]


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


def _axes(x, axes):
    return range(x.ndim) if axes is None else axes


def fftn(x, axes=None, norm="backward"):
    """`fft` over several axes; None: all.

    >>> tn.fft.fftn((tn.ones((2, 2)), tn.zeros((2, 2)))).real
    Tensor([[4. 0.]
            [0. 0.]], dtype=float32, device='cpu:0')
    """
    for axis in _axes(tensor("fftn", x[0]), axes):
        x = fft(x, axis, norm=norm)
    return x


def ifftn(x, axes=None, norm="backward"):
    """`ifft` over several axes; None: all.

    >>> tn.fft.ifftn((tn.ones((2, 2)), tn.zeros((2, 2)))).real
    Tensor([[1. 0.]
            [0. 0.]], dtype=float32, device='cpu:0')
    """
    for axis in _axes(tensor("ifftn", x[0]), axes):
        x = ifft(x, axis, norm=norm)
    return x


def rfftn(x, axes=None, norm="backward"):
    """`rfft` over the last of several axes, `fft` over the others; None: all.

    >>> tn.fft.rfftn(tn.ones((2, 2))).real
    Tensor([[4. 0.]
            [0. 0.]], dtype=float32, device='cpu:0')
    """
    *others, last = _axes(tensor("rfftn", x), axes)
    return fftn(rfft(x, last, norm=norm), others, norm)


def irfftn(x, n=None, axes=None, norm="backward"):
    """The inverse of `rfftn`, whose last axis had n elements (None: twice one less than there are).

    >>> tn.fft.irfftn(tn.fft.rfftn(tn.ones((2, 2))))
    Tensor([[1. 1.]
            [1. 1.]], dtype=float32, device='cpu:0')
    """
    *others, last = _axes(tensor("irfftn", x[0]), axes)
    return irfft(ifftn(x, others, norm), n, last, norm=norm)


def hfft(x, n=None, axis=-1, norm="backward"):
    """The real transform of a signal that is the conjugate of its mirror image, of which one half is given.

    >>> tn.fft.hfft((tn.ones(2), tn.zeros(2)))
    Tensor([2. 0.], dtype=float32, device='cpu:0')
    """
    turned = {"backward": "forward", "ortho": "ortho", "forward": "backward"}.get(norm, norm)
    return irfft((x[0], -tensor("hfft", x[1])), n, axis, norm=turned)


def ihfft(x, axis=-1, norm="backward"):
    """Its inverse, of a real x: the half that hfft takes.

    >>> tn.fft.ihfft(tn.asarray([2.0, 0.0])).real
    Tensor([1. 1.], dtype=float32, device='cpu:0')
    """
    turned = {"backward": "forward", "ortho": "ortho", "forward": "backward"}.get(norm, norm)
    found = rfft(x, axis, norm=turned)
    return type(found)(found.real, -found.imag)
