"""`FunctionNode`: a differentiable function, written by the user or built in."""

from __future__ import annotations

import copyreg
import typing as tp
from collections import OrderedDict

import chainerx
from chainerx._core import engine

from chainer import backend, configuration
from chainer._base import environment
from chainer._graph import callbacks, debug, fallback, variable
from chainer._graph.backprop import grad  # noqa: F401  (v7 has it here, too)
from chainer.backends import cuda
from chainer.backends._chainerx import to_fallback
from chainer.function_hook import FunctionHook

if tp.TYPE_CHECKING:
    from chainer._typing import Arrays, Gradients, InTypes, NdArray, Retained, VariableLike


class FunctionNode(engine.FunctionNode):
    """Base of differentiable functions.

    A subclass overrides ``forward`` (or ``forward_cpu``, ``forward_gpu``, ``forward_chainerx``) and
    ``backward``, and is used by ``MyFunction(...).apply((x, ...))``, which returns a tuple of
    variables. Arrays go into ``forward`` and a tuple of arrays comes out; variables go into
    ``backward`` and come out, so that it is differentiable itself.

    Attributes:
        inputs: Tuple of `VariableNode`; None before `apply`.
        outputs: Tuple of weak references to `VariableNode`; None before `apply`.
        rank (int): The number of functions on the longest path from here to a leaf.
        stack: In debug mode, where the function was called.
        chainerx_device: The device of chainerx inputs while they are seen as NumPy arrays.
    """

    chainerx_device: backend.Device | None = None
    stack: tp.Any = None
    is_elementwise: bool = False
    lazy_grad_sum: bool = False

    _input_indexes_to_retain: tp.Sequence[int] | None = None
    _output_indexes_to_retain: tp.Sequence[int] | None = None
    # Number, array, and the version of its memory.
    _retained_inputs: Retained = ()
    _retained_outputs: Retained = ()
    _local_function_hooks: OrderedDict[str, FunctionHook] | None = None

    @property
    def label(self) -> str:
        """The name of the function in drawings and messages."""
        return type(self).__name__

    @property
    def _impl_name(self) -> str:
        return type(self).__name__

    def __call__(self, *args: object, **kwargs: object) -> tp.Any:
        name = type(self).__name__
        raise RuntimeError(
            f'A function object ({name}) which is derived from chainer.FunctionNode has been '
            'called as if it were a callable. Use apply() method instead.'
        )

    def __reduce__(self) -> tuple[object, ...]:
        # Copies and pickles have the attributes, but no place in the graph.
        return copyreg.__newobj__, (type(self),), self.__dict__ or None  # type: ignore[attr-defined]

    # ---- application ----

    def apply(self, inputs: tp.Sequence[VariableLike]) -> tuple[variable.Variable, ...]:
        """Computes the outputs, and records the function if a graph is being built.

        Args:
            inputs: Variables or arrays, all of one kind and device.

        Returns:
            tuple of Variable: One per array that ``forward`` returned.

        Raises:
            TypeError: If kinds of arrays are mixed, or ``forward`` returns no tuple of arrays.
            InvalidType: If ``check_type_forward`` refuses the inputs.
        """
        if isinstance(inputs, variable.Variable):
            raise TypeError(f'{self.label}.apply: got a Variable, expected a tuple of them')
        inputs = tuple(inputs)
        if engine.is_capturing() and self._why_not_native() is not None:
            _refuse_capture(self._impl_name)
        in_data = tuple(variable.as_array(x) for x in inputs)
        _check_one_kind(self, 'input', in_data)
        variables = tuple(variable.as_variable(x) for x in inputs)
        if not any(isinstance(x, chainerx.ndarray) for x in in_data):
            self.chainerx_device = None
            outputs = self._compute(in_data)
            return self._connect(variables, in_data, outputs, outputs)

        hooks = None
        reason = self._why_not_native()
        if reason is None:
            hooks = self._begin(in_data)
            arguments = tuple(
                None if x is None else v for x, v in zip(in_data, variables, strict=True)
            )
            native = engine.run_native(self, arguments, self.forward_chainerx)
            if native is not fallback.Fallback:
                for hook in hooks:
                    hook.forward_postprocess(self, in_data)
                if configuration.config.debug:
                    _check_nan(self, in_data, tuple(y.array for y in native))
                return native
            reason = 'forward_chainerx returned Fallback'
        shapes = ', '.join(str(getattr(x, 'shape', None)) for x in in_data)
        fallback.note(self._impl_name, shapes, reason)
        device = backend.get_device_from_array(*in_data)
        self.chainerx_device = device
        arrays = tuple(to_fallback(x) for x in in_data)
        with fallback.converted_attributes(self._owner_of_attributes, device):
            outputs = self._compute(arrays, hooks)
        converted = tuple(None if y is None else device.send(y) for y in outputs)
        return self._connect(variables, in_data, outputs, converted)

    @property
    def _owner_of_attributes(self) -> object:
        """The object whose attributes ``forward`` uses."""
        return self

    def _why_not_native(self) -> str | None:
        """Why ``forward_chainerx`` is not asked; None if it is."""
        has_one = type(self).forward_chainerx is not FunctionNode.forward_chainerx
        return None if has_one else 'no forward_chainerx'

    def _begin(self, in_data: Arrays) -> list[FunctionHook]:
        """Checks inputs, and tells the hooks that will also hear of the end."""
        config = configuration.config
        checks = getattr(self.check_type_forward, '__func__', None) is not _NO_CHECK
        if config.type_check and checks:
            callbacks.check_function_types(self, in_data)
        hooks = callbacks.hooks_of(self)
        if config.debug:
            callbacks.forward_begin(self, in_data)
        else:
            for hook in hooks:
                hook.forward_preprocess(self, in_data)
        return hooks

    def _compute(self, in_data: Arrays, hooks: list[FunctionHook] | None = None) -> Arrays:
        """Calls ``forward``, with checks and hooks around it; with hooks, these have begun."""
        self._input_indexes_to_retain = None
        self._output_indexes_to_retain = None
        if hooks is None:
            hooks = self._begin(in_data)
        with backend.get_device_from_array(*in_data).create_context():
            outputs = self.forward(in_data)
        if not isinstance(outputs, tuple):
            raise TypeError(
                f'forward output must be a tuple ({self.label})\nActual: {type(outputs)}'
            )
        if not all(y is None or isinstance(y, environment.get_array_types()) for y in outputs):
            types = tuple(map(type, outputs))
            raise TypeError(
                'forward output must be a tuple of ndarrays.\n'
                f'Function: {self.label}\nActual output types: {types}'
            )
        _check_one_kind(self, 'output', outputs)
        for hook in hooks:
            hook.forward_postprocess(self, in_data)
        if configuration.config.debug:
            _check_nan(self, in_data, outputs)
        return outputs if type(outputs) is tuple else tuple(outputs)  # of a namedtuple

    def _connect(
        self,
        variables: tuple[variable.Variable, ...],
        in_data: Arrays,
        outputs: Arrays,
        converted: Arrays,
    ) -> tuple[variable.Variable, ...]:
        if configuration.config.enable_backprop:
            self._retained_inputs = _select(self, 'inputs', self._input_indexes_to_retain, in_data)
            self._retained_outputs = _select(
                self, 'outputs', self._output_indexes_to_retain, converted
            )
        return engine.connect(self, variables, converted)

    # ---- what subclasses override ----

    def check_type_forward(self, in_types: InTypes) -> None:
        """Checks dtypes and shapes of the inputs with `chainer.utils.type_check.expect`.

        Args:
            in_types (tuple): One expression per input, with ``shape``, ``dtype``, ``ndim``,
                ``size``.

        Raises:
            InvalidType: If a check fails.
        """

    def check_layout_forward(self, inputs: object) -> None:
        """Does nothing: there is one memory layout.

        Args:
            inputs: Without effect.
        """

    def forward(self, inputs: Arrays) -> Arrays:
        """Computes the outputs from arrays of NumPy or CuPy.

        Args:
            inputs (tuple of array): The data of the inputs; None for one that is None.

        Returns:
            tuple of array: The outputs; one may be None.
        """
        if any(isinstance(x, (cuda.ndarray, chainerx.ndarray)) for x in inputs):
            return self.forward_gpu(inputs)
        return self.forward_cpu(inputs)

    def forward_cpu(self, inputs: Arrays) -> Arrays:
        """Computes the outputs from NumPy arrays.

        Args:
            inputs (tuple of numpy.ndarray): The data of the inputs.

        Returns:
            tuple of numpy.ndarray: The outputs.
        """
        raise NotImplementedError(f'{type(self).__name__} has neither forward nor forward_cpu')

    def forward_gpu(self, inputs: Arrays) -> Arrays:
        """Computes the outputs from CuPy arrays; from those of ChainerX where there is no CuPy.

        Args:
            inputs (tuple of cupy.ndarray): The data of the inputs.

        Returns:
            tuple of cupy.ndarray: The outputs.
        """
        raise NotImplementedError(f'{type(self).__name__} has neither forward nor forward_gpu')

    def forward_chainerx(self, inputs: Arrays) -> tp.Any:
        """Computes the outputs from chainerx arrays, which record their own gradients.

        Args:
            inputs (tuple of chainerx.ndarray): The data of the inputs.

        Returns:
            tuple of chainerx.ndarray; or ``chainer.Fallback``: compute it with ``forward`` instead.
        """
        return fallback.Fallback

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: Gradients) -> tp.Any:
        """Computes the gradients of some inputs.

        Args:
            target_input_indexes (tuple of int): Which.
            grad_outputs (tuple of Variable or None): The gradients of the outputs.

        Returns:
            tuple of Variable or None: One per index; or one per input.
        """
        return (None,) * len(target_input_indexes)

    def backward_accumulate(
        self,
        target_input_indexes: tuple[int, ...],
        grad_outputs: Gradients,
        grad_inputs: Gradients,
    ) -> Gradients:
        """Computes gradients and adds them to those that the inputs have already.

        Args:
            target_input_indexes (tuple of int): Which inputs want gradients.
            grad_outputs (tuple of Variable): The gradients of the outputs; None for one without.
            grad_inputs (tuple of Variable): The gradients that these inputs have already; None for
                one without.

        Returns:
            tuple of Variable: The sums, one per index.
        """
        gxs = self.backward(target_input_indexes, grad_outputs)
        if (
            isinstance(gxs, tuple | list)
            and len(gxs) != len(target_input_indexes)
            and len(gxs) == len(tp.cast(tuple, self.inputs))
        ):
            gxs = tuple(gxs[i] for i in target_input_indexes)
        if all(g is None for g in grad_inputs):
            return tuple(gxs) if isinstance(gxs, list) else gxs
        return tuple(
            g if gx is None else gx if g is None else gx + g
            for gx, g in zip(gxs, grad_inputs, strict=True)
        )

    # ---- what forward may keep for backward ----

    def retain_inputs(self, indexes: tp.Sequence[int]) -> None:
        """Called in ``forward``: keeps inputs for backward. None are kept by default.

        Args:
            indexes (sequence of int): Which.
        """
        self._input_indexes_to_retain = indexes

    def retain_outputs(self, indexes: tp.Sequence[int]) -> None:
        """Called in ``forward``: keeps outputs for backward. None are kept by default.

        Args:
            indexes (sequence of int): Which.
        """
        self._output_indexes_to_retain = indexes

    def get_retained_inputs(self) -> tuple[tp.Any, ...]:
        """The inputs that ``forward`` kept, in the order of its indexes; None for one that is None.

        Raises:
            GradientError: If chainerx has written to one in place since.
        """
        check_unwritten(self, 'input', self._retained_inputs)
        return variables_of(self, self._retained_inputs, False)

    def get_retained_outputs(self) -> tuple[tp.Any, ...]:
        """The outputs that ``forward`` kept; one that nobody holds any more is made anew.

        Raises:
            GradientError: If chainerx has written to one in place since.
        """
        check_unwritten(self, 'output', self._retained_outputs)
        return variables_of(self, self._retained_outputs, True)

    @property
    def output_data(self) -> tuple[NdArray | None, ...] | None:
        """The output arrays.

        Raises:
            RuntimeError: If one is gone.
        """
        if self.outputs is None:
            return None
        data = []
        kept = {i: y for i, y, _ in self._retained_outputs}
        for i, ref in enumerate(self.outputs):
            node = ref()
            array = kept.get(i) if node is None else node.data
            if array is None and i not in kept:  # one that was kept may be None
                raise RuntimeError('retained output data is gone')
            data.append(array)
        return tuple(data)

    @property
    def input_layouts(self) -> tuple[None, ...] | None:
        """The memory layouts of the inputs: None, which is C order."""
        return None if self.inputs is None else (None,) * len(self.inputs)

    @property
    def output_layouts(self) -> tuple[None, ...] | None:
        """The memory layouts of the outputs: None, which is C order."""
        return None if self.outputs is None else (None,) * len(self.outputs)

    def _where_applied(self) -> str:
        """For errors in backward: in debug mode, the user's line that applied the function."""
        return '' if self.stack is None else debug.where(self.stack)

    # ---- hooks ----

    @property
    def local_function_hooks(self) -> OrderedDict[str, FunctionHook]:
        """The hooks of this function alone, by name."""
        if self._local_function_hooks is None:
            self._local_function_hooks = OrderedDict()
        engine.observe(self, True)  # the caller may add entries
        return self._local_function_hooks

    def add_hook(self, hook: FunctionHook, name: str | None = None) -> None:
        """Adds a hook that sees this function only.

        Args:
            hook (FunctionHook): Which.
            name (str): By which it is removed; its own by default.

        Raises:
            KeyError: If the name is taken.
        """
        if not isinstance(hook, FunctionHook):
            raise TypeError(f'FunctionNode.add_hook: expected a FunctionHook, got {type(hook)}')
        name = hook.name if name is None else name
        if name in self.local_function_hooks:
            raise KeyError(f'hook {name} already exists')
        self.local_function_hooks[name] = hook
        try:
            hook.added(self)
        except BaseException:
            self._remove_hook(name)
            raise

    def delete_hook(self, name: str) -> None:
        """Removes a hook of this function.

        Args:
            name (str): Of the hook.

        Raises:
            KeyError: If there is none of this name.
        """
        hooks = self._local_function_hooks
        if not hooks or name not in hooks:
            raise KeyError(f'hook {name} does not exist')
        try:
            hooks[name].deleted(self)
        finally:
            self._remove_hook(name)

    def _remove_hook(self, name: str) -> None:
        hooks = self._local_function_hooks
        if hooks is not None and hooks.pop(name, None) is not None and not hooks:
            engine.observe(self, False)


_NO_CHECK = FunctionNode.check_type_forward


def _select(
    function: FunctionNode, what: str, indexes: tp.Sequence[int] | None, arrays: Arrays
) -> Retained:
    if indexes is None:
        return ()
    for i in indexes:
        if not -len(arrays) <= i < len(arrays):
            raise IndexError(
                f'{function.label}.retain_{what}: index {i} is out of range, there are '
                f'{len(arrays)} {what}'
            )
    return tuple((i % len(arrays), arrays[i], engine.version(arrays[i])) for i in indexes)


def variables_of(
    function: FunctionNode, retained: Retained, are_outputs: bool
) -> tuple[tp.Any, ...]:
    """The variables at the inputs or outputs that were retained; None for one that is None."""
    return tuple(
        None if x is None else engine.retained(function, i, x, are_outputs) for i, x, _ in retained
    )


def check_unwritten(function: FunctionNode, what: str, retained: Retained) -> None:
    """Raises GradientError if chainerx has written to an array that a function retained."""
    for i, array, version in retained:
        if engine.version(array) != version:
            raise chainerx.GradientError(
                f'{function.label}: {what} {i}, of shape {array.shape} and dtype {array.dtype}, '
                'which is retained for backward, has been written in place since the forward '
                'computation; write to a copy() of it, or before that computation'
            )


def _check_one_kind(function: FunctionNode, what: str, arrays: Arrays) -> None:
    if not environment.is_arrays_compatible(arrays):
        types = ', '.join(str(type(x)) for x in arrays)
        raise TypeError(
            f'incompatible array types are mixed in the forward {what} ({function.label}).\n'
            f'Actual: {types}'
        )


def _check_nan(function: FunctionNode, in_data: Arrays, outputs: Arrays) -> None:
    debug.check_forward(function, in_data, outputs)


def _refuse_capture(name: str) -> None:
    """Refuses to record what ``forward`` does with arrays of NumPy or CuPy."""
    engine.refuse_capture(
        f'forward of {name} computes outside of chainerx (compose it of functions of chainer, or '
        'give it a forward_chainerx)'
    )


engine.set_callbacks(fallback=fallback.Fallback)
