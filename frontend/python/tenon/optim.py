# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimizers, the pieces they are chained of, and learning rates; names are optax's and PyTorch's.

>>> model = tn.nn.Linear(1, 1, key=tn.random.Key(0))
>>> optimizer = tn.optim.adamw(learning_rate=1e-2)
>>> state = optimizer.init(model)
>>> loss, gradients = tn.nn.value_and_grad(model, lambda m: (m(tn.ones((4, 1))) ** 2).mean())
>>> optimizer.update(model, gradients, state)
>>> model.weight.shape
(1, 1)
"""
from tenon import _core
from tenon._core._optim import *

__all__ = sorted(name for name in vars(_core._optim) if not name.startswith("_"))
