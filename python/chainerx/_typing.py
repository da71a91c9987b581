"""Type aliases for the arguments of this package; for type checkers only.

Modules import it inside ``if tp.TYPE_CHECKING``, never at run time.
"""

from __future__ import annotations

import typing as tp
from collections.abc import Callable, Sequence
from os import PathLike

import numpy as np
import numpy.typing as npt

from chainerx import _core

Axis: tp.TypeAlias = int | Sequence[int]
Shape: tp.TypeAlias = tuple[int, ...]
ShapeLike: tp.TypeAlias = int | Sequence[int]
DTypeLike: tp.TypeAlias = npt.DTypeLike
DeviceLike: tp.TypeAlias = '_core.Device | str'
Number: tp.TypeAlias = complex | np.generic  # int, float and bool are complex to type checkers
NdArray: tp.TypeAlias = '_core.ndarray | np.ndarray'
ArrayLike: tp.TypeAlias = '_core.ndarray | np.ndarray | Number | Sequence[tp.Any]'

PathOrFile: tp.TypeAlias = str | PathLike[str] | tp.IO[tp.Any]

# A function of arrays: one of this package, or one that is passed to a transform.
Routine: tp.TypeAlias = Callable[..., tp.Any]

# An operand that type checkers can't follow. A batch of vmap claims to be a chainerx.ndarray and
# has its attributes, so that rules accept arrays, batches and numbers alike.
Operand: tp.TypeAlias = tp.Any
# An argument of a forwarded call: an operand, or an option of the routine.
Argument: tp.TypeAlias = tp.Any
# An array, or nested tuples, lists and dicts of them.
Tree: tp.TypeAlias = tp.Any
# An index in x[...], including batches.
Index: tp.TypeAlias = tp.Any
