"""NumPy-like arrays with automatic differentiation, on any device."""

from __future__ import annotations

import builtins as _builtins
import sys as _sys
import typing as _typing
from importlib.util import find_spec as _find_spec

import numpy as _numpy
from numpy import bool_ as bool_
from numpy import complex64 as complex64
from numpy import complex128 as complex128
from numpy import dtype as dtype
from numpy import e as e
from numpy import euler_gamma as euler_gamma
from numpy import float16 as float16
from numpy import float32 as float32
from numpy import float64 as float64
from numpy import inf as inf
from numpy import int8 as int8
from numpy import int16 as int16
from numpy import int32 as int32
from numpy import int64 as int64
from numpy import nan as nan
from numpy import newaxis as newaxis
from numpy import pi as pi
from numpy import uint8 as uint8
from numpy import uint16 as uint16
from numpy import uint32 as uint32
from numpy import uint64 as uint64

# Of a free-threaded Python, which turns the GIL on for chainerx unless it was told not to.
if getattr(_sys.flags, 'gil', None) == 0:
    raise ImportError(
        'chainerx needs the GIL of Python, which PYTHON_GIL=0 or -X gil=0 turns off: start Python '
        'without these'
    )
try:
    from chainerx import _core
    from chainerx._core import *  # noqa: F403
    from chainerx._core import fft as fft
    from chainerx._core import graph as graph
    from chainerx._core import linalg as linalg
    from chainerx._core import random as random
    from chainerx._core import special as special
except ImportError as _error:
    raise ImportError(
        f'the compiled part of chainerx is missing beside {__file__} or broken: {_error}. '
        'Install it anew: "pip install --force-reinstall chainerx", or "pip install ." in a clone.'
    ) from _error
from chainerx import _numpy_protocols as _numpy_protocols
from chainerx import cuda as cuda
from chainerx import profiler as profiler
from chainerx._array_api import __array_namespace_info__ as __array_namespace_info__
from chainerx._capture import capture as capture
from chainerx._config import config_info as config_info
from chainerx._config import show_config as show_config
from chainerx._dtypes import astype as astype
from chainerx._dtypes import can_cast as can_cast
from chainerx._dtypes import common_type as common_type
from chainerx._dtypes import finfo as finfo
from chainerx._dtypes import iinfo as iinfo
from chainerx._dtypes import iscomplexobj as iscomplexobj
from chainerx._dtypes import isdtype as isdtype
from chainerx._dtypes import isrealobj as isrealobj
from chainerx._dtypes import isscalar as isscalar
from chainerx._dtypes import issubdtype as issubdtype
from chainerx._dtypes import promote_types as promote_types
from chainerx._dtypes import result_type as result_type
from chainerx._functional import apply_along_axis as apply_along_axis
from chainerx._functional import apply_over_axes as apply_over_axes
from chainerx._functional import mask_indices as mask_indices
from chainerx._functional import piecewise as piecewise
from chainerx._functional import vectorize as vectorize
from chainerx._grids import c_ as c_
from chainerx._grids import mgrid as mgrid
from chainerx._grids import ndenumerate as ndenumerate
from chainerx._grids import ogrid as ogrid
from chainerx._grids import r_ as r_
from chainerx._io import asarray_chkfinite as asarray_chkfinite
from chainerx._io import fromfile as fromfile
from chainerx._io import fromfunction as fromfunction
from chainerx._io import fromiter as fromiter
from chainerx._io import fromstring as fromstring
from chainerx._io import genfromtxt as genfromtxt
from chainerx._io import load as load
from chainerx._io import loadtxt as loadtxt
from chainerx._io import save as save
from chainerx._io import savetxt as savetxt
from chainerx._io import savez as savez
from chainerx._io import savez_compressed as savez_compressed
from chainerx._numpy_names import *  # noqa: F403
from chainerx._shapes import broadcast_shapes as broadcast_shapes
from chainerx._shapes import isfortran as isfortran
from chainerx._shapes import may_share_memory as may_share_memory
from chainerx._shapes import ndim as ndim
from chainerx._shapes import shape as shape
from chainerx._shapes import shares_memory as shares_memory
from chainerx._shapes import size as size
from chainerx.profiler import profile as profile

# For `import chainerx.linalg`: the compiled part has no files of these names.
for _name in ('fft', 'linalg', 'random', 'special'):
    _sys.modules[f'{__name__}.{_name}'] = globals()[_name]

if _typing.TYPE_CHECKING:
    from chainerx import func as func
    from chainerx import onnx as onnx
    from chainerx import testing as testing
    from chainerx._core import ndarray as ndarray
    from chainerx.func import value_and_grad as value_and_grad

    bfloat16: type[_typing.Any]

__version__ = _core.__version__
__array_api_version__ = '2025.12'


# Names that NumPy 2 dropped, kept for existing code.
Inf = Infinity = PINF = infinity = infty = inf
NINF = -inf
NAN = NaN = nan
NZERO = -0.0
PZERO = 0.0

# The dtypes of the original; chainerx.testing.extended_all_dtypes includes the new ones.
all_dtypes = (bool_, int8, int16, int32, int64, uint8, float16, float32, float64)

bool = _builtins.bool
int = _builtins.int
float = _builtins.float


def is_available() -> _builtins.bool:
    """Whether the compiled core can be used.

    Returns:
        bool: Always True, since it is part of the package.
    """
    return True


def _rebuild(array: _numpy.ndarray, device_name: str) -> ndarray:
    """Unpickles an array."""
    return _core.array(array, device=_recover_device(device_name))


def _recover_device(name: str) -> Device:  # noqa: F405
    """Unpickles a device; falls back on the default one if it is not there, as arrays must, too.

    Pickle finds functions by name only if they are written in Python.
    """
    try:
        return get_device(name)  # noqa: F405
    except (BackendError, IndexError):  # noqa: F405
        return get_default_device()  # noqa: F405


def _recover_backend(name: str) -> Backend:  # noqa: F405
    return get_backend(name)  # noqa: F405


def _recover_generator(state: tuple[_builtins.int, _builtins.int]) -> random.Generator:
    generator = random.Generator(state[0])
    generator.state = state
    return generator


# Imported on first use: only programs with bfloat16 need ml_dtypes, only chainerx.testing needs
# pytest, and few programs need chainerx.func.
_LAZY = {
    'bfloat16': 'ml_dtypes:bfloat16',
    'func': 'chainerx.func',
    'onnx': 'chainerx.onnx',
    'testing': 'chainerx.testing',
    'value_and_grad': 'chainerx.func:value_and_grad',
}


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})


if not _typing.TYPE_CHECKING:  # else type checkers would accept any name

    def __getattr__(name: str) -> _typing.Any:
        if name in _LAZY:
            import importlib

            module, _, attribute = _LAZY[name].partition(':')
            found = importlib.import_module(module)
            return getattr(found, attribute) if attribute else found
        from chainerx._absent import explain

        raise AttributeError(explain(name), name=name, obj=_sys.modules[__name__])


# The package is only located here, not imported: the library opens it at the first product.
if _spec := _find_spec('scipy_openblas32'):
    for _folder in _spec.submodule_search_locations or ():
        _core._set_openblas_path(f'{_folder}/lib/libscipy_openblas.so')
