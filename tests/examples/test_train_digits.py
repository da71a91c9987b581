"""examples/train_digits.py as a user runs it, and killed halfway."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

SCRIPT = pathlib.Path(__file__).parents[2] / 'examples' / 'train_digits.py'

for name in ('sklearn', 'matplotlib'):
    pytest.importorskip(name, reason='needs pip install ".[examples]"')


def command(*arguments):
    return [sys.executable, str(SCRIPT), *map(str, arguments)]


def run(*arguments):
    return subprocess.run(command(*arguments), capture_output=True, text=True, check=False)


@pytest.mark.score
def test_reaches_its_accuracy(tmp_path):
    done = run('--out', tmp_path)
    assert done.returncode == 0, done.stderr
    accuracy = re.search(r'Final test accuracy: ([\d.]+) on 360 digits', done.stdout)
    assert float(accuracy[1]) >= 0.985
    assert re.search(r'^epoch {7}main/loss', done.stdout, re.MULTILINE)
    assert re.search(r'^epoch \d\.\d\d, iteration 100 \(\d', done.stdout, re.MULTILINE)
    assert (tmp_path / 'loss.png').read_bytes().startswith(b'\x89PNG')
    log = json.loads((tmp_path / 'log').read_text())
    assert [entry['epoch'] for entry in log] == list(range(1, 16))
    assert len(list(tmp_path.glob('snapshot_iter_*'))) == 2


@pytest.mark.score
def test_without_convolutions(tmp_path):
    done = run('--net', 'mlp', '--out', tmp_path)
    assert done.returncode == 0, done.stderr


def result_of(folder):
    newest = max(folder.glob('snapshot_iter_*'), key=lambda p: int(p.name.split('_')[-1]))
    with np.load(newest, allow_pickle=False) as found:
        arrays = {
            key: found[key].tobytes()
            for key in found.files
            # The program draws nothing from Python's generator, and does not seed it.
            if not re.search('time|_log|gauss|python', key)
        }
    log = json.loads((folder / 'log').read_text())
    for entry in log:
        del entry['elapsed_time']
    return newest.name, arrays, log


@pytest.mark.score
def test_killed_in_the_middle_it_ends_with_the_same_bits(tmp_path):
    options = ('--epochs', 3, '--batch-size', 128)
    whole, killed = tmp_path / 'whole', tmp_path / 'killed'
    run('--out', whole, *options)  # too short to reach the accuracy, which is another error
    process = subprocess.Popen(
        command('--out', killed, *options), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        limit = time.monotonic() + 120
        while not list(killed.glob('snapshot_iter_*')) and process.poll() is None:
            assert time.monotonic() < limit
            time.sleep(0.005)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert result_of(killed)[0] != result_of(whole)[0]
    run('--out', killed, *options)
    assert result_of(killed) == result_of(whole)


def test_two_devices(tmp_path):
    done = run(
        '--net', 'mlp', '--epochs', 1, '--out', tmp_path, '--devices', 'native:0', 'native:1'
    )
    assert re.search(
        r'Final test accuracy: 0\.[\d]+ on 360 digits \(native:0, native:1\)', done.stdout
    )


def test_refuses_no_epochs(tmp_path):
    done = run('--epochs', 0, '--out', tmp_path)
    assert done.returncode == 2
    assert 'must be at least 1' in done.stderr
