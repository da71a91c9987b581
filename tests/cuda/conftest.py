"""What tests of the backend "cuda" share."""

import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent


@pytest.fixture(scope='session')
def driver(tmp_path_factory):
    """The folder of the driver for tests: $CHAINERX_CUDA_TEST_DRIVER, or one of this session."""
    if given := os.environ.get('CHAINERX_CUDA_TEST_DRIVER'):
        return pathlib.Path(given)
    folder = tmp_path_factory.getbasetemp()
    if os.environ.get('PYTEST_XDIST_WORKER'):
        folder = folder.parent
    subprocess.run([sys.executable, HERE / 'build_driver.py', folder / 'driver'], check=True)
    return folder / 'driver'


@pytest.fixture(scope='session')
def run(driver):
    """Runs a program with the driver for tests, and returns what it prints."""
    cache = os.environ.get('CHAINERX_CACHE_DIR') or driver.parent / 'cache'

    def run(program, *, check=True, environment=None, **variables):
        names = {'CHAINERX_CUDA_TEST_DRIVER': driver, 'CHAINERX_CACHE_DIR': cache}
        names |= environment or {}
        names |= {f'CHAINERX_CUDA_TEST_{name}': value for name, value in variables.items()}
        done = subprocess.run(
            [sys.executable, '-c', program],
            env=os.environ | {name: str(value) for name, value in names.items()},
            capture_output=True,
            text=True,
        )
        if check:
            assert done.returncode == 0, done.stderr
            return done.stdout
        return done.stderr

    return run
