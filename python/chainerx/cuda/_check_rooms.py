"""The part of the check that has softmax, norms, scans, sorts, random numbers and optimizers."""

from __future__ import annotations

import functools
import typing as tp

import numpy as np

import chainerx
from chainerx.cuda._check_layers import outputs_and_gradients

if tp.TYPE_CHECKING:
    from chainerx.cuda._check_values import Checks

#: Rows and columns at which kernels choose another way.
MATRICES: tuple[tuple[int, ...], ...] = ((1000, 10), (70, 100), (30, 1500), (2, 40000))

IMAGES: tuple[tuple[int, ...], ...] = ((700, 33), (6, 8, 17, 19), (2, 64, 5, 5))


def check_softmax(checks: Checks) -> None:
    random = np.random.default_rng(9)
    for dtype in ('float16', 'float32', 'float64'):
        for shape in MATRICES:
            x = (random.normal(size=shape) * 5).astype(dtype)
            labels = random.integers(-1, shape[1], shape[0])

            def loss(a: tp.Any, labels: np.ndarray = labels) -> list[tp.Any]:
                t = chainerx.array(labels, device=a.device)
                return [chainerx.softmax_cross_entropy(a, t, label_smoothing=0.1)]

            for name, function in (
                ('softmax', lambda a: [chainerx.softmax(a)]),
                ('log_softmax', lambda a: [chainerx.log_softmax(a)]),
                ('softmax_cross_entropy', loss),
            ):
                checks.compare(f'{name} {dtype} {shape}', outputs_and_gradients(function), x)
    x = random.normal(size=(300, 70)) * 5
    checks.close('logsumexp', lambda a: chainerx.logsumexp(a, axis=0), 1e-14, x)


def check_norm(checks: Checks) -> None:
    random = np.random.default_rng(10)
    for dtype, tolerance in (('float16', 4e-3), ('float32', 1e-5), ('float64', 1e-13)):

        def draw(*shape: int, dtype: str = dtype) -> np.ndarray:
            return random.normal(size=shape).astype(dtype)

        for shape in MATRICES:
            for name, n in (('layer_norm', 3), ('rms_norm', 2)):
                function = getattr(chainerx, name)
                compute = outputs_and_gradients(lambda *a, function=function: [function(*a)])
                arrays = [draw(*shape), draw(shape[1]), draw(shape[1])]
                checks.compare(f'{name} {dtype} {shape}', compute, *arrays[:n])
        for shape in IMAGES:
            axis = (0, 2, 3)[: len(shape) - 1]

            def normalize(*arrays: tp.Any, axis: tuple[int, ...] = axis) -> list[tp.Any]:
                x, gamma, beta = arrays
                mean, var = (
                    chainerx.ones(gamma.shape, gamma.dtype, device=gamma.device) for _ in range(2)
                )
                y = chainerx.batch_norm(x, gamma, beta, mean, var, axis=axis)
                return [y, mean, var]

            arrays = [draw(*shape), draw(shape[1]), draw(shape[1])]
            name = f'batch_norm {dtype} {shape}'
            checks.compare(name, outputs_and_gradients(normalize), *arrays)
        for groups in (2, 64):
            group = functools.partial(chainerx.group_norm, groups=groups)
            name = f'group_norm {dtype} {groups}'
            checks.compare(name, lambda a, b, c, f=group: f(a, gamma=b, beta=c), *arrays)
            compute = outputs_and_gradients(lambda a, b, c, f=group: [f(a, gamma=b, beta=c)])
            checks.close(f'{name}, gradients', compute, tolerance, *arrays)


def check_scan(checks: Checks) -> None:
    random = np.random.default_rng(11)
    for dtype in ('float16', 'float32', 'float64', 'int32'):
        for shape, axis in (((70, 500), 1), ((600, 70), 0), ((3, 5000), 1), ((2, 70000), 1)):
            x = (random.normal(size=shape) * 3).astype(dtype)
            x[0, 0] = 0  # the product of all others overflows
            for name in ('cumsum', 'cumprod'):
                scan = functools.partial(getattr(chainerx, name), axis=axis)
                both = outputs_and_gradients(lambda a, scan=scan: [scan(a)])
                compute = scan if dtype == 'int32' else both
                checks.compare(f'{name} {dtype} {shape} {axis}', compute, x)


def check_sort(checks: Checks) -> None:
    random = np.random.default_rng(12)
    for dtype in ('float16', 'float32', 'float64', 'uint8', 'int64'):
        for shape in ((700, 20), (3, 2000), (20000,)):
            x = (random.normal(size=shape) * 50).astype(dtype)
            if dtype.startswith('float'):
                x.flat[::17] = np.nan
                x.flat[::19] = -0.0
            name = f'{dtype} {shape}'
            checks.compare(f'sort {name}', chainerx.sort, x)
            checks.compare(f'argsort {name}', chainerx.argsort, x)
            for is_sorted in (True, False):
                topk = functools.partial(chainerx.topk, k=7, sorted=is_sorted)
                checks.compare(f'topk {is_sorted} {name}', lambda a, topk=topk: topk(a)[1], x)
            checks.compare(f'partition {name}', lambda a: chainerx.partition(a, 9), x)
            checks.compare(f'argmax {name}', lambda a: chainerx.argmax(a, axis=-1), x)
        checks.compare(f'unique {dtype}', chainerx.unique, x)
        checks.compare(f'searchsorted {dtype}', chainerx.searchsorted, np.sort(x), x[:3000])


#: Random numbers, and the tolerance of those for which CPUs call the C library.
DRAWS: dict[str, tuple[tuple[tp.Any, ...], float | None]] = {
    'uniform': ((-1, 3), None),
    'normal': ((), None),
    'integers': ((-5, 1000), None),
    'bernoulli': ((0.3,), None),
    'exponential': ((), 1e-12),
    'gamma': ((2.5,), 1e-12),
    'gumbel': ((), 1e-12),
}


def check_random(checks: Checks) -> None:
    for size in (7, 30000):
        for name, (arguments, tolerance) in DRAWS.items():

            def draw(
                x: tp.Any,
                name: str = name,
                arguments: tuple[tp.Any, ...] = arguments,
                size: int = size,
            ) -> tp.Any:
                generator = chainerx.random.default_rng(3)
                return getattr(generator, name)(*arguments, size=size, device=x.device)

            checks.close(f'{name} {size}', draw, tolerance, np.zeros(0))

        def permute(x: tp.Any, size: int = size) -> tp.Any:
            return chainerx.random.default_rng(3).permutation(size, device=x.device)

        checks.compare(f'permutation {size}', permute, np.zeros(0))


OPTIMIZERS = 'SGD MomentumSGD NesterovAG Adam AdamW AMSGrad AdaGrad AdaDelta RMSprop'


def check_optim(checks: Checks) -> None:
    import chainer  # all that stands on chainerx

    random = np.random.default_rng(13)
    for dtype in ('float32', 'float64'):
        first, second = (random.normal(size=(70, 300)).astype(dtype) for _ in range(2))
        for name in OPTIMIZERS.split():

            def train(*arrays: tp.Any, name: str = name) -> tp.Any:
                link = chainer.links.Parameter(arrays[0].copy())
                optimizer = getattr(chainer.optimizers, name)().setup(link)
                for _ in range(3):
                    link.W.grad = arrays[1] * link.W.array
                    optimizer.update()
                return link.W.array

            checks.compare(f'{name} {dtype}', train, first, second)
