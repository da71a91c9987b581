"""Finds out why parameters get no gradient."""

from __future__ import annotations

import typing as tp
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from chainer import variable
from chainer.function_hook import FunctionHook
from chainer.link import Link
from chainer.variable import Parameter, Variable

if tp.TYPE_CHECKING:
    from chainer._graph.function_node import FunctionNode


@dataclass(frozen=True)
class MissingGradient:
    """A parameter that gets no gradient, and why."""

    path: str
    param: Parameter
    reason: str

    def __str__(self) -> str:
        shape = self.param.shape if self.param.is_initialized else 'no shape yet'
        return f'{self.path} {shape}: {self.reason}'


@dataclass
class MissingGradientsReport:
    """The findings of :func:`report_missing_gradients`; false if all parameters get gradients.

    Attributes:
        model: Name of the model's class.
        count: Number of its parameters.
        missing: Those without a gradient.
        ends: Where the graph of the loss ends other than at parameters: inputs of the model, and
            places where something was taken out of the graph.
    """

    model: str
    count: int
    missing: list[MissingGradient] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.missing)

    def __len__(self) -> int:
        return len(self.missing)

    def __iter__(self) -> Iterator[MissingGradient]:
        return iter(self.missing)

    def __str__(self) -> str:
        if not self.missing:
            return f'All {self.count} parameters of {self.model} get a gradient.'
        lines = [f'{len(self.missing)} of {self.count} parameters of {self.model} get no gradient:']
        lines += [f'  {one}' for one in self.missing]
        if self.ends:
            lines += ['The graph of the loss ends, besides parameters, at:']
            lines += [f'  {end}' for end in self.ends]
        return '\n'.join(lines)


def report_missing_gradients(model: Link, loss: Variable) -> MissingGradientsReport:
    """Find the parameters that get no gradient from a loss, and where the chain was cut.

    The graph must still be there: call it before the backward, or after one that kept the graph. No
    gradient of a parameter is changed.

    Args:
        model: A link.
        loss: The variable that `backward` is, or was, called on.
    Returns:
        MissingGradientsReport: Print it; it is false if no gradient is missing.
    """
    if not isinstance(model, Link):
        raise TypeError(f'model must be a Link, not {type(model).__name__}')
    if not isinstance(loss, Variable):
        raise TypeError(f'loss must be a Variable, not {type(loss).__name__}')
    params = dict(model.namedparams())
    report = MissingGradientsReport(type(model).__name__, len(params))
    paths = {param.node: path for path, param in params.items() if param.is_initialized}
    graph = _Graph(loss, paths)
    reached = [
        param
        for param in params.values()
        if param.is_initialized and param.requires_grad and param.node in graph.leaves
    ]
    cuts = graph.cuts(reached)
    for path, param in params.items():
        if not param.is_initialized:
            reason = 'it is not initialized; the link was never called'
        elif not param.requires_grad:
            reason = 'its requires_grad is False'
        elif param.node not in graph.leaves:
            reason = (
                'it is not in the graph of the loss'
                if graph.functions
                else 'the loss has no graph: it was computed without one (no_backprop_mode, '
                'enable_backprop), from arrays, or was unchained'
            )
        elif param.node in cuts:
            reason = cuts[param.node]
        else:
            continue
        report.missing.append(MissingGradient(path, param, reason))
    if any(one.param.node not in graph.leaves for one in report if one.param.is_initialized):
        report.ends = [text for node, text in graph.leaves.items() if node not in paths]
    return report


class _Graph:
    """The functions behind a Variable, and the nodes without a creator at which they end."""

    def __init__(self, root: Variable, paths: dict[tp.Any, str]) -> None:
        self.root = root
        self.functions: list[tp.Any] = []
        self.leaves: dict[tp.Any, str] = {}
        if root.node in paths:
            self.leaves[root.node] = 'the loss itself'
        seen = set()
        waiting = [root.creator_node] if root.creator_node is not None else []
        while waiting:
            function: tp.Any = waiting.pop()
            if function in seen:
                continue
            seen.add(function)
            self.functions.append(function)
            for i, node in enumerate(function.inputs):
                if node.creator_node is not None:
                    waiting.append(node.creator_node)
                elif node not in self.leaves:
                    self.leaves[node] = _describe(function, i, paths)

    def cuts(self, params: list[Parameter]) -> dict[tp.Any, str]:
        """Say where the gradient stops, by node of each parameter that none gets to."""
        if not params or all(param.grad is not None for param in params):
            return {}
        xp = self.root.device.xp
        seed = Variable(xp.ones_like(self.root.array), requires_grad=False)
        with _Visits() as visits:
            grads = variable.grad([self.root], params, [seed])
        cuts = {}
        for param, grad in zip(params, grads, strict=True):
            if grad is None:
                cuts[param.node] = 'the gradient stops ' + self._place(param.node, visits.functions)
        return cuts

    def _place(self, leaf: object, visited: set[tp.Any]) -> str:
        """Where, on the ways to a leaf, a function got a gradient and the next one did not."""
        leading: set[tp.Any] = set()
        places: dict[str, None] = {}  # as an ordered set
        integers: dict[str, None] = {}
        for function in sorted(self.functions, key=lambda f: f.rank):
            nodes = [n for n in function.inputs if n == leaf or n.creator_node in leading]
            if not nodes:
                continue
            leading.add(function)
            if any(n.creator_node in visited for n in nodes):
                continue
            integers |= {
                f'{node.dtype} in {_name(function)}': None
                for node in nodes
                if np.dtype(node.dtype).kind not in 'fc'
            }
            if function in visited:
                below = [n.creator_node for n in nodes]
                names = ['the parameter' if f is None else _name(f) for f in below]
                places[f'between {_name(function)} and {", ".join(names)}'] = None
        place = '; '.join(places) or 'at the loss'
        return f'{place} (no gradient passes {", ".join(integers)})' if integers else place


class _Visits(FunctionHook):
    """Collects the functions that a backward pass reaches."""

    name = '_Visits'

    def __init__(self) -> None:
        self.functions: set[FunctionNode] = set()

    def backward_preprocess(
        self, function: FunctionNode, in_data: tp.Any, out_grad: tp.Any
    ) -> None:
        self.functions.add(function)


def _name(function: FunctionNode) -> str:
    return f'{function.label} (rank {function.rank})'


def _describe(function: tp.Any, i: int, paths: dict[tp.Any, str]) -> str:
    node = function.inputs[i]
    beside = ', '.join(paths[other] for other in function.inputs if other in paths)
    beside = f' beside {beside}' if beside else ''
    name = f' {node.name}' if node.name else ''
    state = '' if node.requires_grad else ', requires_grad is False'
    return f'input {i} of {_name(function)}{beside}:{name} {node.dtype} {tuple(node.shape)}{state}'
