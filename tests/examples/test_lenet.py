"""examples/lenet.py as a user runs it."""

import pathlib
import re
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).parents[2] / 'examples' / 'lenet.py'

for name in ('sklearn', 'tqdm', 'matplotlib'):
    pytest.importorskip(name, reason='needs pip install ".[examples]"')


@pytest.mark.score
@pytest.mark.parametrize('device', ['@numpy', 'native:0'])
def test_reaches_its_accuracy(device):
    command = [sys.executable, str(SCRIPT), '--device', device, '--no-plots']
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    accuracy = re.search(r'Final test accuracy: ([\d.]+) on 360 digits', done.stdout)
    assert float(accuracy[1]) >= 0.98
