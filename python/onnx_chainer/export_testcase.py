"""`export_testcase`: a model with inputs and outputs beside it."""

from __future__ import annotations

import os
import typing as tp

import chainer

from onnx_chainer import onnx_helper
from onnx_chainer.export import export


def export_testcase(
    model: tp.Any,
    args: tp.Any,
    out_dir: str | os.PathLike[str],
    output_grad: bool = False,
    **kwargs: tp.Any,
) -> tp.Any:
    """Writes a model as ``model.onnx``, and what it was given and gave in ``test_data_set_N``.

    Args:
        model (Link or callable): The model.
        args: Its arguments; see `export`.
        out_dir (str): The folder; it is made where there is none. A data set that is there stays.
        output_grad (bool): Whether the gradients of the parameters are written, too, as
            ``gradient_i.pb``: those of the outputs are ones.
        **kwargs: Of `export`.

    Returns:
        onnx.ModelProto: The model; with ``return_named_inout``, as `export`.

    Raises:
        ValueError: See `export`; with ``output_grad``, if the model is no Link.
    """
    if output_grad and not isinstance(model, chainer.Link):
        raise ValueError(
            f'export_testcase: output_grad needs parameters; the model is {type(model).__name__}, '
            'expected a Link'
        )
    out_dir = os.fspath(out_dir)
    os.makedirs(out_dir, exist_ok=True)
    wants_named = kwargs.pop('return_named_inout', False)
    filename = os.path.join(out_dir, 'model.onnx')
    proto, inputs, outputs = export(model, args, filename, return_named_inout=True, **kwargs)
    n = 0
    while os.path.isdir(os.path.join(out_dir, f'test_data_set_{n}')):
        n += 1
    folder = os.path.join(out_dir, f'test_data_set_{n}')
    os.makedirs(folder)
    arrays = {name: v.array for name, v in inputs.items()}
    if kwargs.get('export_params') is False:
        arrays |= _parameters(model, proto)
    for i, (name, array) in enumerate(arrays.items()):
        onnx_helper.write_tensor_pb(os.path.join(folder, f'input_{i}.pb'), name, array)
    for i, (name, v) in enumerate(outputs.items()):
        onnx_helper.write_tensor_pb(os.path.join(folder, f'output_{i}.pb'), name, v.array)
    if output_grad:
        _write_gradients(model, list(outputs.values()), folder)
    return (proto, inputs, outputs) if wants_named else proto


def _parameters(model: tp.Any, proto: tp.Any) -> dict[str, tp.Any]:
    """The parameters and persistent arrays that are inputs of the file."""
    names = {x.name for x in proto.graph.input}
    found = {}
    for path, param in model.namedparams(include_uninit=False):
        name = onnx_helper.cleanse_param_name(path)
        if name in names:
            found[name] = param.array
    for prefix, link in model.namedlinks():
        for key in link._persistent:
            path = f'{"" if prefix == "/" else prefix}/{key}'
            if (name := onnx_helper.cleanse_param_name(path)) in names:
                found[name] = getattr(link, key)
    return found


def _write_gradients(model: chainer.Link, outputs: list[chainer.Variable], folder: str) -> None:
    model.cleargrads()
    for v in outputs:
        v.grad = v.xp.ones_like(v.array)
    chainer.backward(outputs)
    for i, (path, param) in enumerate(model.namedparams(include_uninit=False)):
        name = onnx_helper.cleanse_param_name(path)
        onnx_helper.write_tensor_pb(os.path.join(folder, f'gradient_{i}.pb'), name, param.grad)
