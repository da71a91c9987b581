"""Lists of lists of inputs: functions take variables one by one, users have them as they come.

The public function flattens what it is given and passes the structure as an attribute; the
composition, and the type check, put it together again::

    def rnn(hx, ws, xs):
        inputs, structure = flatten((hx, ws, xs))
        return RNN.call(*inputs, structure=structure)

    class RNN(BuiltinFunction):
        @staticmethod
        def compose(*inputs, structure):
            hx, ws, xs = unflatten(structure, inputs)
"""

from __future__ import annotations

import collections.abc as c
import typing as tp

# None stands for an input, a tuple for a list or tuple of inputs.
Structure: tp.TypeAlias = 'tuple[Structure, ...] | None'


def flatten(tree: tp.Any) -> tuple[list[tp.Any], Structure]:
    """The inputs in lists and tuples of any depth, and how they stood there.

    Any object but a list or tuple is an input; None is one, too.
    """
    inputs: list[object] = []

    def walk(node: tp.Any) -> Structure:
        if isinstance(node, (list, tuple)):
            return tuple(walk(child) for child in node)
        inputs.append(node)
        return None

    return inputs, walk(tree)


def unflatten(structure: Structure, inputs: c.Iterable[tp.Any]) -> tp.Any:
    """Return the structure that `flatten` was given, as tuples, with other ``inputs``.

    Raises:
        ValueError: If there are too many or too few of them.
    """
    rest = iter(inputs)

    def build(node: Structure) -> tp.Any:
        if node is not None:
            return tuple(build(child) for child in node)
        try:
            return next(rest)
        except StopIteration:
            raise ValueError('unflatten: too few inputs for the structure') from None

    tree = build(structure)
    if next(rest, rest) is not rest:
        raise ValueError('unflatten: more inputs than the structure has places')
    return tree
