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


@pytest.mark.score
@pytest.mark.parametrize('device', ['@numpy', 'native:0'])
@pytest.mark.parametrize(
    ('net', 'width', 'epochs', 'pictures', 'batch_size'),
    # MobileNet learns slowly at first; this is enough for any rounding.
    [('resnet18', 4, 4, 200, 20), ('mobilenet', 8, 5, 300, 10)],
)
def test_learns(net, width, epochs, pictures, batch_size, device):
    done = run('--net', net, '--device', device, '--width', width, '--epochs', epochs,
               '--pictures', pictures, '--batch-size', batch_size, '--min-accuracy', 0,
               '--no-plots')  # fmt: skip
    assert done.returncode == 0, done.stderr
    losses = [float(loss) for loss in re.findall(r'loss ([\d.]+)', done.stdout)]
    assert len(losses) == epochs
    assert losses[-1] < losses[0] - 0.1
    assert re.search(r'Accuracy on 1000 other pictures: 0\.\d+', done.stdout)


def test_too_little_training_is_an_error_with_a_picture(tmp_path):
    pytest.importorskip('matplotlib')
    done = run('--width', 2, '--epochs', 1, '--pictures', 20, '--out', tmp_path / 'out')
    assert done.returncode == 1
    assert 'below the 0.9' in done.stderr
    assert (tmp_path / 'out' / 'cifar_resnet.png').read_bytes().startswith(b'\x89PNG')
