"""examples/char_lm.py as a user runs it."""

import pathlib
import re
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).parents[2] / 'examples' / 'char_lm.py'


@pytest.mark.score
@pytest.mark.parametrize('device', ['@numpy', 'native:0'])
def test_reaches_its_score(device):
    command = [sys.executable, str(SCRIPT), '--device', device, '--no-plots']
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    score = re.search(r'Score: ([\d.]+) bits per character of unseen text', done.stdout)
    assert float(score[1]) < 2.7
    sample = done.stdout[: score.start()].split('bits per character\n')[-1]
    assert len(sample) > 200  # including the text that it continues
    assert len(set(sample)) > 10


def test_too_little_training_is_an_error_with_a_picture(tmp_path):
    pytest.importorskip('matplotlib')
    command = [sys.executable, str(SCRIPT), '--iterations', '2', '--units', '8']
    command += ['--out', str(tmp_path / 'out')]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert 'above the 2.7' in done.stderr
    assert (tmp_path / 'out' / 'char_lm.png').read_bytes().startswith(b'\x89PNG')
