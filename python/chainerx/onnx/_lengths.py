"""Lengths of axes that are open: which are known by a name, as ONNX infers them."""

from __future__ import annotations

import math
import typing as tp

import onnx

from chainerx.onnx._nodes import names_read

Length: tp.TypeAlias = int | str | None
# Tensors with more elements are no shapes.
MAX_SHAPE_SIZE: tp.Final = 64


class Lengths:
    """The lengths of the axes of the values of a graph with open axes.

    A length is an int, the name of an open axis, or None where it is not known.

    Attributes:
        places (dict): Of each open axis, an input and the axis there.
        traced (dict): Of each open axis, the length that the arguments have.
        hints (dict): Lengths of values that converters know where inference does not.
    """

    def __init__(self) -> None:
        self.places: dict[str, tuple[str, int]] = {}
        self.traced: dict[str, int] = {}
        self.hints: dict[str, tp.Sequence[Length]] = {}
        self._shapes: dict[str, tuple[Length, ...]] = {}
        self._types: dict[str, int] = {}

    def add_input(
        self, info: onnx.ValueInfoProto, traced: tp.Sequence[int], names: tp.Sequence[Length]
    ) -> None:
        """Learns the shape of an input; an axis without a name gets one of its own."""
        found: list[Length] = []
        for axis, (n, name) in enumerate(zip(traced, names, strict=True)):
            if isinstance(name, int):
                found.append(n)
                continue
            key = f'{info.name}/{axis}' if name is None else name
            if self.traced.setdefault(key, n) != n:
                key = f'{key}/{info.name}/{axis}'  # one name for two lengths: two axes
                self.traced[key] = n
            self.places.setdefault(key, (info.name, axis))
            found.append(key)
        self._shapes[info.name] = tuple(found)
        self._types[info.name] = info.type.tensor_type.elem_type

    def of(self, name: str) -> tuple[Length, ...] | None:
        """The lengths of a value, or None if it was not learnt."""
        return self._shapes.get(name)

    def learn(
        self,
        nodes: tp.Sequence[onnx.NodeProto],
        tensors: tp.Mapping[str, onnx.TensorProto],
        made: tp.Mapping[str, tuple[tuple[int, ...], int]],
        imports: tp.Sequence[onnx.OperatorSetIdProto],
    ) -> None:
        """Infers the shapes of what nodes make.

        Args:
            nodes (list of onnx.NodeProto): The nodes of one function.
            tensors (dict): Constants of the graph by name.
            made (dict): Of each result, the shape that it had and its element type.
            imports (list): Versions of the operators.
        """
        own = {name for node in nodes for name in node.output}
        inputs, constants = [], []
        for name in dict.fromkeys(name for node in nodes for name in names_read(node)):
            if not name or name in own:
                continue
            tensor = tensors.get(name)
            if tensor is not None:
                if math.prod(tensor.dims) <= MAX_SHAPE_SIZE:
                    constants.append(tensor)
                    continue
                shape: tuple[Length, ...] = tuple(tensor.dims)
                kind = tensor.data_type
            elif name in self._shapes:
                shape, kind = self._shapes[name], self._types[name]
            else:
                continue
            inputs.append(onnx.helper.make_tensor_value_info(name, kind, shape))
        outputs = [onnx.helper.make_empty_tensor_value_info(name) for name in made]
        graph = onnx.helper.make_graph(nodes, 'part', inputs, outputs, constants)
        model = onnx.helper.make_model(graph, opset_imports=imports)
        try:
            inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
        except onnx.shape_inference.InferenceError:
            inferred = model
        found = {v.name: v for v in inferred.graph.output}
        for name, (traced, kind) in made.items():
            dims = found[name].type.tensor_type.shape.dim
            learnt: tuple[Length, ...] = (None,) * len(traced)
            if len(dims) == len(traced):
                learnt = tuple(map(self._length, dims, traced))
            hint = self.hints.get(name, learnt)
            self._shapes[name] = tuple(
                b if a is None else a for a, b in zip(learnt, hint, strict=True)
            )
            self._types[name] = kind

    def _length(self, dim: tp.Any, traced: int) -> Length:
        if dim.HasField('dim_value') and dim.dim_value == traced:
            return traced
        if self.traced.get(dim.dim_param) == traced:
            return tp.cast(str, dim.dim_param)
        return None

    def shown(self, name: str) -> list[Length] | None:
        """The lengths as a file has them: without names that the user did not give."""
        shape = self._shapes.get(name)
        if shape is None:
            return None
        return [None if isinstance(n, str) and '/' in n else n for n in shape]

    def guess(self, length: int) -> str | None:
        """The one open axis that has the length, if there is one."""
        found = [name for name, n in self.traced.items() if n == length]
        return found[0] if len(found) == 1 else None


def reshaped(
    lengths: Lengths,
    old: tp.Sequence[Length],
    shape: tp.Sequence[int],
    new: tp.Sequence[int],
    rest: int | None,
) -> list[Length]:
    """What the lengths become in another shape; None stands for what follows from the others.

    Args:
        lengths (Lengths): The open axes.
        old (list): The lengths before.
        shape (tuple of int): What they are for the arguments, none of them 0.
        new (tuple of int): The shape after; its product is the same.
        rest (int): The axis of the result that was given as -1, if any.

    Returns:
        list: For each axis of the result an int, the name of an open axis, or None.
    """
    found: list[Length] = []
    for before, after in _groups(shape, new):
        place = None if rest is None or rest not in after else rest - after.start
        found += _regrouped(lengths, [old[i] for i in before], [new[j] for j in after], place)
    return found


def _groups(old: tp.Sequence[int], new: tp.Sequence[int]) -> tp.Iterator[tuple[range, range]]:
    """Axes that have the same product before and after, as few as can be together."""
    i = j = 0
    while i < len(old) or j < len(new):
        first, second = i, j
        p = old[i] if i < len(old) else 1
        q = new[j] if j < len(new) else 1
        i, j = min(i + 1, len(old)), min(j + 1, len(new))
        while p != q:
            if p < q:
                p *= old[i]
                i += 1
            else:
                q *= new[j]
                j += 1
        yield range(first, i), range(second, j)


def _regrouped(
    lengths: Lengths, old: list[Length], new: list[int], rest: int | None
) -> list[Length]:
    found: list[Length] = list(new)
    if all(isinstance(n, int) for n in old) or not new:
        return found
    if len(old) == len(new) == 1:
        return list(old)
    if len(new) == 1:
        return [None]
    names = [n for n in old if isinstance(n, str)]
    is_missing = False
    if rest is not None:
        found[rest] = None
    for name in names:
        place = _place(found, lengths.traced[name])
        if place is None:
            is_missing = True
        else:
            found[place] = name
    if None in old:
        # Axes that were joined before have lost their names.
        is_missing = True
        for name in lengths.traced:
            place = _place(found, lengths.traced[name])
            if place is not None and lengths.guess(lengths.traced[name]) == name:
                found[place] = name
                is_missing = False
    if is_missing and rest is None and (place := _place(found, None)) is not None:
        found[place] = None  # the first axis that is not taken: that of examples
    return found


def _place(found: list[Length], length: int | None) -> int | None:
    """The first axis with a fixed length, of any or the given one."""
    for i, n in enumerate(found):
        if isinstance(n, int) and length in (None, n):
            return i
    return None
