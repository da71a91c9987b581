"""The backend "cuda" on the driver for tests, in processes of their own."""

import json
import os
import subprocess
import sys

import pytest

CHECK = """
from chainerx.cuda import _check
checks = _check.Checks('cuda:0')
_check.{function}(checks)
assert not checks.failed, checks.failed
assert not checks.missing, checks.missing
print(checks.passed)
"""


@pytest.mark.parametrize(
    ('function', 'passed'),
    [
        ('check_elementwise', 150),
        ('check_layouts', 6),
        ('check_reductions', 180),
        ('check_gradients', 1),
        ('check_products', 8),
        ('check_layers', 29),
    ],
)
def test_results_are_those_of_native(run, function, passed):
    assert int(run(CHECK.format(function=function))) >= passed


@pytest.mark.parametrize('order', ['reverse', 'random:7'])
def test_accesses_are_right_and_orders_make_no_difference(run, order):
    for function in ('check_layouts', 'check_gradients', 'check_products'):
        run(CHECK.format(function=function), ORDER=order, CHECKED=1)


def test_config_says_what_is_taken(run):
    program = 'import json, chainerx; print(json.dumps(chainerx.cuda.describe()))'
    found = json.loads(run(program, DEVICES=3))
    assert found['driver']['version'] == '13.0'
    assert found['driver']['path'].endswith('driver/libcuda.so.1')
    assert [device['name'] for device in found['driver']['devices']] == ['test driver (CPU)'] * 3
    assert found['nvrtc']['version'].startswith('13.')
    assert found['test_driver'].endswith('/driver')


def test_show_config_names_the_test_driver(run):
    text = run('import chainerx; chainerx.show_config()')
    assert 'the test driver in ' in text
    for line in ('CUDA driver: ', 'NVRTC: ', 'cuda:0: '):
        assert any(found.startswith(line) for found in text.splitlines()), text
    assert 'test driver' in run('from chainer import _command; _command.main(["info"])')


ERRORS = [
    # What is there; the program; the end of the message.
    (
        {'DEVICES': 0},
        "chainerx.ones(3, device='cuda:0')",
        'CUDA_ERROR_NO_DEVICE; no GPU is visible',
    ),
    ({}, "chainerx.ones(3, device='cuda:2')", 'device index 2 is out of range'),
    (
        {},
        "chainerx.ones(3, device='cuda:0') + chainerx.ones(3, device='cuda:1')",
        'add: operands are on different devices, cuda:0 and cuda:1',
    ),
    ({'MEMORY': 64 << 20}, "chainerx.ones(10**8, device='cuda:0')", 'cuda:0: out of memory: 4000'),
    (
        {},
        "x = chainerx.ones(3, device='cuda:0')\n"
        'import os\n'
        'pid = os.fork()\n'
        "if pid == 0:\n    chainerx.ones(3, device='cuda:0')\n"
        'os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) if pid else 0)',
        'this process was forked from one that had used CUDA',
    ),
    (
        {},
        "i = chainerx.array([0, 7], device='cuda:0')\n"
        "chainerx.to_numpy(chainerx.ones(3, device='cuda:0').take(i, axis=0))",
        'IndexError',
    ),
    (
        {},
        'from chainerx import _core\n'
        "x = chainerx.zeros((5, 1, 4), device='cuda:0')\n"
        'def loss(t, steps):\n'
        "    rows = [chainerx.array(a, device='cuda:0') for a in ([t], [steps], [2])]\n"
        '    return _core._connectionist_temporal_classification(x, *rows, 0)\n'
        'try:\n    float(loss([1, 7], 5)[0])\nexcept IndexError as error:\n'
        "    assert 'x2[1] is 7' in str(error)\n"
        'float(loss([1, 1], 2)[0])',
        't[0] needs 3 steps, but input_length[0] is 2',
    ),
]


@pytest.mark.parametrize(('variables', 'program', 'message'), ERRORS)
def test_errors_say_what_is_wrong(run, variables, program, message):
    assert message in run(f'import chainerx\n{program}', check=False, **variables)


def test_without_a_driver_the_error_says_where_it_was_looked_for():
    environment = {k: v for k, v in os.environ.items() if not k.startswith('CHAINERX_CUDA')}
    environment['CHAINERX_CUDA_TEST_DRIVER'] = '/nowhere'
    program = "import chainerx; chainerx.ones(3, device='cuda:0')"
    done = subprocess.run(
        [sys.executable, '-c', program], env=environment, capture_output=True, text=True
    )
    assert 'no driver of NVIDIA was found' in done.stderr
    assert '/nowhere/libcuda.so.1: no such file' in done.stderr
    program = 'import chainerx; chainerx.show_config()'
    text = subprocess.run(
        [sys.executable, '-c', program], env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert 'CUDA driver:      no driver of NVIDIA was found' in text
    assert text.count('/nowhere/libcuda.so.1: no such file') == 2  # for NVRTC, too


def test_kernels_are_kept_on_disk(run, tmp_path):
    program = (
        'import os, pathlib, chainerx\n'
        f"os.environ['CHAINERX_CACHE_DIR'] = {str(tmp_path)!r}\n"
        "print(chainerx.to_numpy(chainerx.ones(3, device='cuda:0') * 2))\n"
    )
    expected = '[2. 2. 2.]\n'
    assert run(program) == expected
    files = sorted(path for path in tmp_path.rglob('*') if path.is_file())
    assert len(files) == 2  # Fill and Multiply
    files[0].write_bytes(b'damaged')
    assert run(program) == expected
    assert files[0].stat().st_size > 100  # compiled anew
    assert sorted(path for path in tmp_path.rglob('*') if path.is_file()) == files


def test_an_unwritable_cache_is_none(run):
    program = (
        'import os, chainerx\n'
        "os.environ['CHAINERX_CACHE_DIR'] = '/proc/nothing'\n"
        "print(chainerx.to_numpy(chainerx.ones(3, device='cuda:0') * 2))"
    )
    assert run(program) == '[2. 2. 2.]\n'
