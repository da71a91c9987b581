"""examples/transformer.py as a user runs it."""

import pathlib
import re
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).parents[2] / 'examples' / 'transformer.py'

for name in ('tqdm', 'matplotlib'):
    pytest.importorskip(name, reason='needs pip install ".[examples]"')


@pytest.mark.score
@pytest.mark.parametrize('device', ['@numpy', 'native:0'])
def test_beats_the_table_of_pairs(device, tmp_path):
    options = ['--device', device, '--out', str(tmp_path)]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    bits, pairs = re.search(
        r'bits per character: ([\d.]+), by pairs ([\d.]+)', done.stdout
    ).groups()
    assert 1 < float(bits) <= 0.85 * float(pairs)
    assert len(re.search(r'It writes: (.*)', done.stdout)[1]) > 160
    assert (tmp_path / 'transformer.png').stat().st_size > 1000


def test_refuses_too_little():
    command = [sys.executable, str(SCRIPT), '--no-plots', '--steps', '1', '--batch-size', '1']
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert 'bits are more than 0.85' in done.stderr


def test_help_and_options():
    run = [sys.executable, str(SCRIPT)]
    done = subprocess.run([*run, '--help'], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert '--steps' in done.stdout
    done = subprocess.run([*run, '--steps', '0'], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert 'at least 1' in done.stderr
