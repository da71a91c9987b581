"""The code for CuPy, run where there is no CuPy, on a stand-in for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import chainer

HERE = Path(__file__).parent


def test_with_a_stand_in_for_cupy():
    # PYTHONPATH may be relative to another folder.
    package = str(Path(chainer.__file__).parents[1])
    path = os.pathsep.join([str(HERE / 'stand_in'), package])
    result = subprocess.run(
        [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'with_stand_in.py'],
        cwd=HERE,
        env=os.environ | {'PYTHONPATH': path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
