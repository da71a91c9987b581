"""An error in the middle of a replay leaves what the step leaves that raises there."""

import chainerx as chx
import numpy as np
import pytest
from chainerx.testing import force_algorithm


@pytest.fixture(params=['tiny', None])
def fuse(request):
    with force_algorithm('fuse', request.param):
        yield


def rows(*indices):
    return chx.array(np.array(indices))


GOOD, BAD = rows(0, 4, 2), rows(0, 5, 2)
TABLE = chx.arange(15, dtype='float32').reshape(5, 3)


def take(i):
    return chx.take(TABLE, i, axis=0, mode='raise')


class Program:
    """A step, and all that it changes."""

    def __init__(self, f):
        self.state = [chx.zeros((3, 3)), chx.zeros((3, 3))]
        self.w = chx.ones((3, 3)).require_grad()
        self.f = f

    def step(self, x, i):
        return self.f(self, x, i)

    def look(self, x):
        return [
            None if a is None else chx.to_numpy(a, copy=True) for a in (*self.state, self.w.grad, x)
        ]


def write_before(p, x, i):
    p.state[0][...] = p.state[0] * 0.5 + x
    y = x * 2 + 1
    return y * take(i) + 3


def write_after(p, x, i):
    y = x * 2
    z = take(i)
    p.state[0][...] = y + p.state[0]
    return y + z


def write_around(p, x, i):
    p.state[0] += x
    y = chx.tanh(x) * 2
    z = take(i)
    p.state[0] *= z
    p.state[1] += x
    return y + z


def write_to_argument(p, x, i):
    y = x * 2
    x += 1
    z = take(i)
    x *= z
    return y + x


def fail_before_backward(p, x, i):
    p.w.cleargrad()
    loss = (p.w * x * take(i)).sum()
    loss.backward()
    return loss


def fail_before_gradients_are_cleared(p, x, i):
    loss = (p.w * x * take(i)).sum()
    p.w.cleargrad()
    loss.backward()
    return loss


def fail_after_backward(p, x, i):
    p.w.cleargrad()
    (p.w * x * p.w).sum().backward()
    p.state[0] += p.w.grad
    return take(i) * 2


def fail_before_adding(p, x, i):
    loss = (p.w * x).sum()
    y = take(i)
    loss.backward()
    return y


def fail_between_two_gradients(p, x, i):
    p.w.cleargrad()
    (p.w * x).sum().backward()
    p.w.cleargrad()
    y = take(i)
    (p.w * x * x).sum().backward()
    return y


def fail_after_adding(p, x, i):
    (p.w * x * 3).sum().backward()
    return take(i) * 2


STEPS = [
    write_before,
    write_after,
    write_around,
    write_to_argument,
    fail_before_backward,
    fail_before_gradients_are_cleared,
    fail_after_backward,
    fail_before_adding,
    fail_between_two_gradients,
    fail_after_adding,
]


@pytest.mark.parametrize('f', STEPS)
def test_a_kernel_that_raises(f, fuse):
    seen = []
    for captured in (False, True):
        p = Program(f)
        step = chx.capture(p.step) if captured else p.step
        seen.append([])
        for n in range(9):
            x = chx.full((3, 3), n + 1, 'float32')
            if n == 6:
                if captured:
                    assert sum(v.replays for v in step.info()) > 0
                with pytest.raises(IndexError):
                    step(x, BAD)
            else:
                step(x, GOOD)
            seen[-1].append(p.look(x))
    for n, (plain, replayed) in enumerate(zip(*seen, strict=True)):
        for i, (a, b) in enumerate(zip(plain, replayed, strict=True)):
            assert (a is None) == (b is None), f'call {n}, array {i}'
            if a is not None:
                np.testing.assert_array_equal(a, b, f'call {n}, array {i}')
