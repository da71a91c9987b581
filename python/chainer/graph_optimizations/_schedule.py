"""A method that is recorded as a pair: its forward, and the backward that belongs to it.

Each of the two is a captured function (`chainerx.capture`). Recorded forwards return, besides the
outputs, all memory that is in use after them: that is what their graphs have saved. It is an
argument of the backward, so that each forward that is replayed has its own.
"""

from __future__ import annotations

import operator
import threading
import typing as tp
import warnings
import weakref

import chainerx
from chainerx._capture import Capture
from chainerx._core import engine

from chainer._graph.backprop import grad
from chainer._graph.function_node import FunctionNode
from chainer._graph.variable import Variable
from chainer.configuration import config

# As it is, then recorded twice.
_CALLS_BEFORE_REPLAYS: tp.Final = 3
_MAX_PAIRS: tp.Final = 8
_MAX_FAILURES: tp.Final = 3


class Schedule:
    """The recordings of a method of one chain, by shapes, dtypes and modes of its arguments."""

    def __init__(self, name: str, method: tp.Any, owner: object) -> None:
        self.name = name
        self._method = method
        self._owner = weakref.ref(owner)
        self._pairs: dict[tp.Hashable, _Pair] = {}
        self._test = Capture(self.run, _MAX_PAIRS, False)

    def is_of(self, owner: object) -> bool:
        """Whether it is that of an object: copies have the schedule of the original at first."""
        return self._owner() is owner

    def __call__(self, inputs: tuple[tp.Any, ...], records: bool) -> tp.Any:
        """What the method returns for Variables or arrays, replayed where possible.

        ``records`` tells whether it is part of a graph.
        """
        if not records:
            return self._test(*(_without_graph(x) for x in inputs))
        variables = [
            x if isinstance(x, Variable) else Variable(x, requires_grad=False) for x in inputs
        ]
        key = (
            config.train,
            *((x.shape, x.dtype, x.array.device, x.requires_grad) for x in variables),
        )
        pair = self._pairs.pop(key, None)
        if pair is None:
            pair = _Pair(self, [x.requires_grad for x in variables])
            if len(self._pairs) == _MAX_PAIRS:
                del self._pairs[next(iter(self._pairs))]  # the one least used
        self._pairs[key] = pair
        return pair.call(variables)

    def params(self) -> list[tp.Any]:
        """The parameters of the chain."""
        params = getattr(self._owner(), 'params', None)
        return [] if params is None else list(params())

    def run(self, *inputs: tp.Any) -> tp.Any:
        """Calls the method as it is."""
        return self._method(self._owner(), *inputs)

    def __reduce__(self) -> tp.NoReturn:
        raise TypeError('recordings are of this process')


def _without_graph(x: tp.Any) -> tp.Any:
    if isinstance(x, Variable):
        return Variable(x.array.as_grad_stopped(), requires_grad=False)
    return x.as_grad_stopped()


class _Graph(tp.NamedTuple):
    """What a forward that was not replayed has recorded, of variables over the inputs."""

    inputs: list[Variable]
    leaves: list[Variable]  # besides these: parameters, and what the method uses by itself
    outputs: list[Variable]


class _Pair:
    """What is known of a method for inputs of one kind."""

    def __init__(self, schedule: Schedule, requires_grad: list[bool]) -> None:
        self.schedule = schedule
        self.requires_grad = requires_grad  # by input
        # The type of what it returns; which of the outputs have gradients.
        self.form: tuple[tp.Any, list[bool]] | None = None
        self._is_plain = False
        self._failures = self._replays = 0
        self._recording = _Recording(self)

    def call(self, inputs: list[Variable]) -> tp.Any:
        """What the method returns for some inputs."""
        if self._is_plain or self.form is None:
            result = self.schedule.run(*inputs)
            if not self._is_plain:
                self._look(result)
            return result
        recording = self._recording
        if not recording.is_ready:
            if recording.is_forgotten():
                self._recording = recording = _Recording(self)
            if not recording.is_free():  # another backward comes first
                return self.schedule.run(*inputs)
        elif not recording.has_params():
            self._recording = recording = _Recording(self)
        elif not recording.has_both():
            if recording.is_refused():
                self._is_plain = True  # a warning has said why
            else:
                self._begin_anew('a recording of it is not the same as the one before')
            return self.schedule.run(*inputs)
        call, arrays = recording.call_forward([x.array.as_grad_stopped() for x in inputs])
        if call.graph is None:
            self._replays += 1
        elif recording.is_ready:
            self._begin_anew('it is not the same in each call')
        cls, _ = self.form
        outputs = engine.connect(call, (*inputs, *call.leaves), tuple(arrays))
        return outputs[0] if cls is Variable else cls(outputs)

    def _begin_anew(self, reason: str) -> None:
        """Makes a fresh recording in the place of one that is of no use; not for ever."""
        self._failures += 1
        self._recording = _Recording(self)
        if self._failures > _MAX_FAILURES and self._replays < 10 * self._failures:
            self._refuse(reason)

    def _refuse(self, reason: str) -> None:
        self._is_plain = True
        text = f'static_graph: {self.schedule.name} runs as it is, since {reason}'
        warnings.warn(text, RuntimeWarning, stacklevel=5)

    def _look(self, result: tp.Any) -> None:
        """Finds out whether what the method returns can come from recordings."""
        cls: tp.Any = Variable if isinstance(result, Variable) else type(result)
        items = [result] if cls is Variable else result
        if cls not in (Variable, tuple, list) or not all(
            isinstance(y, Variable) and isinstance(y.array, chainerx.ndarray) for y in items
        ):
            self._refuse('it returns something else than variables of chainerx arrays')
        elif not any(y.requires_grad for y in items):
            self._is_plain = True  # there is no backward
        else:
            self.form = cls, [y.requires_grad and y.array.dtype.kind in 'fV' for y in items]


class _Recording:
    """The forward and the backward that belong together."""

    def __init__(self, pair: _Pair) -> None:
        self._pair = pair
        self._forward: tp.Any = Capture(self._run_forward, 1, False, True)
        self._backward: tp.Any = Capture(self._run_backward, 1, False)
        self._local = threading.local()  # `graph`, of the call that runs in a thread
        self._last: weakref.ref[StaticScheduleFunction] | None = None
        self._n_forwards = self._n_backwards = 0
        self.is_ready = False  # whether calls should be replays from now on
        self._has_both = False
        self._specs: list[tuple[tp.Any, ...]] = []  # of the outputs
        self._leaves: list[weakref.ref[Variable]] = []
        self._params: list[weakref.ref[Variable]] = []

    def has_both(self) -> bool:
        """Whether forward and backward can be replayed."""
        if not self._has_both:
            rows = [*self._forward.info(), *self._backward.info()]
            self._has_both = len(rows) == 2 and all(row.kernels > 0 for row in rows)
        return self._has_both

    def has_params(self) -> bool:
        """Whether the chain has the parameters that it had: somebody may keep an old one."""
        now, then = self._pair.schedule.params(), self._params
        return len(now) == len(then) and all(map(operator.is_, now, map(operator.call, then)))

    def is_refused(self) -> bool:
        """Whether one of them can never be replayed."""
        rows = [*self._forward.info(), *self._backward.info()]
        return any(row.reason.startswith('capture: ') for row in rows)

    def is_free(self) -> bool:
        """Whether a forward may be recorded or replayed: each backward follows its own forward."""
        return self.is_ready or self._n_forwards == self._n_backwards

    def is_forgotten(self) -> bool:
        """Whether no backward can follow the last forward that was recorded."""
        return not self.is_free() and (self._last is None or self._last() is None)

    def call_forward(self, inputs: list[tp.Any]) -> tuple[StaticScheduleFunction, list[tp.Any]]:
        """Calls the method, or replays it: the call, and the outputs."""
        self._local.graph = None
        try:
            requires_grad = self._pair.requires_grad
            given = [
                Variable(x.as_grad_stopped(), requires_grad=r)
                for x, r in zip(inputs, requires_grad, strict=True)
            ]
            outputs, kept, is_replay = self._forward(*given)
            graph = self._local.graph
        finally:
            self._local.graph = None
        if not self.is_ready:
            self._n_forwards += 1
            self._leaves = list(map(weakref.ref, graph.leaves))
            self._params = list(map(weakref.ref, self._pair.schedule.params()))
        if graph is not None:
            self._specs = [(y.shape, y.dtype, y.device) for y in outputs]
        # A replay looks whether they are there.
        leaves: tp.Any = list(map(operator.call, self._leaves)) if is_replay else graph.leaves
        call = StaticScheduleFunction(self, graph, inputs, self._specs, kept, leaves)
        self._last = weakref.ref(call)
        return call, outputs

    def call_backward(self, call: StaticScheduleFunction, grads: list[tp.Any]) -> list[tp.Any]:
        """The gradients of inputs and leaves, replayed if the forward was."""
        is_next = self._last is not None and self._last() is call
        if call.graph is not None:
            if self.is_ready or not is_next or self._n_backwards == self._n_forwards:
                return self._differentiate(call.graph, grads)
            self._n_backwards += 1
            self.is_ready = self._n_backwards >= _CALLS_BEFORE_REPLAYS
        self._local.graph = call.graph
        try:
            inputs = [x.as_grad_stopped() for x in call.inputs_of_method]
            seeds = [g.copy() for g in grads]
            with chainerx.no_backprop_mode():
                found: list[tp.Any] = self._backward(inputs, call.kept, seeds)
                if call.graph is not None and self._n_backwards == 2:
                    # The first forward, which was not recorded, kept nothing: of arguments like
                    # these, that was the first call, and the next one is recorded.
                    found = self._backward(inputs, call.kept, seeds)
        finally:
            self._local.graph = None
        return found

    def _run_forward(self, *inputs: Variable) -> list[tp.Any]:
        result = self._pair.schedule.run(*inputs)
        outputs = [result] if isinstance(result, Variable) else list(result)
        self._local.graph = _Graph(list(inputs), _find_leaves(outputs, inputs), outputs)
        return [y.array for y in outputs]

    def _run_backward(self, inputs: object, kept: object, grads: list[tp.Any]) -> list[tp.Any]:
        """The arguments are what a replay depends on."""
        graph = self._local.graph
        if graph is None:
            raise chainerx.CaptureError(
                f'static_graph: {self._pair.schedule.name} was replayed, but its backward can not '
                'be: a parameter, a setting or a hook has changed between them; set '
                'chainer.config.use_static_graph to False'
            )
        return self._differentiate(graph, grads)

    def _differentiate(self, graph: _Graph, grads: list[tp.Any]) -> list[tp.Any]:
        assert self._pair.form is not None
        _, has_grad = self._pair.form
        outputs = [y for y, has in zip(graph.outputs, has_grad, strict=True) if has]
        seeds = [Variable(g, requires_grad=False) for g in grads]
        variables = [*graph.inputs, *graph.leaves]
        targets = [x for x in variables if x.requires_grad]
        found = iter(grad(outputs, targets, seeds))
        grads = [next(found) if x.requires_grad else None for x in variables]
        return [None if g is None else g.array for g in grads]

    def seeds(self, specs: list[tuple[tp.Any, ...]], grads: tp.Any) -> list[tp.Any]:
        """The gradients of outputs that have one: zeros where nothing depends on an output."""
        assert self._pair.form is not None
        _, has_grad = self._pair.form
        return [
            chainerx.zeros(shape, dtype, device=device) if g is None else g.array
            for (shape, dtype, device), g, has in zip(specs, grads, has_grad, strict=True)
            if has
        ]


class StaticScheduleFunction(FunctionNode):
    """A call of a method with a static graph, in the graph of those who call it."""

    def __init__(
        self,
        recording: _Recording,
        graph: _Graph | None,
        inputs: list[tp.Any],
        specs: list[tuple[tp.Any, ...]],
        kept: list[tp.Any],
        leaves: list[Variable],
    ) -> None:
        super().__init__()
        self._recording = recording
        self.graph = graph  # None if it was replayed
        self.inputs_of_method = inputs
        self.kept = kept
        self.leaves = leaves
        self._specs = specs  # of the outputs
        self._versions = self._versions_now()

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tp.Any) -> tp.Any:
        """See `FunctionNode`.

        Raises:
            RuntimeError: If gradients of the gradients are asked for.
            GradientError: If an input or output was written to since the forward.
        """
        if config.enable_backprop:
            raise RuntimeError(
                'static_graph: gradients of a method with a static graph can not be '
                'differentiated again; set chainer.config.use_static_graph to False'
            )
        if self.graph is None and self._versions_now() != self._versions:
            raise chainerx.GradientError(
                'static_graph: an input or output was written to in place before backward'
            )
        seeds = self._recording.seeds(self._specs, grad_outputs)
        found = self._recording.call_backward(self, seeds)
        chosen = (found[i] for i in target_input_indexes)
        return tuple(None if g is None else Variable(g, requires_grad=False) for g in chosen)

    def _versions_now(self) -> list[int]:
        return [*map(engine.version, self.inputs_of_method), *map(engine.version, self.kept)]


def _find_leaves(outputs: list[Variable], inputs: tuple[Variable, ...]) -> list[Variable]:
    """The leaves of a graph that somebody has, besides some."""
    leaves: list[Variable] = []
    functions: list[tp.Any] = []  # objects of these are made on demand, so they are kept
    todo = [y.creator_node for y in outputs]
    seen: set[int] = set()
    while todo:
        function = todo.pop()
        if function is None or id(function) in seen:
            continue
        seen.add(id(function))
        functions.append(function)
        for node in function.inputs or ():
            if node is None:
                continue
            if node.creator_node is not None:
                todo.append(node.creator_node)
                continue
            leaf = node.get_variable_or_none() if node.requires_grad else None
            if leaf is not None and not any(leaf is x for x in (*inputs, *leaves)):
                leaves.append(leaf)
    return leaves
