"""Nodes in the words of all versions of the operators."""

from __future__ import annotations

import typing as tp

import numpy as np
import onnx

from chainerx.onnx._nodes import NodeBuilder, elem_type, value_info

if tp.TYPE_CHECKING:
    from chainerx.onnx._lengths import Length, Lengths
    from chainerx.onnx._names import Names


class NotInOnnxError(ValueError):
    """A function that the version of the operators cannot say."""


class Writer(NodeBuilder):
    """The nodes of one function, in the words of all versions of the operators.

    Args:
        prefix (str): What the names of its nodes begin with.
        opset (int): The version of the operators.
        context (Names): The graph.
    """

    def __init__(self, prefix: str, opset: int, context: Names) -> None:
        super().__init__(prefix)
        self.opset = opset
        self.context = context

    @property
    def label(self) -> str:
        """What errors call the function."""
        return self._prefix

    def node_name(self) -> str:
        """A name that no other value of the graph has, not even an input of the user's."""
        return self.context.unused(super().node_name())

    def need(self, opset: int, what: str) -> None:
        """Raises the error of an operator that came later."""
        if self.opset < opset:
            raise NotInOnnxError(
                f'{self.label} needs {what}, which opset {opset} has first; '
                f'opset_version is {self.opset}'
            )

    # Values

    def const(self, value: tp.Any, name: str = 'value', dtype: tp.Any = None) -> str:
        """A constant."""
        return self.context.add_const(np.asarray(value, dtype), name)

    def ints(self, values: tp.Iterable[int], name: str = 'ints') -> str:
        """A constant vector of int64."""
        return self.const(np.array(list(values), np.int64), name)

    # Operators whose arguments were attributes once

    def _with_axes(self, op: str, x: str, axes: tp.Sequence[int], since: int, **kw: tp.Any) -> str:
        if self.opset < since:
            return self.op(op, [x], axes=list(axes), **kw)
        return self.op(op, [x, self.ints(axes, 'axes')], **kw)

    def squeeze(self, x: str, axes: tp.Sequence[int]) -> str:
        """Takes axes of length 1 away."""
        return self._with_axes('Squeeze', x, axes, 13) if axes else x

    def unsqueeze(self, x: str, axes: tp.Sequence[int]) -> str:
        """Adds axes of length 1, at their places in the result."""
        return self._with_axes('Unsqueeze', x, axes, 13) if axes else x

    def reduce(
        self, kind: str, x: str, axes: tp.Sequence[int] | None, keepdims: bool = False
    ) -> str:
        """One of the operators Reduce..., over all axes for None."""
        op, since = f'Reduce{kind}', 13 if kind == 'Sum' else 18
        if axes is None:
            return self.op(op, [x], keepdims=int(keepdims))
        if not axes:
            return self.op('Identity', [x])
        return self._with_axes(op, x, axes, since, keepdims=int(keepdims))

    def transpose(self, x: str, perm: tp.Sequence[int]) -> str:
        """Orders the axes."""
        if list(perm) == list(range(len(perm))):
            return x
        return self.op('Transpose', [x], perm=list(perm))

    def reshape(self, x: str, shape: tp.Sequence[int]) -> str:
        """Another shape; 0 stands for the length that the axis has, -1 for the rest."""
        return self.op('Reshape', [x, self.ints(shape, 'shape')])

    # Shapes with open axes

    @property
    def is_open(self) -> bool:
        """Whether axes of the inputs of the graph have any length."""
        return self.context.lengths is not None

    def guess(self, length: int) -> Length:
        """The open axis that has the length for the arguments; the length if there is none."""
        lengths = self.context.lengths
        name = None if lengths is None or length == 1 else lengths.guess(length)
        return length if name is None else name

    def length(self, name: str) -> str:
        """The length of an open axis, a vector of one element."""
        place, axis = tp.cast('Lengths', self.context.lengths).places[name]
        return self.length_of(place, axis)

    def length_of(self, x: str, axis: int) -> str:
        """The length of an axis of a value, a vector of one element."""
        return self.slice(self.op('Shape', [x]), [axis], [axis + 1], [0])

    def lengths_of(self, x: str, begin: int, end: int) -> str:
        """The lengths of several axes of a value, a vector."""
        return self.slice(self.op('Shape', [x]), [begin], [end], [0])

    def shape_of(self, lengths: tp.Sequence[Length]) -> str:
        """A vector of lengths; one that is None is -1."""
        if all(not isinstance(n, str) for n in lengths):
            return self.ints([-1 if n is None else tp.cast(int, n) for n in lengths], 'shape')
        parts = [
            self.length(n) if isinstance(n, str) else self.ints([-1 if n is None else n])
            for n in lengths
        ]
        return self.concat(parts)

    def reshape_open(self, x: str, lengths: tp.Sequence[Length], traced: tp.Sequence[int]) -> str:
        """Another shape with open axes, of which at most one can be found from the others.

        Args:
            x (str): The value.
            lengths (list): The lengths; None for those that are not known.
            traced (tuple of int): What they are for the arguments.

        Returns:
            str: The name of the result.
        """
        found = list(lengths)
        unknown = [i for i, n in enumerate(found) if n is None]
        # A runtime that finds one length by itself needs no operators for it.
        if not unknown and sum(isinstance(n, str) for n in found) == 1:
            found = [None if isinstance(n, str) else n for n in found]
        for i in unknown[1:]:
            found[i] = traced[i]
        return self.op('Reshape', [x, self.shape_of(found)])

    def reshape_empty(self, x: str, shape: tp.Sequence[int]) -> str:
        """Another shape, in which 0 is a length."""
        self.need(14, 'allowzero of Reshape')
        return self.op('Reshape', [x, self.ints(shape, 'shape')], allowzero=1)

    def split(self, x: str, sizes: tp.Sequence[int], axis: int) -> tuple[str, ...]:
        """Parts of an axis."""
        if len(sizes) == 1:
            return (self.op('Identity', [x]),)
        if self.opset < 13:
            found = self.op('Split', [x], len(sizes), axis=axis, split=list(sizes))
        else:
            found = self.op('Split', [x, self.ints(sizes, 'split')], len(sizes), axis=axis)
        return tp.cast('tuple[str, ...]', found)

    def slice(
        self,
        x: str,
        starts: tp.Sequence[int],
        ends: tp.Sequence[int],
        axes: tp.Sequence[int],
        steps: tp.Sequence[int] | None = None,
    ) -> str:
        """Ranges of axes."""
        if not axes:
            return x
        if self.opset < 10:
            if steps is not None and any(step != 1 for step in steps):
                self.need(10, 'steps of Slice')
            return self.op('Slice', [x], starts=list(starts), ends=list(ends), axes=list(axes))
        inputs = [x, self.ints(starts, 'starts'), self.ints(ends, 'ends'), self.ints(axes, 'axes')]
        if steps is not None:
            inputs.append(self.ints(steps, 'steps'))
        return self.op('Slice', inputs)

    def pad(
        self, x: str, pads: tp.Sequence[int], value: float, dtype: tp.Any, mode: str = 'constant'
    ) -> str:
        """Adds elements around; `pads` has all beginnings, then all ends."""
        if self.opset < 11:
            number = float(value) if mode == 'constant' else None
            return self.op('Pad', [x], pads=list(pads), mode=mode, value=number)
        inputs = [x, self.ints(pads, 'pads')]
        if mode == 'constant':
            inputs.append(self.const(value, 'value', dtype))
        return self.op('Pad', inputs, mode=mode)

    def clip(self, x: str, low: float | None, high: float | None, dtype: tp.Any) -> str:
        """Bounds the elements."""
        if self.opset < 11:
            return self.op('Clip', [x], min=low, max=high)
        bounds = ['' if v is None else self.const(v, 'bound', dtype) for v in (low, high)]
        while bounds and not bounds[-1]:
            bounds.pop()
        return self.op('Clip', [x, *bounds])

    def concat(self, parts: tp.Sequence[str], axis: int = 0) -> str:
        """Joins values along an axis; one alone is itself."""
        return self.op('Concat', parts, axis=axis) if len(parts) > 1 else parts[0]

    def where(self, condition: str, x: str, y: str) -> str:
        """Chooses by a condition."""
        self.need(9, 'Where')
        return self.op('Where', [condition, x, y])

    def cast(self, x: str, dtype: tp.Any) -> str:
        """Converts the dtype."""
        return self.op('Cast', [x], to=elem_type(dtype))

    def loop(
        self,
        count: str,
        states: tp.Sequence[tuple[str, tp.Any]],
        body: tp.Callable[[str, list[str]], tuple[list[str], list[tuple[str, tp.Any]]]],
    ) -> tuple[str, ...]:
        """Repeats a function, a number of times.

        Args:
            count (str): How often, an int64.
            states (list of tuple): Name and dtype of what each time hands on to the next.
            body (callable): Adds the nodes. It gets the names of the number of the time and of the
                states, and returns the names of the next states, and name and dtype of values
                that are stacked along a new first axis.

        Returns:
            tuple of str: The last states, then what was stacked.
        """
        outer, self._nodes = self._nodes, []
        try:
            number, go_on = self.node_name(), self.node_name()
            names = [self.node_name() for _ in states]
            last, stacked = body(number, list(names))
            results = [self.op('Identity', [x]) for x in (go_on, *last, *(x for x, _ in stacked))]
            nodes = self._nodes
        finally:
            self._nodes = outer
        dtypes = [dtype for _, dtype in states]
        inputs = [value_info(number, np.int64, ()), value_info(go_on, bool, ())]
        inputs += [value_info(x, dtype) for x, dtype in zip(names, dtypes, strict=True)]
        kinds = [bool, *dtypes, *(dtype for _, dtype in stacked)]
        outputs = [value_info(x, kind) for x, kind in zip(results, kinds, strict=True)]
        graph = onnx.helper.make_graph(nodes, f'{self._prefix}_body', inputs, outputs)
        found = self.op('Loop', [count, '', *(x for x, _ in states)], len(results) - 1, body=graph)
        return (found,) if isinstance(found, str) else found

    def flat_softmax(self, op: str, x: str, axis: int, ndim: int) -> str:
        """Softmax or LogSoftmax along an axis."""
        axis %= ndim
        if self.opset >= 13 or axis == ndim - 1:
            return self.op(op, [x], axis=axis)
        # Older ones flatten all axes from the given one on.
        perm = [i for i in range(ndim) if i != axis] + [axis]
        y = self.op(op, [self.transpose(x, perm)], axis=ndim - 1)
        back = [perm.index(i) for i in range(ndim)]
        return self.transpose(y, back)

    def one_hot(self, t: str, depth: int, axis: int, dtype: tp.Any) -> str:
        """Ones at the places, zeros elsewhere; `t` of an integer dtype."""
        self.need(9, 'OneHot')
        values = self.const([0, 1], 'values', dtype)
        depth_name = self.const(depth, 'depth', np.int64)
        places = self.cast(t, np.int64)  # runtimes have no other
        return self.op('OneHot', [places, depth_name, values], axis=axis)
