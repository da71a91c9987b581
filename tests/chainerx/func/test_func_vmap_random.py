"""func.vmap of functions that draw random numbers."""

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy
from chainerx import func


def test_random_numbers_need_a_word():
    for f in (lambda x: x + chx.random.normal(size=2), lambda x: chx.dropout(x)):
        with pytest.raises(chx.ChainerxError, match='randomness="different"'):
            func.vmap(f)(chx.ones((3, 2)))


DRAWS = {
    'normal': lambda x: x + chx.random.normal(size=2),
    'uniform': lambda x: x + chx.random.uniform(0, 1, (2,)),
    'a number': lambda x: x + chx.random.uniform(),
    'integers': lambda x: x + chx.random.integers(0, 1 << 40, size=2),
    'permutation': lambda x: x + chx.random.permutation(20)[:2],
    'rand': lambda x: x + chx.random.rand(2),
    'choice': lambda x: x + chx.random.choice(1000, 2),
    'gamma': lambda x: x + chx.random.gamma(2.0, size=2),
    'parameters': lambda x: x + chx.random.normal(chx.zeros(2), 1.0),
    'dropout': lambda x: chx.dropout(chx.broadcast_to(x, (40, 2)) + 1),
    'dropout of the same': lambda x: x + chx.dropout(chx.ones((40, 2))),
    'shuffled': lambda x: chx.random.permutation(chx.concatenate([x, chx.arange(30)])),
}


@pytest.mark.parametrize('name', DRAWS)
def test_random_numbers(name):
    x = chx.ones((3, 2), 'float64')
    for randomness, same in (('same', True), ('different', False)):
        chx.random.seed(0)
        y = to_numpy(func.vmap(DRAWS[name], randomness=randomness)(x))
        assert y.shape[0] == 3
        assert np.array_equal(y[0], y[1]) == same
        assert np.array_equal(y[1], y[2]) == same
    outer = func.vmap(func.vmap(DRAWS[name], randomness='same'), randomness='different')
    y = to_numpy(outer(chx.ones((2, 3, 2), 'float64')))
    assert np.array_equal(y[0, 0], y[0, 1])
    assert not np.array_equal(y[0, 0], y[1, 0])


def test_generators():
    rng = chx.random.default_rng(3)
    x = chx.ones((3, 2), 'float64')
    y = to_numpy(func.vmap(lambda x: x + rng.normal(size=2), randomness='different')(x))
    e = to_numpy(chx.random.default_rng(3).normal(size=(3, 2)))
    np.testing.assert_array_equal(y, e + 1)
    y = to_numpy(func.vmap(lambda x: x + rng.normal(x), randomness='different')(x))
    assert len(set(y.ravel())) == 6
    y = to_numpy(func.vmap(lambda x: rng.normal(x), randomness='same')(x))
    assert np.array_equal(y[0], y[1])
    assert np.array_equal(y[1], y[2])


def test_keys_and_states_are_unchanged():
    def f(x):
        state = chx.random.get_state()
        y = x + chx.random.normal(size=2, key=7)
        assert chx.random.get_state() == state
        return y

    y = to_numpy(func.vmap(f, randomness='different')(chx.ones((3, 2), 'float64')))
    assert (y == y[0]).all()
