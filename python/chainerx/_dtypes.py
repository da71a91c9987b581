"""Properties and promotion of dtypes: NumPy's functions, extended by bfloat16."""

from __future__ import annotations

import typing as tp

import numpy as np

from chainerx import _core

if tp.TYPE_CHECKING:
    from chainerx._typing import ArrayLike, DeviceLike, DTypeLike

_KINDS = {
    'bool': 'b',
    'signed integer': 'i',
    'unsigned integer': 'u',
    'integral': 'iu',
    'real floating': 'f',
    'complex floating': 'c',
    'numeric': 'iufc',
}


class _NoLimitsError(_core.DtypeError, ValueError):
    """The error of finfo and iinfo: a DtypeError as for all dtypes, a ValueError like NumPy's."""


def _dtype(op: str, x: DTypeLike | _core.ndarray) -> np.dtype:
    """The dtype of an array, or of an argument of numpy.dtype()."""
    if isinstance(x, _core.ndarray):
        return x.dtype
    try:
        return _core.empty(0, x, 'native:0').dtype
    except (_core.DtypeError, TypeError) as e:
        raise type(e)(str(e).replace('empty:', f'{op}:', 1)) from None


def _kind(dtype: np.dtype) -> str:
    return 'f' if dtype.name == 'bfloat16' else dtype.kind


class FloatLimits:
    """What :func:`finfo` returns: what :class:`numpy.finfo` has, in numbers of Python."""

    bits: int
    dtype: np.dtype
    eps: float
    epsneg: float
    iexp: int
    machep: int
    max: float
    maxexp: int
    min: float
    minexp: int
    negep: int
    nexp: int
    nmant: int
    precision: int
    resolution: float
    smallest_normal: float
    smallest_subnormal: float
    tiny: float

    def __init__(self, found: object, dtype: np.dtype) -> None:
        for name, kind in self.__annotations__.items():
            value = getattr(found, name)
            setattr(self, name, float(value) if kind == 'float' else value)
        self.dtype = dtype

    def __repr__(self) -> str:
        return f'FloatLimits({", ".join(f"{k}={v!r}" for k, v in vars(self).items())})'


def finfo(dtype: DTypeLike | _core.ndarray) -> FloatLimits:
    """Limits of a floating point dtype, as :func:`numpy.finfo`.

    Args:
        dtype: A dtype, or an array of it. Of a complex one, those of its parts.
    Returns:
        FloatLimits: ``eps``, ``max``, ``min``, ``smallest_normal`` and so on as floats of Python;
        ``bits``, ``dtype``.
    Raises:
        DtypeError: If it is not floating or complex; a ValueError, too.
    """
    d = _dtype('finfo', dtype)
    if _kind(d) not in 'fc':
        raise _NoLimitsError(f'finfo: dtype must be floating or complex, got {d}')
    if d.name == 'bfloat16':
        import ml_dtypes

        return FloatLimits(ml_dtypes.finfo(d), d)
    found = np.finfo(d)
    return FloatLimits(found, found.dtype)


def iinfo(type: DTypeLike | _core.ndarray) -> np.iinfo:
    """Limits of an integer dtype, as :func:`numpy.iinfo`.

    Args:
        type: A dtype, or an array of it.
    Returns:
        numpy.iinfo: ``min``, ``max``, ``bits`` and ``dtype``.
    Raises:
        DtypeError: If it is not of integers; a ValueError, too.
    """
    d = _dtype('iinfo', type)
    if _kind(d) not in 'iu':
        raise _NoLimitsError(f'iinfo: type must be of integers, got {d}')
    return np.iinfo(d)


def promote_types(type1: DTypeLike, type2: DTypeLike) -> np.dtype:
    """The dtype that arrays of two dtypes give together, by the rules of docs/dtypes.md.

    Args:
        type1, type2: Dtypes.
    Returns:
        numpy.dtype: Of their sum.
    Raises:
        DtypeError: If there is no such dtype.
    """
    return result_type(_dtype('promote_types', type1), _dtype('promote_types', type2))


def result_type(*arrays_and_dtypes: ArrayLike | DTypeLike) -> np.dtype:
    """The dtype that arrays, dtypes and numbers give together, by the rules of docs/dtypes.md.

    Args:
        *arrays_and_dtypes: At least one. Python numbers change the kind of a dtype, never its
            width.
    Returns:
        numpy.dtype: That of a sum.
    Raises:
        ValueError: If there are none.
        DtypeError: If there is no such dtype.
    """
    if not arrays_and_dtypes:
        raise ValueError('result_type: no array or dtype was given, expected one or more')
    numbers: list[tp.Any] = []
    others: list[tp.Any] = []
    for x in arrays_and_dtypes:
        (numbers if isinstance(x, (bool, int, float, complex)) else others).append(x)
    empty = [_core.empty(0, _dtype('result_type', x), 'native:0') for x in others]
    if not empty:
        # Their values do not matter, as beside a dtype.
        empty = [_core.full(0, type(x)(0), device='native:0') for x in numbers]
        numbers = []
    result = _core.concatenate(empty).dtype
    condition = _core.empty(0, 'bool', 'native:0')
    for number in numbers:
        kind = type(number)(0)  # its value does not matter
        result = _core.where(condition, _core.empty(0, result, 'native:0'), kind).dtype
    return result


def can_cast(from_: tp.Any, to: DTypeLike, casting: tp.Any = 'safe') -> bool:
    """Whether a dtype can be cast to another, as :func:`numpy.can_cast`.

    Args:
        from_: A dtype, or an array of it.
        to: A dtype.
        casting (str): 'no', 'equiv', 'safe', 'same_kind' or 'unsafe'.
    Returns:
        bool: 'safe': if no value can be lost.
    Raises:
        ValueError: If there is no such rule.
        DtypeError: If there is no such dtype.
        TypeError: If ``from_`` is a number.
    """
    if isinstance(from_, (bool, int, float, complex)):
        raise TypeError(
            f'can_cast: from_ must be a dtype or an array, got {type(from_).__name__}; '
            'a number has no dtype of its own'
        )
    return np.can_cast(_dtype('can_cast', from_), _dtype('can_cast', to), casting)


def isdtype(dtype: DTypeLike, kind: tp.Any) -> bool:
    """Whether a dtype is of a kind, as in the array API standard.

    Args:
        dtype: A dtype.
        kind: A dtype, a kind ('bool', 'signed integer', 'unsigned integer', 'integral', 'real
            floating', 'complex floating', 'numeric'), or a tuple of these.
    Returns:
        bool: Of a tuple, whether it is of one of them.
    Raises:
        ValueError: If there is no such kind.
        DtypeError: If there is no such dtype.
    """
    d = _dtype('isdtype', dtype)
    for k in kind if isinstance(kind, tuple) else (kind,):
        if isinstance(k, str) and k in _KINDS:
            if _kind(d) in _KINDS[k]:
                return True
            continue
        try:
            other = _dtype('isdtype', k)
        except _core.DtypeError:
            if not isinstance(k, str):
                raise
            kinds = ', '.join(_KINDS)
            raise ValueError(f'isdtype: kind is {k!r}, expected one of {kinds}') from None
        if d == other:
            return True
    return False


_ABSTRACT: tp.Final = {
    np.generic: 'biufc',
    np.number: 'iufc',
    np.integer: 'iu',
    np.signedinteger: 'i',
    np.unsignedinteger: 'u',
    np.inexact: 'fc',
    np.floating: 'f',
    np.complexfloating: 'c',
}


def issubdtype(arg1: DTypeLike, arg2: tp.Any) -> bool:
    """Whether a dtype is of an abstract type, such as ``chainerx.floating``, or is another dtype.

    Args:
        arg1: A dtype.
        arg2: One of NumPy's abstract types, which are here, too: ``generic``, ``number``,
            ``integer``, ``signedinteger``, ``unsignedinteger``, ``inexact``, ``floating``,
            ``complexfloating``. Or a dtype.
    Returns:
        bool: As :func:`numpy.issubdtype`; bfloat16 is ``floating``.
    Raises:
        DtypeError: If there is no such dtype.
    """
    d = _dtype('issubdtype', arg1)
    if arg2 in _ABSTRACT:
        return _kind(d) in _ABSTRACT[arg2]
    return d == _dtype('issubdtype', arg2)


def common_type(*arrays: _core.ndarray) -> type[np.generic]:
    """The floating or complex type that arrays have in common.

    Args:
        *arrays (ndarray): At least one; integers count as float32, the default dtype.
    Returns:
        type: A scalar type, as ``numpy.float32``.
    Raises:
        TypeError: If one is no ndarray.
        ValueError: If there are none.
        DtypeError: If one is of bool.
    """
    for x in arrays:
        if not isinstance(x, _core.ndarray):
            raise TypeError(
                f'common_type: arrays must be of chainerx.ndarray, got {type(x).__name__}'
            )
        if x.dtype == bool:
            raise _core.DtypeError('common_type: arrays must be of numbers, got bool')
    d = result_type(*arrays)
    return np.dtype('float32').type if _kind(d) in 'iu' else d.type


def iscomplexobj(x: tp.Any) -> bool:
    """Whether the dtype of an array, or a number, is complex.

    Args:
        x: An array or a number.
    Returns:
        bool: Also if all imaginary parts are 0.
    """
    if isinstance(x, _core.ndarray):
        return x.dtype.kind == 'c'
    return bool(np.iscomplexobj(x))


def isrealobj(x: object) -> bool:
    """Whether the dtype of an array, or a number, is not complex.

    Args:
        x: An array or a number.
    Returns:
        bool: The contrary of :func:`iscomplexobj`.
    """
    return not iscomplexobj(x)


def isscalar(element: object) -> bool:
    """Whether something is a number (or a string) outside of any array, as :func:`numpy.isscalar`.

    Args:
        element: Anything.
    Returns:
        bool: False for arrays without dimensions.
    """
    return bool(np.isscalar(element))


def astype(
    x: _core.ndarray, dtype: DTypeLike, /, *, copy: bool = True, device: DeviceLike | None = None
) -> _core.ndarray:
    """The array in another dtype.

    Args:
        x (ndarray): Any shape and dtype.
        dtype: What numpy.dtype() takes.
        copy (bool): If False, ``x`` itself where nothing changes.
        device: Default: that of ``x``.
    Returns:
        ndarray: Differentiable if both dtypes are floating or complex, any order.
    Raises:
        TypeError: If ``x`` is no ndarray.
        DtypeError: If there is no such dtype.
    """
    if not isinstance(x, _core.ndarray):
        kind = 'numpy.ndarray' if isinstance(x, np.ndarray) else type(x).__name__
        raise TypeError(f'astype: x must be a chainerx.ndarray, got {kind}')
    y = x.astype(dtype, copy)
    return y if device is None or y.device is _core.get_device(device) else y.to_device(device)
