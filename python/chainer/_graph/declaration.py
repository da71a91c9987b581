"""The declaration of a built-in function: its composition, and the properties derived from it."""

from __future__ import annotations

import functools
import inspect
import typing as tp

import chainerx
import numpy as np
from chainerx._core import engine

if tp.TYPE_CHECKING:
    from chainer._typing import AnyCallable, NdArray


class routine(staticmethod):
    """A composition that is a function called with the inputs, and then with the attributes.

    Args:
        function: A chainerx routine, or a composition with a gradient of its own.
        **attributes: The names of its parameters after the inputs, with their defaults; ``...`` for
            one that has none.
    """

    # Python 3.15 makes a static method of one argument only.
    def __new__(cls, function: AnyCallable, **attributes: object) -> tp.Self:
        return super().__new__(cls, function)  # type: ignore[call-arg]  # typeshed lacks it

    def __init__(self, function: AnyCallable, **attributes: object) -> None:
        super().__init__(function)
        self.attributes = attributes


def composition_of(cls: type) -> staticmethod | None:
    """Return the composition of the class itself; a method of this name does not count."""
    composition = cls.__dict__.get('compose')
    return composition if isinstance(composition, staticmethod) else None


def attributes_of(composition: staticmethod) -> dict[str, tp.Any]:
    """The names of the attributes, with their defaults; ``...`` for one that has none."""
    if isinstance(composition, routine):
        return composition.attributes
    function = composition.__func__
    code = getattr(function, '__code__', None)
    if code is None:
        return {}  # a chainerx routine
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    defaults = function.__kwdefaults__ or {}
    return {name: defaults.get(name, ...) for name in names}


def signature(attributes: dict[str, tp.Any], names: dict[str, str]) -> inspect.Signature:
    """That of the constructor, which calls attributes by other ``names``.

    One that has no default but stands behind one that has is taken by keyword only, with those
    behind it.
    """
    parameters = []
    positional = True
    seen_default = False
    for name, default in attributes.items():
        required = default is ...
        seen_default |= not required
        positional &= not (required and seen_default)
        parameter = inspect.Parameter
        parameters.append(
            parameter(
                names.get(name, name),
                parameter.POSITIONAL_OR_KEYWORD if positional else parameter.KEYWORD_ONLY,
                default=parameter.empty if required else default,
            )
        )
    return inspect.Signature(parameters)


def writable(op: str, name: str, array: NdArray) -> chainerx.ndarray:
    """An array that is an attribute, for a composition to write to: over the same memory.

    Args:
        op (str): The function, for the error.
        name (str): The attribute, likewise.
        array (array): Of any kind, on the device of the inputs.

    Returns:
        chainerx.ndarray: In no graph; the values written must be in no graph, either.

    Raises:
        TypeError: If it is no array.
        ValueError: If it can't be written to.
    """
    if engine.kind(array) is None:
        raise TypeError(f'{op}: {name} is a {type(array).__name__}, expected an array')
    if isinstance(array, np.ndarray) and not array.flags.writeable:
        raise ValueError(f'{op}: {name} is read-only')
    view = engine.side(array)
    if not isinstance(array, np.ndarray) or array.size == 0:
        return tp.cast(chainerx.ndarray, view)
    if not engine.unobserved(functools.partial(_is_over, view, array)):
        raise ValueError(
            f'{op}: {name} has dtype {array.dtype.str} and strides {array.strides}, through '
            'which it can only be read'
        )
    return tp.cast(chainerx.ndarray, view)


def _is_over(view: chainerx.ndarray, array: np.ndarray) -> bool:
    return np.shares_memory(array, chainerx.to_numpy(view, copy=False))
