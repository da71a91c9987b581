"""Backends as parameters of tests."""

from __future__ import annotations

import functools
import inspect
import typing as tp

import chainer
from chainer.testing import _bundle, attr

if tp.TYPE_CHECKING:
    from types import ModuleType

    import numpy as np

    from chainer._typing import NdArray


class BackendConfig:
    """A device and the configuration of its libraries; a context manager that applies both.

    Args:
        params (dict): ``use_chainerx`` with ``chainerx_device``, or ``use_cuda`` with
            ``cuda_device``, or ``use_ideep``; ``use_cudnn``, ``cudnn_deterministic``, ``autotune``,
            ``cudnn_fast_batch_normalization``. All are attributes of the instance.
    """

    _props = (
        ('use_chainerx', False),
        ('chainerx_device', None),
        ('use_cuda', False),
        ('cuda_device', None),
        ('use_cudnn', 'never'),
        ('cudnn_deterministic', False),
        ('autotune', False),
        ('cudnn_fast_batch_normalization', False),
        ('use_ideep', 'never'),
    )

    # The keys that are configuration, the others choose the device.
    _config_keys = (
        'use_cudnn',
        'cudnn_deterministic',
        'autotune',
        'cudnn_fast_batch_normalization',
        'use_ideep',
    )

    use_chainerx: bool
    chainerx_device: str | None
    use_cuda: bool
    cuda_device: int | None
    use_cudnn: str
    use_ideep: str

    def __init__(self, params: dict[str, tp.Any]) -> None:
        if not isinstance(params, dict):
            raise TypeError(f'params must be a dict, not {type(params)}')
        defaults = dict(self._props)
        for key in params:
            if key not in defaults:
                raise ValueError(f'Parameter {key} is not defined')
        vars(self).update(defaults | params)
        self._contexts: list[list[tp.Any]] = []
        self._device: chainer.backend.Device | None = None
        if self.use_cuda and self.cuda_device is None:
            self.cuda_device = 0
        if self.use_chainerx:
            # Assertions, as suites that build invalid combinations expect.
            assert not self.use_cuda, "'use_chainerx' and 'use_cuda' exclude each other"
            assert isinstance(self.chainerx_device, str), (
                "'chainerx_device' parameter is expected to be a string representing a ChainerX "
                f'device specifier, not {self.chainerx_device!r}'
            )

    @property
    def device(self) -> chainer.backend.Device:
        """The device, asked for at first use: a missing one fails only the tests that use it."""
        if self._device is None:
            if self.use_chainerx:
                spec = self.chainerx_device
            elif self.use_cuda:
                spec = f'@cupy:{self.cuda_device}'
            else:
                spec = '@numpy' if self.use_ideep == 'never' else '@intel64'
            self._device = chainer.get_device(spec)
        return self._device

    @property
    def xp(self) -> ModuleType:
        """The array module of the device."""
        return self.device.xp

    def get_array(self, np_array: np.ndarray) -> NdArray:
        """Sends an array to the device.

        Args:
            np_array (numpy.ndarray): Which; None is taken, too.

        Returns:
            array: None stays None.
        """
        return None if np_array is None else self.device.send(np_array)

    def __enter__(self) -> BackendConfig:
        entered: list[tp.ContextManager[object]] = []
        try:
            for key in self._config_keys:
                self._enter(entered, chainer.using_config(key, getattr(self, key)))
            self._enter(entered, chainer.using_device(self.device))
        except BaseException:
            self._exit(entered)
            raise
        self._contexts.append(entered)
        return self

    def __exit__(self, typ, value, traceback) -> None:
        self._exit(self._contexts.pop())

    @staticmethod
    def _enter(entered: list[tp.ContextManager[object]], context: tp.Any) -> None:
        context.__enter__()
        entered.append(context)

    @staticmethod
    def _exit(entered: list[tp.ContextManager[object]]) -> None:
        for context in reversed(entered):
            context.__exit__(None, None, None)

    def __repr__(self) -> str:
        values = ' '.join(f'{key}={getattr(self, key)!r}' for key, _ in self._props)
        return f'<BackendConfig {values}>'

    def get_func_str(self) -> str:
        """All parameters, as a part of the name of a test."""

        def to_str(value):
            return str(value).lower() if isinstance(value, bool) else str(value)

        return '__'.join(f'{key}_{to_str(getattr(self, key))}' for key, _ in self._props)

    def get_pytest_marks(self) -> list[tp.Any]:
        """Decorators that mark a test of this backend."""
        marks: list[object] = []
        gpus = 0
        if self.use_chainerx:
            assert self.chainerx_device is not None
            marks.append(attr.chainerx)
            name, _, index = self.chainerx_device.partition(':')
            if name == 'cuda':
                gpus = int(index or 0) + 1
        elif self.use_cuda:
            assert self.cuda_device is not None
            gpus = self.cuda_device + 1
            if self.use_cudnn != 'never':
                marks.append(attr.cudnn)
        if gpus:
            marks.insert(0 if self.use_cuda else len(marks), attr.gpu)
        if gpus > 1:
            marks.append(attr.multi_gpu(gpus))
        if self.use_ideep != 'never':
            marks.append(attr.ideep)
        return marks


def _inject(test, params: dict[str, object]):
    @functools.wraps(test)
    def run(self, *args, **kwargs):
        return test(self, BackendConfig(params), *args, **kwargs)

    # pytest must not take the argument that is filled in here for a fixture.
    parameters = list(inspect.signature(test).parameters.values())
    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        parameters[:1] + parameters[2:] if len(parameters) > 1 else parameters
    )
    for mark in BackendConfig(params).get_pytest_marks():
        run = mark(run)
    return run


def _test_case_generator(base: type, method_names, params):
    tests = _bundle.list_test_methods(base)
    chosen = tests if method_names is None else [name for name in tests if name in method_names]
    others = [name for name in tests if name not in chosen]
    if others:
        # The tests that take no backend run once.
        yield f'{base.__name__}_without_backend', dict.fromkeys(chosen)
    for param in params:
        members = dict.fromkeys(others)
        members |= {name: _inject(getattr(base, name), param) for name in chosen}
        yield f'{base.__name__}_{BackendConfig(param).get_func_str()}', members


def inject_backend_tests(method_names: list[str] | None, params: list[dict[str, object]]) -> tp.Any:
    """Class decorator that runs tests once per backend.

    Args:
        method_names (list of str): Tests that take a ``BackendConfig`` as their first argument;
            None means all. The other tests run once.
        params (list of dicts): Arguments of ``BackendConfig``.

    The tests enter the context themselves. They carry the marks of the backend (``chainerx``,
    ``gpu``, ``cudnn``, ``ideep``).

    Returns:
        A class decorator.

    Raises:
        TypeError: If ``method_names`` or ``params`` is of another type.
    """
    if not (method_names is None or isinstance(method_names, list)):
        raise TypeError('method_names must be either None or a list.')
    if not (isinstance(params, list) and all(isinstance(param, dict) for param in params)):
        raise TypeError('params must be a list of dicts.')
    return _bundle.make_decorator(
        functools.partial(_test_case_generator, method_names=method_names, params=params)
    )
