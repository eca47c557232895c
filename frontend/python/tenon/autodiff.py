# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients: the same functions as at the top, and what they need of the graph."""
from tenon._core import GradientTape, stop_gradient
from tenon._transforms import checkpoint, grad, jvp, value_and_grad, vjp

__all__ = ["GradientTape", "checkpoint", "grad", "jvp", "stop_gradient", "value_and_grad", "vjp"]
