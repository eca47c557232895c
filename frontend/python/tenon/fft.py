# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms of pairs of real tensors, real and imaginary parts; names and arguments as in numpy.fft.

There are no complex tensors: a complex argument is a pair, and so is a complex result, `ComplexPair(real, imag)`.
"""
from tenon import _core
from tenon._common import along, tensor
from tenon._core._fft import _fft, _fftfreq, _ifft, _irfft, _rfft, _rfftfreq, convolve, fft_convolve, fftshift, ifftshift
from tenon._devices import placed

__all__ = ["convolve", "fft", "fft_convolve", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft",
           "irfft", "irfftn", "rfft", "rfftfreq", "rfftn"]


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


def _fitted(x, n, axis):
    """n elements on an axis: the first ones, or zeros after all of them."""
    x = tensor("fft", x)
    if n is None or n == x.shape[axis]:
        return x
    if n < x.shape[axis]:
        return along(x, axis, slice(0, n))
    widths = [(0, 0)] * x.ndim
    widths[axis] = (0, n - x.shape[axis])
    return _core._pad(x, widths, 0)


def _pair(x, n, axis):
    if not isinstance(x, (tuple, list)) or len(x) != 2:
        raise _core.ArgumentError("[fft] expected a pair of tensors, of real and imaginary parts, got "
                                  f"{type(x).__name__}; rfft takes real ones")
    return _fitted(x[0], n, axis), _fitted(x[1], n, axis)


def fft(x, /, n=None, axis=-1, norm="backward"):
    """X[k] = sum over j of x[j] e^(-2 pi i j k / n) along one axis of a pair; `n`: of so many elements, cut or with zeros.

    `norm`: what is divided, "backward" the inverse by n, "forward" this one, "ortho" both by sqrt(n).

    >>> tn.fft.fft((tn.asarray([1.0, 0.0]), tn.zeros(2))).real
    Tensor([1. 1.], dtype=float32, device='cpu:0')
    """
    return _fft(_pair(x, n, axis), axis, norm=norm)


def ifft(x, /, n=None, axis=-1, norm="backward"):
    """The inverse: ifft(fft(x)) is x.

    >>> tn.fft.ifft((tn.ones(2), tn.zeros(2))).real
    Tensor([1. 0.], dtype=float32, device='cpu:0')
    """
    return _ifft(_pair(x, n, axis), axis, norm=norm)


def rfft(x, /, n=None, axis=-1, norm="backward"):
    """Of real numbers: the first n/2 + 1 of n, as the others are their conjugates.

    >>> tn.fft.rfft(tn.asarray([1.0, 0.0])).real
    Tensor([1. 1.], dtype=float32, device='cpu:0')
    """
    return _rfft(_fitted(x, n, axis), axis, norm=norm)


def irfft(x, /, n=None, axis=-1, norm="backward"):
    """The inverse of rfft, n real numbers; None: twice one less than there are.

    >>> tn.fft.irfft((tn.ones(2), tn.zeros(2)))
    Tensor([1. 0.], dtype=float32, device='cpu:0')
    """
    return _irfft(x, n, axis, norm=norm)


def _plan(rank, s, axes):
    """Axes and the elements on each; None: all axes, as many as there are."""
    axes = list(axes) if axes is not None else list(range(rank))[-len(s):] if s is not None else list(range(rank))
    sizes = list(s) if s is not None else [None] * len(axes)
    if len(sizes) != len(axes):
        raise _core.InvalidError(f"[fft] expected a size for each of {len(axes)} axes, got {len(sizes)}")
    return list(zip(axes, sizes))


def _along_each(transform, x, plan, norm):
    for axis, n in plan:
        x = transform(x, n, axis, norm)
    return x


def fftn(x, /, s=None, axes=None, norm="backward"):
    """`fft` over several axes; None: all. `s`: elements on each.

    >>> tn.fft.fftn((tn.ones((2, 2)), tn.zeros((2, 2)))).real
    Tensor([[4. 0.]
            [0. 0.]], dtype=float32, device='cpu:0')
    """
    return _along_each(fft, x, _plan(tensor("fftn", x[0]).ndim, s, axes), norm)


def ifftn(x, /, s=None, axes=None, norm="backward"):
    """`ifft` over several axes; None: all. `s`: elements on each.

    >>> tn.fft.ifftn((tn.ones((2, 2)), tn.zeros((2, 2)))).real
    Tensor([[1. 0.]
            [0. 0.]], dtype=float32, device='cpu:0')
    """
    return _along_each(ifft, x, _plan(tensor("ifftn", x[0]).ndim, s, axes), norm)


def rfftn(x, /, s=None, axes=None, norm="backward"):
    """`rfft` over the last of several axes, `fft` over the others; None: all.

    >>> tn.fft.rfftn(tn.ones((2, 2))).real
    Tensor([[4. 0.]
            [0. 0.]], dtype=float32, device='cpu:0')
    """
    *others, (axis, n) = _plan(tensor("rfftn", x).ndim, s, axes)
    return _along_each(fft, rfft(x, n, axis, norm), others, norm)


def irfftn(x, /, s=None, axes=None, norm="backward"):
    """The inverse of `rfftn`; `s`: elements on each axis of the result.

    >>> tn.fft.irfftn(tn.fft.rfftn(tn.ones((2, 2))))
    Tensor([[1. 1.]
            [1. 1.]], dtype=float32, device='cpu:0')
    """
    *others, (last, size) = _plan(tensor("irfftn", x[0]).ndim, s, axes)
    return irfft(_along_each(ifft, x, others, norm), size, last, norm)


_TURNED = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def hfft(x, /, n=None, axis=-1, norm="backward"):
    """The real transform of a signal that is the conjugate of its mirror image, of which one half is given.

    >>> tn.fft.hfft((tn.ones(2), tn.zeros(2)))
    Tensor([2. 0.], dtype=float32, device='cpu:0')
    """
    return irfft((x[0], -tensor("hfft", x[1])), n, axis, _TURNED.get(norm, norm))


def ihfft(x, /, n=None, axis=-1, norm="backward"):
    """Its inverse, of a real x: the half that hfft takes.

    >>> tn.fft.ihfft(tn.asarray([2.0, 0.0])).real
    Tensor([1. 1.], dtype=float32, device='cpu:0')
    """
    found = rfft(x, n, axis, _TURNED.get(norm, norm))
    return type(found)(found.real, -found.imag)
