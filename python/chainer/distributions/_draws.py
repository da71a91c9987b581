"""Where random numbers come from: `numpy.random` on the host, or a generator of chainerx.

`numpy.random.seed` repeats both, and both have the same methods. Standard numbers are of the dtype
of the parameters, on their device; samples that depend on parameters are constants, in no graph.
"""

from __future__ import annotations

import math
import typing as tp

import chainerx
import numpy as np
from chainerx._core import engine

from chainer import backend, variable

if tp.TYPE_CHECKING:
    from chainer._typing import ArrayLike, DTypeLike, NdArray, VariableLike

Shape = tuple[int, ...]


def source_for(x: variable.Variable) -> Source:
    """The source for a distribution with this parameter."""
    device = x.device
    if isinstance(device, backend.ChainerxDevice):
        return DeviceSource(device.device, x.dtype)
    return HostSource(device, x.dtype)


class HostSource:
    """`numpy.random`, in the order in which v7 drew; the numbers are sent to the device."""

    def __init__(self, device: backend.Device, dtype: np.dtype) -> None:
        self._device = device
        self._dtype = dtype

    def _send(self, values: ArrayLike, dtype: DTypeLike | None = None) -> NdArray:
        return self._device.send(np.asarray(values).astype(dtype or self._dtype))

    def normal(self, shape: Shape) -> NdArray:
        return self._send(np.random.standard_normal(shape))

    def exponential(self, shape: Shape) -> NdArray:
        return self._send(np.random.standard_exponential(shape))

    def cauchy(self, shape: Shape) -> NdArray:
        return self._send(np.random.standard_cauchy(shape))

    def gumbel(self, shape: Shape) -> NdArray:
        return self._send(np.random.gumbel(size=shape))

    def laplace(self, shape: Shape) -> NdArray:
        return self._send(np.random.laplace(size=shape))

    def uniform(self, shape: Shape) -> NdArray:
        return self._send(np.random.uniform(0, 1, shape))

    def gamma(self, k: VariableLike, shape: Shape) -> NdArray:
        return self._send(np.random.gamma(to_host(k), size=shape))

    def beta(self, a: VariableLike, b: VariableLike, shape: Shape) -> NdArray:
        return self._send(np.random.beta(to_host(a), to_host(b), size=shape))

    def chisquare(self, k: VariableLike, shape: Shape) -> NdArray:
        return self._send(np.random.chisquare(to_host(k), shape))

    def poisson(self, lam: VariableLike, shape: Shape) -> NdArray:
        return self._send(np.random.poisson(to_host(lam), size=shape))

    def bernoulli(self, p: VariableLike, shape: Shape) -> NdArray:
        """int64."""
        return self._send(np.random.binomial(1, to_host(p), size=shape), np.int64)

    def geometric(self, p: VariableLike, shape: Shape) -> NdArray:
        given = to_host(p)
        draws = np.random.geometric(given, size=shape)
        if (tiny := given < 1e-12).any():  # NumPy computes log(1 - p), and overflows int64
            places = np.broadcast_to(tiny, draws.shape)
            rate = np.broadcast_to(-np.log1p(-given.astype(np.float64)), draws.shape)[places]
            draws = draws.astype(np.float64)
            trials = np.ceil(np.random.standard_exponential(rate.shape) / rate)
            draws[places] = np.maximum(trials, 1)
        return self._send(draws)

    def categories(self, p: VariableLike, n: int) -> NdArray:
        """int64, ``(n,) + batch`` for ``batch + (categories,)``, as `numpy.random.choice`."""
        return self._send(_categories(to_host(p), n), np.int64)

    def one_hot(self, p: VariableLike, n: int) -> NdArray:
        """Rows of the identity for `categories`."""
        return self._send(np.eye(p.shape[-1])[_categories(to_host(p), n)])

    def simplices(self, alpha: VariableLike, n: int) -> NdArray:
        """``(n,) + batch + (elements,)``, as `numpy.random.dirichlet`."""
        return self._send(_simplices(to_host(alpha), n))


class DeviceSource:
    """A generator of chainerx with a key from `numpy.random`: the same numbers on every device."""

    def __init__(self, device: chainerx.Device, dtype: np.dtype) -> None:
        self._random = chainerx.random.Generator(engine.draw_key())
        self._options: tp.Any = {'dtype': dtype, 'device': device}

    def normal(self, shape: Shape) -> chainerx.ndarray:
        return self._random.standard_normal(shape, **self._options)

    def exponential(self, shape: Shape) -> chainerx.ndarray:
        return self._random.standard_exponential(shape, **self._options)

    def cauchy(self, shape: Shape) -> chainerx.ndarray:
        return self._random.standard_cauchy(shape, **self._options)

    def gumbel(self, shape: Shape) -> chainerx.ndarray:
        return self._random.gumbel(size=shape, **self._options)

    def laplace(self, shape: Shape) -> chainerx.ndarray:
        return self._random.laplace(size=shape, **self._options)

    def uniform(self, shape: Shape) -> chainerx.ndarray:
        return self._random.random(shape, **self._options)

    def gamma(self, k: VariableLike, shape: Shape) -> chainerx.ndarray:
        return self._random.standard_gamma(_plain(k), shape, **self._options)

    def beta(self, a: VariableLike, b: VariableLike, shape: Shape) -> chainerx.ndarray:
        return self._random.beta(_plain(a), _plain(b), shape, **self._options)

    def chisquare(self, k: VariableLike, shape: Shape) -> chainerx.ndarray:
        return self._random.chisquare(_plain(k), shape, **self._options)

    def poisson(self, lam: VariableLike, shape: Shape) -> chainerx.ndarray:
        return self._random.poisson(_plain(lam), shape, **self._options)

    def bernoulli(self, p: VariableLike, shape: Shape) -> chainerx.ndarray:
        return self._random.bernoulli(_plain(p), shape, np.int64)

    def geometric(self, p: VariableLike, shape: Shape) -> chainerx.ndarray:
        # Computes with the logarithm, because there may be more trials than integers.
        rate = -chainerx.log1p(-_plain(p).astype('float64'))
        waited = self._random.standard_exponential(
            shape, dtype='float64', device=self._options['device']
        )
        return chainerx.maximum(chainerx.ceil(waited / rate), 1).astype(self._options['dtype'])

    def categories(self, p: VariableLike, n: int) -> chainerx.ndarray:
        p = _plain(p)
        return self._random.categorical(p, (n, *p.shape[:-1]), np.int64)

    def one_hot(self, p: VariableLike, n: int) -> chainerx.ndarray:
        rows = chainerx.eye(p.shape[-1], **self._options)
        return rows.take(self.categories(p, n), axis=0)

    def simplices(self, alpha: VariableLike, n: int) -> chainerx.ndarray:
        alpha = _plain(alpha)
        return self._random.dirichlet(alpha, (n, *alpha.shape[:-1]), **self._options)


Source = HostSource | DeviceSource


def to_host(x: VariableLike) -> np.ndarray:
    """The values of a variable or an array on the host."""
    return tp.cast(np.ndarray, backend.CpuDevice().send(variable.as_array(x)))


def _plain(x: VariableLike) -> chainerx.ndarray:
    """The array of a parameter, in no graph."""
    return variable.as_array(x).as_grad_stopped()


def _categories(p: np.ndarray, n: int) -> np.ndarray:
    batch, count = p.shape[:-1], p.shape[-1]
    rows = p.reshape(math.prod(batch), count)
    sums = rows.astype(np.float64).cumsum(axis=1)
    sums /= sums[:, -1:]
    numbers = np.random.random_sample((len(rows), n))
    return np.ascontiguousarray(_count_up_to(sums, numbers).T).reshape(n, *batch)


def _count_up_to(sums: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """For each number how many of its row's ascending ``sums`` are at most that: bisection."""
    low = np.zeros(numbers.shape, np.int64)
    high = np.full(numbers.shape, sums.shape[1], np.int64)
    for _ in range(sums.shape[1].bit_length()):
        middle = (low + high) >> 1
        open_ = low < high
        at = np.take_along_axis(sums, np.minimum(middle, sums.shape[1] - 1), axis=1)
        above = open_ & (at <= numbers)
        low = np.where(above, middle + 1, low)
        high = np.where(open_ & ~above, middle, high)
    return low


def _simplices(alpha: np.ndarray, n: int) -> np.ndarray:
    batch, count = alpha.shape[:-1], alpha.shape[-1]
    rows = alpha.reshape(math.prod(batch), count).astype(np.float64)
    parts = np.random.standard_gamma(rows[:, None, :], size=(len(rows), n, count))
    total = parts.sum(axis=-1, keepdims=True)
    lost = total[..., 0] == 0
    if lost.any():  # all underflow for tiny alpha, of which the limit is one of the corners
        row = np.nonzero(lost)[0]
        corner = _categories((rows / rows.sum(axis=1, keepdims=True))[row], 1)[0]
        parts[lost] = np.eye(count)[corner]
        total[lost] = 1
    return np.moveaxis(parts / total, 1, 0).reshape(n, *batch, count)
