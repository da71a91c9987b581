"""Base of the test cases of functions and of links: errors, checks, inputs."""

from __future__ import annotations

import contextlib
import typing as tp
import unittest
from collections.abc import Callable

import numpy as np

import chainer
from chainer import gradient_check
from chainer._diagnostics.numerical_grad import _format_props
from chainer.testing import array as array_module

if tp.TYPE_CHECKING:
    from chainer._typing import DTypeLike

# A point that is not smooth is dodged by other inputs, but not for ever.
_MAX_DODGES = 100


class _TestError(AssertionError):
    """The tested code is wrong, as opposed to the test."""

    def __init__(self, *args: object) -> None:  # inspect knows none of AssertionError
        super().__init__(*args)

    @classmethod
    def check(cls, expr, message):
        """Fails unless the expression is true."""
        if not expr:
            raise cls(message)

    @classmethod
    def fail(cls, message, exc=None):
        """Fails, telling the exception that is the reason."""
        if exc is None:
            raise cls(message)
        raise cls(f'{message}\n\n(caused by)\n{type(exc).__name__}: {exc}\n') from exc

    @classmethod
    @contextlib.contextmanager
    def raise_if_fail(cls, message, error_types=AssertionError):
        """Context manager: turns errors of the given classes into failures."""
        try:
            yield
        except error_types as error:
            cls.fail(message, error)


class FunctionTestError(_TestError):
    """The tested function is wrong.

    Args:
        *args: The message.
    """


class LinkTestError(_TestError):
    """The tested link is wrong.

    Args:
        *args: The message.
    """


def _check_tuple(values, name, error_class: type[Exception] = TypeError) -> None:
    if not isinstance(values, tuple):
        raise error_class(f'`{name}()` must return a tuple, not {type(values)}.')


def _check_array_types(arrays, device, func_name):
    """Checks the return value of a method of the test; a wrong type is an error of the test."""
    _check_tuple(arrays, func_name)
    if not all(a is None or isinstance(a, device.supported_array_types) for a in arrays):
        raise TypeError(
            f'{func_name}() must return a tuple of arrays supported by device {device} or None.\n'
            f'Actual: {tuple(type(a) for a in arrays)}'
        )


def _check_variable_types(vars, device, func_name, test_error_cls):
    """Checks the return value of the tested code; a wrong type is its failure."""
    _check_tuple(vars, func_name, test_error_cls)
    if not all(isinstance(v, chainer.Variable) for v in vars):
        test_error_cls.fail(
            f'{func_name}() must return a tuple of Variables.\n'
            f'Actual: {", ".join(str(type(v)) for v in vars)}'
        )
    if not all(isinstance(v.array, device.supported_array_types) for v in vars):
        test_error_cls.fail(
            f'{func_name}() must return a tuple of Variables of arrays supported by device '
            f'{device}.\nActual: {", ".join(str(type(v.array)) for v in vars)}'
        )


def _check_arrays_equal(actual_arrays, expected_arrays, test_error_cls, **opts):
    """Compares outputs: their number, shapes, dtypes and values."""
    props = (
        f'Expected shapes and dtypes: {_format_props(expected_arrays)}\n'
        f'Actual shapes and dtypes:   {_format_props(actual_arrays)}\n'
    )
    n_actual, n_expected = len(actual_arrays), len(expected_arrays)
    test_error_cls.check(
        n_actual == n_expected,
        f'Number of outputs ({n_actual}, {n_expected}) does not match\n{props}',
    )

    def key(a):
        return None if a is None else (a.shape, np.dtype(a.dtype))

    test_error_cls.check(
        [*map(key, actual_arrays)] == [*map(key, expected_arrays)],
        f'Shapes and/or dtypes do not match\n{props}',
    )
    errors = {}
    for i, (actual, expected) in enumerate(zip(actual_arrays, expected_arrays, strict=True)):
        try:
            if actual is not None:
                array_module.assert_allclose(actual, expected, **opts)
        except AssertionError as error:
            errors[i] = error
    if errors:
        details = ''.join(f'\n\nError details of output [{i}]:\n{e}' for i, e in errors.items())
        test_error_cls.fail(
            'Outputs do not match the expected values.\n'
            f'Indices of outputs that do not match: {", ".join(map(str, errors))}\n{props}{details}'
        )


def _check_not_modified(copies, arrays, during, test_error_cls):
    modified = [
        i
        for i, (copy, a) in enumerate(zip(copies, arrays, strict=True))
        if a is not None and not np.array_equal(copy, a, equal_nan=a.dtype.kind in 'fc')
    ]
    if modified:
        details = ''.join(
            f'\nInput[{i}]:\nOriginal:\n{copies[i]}\nAfter {during}:\n{arrays[i]}\n'
            for i in modified
        )
        test_error_cls.fail(
            f'Input arrays have been modified during {during}.\n'
            f'Indices of modified inputs: {", ".join(map(str, modified))}\n'
            f'Input array shapes and dtypes: {_format_props(arrays)}\n{details}'
        )


def _check_contiguousness(contiguous) -> None:
    assert contiguous in (None, 'C'), f'Invalid value of `contiguous`: {contiguous}'


def _copy(arrays):
    return tuple(None if a is None else a.copy() for a in arrays)


def _to_cpu(variables):
    cpu = chainer.backend.CpuDevice()
    return tuple(cpu.send(v.array) for v in variables)


def _to_device(arrays, backend_config):
    return tuple(backend_config.get_array(a) for a in arrays)


def _to_variables(arrays):
    return tuple(None if a is None else chainer.Variable(a) for a in arrays)


def _is_float(a) -> bool:
    return a is not None and np.dtype(a.dtype).kind == 'f'


def _random_like(arrays):
    """Uniform on (-1, 1) for arrays of floats, None for the others, which have no gradient."""
    return tuple(
        np.asarray(np.random.uniform(-1, 1, a.shape), a.dtype) if _is_float(a) else None
        for a in arrays
    )


class _TestBase:
    """Base of the tests of functions and of links."""

    _error_class: tp.ClassVar[type[_TestError]]
    _option_names: tp.ClassVar[tuple[str, ...]]

    backend_config: tp.Any = None
    test_name: str | None = None
    check_forward_options: tp.Any = None
    contiguous: str | None = None
    dodge_nondifferentiable = False
    numerical_grad_dtype: DTypeLike = np.float64

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        # Read from the instance, because tests change them in setUp.
        for name in self._option_names:
            setattr(self, name, dict(getattr(self, name) or {}))

    def before_test(self, test_name):
        """Called at the start of each test. Does nothing unless overridden."""

    def _begin(self, test_name, backend_config, skip=None):
        if skip is not None and getattr(self, skip):
            raise unittest.SkipTest(f'{skip} is set')
        self.backend_config = backend_config
        self.test_name = test_name
        self.before_test(test_name)

    def generate_inputs(self):
        """Returns a tuple of NumPy arrays."""
        raise NotImplementedError('generate_inputs() is not implemented.')

    def _generate_inputs(self):
        inputs = self.generate_inputs()
        _check_array_types(inputs, chainer.backend.CpuDevice(), 'generate_inputs')
        return inputs

    def generate_grad_outputs(self, outputs_template):
        """Returns the gradients of outputs that look like the template."""
        return _random_like(outputs_template)

    def _generate_grad_outputs(self, outputs_template):
        grads = self.generate_grad_outputs(outputs_template)
        _check_array_types(grads, chainer.backend.CpuDevice(), 'generate_grad_outputs')
        return grads

    def check_forward_outputs(self, outputs, expected_outputs):
        """Compares NumPy arrays by ``check_forward_options``; fails with an AssertionError."""
        _check_arrays_equal(
            outputs, expected_outputs, self._error_class, **self.check_forward_options
        )

    def _to_noncontiguous_as_needed(self, contig_arrays):
        _check_contiguousness(self.contiguous)
        if self.contiguous == 'C':
            return contig_arrays
        return array_module._as_noncontiguous_array(contig_arrays)

    def _check_smooth(self, check: Callable[[], None], message: str) -> None:
        """Runs a check of gradients, again where the point that it drew is not smooth."""
        for last in [False] * (_MAX_DODGES - 1) + [True]:
            try:
                with self._error_class.raise_if_fail(message):
                    check()
                return
            except gradient_check.NondifferentiableError:
                if last or not self.dodge_nondifferentiable:
                    raise

    def _gradient_options(self, options):
        return {
            'dtype': self.numerical_grad_dtype,
            'detect_nondifferentiable': self.dodge_nondifferentiable,
            **options,
        }
