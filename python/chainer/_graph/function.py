"""Old-style functions, whose backward works on arrays; and the modes of recording."""

from __future__ import annotations

import contextlib
import typing as tp
import weakref

import chainerx
from chainerx._core import engine

from chainer import backend, configuration
from chainer._base import environment
from chainer._graph import fallback, variable
from chainer._graph.function_node import FunctionNode, check_unwritten
from chainer.backends import cuda
from chainer.backends._chainerx import to_fallback
from chainer.function_hook import FunctionHook

if tp.TYPE_CHECKING:
    from chainer._typing import Arrays, Gradients, InTypes, NdArray, VariableLike


def no_backprop_mode() -> engine.ConfigContext:
    """Inside the ``with`` block no graph is recorded, by chainer and by chainerx alike.

    Returns:
        A context manager, and a decorator of functions.
    """
    return engine.backprop_mode(False)


def force_backprop_mode() -> engine.ConfigContext:
    """Inside the ``with`` block graphs are recorded, even within `no_backprop_mode`.

    Returns:
        A context manager, and a decorator of functions.
    """
    return engine.backprop_mode(True)


class FunctionAdapter(FunctionNode):
    """The `FunctionNode` of an old-style `Function`: the creator of its outputs.

    Args:
        function (Function): Kept alive by the node.
    """

    def __init__(self, function: Function) -> None:
        self._function = function
        function._node = weakref.ref(self)
        function._owned_node = None

    @property
    def function(self) -> Function:
        """The function itself."""
        return self._function

    @property
    def label(self) -> str:
        return self._function.label

    @property
    def _impl_name(self) -> str:
        return type(self._function).__name__

    @property
    def _owner_of_attributes(self) -> Function:
        return self._function

    def check_type_forward(self, in_types: InTypes) -> None:
        self._function.check_type_forward(in_types)

    def forward(self, inputs: Arrays) -> Arrays:
        # All inputs, unless the function says otherwise.
        self.retain_inputs(range(len(inputs)))
        return self._function.forward(inputs)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: Gradients) -> tp.Any:
        check_unwritten(self, 'input', self._retained_inputs)
        check_unwritten(self, 'output', self._retained_outputs)
        retained = {i: x for i, x, _ in self._retained_inputs}
        n_inputs = len(tp.cast(tuple, self.inputs))
        in_data = tuple(_to_fallback(retained.get(i)) for i in range(n_inputs))
        out_grad = tuple(None if g is None else _to_fallback(g.array) for g in grad_outputs)
        self._function._outputs = {i: _to_fallback(y) for i, y, _ in self._retained_outputs}
        # Where these gradients are, whatever it was applied to since.
        given = next((g.array for g in grad_outputs if g is not None), None)
        device = backend.ChainerxDevice.from_array(given)
        try:
            with (
                contextlib.nullcontext()
                if device is None
                else fallback.converted_attributes(self._function, device)
            ):
                gxs = self._function.backward(in_data, out_grad)
        finally:
            self._function._outputs = None
        if not isinstance(gxs, tuple | list):
            raise TypeError(
                f'{self.label}.backward: returned {type(gxs)}, expected a tuple of arrays or None'
            )
        if len(gxs) != n_inputs:
            raise ValueError(
                f'{self.label}.backward: number of gradients returned from backward is incorrect: '
                f'{len(gxs)} != expected {n_inputs}'
            )
        arrays = [
            None if gxs[i] is None else _to_array(self, i, gxs[i], device)
            for i in target_input_indexes
        ]
        if not configuration.config.enable_backprop:
            return tuple(None if gx is None else variable.as_variable(gx) for gx in arrays)
        # In the graph, so that a second derivative does not silently lack a part.
        given_grads = [g for g in grad_outputs if g is not None]
        sources = [variable.input_of(self, i, given_grads[0].xp) for i in range(n_inputs)]
        sources += given_grads
        found = tuple(gx for gx in arrays if gx is not None)
        recorded = iter(engine.connect(_OldStyleGradient(self), tuple(sources), found))
        return tuple(None if gx is None else next(recorded) for gx in arrays)


class _OldStyleGradient(FunctionNode):
    """The creator of gradients that an old-style backward has computed."""

    def __init__(self, adapter: FunctionAdapter) -> None:
        self._label = adapter.label

    @property
    def label(self) -> str:
        return f'{self._label}.backward'

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: Gradients) -> tp.Any:
        raise RuntimeError(
            f'{self._label}: cannot twice-differentiate an old-style Function: its backward works '
            'on arrays, so its gradients have none themselves; derive it from FunctionNode'
        )


def _to_fallback(array: NdArray | None) -> NdArray | None:
    return None if array is None else to_fallback(array)


def _to_array(
    adapter: FunctionAdapter, i: int, gx: VariableLike, device: backend.Device | None
) -> NdArray:
    if not isinstance(gx, (variable.Variable, *environment.get_array_types())):
        raise TypeError(
            f'{adapter.label}.backward: the gradient of input {i} is a {type(gx)}, expected an '
            'array or None'
        )
    gx = variable.as_array(gx)
    return gx if device is None else device.send(gx)


class Function:
    """Base of old-style functions: both directions work on arrays, gradients have no graph.

    A subclass overrides ``forward`` and ``backward`` (or their ``_cpu`` and ``_gpu`` forms).
    Calling an instance returns a variable, or a tuple if there are several outputs. All inputs
    are kept for backward, unless ``retain_inputs`` is called in ``forward``. New code uses
    `FunctionNode`.
    """

    _node: weakref.ref[FunctionAdapter] | None = None
    _owned_node: FunctionAdapter | None = None
    _outputs: dict[int, NdArray] | None = None

    def __call__(self, *inputs: VariableLike) -> tp.Any:
        outputs = self.node.apply(inputs)
        return outputs[0] if len(outputs) == 1 else outputs

    @property
    def node(self) -> FunctionAdapter:
        """The `FunctionAdapter` that stands for the function in the graph."""
        node = self._node() if self._node is not None else None
        if node is None:
            node = self._owned_node = FunctionAdapter(self)
            # Owned until applied: then the graph keeps it, and it keeps us.
            self._node = weakref.ref(node)
        return node

    @property
    def inputs(self) -> tp.Any:
        """The input nodes; None before the call."""
        return self.node.inputs

    @property
    def outputs(self) -> tp.Any:
        """Weak references to the output nodes; None before the call."""
        return self.node.outputs

    @property
    def output_data(self) -> tp.Any:
        """The output arrays; in ``backward`` those that were retained, None for others."""
        if self._outputs is not None:
            outputs = self._outputs
            return tuple(outputs.get(i) for i in range(len(tp.cast(tuple, self.outputs))))
        return self.node.output_data

    @property
    def rank(self) -> int:
        """The number of functions on the longest path from here to a leaf."""
        return self.node.rank

    @property
    def label(self) -> str:
        """The name of the function in drawings and messages."""
        return type(self).__name__

    @property
    def stack(self) -> tp.Any:
        """In debug mode, where the function was called."""
        return self.node.stack

    @property
    def local_function_hooks(self) -> tp.Any:
        """The hooks of this function alone, by name."""
        return self.node.local_function_hooks

    def add_hook(self, hook: FunctionHook, name: str | None = None) -> None:
        """Adds a hook that sees this function only.

        Args:
            hook (FunctionHook): Which.
            name (str): By which it is removed; its own by default.

        Raises:
            KeyError: If the name is taken.
        """
        self.node.add_hook(hook, name)

    def delete_hook(self, name: str) -> None:
        """Removes a hook of this function.

        Args:
            name (str): Of the hook.

        Raises:
            KeyError: If there is none of this name.
        """
        self.node.delete_hook(name)

    def unchain(self) -> None:
        """Cuts the function from its inputs and outputs."""
        self.node.unchain()

    def check_type_forward(self, in_types: InTypes) -> None:
        """Checks dtypes and shapes of the inputs with `chainer.utils.type_check.expect`.

        Args:
            in_types (tuple): One expression per input, with ``shape``, ``dtype``, ``ndim``,
                ``size``.

        Raises:
            InvalidType: If a check fails.
        """

    def forward(self, inputs: Arrays) -> Arrays:
        """Computes the outputs from arrays.

        Args:
            inputs (tuple of array): The data of the inputs.

        Returns:
            tuple of array: The outputs.
        """
        return (self.forward_gpu if _on_gpu(inputs) else self.forward_cpu)(inputs)

    def forward_cpu(self, inputs: Arrays) -> Arrays:
        """Computes the outputs from NumPy arrays.

        Args:
            inputs (tuple of numpy.ndarray): The data of the inputs.

        Returns:
            tuple of numpy.ndarray: The outputs.
        """
        raise NotImplementedError(f'{type(self).__name__} has neither forward nor forward_cpu')

    def forward_gpu(self, inputs: Arrays) -> Arrays:
        """Computes the outputs from CuPy arrays.

        Args:
            inputs (tuple of cupy.ndarray): The data of the inputs.

        Returns:
            tuple of cupy.ndarray: The outputs.
        """
        raise NotImplementedError(f'{type(self).__name__} has neither forward nor forward_gpu')

    def backward(self, inputs: Arrays, grad_outputs: Arrays) -> tuple[NdArray | None, ...]:
        """Computes the gradients of all inputs from arrays.

        Args:
            inputs (tuple of array): The data of the inputs.
            grad_outputs (tuple of array): The gradients of the outputs; None for one without.

        Returns:
            tuple of array: None stands for no gradient.
        """
        on_gpu = _on_gpu(inputs + grad_outputs)
        return (self.backward_gpu if on_gpu else self.backward_cpu)(inputs, grad_outputs)

    def backward_cpu(self, inputs: Arrays, grad_outputs: Arrays) -> tuple[NdArray | None, ...]:
        """Computes the gradients from NumPy arrays.

        Args:
            inputs (tuple of numpy.ndarray): The data of the inputs.
            grad_outputs (tuple of numpy.ndarray): The gradients of the outputs; None for one
                without.

        Returns:
            tuple of numpy.ndarray: None stands for no gradient.
        """
        return (None,) * len(inputs)

    def backward_gpu(self, inputs: Arrays, grad_outputs: Arrays) -> tuple[NdArray | None, ...]:
        """Computes the gradients from CuPy arrays.

        Args:
            inputs (tuple of cupy.ndarray): The data of the inputs.
            grad_outputs (tuple of cupy.ndarray): The gradients of the outputs; None for one
                without.

        Returns:
            tuple of cupy.ndarray: None stands for no gradient.
        """
        return (None,) * len(inputs)

    def retain_inputs(self, indexes: tp.Sequence[int]) -> None:
        """Called in ``forward``: keeps these inputs only.

        Args:
            indexes (sequence of int): Which.
        """
        self.node.retain_inputs(indexes)

    def retain_outputs(
        self, indexes: tp.Sequence[int], retain_after_backward: bool = False
    ) -> None:
        """Called in ``forward``: keeps outputs for backward.

        Args:
            indexes (sequence of int): Which.
            retain_after_backward (bool): Without effect.
        """
        self.node.retain_outputs(indexes)


def _on_gpu(arrays: tp.Iterable[NdArray | None]) -> bool:
    return any(isinstance(x, (cuda.ndarray, chainerx.ndarray)) for x in arrays)


engine.set_callbacks(adapter_class=FunctionAdapter)
