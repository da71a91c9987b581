"""examples/finetune_onnx.py as a user runs it."""

import pathlib
import re
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).parents[2] / 'examples' / 'finetune_onnx.py'

for name in ('sklearn', 'tqdm', 'matplotlib', 'onnx.helper'):
    pytest.importorskip(name, reason='needs pip install ".[examples,onnx]"')


@pytest.mark.score
@pytest.mark.parametrize('device', ['@numpy', 'native:0'])
def test_reaches_its_accuracy(device, tmp_path):
    command = [sys.executable, str(SCRIPT), '--device', device, '--out', str(tmp_path)]
    done = subprocess.run([*command, '--no-plots'], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    alone = re.search(r'with the last layer alone: ([\d.]+)', done.stdout)
    accuracy = re.search(r'Final test accuracy: ([\d.]+) on 360 digits', done.stdout)
    # Features of five digits serve the others, but not as well.
    assert 0.7 < float(alone[1]) < float(accuracy[1])
    assert float(accuracy[1]) >= 0.97
