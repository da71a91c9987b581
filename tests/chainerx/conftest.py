"""Options and fixtures of the chainerx tests."""

import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # for `cases`, whatever the import mode


def pytest_addoption(parser):
    parser.addoption(
        '--whole-table',
        action='store_true',
        help='run a third of the other rows of the op table, too, under each lower instruction set',
    )
    parser.addoption(
        '--skip-missing-kernels',
        action='store_true',
        help='for a backend that has not all kernels yet: skip what needs others, and name them',
    )
    parser.addoption('--fuzz-seed', type=int, help='of the calls of test_fuzz.py')


def pytest_generate_tests(metafunc):
    if 'device' in metafunc.fixturenames:
        # Not parsed yet when this file is found only during collection.
        names = metafunc.config.getoption('--device', default=None) or ['native:0']
        metafunc.parametrize('device', names, indirect=True)


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


@pytest.fixture(autouse=True)
def same_threads_afterwards():
    """A test may set the number of threads; the next one starts with the original number."""
    import chainerx

    before = chainerx.get_num_threads()
    yield
    if chainerx.get_num_threads() != before:
        chainerx.set_num_threads(before)


@pytest.fixture
def device(request):
    """The device under test, made the default device."""
    import chainerx

    if request.param.startswith('async_toy'):
        request.getfixturevalue('async_toy')
    with chainerx.using_device(request.param):
        yield chainerx.get_default_device()
