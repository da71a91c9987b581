"""examples/digits_chainer.py as a user runs it."""

import importlib
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

EXAMPLES = pathlib.Path(__file__).parents[2] / 'examples'

for name in ('sklearn', 'tqdm', 'matplotlib'):
    pytest.importorskip(name, reason='needs pip install ".[examples]"')


@pytest.fixture
def digits(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    yield importlib.import_module('digits_chainer')
    for name in ('digits_chainer', '_digits'):
        sys.modules.pop(name, None)


def run(*arguments):
    command = [sys.executable, str(EXAMPLES / 'digits_chainer.py'), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = re.search(r'Final test accuracy: ([\d.]+) on 360 digits \(device (.*)\)', done.stdout)
    return float(found[1]), found[2], re.findall(r'loss ([\d.]+), accuracy', done.stderr)[-1]


def test_the_same_on_numpy_and_chainerx(tmp_path):
    accuracy, device, loss = run('--device', '@numpy', '--out', tmp_path / 'out')
    assert device == '@numpy'
    assert accuracy >= 0.97
    assert (tmp_path / 'out' / 'loss.png').read_bytes().startswith(b'\x89PNG')
    other_accuracy, device, other_loss = run('--device', 'native:0', '--no-plots')
    assert device == 'native:0'
    assert abs(other_accuracy - accuracy) < 2 / 360  # one digit may be borderline
    assert float(other_loss) == pytest.approx(float(loss), abs=2e-4)


def trained(digits, device, seed, epochs):
    np.random.seed(seed)
    x, t, *_ = digits.load_data()
    model = digits.MLP().to_device(device)
    losses = digits.train(model, x, t, epochs, batch_size=32)
    return losses, {k: p.array for k, p in model.to_device('@numpy').namedparams()}


def test_the_same_numbers_to_rounding(digits):
    losses, params = trained(digits, '@numpy', seed=5, epochs=2)
    other_losses, other_params = trained(digits, 'native:0', seed=5, epochs=2)
    # Adam divides by roots of tiny numbers, which amplifies rounding.
    np.testing.assert_allclose(other_losses, losses, rtol=1e-5)
    for key, param in params.items():
        np.testing.assert_allclose(other_params[key], param, rtol=1e-3, atol=1e-4, err_msg=key)
    again, _ = trained(digits, '@numpy', seed=5, epochs=2)
    assert again == losses
    assert trained(digits, '@numpy', seed=6, epochs=2)[0] != losses
