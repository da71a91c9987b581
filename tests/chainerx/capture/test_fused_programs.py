"""Random programs of elementwise operations: fused, they give the same bits."""

import chainerx as chx
import numpy as np
import pytest
from chainerx.testing import force_algorithm

SHAPES = [(1, 40), (7, 33), (5, 64), (12, 3), (0, 4), (1, 1), (30, 41), (2, 3, 5), (9,), (4, 32, 2)]
DTYPES = ['float32'] * 4 + ['float64', 'float16', 'bfloat16', 'int32', 'int8', 'uint64', 'bool']
DTYPES += ['complex64']


class Program:
    """A list of instructions over values of one shape, made from a seed."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.shape = SHAPES[rng.integers(len(SHAPES))]
        self.dtype = DTYPES[rng.integers(len(DTYPES))]
        self.instructions = []
        n = 2
        for _ in range(rng.integers(2, 31)):
            name = OPERATIONS[rng.integers(len(OPERATIONS))]
            i, j = (int(n - 1 - min(n - 1, rng.geometric(0.3) - 1)) for _ in range(2))
            self.instructions.append((name, i, j, int(rng.integers(1, 5))))
            n += 1
        self.outputs = [int(i) for i in rng.integers(0, n, size=rng.integers(1, 4))]
        self.has_backward = self.dtype.startswith('float') and rng.random() < 0.5
        self.state = self.draw(rng, self.shape)
        self.row = self.draw(rng, self.shape[-1:])
        self.column = self.draw(rng, (*self.shape[:-1], 1))
        self.number = self.draw(rng, ())
        if self.has_backward:
            self.row.require_grad()
            self.column.require_grad()

    def draw(self, rng, shape):
        values = rng.normal(size=shape) * 3
        if self.dtype == 'uint64':
            values = abs(values)
        return chx.array(values).astype(self.dtype)

    def __call__(self, x, y):
        values = [x, y]
        for name, i, j, number in self.instructions:
            try:
                z = getattr(self, name)(values[i], values[j], number)
            except chx.DtypeError:
                z = values[i]
            values.append(z)
        if self.has_backward:
            self.row.cleargrad()
            self.column.cleargrad()
            total = sum(values[i].sum() for i in (-1, -2, 0) if values[i].dtype == self.dtype)
            ((self.row * self.column + total) * 1.5).sum().backward()
        return tuple(values[i] for i in self.outputs)

    def add(self, a, b, n):
        return a + b

    def scale(self, a, b, n):
        return a * n - b

    def smooth(self, a, b, n):
        return chx.tanh(a) * chx.sigmoid(b)

    def magnitude(self, a, b, n):
        return chx.sqrt(chx.abs(a))

    def divide(self, a, b, n):
        return a // (b + n) if a.dtype.kind in 'iu' else a / (chx.abs(b) + n)

    def compare(self, a, b, n):
        return (a > b) & (b != n)

    def choose(self, a, b, n):
        return chx.where(a > n, a, b)

    def limit(self, a, b, n):
        return chx.maximum(chx.clip(a, -n, n), b)

    def by_row(self, a, b, n):
        return a * self.row + b

    def by_column(self, a, b, n):
        return a - self.column * b

    def by_number(self, a, b, n):
        return a * self.number + n

    def column_of(self, a, b, n):
        return chx.exp(-chx.abs(self.column * n)) + a

    def narrow(self, a, b, n):
        return (a * b).astype(['float16', 'int32', 'float64', 'bool'][n - 1]).astype(self.dtype)

    def center(self, a, b, n):
        return a - a.mean(axis=-1, keepdims=True)

    def normalize(self, a, b, n):
        return a / (n + chx.sqrt((a * a).sum(axis=-1, keepdims=True)))

    def largest(self, a, b, n):
        return b + a.max(axis=-1, keepdims=True) if a.size else b

    def total(self, a, b, n):
        return a + b.sum(axis=0, keepdims=True).astype(a.dtype)

    def reverse(self, a, b, n):
        return a[::-1] + b

    def turn(self, a, b, n):
        return (a.T * n).T

    def run(self, a, b, n):
        return chx.cumsum(a, axis=0).astype(self.dtype)

    def write(self, a, b, n):
        z = chx.copy(a.as_grad_stopped())
        z[1:] = b.as_grad_stopped()[1:] * n
        z += a.as_grad_stopped()
        return z

    def overwrite(self, a, b, n):
        z = chx.copy(a.as_grad_stopped()) * n
        z *= b.as_grad_stopped()
        z[::-1] += b.as_grad_stopped()
        return z

    def remember(self, a, b, n):
        self.state *= n
        self.state -= a.as_grad_stopped()
        return chx.copy(self.state) + b

    def recall(self, a, b, n):
        return chx.copy(self.state) * a


OPERATIONS = [name for name in vars(Program) if not name.startswith('_') and name != 'draw']


def bits(x):
    """The bytes of an array; NaNs have a sign and a payload that mean nothing."""
    x = chx.to_numpy(x, copy=True).reshape(-1)
    if x.dtype.kind == 'c':
        x = x.view(x.real.dtype)
    if x.dtype.kind not in 'iub':
        x[np.isnan(x)] = np.nan
    return x.tobytes()


def run(seed, captured):
    program = Program(seed)
    step = chx.capture(program) if captured else program
    rng = np.random.default_rng(seed + 1)
    seen = []
    for _ in range(5):
        results = step(program.draw(rng, program.shape), program.draw(rng, program.shape))
        arrays = [*results, program.state]
        if program.has_backward:
            arrays += [program.row.grad, program.column.grad]
        seen.append([bits(z) for z in arrays])
    return seen, sum(v.fused for v in step.info()) if captured else 0


@pytest.mark.parametrize('start', range(0, 4000, 50))
def test_programs(start, device):
    fused = 0
    with np.errstate(all='ignore'), force_algorithm('fuse', 'tiny'):
        for seed in range(start, start + 50):
            expected, _ = run(seed, False)
            got, n = run(seed, True)
            fused += n
            assert got == expected, f'program {seed}'
    assert fused >= 200
