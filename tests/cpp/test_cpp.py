"""Builds and runs the C++ tests, as a project of their own on the installed package."""

import os
import pathlib
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
ENVIRONMENT = {**os.environ, 'CMAKE_BUILD_PARALLEL_LEVEL': '2'}


def run(*command, **environment):
    done = subprocess.run(
        [str(c) for c in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**ENVIRONMENT, **environment},
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, f'{command}\n{done.stdout}'
    return done.stdout


@pytest.fixture(scope='session')
def build(tmp_path_factory, cmake_dir):
    folder = tmp_path_factory.mktemp('cpp') / 'build'
    run('cmake', '-G', 'Ninja', '-S', HERE, '-B', folder, f'-DCMAKE_PREFIX_PATH={cmake_dir}')
    run('cmake', '--build', folder)
    return folder


def test_all(build):
    text = run(build / 'chainerx_tests', CHAINERX_PATH=str(build))
    assert ' 0 failed' in text, text
    assert text.count('\nok ') > 40, text


def test_a_failing_test_fails(build):
    """No toy backend is found here, so its tests must say so."""
    done = subprocess.run(
        [build / 'chainerx_tests', 'Toy'],
        env={**os.environ, 'CHAINERX_PATH': str(build / 'nowhere')},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert 'FAILED  ToyBackendComputes' in done.stdout


def test_umbrella_header_is_complete():
    text = (ROOT / 'cpp' / 'chainerx' / 'chainerx.h').read_text()
    # These are how families are written, not what they offer.
    inner = {'declare_family.h', 'define_family.h', 'elementwise.h', 'gradient_terms.h'}
    ops = sorted({p.name for p in (ROOT / 'cpp' / 'chainerx' / 'ops').glob('*.h')} - inner)
    missing = [name for name in ops if f'chainerx/ops/{name}' not in text]
    assert ops
    assert not missing, f'chainerx.h lacks {missing}'
