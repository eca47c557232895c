#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the golden files of the tensor API from NumPy, JAX and mpmath: `pip install numpy jax mpmath`.

A golden file has a line a case:

    name | inputs | attributes | outputs

Inputs and outputs are `dtype[shape]:hex`, the elements' bits in order, or `@name` of a line
`@name = dtype[shape]:hex`. Attributes are `key=value`, values numbers or words with commas.
golden.cpp reads them. Files of edges have lines of their own (edges_cases.py). Cases come from the files *_cases.py beside this one.

Real functions are evaluated in 80-bit floats (or by mpmath) on the exact inputs and rounded once;
where JAX has the function too, it must agree. Everything else is NumPy's own answer.
"""
import sys

import numpy as np

from binary_cases import binary_cases
from control_flow_cases import control_flow_cases, gradient_control_flow_cases
from edges_cases import edges_binary, edges_rows, edges_unary
from fft_cases import fft_cases
from golden_file import File
from gradient_cases import gradient_cases
from gradient_linalg_cases import gradient_linalg_cases
from index_cases import index_cases
from linalg_cases import linalg_cases
from large_cases import large_cases
from order_cases import order_cases, scan_cases
from random_cases import random_cases
from reduce_cases import reduce_cases
from shape_cases import make_cases, move_cases
from unary_cases import unary_cases

FILES = {  # name: what it is about, and what adds its cases
    "unary": ("Functions of one tensor, element by element.", unary_cases),
    "binary": ("Functions of two and three tensors, element by element.", binary_cases),
    "make": ("Tensors from shapes and rules.", make_cases),
    "move": ("Shapes, order and parts.", move_cases),
    "reduce": ("Reductions.", reduce_cases),
    "scan": ("Running sums, products and extremes.", scan_cases),
    "order": ("Order and counting.", order_cases),
    "index": ("Brackets, and elements along an axis.", index_cases),
    "random": ("Random draws.", random_cases),
    "linalg": ("Linear algebra.", linalg_cases),
    "fft": ("Fourier transforms and convolutions.", fft_cases),
    "control_flow": ("Loops and branches, by JAX.", control_flow_cases),
    "gradients_control_flow": ("Gradients of loops and branches, by JAX.", gradient_control_flow_cases),
    "gradients": ("Gradients of first and second order, by JAX.", gradient_cases),
    "gradients_linalg": ("Gradients of linear algebra, transforms and draws, by JAX.", gradient_linalg_cases),
    "edges_unary": ("Edges of functions of one tensor; edges_cases.py says what is in a line.", edges_unary),
    "edges_binary": ("Edges of functions of two tensors.", edges_binary),
    "edges_rows": ("Edges of reductions, running ones, norms and order.", edges_rows),
    "large": ("Activations, softmaxes and norms where numbers are large.", large_cases),
}

if __name__ == "__main__":  # all of them, or those that are named
    with np.errstate(all="ignore"):
        for name, (about, cases) in FILES.items():
            if name not in (sys.argv[1:] or FILES):
                continue
            file = File(name, about)
            cases(file)
            file.write()
