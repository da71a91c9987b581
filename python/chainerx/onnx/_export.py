"""`export`: a function of arrays as a graph of ONNX."""

from __future__ import annotations

import inspect
import os
import typing as tp

import numpy as np
import onnx

import chainerx
from chainerx.func import _tree
from chainerx.onnx import _opsets, _rows, _saved
from chainerx.onnx._discover import named_arrays
from chainerx.onnx._graph import Graph, Named, Run, check_equal, check_same
from chainerx.onnx._routine import COMPOSITIONS
from chainerx.onnx._trace import Tracer
from chainerx.onnx._writer import NotInOnnxError

if tp.TYPE_CHECKING:
    from collections.abc import Sequence

_ = _rows  # which registers all rows


class _Arguments:
    """The arguments of a function: arrays with names, and the rest."""

    def __init__(self, function: tp.Any, args: tp.Any, parameters: tp.Any) -> None:
        self.args: tuple[tp.Any, ...] = ()
        self.kwargs: dict[str, tp.Any] = {}
        if isinstance(args, dict):
            self.kwargs = dict(args)
        else:
            self.args = tuple(args) if isinstance(args, (list, tuple)) else (args,)
        labels = [*_labels(function, len(self.args)), *self.kwargs]
        trees = [*self.args, *self.kwargs.values()]
        held = _held(parameters, labels, len(self.args))
        self.arrays: list[chainerx.ndarray] = []
        self.paths: list[str] = []
        self.is_held: list[bool] = []
        self.leaves, self.structure = _tree.flatten((self.args, self.kwargs))
        paths = [p for label, tree in zip(labels, trees, strict=True) for p in _paths(tree, label)]
        holds = [h for h, tree in zip(held, trees, strict=True) for _ in _paths(tree, '')]
        self.places: list[int] = []
        for i, x in enumerate(self.leaves):
            if isinstance(x, (np.ndarray, np.generic)):
                x = chainerx.array(x)
            if type(x) is not chainerx.ndarray:
                kind = 'a batch of vmap' if isinstance(x, chainerx.ndarray) else type(x).__name__
                raise TypeError(
                    f'export: args has {kind} in it ({paths[i]}), expected arrays; bind other '
                    'arguments by functools.partial'
                )
            self.places.append(i)
            self.arrays.append(x)
            self.paths.append(paths[i])
            self.is_held.append(holds[i])

    def call(
        self, function: tp.Any, tracer: Tracer, arrays: Sequence[chainerx.ndarray]
    ) -> tuple[list[tp.Any], tp.Any]:
        """Traces the function; returns the traced arguments, and the result."""
        traced = [tracer.add_input(x) for x in arrays]
        args, kwargs = _tree.unflatten(self.structure, traced)
        values = [x.note.value for x in traced]
        return values, tracer.run(function, args, kwargs)


def _labels(function: tp.Any, n: int) -> list[str]:
    """What the positional parameters are called."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    named = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    found = [p.name for p in parameters if p.kind in named][:n]
    return found + [f'input_{i}' for i in range(len(found), n)]


def _held(parameters: tp.Any, labels: list[str], n: int) -> list[bool]:
    chosen = parameters if isinstance(parameters, (list, tuple)) else (parameters,)
    places = set()
    for p in chosen:
        if isinstance(p, str) and p in labels:
            places.add(labels.index(p))
        elif isinstance(p, int) and not isinstance(p, bool) and -n <= p < n:
            places.add(p % n)
        else:
            raise ValueError(
                f'export: parameters has {p!r}, expected positions or names of arguments, which '
                f'are {labels}'
            )
    return [i in places for i in range(len(labels))]


def _join(path: str, key: object) -> str:
    return f'{path}.{key}' if path else str(key)


def _paths(tree: tp.Any, path: str) -> list[str]:
    """Names of the leaves of a tree, in the order of `_tree.flatten`."""
    if tree is None:
        return []
    if isinstance(tree, dict):
        return [
            p for key, x in tree.items() for p in _paths(x, f'{path}.{key}' if path else str(key))
        ]
    if isinstance(tree, (list, tuple)):
        keys: tp.Any = getattr(tree, '_fields', range(len(tree)))
        pairs = zip(keys, tree, strict=True)
        return [p for key, x in pairs for p in _paths(x, _join(path, key))]
    return [path]


def _checked_names(argument: str, names: tp.Any, default: list[str]) -> list[str]:
    found = default if names is None else [names] if isinstance(names, str) else names
    if not isinstance(found, (list, tuple)):
        kind = type(names).__name__
        raise TypeError(f'export: {argument} is {kind}, expected a list of str')
    for name in found:
        if not isinstance(name, str):
            raise TypeError(f'export: {argument} has {name!r}, expected str')
        if not name:
            raise ValueError(f'export: {argument} has an empty name')
    if len(found) != len(default):
        raise ValueError(f'export: {argument} has {len(found)} names, expected {len(default)}')
    if len(set(found)) != len(found):
        raise ValueError(f'export: {argument} has a name twice: {list(found)}')
    return list(found)


def _checked_shapes(
    shapes: tp.Any, arrays: list[chainerx.ndarray], names: list[str]
) -> list[tuple[int | str | None, ...]]:
    if shapes is None:
        return [tuple(x.shape) for x in arrays]
    if isinstance(shapes, dict):
        if unknown := set(shapes) - set(names):
            raise ValueError(f'export: input_shapes has {sorted(unknown)}, the inputs are {names}')
        pairs = zip(names, arrays, strict=True)
        shapes = [shapes.get(name, tuple(x.shape)) for name, x in pairs]
    elif not isinstance(shapes, (list, tuple)):
        kind = type(shapes).__name__
        raise TypeError(f'export: input_shapes is {kind}, expected a tuple, list or dict')
    elif len(arrays) == 1 and all(n is None or isinstance(n, (int, str)) for n in shapes):
        shapes = [shapes]
    if len(shapes) != len(arrays):
        raise ValueError(
            f'export: input_shapes has {len(shapes)} shapes, there are {len(arrays)} inputs'
        )
    for shape, x, name in zip(shapes, arrays, names, strict=True):
        if not isinstance(shape, (list, tuple)):
            kind = type(shape).__name__
            raise TypeError(f'export: input_shapes has {kind} for {name}, expected a tuple')
        for n in shape:
            if n is not None and not isinstance(n, (int, str)):
                raise TypeError(f'export: input_shapes has {n!r}, expected int, str or None')
        if len(shape) != x.ndim or any(
            isinstance(n, int) and n != m for n, m in zip(shape, x.shape, strict=True)
        ):
            raise ValueError(
                f'export: input_shapes has {tuple(shape)} for {name}, whose shape is {x.shape}'
            )
    return [tuple(shape) for shape in shapes]


def _other_lengths(
    shapes: list[tuple[int | str | None, ...]], arrays: list[chainerx.ndarray]
) -> list[chainerx.ndarray]:
    """The arrays with other lengths of open axes: each several times as long, none as another."""
    factors: dict[tp.Any, int] = {}
    lengths: dict[tp.Any, int] = {}
    taken = {n for x in arrays for n in x.shape}
    found = []
    for i, (shape, x) in enumerate(zip(shapes, arrays, strict=True)):
        for axis, n in enumerate(shape):
            if isinstance(n, int):
                continue
            key = (i, axis) if n is None else n
            length = x.shape[axis]
            if lengths.setdefault(key, length) != length:
                raise ValueError(
                    f'export: input_shapes has {n!r} for axes of lengths {lengths[key]} and '
                    f'{length}'
                )
            if length == 0:
                raise ValueError(f'export: the open axis {n!r} has length 0; give a longer one')
            if key not in factors:
                factor = 2
                while factor * length in taken or factor in factors.values():
                    factor += 1
                factors[key] = factor
                taken.add(factor * length)
            x = chainerx.concatenate([x] * factors[key], axis)
        found.append(x)
    return found


def export(
    function: tp.Any,
    args: tp.Any,
    filename: str | os.PathLike[str] | None = None,
    *,
    opset_version: int | None = 17,
    input_names: tp.Any = None,
    output_names: tp.Any = None,
    input_shapes: tp.Any = None,
    names: tp.Any = None,
    parameters: tp.Any = (),
    graph_name: str = 'function',
    save_text: bool = False,
) -> onnx.ModelProto:
    """See `chainerx.onnx.export`."""
    if not callable(function):
        raise TypeError(f'export: function is {type(function).__name__}, expected a callable')
    if not isinstance(graph_name, str) or not graph_name:
        raise ValueError(f'export: graph_name is {graph_name!r}, expected a name')
    opset = _opsets.check_opset_version(opset_version)
    arguments = _Arguments(function, args, parameters)
    inputs = [i for i, held in enumerate(arguments.is_held) if not held]
    arrays = [arguments.arrays[i] for i in inputs]
    given = _checked_names('input_names', input_names, [arguments.paths[i] for i in inputs])
    shapes = _checked_shapes(input_shapes, arrays, given)
    axes = {
        (name, axis): n or ''
        for name, shape in zip(given, shapes, strict=True)
        for axis, n in enumerate(shape)
        if not isinstance(n, int)
    }
    named = named_arrays(function, names)

    def traced(xs: list[chainerx.ndarray]) -> Run:
        whole = list(arguments.arrays)
        for i, x in zip(inputs, xs, strict=True):
            whole[i] = x
        return _traced(function, arguments, whole, given, output_names, bool(axes))

    run = traced(arrays)
    if not axes:
        graph = Graph(run, None, named, axes, opset)
        made = graph.make(graph_name)
    else:
        made = _checked(run, traced, _other_lengths(shapes, arrays), named, axes, opset, graph_name)
    proto = onnx.helper.make_model(
        made,
        producer_name='chainerx',
        producer_version=chainerx.__version__,
        opset_imports=[onnx.helper.make_opsetid('', opset)],
        ir_version=_opsets.ir_version(opset),
    )
    _saved.check(proto)
    if filename is not None:
        _saved.write(proto, os.fspath(filename), save_text)
    return proto


def _checked(
    run: Run,
    traced: tp.Any,
    others: list[chainerx.ndarray],
    named: Named,
    axes: tp.Any,
    opset: int,
    graph_name: str,
) -> onnx.GraphProto:
    """The graph, if it is the same one for other lengths of the open axes."""
    try:
        other = traced(others)
    except (NotInOnnxError, TypeError):
        raise
    except Exception as error:
        shapes = ', '.join(str(x.shape) for x in others)
        raise NotInOnnxError(
            f'export: the function fails for other lengths of the open axes, arrays of shapes '
            f'{shapes}: {error}'
        ) from error
    check_same(run, other)
    graph = Graph(run, other, named, axes, opset)
    made = graph.make(graph_name)
    check_equal(graph, made, Graph(other, run, named, axes, opset).make(graph_name))
    return made


def _traced(
    function: tp.Any,
    arguments: _Arguments,
    arrays: list[chainerx.ndarray],
    input_names: list[str],
    output_names: tp.Any,
    has_open_axes: bool,
) -> Run:
    tracer = Tracer(has_open_axes, COMPOSITIONS)
    values, result = arguments.call(function, tracer, arrays)
    leaves, _ = _tree.flatten(result)
    found = [tracer.value_of(x) for x in leaves]
    if not found:
        raise TypeError(
            f'export: the function returned {type(result).__name__}, expected a chainerx.ndarray, '
            'or tuples, lists and dicts of them'
        )
    default = _paths(result, '') if isinstance(result, dict) else []
    if not default:
        n = len(found)
        default = ['output'] if n == 1 else [f'output_{i}' for i in range(n)]
    names = _checked_names('output_names', output_names, default)
    if both := set(names) & set(input_names):
        if output_names is not None:
            raise ValueError(f'export: {sorted(both)} are names of inputs and of outputs')
        names = [f'{name}_out' if name in both else name for name in names]
    held = iter(input_names)
    inputs, parameters = {}, {}
    for value, path, is_held, x in zip(
        values, arguments.paths, arguments.is_held, arrays, strict=True
    ):
        if is_held:
            parameters[path] = (value, chainerx.to_numpy(x))
        else:
            inputs[next(held)] = value
    return Run(tracer, inputs, parameters, list(zip(names, found, strict=True)))
