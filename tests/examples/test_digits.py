"""examples/digits.py as a user runs it."""

import pathlib
import re
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).parents[2] / 'examples' / 'digits.py'

for name in ('sklearn', 'tqdm', 'matplotlib'):
    pytest.importorskip(name, reason='needs pip install ".[examples]"')


def run(*arguments):
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_reaches_its_accuracy_and_draws(tmp_path):
    done = run('--out', tmp_path / 'out')
    assert done.returncode == 0, done.stderr
    accuracy = re.search(r'Final test accuracy: ([\d.]+) on 360 digits', done.stdout)
    assert float(accuracy[1]) >= 0.97
    for picture in ('loss.png', 'confusion.png'):
        assert (tmp_path / 'out' / picture).read_bytes().startswith(b'\x89PNG')
    assert 'loss' in done.stderr
    assert 'samples/s' in done.stderr


def test_same_seed_same_result(tmp_path):
    def losses(seed):
        done = run('--seed', seed, '--epochs', 3, '--no-plots')
        # The final progress bar; its speed differs between runs.
        return done.stdout, re.findall(r'loss [\d.]+, accuracy [\d.]+', done.stderr)[-1]

    first = losses(3)
    assert losses(3) == first
    assert losses(4) != first


def test_too_little_training_is_an_error(tmp_path):
    done = run('--epochs', 1, '--batch-size', 1437, '--no-plots')
    assert done.returncode == 1
    assert re.search(r'test accuracy is 0\.\d+, below the 0\.97', done.stderr)


@pytest.mark.parametrize('arguments', [('--epochs', 0), ('--batch-size', -1)])
def test_bad_options(arguments):
    done = run(*arguments)
    assert done.returncode == 2
    assert 'at least 1' in done.stderr
