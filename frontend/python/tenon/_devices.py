# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Devices by name, and the one that new tensors are made on."""
import threading
from dataclasses import dataclass

from tenon import _core


@dataclass(frozen=True)
class Device:
    """What a device says of itself.

    `id` is what `Tensor.to` takes, as "cpu:0"; `compute` is False for one that holds memory alone. `compute_units` are
    cores or multiprocessors, `vector_bytes` those of a register. `bytes_in_use` and `bytes_reserved` are as of the call.
    """
    id: str
    name: str
    compute: bool
    compute_units: int
    vector_bytes: int
    bytes_in_use: int
    bytes_reserved: int


def devices() -> list[Device]:
    """The open devices, the default first, then those that a name would open.

    `TENON_DEVICES`, as "cuda:0,vulkan,cpu", chooses them.

    >>> tn.devices()[0].id
    'cpu:0'
    """
    return [Device(**_core._device(each)) for each in _core._device_ids()]


__all__ = ["Device", "device", "devices"]
_chosen = threading.local()


class device:
    """New tensors are made on this device, within a `with` block of this thread.

    `name` is an id or a backend, as "vulkan". Raises InvalidError with a list of the devices for a name of none.

    >>> with tn.device("cpu"):
    ...     x = tn.ones(3)
    >>> x.device
    'cpu:0'
    """

    def __init__(self, name: str):
        self.id = _core._device(name)["id"]

    def __enter__(self):
        self._before = current()
        _chosen.id = self.id
        return self

    def __exit__(self, *_):
        _chosen.id = self._before


def current() -> str | None:
    """The id that `device` chose on this thread; None: the default."""
    return getattr(_chosen, "id", None)


def placed(x, where: str | None = None):
    """A new tensor on a device, or on the chosen one."""
    where = where or current()
    return x if where is None or x.device == where else x.to(where)
