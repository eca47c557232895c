# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of others by DLPack and the buffer protocol: the same memory, and who lets go of it."""
import gc
import resource
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
import tenon as tn

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]


def pointer(x):
    return np.asarray(x).ctypes.data if isinstance(x, tn.Tensor) else x.ctypes.data


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 4), (2, 3, 4)])
def test_there_and_back_in_one_memory(dtype, shape):
    a = np.asarray(np.arange(np.prod(shape, dtype=int)).reshape(shape) % 2).astype(dtype).reshape(shape)
    x = tn.from_dlpack(a)
    b = np.from_dlpack(x)
    assert x.dtype.name == dtype == b.dtype.name and x.shape == shape == b.shape
    assert b.ctypes.data == a.ctypes.data
    np.testing.assert_array_equal(b, a)


def test_views():
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for dense in (a, a.T, a.transpose(1, 0, 2), a[1:], a[1, 1:], a[:, :, :]):
        x = tn.from_dlpack(dense, copy=False)
        np.testing.assert_array_equal((x + 0).numpy(), dense)
    for gaps in (a[:, ::2], a[::-1], np.broadcast_to(a[0, 0], (3, 4))):
        np.testing.assert_array_equal(tn.from_dlpack(gaps).numpy(), gaps)
        with pytest.raises(BufferError, match="gaps|copy"):
            tn.from_dlpack(gaps, copy=False)
    assert tn.from_dlpack(np.zeros((2, 0), np.float32)).shape == (2, 0)
    odd = np.frombuffer(bytearray(33), np.uint8)[1:]
    assert pointer(tn.from_dlpack(odd, copy=False)) == odd.ctypes.data


def test_shared_memory_is_read_alone():
    x = tn.realize(tn.ones(3) + 1)
    a = np.from_dlpack(x)
    assert not a.flags.writeable and a.ctypes.data == pointer(x)
    b = np.from_dlpack(x, copy=True)
    assert b.flags.writeable and b.ctypes.data != a.ctypes.data
    b[0] = 9
    x[0] = 7  # a new value: the old memory stays as it was
    assert a.tolist() == [2, 2, 2] and x.tolist() == [7, 2, 2]


def test_donation_leaves_what_others_see():
    a = np.ones(1000, np.float32)
    x = tn.from_dlpack(a)
    f = tn.compile(lambda v: v * 2, donate=0)
    try:
        f(x).tolist()
    except ValueError:
        pass
    assert a.tolist() == [1] * 1000
    y = tn.realize(tn.ones(1000) + 1)
    seen = np.from_dlpack(y)
    try:
        f(y).tolist()
    except ValueError:
        pass
    assert seen.tolist() == [2] * 1000


def test_each_side_keeps_the_memory():
    a = np.arange(1000, dtype=np.float32)
    alive = weakref.ref(a)
    x = tn.from_dlpack(a)
    y = x + 1
    del a, x
    gc.collect()
    assert alive() is not None and y.tolist()[:2] == [1, 2]
    del y
    gc.collect()
    tn.ones(1).tolist()  # what was retired goes
    assert alive() is None
    b = np.from_dlpack(tn.realize(tn.arange(1000) * 2))
    gc.collect()
    assert b.sum() == 999000


def test_capsules_are_used_once():
    capsule = np.arange(3).__dlpack__()

    class Exporter:
        def __dlpack__(self, **_):
            return capsule

        def __dlpack_device__(self):
            return (1, 0)
    assert tn.from_dlpack(Exporter()).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="not used"):
        tn.from_dlpack(Exporter())
    tn.ones(3).__dlpack__(), tn.ones(3).__dlpack__(max_version=(1, 1))  # nobody takes them
    for wrong in (5, "x", object(), [1, 2]):
        with pytest.raises(TypeError, match="__dlpack__"):
            tn.from_dlpack(wrong)

    class Wrong:
        def __dlpack__(self, **_):
            return 5
    with pytest.raises(TypeError, match="capsule"):
        tn.from_dlpack(Wrong())


def test_what_cannot_be_shared():
    with pytest.raises(BufferError, match="stream"):
        tn.ones(1).__dlpack__(stream=1)
    with pytest.raises(BufferError, match="host"):
        tn.ones(1).__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="max_version"):
        tn.ones(1).__dlpack__(copy=False)
    with pytest.raises((BufferError, TypeError, RuntimeError, ValueError)):
        tn.from_dlpack(np.ones(2, np.complex64))
    assert tn.ones(1).__dlpack_device__() == (1, 0)


def test_vulkan_is_copied_or_refused():
    if not any(each.id.startswith("vulkan") for each in tn.devices()):
        pytest.skip("no Vulkan device")
    x = tn.realize(tn.ones(3).to("vulkan") + 1)
    assert x.numpy().tolist() == [2, 2, 2]
    assert np.from_dlpack(x.to("cpu")).tolist() == [2, 2, 2]


def test_the_buffer_protocol():
    x = tn.realize(tn.arange(6).reshape((2, 3)) + 0)
    view = memoryview(x)
    assert view.readonly and view.shape == (2, 3) and view.format == "q" and view.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert bytes(view[0:1].cast("B")[:8]) == bytes(8) if view.contiguous else True
    assert np.asarray(x).ctypes.data == np.from_dlpack(x).ctypes.data
    with pytest.raises(TypeError):
        view[0, 0] = 1
    with pytest.raises(BufferError, match="bfloat16"):
        memoryview(tn.ones(2, tn.bfloat16))
    assert memoryview(tn.zeros((0, 2))).tolist() == []


def test_round_trips_keep_no_memory():
    a = np.ones(256, np.float32)

    def trips(n):
        for _ in range(n):
            np.from_dlpack(tn.from_dlpack(a))
    trips(20000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    trips(100000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2048  # KiB


def test_threads():
    a = np.arange(4096, dtype=np.float32)
    errors = []

    def work():
        for _ in range(200):
            x = tn.from_dlpack(a)
            if float((x * 2).sum()) != float(a.sum() * 2) or np.from_dlpack(x)[5] != 5:
                errors.append(1)
    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not errors


def test_at_the_end_of_the_process():
    result = subprocess.run([sys.executable, "-c", """
import numpy as np, tenon as tn
kept = [tn.from_dlpack(np.ones(10, np.float32)) + 1 for _ in range(3)]
seen = np.from_dlpack(tn.realize(tn.ones(5)))
tn.realize(kept)
print(kept[0].tolist()[0])
"""], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout) == (0, "2.0\n"), result.stderr
