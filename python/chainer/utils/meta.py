"""Methods that subclasses may not override."""

from __future__ import annotations

import typing as tp
import warnings

if tp.TYPE_CHECKING:
    from chainer._graph.function_node import FunctionNode


class _EnableFinal(type):
    def __new__(cls, name: str, bases: tuple[type, ...], d: dict[str, tp.Any]):
        for attribute in d:
            for base in bases:
                action = getattr(getattr(base, attribute, None), '__override_action', None)
                if action is None:
                    continue
                (kind,) = action
                if issubclass(kind, Warning):
                    warnings.warn(f"Overriding method '{attribute}'.", kind, stacklevel=2)
                else:
                    raise kind(f"method '{attribute}' is final.")
                break
        return super().__new__(cls, name, bases, d)


def final(*args: object, **kwargs: object) -> tp.Any:
    """Marks a method that subclasses may not override; see `enable_final`.

    Args:
        *args: The method, for ``@final`` without arguments.
        **kwargs: ``action``, the exception to raise, or the warning to issue, where it is
            overridden; TypeError by default.

    Returns:
        The method, or a decorator of methods.
    """
    if args:
        (function,) = args
        assert callable(function), f'final: expected a method, got {function!r}'
        return final(**kwargs)(function)

    def mark(function: FunctionNode) -> tp.Any:
        assert callable(function), f'final: expected a method, got {function!r}'
        setattr(function, '__override_action', (kwargs.get('action', TypeError),))
        return function

    return mark


def enable_final(base: tp.Any = (), meta_base: tp.Any = ()) -> tp.Any:
    """Makes a base for a class that has methods marked with `final`.

    Args:
        base: The bases that the class shall have.
        meta_base: The bases that its metaclass shall have.

    Returns:
        A class to derive from; it is not among the bases of what is derived.

    >>> class A(enable_final()):
    ...     @final
    ...     def f(self):
    ...         pass
    """
    bases = tuple(base) if isinstance(base, (list, tuple)) else (base,)
    meta_bases = tuple(meta_base) if isinstance(meta_base, (list, tuple)) else (meta_base,)
    base_metaclass: tp.Any = type('base_metaclass', (_EnableFinal, *meta_bases), {})

    class metaclass(base_metaclass):
        # Takes the temporary class out of the bases.
        def __new__(cls, name, this_bases, d):
            return base_metaclass(name, bases, d)

    return type.__new__(metaclass, 'temporary_class', (), {})
