"""`Variable` and `VariableNode`: arrays with a place in the graph.

The storage and the graph are C++ (`chainerx._core.engine`); this module has the parts that are not
called once per operation. The public module is `chainer.variable`.
"""

from __future__ import annotations

import copy
import typing as tp
import warnings

import chainerx
import numpy as np
from chainerx._core import engine

from chainer import backend
from chainer.backends import cuda

if tp.TYPE_CHECKING:
    from types import ModuleType

    from chainer._graph.function_node import FunctionNode
    from chainer._graph.parameter import Parameter
    from chainer._typing import DeviceSpec, NdArray, VariableLike


def as_variable(obj: VariableLike) -> Variable:
    """A variable over an array, which wants no gradient of its own; a variable as it is.

    Args:
        obj (array or Variable): A chainerx array that is part of a graph stays so.

    Returns:
        Variable: A new one for each array.

    Raises:
        TypeError: If it is neither.
    """
    if isinstance(obj, Variable):
        return obj
    connected = isinstance(obj, chainerx.ndarray) and obj.is_backprop_required(chainerx.anygraph)
    return Variable(obj, requires_grad=connected)


def as_array(obj: tp.Any) -> tp.Any:
    """The array of a variable; any other object as it is.

    Args:
        obj: A Variable, or anything else.

    Returns:
        The array, None for a variable without data; or ``obj`` itself.
    """
    return obj.array if isinstance(obj, Variable) else obj


def _describe(array: NdArray | VariableNode) -> str:
    shape = ', '.join(map(str, array.shape))
    return f'({shape}), {array.dtype}' if shape else str(array.dtype)


def variable_repr(var: Variable) -> str:
    """The text of `repr`: name and values, and the shape where there are none."""
    array = var.array
    is_flat = array is None or array.size or array.shape == (0,)
    return _to_string(var, ', ', '' if is_flat else f', shape={array.shape}')


def variable_str(var: Variable) -> str:
    """The text of `str`: name and values, without commas."""
    return _to_string(var, ' ', '')


def _to_string(var: Variable, separator: str, end: str) -> str:
    prefix = f'variable {var.name}' if var.name else 'variable'
    array = var.array
    if array is None:
        return f'{prefix}(None)'
    array = backend.CpuDevice().send(array)
    text = np.array2string(array, separator=separator, prefix=f'{prefix}(')
    return f'{prefix}({text}{end})'


class _Creator:
    """Base of variables and nodes: it gives the function that computed them."""

    _creator_node: FunctionNode | None

    @property
    def creator(self) -> tp.Any:
        """The function that computed it: the ``Function`` of an old-style one; None for a leaf."""
        node = self.creator_node
        return getattr(node, 'function', node)

    @creator.setter
    def creator(self, function: FunctionNode) -> None:
        self.set_creator(function)

    @property
    def creator_node(self) -> FunctionNode | None:
        """The `FunctionNode` that computed it; None for a leaf."""
        return self._creator_node

    @creator_node.setter
    def creator_node(self, function: FunctionNode | None) -> None:
        self.set_creator_node(function)

    def set_creator(self, creator: tp.Any) -> None:
        """Makes a function (of either style) the creator; None makes a leaf."""
        self.set_creator_node(getattr(creator, 'node', creator))

    def set_creator_node(self, creator_node: FunctionNode | None) -> None:
        raise NotImplementedError


class VariableNode(_Creator, engine.VariableNode):
    """The place of a variable in the graph.

    It keeps the graph below it alive, not the array. Nodes of one place are equal.

    Args:
        variable (Variable): Whose place it is.
        name (str): For printing; None for that of the variable.

    Attributes:
        data: The array; None if neither a variable nor a function keeps it.
        grad, grad_var: The gradient, or None.
        rank (int): The number of functions on the longest path to a leaf.
    """

    __slots__ = ()

    @property
    def label(self) -> str:
        """Shape and dtype, for drawings."""
        return _describe(self)

    def set_creator_node(self, creator_node: FunctionNode | None) -> None:
        """See `Variable.set_creator_node`; the variable must be alive.

        Args:
            creator_node (FunctionNode): None makes it a leaf.
        """
        if creator_node is None:
            self.unchain()
        else:
            self.get_variable().set_creator_node(creator_node)

    def retain_data(self) -> None:
        """Does nothing, because functions keep their own arrays for backward."""


class Variable(_Creator, engine.Variable):
    """An array whose computations are recorded, so that gradients can flow back through them.

    Args:
        data (array or None): numpy.ndarray, or chainerx.ndarray. ``array`` is this very object.
        name (str): For printing.
        grad (array): The initial gradient.
        requires_grad (bool): Whether gradients flow to it.
        layout: None; memory layouts other than C order are not supported.

    Raises:
        TypeError: If ``data`` is no array.
        ValueError: If ``data`` is part of a chainerx graph and ``requires_grad`` is False, or
            ``layout`` is not None.
    """

    __array_priority__ = 200

    # ---- printing ----

    def __repr__(self) -> str:
        return variable_repr(self)

    def __str__(self) -> str:
        return variable_str(self)

    @property
    def label(self) -> str:
        """Shape and dtype, for drawings."""
        return _describe(self)

    def summary(self) -> str:
        """Its name, or its address."""
        return f'<variable {self.name}>' if self.name else f'<variable at 0x{id(self):x}>'

    def debug_print(self) -> str:
        """A description of several lines: device, shape, dtype, statistics of data and gradient."""
        array, grad = self.array, None if self.array is None else self.grad
        if array is None:
            rows: dict[str, object] = dict.fromkeys(
                ('device', 'backend', 'shape', 'dtype', 'statistics', 'grad')
            )
        else:
            device = 'CPU' if self.xp is np else self.device
            rows = {
                'device': device,
                'backend': type(array),
                'shape': array.shape,
                'dtype': array.dtype,
                'statistics': _statistics(array),
                'grad': None if grad is None else _statistics(grad),
            }
        return '\n'.join([self.summary(), *(f'- {key}: {value}' for key, value in rows.items())])

    # ---- copies, pickles ----

    def __copy__(self) -> tp.Self:
        """Another variable that shares storage and attributes, with a gradient of its own."""
        new = type(self).__new__(type(self))
        self._share(new)
        new.__dict__.update(self.__dict__)
        return new

    def __deepcopy__(self, memo: dict[int, object]) -> tp.Self:
        """The values, gradient and attributes, outside of the graph."""
        new = type(self).__new__(type(self))
        memo[id(self)] = new
        _restore(
            new,
            copy.deepcopy(self.array, memo),
            self.name,
            copy.deepcopy(_grad_or_none(self), memo),
            self.requires_grad,
        )
        new._loss_scale = self._loss_scale
        new.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return new

    def __reduce__(self) -> tuple[object, ...]:
        state = (self.array, self.name, _grad_or_none(self), self.requires_grad)
        return _unpickle, (type(self), *state), self.__dict__ or None

    # ---- the array ----

    def __pos__(self) -> tp.Self:
        return self

    @property
    def raw_array(self) -> NdArray | None:
        """The same as ``array``."""
        return self.array

    @property
    def chx_array(self) -> chainerx.ndarray:
        """A view of the chainerx array that is part of the graph, with a gradient of its own.

        Raises:
            ValueError: If the variable holds another kind of array.
        """
        if self._kind != 'chainerx':
            raise ValueError(
                f'Variable.chx_array: the variable holds a {self._kind} array; use to_chx()'
            )
        return self._record.view()

    @property
    def xp(self) -> ModuleType:
        """The module of the array: numpy, cupy or chainerx."""
        return self.device.xp

    @property
    def device(self) -> backend.Device:
        """The device of the array; the CPU if there is none."""
        array = self.array
        return backend.CpuDevice() if array is None else backend.get_device_from_array(array)

    @property
    def layout(self) -> None:
        """The memory layout: None, which is C order, the only one."""

    def as_layout(self, layout: None) -> tp.Self:
        """Does nothing: there is one memory layout.

        Args:
            layout: None.

        Returns:
            This variable.
        """
        if layout is not None:
            raise ValueError(f'Variable.as_layout: layout is {layout!r}, only None is supported')
        return self

    def item(self) -> complex:
        """The one element, as a Python number.

        Raises:
            ValueError: If there is not exactly one.
        """
        return self.array.item()

    def copydata(self, var: Variable) -> None:
        """Copies the values of another variable, across devices if need be.

        An uninitialized `Parameter` on one side is initialized with the shape of the other.

        Args:
            var (Variable): Whose values.
        """
        source = var.array
        if source is None:
            if self.array is None:
                return
            _as_parameter('copydata', var).initialize(self.shape)
            source = var.array
        elif self.array is None:
            _as_parameter('copydata', self).initialize(source.shape)
        backend.copyto(self.array, source)

    # ---- gradients ----

    def _set_loss_scale(self, scale: float) -> None:
        """Sets the factor of its gradient; a `Parameter` uses it."""

    def zerograd(self) -> None:
        """Sets the gradient to zeros. Deprecated: `cleargrad` costs less."""
        warnings.warn(
            'Variable.zerograd is deprecated. Use Variable.cleargrad instead.',
            DeprecationWarning,
            stacklevel=2,
        )
        self._fill_grad_with_zeros()

    def _fill_grad_with_zeros(self) -> None:
        with backend.using_device(self.device):
            self.grad = None if self.array is None else self.xp.zeros_like(self.array)

    def addgrad(self, var: Variable) -> None:
        """Adds the gradient of another variable, which may be on another device.

        Args:
            var (Variable): Whose gradient.
        """
        grad = var.grad
        if grad is None:
            return
        if self.array is None:
            _as_parameter('addgrad', self).initialize(grad.shape)
        mine = _grad_or_none(self)
        if backend.get_device_from_array(grad) != self.device:
            grad = self.device.send(grad)
            self.grad = grad if mine is None else _add(mine, grad)
        elif mine is None:
            self.grad = grad.copy()
        else:
            self.grad = _add(mine, grad)

    def backward(
        self,
        retain_grad: bool = False,
        enable_double_backprop: bool = False,
        loss_scale: float | None = None,
    ) -> None:
        """Backpropagates: adds to the gradients of all leaves that this variable depends on.

        The graph stays, so that it can be looked at or gone through again.

        Args:
            retain_grad (bool): Whether variables on the way keep their gradients, too.
            enable_double_backprop (bool): Whether gradients are themselves part of the graph.
            loss_scale (float): The gradient to start from, where the variable has none; gradients
                are this many times larger then, but those of chainerx arrays are divided by it in
                the end. Default: 1.

        Raises:
            ValueError: If there are several elements (of a NumPy array) and no gradient to start
                from.
        """
        if loss_scale is not None and self._kind != 'chainerx':
            self._backward_scaled(loss_scale, retain_grad, enable_double_backprop)
        else:
            engine.backward((self,), None, retain_grad, enable_double_backprop, loss_scale, False)

    def _backward_scaled(
        self,
        loss_scale: float,
        retain_grad: bool = False,
        enable_double_backprop: bool = False,
        seed: Variable | None = None,
    ) -> None:
        """Leaves gradients multiplied with the scale, and tells parameters about it.

        Optimizers may divide values that underflow in float16 in float32 instead. ``seed`` is the
        gradient to start from, if it holds the scale.
        """
        is_scaled = self.grad is None or self.size == 0  # no element that would lack the scale
        seeds = None if seed is None else (seed,)
        engine.backward((self,), seeds, retain_grad, enable_double_backprop, loss_scale, True)
        if is_scaled:
            _set_loss_scale(self, loss_scale)

    def unchain_backward(self) -> None:
        """Cuts all functions that this variable depends on from the graph."""
        # Functions are made on demand, with arrays that nobody looks at.
        engine.unobserved(self._unchain_backward)

    def _unchain_backward(self) -> None:
        todo = [self.creator_node]
        while todo:
            function = todo.pop()
            if function is None or function.inputs is None:
                continue
            todo += [x.creator_node for x in function.inputs if x is not None]
            function.unchain()
        self.unchain()

    def set_creator_node(self, creator_node: FunctionNode | None) -> None:
        """Makes a function that has been applied the creator.

        Args:
            creator_node (FunctionNode): None makes the variable a leaf.
        """
        if creator_node is None:
            self.unchain()
            return
        if creator_node.inputs is None:
            raise ValueError(
                f'Variable.set_creator_node: {creator_node.label} has no inputs; apply it first'
            )
        inputs = tuple(input_of(creator_node, i, self.xp) for i in range(len(creator_node.inputs)))
        engine.pin(creator_node)  # it stays the creator of its outputs
        (new,) = engine.connect(creator_node, inputs, (self.array,), False)
        self._adopt(new)

    def retain_data(self) -> None:
        """Does nothing, because functions keep their own arrays for backward."""

    # ---- devices ----

    def to_device(self, device: DeviceSpec) -> None:
        """Moves data and gradient to a device, in place; the variable becomes a leaf.

        Args:
            device: Any argument of `chainer.get_device`.

        Raises:
            RuntimeError: If a function computed the variable: use `chainer.functions.copy`.
        """
        device = chainer_get_device(device)
        if self.array is None or device == self.device:
            return
        if self.creator_node is not None:
            raise RuntimeError(
                f'Variable.to_device: the variable was computed by {self.creator_node.label}; move '
                'it with chainer.functions.copy, which gradients flow through'
            )
        array, grad = device.send((self.array, _grad_or_none(self)))
        self._replace(array)
        # That of an array which was replaced since, as a cast of a model does, may fit no more.
        if grad is not None and (grad.shape, grad.dtype) == (array.shape, array.dtype):
            self.grad = grad

    def to_cpu(self) -> None:
        """Moves it to ``@numpy``."""
        self.to_device(backend.CpuDevice())

    def to_gpu(self, device: int | None = None) -> None:
        """Moves it to a device of CuPy.

        Args:
            device (int): None is the current one.
        """
        cuda.check_cuda_available()
        self.to_device(f'@cupy:{cuda.Device().id if device is None else device}')

    def to_intel64(self) -> None:
        """Moves it to ``@intel64``."""
        self.to_device('@intel64')

    def to_chx(self) -> None:
        """Makes its array a chainerx array that shares memory, if it is none."""
        if self.array is not None and self._kind != 'chainerx':
            self.to_device(backend.ChainerxDevice.from_fallback_device(self.device))

    def from_chx(self) -> None:
        """Makes its array, if it is a chainerx array, one of NumPy or CuPy that shares memory."""
        if self._kind == 'chainerx':
            self.to_device(tp.cast(backend.ChainerxDevice, self.device).fallback_device)


def _add(a: tp.Any, b: tp.Any) -> tp.Any:
    total = a + b
    return np.asarray(total) if isinstance(total, np.generic) else total  # of arrays without axes


def input_of(function: FunctionNode, i: int, xp: ModuleType) -> Variable:
    """The variable at an input, for its place in the graph; its array may be another."""
    node = tp.cast(tuple, function.inputs)[i]
    if node is None:
        return Variable(None)
    found = node.get_variable()
    if found.array is None:
        any_array = xp.broadcast_to(xp.zeros((), node.dtype), node.shape)
        found = engine.retained(function, i, any_array, False)
    return found


def _set_loss_scale(output: Variable, scale: float) -> None:
    """Tells the parameters below the factor of their gradients."""
    todo = [output.creator_node]
    seen = {}  # which keeps them alive, and so their ids
    while todo:
        function = todo.pop()
        if function is None or function.inputs is None or id(function) in seen:
            continue
        seen[id(function)] = function
        for x in function.inputs:
            if x is None:
                continue
            if x.creator_node is not None:
                todo.append(x.creator_node)
            elif (leaf := x.get_variable_or_none()) is not None:
                leaf._set_loss_scale(scale)


def chainer_get_device(spec: DeviceSpec) -> backend.Device:
    """`chainer.get_device`, under a name that arguments do not hide."""
    return backend.get_device(spec)


def _statistics(array: NdArray) -> str:
    x = backend.CpuDevice().send(array)
    if x.size == 0:
        return 'empty'
    return f'mean={float(x.mean()):.8f}, std={float(x.std()):.8f}'


def _grad_or_none(variable: Variable) -> NdArray | None:
    """The gradient, also of parameters where reading it is an error."""
    return None if variable.array is None else variable.grad


def _restore(
    new: Variable,
    array: NdArray | None,
    name: str | None,
    grad: NdArray | None,
    requires_grad: bool,
) -> None:
    engine.Variable.__init__(new, array, name=name, requires_grad=requires_grad)
    if grad is not None:
        new.grad = grad


def _unpickle(
    cls: type[Variable],
    array: NdArray | None,
    name: str | None,
    grad: NdArray | None,
    requires_grad: bool,
) -> Variable:
    new = cls.__new__(cls)
    _restore(new, array, name, grad, requires_grad)
    return new


def _create_variable(
    array: NdArray | None,
    name: str | None,
    grad: NdArray | None,
    requires_grad: bool,
    device: DeviceSpec,
) -> Variable:
    """The function that pickles of variables written by Chainer v7 call."""
    new = _unpickle(Variable, array, name, grad, requires_grad)
    new.to_device(device)
    return new


def _as_parameter(op: str, variable: tp.Any) -> Parameter:
    if not hasattr(variable, 'initialize'):
        raise TypeError(f'Variable.{op}: the variable is uninitialized, and no Parameter')
    return variable


# The name in pickles and error messages.
for _object in (Variable, VariableNode, _unpickle, _create_variable):
    _object.__module__ = 'chainer.variable'
