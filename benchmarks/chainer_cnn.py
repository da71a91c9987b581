"""Training steps of convolutional networks that are Chains, by MomentumSGD, against PyTorch.

LeNet on images of 28 x 28, and the ResNet-18 of examples/cifar_resnet.py. Both sides start from the
same weights and are first checked to reach the same loss.

    python benchmarks/chainer_cnn.py
    python benchmarks/chainer_cnn.py --memory     # peaks of resident memory instead of times
"""

import pathlib
import sys

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer_train import fastest
from harness import main, torch
from peaks import compare, peak_memory

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / 'examples'))
from cifar_resnet import resnet18  # noqa: E402

LR, MOMENTUM = 0.01, 0.9


class LeNet(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(1, 20, 5)
            self.conv2 = L.Convolution2D(20, 50, 5)
            self.l1 = L.Linear(800, 500)
            self.l2 = L.Linear(500, 10)

    def forward(self, x):
        h = F.max_pooling_2d(F.relu(self.conv1(x)), 2)
        h = F.max_pooling_2d(F.relu(self.conv2(h)), 2)
        return self.l2(F.relu(self.l1(h)))


def torch_lenet():
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(1, 20, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(20, 50, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(800, 500),
        nn.ReLU(),
        nn.Linear(500, 10),
    )


def torch_convolution(ins, outs, ksize, stride=1):
    conv = torch.nn.Conv2d(ins, outs, ksize, stride, ksize // 2, bias=False)
    return torch.nn.Sequential(conv, torch.nn.BatchNorm2d(outs, eps=2e-5))


def torch_resnet18(width=64):
    class Block(torch.nn.Module):
        def __init__(self, ins, outs, stride):
            super().__init__()
            self.a = torch_convolution(ins, outs, 3, stride)
            self.b = torch_convolution(outs, outs, 3)
            if stride != 1 or ins != outs:
                self.around = torch_convolution(ins, outs, 1, stride)

        def forward(self, x):
            around = self.around(x) if hasattr(self, 'around') else x
            return torch.relu(self.b(torch.relu(self.a(x))) + around)

    nn = torch.nn
    layers, ins = [torch_convolution(3, width, 3), nn.ReLU()], width
    for stage in range(4):
        for i in range(2):
            layers.append(Block(ins, width * 2**stage, 2 if stage > 0 and i == 0 else 1))
            ins = width * 2**stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(ins, 10))


# Children in the order of PyTorch's modules.
CHILDREN = ['conv1', 'conv2', 'l1', 'l2', 'first', 'blocks', 'a', 'b', 'around', 'last']
PARAMETERS = ['W', 'b', 'gamma', 'beta']
NETWORKS = {
    'LeNet': (LeNet, torch_lenet, (1, 28, 28)),
    'ResNet-18': (resnet18, torch_resnet18, (3, 32, 32)),
}


def parameters(link):
    """The parameters of a link in PyTorch's order."""
    if isinstance(link, chainer.Sequential):
        children = list(link)
    elif isinstance(link, chainer.Chain):
        children = [getattr(link, name) for name in CHILDREN if hasattr(link, name)]
    else:
        found = [getattr(link, name, None) for name in PARAMETERS]
        return [p for p in found if p is not None]
    return [p for child in children for p in parameters(child)]


def batch(name, batch_size):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(batch_size, *NETWORKS[name][2])).astype('f')
    return x, rng.integers(0, 10, batch_size)


def chainer_step(name, batch_size, values):
    """A training step of the Chain, starting from PyTorch's parameters."""
    model = NETWORKS[name][0]()
    for param, value in zip(parameters(model), values, strict=True):
        param.array[...] = value
    model.to_device('native:0')
    optimizer = chainer.optimizers.MomentumSGD(LR, MOMENTUM).setup(model)
    x, t = batch(name, batch_size)
    x, t = model.device.send((x, t.astype(np.int32)))

    def step():
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    return step


def torch_step(name, batch_size, values, **options):
    model = NETWORKS[name][1]()
    with torch.no_grad():
        for param, value in zip(model.parameters(), values, strict=True):
            param.copy_(torch.tensor(value))
    optimizer = torch.optim.SGD(model.parameters(), LR, momentum=MOMENTUM, **options)
    x, t = map(torch.tensor, batch(name, batch_size))

    def step():
        loss = torch.nn.functional.cross_entropy(model(x), t)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss

    return step


def initial_values(name):
    torch.manual_seed(0)
    return [v.detach().numpy() for v in NETWORKS[name][1]().parameters()]


def loss_of(step, n=3):
    loss = [step() for _ in range(n)][-1]
    return float(loss.item() if isinstance(loss, chainer.Variable) else loss.detach())


def rows(bench):
    """Training steps of convolutional Chains."""
    sizes = [('LeNet', 64), ('ResNet-18', 32)]
    if bench.threads == 1:
        sizes.insert(0, ('LeNet', 1))
    for name, batch_size in sizes:
        row = f'{name}, batch {batch_size}'
        if not bench.wants(row):
            continue
        values = initial_values(name)
        ways = {
            way: torch_step(name, batch_size, values, **{way: True}) for way in ('foreach', 'fused')
        }
        expected = loss_of(torch_step(name, batch_size, values))
        difference = loss_of(chainer_step(name, batch_size, values)) - expected
        if abs(difference) > 1e-3 * abs(expected):
            raise RuntimeError(f'{row}: losses differ by {difference}')
        way, theirs = fastest(ways, 20 if batch_size == 1 else 1)
        ours = chainer_step(name, batch_size, values)
        bench.row(
            row,
            {'chainerx': 'step()', 'torch': 'step()'},
            {'chainerx': {'step': ours}, 'torch': {'step': theirs}},
            note=f'PyTorch: SGD({way})',
        )


def peak_of(library):
    """Peak memory in bytes of ResNet-18 and some training steps."""
    name = 'ResNet-18'
    values = initial_values(name)
    make = {'chainerx': chainer_step, 'torch': torch_step}[library]

    def run():
        step = make(name, 32, values)
        for _ in range(4):
            step()

    return peak_memory(run)


if __name__ == '__main__':
    if '--memory' in sys.argv[1:]:
        compare('chainer_cnn', 'ResNet-18, batch 32')
    else:
        main(rows, 'chainer_cnn', threads=(1, 2), rounds=10, round_seconds=0.01)
