"""The backend "cuda" on the driver for tests, in processes of their own."""

import json
import os
import subprocess
import sys

import pytest

CHECK = """
from chainerx.cuda import _check
checks = _check.Checks('cuda:0', {every})
_check.{function}(checks)
assert checks.passed
assert not checks.failed, checks.failed
assert not checks.missing, checks.missing
print(checks.passed + checks.left_out)
"""


@pytest.mark.parametrize(
    ('function', 'passed'),
    [
        ('check_elementwise', 150),
        ('check_complex', 128),
        ('check_layouts', 6),
        ('check_scatter', 14),
        ('check_reductions', 180),
        ('check_gradients', 1),
        ('check_streams', 5),
        ('check_products', 30),
        ('check_convolutions', 31),
        ('check_fourier', 20),
        ('check_linalg', 76),
        ('check_layers', 39),
        ('check_softmax', 37),
        ('check_norm', 45),
        ('check_scan', 32),
        ('check_sort', 70),
        ('check_random', 16),
        ('check_optim', 18),
    ],
)
def test_results_are_those_of_native(run, request, function, passed):
    is_sample = function != 'check_elementwise' and passed > 20 and not request.config.option.full
    every = 1 if not is_sample else 6 if passed > 40 else 3
    assert int(run(CHECK.format(function=function, every=every))) >= passed


@pytest.mark.parametrize('order', ['reverse', 'random:7'])
def test_accesses_are_right_and_orders_make_no_difference(run, order):
    for function in ('check_layouts', 'check_gradients', 'check_products', 'check_streams'):
        run(CHECK.format(function=function, every=3), ORDER=order, CHECKED=1)


def test_config_says_what_is_taken(run, driver):
    program = 'import json, chainerx; print(json.dumps(chainerx.cuda.describe()))'
    found = json.loads(run(program, DEVICES=3))
    assert found['driver']['version'] == '13.0'
    assert found['driver']['path'] == str(driver / 'libcuda.so.1')
    assert [device['name'] for device in found['driver']['devices']] == ['test driver (CPU)'] * 3
    assert found['nvrtc']['version'].startswith('13.')
    assert found['test_driver'] == str(driver)


def test_show_config_names_the_test_driver(run):
    text = run('import chainerx; chainerx.show_config()')
    assert 'the test driver in ' in text
    for line in ('CUDA driver: ', 'NVRTC: ', 'cuda:0: '):
        assert any(found.startswith(line) for found in text.splitlines()), text
    assert 'test driver' in run('from chainer import _command; _command.main(["info"])')


ERRORS = [
    # What is there; the program; a part of the message.
    (
        {'DEVICES': 0},
        "chainerx.ones(3, device='cuda:0')",
        'CUDA_ERROR_NO_DEVICE; no GPU is visible: see nvidia-smi',
    ),
    (
        {'DEVICES': 0, 'environment': {'CUDA_VISIBLE_DEVICES': '7'}},
        "chainerx.ones(3, device='cuda:0')",
        "CUDA_ERROR_NO_DEVICE; the variable CUDA_VISIBLE_DEVICES is '7', and GPUs that it does not",
    ),
    (
        {'FAIL': 'cuInit:1:800'},
        "chainerx.ones(3, device='cuda:0')",
        'CUDA_ERROR_NOT_PERMITTED; this process may not use the GPU: see the permissions of /dev/n',
    ),
    (
        {'FAIL': 'cuInit:1:803'},
        "chainerx.ones(3, device='cuda:0')",
        'the kernel module of another driver is loaded: restart the machine',
    ),
    (
        {'VERSION': 11080},
        "chainerx.ones(3, device='cuda:0')",
        'supports CUDA 11.8, but 12.0 is needed; install a driver of version 525 or later',
    ),
    (
        {'VERSION': 12040},  # while NVRTC is of CUDA 13
        "chainerx.ones(3, device='cuda:0') * 2",
        'but the driver supports CUDA 12.4 only; update the driver to 580 or later, or `pip inst',
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
    assert '/nowhere/libcuda.so.1: no such file' in text
    assert '/nowhere/libnvrtc.so.13: no such file' in text


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


def test_a_kernel_that_does_not_compile_is_shown(run):
    program = """
from chainerx import cuda
text = '\\n'.join(['// one', '// two', 'int f() { return undeclared_name; }'])
print(cuda._plugin().ChainerxCudaCompile(b'Broken', text.encode(), 90).decode())
"""
    message = run(program)
    assert 'the kernel Broken does not compile' in message
    assert '\nLog:\n' in message
    assert 'undeclared_name' in message.split('\nSource:\n')[0]
    assert '3:' in message.split('\nSource:\n')[0]  # the line
    assert '// two\nint f()' in message.split('\nSource:\n')[1]


ATOMIC = """
import numpy as np, chainerx as chx
random = np.random.default_rng(0)
indices, values = random.integers(0, 7, 5000), random.normal(size=(5000, 3))
def add(device, dtype):
    y = chx.zeros((7, 3), dtype, device=device)
    chx.add_at(y, *(chx.array(x, device=device) for x in (indices, values.astype(dtype))))
    return chx.to_numpy(y)
with chx.profile() as profile:
    for dtype in ('float32', 'float64', 'int64'):
        np.testing.assert_allclose(add('cuda:0', dtype), add('native:0', dtype), 1e-4)
print(profile)
try:
    with chx.testing.force_algorithm('scatter', 'atomic'):
        add('cuda:0', 'int64')
except ValueError as error:
    print(error)
"""


def test_sums_of_scattered_values_may_be_atomic(run):
    text = run(ATOMIC, environment={'CHAINERX_SCATTER': 'atomic'})
    assert 'AddAt[atomic]' in text
    assert 'AddAt[ordered]' in text  # of integers
    assert "can't add numbers of dtype int64" in text
    assert 'atomic]' not in run(ATOMIC)


FIRST_STEP = """
import json, chainer, chainerx as chx
from chainer import functions as F, links as L
model = L.Classifier(chainer.Sequential(L.Linear(64, 20), F.relu, L.Linear(20, 10)))
model.to_device('cuda:0')
optimizer = chainer.optimizers.Adam().setup(model)
x = chx.ones((32, 64), 'float32', device='cuda:0')
optimizer.update(model, x, chx.zeros(32, 'int32', device='cuda:0'))
print(len(json.loads(chx.cuda._plugin().ChainerxCudaSources())))
"""


def test_a_first_step_of_training_compiles_few_kernels(run):
    assert int(run(FIRST_STEP)) <= 17


def test_lists_of_kernels_are_compiled_ahead(driver, tmp_path):
    program = tmp_path / 'program.py'
    program.write_text(
        'import sys, chainerx\n'
        "print(chainerx.to_numpy(chainerx.ones(3, device='cuda:0') * 2), sys.argv[1:])\n"
    )

    def run(*arguments, **variables):
        names = {'CHAINERX_CUDA_TEST_DRIVER': driver, 'CHAINERX_CACHE_DIR': tmp_path / 'cache'}
        done = subprocess.run(
            [sys.executable, '-m', 'chainerx.cuda', *arguments],
            env=os.environ | {k: str(v) for k, v in (names | variables).items()},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout if done.returncode == 0 else done.stderr

    def count():
        return sum(path.is_file() for path in (tmp_path / 'cache').rglob('*'))

    made = tmp_path / 'kernels.json'
    assert run('record', '--output', made, program, '-x', '1') == "[2. 2. 2.] ['-x', '1']\n"
    assert count() == 2  # Fill and Multiply
    assert len(json.loads(made.read_text())['kernels']) == 2
    path = os.pathsep.join([str(tmp_path), os.environ.get('PYTHONPATH', '')])
    again = tmp_path / 'again.json'
    printed = run('record', '--output', again, '-m', 'program', '-x', PYTHONPATH=path)
    assert printed == "[2. 2. 2.] ['-x']\n"
    assert again.read_text() == made.read_text()
    # There need not be a GPU.
    text = run('compile', made, '--arch', '8.0', '12.0', CHAINERX_CUDA_TEST_DEVICES=0)
    assert text.startswith('2 kernels for 2 architectures are in ')
    assert count() == 6
    assert '2 kernels for 1 architectures' in run('compile', made)
    assert count() == 6
    for arguments, variables, message in [
        ((made,), {'CHAINERX_CUDA_TEST_DEVICES': 0}, 'there is no GPU here; say for which'),
        ((made, '--arch', 'sm_90'), {}, 'sm_90 is no compute capability, expected one such as 9.0'),
        ((program,), {}, 'program.py is no list of kernels'),
    ]:
        assert message in run('compile', *arguments, **variables)


PROFILE = """
import json
import chainerx as chx

x = chx.ones(300000, 'float32', device='cuda:0')
side = chx.cuda.Stream()
with chx.profile(trace=True) as profile:
    y = chx.exp(x)
    with side:
        side.wait_stream(chx.cuda.Stream.from_ptr(chx.cuda.current_stream().ptr))
        z = chx.sum(x * 2)
rows = {row.name: row for row in profile.rows}
assert {'Exp', 'Multiply', 'Sum'} <= {*rows}, rows
assert all(row.device == 'cuda:0' and row.calls == 1 and row.total > 0 for row in rows.values())
# Through the test driver, kernels take far longer than launches; the times are those of kernels.
assert rows['Exp'].total > 1e-3, rows['Exp']
profile.export_trace('FILE')
events = json.load(open('FILE'))['traceEvents']
lanes = {e['tid']: e['args']['name'] for e in events if e.get('name') == 'thread_name'}
assert {'cuda:0, stream 1', 'cuda:0, stream 2'} <= {*lanes.values()}
where = {(e['name'], lanes.get(e['tid'], '')) for e in events if e['ph'] == 'X'}
assert {('Exp', 'cuda:0, stream 1'), ('Sum', 'cuda:0, stream 2'), ('Exp', 'MainThread')} <= where
begins = {e['name']: e['ts'] for e in events if e['ph'] == 'X' and e['tid'] >> 30}
launches = {e['name']: e['ts'] for e in events if e['ph'] == 'X' and not e['tid'] >> 30}
assert all(begins[name] > launches[name] - 1000 for name in begins)
profile.reset()
with chx.profile(synchronize=True) as profile:
    chx.exp(x)
assert profile.rows[0].total > 1e-3
print('done')
"""

TRACING = """
import pytest
import chainerx as chx
from chainerx import testing

x = chx.array([1.0, -1.0], 'float32', device='cuda:0')
with testing.check_kernels():
    y = chx.sqrt(chx.abs(x)) + x[::-1]
    chx.sum(y.reshape(1, 2), axis=1)
assert chx.to_numpy(y).tolist() == [0, 2]

import chainer
import chainer.functions as F

v = chainer.Variable(x)
with chainer.using_config('debug', True), pytest.raises(RuntimeError, match='NaN'):
    F.log(v)
assert F.log(v).array.device.name == 'cuda:0'
with testing.check_kernels(), pytest.raises(chx.DeviceError, match='different devices'):
    x + chx.ones(2, 'float32', device='cuda:1')
print('done')
"""


def test_debug_mode_and_checks_of_kernels(run):
    assert run(TRACING) == 'done\n'


def test_profiles_have_times_of_the_device(run, tmp_path):
    assert run(PROFILE.replace('FILE', str(tmp_path / 'trace.json'))) == 'done\n'
