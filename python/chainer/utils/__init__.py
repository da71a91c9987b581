"""Helpers of functions and links, which users' own functions and links need too."""

from __future__ import annotations

import collections as collections
import contextlib
import typing as tp
from collections import abc as collections_abc  # noqa: F401  (as in v7)

import numpy as np

from chainer._base import environment
from chainer.utils import _collections as _collections
from chainer.utils import argument as argument
from chainer.utils import array as array
from chainer.utils import cache as cache
from chainer.utils import conv as conv
from chainer.utils import conv_nd as conv_nd
from chainer.utils import conv_nd_kernel as conv_nd_kernel
from chainer.utils import error as error
from chainer.utils import imgproc as imgproc
from chainer.utils import meta as meta
from chainer.utils import precision as precision
from chainer.utils import type_check as type_check
from chainer.utils import walker_alias as walker_alias
from chainer.utils.array import size_of_shape as size_of_shape
from chainer.utils.array import sum_to as sum_to
from chainer.utils.conv import get_conv_outsize as get_conv_outsize
from chainer.utils.conv import get_deconv_outsize as get_deconv_outsize
from chainer.utils.error import _format_array_props as _format_array_props
from chainer.utils.experimental import experimental as experimental
from chainer.utils.meta import enable_final as enable_final
from chainer.utils.meta import final as final
from chainer.utils.nondeterministic import nondeterministic as nondeterministic
from chainer.utils.walker_alias import WalkerAlias as WalkerAlias

if tp.TYPE_CHECKING:  # filled in by that module, which stands above variables
    from chainer._typing import DTypeLike, NdArray
    from chainer.utils import sparse as sparse
    from chainer.utils.sparse import CooMatrix as CooMatrix
    from chainer.utils.sparse import get_order as get_order
    from chainer.utils.sparse import to_coo as to_coo


def force_array(x: tp.Any, dtype: DTypeLike | None = None) -> NdArray:
    """Makes an array of a scalar, and casts to ``dtype`` if it is given; else returns ``x``.

    NumPy's functions return scalars where one would expect arrays without dimensions.

    Args:
        x: A scalar or an array.
        dtype (dtype): None leaves it as it is.

    Returns:
        array: 0-d, of NumPy, for a scalar.
    """
    if np.isscalar(x):
        return np.array(x, dtype)
    return x if dtype is None else x.astype(dtype, copy=False)


def force_type(dtype: DTypeLike, value: tp.Any) -> tp.Any:
    """Casts a scalar or an array to ``dtype``; a value of this dtype is returned unchanged.

    Args:
        dtype (dtype): The dtype to have.
        value: A scalar or an array.

    Returns:
        A NumPy scalar for a scalar, else an array.
    """
    dtype = np.dtype(dtype)
    if np.isscalar(value):
        return dtype.type(tp.cast(tp.Any, value))
    return value if value.dtype == dtype else value.astype(dtype, copy=False)


@contextlib.contextmanager
def tempdir(**kwargs: tp.Any) -> tp.Iterator[str]:
    """A context with a temporary directory, which is removed with all that is in it.

    Args:
        **kwargs: As ``tempfile.mkdtemp`` takes them: `suffix`, `prefix`, `dir`.

    Yields:
        str: Its path.
    """
    import tempfile

    with tempfile.TemporaryDirectory(**kwargs) as path:
        yield path


def _check_arrays_forward_compatible(arrays: tp.Sequence, label: str | None = None) -> None:
    """Raises TypeError if inputs of a function are of more than one array library."""
    if not environment.is_arrays_compatible(arrays):
        where = '' if label is None else f' ({label})'
        kinds = ', '.join(str(type(a)) for a in arrays)
        raise TypeError(
            f'incompatible array types are mixed in the forward input{where}.\nActual: {kinds}'
        )


def _raise_from(exc_type: type[Exception], message: str, orig_exc: BaseException) -> tp.NoReturn:
    raise exc_type(message) from orig_exc


def _repr_with_named_data(inst: object, **kwargs: object) -> str:
    """A representation with the class and some values of an object."""
    cls = type(inst)
    return f'<{" ".join([f"{cls.__module__}.{cls.__name__}", *_pairs(kwargs)])}>'


def _pairs(values: dict[str, tp.Any]) -> list[str]:
    return [f'{name}={value}' for name, value in values.items()]
