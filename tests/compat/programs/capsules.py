"""Capsules with dynamic routing, margin loss, and a decoder that regularizes."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np

N_CLASSES, N_ROUTINGS, D_IN, D_OUT = 3, 3, 2, 4


def squash(s):
    """Lengths become those below 1; axis 1 is that of the vectors."""
    square = F.sum(s**2, axis=1)
    scale = square / (1 + square) / F.sqrt(square + 1e-9)
    return F.broadcast_to(F.expand_dims(scale, 1), s.shape) * s


class CapsNet(chainer.Chain):
    def __init__(self):
        super().__init__()
        init = chainer.initializers.Uniform(scale=0.3)
        with self.init_scope():
            self.conv1 = L.Convolution2D(1, 4, 3, stride=1)
            self.conv2 = L.Convolution2D(4, 3 * D_IN, 2, stride=2)
            self.Ws = chainer.ChainList(
                *[L.Convolution2D(D_IN, N_CLASSES * D_OUT, 1, initialW=init) for _ in range(3)]
            )
            self.decoder = L.Linear(D_OUT, 36)

    def forward(self, x):
        h = F.relu(self.conv1(x))
        primary = F.split_axis(self.conv2(h), 3, axis=1)
        batch = len(x)
        votes = []
        for W, caps in zip(self.Ws.children(), primary):
            u = W(squash(caps))
            votes.append(F.reshape(u, (batch, N_CLASSES, D_OUT, -1)))
        votes = F.concat(votes, axis=3)
        votes = F.transpose(votes, (0, 2, 1, 3))  # (batch, D_OUT, class, capsule)
        b = self.xp.zeros((batch, N_CLASSES, votes.shape[3]), np.float32)
        for i in range(N_ROUTINGS):
            c = F.broadcast_to(F.softmax(b, axis=1)[:, None], votes.shape)
            v = squash(F.sum(c * votes, axis=3))
            if i < N_ROUTINGS - 1:
                v_all = F.broadcast_to(F.expand_dims(v, -1), votes.shape)
                b = b + F.sum(v_all * votes, axis=1)
        return v

    def loss(self, x, t):
        v = self(x)
        batch = len(x)
        norm = F.sqrt(F.sum(v**2, axis=1))
        zeros = self.xp.zeros((batch, N_CLASSES), np.float32)
        one_hot = zeros.copy()
        one_hot[self.xp.arange(batch), t] = 1.0
        right = F.relu(0.9 - norm) ** 2
        wrong = F.relu(norm - 0.1) ** 2
        margin = F.sum(one_hot * right + 0.5 * (1.0 - one_hot) * wrong) / batch
        v_right = F.swapaxes(v, 1, 2)[self.xp.arange(batch), t]
        picture = F.sigmoid(self.decoder(v_right))
        reconstruction = F.mean_squared_error(picture, F.reshape(x, (batch, -1)))
        return margin + 0.05 * reconstruction


def train(device, start, iterations=4):
    x = np.random.uniform(size=(5, 1, 6, 6)).astype(np.float32)
    t = np.random.randint(N_CLASSES, size=5).astype(np.int32)
    model = CapsNet()
    model.to_device(device)
    optimizer = chainer.optimizers.SMORMS3(0.01)
    optimizer.setup(model)
    start(model=model, x=x, t=t)
    x, t = device.send(x), device.send(t)
    losses = []
    for _ in range(iterations):
        losses.append([float(model.loss(x, t).array)])
        optimizer.update(model.loss, x, t)
    return losses
