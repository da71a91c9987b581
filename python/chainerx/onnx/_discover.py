"""Names of the arrays that a function uses besides its arguments."""

from __future__ import annotations

import functools
import types
import typing as tp

import chainerx
from chainerx.onnx._trace import key_of

if tp.TYPE_CHECKING:
    from collections.abc import Iterator

# How far arrays may be inside of objects.
_DEEPEST: tp.Final = 8


def named_arrays(
    function: tp.Any, given: tp.Any
) -> dict[tuple[tp.Any, ...], tuple[str, chainerx.ndarray]]:
    """Names by the memory of arrays: those that the user gave, then those that are found.

    Args:
        function (callable): Its closure, the globals it names, the attributes of its object.
        given (dict or None): Arrays, and trees of them, by name.

    Returns:
        dict: From `key_of` to the name and the array.

    Raises:
        TypeError: If ``given`` is no dict, or has something else in it.
    """
    found: dict[tuple[tp.Any, ...], tuple[str, chainerx.ndarray]] = {}
    if given is not None and not isinstance(given, dict):
        raise TypeError(f'export: names is {type(given).__name__}, expected a dict of arrays')
    for name, x in (given or {}).items():
        if not isinstance(name, str):
            raise TypeError(f'export: names has {name!r}, expected str')
        n_before = len(found)
        for path, array in _walk(x, name, set(), 0):
            found.setdefault(key_of(array), (path, array))
        if len(found) == n_before and not any(True for _ in _walk(x, name, set(), 0)):
            raise TypeError(
                f'export: names[{name!r}] is {type(x).__name__}, expected a chainerx.ndarray, '
                'or tuples, lists and dicts of them'
            )
    for path, array in _of_function(function, '', set(), 0):
        found.setdefault(key_of(array), (path, array))
    return found


def _join(path: str, name: object) -> str:
    return f'{path}.{name}' if path else str(name)


def _of_function(
    function: tp.Any, path: str, seen: set[int], depth: int
) -> Iterator[tuple[str, chainerx.ndarray]]:
    if id(function) in seen or depth > _DEEPEST:
        return
    if isinstance(function, functools.partial):
        seen.add(id(function))
        yield from _of_function(function.func, path, seen, depth + 1)
        for i, x in enumerate(function.args):
            yield from _walk(x, _join(path, f'args.{i}'), seen, depth + 1)
        for name, x in function.keywords.items():
            yield from _walk(x, _join(path, name), seen, depth + 1)
    elif isinstance(function, types.MethodType):
        yield from _of_attributes(function.__self__, path, seen, depth + 1)
        yield from _of_function(function.__func__, path, seen, depth + 1)
    elif isinstance(function, types.FunctionType):
        seen.add(id(function))
        if (wrapped := getattr(function, '__wrapped__', None)) is not None:
            yield from _of_function(wrapped, path, seen, depth + 1)
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        for name, cell in cells:
            try:
                yield from _walk(cell.cell_contents, _join(path, name), seen, depth + 1)
            except ValueError:  # not yet filled
                continue
        code = function.__code__
        positional = code.co_varnames[: code.co_argcount]
        values = function.__defaults__ or ()
        defaults = dict(zip(positional[len(positional) - len(values) :], values, strict=True))
        for name, x in {**defaults, **(function.__kwdefaults__ or {})}.items():
            yield from _walk(x, _join(path, name), seen, depth + 1)
        for name in _names_in(function.__code__):
            if name in function.__globals__:
                yield from _walk(function.__globals__[name], name, seen, depth + 1)
    elif callable(function):
        yield from _of_attributes(function, path, seen, depth)


def _names_in(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:  # functions inside of it
        if isinstance(constant, types.CodeType):
            yield from _names_in(constant)


def _of_attributes(
    x: tp.Any, path: str, seen: set[int], depth: int
) -> Iterator[tuple[str, chainerx.ndarray]]:
    if id(x) in seen or depth > _DEEPEST:
        return
    seen.add(id(x))
    names = [*getattr(x, '__dict__', {}), *getattr(type(x), '__slots__', ())]
    for name in names:
        value = getattr(x, name, None) if name in getattr(type(x), '__slots__', ()) else None
        value = getattr(x, '__dict__', {}).get(name, value)
        yield from _walk(value, _join(path, name), seen, depth + 1)


def _walk(
    x: tp.Any, path: str, seen: set[int], depth: int
) -> Iterator[tuple[str, chainerx.ndarray]]:
    if isinstance(x, chainerx.ndarray):
        if type(x) is chainerx.ndarray:
            yield path, x
        return
    is_nothing = isinstance(x, (str, bytes, int, float, type, types.ModuleType))
    if x is None or is_nothing or id(x) in seen or depth > _DEEPEST:
        return
    if isinstance(x, dict):
        seen.add(id(x))
        for name, y in list(x.items()):
            yield from _walk(y, _join(path, name), seen, depth + 1)
    elif isinstance(x, (list, tuple)):
        seen.add(id(x))
        for i, y in enumerate(x):
            yield from _walk(y, _join(path, i), seen, depth + 1)
    elif isinstance(x, (types.FunctionType, types.MethodType, functools.partial)):
        if not str(getattr(x, '__module__', '')).startswith('chainerx'):
            yield from _of_function(x, path, seen, depth)
    elif type(x).__module__ not in ('builtins', 'numpy', 'chainerx', 'chainerx._core'):
        yield from _of_attributes(x, path, seen, depth)
