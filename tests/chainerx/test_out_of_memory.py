"""Every request for memory may fail: a MemoryError, and all is usable as before."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
ASAN = 'libasan' in os.environ.get('LD_PRELOAD', '')

pytestmark = pytest.mark.skipif(ASAN, reason='the sanitizer has an allocator of its own')


@pytest.fixture(scope='module')
def failing_malloc(tmp_path_factory):
    compiler = shutil.which('cc') or shutil.which('g++')
    if compiler is None:
        pytest.skip('there is no C compiler')
    library = tmp_path_factory.mktemp('failing') / 'failing_malloc.so'
    source = HERE / 'out_of_memory' / 'failing_malloc.c'
    command = [compiler, '-x', 'c', '-O1', '-shared', '-fPIC', str(source), '-o', str(library)]
    subprocess.run(command, check=True)
    return library


@pytest.mark.parametrize(
    ('what', 'part', 'least'),
    [
        ('table', '0', 1500),
        ('table', '1', 1500),
        ('table', '2', 1500),
        ('training', None, 2000),
        ('captures', None, 1000),
    ],
)
def test_each_request_fails(failing_malloc, what, part, least):
    done = subprocess.run(
        [sys.executable, '-m', 'out_of_memory', str(failing_malloc), what, *filter(None, [part])],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={
            **os.environ,
            'LD_PRELOAD': str(failing_malloc),
            'PYTHONPATH': os.pathsep.join([str(HERE), *filter(None, sys.path)]),
            'CHAINERX_NUM_THREADS': '1',
        },
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-3000:])
    assert int(done.stdout) >= least, 'few requests have failed'
