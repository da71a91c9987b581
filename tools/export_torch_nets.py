"""Writes tests/chainerx/onnx/torch_nets/*.npz: networks of PyTorch as its exporters write them.

    python tools/export_torch_nets.py           writes all files
    python tools/export_torch_nets.py GPT UNet  writes those of some networks

It needs torch, torchvision, onnx and onnxscript; the tests that read the files need none of them. A
file has, as arrays of bytes, the model of the exporter by tracing (`script`) and of that by
`torch.export` (`dynamo`), and what PyTorch computes: outputs for two batches of different lengths,
and gradients of the second.
"""

from __future__ import annotations

import argparse
import io
import pathlib
import sys
import typing as tp
import warnings

import numpy as np
import onnx
import torch

sys.path.append(str(pathlib.Path(__file__).parents[1] / 'tests/chainerx/onnx/torch_nets'))

import text_nets
import vision_nets

FOLDER = pathlib.Path(text_nets.__file__).parent


class Net(tp.NamedTuple):
    """A network, and how its inputs are made."""

    make: tp.Callable[[], torch.nn.Module]
    inputs: tp.Callable[[tp.Any, int], tuple]  # from a generator of NumPy and the batch's length
    open_axes: tuple[dict[int, str], ...] = ({0: 'batch'},)  # of each input
    opset: int = 17  # of the traced model
    dynamo_opset: int = 20


def images(*shape):
    return lambda rng, n: (rng.standard_normal((n, *shape)).astype('f'),)


def words(size, length, n_inputs=1):
    """Texts in which every second one has ends that are padded."""

    def draw(rng, n):
        texts = [rng.integers(1, size, (n, length + i)) for i in range(n_inputs)]
        texts[0][::2, -2:] = 0
        return tuple(texts)

    return draw


NETS = {
    'ResNet': Net(vision_nets.ResNet, images(3, 32, 32)),
    'MobileNet': Net(vision_nets.MobileNet, images(3, 32, 32), opset=14),
    'EfficientNet': Net(vision_nets.EfficientNet, images(3, 32, 32)),
    'VggSqueeze': Net(vision_nets.VggSqueeze, images(3, 30, 30), opset=11),
    'DenseInception': Net(vision_nets.DenseInception, images(3, 24, 24), opset=9),
    'ShuffleNet': Net(vision_nets.ShuffleNet, images(3, 32, 32), opset=13),
    'UNet': Net(
        vision_nets.UNet,
        lambda rng, n: (rng.standard_normal((n, 1, 8 + 4 * n, 16)).astype('f'),),
        ({0: 'batch', 2: 'height'},),
        opset=16,
    ),
    'SuperResolution': Net(vision_nets.SuperResolution, images(3, 10, 12), opset=16),
    'ConvNeXt': Net(vision_nets.ConvNeXt, images(3, 32, 32), dynamo_opset=25),
    'ViT': Net(text_nets.ViT, images(3, 32, 32), opset=14, dynamo_opset=18),
    'TextRNN': Net(text_nets.TextRNN, words(40, 9), opset=15, dynamo_opset=18),
    'Transformer': Net(
        text_nets.Transformer,
        words(30, 7, 2),
        ({0: 'batch', 1: 'source'}, {0: 'batch', 1: 'target'}),
        dynamo_opset=23,
    ),
    'GPT': Net(
        text_nets.GPT,
        lambda rng, n: (rng.integers(0, 32, (n, 4 + n)),),
        ({0: 'batch', 1: 'time'},),
        dynamo_opset=24,
    ),
    'WaveNet': Net(text_nets.WaveNet, images(1, 40)),
    'Detector': Net(
        text_nets.Detector,
        lambda rng, n: (rng.standard_normal((1, 3, 32, 16 + 8 * n)).astype('f'),),
        ({3: 'width'},),
        opset=16,
    ),
    'Loops': Net(
        text_nets.Loops,
        lambda rng, n: (rng.standard_normal((n, 5, 4)).astype('f'), rng.integers(0, 10, n)),
        ({0: 'batch'}, {0: 'batch'}),
        opset=16,
    ),
}


def drawn(net: Net, seed: int) -> torch.nn.Module:
    """The network with weights that compress well, and statistics that matter."""
    torch.manual_seed(seed)
    module = net.make().eval()
    with torch.no_grad():
        for value in module.parameters():
            if value.ndim == 1:  # Exporters write equal ones, such as zeros of biases, once.
                value += torch.randn_like(value) / 4
            value.copy_(torch.round(value * 64) / 64)
        for name, value in module.named_buffers():
            if name.endswith('running_mean'):
                value.copy_(torch.round(torch.randn_like(value) * 4) / 16)
            elif name.endswith('running_var'):
                value.copy_(torch.randint(2, 9, value.shape) / 4)
    return module


def stripped(model: onnx.ModelProto) -> np.ndarray:
    """The bytes of a model without what only describes it, such as the lines of its source."""

    def strip(graph):
        graph.ClearField('doc_string')
        graph.ClearField('metadata_props')
        graph.ClearField('value_info')
        for node in graph.node:
            node.ClearField('doc_string')
            node.ClearField('metadata_props')
            for a in node.attribute:
                if a.type == onnx.AttributeProto.GRAPH:
                    strip(a.g)
        for value in (*graph.input, *graph.output, *getattr(graph, 'initializer', ())):
            value.ClearField('metadata_props')

    strip(model.graph)
    for function in model.functions:
        function.ClearField('metadata_props')
        function.ClearField('value_info')
        for node in function.node:
            node.ClearField('doc_string')
            node.ClearField('metadata_props')
    model.ClearField('metadata_props')
    return np.frombuffer(model.SerializeToString(), np.uint8)


def exported(module: torch.nn.Module, net: Net, inputs: tuple, dynamo: bool) -> np.ndarray:
    names = [f'x{i}' for i in range(len(inputs))]
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        if dynamo:
            axes = tuple(
                {axis: torch.export.Dim(name) for axis, name in open_axes.items()}
                for open_axes in net.open_axes
            )
            program = torch.onnx.export(
                module,
                inputs,
                dynamo=True,
                dynamic_shapes=axes,
                input_names=names,
                opset_version=net.dynamo_opset,
                verbose=False,
            )
            return stripped(program.model_proto)
        torch.onnx.export(
            module,
            inputs,
            file,
            dynamo=False,
            dynamic_axes=dict(zip(names, net.open_axes, strict=True)),
            input_names=names,
            opset_version=net.opset,
        )
    return stripped(onnx.load_from_string(file.getvalue()))


def computed(module: torch.nn.Module, inputs: tuple) -> tuple:
    outputs = module(*inputs)
    return outputs if isinstance(outputs, tuple) else (outputs,)


def contents(name: str) -> dict[str, np.ndarray]:
    """The arrays of the file of a network."""
    net = NETS[name]
    seed = [*NETS].index(name)
    module = drawn(net, seed)
    rng = np.random.default_rng(seed)
    found: dict[str, np.ndarray] = {}
    first = tuple(map(torch.from_numpy, net.inputs(rng, 2)))
    for exporter in ('script', 'dynamo'):
        found[exporter] = exported(module, net, first, exporter == 'dynamo')
    second = tuple(map(torch.from_numpy, net.inputs(rng, 3)))
    for case, inputs in (('a', first), ('b', second)):
        for i, x in enumerate(inputs):
            found[f'{case}/x{i}'] = x.numpy()
        with torch.no_grad():
            for i, y in enumerate(computed(module, inputs)):
                found[f'{case}/y{i}'] = y.numpy()

    # Gradients of the sum of all float outputs, each times numbers that are drawn.
    inputs = tuple(x.clone().requires_grad_(x.is_floating_point()) for x in second)
    total = torch.zeros(())
    for i, y in enumerate(computed(module, inputs)):
        if y.is_floating_point():
            weight = rng.integers(-8, 9, y.shape).astype('f') / 8
            found[f'weight/y{i}'] = weight
            total = total + (y * torch.from_numpy(weight)).sum()
    total.backward()
    for i, x in enumerate(inputs):
        if x.requires_grad:
            assert x.grad is not None
            found[f'grad/x{i}'] = x.grad.numpy()
    # Exporters change some parameters under their old names: those that a norm is folded into.
    written: dict[str, list[np.ndarray]] = {}
    for exporter in ('script', 'dynamo'):
        for t in onnx.load_from_string(found[exporter].tobytes()).graph.initializer:
            written.setdefault(t.name, []).append(onnx.numpy_helper.to_array(t))
    for key, value in module.named_parameters():
        same = [np.array_equal(w, value.detach().numpy()) for w in written.get(key, [])]
        if same and all(same) and value.numel() <= 400 and value.grad is not None:
            found[f'grad/{key}'] = value.grad.numpy()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('names', nargs='*', metavar='NAME', help=', '.join(NETS))
    for name in parser.parse_args().names or NETS:
        path = FOLDER / f'{name}.npz'
        np.savez_compressed(path, allow_pickle=False, **contents(name))
        print(f'{path.name}: {path.stat().st_size} bytes')


if __name__ == '__main__':
    main()
