"""examples/cifar_resnet.py as a user runs it, with few pictures and narrow layers."""

import pathlib
import re
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).parents[2] / 'examples' / 'cifar_resnet.py'


def run(*arguments):
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize('device', ['@numpy', 'native:0'])
@pytest.mark.parametrize('net', ['resnet18', 'mobilenet'])
def test_learns(net, device):
    done = run('--net', net, '--device', device, '--width', 4, '--epochs', 4, '--pictures', 200,
               '--batch-size', 20, '--min-accuracy', 0)  # fmt: skip
    assert done.returncode == 0, done.stderr
    losses = [float(loss) for loss in re.findall(r'loss ([\d.]+)', done.stdout)]
    assert len(losses) == 4
    assert losses[-1] < losses[0] - 0.1
    assert re.search(r'Accuracy on 1000 other pictures: 0\.\d+', done.stdout)


def test_too_little_training_is_an_error():
    done = run('--width', 2, '--epochs', 1, '--pictures', 20)
    assert done.returncode == 1
    assert 'below the 0.9' in done.stderr
