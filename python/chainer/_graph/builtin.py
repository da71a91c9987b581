"""How the functions of `chainer.functions` are declared.

A function is a class at its v7 path: its type check, and its composition of chainerx routines, from
which the engine makes both directions::

    class LeakyReLU(BuiltinFunction):
        def check_type_forward(self, in_types):
            type_check.expect(in_types.size() == 1, in_types[0].dtype.kind == 'f')

        @staticmethod
        def compose(x, *, slope=0.2):
            return chainerx.leaky_relu(x, slope)

    def leaky_relu(x, slope=0.2):
        return LeakyReLU.call(x, slope=slope)

The keyword arguments of ``compose`` are the attributes of the function; the constructor takes them
in this order, with these defaults. Where all that it does is to call a routine, say so::

        compose = routine(chainerx.leaky_relu, slope=0.2)

``call`` takes the inputs (None for one that is left out), and attributes by keyword: fastest if it
names all of them in their order. It costs no object of the class: that is made when somebody looks
at ``y.creator`` or a hook is on.
"""

from __future__ import annotations

import abc
import copy
import inspect
import itertools
import typing as tp

import chainerx
import numpy as np
from chainerx._core import engine

from chainer import backend, configuration
from chainer._graph import backprop, callbacks, declaration, variable
from chainer._graph.function_node import FunctionNode, check_unwritten, variables_of
from chainer.utils import type_check

if tp.TYPE_CHECKING:
    from chainer._typing import AnyCallable, ArrayLike, Arrays, Gradients, Retained, VariableLike


# Methods that a subclass, an object or a patched class may have in place of ours.
_METHODS = (
    'forward',
    'forward_cpu',
    'forward_gpu',
    'forward_chainerx',
    'backward',
    'backward_accumulate',
    'check_type_forward',
)
_PATCHED = frozenset({*_METHODS, 'apply'})


class _Watched(abc.ABCMeta):
    """Notices that a program replaces methods of built-in functions, so that its own are called.

    It is no other metaclass than that of abstract classes, so that these may be bases, too.
    """

    def __setattr__(cls, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name in _PATCHED:
            _find_patches(cls)

    def __delattr__(cls, name: str) -> None:
        super().__delattr__(name)
        if name in _PATCHED:
            _find_patches(cls)


def _find_patches(cls: tp.Any) -> None:
    entry = vars(cls).get('call')
    if entry is not None:
        own = cls._own_methods
        entry.is_patched = any(getattr(cls, name) is not own[name] for name in _PATCHED)
    for subclass in type.__subclasses__(cls):
        _find_patches(subclass)


class BuiltinFunction(FunctionNode, metaclass=_Watched):
    """Base of the functions that are compositions of chainerx routines.

    Class attributes of a subclass:

    - ``compose``: see above; a static method.
    - ``argument_names``: what the constructor calls attributes, where they have other names.
    - ``writes``: names of attributes that are arrays which ``compose`` writes to; see
      `declaration.writable`.
    - ``saved``: names of what ``compose`` computes besides the outputs; it returns
      ``(outputs, value, ...)`` then.
    - ``check_uses_attributes``: whether the type check looks at attributes (default: if there are
      any); it is not repeated for dtypes and shapes that have passed.
    - ``has_graph``: False where outputs have no creator.
    - ``promotes``: chainerx arrays of several dtypes may be mixed, so they skip the check.
    - ``is_called``: objects are called with the inputs, as those of v7's old-style class.
    """

    # Follow from compose.
    attributes: tp.ClassVar[dict[str, tp.Any]] = {}
    writes: tp.ClassVar[tuple[str, ...]] = ()
    saved: tp.ClassVar[tuple[str, ...]] = ()
    argument_names: tp.ClassVar[dict[str, str]] = {}
    __signature__: tp.ClassVar[inspect.Signature | None] = None
    check_uses_attributes: tp.ClassVar[bool | None] = None
    has_graph: tp.ClassVar[bool] = True
    promotes: tp.ClassVar[bool] = False
    is_called: tp.ClassVar[bool] = False
    call: tp.ClassVar[tp.Any]
    compose: tp.ClassVar[AnyCallable]
    # What `_PATCHED` names, as it was when the class was made.
    _own_methods: tp.ClassVar[dict[str, tp.Any]]
    if tp.TYPE_CHECKING:

        def __getattr__(self, name: str) -> tp.Any:
            """An attribute that ``compose`` declares."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        composition = declaration.composition_of(cls)
        if composition is not None:
            cls.attributes = declaration.attributes_of(composition)
        # That of classes with a constructor of their own is not of our making.
        cls.__signature__ = (
            declaration.signature(cls.attributes, cls.argument_names)
            if cls.__init__ is BuiltinFunction.__init__
            else None
        )
        if composition is None:
            return
        cls._own_methods = {name: getattr(cls, name) for name in _PATCHED}
        uses = cls.check_uses_attributes
        cls.call = engine.Entry(
            cls,
            cls.compose,
            cls.__name__,
            tuple(cls.attributes),
            tuple(cls.attributes.values()),
            by_name=not isinstance(composition, declaration.routine),
            saves=bool(cls.saved),
            check=cls.check_type_forward is not FunctionNode.check_type_forward,
            check_uses_params=bool(cls.attributes) if uses is None else uses,
            graph=cls.has_graph,
            promotes=cls.promotes,
        )

    def __init__(self, *args: object, **kwargs: object) -> None:
        try:
            bound = declaration.signature(self.attributes, self.argument_names).bind(
                *args, **kwargs
            )
        except TypeError as e:
            raise TypeError(f'{type(self).__name__}: {e}') from None
        bound.apply_defaults()
        for name in self.attributes:
            setattr(self, name, bound.arguments[self.argument_names.get(name, name)])
        self._prepare()

    def _prepare(self) -> None:
        """Checks attributes that the constructor has set, and gives them their form."""

    def __call__(self, *inputs: object, **kwargs: object) -> tp.Any:
        if not self.is_called:
            return super().__call__(*inputs, **kwargs)
        outputs = self.apply(inputs, **kwargs)
        return outputs[0] if len(outputs) == 1 else outputs

    def _values(self) -> dict[str, tp.Any]:
        return {name: getattr(self, name) for name in self.attributes}

    def _run(self, inputs: tp.Sequence[VariableLike]) -> tuple[tp.Any, tuple[tp.Any, ...]]:
        """Return the result of the composition: the outputs, and the values that are saved."""
        composition = tp.cast(staticmethod, declaration.composition_of(_plain(type(self))))
        if isinstance(composition, declaration.routine):
            result = composition.__func__(*inputs, *self._values().values())
        else:
            result = composition.__func__(*inputs, **self._values())
        result, *values = result if self.saved else (result,)
        return result if isinstance(result, tuple) else (result,), tuple(values)

    def apply(self, inputs: tp.Sequence[VariableLike]) -> tuple[variable.Variable, ...]:
        """See `FunctionNode.apply`; this object becomes the creator."""
        if _rewritten(self):
            return super().apply(inputs)
        outputs = self.call.apply(self, *inputs, **self._values())
        self._is_single = not isinstance(outputs, tuple)
        return (outputs,) if self._is_single else outputs

    # The following methods are for subclasses of users.

    # Whether `call` returns a variable, not a tuple.
    _is_single: bool = True
    # For backward, whatever the subclass retains for its own.
    _all_inputs: Retained | None = None
    _was_training: bool | None = None

    def _connect(
        self,
        variables: tuple[variable.Variable, ...],
        in_data: Arrays,
        outputs: Arrays,
        converted: Arrays,
    ) -> tuple[variable.Variable, ...]:
        if configuration.config.enable_backprop:
            self._all_inputs = tuple((i, x, engine.version(x)) for i, x in enumerate(in_data))
            self._was_training = configuration.config.train
        return super()._connect(variables, in_data, outputs, converted)

    def forward_cpu(self, inputs: Arrays) -> Arrays:
        """The outputs as arrays. Keeps all inputs and outputs."""
        return self._compose(inputs)

    def forward_gpu(self, inputs: Arrays) -> Arrays:
        """The outputs as arrays. Keeps all inputs and outputs."""
        return self._compose(inputs)

    def _compose(self, inputs: Arrays) -> Arrays:
        self.retain_inputs(range(len(inputs)))
        kind = next(engine.kind(x) for x in inputs if x is not None)
        arrays = [x if x is None else _as_chainerx(x) for x in inputs]
        outputs, values = self._run(arrays)
        for name, value in zip(self.saved, values, strict=True):
            setattr(self, name, callbacks.to_kind(value, kind))
        self.retain_outputs(range(len(outputs)))
        return tuple(callbacks.to_kind(y, kind) for y in outputs)

    def _why_not_native(self) -> str | None:
        rewritten = _rewritten(self)
        if 'forward_chainerx' in rewritten or rewritten == ['check_type_forward']:
            return None
        return f'{rewritten[0]} is overridden'

    def forward_chainerx(self, inputs: Arrays) -> tp.Any:
        """The outputs of the composition, part of the graph."""
        outputs, values = self._run(inputs)
        for name, value in zip(self.saved, values, strict=True):
            setattr(self, name, value)
        return outputs

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: Gradients) -> tp.Any:
        """The gradients of the composition."""
        inputs: tuple[tp.Any, ...]
        if self._all_inputs is not None:
            check_unwritten(self, 'input', self._all_inputs)
            inputs = variables_of(self, self._all_inputs, False)
        else:  # called by hand, or of a creator that was made by hand
            inputs = tuple(x and x.get_variable() for x in tp.cast(tuple, self.inputs))
        fresh = BuiltinFunction.__new__(_plain(type(self)))
        fresh.__dict__.update(self._values())
        for name in self.writes:  # once is enough
            setattr(fresh, name, copy.deepcopy(getattr(self, name)))
        differentiable = configuration.config.enable_backprop
        train = configuration.config.train if self._was_training is None else self._was_training
        with (
            configuration.using_config('enable_backprop', True),
            configuration.using_config('train', train),
        ):
            outputs = fresh.apply(inputs)
        return backprop.grad(
            [y for y, g in zip(outputs, grad_outputs, strict=True) if g is not None],
            [inputs[i] for i in target_input_indexes],
            [g for g in grad_outputs if g is not None],
            enable_double_backprop=differentiable,
        )


class Operation(FunctionNode):
    """A chainerx routine that was called outside of any function, in a drawing of the graph."""

    name: str = 'chainerx'

    @property
    def label(self) -> str:
        return self.name


def materialize(
    cls: tp.Any, values: tuple[tp.Any, ...] | None, kind: str | None, function: FunctionNode | None
) -> FunctionNode:
    """The function object of a region, made on demand from the data that the call kept."""
    if cls is None:
        operation = Operation()
        operation.name = tp.cast(str, kind)
        return operation
    f = function if function is not None else cls.__new__(cls)
    if values is not None:
        for name, value in zip((*cls.attributes, *cls.saved), values, strict=False):
            setattr(f, name, callbacks.to_kind(value, kind))
    return f


def check_types(cls: tp.Any, params: tuple[tp.Any, ...], arrays: Arrays) -> None:
    """Raises `InvalidType` if the class does not accept the arrays.

    chainerx arrays of several float dtypes are promoted, so they are checked as if they had been.
    """
    function = materialize(cls, params, None, None)
    try:
        callbacks.check_function_types(function, arrays)
        return
    except type_check.InvalidType:
        promoted = _promoted(arrays)
        if promoted is None:
            raise
    callbacks.check_function_types(function, promoted)


def _promoted(arrays: Arrays) -> Arrays | None:
    """Arrays that stand for chainerx arrays of several float dtypes, else None."""
    are_floats = [isinstance(x, chainerx.ndarray) and x.dtype.kind == 'f' for x in arrays]
    floats = list(itertools.compress(arrays, are_floats))
    if len({x.dtype for x in floats}) < 2:
        return None
    one = chainerx.zeros((), chainerx.result_type(*floats))
    return tuple(
        chainerx.broadcast_to(one, x.shape) if is_float else x
        for x, is_float in zip(arrays, are_floats, strict=True)
    )


def apply_object(cls: tp.Any, inputs: Arrays, params: tuple[tp.Any, ...]) -> tp.Any:
    """Calls a class that the program has patched: as v7 does, by applying an object of it."""
    function = tp.cast(BuiltinFunction, materialize(cls, params, None, None))
    outputs = function.apply(inputs)
    return outputs[0] if function._is_single and len(outputs) == 1 else outputs


engine.set_callbacks(materialize=materialize, check_types=check_types, apply_object=apply_object)


def _plain(cls: type[BuiltinFunction]) -> type[BuiltinFunction]:
    """The built-in class that a class of the user's derives from."""
    return next(c for c in cls.__mro__ if declaration.composition_of(c) is not None)


def _rewritten(function: BuiltinFunction) -> list[str]:
    """The methods that the user's class, or the object itself, has in place of ours."""
    cls = type(function)
    own = _plain(cls)._own_methods
    return [
        name for name in _METHODS if name in vars(function) or getattr(cls, name) is not own[name]
    ]


def _as_chainerx(array: ArrayLike) -> chainerx.ndarray:
    """An array as the composition needs it; on the device where it is, over the same memory."""
    if isinstance(array, chainerx.ndarray):
        return array
    if engine.kind(array) is None:
        return chainerx.array(array, device='native:0')
    return engine.side(array)


def _to_numpy(array: ArrayLike) -> np.ndarray:
    """An array of any kind, or a number, on the host; not to be written to."""
    on_host = engine.kind(array) in ('numpy', None)
    return np.asarray(array) if on_host else backend.CpuDevice().send(array)
