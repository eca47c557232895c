# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What docs/python.md shows runs."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(os.environ["TENON_SOURCE"])
BLOCKS = re.findall(r"```python\n(.*?)```", (SOURCE / "docs/python.md").read_text(), re.S)


@pytest.mark.parametrize("block", BLOCKS)
def test_block(block):
    result = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0 and result.stdout, result.stderr


def test_there_are_some():
    assert BLOCKS
