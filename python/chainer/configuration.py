"""Configuration: one global object and thread-local values on top of it.

Any name can be a key. The thread-local part is in C++ (`engine.LocalConfig`), for many functions
read it; the engine keeps a copy of the keys that it reads on its fast paths.
"""

from __future__ import annotations

import os
import sys
import typing as tp

import numpy as np
from chainerx._core import engine

from chainer._base.mixed16 import mixed16


def _check(name: str, value: tp.Any) -> None:
    """Refuses what could only fail later and elsewhere."""
    if name == 'dtype' and value is not mixed16:
        if value is None:  # NumPy would read it as float64
            raise TypeError('config.dtype: expected a dtype or chainer.mixed16, got None')
        try:
            np.dtype(value)
        except TypeError:
            raise TypeError(
                f'config.dtype: expected a dtype or chainer.mixed16, got {value!r}'
            ) from None


class GlobalConfig:
    """Values that all threads see, unless they have set their own (`chainer.config`).

    ``chainer.global_config`` is the object in use. Keys of the user's own may be added.
    """

    debug: bool = tp.cast(bool, None)
    cudnn_deterministic: bool = tp.cast(bool, None)
    warn_nondeterministic: bool = tp.cast(bool, None)
    enable_backprop: bool = tp.cast(bool, None)
    keep_graph_on_report: bool = tp.cast(bool, None)
    train: bool = tp.cast(bool, None)
    type_check: bool = tp.cast(bool, None)
    use_cudnn: str = tp.cast(str, None)
    use_cudnn_tensor_core: str = tp.cast(str, None)
    autotune: bool = tp.cast(bool, None)
    schedule_func: tp.Any = None
    use_static_graph: bool = tp.cast(bool, None)
    use_ideep: str = tp.cast(str, None)
    lazy_grad_sum: bool = tp.cast(bool, None)
    cudnn_fast_batch_normalization: bool = tp.cast(bool, None)
    dtype: tp.Any = None
    in_recomputing: bool = tp.cast(bool, None)
    _will_recompute: bool = tp.cast(bool, None)
    compute_mode: str | None = None
    chainerx_fallback: str = tp.cast(str, None)

    def __setattr__(self, name: str, value: object) -> None:
        _check(name, value)
        object.__setattr__(self, name, value)
        engine.config_changed(self, name, value)

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)
        engine.config_changed(self, name)

    def show(self, file: tp.TextIO | None = None) -> None:
        """Prints keys and values, one per line, sorted.

        Args:
            file (file): Where to; standard output if None.
        """
        _print_attrs(self, self.__dict__, file)


class LocalConfig(engine.LocalConfig):
    """Values of the running thread; what it has not set is read from ``global_config``.

    ``chainer.config`` is the object in use. ``del config.key`` uncovers the global value.

    Args:
        global_config (GlobalConfig): Where to read what a thread has not set.

    Raises:
        AttributeError: Reading a key that is set nowhere; deleting one that the thread has not set.
    """

    __slots__ = ()

    _check = staticmethod(_check)

    def show(self, file: tp.TextIO | None = None) -> None:
        """Prints keys and values in effect, one per line, sorted.

        Args:
            file (file): Where to; standard output if None.
        """
        _print_attrs(self, {**self._global.__dict__, **self._local.__dict__}, file)


def _print_attrs(obj: object, keys: tp.Iterable[str], file: tp.TextIO | None) -> None:
    keys = sorted(keys)
    width = max(map(len, keys), default=0)
    for key in keys:
        print(f'{key:<{width}} {getattr(obj, key)}', file=file or sys.stdout)


def _flag(name: str, default: bool) -> bool:
    value = os.environ.get(name, str(int(default)))
    try:
        return bool(int(value))
    except ValueError:
        raise ValueError(f'{name}: expected 0 or 1, got {value!r}') from None


def _default_dtype() -> tp.Any:
    name = os.environ.get('CHAINER_DTYPE', 'float32')
    if name == 'mixed16':
        return mixed16
    if name not in ('float16', 'float32', 'float64'):
        raise TypeError(
            f'incorrect dtype name in CHAINER_DTYPE: "{name}". Only float16/32/64 and mixed16 are '
            'allowed.'
        )
    return np.dtype(name)


global_config = GlobalConfig()
global_config.debug = _flag('CHAINER_DEBUG', False)
global_config.cudnn_deterministic = False
global_config.warn_nondeterministic = False
global_config.enable_backprop = True
global_config.keep_graph_on_report = _flag('CHAINER_KEEP_GRAPH_ON_REPORT', False)
global_config.train = True
global_config.type_check = _flag('CHAINER_TYPE_CHECK', True)
global_config.use_cudnn = os.environ.get('CHAINER_USE_CUDNN', 'auto')
global_config.use_cudnn_tensor_core = 'auto'
global_config.autotune = False
global_config.schedule_func = None
global_config.use_static_graph = True
global_config.use_ideep = os.environ.get('CHAINER_USE_IDEEP', 'never')
global_config.lazy_grad_sum = _flag('CHAINER_LAZY_GRAD_SUM', False)
global_config.cudnn_fast_batch_normalization = _flag(
    'CHAINER_CUDNN_FAST_BATCH_NORMALIZATION', False
)
global_config.dtype = _default_dtype()
global_config.in_recomputing = False
global_config._will_recompute = False
global_config.compute_mode = None
# What happens when a function leaves the fast path: 'allow', 'warn' or 'error'.
global_config.chainerx_fallback = 'allow'

config = LocalConfig(global_config)


def using_config(
    name: str, value: object, config: LocalConfig | GlobalConfig = config
) -> engine.ConfigContext:
    """Sets a configuration value inside a ``with`` block; by default for this thread only.

    Args:
        name (str): The key.
        value: Its value inside.
        config (LocalConfig or GlobalConfig): Where it is set: `chainer.config`, or
            `chainer.global_config` for all threads.

    Returns:
        A context manager, and a decorator of functions.

    Raises:
        TypeError: On entering, for a ``dtype`` that is none.

    >>> import chainer
    >>> with chainer.using_config('train', False):
    ...     chainer.config.train
    False
    """
    return engine.using_config(name, value, config)
