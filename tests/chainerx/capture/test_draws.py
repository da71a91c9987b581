"""Random numbers of the host in a captured step: a replay would leave them out."""

import random

import chainerx as chx
import numpy as np
import pytest

DRAWS = {
    'python': (lambda: random.random() < 2, "Python's random changes"),
    'numpy': (lambda: np.random.rand() < 2, 'numpy.random changes'),
    'seed': (lambda: np.random.seed(3), 'numpy.random changes'),
    'RandomState': ((r := np.random.RandomState(0)).rand, 'a RandomState changes'),
    'Generator': ((g := np.random.default_rng(0)).random, 'a Generator changes'),
    'Random': ((p := random.Random(0)).random, 'a Random changes'),
}


@pytest.mark.parametrize('name', DRAWS)
def test_draws_that_do_not_show_in_kernels(name):
    draw, text = DRAWS[name]
    # What is drawn decides which branch is taken, the same one in both recordings.
    step = chx.capture(lambda x: (x + 1, draw())[0])

    def run():
        for _ in range(6):
            np.random.rand()
            step(chx.ones(2))

    with pytest.raises(chx.CaptureError, match=text):
        run()
    assert sum(v.replays for v in step.info()) == 0


def test_a_draw_meanwhile_in_one_call_only():
    held = []

    def f(x):
        if held:
            held.pop()()
        return x * 2

    step = chx.capture(f)
    for i in range(12):
        if i == 1:
            held.append(random.random)  # as another thread may do
        step(chx.ones(2))
    assert step.info()[0].replays > 5


def test_generators_between_calls():
    rng = np.random.RandomState(0)
    step = chx.capture(lambda x: x + len(str(rng)) * 0)
    for _ in range(6):
        rng.rand()
        random.random()
        np.random.rand()
        step(chx.ones(2))
    assert step.info()[0].replays == 3


def test_a_generator_of_the_step():
    def f(x):
        return x + chx.random.Generator(7).standard_normal(x.shape).astype('float32')

    step = chx.capture(f)
    for i in range(6):
        x = chx.full((3,), i, 'float32')
        assert step(x).tolist() == f(x).tolist()
    assert step.info()[0].replays == 3
