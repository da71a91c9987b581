"""Distributions whose parameters are arrays."""

from __future__ import annotations

import numbers
import operator
import typing as tp

import chainerx
import numpy as np

from chainer import backend, configuration, distribution, variable
from chainer import functions as F
from chainer._base.environment import get_dtype
from chainer.distributions import _domains
from chainer.distributions._draws import Source, source_for

if tp.TYPE_CHECKING:
    from chainer._typing import NdArray, VariableOrNumber


class Parametric(distribution.Distribution):
    """A distribution whose parameters are arrays of one float dtype and one batch."""

    domains: tp.ClassVar[dict[str, str]]
    """The domain of each parameter, of ``_domains.DOMAINS``."""

    event_ndims: tp.ClassVar[dict[str, int]] = {}
    """How many axes at the end of a parameter are no batch, where there are any."""

    def _set_params(self, **given: VariableOrNumber | None) -> None:
        """Converts the parameters, makes attributes of them and of `params`."""
        arrays = self._convert(**given)
        self._params = _broadcast(type(self).__name__, arrays, self.event_ndims)
        self.__dict__.update(self._params)  # those that are no properties
        name, first = next(iter(self._params.items()))
        self._first = first
        self._batch_shape = first.shape[: first.ndim - self.event_ndims.get(name, 0)]
        if configuration.config.debug:
            self._check_params()

    def _convert(self, **given: VariableOrNumber | None) -> dict[str, variable.Variable]:
        return _as_variables(type(self).__name__, given)

    def _check_params(self) -> None:
        for name, x in self._params.items():
            _domains.check(type(self).__name__, name, x, self.domains[name])

    @property
    def params(self) -> dict[str, variable.Variable]:
        return dict(self._params)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return self._batch_shape

    @property
    def event_shape(self) -> tuple[int, ...]:
        return ()

    def sample_n(self, n: int) -> variable.Variable:
        n = operator.index(n)
        if n < 0:
            raise ValueError(f'{type(self).__name__}.sample_n: n is {n}, expected >= 0')
        self._check_params()
        return self._sample(n)

    def _sample(self, n: int) -> variable.Variable:
        """``n`` samples; the parameters have been checked."""
        raise self._lacks('sample_n')

    def _shape(self, n: int) -> tuple[int, ...]:
        return (n, *self.batch_shape, *self.event_shape)

    @property
    def _source(self) -> Source:
        """Where random numbers for these parameters come from."""
        return source_for(self._first)

    def _leaf(self, values: NdArray) -> variable.Variable:
        """Samples of which the parameters are no part of a graph."""
        return variable.Variable(values, requires_grad=values.dtype.kind == 'f')

    def _point(self, x: VariableOrNumber) -> variable.Variable:
        """Where it is evaluated: in the dtype of the parameters, but for variables of floats."""
        dtype = self._first.dtype
        if isinstance(x, numbers.Real):
            x = self._first.device.send(np.asarray(x).astype(dtype))
        given = variable.as_variable(x)
        stays = given.dtype == dtype or (given is x and given.dtype.kind == 'f')
        return given if stays else F.cast(given, dtype)

    def _full(self, value: float) -> variable.Variable:
        """An array of the shape of the batch."""
        x = self._first
        return variable.as_variable(x.device.send(x.xp.full(self.batch_shape, value, x.dtype)))


def _as_variables(owner: str, given: dict[str, tp.Any]) -> dict[str, variable.Variable]:
    """Parameters as variables; numbers and integers take the dtype of the arrays of floats.

    chainerx arrays of several float dtypes are promoted, as by the functions that take them.
    """
    arrays = [x for x in given.values() if hasattr(x, 'dtype')]
    dtypes = [x.dtype for x in arrays if x.dtype.kind not in 'biu'] or [get_dtype()]
    device = backend.get_device_from_array(*arrays)
    promotes = device.xp is chainerx
    dtype = np.dtype(chainerx.result_type(*dtypes)) if promotes else dtypes[0]
    found = {}
    for name, x in given.items():
        if isinstance(x, numbers.Real) and not hasattr(x, 'dtype'):
            x = device.send(np.asarray(x, dtype))
        elif isinstance(x, np.generic):
            x = np.asarray(x)
        elif x is None or not hasattr(x, 'dtype'):
            kind = type(x).__name__
            raise TypeError(f'{owner}: {name} is {kind}, expected a Variable, array or number')
        if x.dtype.kind in 'biu' or (promotes and x.dtype.kind == 'f' and x.dtype != dtype):
            x = F.cast(x, dtype)
        x = found[name] = variable.as_variable(x)
        if x.dtype.kind != 'f' or x.dtype != dtype:
            expected = 'floats' if x.dtype.kind != 'f' else f'{dtype} as that of others'
            raise TypeError(f'{owner}: the dtype of {name} is {x.dtype}, expected {expected}')
    return found


def _broadcast(
    owner: str, params: dict[str, variable.Variable], event_ndims: dict[str, int]
) -> dict[str, variable.Variable]:
    """Parameters of one batch shape."""
    ends = {name: x.ndim - event_ndims.get(name, 0) for name, x in params.items()}
    for name, end in ends.items():
        if end < 0:
            shape = params[name].shape
            raise ValueError(
                f'{owner}: the shape of {name} is {shape}, expected ndim >= {event_ndims[name]}'
            )
    batches = [x.shape[: ends[name]] for name, x in params.items()]
    if len(set(batches)) == 1:
        return params
    try:
        batch = np.broadcast_shapes(*batches)
    except ValueError:
        shapes = ', '.join(f'{name} {x.shape}' for name, x in params.items())
        raise ValueError(f'{owner}: shapes do not broadcast: {shapes}') from None
    return {name: F.broadcast_to(x, batch + x.shape[ends[name] :]) for name, x in params.items()}


def exactly_one(owner: str, **given: object) -> str:
    """The name of the one that is given."""
    names = [name for name, value in given.items() if value is not None]
    if len(names) != 1:
        has = ' and '.join(names) or 'neither'
        raise ValueError(f'{owner}: {has} given, expected either {" or ".join(given)}')
    return names[0]
