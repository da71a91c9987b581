"""``python -m chainerx.cuda check``: its parts, its processes, its table of figures."""

import json
import os
import subprocess
import sys
import time

import chainerx
import pytest
from chainerx.cuda import _check_worker, _figures, _figures_chains, _figures_steps
from chainerx.cuda._check_values import Checks

ALL = [*_figures.FIGURES, *_figures_chains.FIGURES_OF_CHAINS, *_figures_steps.STEPS]


def check(run, path, *arguments, **variables):
    """The report of a check on the driver for tests, and the exit status."""
    command = ['chainerx.cuda', 'check', '--json', str(path), *arguments]
    program = f"""
import runpy, sys
sys.argv = {command!r}
try:
    runpy.run_module('chainerx.cuda', run_name='__main__', alter_sys=True)
except SystemExit as end:
    print('status', end.code)
"""
    printed = run(program, **variables)
    return json.loads(path.read_text()), printed


def test_a_few_parts(run, tmp_path):
    report, printed = check(
        run, tmp_path / 'report', '--quick', '--only', 'memory*', 'layouts', 'a + b of*'
    )
    assert report['failed'] == []
    assert report['passed'] == 11
    assert 'AddAt' in report['kernels']['not called']
    assert 'Exp' not in report['kernels']['not called']
    assert report['figures'] == {}
    assert 'layouts: 6 passed' in printed
    assert '1 of 1 figures can be measured' in printed
    assert 'status 0' in printed


def test_captured_steps(run, tmp_path):
    report, printed = check(run, tmp_path / 'report', '--quick', '--only', 'captured*')
    assert report['failed'] == []
    assert report['passed'] == 5
    assert '5 of 5 figures can be measured' in printed


def test_fused_chains(run, tmp_path):
    report, printed = check(
        run, tmp_path / 'report', '--quick', '--only', 'fused*', 'chain*10^4, fused*'
    )
    assert report['failed'] == []
    assert report['passed'] == 12
    assert '4 of 4 figures can be measured' in printed


def test_figures(run, tmp_path):
    report, printed = check(run, tmp_path / 'report', '--only', '(a + b)*')
    assert report['failed'] == []
    figure = report['figures']['(a + b).sum().item()']
    assert figure['PyTorch'] == pytest.approx(35.8e-6)
    assert figure['source'] == _figures.SOURCE
    assert figure['bar'] == 0.4
    assert figure['unit'] == 'seconds'
    assert figure['ratio'] == pytest.approx(figure['ours'] / 35.8e-6, 1e-2)
    assert figure['is met'] == (figure['ours'] <= 0.4 * 35.8e-6)
    line = next(one for one in printed.splitlines() if one.startswith('(a + b)'))
    assert '35.8 us*' in line


def test_a_gpu_that_fails_is_reported_part_by_part(run, tmp_path):
    report, printed = check(
        run,
        tmp_path / 'report',
        *('--quick', '--only', 'layouts', 'scan', 'a + b of*'),
        FAIL='cuLaunchKernelEx:2+:700,cuCtxSynchronize:1+:700',
    )
    assert [one.split(':')[0] for one in report['failed']] == ['layouts', 'scan', 'a + b of (2, 3)']
    assert 'ILLEGAL_ADDRESS' in report['failed'][0]
    assert 'status 1' in printed


WORK = """
import os, time

def work(name, device):
    if name == 'dies':
        os._exit(3)
    if name == 'hangs':
        time.sleep(1000)
    if name == 'raises':
        raise ValueError('two\\nlines')
    return {'process': os.getpid()}
"""


def test_parts_that_end_their_process(tmp_path):
    (tmp_path / 'parts_of_check.py').write_text(WORK)
    program = """
import json
from chainerx.cuda._check_worker import run_parts
from parts_of_check import work
if __name__ == '__main__':
    names = ['a', 'raises', 'b', 'dies', 'c', 'hangs', 'd']
    print(json.dumps(list(run_parts(work, names, 'native:0', 5.0))))
"""
    path = tmp_path / 'program.py'
    path.write_text(program)
    done = subprocess.run(
        [sys.executable, path], env=os.environ, capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    assert [name for name, _ in found] == ['a', 'raises', 'b', 'dies', 'c', 'hangs', 'd']
    results = dict(found)
    assert results['raises'] == {'error': 'ValueError: two'}
    assert results['dies'] == {'error': 'it ended with 3'}
    assert results['hangs'] == {'error': 'no result in 5 s'}
    processes = [results[name]['process'] for name in 'abcd']
    assert processes[0] == processes[1]
    assert len(set(processes)) == 3


def test_an_unusable_device_ends_a_process():
    def fail(name, device):
        raise OSError

    report, can_go_on = _check_worker.run_part(fail, 'x', 'native:0')
    assert (report, can_go_on) == ({'error': 'OSError: '}, True)
    assert not _check_worker.is_usable('absent:0')


def test_comparisons_go_on_after_an_error():
    checks = Checks('native:0')

    def only_once(x, seen=[]):  # noqa: B006 - counts
        seen.append(x)
        if len(seen) == 2:
            raise TypeError('the second')
        return x

    x = chainerx.to_numpy(chainerx.ones(3))
    checks.compare('fails', only_once, x)
    checks.compare('differs', lambda a, n=[]: n.append(1) or a * len(n), x)
    checks.compare('passes', lambda a: a + 1, x)
    checks.expect('raises', lambda: 1 / 0)
    checks.expect('is right', lambda: '')
    assert checks.passed == 2
    assert [one.split(':')[0] for one in checks.failed] == ['fails', 'differs', 'raises']


def test_names_of_figures_differ():
    assert len({one.name for one in ALL}) == len(ALL)


@pytest.mark.parametrize(
    'figure', [f for f in ALL if 'copy of' not in f.name], ids=lambda f: f.name
)
def test_work_of_figures(figure):
    setting = _figures.Setting('native:0', small=True)
    assert _figures.run_once(figure, setting) == {}


def test_measurement():
    torch = type('torch', (), {'__version__': 'X'})
    slow = _figures.Figure(
        'x', 1.0, 0.5, lambda s: lambda: time.sleep(2e-3), lambda s: lambda: time.sleep(1e-2)
    )
    found = _figures.measure(slow, _figures.Setting('native:0', torch))
    assert found['source'] == 'PyTorch X'
    assert found['ours'] >= 2e-3
    assert found['PyTorch'] >= 1e-2

    def broken(s):
        raise RuntimeError('no\nmemory')

    figure = _figures.Figure('x', 1e-9, 0.5, slow.ours, broken)
    found = _figures.measure(figure, _figures.Setting('native:0', torch))
    assert found['error of PyTorch'] == 'RuntimeError: no'
    assert found['source'] == _figures.SOURCE
    assert found['is met'] is False
    unknown = _figures.Figure('x', None, None, slow.ours, broken)
    found = _figures.measure(unknown, _figures.Setting('native:0'))
    assert (found['PyTorch'], found['ratio'], found['is met']) == (None, None, None)
    memory = _figures.Figure(
        'm', 2**22, 1.0, lambda s: lambda: chainerx.ones(2**20, 'float32'), broken, is_memory=True
    )
    found = _figures.measure(memory, _figures.Setting('native:0'))
    assert found['unit'] == 'bytes'
    assert found['ours'] >= 2**22
