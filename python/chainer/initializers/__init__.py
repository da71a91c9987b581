"""Initializers of parameters.

They draw from `numpy.random` (or from ``rng``) on every device but CuPy's, so that a seed gives the
same weights everywhere, those of Chainer v7.
"""

from __future__ import annotations

import typing as tp

import chainerx
import numpy as np

from chainer import backend as backend
from chainer import types as types
from chainer._base import environment
from chainer.backends import cuda as cuda
from chainer.initializers.constant import Constant as Constant
from chainer.initializers.constant import Identity as Identity
from chainer.initializers.constant import NaN as NaN
from chainer.initializers.constant import One as One
from chainer.initializers.constant import Zero as Zero
from chainer.initializers.normal import GlorotNormal as GlorotNormal
from chainer.initializers.normal import HeNormal as HeNormal
from chainer.initializers.normal import LeCunNormal as LeCunNormal
from chainer.initializers.normal import Normal as Normal
from chainer.initializers.orthogonal import Orthogonal as Orthogonal
from chainer.initializers.sampling import DownsamplingConvFilter as DownsamplingConvFilter
from chainer.initializers.sampling import UpsamplingDeconvFilter as UpsamplingDeconvFilter
from chainer.initializers.uniform import GlorotUniform as GlorotUniform
from chainer.initializers.uniform import HeUniform as HeUniform
from chainer.initializers.uniform import LeCunUniform as LeCunUniform
from chainer.initializers.uniform import Uniform as Uniform

if tp.TYPE_CHECKING:
    from chainer._typing import DeviceSpec, DTypeLike, InitializerSpec, NdArray


def generate_array(
    initializer: types.AbstractInitializer,
    shape: types.ShapeSpec,
    xp: types.Xp,
    dtype: DTypeLike | None = None,
    device: DeviceSpec | None = None,
) -> NdArray:
    """Makes an array and fills it.

    Args:
        initializer: Fills it; any callable that takes an array.
        shape: Shape of the array.
        xp: Its module.
        dtype: Its dtype; None is that of the initializer, or else the configured one.
        device: Its device; None is the current one of ``xp``.

    Returns:
        array: Of the module ``xp``.

    Raises:
        ValueError: If dtypes of the initializer and ``dtype`` differ, or ``xp`` and ``device`` do
            not go together.
        TypeError: If the initializer is a class, which would make an object and fill nothing.
    """
    _refuse_class(initializer)
    own = getattr(initializer, 'dtype', None)
    if dtype is not None and own is not None and np.dtype(dtype) != np.dtype(own):
        raise ValueError(f'dtype mismatch: {dtype} != {own}')
    dtype = environment.get_dtype(own if dtype is None else dtype)
    if device is None:
        device = backend._guess_device_from_array_module(xp)
    else:
        device = backend.get_device(device)
        if device.xp is not xp:
            raise ValueError('xp and device arguments are inconsistent.')
    if xp is chainerx:
        # Filled as a NumPy array, which is all that an initializer of the user's needs to know.
        array = np.empty(shape, dtype)
        initializer(array)
        return device.send(array)
    with backend.using_device(device):
        array = xp.empty(shape, dtype=dtype)
        initializer(array)
    return array


def _get_initializer(initializer: InitializerSpec | None) -> tp.Any:
    """Return an initializer for an initializer argument: None, a value, an array or a callable."""
    if initializer is None:
        return LeCunNormal()
    if (np.isscalar(initializer) and not isinstance(initializer, (str, bytes))) or isinstance(
        initializer, (np.ndarray, chainerx.ndarray, cuda.ndarray)
    ):
        return Constant(initializer)
    if not callable(initializer):
        raise TypeError(
            f'invalid type of initializer: {type(initializer)}, expected an initializer such as '
            'chainer.initializers.HeNormal(), a function of an array, an array, or a number'
        )
    _refuse_class(initializer)
    return initializer


def _refuse_class(initializer: object) -> None:
    if isinstance(initializer, type):
        name = initializer.__name__
        raise TypeError(f'initializer is the class {name}, expected an object of it, as {name}()')
