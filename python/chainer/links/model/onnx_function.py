"""`ONNXFunction`: a model of ONNX as a link, to go on training."""

from __future__ import annotations

import collections.abc as c
import keyword
import os
import re
import threading
import typing as tp

import chainerx
from chainerx._core import engine

from chainer import configuration, variable
from chainer._graph.builtin import BuiltinFunction
from chainer._graph.declaration import writable
from chainer._graph.repeated import moves
from chainer.link import Link

if tp.TYPE_CHECKING:
    from chainerx import _onnx
    from chainerx.onnx import Model, ValueInfo

    from chainer._typing import NdArray, VariableLike

    Source: tp.TypeAlias = str | os.PathLike[str] | bytes


class _Graph:
    """The nodes of a model, and constants that are not trained. Copies of a link share it."""

    def __init__(
        self, source: Source, values: list[str] | None = None, model: Model | None = None
    ) -> None:
        self._source = source if isinstance(source, bytes) else os.path.abspath(source)
        self._state = self._state_of_file()
        self._values = values
        # Not imported with chainer: few programs run models of ONNX.
        from chainerx import onnx

        native = chainerx.get_device('native:0')
        model = onnx.load(source, native, values) if model is None else model
        self.inputs: list[ValueInfo] = model.inputs
        self.outputs: list[ValueInfo] = model.outputs
        self._order = [row[0] for row in model._model.inputs]
        self._lock = threading.Lock()
        self._models = {native: model._model.without_parameters(native)}

    def _state_of_file(self) -> tuple[int, int] | None:
        if isinstance(self._source, bytes):
            return None
        state = os.stat(self._source)
        return state.st_size, state.st_mtime_ns

    def on(self, device: chainerx.Device) -> _onnx.Model:
        """The model with its constants on a device."""
        with self._lock:
            if device not in self._models:
                first = next(iter(self._models.values()))
                self._models[device] = first.without_parameters(device)
            return self._models[device]

    def bind(
        self, args: tuple[VariableLike | None, ...], kwargs: dict[str, VariableLike | None]
    ) -> list[VariableLike | None]:
        """The inputs in the order of the file; None for a missing one."""
        names = [i.name for i in self.inputs]
        if len(args) > len(names):
            raise TypeError(
                f'ONNXFunction: the model has {len(names)} inputs, but was given {len(args)}'
            )
        values = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name in values:
                raise TypeError(f'ONNXFunction: input "{name}" was given twice')
            if name not in names:
                raise TypeError(
                    f'ONNXFunction: the model has no input "{name}", but {", ".join(names)}'
                )
            values[name] = value
        return [values.get(name) for name in self._order]

    def __deepcopy__(self, memo: dict[int, object]) -> _Graph:
        return self

    def __reduce__(self) -> tuple[type[_Graph], tuple[bytes, list[str] | None]]:
        if isinstance(self._source, bytes):
            return _Graph, (self._source, self._values)
        if self._state_of_file() != self._state:
            raise ValueError(
                f'ONNXFunction: {self._source!r} has changed since it was read, so the link cannot '
                'be pickled'
            )
        with open(self._source, 'rb') as file:
            return _Graph, (file.read(), self._values)


class ONNXModel(BuiltinFunction):
    """The function that an `ONNXFunction` applies."""

    check_uses_attributes = False
    writes = ('statistics',)

    @staticmethod
    def compose(
        *arrays: chainerx.ndarray,
        graph: _Graph,
        given: tuple[bool, ...],
        places: tuple[int, ...],
        statistics: tuple[NdArray, ...],
    ) -> tp.Any:
        rest = iter(arrays)
        inputs = [next(rest) if is_given else None for is_given in given]
        parameters = list(rest)
        running = [writable('ONNXFunction', 'statistics', x) for x in statistics]
        for place, array in zip(places, running, strict=True):  # in ascending order
            parameters.insert(place, array)
        model = graph.on((*arrays, *running)[0].device)
        outputs, moved = model.run_with(
            inputs, parameters, configuration.config.train, engine.draw_key
        )
        for info, y in zip(graph.outputs, outputs, strict=True):
            if not isinstance(y, chainerx.ndarray):
                kind = 'empty' if y is None else 'a sequence'
                raise TypeError(f'ONNXFunction: output "{info.name}" is {kind}, expected an array')
        for place, own, array in zip(places, statistics, running, strict=True):
            if place in moved and moves(own):
                array[...] = moved[place]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)


class ONNXFunction(Link):
    """A model of ONNX.

    Float initializers of the file are parameters, whose names are those of the file with an
    underscore in place of each character other than ASCII letters, digits and underscores; with
    ``p_`` before an empty one and a digit at the beginning; and with ``_1``, ``_2``, ... behind one
    that is taken, by an attribute of links, a word of Python or an earlier initializer. Running
    means and variances of batch normalizations are persistent values instead.

    Nodes do what the file says, whatever ``chainer.config.train`` is, with one exception: those
    that it has in training mode (dropout; batch normalization, which updates its running
    statistics) run as in inference where ``chainer.config.train`` is False. So export with
    ``train=True``, or in PyTorch's training mode, what is to be trained with them. Random numbers
    depend on `numpy.random`, as those of functions do.

    Args:
        source (path or bytes): The file, or what is in it.
        outputs (sequence of str): Names of values in the graph to return in place of its outputs,
            such as those before the last layer. What they do not depend on is left out.

    Attributes:
        names (dict of str to str): The attribute of each float initializer.

    Raises:
        ValueError: If the file is no model, contradicts itself, or lacks a name in ``outputs``.
        NotImplementedError: If operators, versions of them or element types are not supported.
        OSError: If the file can't be read.
    """

    names: dict[str, str]

    def __init__(self, source: Source, outputs: c.Sequence[str] | None = None) -> None:
        super().__init__()
        from chainerx import onnx

        if isinstance(source, (bytearray, memoryview)):
            source = bytes(source)
        model = onnx.load(source, 'native:0', outputs)
        self.names = {}
        self._graph = _Graph(source, None if outputs is None else [*outputs], model)
        are_statistics = model._model.statistics()
        self._places: tuple[int, ...] = tuple(i for i, s in enumerate(are_statistics) if s)
        for (name, array), is_statistic in zip(
            model.parameters.items(), are_statistics, strict=True
        ):
            attribute = self.names[name] = self._attribute_for(name)
            value = chainerx.to_numpy(array, copy=False)
            if is_statistic:
                self.add_persistent(attribute, value)
                continue
            with self.init_scope():
                setattr(self, attribute, variable.Parameter(value))

    def _attribute_for(self, name: str) -> str:
        base = re.sub(r'\W', '_', name, flags=re.ASCII)
        base = f'p_{base}' if not base or base[0].isdigit() else base
        attribute, n = base, 0
        while keyword.iskeyword(attribute) or hasattr(self, attribute):
            n += 1
            attribute = f'{base}_{n}'
        return attribute

    @property
    def inputs(self) -> list[ValueInfo]:
        """The inputs: name, dtype, shape, and whether it is required."""
        return list(self._graph.inputs)

    @property
    def outputs(self) -> list[ValueInfo]:
        """The outputs, as the inputs."""
        return list(self._graph.outputs)

    @property
    def printable_specs(self) -> c.Iterator[tuple[str, object]]:
        yield 'inputs', [i.name for i in self._graph.inputs if i.required]
        yield 'outputs', [o.name for o in self._graph.outputs]

    def forward(self, /, *args: tp.Any, **kwargs: tp.Any) -> tp.Any:
        """Apply the model.

        Args:
            *args (Variable, array or None): Inputs in the order of :attr:`inputs`: on the device of
                the link, of the dtypes and shapes of the file. None stands for a missing one.
            **kwargs: Inputs by name.

        Returns:
            Variable or tuple: The output, or all of several. Differentiable in inputs and
            parameters, any order.

        Raises:
            TypeError: If an input has another name or is given twice, or an output is no array.
            ValueError: If an input is missing.
            DtypeError, DimensionError, DeviceError: If an array does not fit; the message names
                input or node.
        """
        inputs = self._graph.bind(args, kwargs)
        attributes = self.__dict__
        values = [attributes[name] for name in self.names.values()]
        statistics = tuple(values[i] for i in self._places)
        for i in reversed(self._places):
            del values[i]
        return ONNXModel.call(
            *(x for x in inputs if x is not None),
            *values,
            graph=self._graph,
            given=tuple(x is not None for x in inputs),
            places=self._places,
            statistics=statistics,
        )
