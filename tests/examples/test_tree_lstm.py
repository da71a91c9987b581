"""examples/tree_lstm.py as a user runs it."""

import ast
import pathlib
import re
import runpy
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).parents[2] / 'examples' / 'tree_lstm.py'


@pytest.mark.score
@pytest.mark.parametrize('device', ['@numpy', 'native:0'])
def test_reaches_its_score_and_draws(device, tmp_path):
    pytest.importorskip('matplotlib')
    command = [sys.executable, str(SCRIPT), '--device', device, '--epochs', '3']
    command += ['--out', str(tmp_path / 'out')]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    score = re.search(r'Score: ([\d.]+) of (\d+) unseen functions', done.stdout)
    assert float(score[1]) > 0.95
    assert int(score[2]) > 100
    assert (tmp_path / 'out' / 'tree_lstm.png').read_bytes().startswith(b'\x89PNG')


@pytest.mark.parametrize(
    ('body', 'expected'),
    [
        ('return x', True),
        ('return', False),
        ('if x:\n  return 1', True),
        ('def g():\n  return 1', False),
        ('f = lambda: 1', False),
    ],
)
def test_labels(body, expected, monkeypatch):
    monkeypatch.syspath_prepend(SCRIPT.parent)
    program = runpy.run_path(str(SCRIPT))
    source = 'def f(x):\n' + '\n'.join(f' {line}' for line in body.splitlines())
    (function,) = ast.parse(source).body
    assert program['returns_value'](function) is expected
