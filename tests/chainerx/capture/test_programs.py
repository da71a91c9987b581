"""Random programs, captured and as they are: the same bits, or an error that says why."""

import contextlib

import chainerx as chx
import numpy as np
import pytest

N = 4  # all values are matrices of this size, so that everything fits


class Program:
    """A list of instructions over values, made from a seed."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.instructions = []
        n = 2
        for _ in range(rng.integers(1, 31)):
            name = OPERATIONS[rng.integers(len(OPERATIONS))]
            arguments = [int(i) for i in rng.integers(0, n, size=2)]
            self.instructions.append((name, *arguments, float(np.round(rng.normal(), 2))))
            n += 1
        self.outputs = [int(i) for i in rng.integers(0, n, size=rng.integers(1, 4))]
        self.has_backward = rng.random() < 0.6
        self.state = chx.array(rng.normal(size=(N, N)).astype('f'))
        self.weight = chx.array(rng.normal(size=(N, N)).astype('f') / N).require_grad()

    def __call__(self, x, y):
        if self.has_backward:
            self.weight.cleargrad()
        values = [x, y]
        for name, i, j, number in self.instructions:
            values.append(getattr(self, name)(values[i], values[j], number))
        if self.has_backward:
            (values[-1].dot(self.weight).sum() + values[0].sum()).backward()
        return tuple(values[i] for i in self.outputs)

    def add(self, a, b, c):
        return a + b * c

    def multiply(self, a, b, c):
        return chx.tanh(a) * b

    def unary(self, a, b, c):
        return chx.sqrt(chx.exp(-chx.abs(a)))

    def product(self, a, b, c):
        return chx.tanh(a.dot(b))

    def weigh(self, a, b, c):
        return chx.tanh(a.dot(self.weight))

    def transpose(self, a, b, c):
        return a.T

    def reverse(self, a, b, c):
        return a[::-1, ::-1]

    def shift(self, a, b, c):
        return chx.concatenate([a[1:], b[:1]])

    def reshape(self, a, b, c):
        return a.reshape(2, -1).reshape(N, N)

    def center(self, a, b, c):
        return a - a.mean(axis=0, keepdims=True)

    def softmax(self, a, b, c):
        return chx.exp(chx.log_softmax(a, axis=1))

    def spread(self, a, b, c):
        return chx.broadcast_to(a[0], (N, N))

    def where(self, a, b, c):
        return chx.where(a > c, a, b)

    def take(self, a, b, c):
        return chx.take(a, chx.argmax(b, axis=1), axis=0)

    def cast(self, a, b, c):
        return a.astype('float64').astype('float32')

    def noise(self, a, b, c):
        return a + chx.random.normal(size=(N, N), dtype='float32')

    def drop(self, a, b, c):
        return a * (chx.random.uniform(size=(N, N)) > 0.5).astype('float32')

    def remember(self, a, b, c):
        self.state *= 0.5
        self.state += a.as_grad_stopped()
        return a + self.state

    def recall(self, a, b, c):
        return self.state + b

    def write(self, a, b, c):
        z = a.as_grad_stopped().copy()
        z[1:3] = b.as_grad_stopped()[:2]
        z += c
        return z

    def grow(self, a, b, c):
        z = b.as_grad_stopped().copy()
        z[:, 0] *= 3
        return chx.clip(z + a, -5, 5)


OPERATIONS = [name for name in vars(Program) if not name.startswith('_')]


def run(seed, captured):
    program = Program(seed)
    step = chx.capture(program) if captured else program
    chx.random.seed(seed)
    rng = np.random.default_rng(seed + 1)
    seen = []
    for i in range(7):
        x, y = (chx.array(rng.normal(size=(N, N)).astype('f')) for _ in range(2))
        results = step(x, y)
        if i == 4:  # somebody writes to what was returned, and to what is held
            for z in results:
                with contextlib.suppress(chx.ChainerxError):  # a broadcast one
                    y = z.as_grad_stopped()
                    y += 1
            program.state += 0.25
        grad = program.weight.grad
        seen.append([chx.to_numpy(z, copy=True) for z in (*results, program.state)])
        seen[-1].append(None if grad is None else chx.to_numpy(grad, copy=True))
    return seen, captured and sum(v.replays for v in step.info())


@pytest.mark.parametrize('start', range(0, 5000, 50))
def test_programs(start):
    replayed = 0
    with np.errstate(all='ignore'):
        for seed in range(start, start + 50):
            expected, _ = run(seed, False)
            got, replays = run(seed, True)
            replayed += replays
            for call, (a, b) in enumerate(zip(expected, got, strict=True)):
                for x, y in zip(a, b, strict=True):
                    np.testing.assert_array_equal(x, y, f'program {seed}, call {call}')
    assert replayed >= 150
