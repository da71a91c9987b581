"""A short self-test: kernels and training steps, whose results are checked, and their speed."""

from __future__ import annotations

import itertools
import time
import typing as tp
from dataclasses import dataclass

import chainerx
import numpy as np

import chainer
import chainer.functions as F
import chainer.links as L

if tp.TYPE_CHECKING:
    from chainer._typing import VariableLike

Work = tp.Callable[[], tp.Any]
# The parts of a row: the work, and a check that raises AssertionError if the result is wrong.
Made = tuple[Work, tp.Callable[[], None]]


@dataclass(frozen=True)
class Row:
    """One piece of work.

    Attributes:
        name (str): The name of the work.
        amount (float): How much of the unit a run is; 0 where only time counts.
        unit (str): ``'GFLOP/s'``, ``'GB/s'`` or ``'examples/s'``.
        make (callable): Prepares it on a device.
    """

    name: str
    amount: float
    unit: str
    make: tp.Callable[[tp.Any], Made]


@dataclass(frozen=True)
class Result:
    """The result of a row.

    Attributes:
        name (str): Of the row.
        seconds (float): Of the best run; None if a result is wrong, or something failed.
        rate (float): How much of the unit in a second; None where only time counts.
        unit (str): Of the rate.
        error (str): The error message; None if all is right.
    """

    name: str
    seconds: float | None
    rate: float | None
    unit: str
    error: str | None


def run(device: str, seconds: float) -> tp.Iterator[Result]:
    """Does the work of all rows.

    Args:
        device (str): Of chainerx.
        seconds (float): How long each row is repeated.

    Yields:
        Result: Of one row after the other.
    """
    place = chainerx.get_device(device)
    for row in ROWS:
        rng = np.random.get_state()
        np.random.seed(0)
        try:
            with chainerx.using_device(place):
                work, check = row.make(place)
                check()
                best = _best(work, place, seconds)
        except Exception as error:  # whatever is broken, the rows behind it are of interest
            text = str(error) if isinstance(error, AssertionError) else repr(error)
            yield Result(row.name, None, None, row.unit, text)
            continue
        finally:
            np.random.set_state(rng)
        yield Result(row.name, best, row.amount / best if row.amount else None, row.unit, None)


def _best(work: Work, device: tp.Any, seconds: float) -> float:
    """Return the seconds of the best run; a short one is repeated within one measurement."""
    count, best, end = 1, float('inf'), time.perf_counter() + seconds
    for run in itertools.count(1):
        start = time.perf_counter()
        for _ in range(count):
            work()
        device.synchronize()
        now = time.perf_counter()
        best = min(best, (now - start) / count)
        if now > end and run >= 3:
            break
        if now - start < 1e-3:
            count *= 2
    return best


def _expect(name: str, found: object, expected: tp.Any, tolerance: float) -> None:
    """Raises if numbers differ by more than a part of the largest one."""
    found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    scale = max(float(np.abs(expected).max(initial=0)), 1e-30)
    difference = np.abs(found - expected) / scale
    if not (difference <= tolerance).all():
        where = np.unravel_index(np.argmax(np.nan_to_num(difference, nan=np.inf)), difference.shape)
        at = f' at {tuple(int(i) for i in where)}' if where else ''
        raise AssertionError(f'{name} is {found[where]!s}{at}, expected {expected[where]!s}')


# ---- kernels ----


def _draw(device: tp.Any, *shape: int) -> tuple[tp.Any, np.ndarray]:
    array = np.random.uniform(-1, 1, shape).astype(np.float32)
    return chainerx.array(array, device=device), array


def _matmul(device: tp.Any) -> Made:
    (a, na), (b, nb) = _draw(device, _N, _N), _draw(device, _N, _N)

    def check() -> None:
        expected = na[:64].astype(np.float64) @ nb
        _expect('matmul', chainerx.to_numpy(chainerx.matmul(a, b))[:64], expected, 1e-5)

    return lambda: chainerx.matmul(a, b), check


def _conv(device: tp.Any) -> Made:
    (x, nx), (w, nw) = _draw(device, *_IMAGES), _draw(device, _IMAGES[1], _IMAGES[1], 3, 3)

    def check() -> None:
        y = chainerx.to_numpy(chainerx.conv(x, w, None, 1, 1))
        _expect('conv', y[:1], _conv_of(nx[:1].astype(np.float64), nw, 1), 1e-5)

    return lambda: chainerx.conv(x, w, None, 1, 1), check


def _elementwise(name: str) -> tp.Callable[[tp.Any], Made]:
    def make(device: tp.Any) -> Made:
        (a, na), (b, nb) = _draw(device, _SIZE), _draw(device, _SIZE)
        inputs, arrays = ((a, b), (na, nb)) if name == 'add' else ((a,), (na,))

        def work() -> tp.Any:
            return getattr(chainerx, name)(*inputs)

        def check() -> None:
            wide = [x.astype(np.float64) for x in arrays]
            # A sum of so many is a small difference of large ones.
            expected, scale = getattr(np, name)(*wide), 1e-6
            if name == 'sum':
                scale = 1e-6 * float(np.abs(wide[0]).sum()) / abs(float(expected))
            _expect(name, chainerx.to_numpy(work()), expected, scale)

        return work, check

    return make


# ---- training steps ----


class _MLP(chainer.Chain):
    def __init__(self, *sizes: int) -> None:
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(sizes[0], sizes[1])
            self.l2 = L.Linear(sizes[1], sizes[2])
            self.l3 = L.Linear(sizes[2], sizes[3])

    def forward(self, x: VariableLike) -> tp.Any:
        return self.l3(F.relu(self.l2(F.relu(self.l1(x)))))

    @staticmethod
    def numpy(p: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
        for name in ('l1', 'l2', 'l3'):
            x = (x if name == 'l1' else np.maximum(x, 0)) @ p[f'/{name}/W'].T + p[f'/{name}/b']
        return x


class _LeNet(chainer.Chain):
    def __init__(self) -> None:
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(1, 20, 5)
            self.conv2 = L.Convolution2D(20, 50, 5)
            self.l1 = L.Linear(50 * 4 * 4, 500)
            self.l2 = L.Linear(500, 10)

    def forward(self, x: VariableLike) -> tp.Any:
        h = F.max_pooling_2d(F.relu(self.conv1(x)), 2)
        h = F.max_pooling_2d(F.relu(self.conv2(h)), 2)
        return self.l2(F.relu(self.l1(h)))

    @staticmethod
    def numpy(p: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
        for name in ('conv1', 'conv2'):
            x = _conv_of(x, p[f'/{name}/W'], 0) + p[f'/{name}/b'][:, None, None]
            n, c, h, w = x.shape
            x = np.maximum(x, 0).reshape(n, c, h // 2, 2, w // 2, 2).max(axis=(3, 5))
        h = np.maximum(x.reshape(len(x), -1) @ p['/l1/W'].T + p['/l1/b'], 0)
        return h @ p['/l2/W'].T + p['/l2/b']


def _conv_of(x: np.ndarray, w: np.ndarray, pad: int) -> np.ndarray:
    """A convolution in NumPy."""
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    return np.tensordot(windows, w, ((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)


def _loss_of(y: np.ndarray, t: np.ndarray) -> float:
    """Softmax cross entropy in NumPy."""
    y = y - y.max(axis=1, keepdims=True)
    return float(np.mean(np.log(np.exp(y).sum(axis=1)) - y[np.arange(len(t)), t]))


def _training(make_model: tp.Callable[[], tp.Any], shape: tuple[int, ...]) -> tp.Any:
    """Steps of SGD, checked against a loss in NumPy and its numerical derivative."""

    def make(device: tp.Any) -> Made:
        model = make_model()
        model.to_device(device)
        x, nx = _draw(device, *shape)
        nt = np.random.randint(0, 10, len(nx)).astype(np.int32)
        t = chainerx.array(nt, device=device)
        optimizer = chainer.optimizers.SGD(0.01).setup(model)

        def step() -> tp.Any:
            loss = F.softmax_cross_entropy(model(x), t)
            model.cleargrads()
            loss.backward()
            optimizer.update()
            return loss

        def arrays(attribute: str) -> dict[str, np.ndarray]:
            found = ((path, getattr(p, attribute)) for path, p in model.namedparams())
            return {path: chainerx.to_numpy(x).astype(np.float64) for path, x in found}

        def check() -> None:
            before = arrays('array')
            loss = float(step().array)
            grads, after = arrays('grad'), arrays('array')
            wide = nx.astype(np.float64)
            _expect('the loss', loss, _loss_of(model.numpy(before, wide), nt), 1e-5)
            # Along the gradient itself, the loss grows by the square of its norm.
            eps, ends = 1e-4, []
            for sign in (1, -1):
                moved = {path: before[path] + sign * eps * grads[path] for path in before}
                ends.append(_loss_of(model.numpy(moved, wide), nt))
            square = sum(float((g * g).sum()) for g in grads.values())
            _expect('the gradient', square, (ends[0] - ends[1]) / (2 * eps), 1e-3)
            for path, param in after.items():
                expected = before[path] - 0.01 * grads[path]
                _expect(f'{path} after the update', param, expected, 1e-6)

        return step, check

    return make


# ---- host overhead ----


def _small(function: tp.Callable[[tp.Any, tp.Any], tp.Any], graph: bool) -> tp.Any:
    def make(device: tp.Any) -> Made:
        (a, na), (b, nb) = _draw(device, 2, 3), _draw(device, 2, 3)
        if graph:
            a.require_grad()

        def check() -> None:
            y = chainerx.to_numpy(chainer.as_array(function(a, b)).as_grad_stopped())
            _expect('a + b', y, na + nb, 1e-6)

        return lambda: function(a, b), check

    return make


_N = 1024
_IMAGES = 16, 64, 56, 56
_SIZE = 1 << 24

ROWS: tp.Final = [
    Row('matrix product, 1024 x 1024', 2e-9 * _N**3, 'GFLOP/s', _matmul),
    Row(
        'convolution 3 x 3, 16 x 64 x 56 x 56',
        2e-9 * 9 * 64 * 16 * 64 * 56 * 56,
        'GFLOP/s',
        _conv,
    ),
    *(
        Row(f'{name}, 16M elements', n * 4e-9 * _SIZE, 'GB/s', _elementwise(name))
        for name, n in (('add', 3), ('exp', 2), ('sum', 1))
    ),
    Row(
        'step of an MLP 784-1000-1000-10',
        100,
        'examples/s',
        _training(lambda: _MLP(784, 1000, 1000, 10), (100, 784)),
    ),
    Row('step of a LeNet', 32, 'examples/s', _training(_LeNet, (32, 1, 28, 28))),
    Row(
        'step of an MLP 16-16-16-10, one example',
        1,
        'examples/s',
        _training(lambda: _MLP(16, 16, 16, 10), (1, 16)),
    ),
    Row('a + b, 6 elements', 0, '', _small(lambda a, b: a + b, False)),
    Row('the same with a graph', 0, '', _small(lambda a, b: a + b, True)),
    Row('F.add, 6 elements, with a graph', 0, '', _small(F.add, True)),
]
