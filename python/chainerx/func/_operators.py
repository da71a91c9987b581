"""Operators and methods of batches, implemented by the corresponding routines."""

from __future__ import annotations

import collections.abc as c
import numbers
import operator
import typing as tp

import numpy as np

import chainerx
from chainerx import _core, _numpy_protocols
from chainerx.func import _batch
from chainerx.func._batch import Batched
from chainerx.func._rules_index import Indexer

if tp.TYPE_CHECKING:
    from chainerx._typing import Argument, Axis, Index, Operand, Routine

_BINARY = {
    'add': 'add',
    'sub': 'subtract',
    'mul': 'multiply',
    'truediv': 'divide',
    'floordiv': 'floor_divide',
    'mod': 'remainder',
    'pow': 'power',
    'matmul': 'matmul',
    'and': 'bitwise_and',
    'or': 'bitwise_or',
    'xor': 'bitwise_xor',
    'lshift': 'left_shift',
    'rshift': 'right_shift',
}
_COMPARE = {
    'eq': 'equal',
    'ne': 'not_equal',
    'lt': 'less',
    'le': 'less_equal',
    'gt': 'greater',
    'ge': 'greater_equal',
}
_UNARY = {'neg': 'negative', 'pos': 'positive', 'abs': 'absolute', 'invert': 'invert'}
# Methods that call a routine with the array first.
_METHODS = """
    all any argmax argmin argpartition argsort choose clip conj copy cumprod cumsum diagonal dot max
    mean min nonzero prod put ravel repeat reshape round searchsorted squeeze std sum swapaxes take
    trace var
"""
# Methods without a routine; their rules have these names, with the prefix 'ndarray.'.
_OWN = 'as_grad_stopped astype fill flatten partition sort to_device transpose view'
# Properties that call routines.
_PROPERTIES = {'T': 'transpose', 'mT': 'matrix_transpose'}


def _is_operand(x: Operand) -> bool:
    return _batch.is_array(x) or isinstance(x, (numbers.Number, np.generic))


def _binary(name: str, reflected: bool) -> Routine:
    function = getattr(_core, name)

    def method(self: Batched, other: Operand) -> Operand:
        if not _is_operand(other):
            return NotImplemented
        args = (other, self) if reflected else (self, other)
        return _batch.call(name, function, args, {})

    return method


def _in_place(name: str, routine: str) -> Routine:
    function = getattr(operator, name)

    def method(self: Batched, other: Operand) -> Operand:
        if not _is_operand(other):
            return NotImplemented
        level = _batch.innermost(self, other)
        if self.level.observer is not None and level is self.level:
            self.level.observer.write(self, routine, function, other)
            return self
        if level is not self.level:
            raise chainerx.ChainerxError(
                f'vmap: {name} would write other values for each example of a vmap into an array '
                'that is the same for all of them; compute a new one'
            )
        value = other
        if _batch.is_batch(other, self.level):
            if other.ndim > self.ndim:
                raise chainerx.DimensionError(
                    f'{name}: an array of shape {other.shape} into one of shape {self.shape}'
                )
            value = _batch.lift(other, self.level, self.ndim)
        try:
            self.array = function(self.array, value)
        except (chainerx.ChainerxError, TypeError) as error:
            plain = _batch.of_example(error, self.level, function, (self, other), {})
            if plain is error:
                raise
            raise plain from None
        return self

    return method


def _unary(name: str) -> Routine:
    function = getattr(_core, name)

    def method(self: Batched) -> Operand:
        return _batch.call(name, function, (self,), {})

    return method


def _routine(name: str, function: Routine) -> Routine:
    def method(self: Batched, *args: Argument, **kwargs: Argument) -> Operand:
        return _batch.call(name, function, (self, *args), kwargs)

    return method


def _method(name: str) -> Routine:
    """The method as a function of arrays, and of batches of outer vmaps."""

    def function(x: Operand, *args: Argument, **kwargs: Argument) -> Operand:
        return getattr(x, name)(*args, **kwargs)

    function.__name__ = name
    return function


def _divmod(self: Batched, other: Operand) -> Operand:
    return self // other, self % other


def _rdivmod(self: Batched, other: Operand) -> Operand:
    return other // self, other % self


def _compress(
    self: Operand, condition: Operand, axis: Axis | None = None, out: object = None
) -> Operand:
    return _batch.call('compress', _core.compress, (condition, self, axis, out), {})


def _put(self: Operand, indices: Operand, values: Operand, mode: str = 'raise') -> None:
    _batch.call('put', _core.put, (self, indices, values, mode), {})


def _is_backprop_required(self: Batched, *args: Argument, **kwargs: Argument) -> bool:
    return bool(self.array.is_backprop_required(*args, **kwargs))


def _of_part(name: str) -> property:
    """A property for the real or the imaginary part, which can be set."""

    def write(self: Batched, value: Operand) -> None:
        _batch.call(f'ndarray.{name}', _set_part(name), (self, value), {})

    return property(_routine(name, getattr(_core, name)), write)


def _set_part(name: str) -> Routine:
    def function(x: Operand, value: Operand) -> None:
        setattr(x, name, value)

    function.__name__ = name
    return function


def _set_item(self: Batched, index: Index, value: Operand) -> None:
    _batch.call('ndarray.__setitem__', operator.setitem, (self, index, value), {})


def _array_ufunc(
    self: Batched, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: Argument
) -> Operand:
    return _numpy_protocols.array_ufunc(self, ufunc, method, *inputs, **kwargs)  # type: ignore[arg-type]


def _array_function(
    self: Batched, func: Routine, types: c.Iterable[type], args: Argument, kwargs: Argument
) -> Operand:
    kinds = [chainerx.ndarray if t is Batched else t for t in types]
    return _numpy_protocols.array_function(self, func, kinds, args, kwargs)  # type: ignore[arg-type]


def _attach() -> None:
    methods: dict[str, tp.Any] = {'__divmod__': _divmod, '__rdivmod__': _rdivmod}
    for op, name in _BINARY.items():
        methods[f'__{op}__'] = _binary(name, False)
        methods[f'__r{op}__'] = _binary(name, True)
        if op not in ('pow', 'matmul'):
            methods[f'__i{op}__'] = _in_place(f'i{op}', name)
    for op, name in _COMPARE.items():
        methods[f'__{op}__'] = _binary(name, False)
    for op, name in _UNARY.items():
        methods[f'__{op}__'] = _unary(name)
    for name in _METHODS.split():
        methods[name] = _routine(name, getattr(_core, name))
    methods['compress'] = _compress
    methods['put'] = _put
    methods['conjugate'] = _routine('conj', _core.conj)
    # Routines of arrays that also accept batches.
    mirrors = [*_METHODS.split(), 'compress', 'conjugate']
    _batch.MIRRORS.update({name: methods[name] for name in mirrors})
    for name in _OWN.split():
        methods[name] = _routine(f'ndarray.{name}', _method(name))
    methods['is_backprop_required'] = _is_backprop_required
    methods['__array_ufunc__'] = _array_ufunc
    methods['__array_function__'] = _array_function
    methods['__getitem__'] = _routine('ndarray.__getitem__', operator.getitem)
    methods['__setitem__'] = _set_item
    for name, method in methods.items():
        method.__name__ = name
        setattr(Batched, name, method)
    for name, routine in _PROPERTIES.items():
        setattr(Batched, name, property(_routine(routine, getattr(_core, routine))))
    for name in ('real', 'imag'):
        setattr(Batched, name, _of_part(name))
    Batched.at = property(Indexer)  # type: ignore[attr-defined]


_attach()
