"""Hooks for subclasses of `CaffeFunction` that read layers of their own, as in v7.

Their names begin with an underscore there, and are those of `caffe_function`.
"""

from __future__ import annotations

import collections.abc as c
import functools
import operator
import typing as tp

from chainer import configuration, variable
from chainer.functions.math.maximum import maximum
from chainer.links.caffe import _schema

if tp.TYPE_CHECKING:
    from google.protobuf.message import Message

    from chainer._link.chain import Chain
    from chainer._typing import AnyCallable, PerAxis, VariableLike

Setup: tp.TypeAlias = c.Callable[[tp.Any, tp.Any], None]

# The layers that `layer` has registered, by the type of a layer, and by the number of its type in
# the older format. They come before the methods of `CaffeFunction`.
type_to_method: dict[str, Setup] = {}
oldname_to_method: dict[int, Setup] = {}


def layer(typ: str, oldname: str | None) -> c.Callable[[Setup], Setup]:
    """Decorator of a method ``(self, layer)`` that reads layers of a type.

    Args:
        typ (str): The type.
        oldname (str): Its name in the older format; None if it has none.
    """

    def register(method: Setup) -> Setup:
        type_to_method[typ] = method
        if oldname is not None:
            oldname_to_method[_schema.OLD_TYPES[oldname]] = method
        return method

    return register


def get_num(blob: Message) -> int:
    """The length of the first axis of a blob."""
    return blob.num if blob.num > 0 else blob.shape.dim[0]


def get_channels(blob: Message) -> int:
    """The length of the second axis of a blob."""
    return blob.channels if blob.channels > 0 else blob.shape.dim[1]


def get_height(blob: Message) -> int:
    """The number of rows of a blob of matrices, or of one matrix."""
    return blob.height if blob.height > 0 else _last_but(blob, 2)


def get_width(blob: Message) -> int:
    """The number of columns of a blob of matrices, or of one matrix."""
    return blob.width if blob.width > 0 else _last_but(blob, 1)


def _last_but(blob: Message, n: int) -> int:
    ndim = len(blob.shape.dim)
    if ndim not in (2, 4):
        raise RuntimeError(f'{ndim}-dimensional array is not supported')
    return blob.shape.dim[ndim - n]


def get_ksize(param: Message) -> PerAxis:
    """The size of windows: one number, a list of them, or height and width."""
    return _of_window(param, 'kernel_size', 'kernel', [])


def get_stride(param: Message) -> PerAxis:
    """The steps of windows, as `get_ksize`."""
    return _of_window(param, 'stride', 'stride', 1)


def get_pad(param: Message) -> PerAxis:
    """The padding, as `get_ksize`."""
    return _of_window(param, 'pad', 'pad', 0)


def _of_window(param: Message, name: str, by_axis: str, default: PerAxis) -> PerAxis:
    both = getattr(param, f'{by_axis}_h'), getattr(param, f'{by_axis}_w')
    if any(both):
        return both
    value = getattr(param, name)
    if isinstance(value, int):
        return value
    return value[0] if len(value) == 1 else list(value) or default


class SingleArgumentFunction:
    """A function of one input, with the other arguments given.

    Args:
        func (callable): Which.
        *args: After the input.
        **kwargs: By name.
    """

    def __init__(self, func: AnyCallable, *args: object, **kwargs: object) -> None:
        self.func = func
        self.args = args
        self.kwargs = kwargs

    def __call__(self, x: VariableLike) -> tp.Any:
        return self.func(x, *self.args, **self.kwargs)


class SingleArgumentFunctionTestMode(SingleArgumentFunction):
    """The same, outside of training."""

    def __call__(self, x: VariableLike) -> tp.Any:
        with configuration.using_config('train', False):
            return super().__call__(x)


class ListArgumentFunction:
    """A function of a tuple of inputs, with the other arguments given.

    Args:
        func (callable): Which.
        **kwargs: By name.
    """

    def __init__(self, func: AnyCallable, **kwargs: object) -> None:
        self.func = func
        self.kwargs = kwargs

    def __call__(self, *xs: VariableLike) -> tp.Any:
        return self.func(xs, **self.kwargs)


class CallChildLink:
    """A child of a chain, found by its name in each call.

    Args:
        caffe_func (Chain): The chain.
        name (str): Of the child.
        always_in_use (bool): Whether it is never in training.
    """

    def __init__(self, caffe_func: Chain, name: str, always_in_use: bool = False) -> None:
        self.caffe_func = caffe_func
        self.name = name
        self.always_in_use = always_in_use

    def __call__(self, *xs: object, **kwargs: object) -> tp.Any:
        return self.call_in(self.caffe_func, xs, kwargs)

    def call_in(
        self, chain: Chain, xs: c.Sequence[tp.Any], kwargs: c.Mapping[str, tp.Any] = {}
    ) -> tp.Any:
        """Calls the child of another chain, such as a copy.

        Args:
            chain (Chain): Which.
            xs (sequence): Arguments.
            kwargs (mapping): Arguments by name.
        """
        if not self.always_in_use:
            return chain[self.name](*xs, **kwargs)
        with configuration.using_config('train', False):
            return chain[self.name](*xs, **kwargs)


class EltwiseFunction:
    """The product (0), weighted sum (1) or largest (2) of inputs.

    Args:
        operation (int): Which.
        coeffs (sequence of float): The weights; 1 by default.

    Raises:
        ValueError: For another operation, when it is called.
    """

    def __init__(self, operation: int, coeffs: c.Sequence[float] | None = None) -> None:
        self.operation = operation
        self.coeffs = coeffs

    def __call__(self, *xs: VariableLike) -> VariableLike:
        if self.operation == 1:
            weights = zip(self.coeffs or [1.0] * len(xs), xs, strict=True)
            terms = (x if k == 1 else variable.as_variable(x) * k for k, x in weights)
            return functools.reduce(operator.add, terms)
        if self.operation not in (0, 2):
            raise ValueError(f'operation is {self.operation}, expected 0 to 2')
        return functools.reduce(operator.mul if self.operation == 0 else maximum, xs)
