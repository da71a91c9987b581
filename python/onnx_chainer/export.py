"""`export`: a model as a graph of ONNX."""

from __future__ import annotations

import collections.abc
import os
import typing as tp

import chainer
import onnx
from chainerx.onnx import _opsets, _saved

from onnx_chainer import _values, onnx_helper
from onnx_chainer._graph import Graph
from onnx_chainer._trace import LinkStack, Recorder, all_have_graphs

if tp.TYPE_CHECKING:
    from onnx_chainer._graph import ExternalConverters
    from onnx_chainer.context import Context


class RetainInputHook(chainer.LinkHook):
    """Keeps the inputs of links while a model runs; `export` needs no help of it here.

    It is a context manager, as in the original, for code that uses it.
    """

    name = 'RetainInputHook'

    def __init__(self) -> None:
        self.link_inputs: set[tp.Any] = set()

    def forward_preprocess(self, args: tp.Any) -> None:
        for value in (*args.args, *args.kwargs.values()):
            if isinstance(value, chainer.Variable):
                self.link_inputs.add(value)


def convert_parameter(parameter: tp.Any, context: Context) -> onnx.TensorProto:
    """A parameter as a tensor.

    Args:
        parameter (Parameter, Variable or array): Its value.
        context (Context): Has its name.

    Returns:
        onnx.TensorProto: The tensor.

    Raises:
        ValueError: If it has no name, or no value yet.
    """
    name = context.get_name(parameter)
    if name is None:
        path = context.path_of(parameter)
        if path is None:
            raise ValueError('convert_parameter: the parameter has no name in this context')
        name = onnx_helper.cleanse_param_name(path)
    if isinstance(parameter, chainer.Variable) and parameter.array is None:
        raise ValueError(f'convert_parameter: {name} is not initialized')
    return onnx_helper.make_tensor(parameter, name)


def export(
    model: tp.Any,
    args: tp.Any,
    filename: str | os.PathLike[str] | None = None,
    export_params: bool = True,
    graph_name: str = 'Graph',
    save_text: bool = False,
    opset_version: int | None = None,
    input_names: tp.Any = None,
    output_names: tp.Any = None,
    train: bool = False,
    return_named_inout: bool = False,
    external_converters: ExternalConverters | None = None,
    external_opset_imports: tp.Mapping[str, int] | None = None,
    input_shapes: tp.Any = None,
    no_testcase: bool = False,
) -> tp.Any:
    """Runs a model once, and writes what it did as a graph of ONNX.

    Values that the model computes outside of functions, by NumPy on ``x.array`` say, become
    constants: they are those of ``args``.

    Args:
        model (Link or callable): The model.
        args (array, Variable, list, tuple or dict): Its arguments; of a dict, by keyword. Lists
            may have lists in them.
        filename (str): Where to write the model, if anywhere; above 2 GB the tensors go to a file
            beside it, with ``.data`` behind the name.
        export_params (bool): Whether parameters and persistent arrays are in the file; else they
            are inputs. Constants are there anyway.
        graph_name (str): The name of the graph.
        save_text (bool): Whether a text of the model is written as well, as ``.txt``.
        opset_version (int): The version of the operators, from 7 on; default: one that runtimes of
            the last years read.
        input_names (list or dict of str): Names of the inputs, as flat as ``args`` is.
        output_names (list or dict of str): Names of the outputs.
        train (bool): ``chainer.config.train`` meanwhile.
        return_named_inout (bool): Whether inputs and outputs are returned, too.
        external_converters (dict): By the name of a function's class, what makes its nodes: called
            with a `FunctionConverterParams`, returns a tuple of nodes.
        external_opset_imports (dict): Versions of operators of other domains.
        input_shapes (tuple, list or dict): Shapes of the inputs for the file, in which a str is the
            name of an axis of any length.
        no_testcase (bool): Accepted; whether a test case follows makes no difference.

    Returns:
        onnx.ModelProto: The model; with ``return_named_inout`` also two dicts of Variables by name.

    Raises:
        ValueError: If a function has no converter, an output is no Variable, ``args``, names or
            ``input_shapes`` do not fit.
    """
    opset = _opsets.check_opset_version(opset_version)
    _check(model, graph_name, external_converters, external_opset_imports)
    inputs = _values.Inputs(args, input_names, input_shapes)
    links = LinkStack(keeps_statistics=train)
    if isinstance(model, chainer.Link):
        links.keep(model)
    recorder = Recorder(links)
    with (
        chainer.using_config('train', train),
        chainer.using_config('enable_backprop', True),
        all_have_graphs(),
        links,
        recorder,
    ):
        recorder.watch(v.array for v in inputs.named.values())
        found = inputs.call(model)
    outputs = _values.named_outputs(found, output_names)
    graph = Graph(model, inputs, outputs, recorder, opset, external_converters or {})
    made = graph.make(graph_name, export_params)
    imports = {'': opset, **graph.domains, **(external_opset_imports or {})}
    proto = onnx.helper.make_model(
        made,
        producer_name='Chainer',
        producer_version=chainer.__version__,
        opset_imports=[onnx.helper.make_opsetid(k, v) for k, v in imports.items()],
        ir_version=_opsets.ir_version(opset),
    )
    if filename is not None:
        _saved.write(proto, os.fspath(filename), save_text)
    if not return_named_inout:
        return proto
    return proto, inputs.named, graph.outputs


def _check(model: tp.Any, graph_name: tp.Any, converters: tp.Any, imports: tp.Any) -> None:
    if not callable(model):
        raise TypeError(f'export: model is {type(model).__name__}, expected a Link or a callable')
    if not isinstance(graph_name, str):
        raise TypeError(f'export: graph_name is {graph_name!r}, expected a str')
    if not graph_name:
        raise ValueError('export: graph_name is empty')
    for argument, value in (
        ('external_converters', converters),
        ('external_opset_imports', imports),
    ):
        if value is not None and not isinstance(value, collections.abc.Mapping):
            raise TypeError(f'export: {argument} is {type(value).__name__}, expected a dict')
    for name, converter in (converters or {}).items():
        if not callable(converter):
            raise TypeError(
                f'export: external_converters[{name!r}] is {type(converter).__name__}, '
                'expected a callable'
            )
