"""Options and fixtures of the chainerx tests."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))  # for `cases`, whatever the import mode


def pytest_addoption(parser):
    parser.addoption(
        '--whole-table',
        action='store_true',
        help='run a third of the other rows of the op table, too, under each lower instruction set',
    )
    parser.addoption('--fuzz-seed', type=int, help='of the calls of test_fuzz.py')


def pytest_generate_tests(metafunc):
    if 'device' in metafunc.fixturenames:
        # Not parsed yet when this file is found only during collection.
        names = metafunc.config.getoption('--device', default=None) or ['native:0']
        metafunc.parametrize('device', names, indirect=True)


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
