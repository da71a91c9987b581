"""Capsules: parts vote for wholes, with routing by agreement."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np

N_PARTS, N_WHOLES, D_PART, D_WHOLE = 3, 3, 2, 4


def shorten(vectors):
    """Squashes vectors along the last axis: lengths l become l**2 / (1 + l**2)."""
    square = F.sum(F.square(vectors), axis=-1, keepdims=True)
    return vectors * F.broadcast_to(F.sqrt(square + 1e-9) / (1 + square), vectors.shape)


class Routing(chainer.Link):
    rounds = 3

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.transform = chainer.Parameter(
                chainer.initializers.Uniform(0.5), (N_PARTS, D_PART, N_WHOLES, D_WHOLE)
            )

    def forward(self, parts):
        """Maps (batch, part, position, D_PART) to (batch, whole, D_WHOLE)."""
        votes = F.einsum('bpnd,pdwe->bpnwe', parts, self.transform)
        batch, *_, n_wholes, size = votes.shape
        votes = votes.reshape(batch, -1, n_wholes, size)
        agreement = self.xp.zeros(votes.shape[:3], dtype=votes.dtype)
        for turn in range(self.rounds):
            share = F.softmax(agreement, axis=2)
            wholes = shorten(F.einsum('bnw,bnwe->bwe', share, votes))
            if turn + 1 < self.rounds:
                agreement += F.einsum('bnwe,bwe->bnw', votes, wholes)
        return wholes


class Capsules(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.edges = L.Convolution2D(1, 4, 3)
            self.parts = L.Convolution2D(4, N_PARTS * D_PART, 2, stride=2)
            self.routing = Routing()
            self.repaint = L.Linear(D_WHOLE, 36)

    def forward(self, x):
        parts = self.parts(F.relu(self.edges(x))).reshape(len(x), N_PARTS, D_PART, -1)
        return self.routing(shorten(F.swapaxes(parts, 2, 3)))

    def loss(self, x, t):
        wholes = self(x)
        length = F.sqrt(F.batch_l2_norm_squared(wholes.reshape(-1, D_WHOLE)))
        length = length.reshape(len(x), N_WHOLES)
        here = self.xp.eye(N_WHOLES, dtype=x.dtype)[t]
        margin = here * F.relu(0.9 - length) ** 2 + 0.5 * (1 - here) * F.relu(length - 0.1) ** 2
        painted = F.sigmoid(self.repaint(F.get_item(wholes, (self.xp.arange(len(x)), t))))
        return F.sum(margin) / len(x) + 0.05 * F.mean_squared_error(painted, x.reshape(len(x), -1))


def train(device, start, iterations=4):
    x = np.random.uniform(size=(5, 1, 6, 6)).astype(np.float32)
    t = np.random.randint(N_WHOLES, size=5).astype(np.int32)
    model = Capsules()
    model.to_device(device)
    optimizer = chainer.optimizers.SMORMS3(0.01)
    optimizer.setup(model)
    start(model=model, x=x, t=t)
    x, t = device.send((x, t))
    losses = []
    for _ in range(iterations):
        losses.append([float(model.loss(x, t).array)])
        optimizer.update(model.loss, x, t)
    return losses
