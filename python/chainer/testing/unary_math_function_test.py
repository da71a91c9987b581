"""Tests of a function of one array, made from NumPy's function of the same name."""

from __future__ import annotations

import inspect
import typing as tp
import unittest

import numpy as np

import chainer
from chainer import gradient_check
from chainer.testing import array, attr, parameterized


def is_available() -> bool:
    """Whether the decorator is available; the marks of its tests need pytest."""
    return attr.is_available()


def check_available() -> None:
    """Raises RuntimeError if pytest is not there."""
    attr.check_available()


def _func_name(func) -> str:
    name = getattr(func, '__name__', None)
    if name is None or inspect.isclass(func):
        name = (func if inspect.isclass(func) else type(func)).__name__.lower()
    return name


def _func_class(func) -> tp.Any:
    """The class of a function that has a label, None for plain callables."""
    cls = func if inspect.isclass(func) else type(func)
    return cls if issubclass(cls, (chainer.Function, chainer.FunctionNode)) else None


def _as_callable(func):
    cls = _func_class(func)
    if cls is None:
        return func

    def call(x):
        # Each call needs an instance of its own.
        instance: tp.Any = func() if inspect.isclass(func) else func
        return instance.apply((x,))[0] if hasattr(instance, 'apply') else instance(x)

    return call


def _nonlinear(func):
    def square(*args):
        y = func(*args)
        return y * y

    return square


def _make_data_default(shape, dtype):
    return tuple(np.random.uniform(-1, 1, shape).astype(dtype, copy=False) for _ in range(3))


def _numpy_function(name):
    expected = getattr(np, name, None)
    if expected is None:
        raise ValueError(f"NumPy has no functions corresponding to Chainer function '{name}'.")
    return lambda x, dtype: expected(x).astype(dtype)


def unary_math_function_unittest(
    func: tp.Any,
    func_expected: tp.Any = None,
    label_expected: str | None = None,
    make_data: tp.Any = None,
    is_linear: tp.Any = None,
    forward_options: dict[str, object] | None = None,
    backward_options: dict[str, object] | None = None,
    double_backward_options: dict[str, object] | None = None,
) -> tp.Any:
    """Class decorator that fills a TestCase with tests of a function of one array.

    Args:
        func (callable): A function of one Variable, or the class of such a function.
        func_expected (callable): From an array and ``dtype=`` to the expected array, as functions
            of NumPy's; that of the same name if None.
        label_expected (str): Label, for a class; its name in lower case if None.
        make_data (callable): From a shape and a dtype to the input, the gradient of the output and
            the gradient of the gradient of the input; uniform on (-1, 1) if None.
        is_linear (bool): Whether the second derivative is 0 everywhere; the test of double backward
            then takes the square of the function.
        forward_options, backward_options, double_backward_options (dicts): Arguments of
            ``assert_allclose``, ``check_backward`` and ``check_double_backward``, added to those
            that the dtype gives.

    The tests run for the dtypes float16, float32 and float64 and the shapes (3, 2) and ().

    Returns:
        A class decorator.

    Raises:
        ValueError: If ``label_expected`` is given for a function without a class.
        TypeError: If no ``unittest.TestCase`` is decorated.
    """
    check_available()
    if func_expected is None:
        func_expected = _numpy_function(_func_name(func))
    func_class = _func_class(func)
    if func_class is None and label_expected is not None:
        raise ValueError(
            'Expected label is given even though Chainer function does not have its label.'
        )
    if make_data is None:
        make_data = _make_data_default
    call = _as_callable(func)
    call_twice = _nonlinear(call) if is_linear else call

    def set_up(self):
        self.x, self.gy, self.ggx = make_data(self.shape, self.dtype)
        if self.dtype == np.float16:
            eps = float(np.finfo(np.float16).eps)
            forward = {'atol': eps, 'rtol': eps}
            backward = {'eps': 2**-4, 'atol': 2**-4, 'rtol': 2**-4, 'dtype': np.float64}
        else:
            forward = {'atol': 1e-4, 'rtol': 1e-4}
            backward = {'dtype': np.float64, 'atol': 1e-4, 'rtol': 1e-4}
        self.forward_options = {**forward, **(forward_options or {})}
        self.backward_options = {**backward, **(backward_options or {})}
        self.double_backward_options = {**backward, **(double_backward_options or {})}

    def check_forward(self, device):
        y = call(chainer.Variable(device.send(self.x)))
        assert y.dtype == self.dtype, f'dtype is {y.dtype}, expected {self.dtype}'
        array.assert_allclose(
            func_expected(self.x, dtype=self.dtype), y.array, **self.forward_options
        )

    def check_backward(self, device):
        gradient_check.check_backward(
            call, device.send(self.x), device.send(self.gy), **self.backward_options
        )

    def check_double_backward(self, device):
        gradient_check.check_double_backward(
            call_twice,
            device.send(self.x),
            device.send(self.gy),
            device.send(self.ggx),
            **self.double_backward_options,
        )

    def test_label(self):
        expected = func_class.__name__.lower() if label_expected is None else label_expected
        instance: tp.Any = func() if inspect.isclass(func) else func
        assert instance.label == expected

    def add_tests(cls, check):
        what = check.__name__.removeprefix('check_')
        setattr(cls, check.__name__, check)
        places = {'cpu': ('@numpy', None), 'chainerx': ('native:0', attr.chainerx)}
        places['gpu'] = ('@cupy:0', attr.gpu)
        for place, (spec, mark) in places.items():

            def test(self, spec=spec):
                check(self, chainer.get_device(spec))

            test.__name__ = f'test_{what}_{place}'
            setattr(cls, test.__name__, mark(test) if mark else test)

    def decorate(cls: tp.Any):
        is_test_case = isinstance(cls, type) and issubclass(cls, unittest.TestCase)
        if not is_test_case:
            raise TypeError(f'the class must be a unittest.TestCase, not {cls}')
        cls.setUp = set_up
        for check in (check_forward, check_backward, check_double_backward):
            add_tests(cls, check)
        if func_class is not None:
            cls.test_label = test_label
        return parameterized.parameterize(
            *parameterized.product(
                {
                    'dtype': [np.float16, np.float32, np.float64],
                    'shape': [(3, 2), ()],
                }
            )
        )(cls)

    return decorate
