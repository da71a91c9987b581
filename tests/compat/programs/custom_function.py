"""Custom functions, one of them old-style, in a custom loop, observed by hooks."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import function_hooks
from chainer.utils import type_check


class SwishFunction(chainer.FunctionNode):
    """x * sigmoid(beta * x), with a beta for each column."""

    def check_type_forward(self, in_types):
        type_check.expect(in_types.size() == 2)
        x_type, beta_type = in_types
        type_check.expect(
            x_type.dtype.kind == 'f',
            x_type.dtype == beta_type.dtype,
            x_type.shape[1] == beta_type.shape[0],
        )

    def forward(self, inputs):
        x, beta = inputs
        xp = chainer.backend.get_array_module(*inputs)
        self.retain_inputs((0, 1))
        self.sigmoid = 1 / (1 + xp.exp(-beta * x))
        return (x * self.sigmoid,)

    def backward(self, indexes, grad_outputs):
        x, beta = self.get_retained_inputs()
        (gy,) = grad_outputs
        beta = F.broadcast_to(beta, x.shape)
        s = F.sigmoid(beta * x)
        slope = s * (1 - s)
        results = []
        if 0 in indexes:
            results.append(gy * (s + beta * x * slope))
        if 1 in indexes:
            results.append(F.sum(gy * x * x * slope, axis=0))
        return results


class ReverseGradient(chainer.Function):
    """The identity with a negated gradient, for domain-adversarial training."""

    def __init__(self, scale):
        self.scale = scale

    def forward(self, inputs):
        return inputs

    def backward(self, inputs, grad_outputs):
        return (-self.scale * grad_outputs[0],)


class Swish(chainer.Link):
    def __init__(self, size):
        super().__init__()
        with self.init_scope():
            self.beta = chainer.Parameter(chainer.initializers.Constant(1.0))
        if size is not None:
            self.beta.initialize((size,))

    def forward(self, x):
        if self.beta.array is None:
            self.beta.initialize(x.shape[1])
        return SwishFunction().apply((x, self.beta))[0]


class Net(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(3, 5)
            self.swish = Swish(None)
            self.label = L.Linear(5, 2)
            self.domain = L.Linear(5, 2)

    def forward(self, x, t, d):
        h = self.swish(self.l1(x))
        loss = F.softmax_cross_entropy(self.label(h), t)
        return loss + F.softmax_cross_entropy(self.domain(ReverseGradient(0.3)(h)), d)


class CountLinears(chainer.LinkHook):
    name = 'CountLinears'

    def __init__(self):
        self.count = 0

    def forward_postprocess(self, args):
        if isinstance(args.link, L.Linear):
            self.count += 1


def train(device, start, iterations=4):
    x = np.random.normal(size=(8, 3)).astype(np.float32)
    t = (x[:, 0] > 0).astype(np.int32)
    d = (x[:, 1] > 0).astype(np.int32)
    model = Net()
    model.to_device(device)
    batch = device.send((x, t, d))
    with chainer.no_backprop_mode():
        model(*batch)  # Swish infers its size
    start(model=model, x=x, t=t, d=d)
    optimizer = chainer.optimizers.CorrectedMomentumSGD(0.1).setup(model)
    lr_of_beta = model.swish.beta.update_rule.hyperparam
    lr_of_beta.lr = 0.01
    counter = CountLinears()
    losses = []
    for _ in range(iterations):
        with counter, function_hooks.TimerHook() as timer:
            loss = model(*(chainer.Variable(array) for array in batch))
        model.cleargrads()
        loss.backward()
        optimizer.update()
        losses.append([float(loss.array)])
        assert timer.total_time() > 0
    losses.append([float(counter.count), float(model.swish.beta.array.sum())])
    return losses
