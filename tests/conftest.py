"""Fixtures for all tests."""

import collections
import fcntl
import functools
import gc
import multiprocessing
import os
import pathlib
import re
import shutil
import signal
import subprocess
import zlib

import pytest

ROOT = pathlib.Path(__file__).parents[1]

# Background jobs of a shell ignore Ctrl-C, which some tests send.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Where processes are forks of a server, as by default since Python 3.14, each would import this.
multiprocessing.set_forkserver_preload(['chainer'])


SAMPLES = range(3)
PROGRAMS = 'tests/cpp/', 'tests/examples/', 'tests/project/'
#: Of a table with at least this many rows, sample 0 has a sixth, not a third.
LARGE_TABLE = 1000


def pytest_addoption(parser):
    parser.addoption(
        '--device',
        action='append',
        default=None,
        help='chainerx device to test, may be repeated (default: native:0)',
    )
    parser.addoption(
        '--skip-missing-kernels',
        action='store_true',
        help='for a backend that has not all kernels yet: skip what needs others, and name them',
    )
    parser.addoption(
        '--sample',
        action='append',
        type=int,
        choices=SAMPLES,
        help='run a third of the rows of each parametrized test; all other tests belong to '
        'sample 0, which is the default of a run that names no tests; may be repeated',
    )
    parser.addoption(
        '--every',
        type=int,
        default=1,
        help='of what is chosen, run one test of so many, by a hash of its name: for devices on '
        'which each takes long',
    )
    parser.addoption(
        '--turn',
        type=int,
        default=0,
        help='with --every, which part of the tests: any number, of which the remainder counts',
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


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is collected stays, so looking for garbage meanwhile only takes a fourth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def samples_of(items):
    """The sample of each item.

    A row's place is the sum of the positions of its values, each in the list that gives it. Two
    rows that differ in one parameter by one position are in different samples; so the samples
    together have each row once, and each has some rows of each op, of each dtype, of each layout.
    Places are counted from another row in each test, or sample 0 would test pairs, such as NumPy
    and chainerx, with the first alone.
    """
    tests = [item.nodeid.partition('[')[0] for item in items]
    rows = collections.Counter(tests)
    positions = collections.defaultdict(dict)  # of the values of one list, by their names
    for item, test in zip(items, tests, strict=True):
        if rows[test] == 1:
            yield 0
            continue
        place = -(zlib.crc32(test.encode()) % min(rows[test], len(SAMPLES)))
        for number, value in enumerate(item.callspec._idlist):
            known = positions[test, number]
            place += known.setdefault(value, len(known))
        if rows[test] < LARGE_TABLE:
            yield place % len(SAMPLES)
        else:
            yield 1 + place % 2 if place % 6 else 0


def is_slow(item):
    """Whether a test takes seconds: it runs a program, a compiler or valgrind."""
    return item.nodeid.startswith(PROGRAMS) or item.get_closest_marker('slow') is not None


@pytest.hookimpl(tryfirst=True)  # others need not look at what is deselected
def pytest_collection_modifyitems(config, items):
    chosen, others = [], []
    for item, sample in zip(items, samples_of(items), strict=True):
        is_chosen = sample in config.option.sample and not (
            (zlib.crc32(item.nodeid.encode()) - config.option.turn) % config.option.every
        )
        (chosen if is_chosen else others).append(item)
    # A slow test that starts last keeps one process busy while the others wait. Those that share
    # a build come first, before `--dist worksteal` takes some of them to another process.
    items[:] = sorted(
        chosen, key=lambda item: (not item.nodeid.startswith(PROGRAMS[0]), not is_slow(item))
    )
    if others:
        config.hook.pytest_deselected(items=others)


MISSING_KERNEL = re.compile(
    r'kernel (\w+) is not there on backend|there are no kernels for (\w+) yet'
)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    skips = item.config.getoption('--skip-missing-kernels', default=False)
    match = MISSING_KERNEL.search(str(call.excinfo.value)) if report.failed and skips else None
    if match:
        report.outcome = 'skipped'
        report.longrepr = (str(item.path), 0, f'no kernel for {match[1] or match[2]}')
    return report


@pytest.fixture(scope='module', autouse=True)
def small_heap():
    """Makes garbage collections visit the objects of a module's tests, not all older ones."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def same_random_numbers():
    """Each test draws the same random numbers, independent of other tests and processes."""
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
def make_once(tmp_path_factory):
    """Makes a folder once for all processes of pytest-xdist; others wait for it."""
    base = tmp_path_factory.getbasetemp()
    if os.environ.get('PYTEST_XDIST_WORKER'):
        base = base.parent

    def make_once(name, make):
        folder = base / name
        with open(base / f'{name}.lock', 'w') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.exists():
                unfinished = tmp_path_factory.mktemp(name)
                make(unfinished)
                unfinished.rename(folder)
        return folder

    return make_once


@pytest.fixture(scope='session')
def build_backend(build_library, make_once):
    """Builds a backend of tests/cpp, by default toy_backend.cc, under a chosen name.

    It computes on host memory. An edit is a pair of a text of the source and its replacement. The
    library is in a folder that CHAINERX_PATH may name; equal arguments return the same library.
    """
    import chainerx

    @functools.cache
    def build(name, file='toy_backend.cc', edit=('', '')):
        source = (ROOT / 'tests' / 'cpp' / file).read_text()
        lib = pathlib.Path(chainerx.__file__).parent / 'lib'
        assert edit[0] in source
        source = source.replace('"toy"', f'"{name}"').replace(*edit)

        def compile_to(folder):
            (folder / 'backends').mkdir()
            library = folder / 'backends' / f'{name}.so'
            build_library(library, source, f'-I{ROOT / "cpp"}', f'-L{lib}', '-lchainerx')

        folder = make_once(f'{name}-{zlib.crc32(source.encode()):08x}', compile_to)
        return folder / 'backends' / f'{name}.so'

    return build


@pytest.fixture(scope='session')
def async_toy(build_backend):
    """The backend whose kernels run later, on memory that the host can't access.

    It exists in the default context from now on.
    """
    import chainerx

    library = build_backend('async_toy', 'async_backend.cc')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv('CHAINERX_PATH', str(library.parent.parent))
        chainerx.get_device('async_toy:0')  # a library is never unloaded
    return 'async_toy'
