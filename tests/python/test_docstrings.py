# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each public name has a docstring, and what its example prints is what it says."""
import doctest
import inspect
import io
import re

import pytest
import tenon as tn

MODULES = {"tenon": tn, "tenon.linalg": tn.linalg, "tenon.fft": tn.fft, "tenon.random": tn.random,
           "tenon.autodiff": tn.autodiff, "tenon.nn": tn.nn, "tenon.optim": tn.optim}
NUMBER = re.compile(r"-?\b\d+\.?\d*(?:e[-+]?\d+)?|-?\binf\b|\bnan\b")


class NearlySame(doctest.OutputChecker):
    """White space aside, and numbers to four digits: the last ones are the device's."""

    def check_output(self, want, got, optionflags):
        want, got = (re.sub(r"(?<=\[) | (?=\])", "", " ".join(text.split())) for text in (want, got))
        if NUMBER.sub("#", want) != NUMBER.sub("#", got):
            return False
        return all(a == b or float(a) == pytest.approx(float(b), rel=2e-4, abs=1e-6)
                   for a, b in zip(NUMBER.findall(want), NUMBER.findall(got)))


def names():
    for module_name, module in MODULES.items():
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and not inspect.ismodule(value):
                yield f"{module_name}.{name}", value


def members():
    for name, value in vars(tn.Tensor).items():
        if not name.startswith("_"):
            yield f"tenon.Tensor.{name}", value


ALL = dict(names()) | dict(members())
# Functions whose example would need a file.
WITHOUT_EXAMPLE = {"tenon.from_file"}


@pytest.mark.parametrize("name", ALL)
def test_is_documented(name):
    assert (inspect.getdoc(ALL[name]) or "").strip(), f"{name}: expected a docstring"


def examples_of(name, doc):
    return doctest.DocTestParser().get_doctest(doc or "", {"tn": tn}, name, None, 0)


@pytest.mark.parametrize("name", [*ALL, *MODULES])
def test_example(name):
    value = ALL.get(name) or MODULES[name]
    test = examples_of(name, inspect.getdoc(value))
    is_class = inspect.isclass(value)
    if not test.examples and not is_class and name not in WITHOUT_EXAMPLE and name not in MODULES:
        if not isinstance(value, property) and callable(value):
            pytest.fail(f"{name}: expected an example")
    out = io.StringIO()
    result = doctest.DocTestRunner(NearlySame(), verbose=False).run(test, out=out.write)
    assert result.failed == 0, out.getvalue()


def test_a_wrong_example_is_found():
    test = examples_of("wrong", ">>> tn.asarray([1.0])\nTensor([2.], dtype=float32, device='cpu:0')")
    assert doctest.DocTestRunner(NearlySame(), verbose=False).run(test, out=lambda _: None).failed == 1
