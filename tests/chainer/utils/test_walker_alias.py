"""The alias table and samples are those of Chainer v7 for the same seed."""

from __future__ import annotations

import chainerx
import numpy as np
import pytest
from chainer.utils import WalkerAlias


@pytest.mark.parametrize(
    ('probs', 'threshold', 'values'),
    [
        ([0.1, 0.2, 0.3, 0.4], [0.4, 0.8, 0.6, 1], [0, 2, 1, 3, 2, 3, 3, 0]),
        ([1, 1, 1], [1, 1, 1], [0, 1, 1, 2, 2, 0]),
        ([0, 1], [0, 1], [0, 1, 1, 0]),
        (
            [2, 2, 1, 1, 1, 1],
            [0.75, 0.75, 0.75, 0.75, 1, 1],
            [2, 0, 3, 0, 4, 1, 5, 1, 0, 0, 1, 0],
        ),
        (
            [3, 1, 2, 9, 4, 0.5, 0.1],
            [0.03571428, 0.17857142, 0.35714284, 0.7142857, 0.10714287, 0.6071428, 0.9999998],
            [6, 0, 5, 4, 1, 3, 2, 3, 0, 3, 4, 3, 3, 0],
        ),
    ],
)
def test_table(probs, threshold, values):
    sampler = WalkerAlias(probs)
    assert sampler.threshold.dtype == np.float32
    assert sampler.values.dtype == np.int32
    np.testing.assert_allclose(sampler.threshold, threshold, rtol=1e-6)
    np.testing.assert_array_equal(sampler.values, values)


def test_samples_of_a_seed():
    np.random.seed(0)
    sampler = WalkerAlias([0.1, 0.2, 0.3, 0.4])
    expected = [[2, 3, 2, 2], [1, 2, 1, 3], [3, 1, 3, 2]]
    np.testing.assert_array_equal(sampler.sample((3, 4)), expected)
    sample = sampler.sample(5)
    assert sample.dtype == np.int32
    np.testing.assert_array_equal(sample, [2, 3, 0, 0, 0])
    assert sampler.sample(()).shape == ()


def test_frequencies():
    np.random.seed(0)
    probs = np.array([5, 0, 1, 3, 0.5])
    counts = np.bincount(WalkerAlias(probs).sample(100000), minlength=5)
    assert counts[1] == 0
    np.testing.assert_allclose(counts / 1e5, probs / probs.sum(), atol=0.006)


def test_devices():
    sampler = WalkerAlias([1, 2, 3])
    assert not sampler.use_gpu
    np.random.seed(0)
    expected = sampler.sample((2, 3))
    sampler.to_device('native:1')
    assert sampler.threshold.device.name == 'native:1'
    np.random.seed(0)
    sample = sampler.sample((2, 3))
    assert isinstance(sample, chainerx.ndarray)
    assert sample.device.name == 'native:1'
    np.testing.assert_array_equal(chainerx.to_numpy(sample), expected)


@pytest.mark.parametrize(
    ('probs', 'text'),
    [
        ([], r'the sum of probs is 0\.0'),
        ([0, 0], r'the sum of probs is 0\.0'),
        ([1, -2], r'probs has -2\.0'),
        ([1, np.nan], 'probs has nan'),
        ([1, np.inf], 'probs has inf'),
        ([3e38, 3e38], 'the sum of probs is inf'),
        ([[1, 2]], r'probs has shape \(1, 2\)'),
        (1, r'probs has shape \(\)'),
    ],
)
@pytest.mark.filterwarnings('ignore:overflow')
def test_no_probabilities(probs, text):
    with pytest.raises(ValueError, match=f'WalkerAlias: {text}'):
        WalkerAlias(probs)
