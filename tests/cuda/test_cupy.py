"""Chainer on arrays of CuPy: a stand-in for it on the memory of the test driver, in processes."""

import os
import pathlib
import subprocess
import sys

import chainer
import pytest

HERE = pathlib.Path(__file__).parent
CHAINER = HERE.parent / 'chainer'
EXAMPLES = HERE.parents[1] / 'examples'
PACKAGE = str(pathlib.Path(chainer.__file__).parents[1])
PATH = {'PYTHONPATH': os.pathsep.join([str(HERE / 'stand_in_cupy'), PACKAGE])}
#: How many tests of each folder run: one of so many.
ROOMS = {
    'functions/test_functions.py': 60,
    'links': 30,
    'graph': 12,
    'engine': 4,
    'optim': 6,
    'distributions': 40,
    'serializers': 10,
    'training': 2,
    'testing': 4,
}


@pytest.fixture
def run_pytest(driver):
    """Runs tests with the stand-in and the driver for tests, and returns what pytest prints."""

    def run_pytest(*args):
        cache = os.environ.get('CHAINERX_CACHE_DIR') or driver.parent / 'cache'
        names = {'CHAINERX_CUDA_TEST_DRIVER': driver, 'CHAINERX_CACHE_DIR': cache}
        done = subprocess.run(
            [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', *map(str, args)],
            env=os.environ | PATH | {name: str(value) for name, value in names.items()},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run_pytest


@pytest.mark.parametrize(
    'tests', [HERE / 'with_cupy.py', CHAINER / 'backends' / 'with_backend.py'], ids=lambda p: p.stem
)
def test_what_is_special_about_cupy(run_pytest, tests):
    assert ' passed' in run_pytest(tests)


@pytest.mark.parametrize('room', ROOMS)
def test_a_sample_of_what_runs_on_devices(run_pytest, room):
    chosen = ['-k', 'cupy', '--sample', 0, '--every', ROOMS[room], '--skip-missing-kernels']
    assert ' passed' in run_pytest(CHAINER / room, *chosen)


@pytest.mark.parametrize('device', ['@cupy:1', '0'])
def test_an_example(run, tmp_path, device):
    program = f"""
import runpy, sys
sys.path.insert(0, {str(EXAMPLES)!r})
sys.argv = ['train_digits.py', '--net', 'mlp', '--epochs', '2', '--batch-size', '256']
sys.argv += ['--device', {device!r}, '--out', {str(tmp_path)!r}]
try:
    runpy.run_path({str(EXAMPLES / 'train_digits.py')!r}, run_name='__main__')
except SystemExit as e:  # two epochs are not enough
    assert 'below' in str(e)
"""
    last = run(program, environment=PATH).splitlines()[-1]
    assert last.endswith(f'({device})')
    assert float(last.split()[3]) > 0.3


def test_cupy_of_a_later_cuda_than_the_driver(run):
    program = """
import chainer
assert not chainer.cuda.available
for call in (chainer.get_device, chainer.Link().to_gpu):
    try:
        call(0)
    except RuntimeError as e:
        print(e)
"""
    environment = PATH | {'STAND_IN_CUPY_CUDA': 13000, 'CHAINERX_CUDA_TEST_VERSION': 12040}
    lines = run(program, environment=environment).splitlines()
    assert len(lines) == 2
    for line in lines:
        assert "this CuPy is of CUDA 13, NVIDIA's driver of CUDA 12: install cupy-cuda12x" in line
        assert "to_device('cuda:0')" in line
