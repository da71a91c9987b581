"""Fixtures for all tests."""

import collections
import functools
import gc
import os
import pathlib
import shutil
import signal
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[1]

# Background jobs of a shell ignore Ctrl-C, which some tests send.
signal.signal(signal.SIGINT, signal.default_int_handler)


#: A test with at least this many rows is a table, whose rows are distributed among the samples.
TABLE = 30
SAMPLES = range(3)


def pytest_addoption(parser):
    parser.addoption(
        '--sample',
        action='append',
        type=int,
        choices=SAMPLES,
        help='run a third of the rows of each table; all other tests belong to sample 0, which is '
        'the default of a run that names no tests; may be repeated',
    )
    parser.addoption(
        '--full',
        action='store_true',
        help='run all rows of all tables, and the long forms of the tests that have one: '
        '10^5 calls in test_fuzz.py, 20,000 iterations in test_leaks.py, a long log',
    )


def pytest_configure(config):
    # Workers inherit the options of the process that started them, so this is decided once.
    if config.option.sample is None:
        names_none = config.args_source is not config.ArgsSource.ARGS and not config.option.keyword
        config.option.sample = [0] if names_none and not config.option.full else [*SAMPLES]


def sample_of(item):
    """The sample of one row.

    Two rows that differ in one parameter by one place are in different samples, so each op meets
    each dtype in one of three runs, and a third of them in each.
    """
    return sum(item.callspec.indices.values()) % len(SAMPLES)


def is_slow(item):
    """Whether it takes seconds: a program, a compiler or valgrind in a process of its own."""
    folder = item.path.relative_to(ROOT / 'tests').parts[0]
    return folder in {'cpp', 'examples', 'project'} or item.get_closest_marker('slow') is not None


def pytest_collection_modifyitems(config, items):
    rows = collections.Counter(item.nodeid.partition('[')[0] for item in items)
    chosen, others = [], []
    for item in items:
        is_row = rows[item.nodeid.partition('[')[0]] >= TABLE
        sample = sample_of(item) if is_row else 0
        (chosen if sample in config.option.sample else others).append(item)
    # A slow test that starts last keeps one process busy while the others wait.
    items[:] = sorted(chosen, key=lambda item: not is_slow(item))
    if others:
        config.hook.pytest_deselected(items=others)


@pytest.fixture(scope='module', autouse=True)
def small_heap():
    """Makes collections visit the garbage of a module's tests, not all older objects."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def same_random_numbers():
    """Each test draws the same numbers, whatever ran before it and in which process."""
    import chainerx
    import numpy as np

    np.random.seed(0)
    chainerx.random.seed(0)


@pytest.fixture(scope='session')
def build_library():
    """Compiles C++ source text to a shared library."""

    def build(library, source, *options):
        compiler = os.environ.get('CXX') or shutil.which('c++') or shutil.which('g++')
        if compiler is None:
            pytest.fail('the tests need a C++ compiler, as does building chainerx')
        command = [compiler, '-std=c++20', '-O1', '-fPIC', '-shared', '-fvisibility=hidden']
        command += ['-o', str(library), '-x', 'c++', '-', *options]
        subprocess.run(command, input=source.encode(), check=True)

    return build


@pytest.fixture(scope='session')
def build_backend(build_library, tmp_path_factory):
    """Builds a backend of tests/cpp, by default toy_backend.cc, under a chosen name.

    It computes on host memory. An edit is a pair of a text of the source and its replacement. The
    library is in a folder that CHAINERX_PATH may name; equal arguments return the same library.
    """
    import chainerx

    @functools.cache
    def build(name, file='toy_backend.cc', edit=('', '')):
        library = tmp_path_factory.mktemp('chainerx_path') / 'backends' / f'{name}.so'
        library.parent.mkdir()
        source = (ROOT / 'tests' / 'cpp' / file).read_text()
        lib = pathlib.Path(chainerx.__file__).parent / 'lib'
        assert edit[0] in source
        source = source.replace('"toy"', f'"{name}"').replace(*edit)
        build_library(library, source, f'-I{ROOT / "cpp"}', f'-L{lib}', '-lchainerx')
        return library

    return build


@pytest.fixture(scope='session')
def async_toy(build_backend):
    """The name of the devices whose kernels run later, on memory that the host can't access.

    They exist in the default context from now on.
    """
    import chainerx

    library = build_backend('async_toy', 'async_backend.cc')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('CHAINERX_PATH', str(library.parent.parent))
        chainerx.get_device('async_toy:0')  # a library stays loaded
    return 'async_toy'
