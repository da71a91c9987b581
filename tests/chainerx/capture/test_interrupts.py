"""Signals at any moment of a captured step: what comes after them is right."""

import signal
import timeit

import chainerx as chx
import numpy as np
import pytest


class Stop(Exception):
    pass


@pytest.fixture
def stop_after():
    """Raises Stop in this thread after some seconds, unless it is called with None before."""
    is_armed = False

    def stop(*_):
        if is_armed:  # signals come late
            raise Stop

    def stop_after(seconds):
        nonlocal is_armed
        is_armed = seconds is not None
        signal.setitimer(signal.ITIMER_REAL, seconds or 0)

    before = signal.signal(signal.SIGALRM, stop)
    yield stop_after
    stop_after(None)
    signal.signal(signal.SIGALRM, before)


def test_steps_that_are_interrupted(stop_after):
    rng = np.random.default_rng(0)
    w = chx.array(rng.normal(size=(50, 50)).astype('f')).require_grad()
    state = chx.zeros((50, 50))

    def f(x):
        w.cleargrad()
        y = chx.tanh(x.dot(w))
        y.sum().backward()
        state[...] = y.as_grad_stopped()
        return y

    x = chx.array(rng.normal(size=(50, 50)).astype('f'))

    def record():
        fresh = chx.capture(f)
        fresh(x)
        fresh(x)

    # From moments of a replay to those of a call that is recorded, which takes longest.
    duration = min(timeit.repeat(record, number=1, repeat=20))
    moments = np.log(1e-6), np.log(2 * duration)
    n_stopped = n_replays = 0
    step = chx.capture(f)
    for i in range(3000):
        if i % 20 == 0:
            n_replays += sum(row.replays for row in step.info())
            step = chx.capture(f)
        x = chx.array(rng.normal(size=(50, 50)).astype('f'))
        try:
            stop_after(np.exp(rng.uniform(*moments)))
            y = step(x)
            stop_after(None)
        except Stop:
            n_stopped += 1
            continue
        grad = w.grad
        assert chx.array_equal(state, y)
        assert chx.array_equal(f(x).as_grad_stopped(), y)
        assert chx.array_equal(w.grad, grad)
    assert n_stopped > 10, n_stopped
    assert n_replays > 10, n_replays
