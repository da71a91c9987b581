"""Dispatches NumPy's functions on chainerx arrays to our functions, or raises TypeError."""

from __future__ import annotations

import sys
import typing as tp

import numpy as np

from chainerx import _core, _ufunc_methods

if tp.TYPE_CHECKING:
    from chainerx._typing import Argument, Routine

# NumPy's ufuncs that have another name here, and NumPy's modules that exist here.
_UFUNCS = {'degrees': 'rad2deg', 'radians': 'deg2rad', 'divide': 'true_divide'}
_MODULES = {'numpy': '', 'numpy.linalg': 'linalg', 'numpy.fft': 'fft'}
# Operators of NumPy's scalars pass these as arrays without dimensions.
_COMPARISONS = ('equal', 'not_equal', 'less', 'less_equal', 'greater', 'greater_equal')


def _refuse_numpy(name: str, arrays: tp.Iterable[object]) -> None:
    if any(isinstance(x, np.ndarray) for x in arrays):
        raise TypeError(
            f'{name}: one operand is a numpy.ndarray, the other a chainerx.ndarray; '
            'convert with chainerx.array(x, device=...) or chainerx.to_numpy(x)'
        )


def _lacks(name: str, module: str = 'numpy.') -> TypeError:
    return TypeError(
        f'{module}{name}: chainerx has no function of that name; convert with chainerx.to_numpy(x)'
    )


def array_ufunc(
    self: _core.ndarray, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: Argument
) -> tp.Any:
    """NumPy calls this for its elementwise functions."""
    name = ufunc.__name__
    # The second operand of `at` and `reduceat` are indices, of any kind.
    operands = inputs if method in ('__call__', 'outer') else (*inputs[:1], *inputs[2:])
    if any(
        not isinstance(x, (_core.ndarray, np.ndarray, np.generic, int, float, complex))
        for x in operands
    ):
        return NotImplemented
    if name in _COMPARISONS and method == '__call__':
        inputs = operands = tuple(
            [x[()] if isinstance(x, np.ndarray) and x.ndim == 0 else x for x in inputs]
        )
    out = kwargs.get('out', ())
    _refuse_numpy(name, (*operands, *out))
    chainerx = sys.modules['chainerx']
    function = getattr(chainerx, name, None) or getattr(chainerx, _UFUNCS.get(name, ''), None)
    function = function or getattr(_core.special, name, None)
    if function is None:  # other libraries have ufuncs, too, for example SciPy
        raise _lacks(name, 'numpy.' if hasattr(np, name) else '')
    if method != '__call__':
        return _ufunc_methods.call(ufunc, function, method, inputs, kwargs)
    if out:
        kwargs['out'] = out[0] if len(out) == 1 else out
    return function(*inputs, **kwargs)


def array_function(
    self: _core.ndarray,
    func: Routine,
    types: tp.Iterable[type],
    args: tuple[Argument, ...],
    kwargs: dict[str, Argument],
) -> tp.Any:
    """NumPy calls this for its other functions."""
    name = func.__name__
    _refuse_numpy(name, (*args, *kwargs.values()))
    if any(t is np.ndarray for t in types):
        _refuse_numpy(name, [np.empty(0)])
    if not all(t is _core.ndarray for t in types):
        return NotImplemented
    module = getattr(func, '__module__', '')
    place = sys.modules['chainerx']
    if module not in _MODULES:
        raise _lacks(f'{module.removeprefix("numpy.")}.{name}')
    if _MODULES[module]:
        place = getattr(place, _MODULES[module])
    function = getattr(place, name, None)
    if function is None:
        raise _lacks('.'.join(filter(None, (_MODULES[module], name))))
    return function(*args, **kwargs)


_core._set_protocols(array_ufunc, array_function)
