"""Functions of Python that appear as one node."""

from __future__ import annotations

import functools
import inspect
import itertools
import typing as tp
import warnings

import chainer

from onnx_chainer._values import like

if tp.TYPE_CHECKING:
    from chainer._typing import AnyCallable, Arrays, Gradients


class _Replaced(chainer.FunctionNode):
    """A function of the user's: inputs are the Variables among its arguments."""

    def __init__(self, function: AnyCallable, call: tp.Callable[[Arrays], tp.Any]) -> None:
        self._function = function
        self._call = call
        self._backward_graph: tuple[list[chainer.Variable], list[chainer.Variable]] | None = None

    def forward(self, inputs: Arrays) -> Arrays:
        xs = [chainer.Variable(x) for x in inputs]
        with chainer.using_config('enable_backprop', True):
            found = self._call(tuple(xs))
        ys = list(found) if isinstance(found, (list, tuple)) else [found]
        ys = [chainer.as_variable(y) for y in ys]
        self._backward_graph = (xs, ys)
        return tuple(y.array for y in ys)

    def backward(self, indexes: tuple[int, ...], grad_outputs: Gradients) -> tp.Any:
        xs, ys = tp.cast(tuple, self._backward_graph)
        used = [(y, g) for y, g in zip(ys, grad_outputs, strict=True) if g is not None]
        return chainer.grad([y for y, _ in used], [xs[i] for i in indexes], [g for _, g in used])


def fake_as_funcnode(
    alt_func: AnyCallable,
    name: str,
    rename_attributes: tp.Sequence[tuple[str, str]] | None = None,
    experimental_warning: bool = True,
) -> AnyCallable:
    """A function that the graph shows as one node, for converters of one's own.

    The Variables and arrays among the arguments are its inputs; all others are attributes of the
    node.

    Args:
        alt_func (callable): The function. It returns a Variable, or a list or tuple of them.
        name (str): The name of the node's class, under which its converter is found.
        rename_attributes (list of tuple of str): Names of arguments, and what they are called as
            attributes.
        experimental_warning (bool): Whether a FutureWarning is given when it is called.

    Returns:
        callable: Takes the arguments of ``alt_func``. Differentiable once.

    Raises:
        ValueError: When it is called without any Variable or array.
    """
    renamed = dict(rename_attributes or ())
    signature = inspect.signature(alt_func)
    kind = type(name, (_Replaced,), {'label': name})

    @functools.wraps(alt_func)
    def call(*args: tp.Any, **kwargs: tp.Any) -> tp.Any:
        if experimental_warning:
            warnings.warn(f'{name}: fake_as_funcnode is experimental', FutureWarning, stacklevel=2)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        places: list[tuple[str, int | None]] = []
        xs: list[tp.Any] = []
        attributes: dict[str, tp.Any] = {}
        for key, value in bound.arguments.items():
            if _is_value(value):
                places.append((key, None))
                xs.append(value)
            elif isinstance(value, (list, tuple)) and value and all(map(_is_value, value)):
                places.append((key, len(value)))
                xs += value
            else:
                attributes[renamed.get(key, key)] = value
        if not xs:
            raise ValueError(f'{name}: no argument is a Variable or an array')

        def run(inputs: tuple[chainer.Variable, ...]) -> tp.Any:
            arguments = dict(bound.arguments)
            left = iter(inputs)
            for key, n in places:
                if n is None:
                    arguments[key] = next(left)
                else:
                    arguments[key] = like(arguments[key], list(itertools.islice(left, n)))
            again = inspect.BoundArguments(signature, tp.cast(tp.Any, arguments))
            return alt_func(*again.args, **again.kwargs)

        node = kind(alt_func, run)
        for key, value in attributes.items():
            setattr(node, key, value)
        outputs = node.apply(xs)
        return outputs[0] if len(outputs) == 1 else outputs

    return call


def _is_value(value: object) -> bool:
    return isinstance(value, (chainer.Variable, *chainer.get_array_types()))


def as_funcnode(
    name: str, rename_attributes: tp.Sequence[tuple[str, str]] | None = None
) -> tp.Callable[[AnyCallable], AnyCallable]:
    """The decorator form of `fake_as_funcnode`.

    Args:
        name (str): The name of the node's class.
        rename_attributes (list of tuple of str): See `fake_as_funcnode`.

    Returns:
        callable: The decorator.
    """

    def decorate(function: AnyCallable) -> AnyCallable:
        return fake_as_funcnode(function, name, rename_attributes, experimental_warning=False)

    return decorate
