"""The tables of algorithms: names, what forces one, and errors. Each room tests its own table."""

import os
import subprocess
import sys

import chainerx as chx
import pytest
from chainerx import testing

TABLES = chx._core.kernels.algorithms()
#: For each table a call, an algorithm that it does not take by itself, and the name of its kernel.
CALLS = {
    'reduce': ('x.sum(axis=2)', 'rows', 'Sum'),
    'sort': ('chx.sort(chx.ones((100, 9), "float32"))', 'quicksort', 'Sort'),
    'conv': ('chx.conv(x[None], chx.ones((9, 1, 3, 3), "float32"))', 'direct', 'Conv'),
    'matmul': ('x[0] @ x[0]', 'plain', 'Matmul'),
}
PRELUDE = 'import chainerx as chx\nx = chx.ones((1, 5, 5), "float32")\n'


def run(kernel, value, body):
    done = subprocess.run(
        [sys.executable, '-c', PRELUDE + body],
        env=os.environ | {f'CHAINERX_{kernel.upper()}': value},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def test_each_table_is_tested():
    # Those of a plug-in are there once it is loaded; tests/cuda has its tests.
    plugin = {'cuda_all_reduce', 'cuda_conv', 'cuda_product', 'scatter'}
    # Chains of captured steps: capture/test_fusion.py.
    assert set(TABLES) - plugin - {'fuse'} == set(CALLS)


@pytest.mark.parametrize('kernel', CALLS)
def test_unknown_names(kernel):
    known = ', '.join(TABLES[kernel])
    with (
        pytest.raises(ValueError, match=f"{kernel} has no algorithm 'x', expected one of: {known}"),
        testing.force_algorithm(kernel, 'x'),
    ):
        pass
    call = CALLS[kernel][0]
    text = run(kernel, 'nonsense', f'print(chx.exp(x).shape)\n{call}')
    assert '(1, 5, 5)' in text
    assert 'ValueError: ' in text
    assert f"CHAINERX_{kernel.upper()} is 'nonsense', expected one of: {known}" in text


def test_unknown_tables():
    with (
        pytest.raises(ValueError, match="'exp' has no table of algorithms, expected one of: ") as e,
        testing.force_algorithm('exp', 'direct'),
    ):
        pass
    # A plug-in may have been loaded since, and has tables of its own.
    assert set(str(e.value).split(': ')[-1].split(', ')) == set(chx._core.kernels.algorithms())


@pytest.mark.parametrize('kernel', CALLS)
def test_environment(kernel):
    call, algorithm, name = CALLS[kernel]
    body = f'with chx.profile() as p:\n    {call}\nprint(*(r.name for r in p.rows))'
    forced = f'{name}[{algorithm}]'
    assert forced in run(kernel, algorithm, body)
    assert forced not in run(kernel, '', body)
