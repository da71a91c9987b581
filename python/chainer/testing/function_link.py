"""Test cases of functions and links: forward against NumPy, gradients against differences."""

from __future__ import annotations

import typing as tp
import unittest

import numpy as np

import chainer
from chainer import gradient_check
from chainer.testing._function_link_base import (
    FunctionTestError,
    LinkTestError,
    _check_array_types,
    _check_arrays_equal,
    _check_contiguousness,
    _check_not_modified,
    _check_variable_types,
    _copy,
    _is_float,
    _random_like,
    _TestBase,
    _TestError,
    _to_cpu,
    _to_device,
    _to_variables,
)

if tp.TYPE_CHECKING:
    from chainer import backend
    from chainer._graph.variable import Variable
    from chainer._link.link import Link
    from chainer.testing.backend import BackendConfig

__all__ = [
    'FunctionTestBase',
    'FunctionTestCase',
    'FunctionTestError',
    'InitializerArgument',
    'LinkInitializersTestCase',
    'LinkTestCase',
    'LinkTestError',
    '_TestError',
    '_check_contiguousness',
]


class FunctionTestBase(_TestBase):
    """Tests of a function, without a test framework.

    A subclass overrides ``generate_inputs``, ``forward`` and ``forward_expected``; the attributes
    are as in `FunctionTestCase`. ``run_test_forward(backend_config)`` and its likes run the tests.

    Args:
        *args, **kwargs: Arguments of a further base.
    """

    _error_class = FunctionTestError
    _option_names = (
        'check_forward_options',
        'check_backward_options',
        'check_double_backward_options',
    )

    check_backward_options: tp.Any = None
    check_double_backward_options: tp.Any = None
    skip_forward_test = False
    skip_backward_test = False
    skip_double_backward_test = False

    def forward(self, inputs: tuple[Variable, ...], device: backend.Device) -> tuple[Variable, ...]:
        """Computes the outputs. Overridden.

        Args:
            inputs (tuple of Variable): On the device.
            device (Device): Which.

        Returns:
            tuple of Variable: The outputs.
        """
        raise NotImplementedError('forward() is not implemented.')

    def forward_expected(self, inputs: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        """Computes the expected outputs. Overridden.

        Args:
            inputs (tuple of numpy.ndarray): The inputs.

        Returns:
            tuple of numpy.ndarray: The outputs.
        """
        raise NotImplementedError('forward_expected() is not implemented.')

    def generate_grad_grad_inputs(
        self, inputs_template: tuple[np.ndarray, ...]
    ) -> tuple[np.ndarray | None, ...]:
        """Makes the gradients of gradients of inputs.

        Args:
            inputs_template (tuple of numpy.ndarray): Arrays of their shapes and dtypes.

        Returns:
            tuple of numpy.ndarray: They.
        """
        return _random_like(inputs_template)

    def _generate_grad_grad_inputs(self, inputs_template):
        grads = self.generate_grad_grad_inputs(inputs_template)
        _check_array_types(grads, chainer.backend.CpuDevice(), 'generate_grad_grad_inputs')
        return grads

    def _forward_expected(self, inputs):
        outputs = self.forward_expected(inputs)
        _check_array_types(outputs, chainer.backend.CpuDevice(), 'forward_expected')
        return outputs

    def _forward(self, inputs, backend_config):
        with backend_config:
            outputs = self.forward(inputs, backend_config.device)
        _check_variable_types(outputs, backend_config.device, 'forward', FunctionTestError)
        return outputs

    def run_test_forward(self, backend_config: BackendConfig) -> None:
        """Compares the outputs with the expected ones, and checks that the inputs are unchanged.

        Args:
            backend_config (BackendConfig): The backend.

        Raises:
            FunctionTestError: If they differ.
        """
        self._begin('test_forward', backend_config, 'skip_forward_test')
        cpu_inputs = self._to_noncontiguous_as_needed(self._generate_inputs())
        copies = _copy(cpu_inputs)
        expected = self._forward_expected(cpu_inputs)
        _check_not_modified(copies, cpu_inputs, 'forward_expected', FunctionTestError)

        inputs = self._to_noncontiguous_as_needed(_to_device(cpu_inputs, backend_config))
        outputs = self._forward(_to_variables(inputs), backend_config)
        cpu = chainer.backend.CpuDevice()
        after = tuple(None if a is None else cpu.send(a) for a in inputs)
        _check_not_modified(copies, after, 'forward', FunctionTestError)
        self.check_forward_outputs(_to_cpu(outputs), expected)

    def _prepare_gradients(self, backend_config):
        cpu_inputs = self._generate_inputs()
        expected = self._forward_expected(_copy(cpu_inputs))
        grad_outputs = self._generate_grad_outputs(expected)
        inputs = self._to_noncontiguous_as_needed(_to_device(cpu_inputs, backend_config))
        grads = self._to_noncontiguous_as_needed(_to_device(grad_outputs, backend_config))
        return cpu_inputs, inputs, grads

    def run_test_backward(self, backend_config: BackendConfig) -> None:
        """Compares the gradients with differences of the outputs.

        Args:
            backend_config (BackendConfig): The backend.

        Raises:
            FunctionTestError: If they differ.
        """
        self._begin('test_backward', backend_config, 'skip_backward_test')

        def check():
            _, inputs, grad_outputs = self._prepare_gradients(backend_config)
            with backend_config:
                gradient_check.check_backward(
                    lambda *xs: self._forward(xs, backend_config),
                    inputs,
                    grad_outputs,
                    **self._gradient_options(self.check_backward_options),
                )

        self._check_smooth(check, 'backward is not implemented correctly')

    def run_test_double_backward(self, backend_config: BackendConfig) -> None:
        """Compares the second gradients with differences of the first.

        Args:
            backend_config (BackendConfig): The backend.

        Raises:
            FunctionTestError: If they differ.
        """
        self._begin('test_double_backward', backend_config, 'skip_double_backward_test')

        def check():
            cpu_inputs, inputs, grad_outputs = self._prepare_gradients(backend_config)
            grads = self._generate_grad_grad_inputs(cpu_inputs)
            grads = self._to_noncontiguous_as_needed(_to_device(grads, backend_config))
            with backend_config:
                gradient_check.check_double_backward(
                    lambda *xs: self._forward(xs, backend_config),
                    inputs,
                    grad_outputs,
                    grads,
                    **self._gradient_options(self.check_double_backward_options),
                )

        self._check_smooth(check, 'double backward is not implemented correctly')


class FunctionTestCase(FunctionTestBase, unittest.TestCase):
    """Tests of a function: forward, backward and double backward.

    A subclass overrides

    * ``generate_inputs(self)``: a tuple of NumPy arrays;
    * ``forward(self, inputs, device)``: a tuple of Variables from Variables;
    * ``forward_expected(self, inputs)``: a tuple of NumPy arrays from NumPy arrays;

    and where needed ``generate_grad_outputs(self, outputs_template)``,
    ``generate_grad_grad_inputs(self, inputs_template)``, ``before_test(self, test_name)`` and
    ``check_forward_outputs(self, outputs, expected_outputs)``. It is decorated with
    ``inject_backend_tests(None, [...])``, which passes the backends.

    Args:
        *args, **kwargs: Arguments of ``unittest.TestCase``.

    Attributes:
        check_forward_options, check_backward_options, check_double_backward_options (dicts):
            Arguments of ``assert_allclose``, ``check_backward``, ``check_double_backward``.
        skip_forward_test, skip_backward_test, skip_double_backward_test (bools): Skip a test.
        dodge_nondifferentiable (bool): Draw other inputs where the function is not smooth.
        contiguous (str): 'C' for C-contiguous inputs; None for inputs that are not contiguous.
        numerical_grad_dtype (dtype): The dtype of numerical differences.
    """

    def test_forward(self, backend_config: BackendConfig) -> None:
        """Compares the outputs with the expected ones.

        Args:
            backend_config (BackendConfig): The backend.
        """
        self.run_test_forward(backend_config)

    def test_backward(self, backend_config: BackendConfig) -> None:
        """Compares the gradients with differences of the outputs.

        Args:
            backend_config (BackendConfig): The backend.
        """
        self.run_test_backward(backend_config)

    def test_double_backward(self, backend_config: BackendConfig) -> None:
        """Compares the second gradients with differences of the gradients.

        Args:
            backend_config (BackendConfig): The backend.
        """
        self.run_test_double_backward(backend_config)


class InitializerArgument:
    """An argument that a link takes as an initializer, and the initializer that it stands for.

    Args:
        argument_value: The argument of the link, such as None.
        expected_initializer (Initializer): The initializer that it must use.
    """

    def __init__(self, argument_value: tp.Any, expected_initializer: tp.Any) -> None:
        self.argument_value = argument_value
        self.expected_initializer = expected_initializer


def _check_generated_initializer(init) -> None:
    if init is None:
        raise ValueError(
            'A None initializer must be wrapped in a InitializerArgument along with the expected '
            'initializer fallen back to.'
        )
    if not isinstance(init, InitializerArgument):
        chainer.initializers._get_initializer(init)  # raises for values that are not initializers


def _get_initializer_argument_value(init):
    return init.argument_value if isinstance(init, InitializerArgument) else init


def _get_expected_initializer(init):
    expected = init.expected_initializer if isinstance(init, InitializerArgument) else init
    return chainer.initializers._get_initializer(expected)


def _get_link_params(link, param_names):
    params = []
    for name in param_names:
        param = getattr(link, name, None)
        if not isinstance(param, chainer.Parameter):
            raise LinkTestError(f"Link does not have a parameter named '{name}'.")
        params.append(param)
    return params


def _copy_link(link, dtype):
    """A copy of a link with all its parameters of floats in a dtype, unless that is None."""
    copy = link.copy(mode='copy')
    for sublink in copy.links():
        for name, param in list(vars(sublink).items()):
            if dtype and isinstance(param, chainer.Parameter) and _is_float(param.array):
                setattr(sublink, name, chainer.Parameter(param.array.astype(dtype)))
    return copy


class _LinkTestBase(_TestBase):
    _error_class = LinkTestError

    param_names: tuple[str, ...] = ()

    def generate_params(self):
        """Returns a tuple of initializers (or arrays, or scalars), one per parameter."""
        raise NotImplementedError('generate_params() is not implemented.')

    def create_link(self, initializers):
        """Returns a new link whose parameters have the initializers."""
        raise NotImplementedError('create_link() is not implemented.')

    def forward(self, link, inputs, device):
        """Returns the outputs, a tuple of Variables, for a tuple of Variables on the device."""
        outputs = link(*inputs)
        return outputs if isinstance(outputs, tuple) else (outputs,)

    def _generate_params(self):
        params = self.generate_params()
        if not isinstance(params, (tuple, list)):
            raise TypeError(
                f'`generate_params()` must return a tuple or a list, not {type(params)}.'
            )
        for init in params:
            _check_generated_initializer(init)
        return params

    def _create_link(self, initializers, backend_config):
        link = self.create_link(
            type(initializers)(map(_get_initializer_argument_value, initializers))
        )
        if not isinstance(link, chainer.Link):
            raise TypeError(f'`create_link` must return a chainer.Link object, not {type(link)}.')
        link.to_device(backend_config.device)
        return link

    def _create_initialized_link(self, inits, backend_config):
        """A link whose parameters have been initialized, by a call if they wait for one."""
        link = self._create_link(inits, backend_config)
        inputs = _to_device(self._generate_inputs(), backend_config)
        self._forward(link, _to_variables(inputs), backend_config)
        return link

    def _forward(self, link, inputs, backend_config):
        with backend_config:
            outputs = self.forward(link, inputs, backend_config.device)
        _check_variable_types(outputs, backend_config.device, 'forward', LinkTestError)
        return outputs


class LinkTestCase(_LinkTestBase, unittest.TestCase):
    """Tests of a link: forward and backward, the latter with respect to its parameters too.

    A subclass sets ``param_names`` and overrides

    * ``generate_params(self)``: a tuple of initializers;
    * ``create_link(self, initializers)``: a new link;
    * ``generate_inputs(self)``: a tuple of NumPy arrays;
    * ``forward_expected(self, link, inputs)``: a tuple of NumPy arrays from NumPy arrays and the
      link on the CPU;

    and where needed ``forward(self, link, inputs, device)`` and the methods and attributes of
    `FunctionTestCase`. It is decorated with ``inject_backend_tests(None, [...])``.

    Args:
        *args, **kwargs: Arguments of ``unittest.TestCase``.
    """

    _option_names = ('check_forward_options', 'check_backward_options')

    check_backward_options: tp.Any = None
    skip_forward_test = False
    skip_backward_test = False

    def forward_expected(
        self, link: Link, inputs: tuple[np.ndarray, ...]
    ) -> tuple[np.ndarray, ...]:
        """Computes the expected outputs. Overridden.

        Args:
            link (Link): On the CPU.
            inputs (tuple of numpy.ndarray): The inputs.

        Returns:
            tuple of numpy.ndarray: The outputs.
        """
        raise NotImplementedError('forward_expected() is not implemented.')

    def _forward_expected(self, link, inputs):
        outputs = self.forward_expected(link, inputs)
        _check_array_types(outputs, chainer.backend.CpuDevice(), 'forward_expected')
        return outputs

    def test_forward(self, backend_config: BackendConfig) -> None:
        """Compares the outputs with the expected ones, and checks that the inputs are unchanged.

        Args:
            backend_config (BackendConfig): The backend.
        """
        self._begin('test_forward', backend_config, 'skip_forward_test')
        link = self._create_link(self._generate_params(), backend_config)
        cpu_inputs = self._generate_inputs()
        copies = _copy(cpu_inputs)

        inputs = self._to_noncontiguous_as_needed(_to_device(cpu_inputs, backend_config))
        outputs = self._forward(link, _to_variables(inputs), backend_config)
        cpu = chainer.backend.CpuDevice()
        after = tuple(None if a is None else cpu.send(a) for a in inputs)
        _check_not_modified(copies, after, 'forward', LinkTestError)

        link.to_device(cpu)
        expected = self._forward_expected(link, copies)
        self.check_forward_outputs(_to_cpu(outputs), expected)

    def test_backward(self, backend_config: BackendConfig) -> None:
        """Compares the gradients of inputs and parameters with differences of the outputs.

        Args:
            backend_config (BackendConfig): The backend.
        """
        self._begin('test_backward', backend_config, 'skip_backward_test')

        def check():
            link = self._create_initialized_link(self._generate_params(), backend_config)
            params = _get_link_params(link, self.param_names)
            cpu_inputs = self._generate_inputs()
            inputs = self._to_noncontiguous_as_needed(_to_device(cpu_inputs, backend_config))
            outputs = self._forward(link, _to_variables(inputs), backend_config)
            grads = self._generate_grad_outputs(_to_cpu(outputs))
            grads = self._to_noncontiguous_as_needed(_to_device(grads, backend_config))

            links = {}

            def forward(inputs, params):
                dtype = next((x.dtype for x in (*params, *inputs) if _is_float(x)), None)
                if dtype not in links:
                    links[dtype] = _copy_link(link, dtype)
                for name, param in zip(self.param_names, params, strict=True):
                    setattr(links[dtype], name, param)
                return self._forward(links[dtype], inputs, backend_config)

            with backend_config:
                gradient_check._check_backward_with_params(
                    forward,
                    inputs,
                    grads,
                    [param.array for param in params],
                    **self._gradient_options(self.check_backward_options),
                )

        self._check_smooth(check, 'backward is not implemented correctly')


class LinkInitializersTestCase(_LinkTestBase, unittest.TestCase):
    """Tests that a link initializes its parameters as it was told.

    A subclass sets ``param_names`` and overrides ``generate_params``, ``create_link`` and
    ``generate_inputs`` as for `LinkTestCase`, and

    * ``get_initializers(self)``: per parameter, a tuple or list of arguments for the link:
      initializers whose values do not depend on chance, scalars, arrays, or `InitializerArgument`.

    ``check_initializers_options`` are arguments of ``assert_allclose``.

    Args:
        *args, **kwargs: Arguments of ``unittest.TestCase``.
    """

    _option_names = ('check_initializers_options',)

    check_initializers_options: tp.Any = None

    def get_initializers(self) -> tp.Any:
        """Returns a tuple or list with a tuple or list of initializers per parameter."""
        raise NotImplementedError('get_initializers() is not implemented.')

    def _get_initializers(self):
        candidates = self.get_initializers()
        if not isinstance(candidates, (tuple, list)) or not all(
            isinstance(inits, (tuple, list)) for inits in candidates
        ):
            raise TypeError('`get_initializers` must return a tuple or a list of tuples or lists.')
        if len(candidates) > len(self.param_names):
            raise ValueError(
                f'`get_initializers` returned {len(candidates)} entries for the parameters '
                f'{self.param_names}'
            )
        for inits in candidates:
            for init in inits:
                _check_generated_initializer(init)
        return candidates

    def test_initializers(self, backend_config: BackendConfig) -> None:
        """Gives each initializer to the link and compares the parameter.

        Args:
            backend_config (BackendConfig): The backend.
        """
        self._begin('test_initializers', backend_config)
        for i_param, inits in enumerate(self._get_initializers()):
            for init in inits:
                params = list(self._generate_params())
                params[i_param] = init
                self._test_single_initializer(i_param, params, backend_config)

    def _test_single_initializer(self, i_param, inits, backend_config):
        link = self._create_initialized_link(inits, backend_config)
        (param,) = _get_link_params(link, self.param_names[i_param : i_param + 1])
        expected = np.empty(param.shape, np.dtype(param.dtype))
        _get_expected_initializer(inits[i_param])(expected)
        init = _get_initializer_argument_value(inits[i_param])
        with LinkTestError.raise_if_fail(
            f"Parameter '{self.param_names[i_param]}' is not initialized as {init!r} says"
        ):
            _check_arrays_equal(
                _to_cpu([param]), (expected,), LinkTestError, **self.check_initializers_options
            )
