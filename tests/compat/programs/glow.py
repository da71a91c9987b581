"""A flow of activation normalization, invertible 1x1 convolution (plain, by LU), and coupling."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np

C = 4


class Actnorm(chainer.Link):
    """Scale and bias, initialized so that the first batch comes out standardized."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.scale = chainer.Parameter(1, (1, C, 1, 1))
            self.bias = chainer.Parameter(0, (1, C, 1, 1))
        self.initialized = False

    def initialize(self, x):
        xp = self.xp
        x = x.array
        mean = xp.mean(x, axis=(0, 2, 3), keepdims=True)
        var = xp.mean((x - mean) ** 2, axis=(0, 2, 3), keepdims=True)
        self.bias.array[...] = -mean
        self.scale.array[...] = 1 / (xp.sqrt(var) + 1e-6)
        self.initialized = True

    def forward(self, x):
        if not self.initialized:
            self.initialize(x)
        area = x.shape[2] * x.shape[3]
        log_det = area * F.sum(F.log(abs(self.scale)))
        y = (x + F.broadcast_to(self.bias, x.shape)) * F.broadcast_to(self.scale, x.shape)
        return y, log_det


class Conv1x1(chainer.Chain):
    def __init__(self):
        super().__init__()
        rotation = np.linalg.qr(np.random.normal(size=(C, C)))[0].astype(np.float32)
        with self.init_scope():
            self.W = chainer.Parameter(rotation.reshape(C, C, 1, 1))

    def forward(self, x):
        log_det = x.shape[2] * x.shape[3] * F.log(abs(F.det(self.W)))
        return F.convolution_2d(x, self.W), F.sum(log_det)

    def reverse(self, y):
        return F.convolution_2d(y, F.inv(self.W[:, :, 0, 0])[:, :, None, None])


class LUConv1x1(chainer.Chain):
    """W = (L + I)(U + diag(s)): the determinant is the product of s."""

    def __init__(self):
        super().__init__()
        lower = np.tril(np.random.normal(size=(C, C)), -1).astype(np.float32)
        upper = np.triu(np.random.normal(size=(C, C)), 1).astype(np.float32)
        s = np.array([1.5, -1.0, 0.7, 2.0], np.float32)
        with self.init_scope():
            self.L = chainer.Parameter(lower)
            self.U = chainer.Parameter(upper)
            self.log_s = chainer.Parameter(np.log(np.abs(s)))
        self.add_persistent('sign', np.sign(s))
        self.add_persistent('mask', np.tril(np.ones((C, C), np.float32), -1))

    def forward(self, x):
        eye = self.xp.eye(C, dtype=x.dtype)
        lower = self.L * self.mask + eye
        s = F.broadcast_to(self.sign * F.exp(self.log_s), (C, C))
        upper = self.U * self.mask.T + s * eye
        W = F.matmul(lower, upper)[:, :, None, None]
        return F.convolution_2d(x, W), x.shape[2] * x.shape[3] * F.sum(self.log_s)


class Coupling(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(C // 2, 6, 3, pad=1)
            self.conv2 = L.Convolution2D(6, C, 1, initialW=chainer.initializers.Normal(0.1))

    def forward(self, x):
        a, b = F.split_axis(x, 2, axis=1)
        log_s, t = F.split_axis(self.conv2(F.relu(self.conv1(a))), 2, axis=1)
        s = F.sigmoid(log_s + 2.0)
        return F.concat([a, (b + t) * s], axis=1), F.sum(F.log(s)) / x.shape[0]


class Glow(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.steps = chainer.ChainList()
            for conv in (Conv1x1(), LUConv1x1()):
                self.steps.add_link(chainer.ChainList(Actnorm(), conv, Coupling()))

    def forward(self, x):
        x = F.space2depth(x, 2)
        log_det = 0
        for step in self.steps:
            for layer in step:
                x, change = layer(x)
                log_det = log_det + change
        zeros = self.xp.zeros_like(x.array)
        nll = F.gaussian_nll(x, zeros, zeros) / x.shape[0]
        return nll - log_det


def train(device, start, iterations=3):
    x = np.random.uniform(-0.5, 0.5, (3, 1, 4, 4)).astype(np.float32)
    model = Glow().to_device(device)
    optimizer = chainer.optimizers.Adam(1e-2).setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.GradientHardClipping(-5, 5))
    x = device.send(x)
    start(model=model, x=x)
    losses = []
    for _ in range(iterations):
        losses.append([float(model(x).array)])
        optimizer.update(model, x)
    conv = model.steps[0][1]
    h = F.space2depth(x, 2)
    back = conv.reverse(conv(h)[0])
    losses.append([float(F.mean(back).array)])
    return losses
