"""Figures of the check that are steps of trainings, by chainer, beside PyTorch."""

from __future__ import annotations

import itertools
import typing as tp

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np

import chainerx
from chainerx.cuda._figures import MS, US, Figure, Setting, Work, bind, pair

Shape = tuple[int, ...]


def _step(
    s: Setting,
    model: tp.Any,
    optimizer: tp.Any,
    loss_of: tp.Callable[[], tp.Any],
    dtype: tp.Any = np.float32,
) -> Work:
    optimizer.setup(model)

    def step() -> None:
        with chainer.using_config('dtype', dtype), chainerx.using_device(s.device):
            loss = loss_of()
            model.cleargrads()
            loss.backward()
            optimizer.update()

    return step


def _torch_step(optimizer: tp.Any, loss_of: tp.Callable[[], tp.Any]) -> Work:
    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        loss_of().backward()
        optimizer.step()

    return step


# ---- multilayer perceptrons ----


def _labels(s: Setting, rows: int, classes: int) -> tp.Any:
    return chainerx.arange(rows, dtype='int32', device=s.device) % classes


def _torch_labels(s: Setting, rows: int, classes: int) -> tp.Any:
    return s.torch.arange(rows, device=s.device) % classes


def _mlp(s: Setting, units: Shape, batch: int, rule: str) -> Work:
    units = tuple(map(s.size, units))
    layers: list[tp.Any] = []
    for n_in, n_out in itertools.pairwise(units):
        layers += [L.Linear(n_in, n_out), F.relu]
    model = chainer.Sequential(*layers[:-1]).to_device(s.device)
    x, t = s.draw(batch, units[0]), _labels(s, batch, units[-1])
    optimizer = getattr(chainer.optimizers, rule)(0.001)
    return _step(s, model, optimizer, lambda: F.softmax_cross_entropy(model(x), t))


def _torch_mlp(s: Setting, units: Shape, batch: int, rule: str, **options: object) -> Work:
    nn = s.torch.nn
    units = tuple(map(s.size, units))
    layers: list[tp.Any] = []
    for n_in, n_out in itertools.pairwise(units):
        layers += [nn.Linear(n_in, n_out), nn.ReLU()]
    model = nn.Sequential(*layers[:-1]).to(s.device)
    x, t = s.torch_draw(batch, units[0]), _torch_labels(s, batch, units[-1])
    optimizer = getattr(s.torch.optim, rule)(model.parameters(), 0.001, **options)
    return _torch_step(optimizer, lambda: nn.functional.cross_entropy(model(x), t))


# ---- recurrent layers ----


def _lstm(s: Setting, units: int, batch: int) -> Work:
    n, rows = s.size(units, 5), s.size(batch, 2)
    model = L.NStepLSTM(1, n, n, 0.0).to_device(s.device)
    xs = [s.draw(s.size(50, 3), n) for _ in range(rows)]

    def loss_of() -> tp.Any:
        return F.sum(F.concat(model(None, None, xs)[2], axis=0))

    return _step(s, model, chainer.optimizers.SGD(0.001), loss_of)


def _torch_lstm(s: Setting, units: int, batch: int) -> Work:
    n = s.size(units, 5)
    model = s.torch.nn.LSTM(n, n).to(s.device)
    x = s.torch_draw(s.size(50, 3), s.size(batch, 2), n)
    optimizer = s.torch.optim.SGD(model.parameters(), 0.001)
    return _torch_step(optimizer, lambda: model(x)[0].sum())


# ---- residual networks ----


class _Normalized(chainer.Chain):
    """A convolution without bias, and batch normalization."""

    def __init__(self, n_in: int, n_out: int, ksize: int, stride: int = 1) -> None:
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(n_in, n_out, ksize, stride, ksize // 2, nobias=True)
            self.norm = L.BatchNormalization(n_out)

    def forward(self, x: tp.Any) -> tp.Any:
        return self.norm(self.conv(x))


class _Block(chainer.Chain):
    """Two or three convolutions, and a shortcut around them."""

    def __init__(self, parts: list[tuple[int, int, int, int]], has_projection: bool) -> None:
        super().__init__()
        n_in, n_out = parts[0][0], parts[-1][1]
        stride = max(part[3] for part in parts)
        with self.init_scope():
            self.parts = chainer.ChainList(*(_Normalized(*part) for part in parts))
            if has_projection:
                self.around = _Normalized(n_in, n_out, 1, stride)

    def forward(self, x: tp.Any) -> tp.Any:
        h = x
        for part in self.parts[:-1]:
            h = F.relu(part(h))
        around = self.around(x) if hasattr(self, 'around') else x
        return F.relu(self.parts[-1](h) + around)


def _blocks(layers: int, width: int) -> tp.Iterator[tuple[list[tuple[int, int, int, int]], bool]]:
    """The convolutions of each block: channels in and out, kernel, stride; and a projection?"""
    counts = {18: (2, 2, 2, 2), 50: (3, 4, 6, 3)}[layers]
    growth = 1 if layers == 18 else 4
    n_in = width
    for stage, count in enumerate(counts):
        n = width * 2**stage
        for i in range(count):
            stride = 2 if stage and i == 0 else 1
            if layers == 18:
                parts = [(n_in, n, 3, stride), (n, n, 3, 1)]
            else:
                parts = [(n_in, n, 1, 1), (n, n, 3, stride), (n, 4 * n, 1, 1)]
            yield parts, stride == 2 or n_in != n * growth
            n_in = n * growth


class _ResNet(chainer.Chain):
    def __init__(self, layers: int, width: int) -> None:
        super().__init__()
        with self.init_scope():
            self.first = _Normalized(3, width, 7, 2)
            self.blocks = chainer.Sequential(*(_Block(*b) for b in _blocks(layers, width)))
            self.last = L.Linear(width * 8 * (1 if layers == 18 else 4), 1000)

    def forward(self, x: tp.Any) -> tp.Any:
        h = F.max_pooling_2d(F.relu(self.first(x)), 3, 2, 1)
        return self.last(F.average(self.blocks(h), axis=(2, 3)))


def _resnet(s: Setting, layers: int, batch: int, half: bool) -> Work:
    dtype = chainer.mixed16 if half else np.float32
    side = 32 if s.small else 224
    with chainer.using_config('dtype', dtype):
        model = _ResNet(layers, s.size(64, 4)).to_device(s.device)
    rows = s.size(batch, 2)
    x = s.draw(rows, 3, side, side, dtype='float16' if half else 'float32')
    t = _labels(s, rows, 1000)
    optimizer = chainer.optimizers.MomentumSGD(0.1)
    return _step(s, model, optimizer, lambda: F.softmax_cross_entropy(model(x), t), dtype)


def _torch_resnet_model(s: Setting, layers: int) -> tp.Any:
    nn = s.torch.nn

    def normalized(n_in: int, n_out: int, ksize: int, stride: int = 1) -> tp.Any:
        conv = nn.Conv2d(n_in, n_out, ksize, stride, ksize // 2, bias=False)
        return nn.Sequential(conv, nn.BatchNorm2d(n_out))

    class Block(nn.Module):  # type: ignore[name-defined]
        def __init__(self, parts: list[tuple[int, int, int, int]], has_projection: bool) -> None:
            super().__init__()
            self.parts = nn.ModuleList(normalized(*part) for part in parts)
            stride = max(part[3] for part in parts)
            self.around = (
                normalized(parts[0][0], parts[-1][1], 1, stride)
                if has_projection
                else nn.Identity()
            )

        def forward(self, x: tp.Any) -> tp.Any:
            h = x
            for part in self.parts[:-1]:
                h = part(h).relu_()
            return (self.parts[-1](h) + self.around(x)).relu_()

    width = s.size(64, 4)
    return nn.Sequential(
        normalized(3, width, 7, 2),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2, 1),
        *(Block(*b) for b in _blocks(layers, width)),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(width * 8 * (1 if layers == 18 else 4), 1000),
    ).to(s.device)


def _torch_resnet(s: Setting, layers: int, batch: int, half: bool, *, graph: bool = False) -> Work:
    torch = s.torch
    torch.backends.cudnn.benchmark = True
    side, rows = 32 if s.small else 224, s.size(batch, 2)
    model = _torch_resnet_model(s, layers).to(memory_format=torch.channels_last)
    x = s.torch_draw(rows, 3, side, side).to(memory_format=torch.channels_last)
    t = _torch_labels(s, rows, 1000)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)

    def loss_of() -> tp.Any:
        with torch.autocast('cuda', dtype=torch.bfloat16, enabled=half):
            return torch.nn.functional.cross_entropy(model(x), t)

    step = _torch_step(optimizer, loss_of)
    return _captured(s, step) if graph else step


def _captured(s: Setting, step: Work) -> Work:
    """The replay of a CUDA graph of a step."""
    torch = s.torch
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


# ---- transformers ----


def _transformer(s: Setting, layers: int, shape: Shape, heads: int, half: bool) -> Work:
    rows, steps, size = (s.size(n, 2 * heads) for n in shape)
    dtype = chainer.mixed16 if half else np.float32
    with chainer.using_config('dtype', dtype):
        model = L.TransformerEncoder(s.size(layers, 1), size, heads, 4 * size, 0.0)
        model.to_device(s.device)
    x = s.draw(rows, steps, size, dtype='float16' if half else 'float32')

    def loss_of() -> tp.Any:
        return F.average(F.square(F.cast(model(x), np.float32)))

    return _step(s, model, chainer.optimizers.Adam(1e-4), loss_of, dtype)


def _torch_transformer(
    s: Setting, layers: int, shape: Shape, heads: int, half: bool, **options: tp.Any
) -> Work:
    torch, nn = s.torch, s.torch.nn
    rows, steps, size = (s.size(n, 2 * heads) for n in shape)
    layer = nn.TransformerEncoderLayer(size, heads, 4 * size, dropout=0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, s.size(layers, 1)).to(s.device)
    x = s.torch_draw(rows, steps, size)

    def loss_of() -> tp.Any:
        with torch.autocast('cuda', dtype=torch.bfloat16, enabled=half):
            return model(x).float().square().mean()

    return _torch_step(torch.optim.Adam(model.parameters(), 1e-4, **options), loss_of)


# ---- updates ----


def _adam(s: Setting, shape: Shape) -> Work:
    model = chainer.Link()
    with model.init_scope():
        for i in range(s.size(200, 3)):
            # The last axes of large ones differ, to 4 * 10^7 numbers in all.
            one = (*shape[:-1], shape[-1] + i) if len(shape) > 1 else shape
            setattr(model, f'p{i}', chainer.Parameter(np.zeros(one, 'float32')))
    model.to_device(s.device)
    for param in model.params():
        param.grad = s.draw(*param.shape)
    return chainer.optimizers.Adam().setup(model).update


def _torch_adam(s: Setting, shape: Shape) -> Work:
    params = []
    for i in range(s.size(200, 3)):
        one = (*shape[:-1], shape[-1] + i) if len(shape) > 1 else shape
        params.append(s.torch_draw(*one).requires_grad_())
        params[-1].grad = s.torch_draw(*one)
    return s.torch.optim.Adam(params, fused=True).step


def _steps(
    name: str, h100: float, bar: float, works: tp.Any, *args: tp.Any, **options: tp.Any
) -> Figure:
    return Figure(name, h100, bar, *pair(*works, *args, **options))


# ---- captured steps ----


def _replay(s: Setting, make: tp.Callable[..., Work], *args: object) -> Work:
    """The replay of a captured step."""
    step = chainerx.capture(make(s, *args))
    for _ in range(4):
        step()
    return step


def _torch_replay(
    s: Setting, make: tp.Callable[..., Work], *args: object, **options: object
) -> Work:
    return _captured(s, make(s, *args, **options))


def _replays(
    name: str, h100: float, most: float, works: tp.Any, *args: object, **options: object
) -> Figure:
    """A step that may take `most` seconds where the graph of PyTorch takes `h100`."""
    ours, theirs = works
    return Figure(
        f'captured step {name} (PyTorch: a CUDA graph)',
        h100,
        round(most / h100, 2),
        bind(_replay, ours, *args),
        bind(_torch_replay, theirs, *args, **options),
    )


_MLP: tp.Final = _mlp, _torch_mlp
_LSTM: tp.Final = _lstm, _torch_lstm
_RESNET: tp.Final = _resnet, _torch_resnet
_TRANSFORMER: tp.Final = _transformer, _torch_transformer
_ADAM: tp.Final = _adam, _torch_adam
_SMALL: tp.Final = 16, 16, 16, 10
_LARGE: tp.Final = 784, 1000, 1000, 10
_SMALL_ENCODER: tp.Final = 2, (1, 16, 32), 4, False

STEPS: tp.Final = [
    _steps('step 16-16-16-10, SGD', 736 * US, 0.12, _MLP, _SMALL, 1, 'SGD'),
    _steps('step 16-16-16-10, Adam', 1386 * US, 0.08, _MLP, _SMALL, 1, 'Adam'),
    _steps('step 784-1000-1000-10, SGD', 1194 * US, 0.15, _MLP, _LARGE, 100, 'SGD'),
    _steps('step LSTM 16, 50 steps', 1252 * US, 0.5, _LSTM, 16, 1),
    _steps('step LSTM 512, batch 32', 2656 * US, 0.8, _LSTM, 512, 32),
    _steps('step ResNet-50, batch 64, 16 bits', 25.5 * MS, 0.75, _RESNET, 50, 64, True),
    Figure(
        'peak memory of that, bytes',
        3.38 * 2**30,
        1.0,
        *pair(*_RESNET, 50, 64, True),
        is_memory=True,
    ),
    Figure(
        'step ResNet-50, batch 64, float32 (PyTorch: a CUDA graph)',
        27.7 * MS,
        1.05,
        bind(_resnet, 50, 64, False),
        bind(_torch_resnet, 50, 64, False, graph=True),
    ),
    _steps('step ResNet-18, batch 64, 16 bits', 10.1 * MS, 0.7, _RESNET, 18, 64, True),
    _steps('step ResNet-50, batch 1', 18.8 * MS, 0.3, _RESNET, 50, 1, False),
    _steps('step transformer 2 x 32, 16 tokens', 5.5 * MS, 0.15, _TRANSFORMER, *_SMALL_ENCODER),
    _steps(
        'step transformer 6 x 512, float32',
        18.0 * MS,
        0.9,
        _TRANSFORMER,
        6,
        (32, 128, 512),
        8,
        False,
    ),
    _steps(
        'step transformer 12 x 768, 16 bits',
        35.4 * MS,
        0.75,
        _TRANSFORMER,
        12,
        (16, 512, 768),
        12,
        True,
    ),
    _replays('16-16-16-10, SGD', 43 * US, 30 * US, _MLP, _SMALL, 1, 'SGD'),
    _replays('16-16-16-10, Adam', 83 * US, 35 * US, _MLP, _SMALL, 1, 'Adam', capturable=True),
    _replays('784-1000-1000-10, SGD', 152 * US, 100 * US, _MLP, _LARGE, 100, 'SGD'),
    _replays(
        '784-1000-1000-10, Adam', 298 * US, 120 * US, _MLP, _LARGE, 100, 'Adam', capturable=True
    ),
    _replays(
        'transformer 2 x 32', 317 * US, 200 * US, _TRANSFORMER, *_SMALL_ENCODER, capturable=True
    ),
    _steps('Adam of 200 parameters, 4 x 10^7 numbers', 0.662 * MS, 0.7, _ADAM, (1000, 100)),
    _steps('Adam of 200 parameters of 100', 0.557 * MS, 0.05, _ADAM, (100,)),
]
