"""Runs the code for CuPy on a stand-in for it.

It runs without the backend cuda, and with one built from tests/cpp/toy_backend.cc.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import chainer
import pytest

HERE = Path(__file__).parent
#: What is tested on each kind of device, in processes of some seconds each.
ROOMS = [
    'functions',
    'graph',
    'engine',
    'links',
    'optim',
    'testing',
    'distributions',
    'diagnostics',
    'test_*.py',
]


def run(*args, folder=HERE, **environment):
    # PYTHONPATH may be relative to the current folder.
    package = str(Path(chainer.__file__).parents[1])
    path = os.pathsep.join([str(HERE / 'stand_in'), package])
    result = subprocess.run(
        [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', *args],
        cwd=folder,
        env=os.environ | {'PYTHONPATH': path} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope='module')
def cuda_path(build_backend):
    return str(build_backend('cuda').parents[1])


def test_without_the_backend():
    run('with_stand_in.py')


def test_with_the_backend(cuda_path):
    run('with_backend.py', CHAINERX_PATH=cuda_path)


@pytest.mark.slow
@pytest.mark.parametrize('room', ROOMS)
def test_all_that_runs_on_devices(room, cuda_path):
    """The tests of functions, variables, links and optimizers pass on CuPy's devices, too."""
    paths = map(str, sorted(HERE.parent.glob(room)))
    assert ' passed' in run(*paths, '-k', 'cupy', CHAINERX_PATH=cuda_path)
