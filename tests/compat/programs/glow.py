"""A normalizing flow: data-dependent initialization, invertible 1x1 convolutions, coupling."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np

C = 4


class Standardize(chainer.Link):
    """An affine map per channel, initialized so that the first batch gets mean 0 and variance 1."""

    fitted = False

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.gain = chainer.Parameter(1.0, (1, C, 1, 1))
            self.shift = chainer.Parameter(0.0, (1, C, 1, 1))

    def fit(self, x):
        center = x.mean(axis=(0, 2, 3), keepdims=True)
        self.shift.array[...] = -center
        spread = ((x - center) ** 2).mean(axis=(0, 2, 3), keepdims=True)
        self.gain.array[...] = 1 / (self.xp.sqrt(spread) + 1e-6)
        self.fitted = True

    def forward(self, x):
        if not self.fitted:
            self.fit(x.array)
        gain, shift, x = F.broadcast(self.gain, self.shift, x)
        return gain * (x + shift), F.sum(F.log(abs(gain[0])))


class Mix(chainer.Link):
    """A 1x1 convolution; optionally its kernel is an LU product with a known determinant."""

    def __init__(self, factors):
        super().__init__()
        kernel = np.random.normal(size=(C, C)).astype(np.float32)
        self.add_persistent('below', np.tri(C, k=-1, dtype=np.float32))
        self.add_persistent('signs', np.array([1, -1, 1, 1], np.float32))
        self.factors = factors
        with self.init_scope():
            if factors:
                self.halves = chainer.Parameter(kernel)
                self.sizes = chainer.Parameter(np.log([1.5, 1.0, 0.7, 2.0]).astype(np.float32))
            else:
                self.kernel = chainer.Parameter(np.linalg.qr(kernel)[0][:, :, None, None])

    def product(self):
        eye = self.xp.eye(C, dtype=np.float32)
        diagonal = F.scale(eye, self.signs * F.exp(self.sizes), axis=1)
        upper = self.halves * (1 - self.below - eye) + diagonal
        return F.matmul(self.halves * self.below + eye, upper)[:, :, None, None]

    def forward(self, x):
        kernel = self.product() if self.factors else self.kernel
        size = F.sum(self.sizes) if self.factors else F.sum(F.log(abs(F.det(kernel))))
        return F.convolution_2d(x, kernel), size * float(np.prod(x.shape[2:]))

    def invert(self, y):
        return F.convolution_2d(y, F.inv(self.kernel[..., 0, 0])[..., None, None])


class Couple(chainer.Chain):
    """A coupling layer: half of the channels parameterize the map of the others."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.read = L.Convolution2D(C // 2, 6, 3, pad=1)
            self.tell = L.Convolution2D(6, C, 1, initialW=chainer.initializers.Normal(0.1))

    def forward(self, x):
        kept, changed = F.split_axis(x, 2, axis=1)
        told, move = F.split_axis(self.tell(F.relu(self.read(kept))), 2, axis=1)
        gain = F.sigmoid(told + 2.0)
        return F.concat([kept, gain * (changed + move)]), F.sum(F.log(gain)) / len(x)


class Flow(chainer.ChainList):
    def __init__(self):
        super().__init__()
        for factors in (False, True):
            for link in (Standardize(), Mix(factors), Couple()):
                self.add_link(link)

    def forward(self, x):
        """The negative log-likelihood, averaged over images."""
        x = F.space2depth(x, 2)
        gained = 0
        for link in self:
            x, more = link(x)
            gained += more
        standard = self.xp.zeros_like(x.array)
        return F.gaussian_nll(x, standard, standard) / len(x) - gained


def train(device, start, iterations=3):
    x = np.random.uniform(-0.5, 0.5, (3, 1, 4, 4)).astype(np.float32)
    flow = Flow().to_device(device)
    optimizer = chainer.optimizers.Adam(1e-2).setup(flow)
    optimizer.add_hook(chainer.optimizer_hooks.GradientHardClipping(-5, 5))
    x = device.send(x)
    start(flow=flow, x=x)
    losses = []
    for _ in range(iterations):
        losses.append([float(flow(x).array)])
        optimizer.update(flow, x)
    h = F.space2depth(x, 2)
    mixed, _ = flow[1](h)
    np.testing.assert_allclose(float(abs(flow[1].invert(mixed) - h).array.max()), 0, atol=1e-4)
    return losses
