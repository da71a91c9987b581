"""What annotations call the arguments of this package.

It is for type checkers: modules import it inside ``if tp.TYPE_CHECKING``, never at run time. Types
that Chainer v7 has in public are those of `chainer.types`.
"""

from __future__ import annotations

import typing as tp
from collections.abc import Callable, Sequence
from types import EllipsisType

import chainerx
import numpy as np

from chainer._graph.variable import Variable
from chainer.backends import cuda
from chainer.types import DeviceSpec as DeviceSpec
from chainer.types import DTypeSpec
from chainer.types import InitializerSpec as _InitializerSpec
from chainer.types import NdArray as NdArray
from chainer.types import ScalarValue as ScalarValue
from chainer.types import Shape as Shape
from chainer.types import ShapeSpec as ShapeSpec
from chainer.utils.type_check import LightTypeInfoTuple, TypeInfoTuple

if tp.TYPE_CHECKING:
    from PIL.Image import Image

DTypeLike: tp.TypeAlias = DTypeSpec
Number: tp.TypeAlias = complex | np.generic  # int, float and bool are complex to type checkers

# Arrays of any of the three kinds, and what becomes one.
Arrays: tp.TypeAlias = tuple[NdArray, ...]
# Number, array, and the version of its memory.
Retained: tp.TypeAlias = tuple[tuple[int, NdArray, int], ...]
ArrayLike: tp.TypeAlias = NdArray | Number | Sequence[tp.Any]
ImageLike: tp.TypeAlias = 'Image | np.ndarray'

# Functions take variables and arrays; backward is called with variables, None for no gradient.
VariableLike: tp.TypeAlias = Variable | NdArray
VariableOrNumber: tp.TypeAlias = VariableLike | Number
Gradients: tp.TypeAlias = tuple[Variable | None, ...]
InTypes: tp.TypeAlias = TypeInfoTuple | LightTypeInfoTuple
# One of them: an array, or an expression that stands for it; what is said of it holds for both.
InType: tp.TypeAlias = tp.Any

Axis: tp.TypeAlias = int | tuple[int, ...]
# One integer for all spatial axes, or one for each.
PerAxis: tp.TypeAlias = int | Sequence[int]
Index: tp.TypeAlias = (
    tp.SupportsIndex | slice | EllipsisType | Sequence[tp.Any] | VariableLike | None
)
# What a dataset is to iterators, and what it gives.
Example: tp.TypeAlias = tp.Any


class Dataset(tp.Protocol):
    def __len__(self) -> int: ...

    def __getitem__(self, index: tp.Any, /) -> Example: ...


class Serializable(tp.Protocol):
    def serialize(self, serializer: tp.Any, /) -> tp.Any: ...


# Which example stands where, in an epoch or a part of a dataset.
Order: tp.TypeAlias = Sequence[int] | np.ndarray

# A function of a trainer, or a period: (1000, 'iteration').
TriggerLike: tp.TypeAlias = Callable[[tp.Any], bool] | tuple[float, str]
# What links and extensions have reported, by name.
Observation: tp.TypeAlias = dict[str, tp.Any]
# What a log says of one moment, by name.
Row: tp.TypeAlias = dict[str, tp.Any]

# Of any signature; a Layer is a link or a function.
AnyCallable: tp.TypeAlias = Callable[..., tp.Any]
Layer: tp.TypeAlias = AnyCallable

InitializerSpec: tp.TypeAlias = _InitializerSpec | NdArray | Callable[[tp.Any], None]

# The result is of the kind of the argument.
AnyArray = tp.TypeVar('AnyArray', 'np.ndarray', 'cuda.ndarray', 'chainerx.ndarray')
