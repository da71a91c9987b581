"""Models of ONNX: read, run on any device, and differentiated; functions written as models.

Needs no other package; only :func:`export` and :mod:`chainerx.onnx.backend` need ``onnx``.
"""

from __future__ import annotations

import os
import typing as tp
from collections.abc import Sequence

import numpy as np

import chainerx
from chainerx import _onnx
from chainerx._capture import Variant

if tp.TYPE_CHECKING:
    import onnx

    from chainerx._core import Device, DeviceLike, ndarray
    from chainerx.onnx import backend as backend


class ValueInfo(tp.NamedTuple):
    """An input or output of a model, as its file describes it.

    Args:
        name (str): As in the file.
        dtype (numpy.dtype or None): None for what is no tensor (a sequence, an optional value), and
            if the file has no dtype.
        shape (tuple or None): A number for each axis of fixed length, a name or None for others.
            None if the file has no shape.
        required (bool): False for an input with a default.
    """

    name: str
    dtype: np.dtype | None
    shape: tuple[int | str | None, ...] | None
    required: bool


def _info(name: str, dtype: str | None, shape: tp.Any, required: bool) -> ValueInfo:
    if dtype == 'bfloat16':
        return ValueInfo(name, np.dtype(chainerx.bfloat16), shape, required)
    return ValueInfo(name, None if dtype is None else np.dtype(dtype), shape, required)


def _as_array(value: tp.Any, info: ValueInfo) -> np.ndarray:
    """Numbers, lists of them and the like, in the dtype of the input that they are for."""
    expected = f'onnx: input "{info.name}" must be an array of {info.dtype}'
    assert info.dtype is not None
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as e:
        raise TypeError(f'{expected}, got {type(value).__name__}: {e}') from None
    kinds = {'b': 0, 'u': 1, 'i': 1, 'f': 2}
    kind = kinds.get(info.dtype.kind, 2)  # bfloat16 is a float
    if kinds.get(array.dtype.kind, 2 if array.dtype == info.dtype else 3) > kind and array.size:
        got = type(value).__name__ if array.dtype.kind not in kinds else array.dtype
        raise chainerx.DtypeError(f'{expected}, got {got}')
    result = array.astype(info.dtype)
    if kind == 1 and not np.array_equal(result, array):
        limits = np.iinfo(info.dtype)
        raise chainerx.DtypeError(
            f'{expected}, from {limits.min} to {limits.max}, got {array.min()} to {array.max()}'
        )
    return result


class Model:
    """A model that :func:`load` has read. Called with arrays, it returns arrays.

    Operators are compositions of routines, so that results have gradients in the inputs and
    parameters that require them.
    """

    def __init__(self, model: _onnx.Model) -> None:
        self._model = model
        self._in_file = [_info(*row) for row in model.inputs]
        # Old files list their weights as inputs, in any order.
        self._inputs = sorted(self._in_file, key=lambda i: not i.required)
        self._outputs = [_info(*row) for row in model.outputs]

    @property
    def inputs(self) -> list[ValueInfo]:
        """The inputs, in the order of positional arguments: those with a default come last."""
        return list(self._inputs)

    @property
    def outputs(self) -> list[ValueInfo]:
        """The outputs, in the order of results."""
        return list(self._outputs)

    @property
    def parameters(self) -> dict[str, ndarray]:
        """The float initializers by name: the arrays that the model computes with.

        ``model.parameters['w'].require_grad()`` makes one trainable, and writing to it changes the
        model. :meth:`set_parameter` replaces one.
        """
        return self._model.parameters()

    @property
    def device(self) -> Device:
        """The device of the parameters."""
        return self._model.device

    def set_parameter(self, name: str, value: ndarray) -> None:
        """Replaces a parameter.

        Args:
            name (str): One of :attr:`parameters`.
            value (ndarray): Of the same shape, dtype and device. It may be part of a graph.
        Raises:
            NotFoundError: If there is no such parameter.
            DtypeError, DimensionError, DeviceError: If the array does not fit.
        """
        self._model.set_parameter(name, value)

    def captures(self) -> list[Variant]:
        """Says which runs have been captured; see `load`.

        Returns:
            list of Variant: One for each kind of inputs that came three times; see `capture`.
        """
        return [Variant(*row) for row in self._model.captures()]

    def to_device(self, device: DeviceLike) -> Model:
        """Moves the parameters to a device.

        From another one they are new arrays, which require no gradients.

        Args:
            device (Device or str): Such as ``'cuda:0'``.
        Returns:
            Model: The model itself.
        """
        self._model.to_device(chainerx.get_device(device))
        return self

    def _to_value(self, value: tp.Any, info: ValueInfo) -> tp.Any:
        if value is None or isinstance(value, chainerx.ndarray):
            return value
        if info.dtype is None:
            if isinstance(value, (list, tuple)):
                return [self._to_value(v, info) for v in value]
            return chainerx.asarray(value, device=self.device)
        if not isinstance(value, (np.ndarray, np.generic)):
            value = _as_array(value, info)
        return chainerx.asarray(value, device=self.device)

    def __call__(self, /, *args: tp.Any, **kwargs: tp.Any) -> tp.Any:
        """Runs the model.

        Args:
            args, kwargs: Inputs by position or name: arrays on the model's device, NumPy arrays,
                numbers; lists of these for sequences. None stands for a missing one.
        Returns:
            ndarray or tuple: The output, or all of several. A list for a sequence, None for an
            empty optional value.
        Raises:
            TypeError: If an input has another name, is given twice, or is of another kind.
            ValueError: If an input is missing.
            DtypeError, DimensionError, DeviceError: If an array does not fit; the message names the
                input. Errors of operators name the node.
        """
        if len(args) > len(self._inputs):
            raise TypeError(
                f'onnx: the model has {len(self._inputs)} inputs, but was given {len(args)}'
            )
        values = dict(zip((i.name for i in self._inputs), args, strict=False))
        for name, value in kwargs.items():
            if name in values:
                raise TypeError(f'onnx: input "{name}" was given twice')
            if all(name != i.name for i in self._inputs):
                names = ', '.join(i.name for i in self._inputs)
                raise TypeError(f'onnx: the model has no input "{name}", but {names}')
            values[name] = value
        results = self._model.run([self._to_value(values.get(i.name), i) for i in self._in_file])
        return results[0] if len(results) == 1 else tuple(results)

    def __repr__(self) -> str:
        names = ', '.join(i.name for i in self._inputs if i.required)
        return f'<chainerx.onnx.Model ({names}) on {self.device.name}>'


def load(
    source: str | os.PathLike[str] | bytes,
    device: DeviceLike | None = None,
    outputs: Sequence[str] | None = None,
    captures: int = 4,
) -> Model:
    """Reads a model of ONNX and checks it.

    Args:
        source (path or bytes): The file, or what is in it. External data lie beside the file.
        device (Device or str): Where the parameters go; the default device by default.
        outputs (sequence of str): Names of values of the graph to return in place of its outputs.
            What they do not depend on is left out: nodes, parameters and inputs.
        captures (int): How many kinds of inputs are remembered, by shapes and dtypes. On the CPU,
            from the third run on that has inputs of one kind and differentiates nothing, kernels
            are recorded, and soon called without the operators; results are the same, and
            temporaries stay allocated. 0 turns it off. Models whose operators look at values run
            as they are.
    Returns:
        Model: Ready to be called.
    Raises:
        ValueError: If the file is no model, contradicts itself, or has no value of a name in
            ``outputs``; the message names node and field. If `captures` is negative.
        NotImplementedError: If operators, versions of them or element types are not supported. All
            unknown operators are listed.
        OSError: If the file can't be read.
        TypeError: If `source` is neither.
    """
    target = chainerx.get_default_device() if device is None else chainerx.get_device(device)
    if isinstance(outputs, str):
        raise TypeError(f'onnx: outputs is the str {outputs!r}, expected a sequence of them')
    if outputs is not None and not outputs:
        raise ValueError('onnx: outputs is empty, expected a name at least')
    names = [*(outputs or ())]
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f'onnx: outputs has {name!r}, expected a str')
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _model(bytes(source), target, names, captures)
    try:
        path = os.fspath(source)
    except TypeError:
        raise TypeError(
            f'onnx: load takes a path or the bytes of a model, got {type(source).__name__}'
        ) from None
    with open(path, 'rb'):  # for the right OSError
        pass
    return _model(os.fsdecode(path), target, names, captures)


def _model(source: bytes | str, device: Device, names: list[str], captures: int) -> Model:
    model = _onnx.Model(source, '', device, names)
    model.set_captures(captures)
    return Model(model)


def export(
    function: tp.Callable[..., tp.Any],
    args: tp.Any,
    filename: str | os.PathLike[str] | None = None,
    *,
    opset_version: int | None = 17,
    input_names: tp.Sequence[str] | str | None = None,
    output_names: tp.Sequence[str] | str | None = None,
    input_shapes: tp.Any = None,
    names: dict[str, tp.Any] | None = None,
    parameters: tp.Any = (),
    graph_name: str = 'function',
    save_text: bool = False,
) -> onnx.ModelProto:
    """Calls a function of arrays once, and writes the routines that it called as a model.

    Arrays that the function uses besides its arguments become tensors of the model, each once. They
    are called as the variables that hold them: those that a closure, a global variable or an
    attribute of the function's object refers to.

    Args:
        function (callable): Takes and returns arrays, or trees of them. What it does may not hang
            on the values of arrays, as ``if x > 0`` does; it must have no effects.
        args (ndarray, tuple, list or dict): Its arguments; of a dict, by keyword. Each is an array,
            or a tree of them; NumPy's arrays are possible.
        filename (str): Where to write the model, if anywhere; above 2 GB the tensors go to a file
            beside it, with ``.data`` behind the name.
        opset_version (int): The version of the operators, from 7 on.
        input_names (list of str): Names of the inputs. Default: those of the parameters of the
            function.
        output_names (list of str): Names of the outputs. Default: the keys of a dict, or
            ``output``, ``output_0``.
        input_shapes (tuple, list or dict): Shapes of the inputs for the model, in which a str is
            the name of an axis of any length, and None an axis without a name. The function is
            called once more, with other lengths, and must do the same.
        names (dict): Names of further arrays, or of trees of them, for tensors.
        parameters (int, str or tuple): Positions or names of arguments that become tensors of the
            model instead of inputs.
        graph_name (str): The name of the graph.
        save_text (bool): Whether a text of the model is written as well, as ``.txt``.

    Returns:
        onnx.ModelProto: The model, checked.

    Raises:
        ImportError: If the package ``onnx`` is not installed.
        ValueError: If a routine has no operators in ONNX, or none in this version; the message has
            the line. If names or shapes do not fit, or lengths of open axes are used in a way that
            the graph can't follow.
        TypeError: If the function asks for values, as ``if``, ``float`` and `to_numpy` do, draws
            random numbers or computes derivatives; if an argument is no array.
        ChainerxError: If it writes to an array that is no argument.
    """
    try:
        from chainerx.onnx import _export
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition('.')[0] != 'onnx':
            raise
        raise ImportError(
            'chainerx.onnx.export needs the package onnx: pip install onnx'
        ) from error
    return _export.export(
        function,
        args,
        filename,
        opset_version=opset_version,
        input_names=input_names,
        output_names=output_names,
        input_shapes=input_shapes,
        names=names,
        parameters=parameters,
        graph_name=graph_name,
        save_text=save_text,
    )


def __getattr__(name: str) -> tp.Any:
    if name == 'backend':
        import importlib

        return importlib.import_module('chainerx.onnx.backend')
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}', name=name)
