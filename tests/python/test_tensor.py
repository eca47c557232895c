# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors as NumPy's arrays: made, read, indexed, computed with."""
import copy
import itertools
import pickle
import threading

import numpy as np
import pytest
import tenon as tn

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]


def same(x, expected):
    expected = np.asarray(expected)
    assert x.shape == expected.shape
    np.testing.assert_allclose(x.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3)])
def test_numpy_there_and_back(dtype, shape):
    a = (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 2).astype(dtype)
    x = tn.asarray(a)
    assert x.dtype.name == dtype and x.shape == shape
    assert x.numpy().dtype == a.dtype
    np.testing.assert_array_equal(x.numpy(), a)
    np.testing.assert_array_equal(np.asarray(x), a)
    assert x.tolist() == a.tolist()


def test_arrays_of_any_order():
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for view in (a.T, a[:, ::-1], a[::2, 1:, ::3], np.broadcast_to(a[0, 0], (5, 4)), np.asfortranarray(a)):
        np.testing.assert_array_equal(tn.asarray(view).numpy(), view)
    assert tn.asarray(memoryview(b"\x01\x02")).tolist() == [1, 2]


def test_dtypes_of_lists_and_numbers():
    assert tn.asarray(1).dtype == tn.int64 and tn.asarray(1.0).dtype == tn.float32 and tn.asarray(True).dtype == tn.bool
    assert tn.asarray([1, 2.5]).dtype == tn.float32 and tn.asarray([True, 2]).dtype == tn.int64
    assert tn.asarray(2 ** 63).dtype == tn.uint64
    assert tn.asarray([]).shape == (0,) and tn.asarray([[], []]).shape == (2, 0)
    assert tn.asarray([0.1], dtype=tn.float64).tolist() == [0.1]
    assert tn.asarray([tn.asarray(1), 2]).tolist() == [1, 2]
    assert tn.asarray([np.float32(1.5), 2]).tolist() == [1.5, 2]


@pytest.mark.parametrize("dtype", [tn.float32, "float32", "f32", np.float32, np.dtype("float32"), float])
def test_dtypes_are_named_as_one_likes(dtype):
    assert tn.zeros(1, dtype=dtype).dtype is tn.float32


def test_promotion_is_numpys():
    for a, b in itertools.product(DTYPES, DTYPES):
        expected = np.promote_types(a, b).name
        assert (tn.zeros(1, a) + tn.zeros(1, b)).dtype.name == expected
        assert tn.result_type(tn.DType[a], tn.DType[b]).name == expected
    for dtype in DTYPES[1:]:
        assert (tn.zeros(1, dtype) + 1).dtype.name == dtype
    assert (tn.zeros(1, tn.float16) * 2.5).dtype == tn.float16


INDICES = [
    np.s_[0], np.s_[-1], np.s_[1:3], np.s_[::-1], np.s_[::2, 1], np.s_[..., 0], np.s_[None], np.s_[:, None, 1],
    np.s_[1:, ..., ::-2], np.s_[3:1], np.s_[-3:100], np.s_[[0, 2]], np.s_[[0, 2], [1, 1]], np.s_[:, [2, 0, 2]],
    np.s_[0, :, [1, 2]], np.s_[..., None, [0, 1]], np.s_[()], np.s_[...], np.s_[2:0:-1, 5:0:-2], np.s_[[True, False, True, True]],
    np.s_[:, [-1, 0]], np.s_[True], np.s_[False], np.s_[None, [1, 0], None],
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_brackets_are_numpys(index):
    a = np.arange(4 * 5 * 3).reshape(4, 5, 3)
    same(tn.asarray(a)[index], a[index])
    written, expected = tn.asarray(a), a.copy()
    written[index] = -1
    expected[index] = -1
    same(written, expected)


def test_masks():
    a = np.arange(12).reshape(3, 4)
    x = tn.asarray(a)
    same(x[x > 5], a[a > 5])
    same(x[np.array([True, False, True])], a[[True, False, True]])
    x[x > 5] = 0
    same(x, np.where(a > 5, 0, a))


def test_writing_leaves_others_as_they_were():
    x = tn.asarray([1, 2, 3])
    y, view = x + 0, x[1:]
    x[1] = 9
    assert (x.tolist(), y.tolist(), view.tolist()) == ([1, 9, 3], [1, 2, 3], [2, 3])
    x[0] = 2.7  # as NumPy: it truncates
    assert x.tolist() == [2, 9, 3]


def test_operators_are_numpys():
    a, b = np.array([7, -7, 5], np.int32), np.array([2, 2, -3], np.int32)
    x, y = tn.asarray(a), tn.asarray(b)
    for f in (lambda p, q: p + q, lambda p, q: p - q, lambda p, q: p * q, lambda p, q: p // q, lambda p, q: p % q,
              lambda p, q: p & q, lambda p, q: p | q, lambda p, q: p ^ q, lambda p, q: p < q, lambda p, q: p == q,
              lambda p, q: p / q, lambda p, q: 3 - p, lambda p, q: 100 // q, lambda p, q: 2 ** abs(q), lambda p, q: -p,
              lambda p, q: ~p, lambda p, q: abs(p), lambda p, q: 1 << abs(q), lambda p, q: p >> 1, lambda p, q: +p):
        same(f(x, y), f(a, b))
    same(x @ y, a @ b)
    assert [t.tolist() for t in divmod(x, y)] == [t.tolist() for t in divmod(a, b)]
    same(a + x, a + a)  # NumPy leaves it to the tensor
    assert isinstance(a + x, tn.Tensor) and isinstance(np.float32(2) * x, tn.Tensor)
    z = x
    z += 1
    assert x.tolist() == a.tolist() and z.tolist() == (a + 1).tolist()


def test_numbers_of_python():
    assert float(tn.asarray(1.5)) == 1.5 and int(tn.asarray([3])) == 3 and bool(tn.asarray([[0]])) is False
    assert [10, 20, 30][tn.asarray(1)] == 20 and list(range(tn.asarray(3))) == [0, 1, 2]
    assert f"{tn.asarray(1.5):.2f}" == "1.50" and 2 in tn.asarray([1, 2]) and 3 not in tn.asarray([1, 2])
    assert len(tn.ones((4, 2))) == 4 and [row.tolist() for row in tn.asarray([[1], [2]])] == [[1], [2]]
    assert {tn.ones(1): 1} and hash(tn.ones(1)) is not None


def test_printing():
    assert repr(tn.asarray([[1, 2], [3, 4]])) == "Tensor([[1 2]\n        [3 4]], dtype=int64, device='cpu:0')"
    assert str(tn.asarray([1.0, 0.25])) == "[1.   0.25]"
    assert repr(tn.compile(lambda x: (seen.append(repr(x)), x)[1])(tn.ones((2, 3)))) and seen == ["Tensor(shape=(2, 3), dtype=float32)"]
    assert repr(tn.float32) == "tenon.float32" and str(tn.float32) == "float32"


seen = []


def test_copies_and_pickles():
    x = tn.asarray([[1.5, 2.5]], dtype=tn.float16)
    for y in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert y.tolist() == x.tolist() and y.dtype == x.dtype
        y[0, 0] = 0
        assert x.tolist() == [[1.5, 2.5]]
    assert pickle.loads(pickle.dumps(tn.float32)) is tn.float32


def test_wide_values():
    assert tn.asarray([2 ** 64 - 1, 1]).tolist() == [2 ** 64 - 1, 1]
    assert tn.asarray([-2 ** 63]).tolist() == [-2 ** 63]
    assert tn.asarray(5e-324, dtype=tn.float64).item() == 5e-324


def test_devices():
    assert tn.devices()[0].id == "cpu:0" and tn.devices()[0].compute
    with tn.device("cpu"):
        assert tn.ones(2).device == "cpu:0" == tn.asarray([1]).device
    with pytest.raises(ValueError, match="cpu:0"):
        tn.device("abacus")


def test_vulkan_too():
    if not any(each.id.startswith("vulkan") for each in tn.devices()):
        pytest.skip("no Vulkan device")
    with tn.device("vulkan"):
        x = tn.asarray([1.0, 2.0])
        assert x.device == "vulkan:0" == tn.ones(2).device == (x + 1).device
    assert (x + 1).tolist() == [2.0, 3.0] and tn.ones(2).device == "cpu:0"
    assert (x.to("cpu") * 2).tolist() == [2.0, 4.0]
    assert (x + tn.realize(tn.arange(2) * 2.0)).tolist() == [1.0, 4.0]


def test_an_axis_that_is_not_there_is_an_index_and_a_value():
    for error in (IndexError, ValueError, tn.AxisError, tn.InvalidError, tn.RangeError):
        with pytest.raises(error, match="expected an axis in"):
            tn.ones(2).sum(axis=3)


def test_threads():
    def work(i, out):
        for _ in range(50):
            x = tn.asarray(np.full((8, 8), i, np.float32))
            out.append(float((x @ x).sum()))
    results = [[] for _ in range(4)]
    threads = [threading.Thread(target=work, args=(i, results[i])) for i in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert results == [[512.0 * i * i] * 50 for i in range(4)]


def test_symbolic_sizes():
    n = tn.Size.symbol("n", 1, 64)
    f = tn.compile(lambda x: x.sum())
    for size in (3, 5, 64):
        assert f(tn.with_size(tn.ones(size), 0, n)).item() == size
    assert f.traces == 1
    assert repr(tn.with_size(tn.ones((3, 2)), 0, n).shape) == "(n, 2)"


def test_fourier_transforms_are_numpys():
    a = np.random.default_rng(0).normal(size=(4, 6)) + 1j * np.random.default_rng(1).normal(size=(4, 6))
    pair = (tn.asarray(a.real.copy()), tn.asarray(a.imag.copy()))

    def joined(x):
        return x.numpy() if isinstance(x, tn.Tensor) else x[0].numpy() + 1j * x[1].numpy()
    for norm in ("backward", "ortho", "forward"):
        for name in ("fft", "ifft"):
            for n in (None, 3, 9):
                np.testing.assert_allclose(joined(getattr(tn.fft, name)(pair, n, -1, norm)),
                                           getattr(np.fft, name)(a, n, -1, norm), rtol=1e-9, atol=1e-9)
        for name in ("hfft", "irfft"):
            for n in (None, 7, 12):
                np.testing.assert_allclose(joined(getattr(tn.fft, name)(pair, n, 1, norm)),
                                           getattr(np.fft, name)(a, n, 1, norm), rtol=1e-9, atol=1e-9)
        for name in ("rfft", "ihfft"):
            for n in (None, 3, 9):
                np.testing.assert_allclose(joined(getattr(tn.fft, name)(pair[0], n, 0, norm)),
                                           getattr(np.fft, name)(a.real, n, 0, norm), rtol=1e-9, atol=1e-9)
        for s, axes in ((None, None), ((3, 8), None), ((5,), (0,)), (None, (1, 0))):
            for name in ("fftn", "ifftn"):
                np.testing.assert_allclose(joined(getattr(tn.fft, name)(pair, s, axes, norm)),
                                           getattr(np.fft, name)(a, s, axes if axes else (0, 1), norm), rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(joined(tn.fft.rfftn(pair[0], s, axes, norm)),
                                       np.fft.rfftn(a.real, s, axes if axes else (0, 1), norm), rtol=1e-9, atol=1e-9)
    with pytest.raises(TypeError, match="pair"):
        tn.fft.fft(tn.ones(3))
