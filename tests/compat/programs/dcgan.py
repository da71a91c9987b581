"""A convolutional GAN, trained in a plain loop; noise in float64 meets images in float32."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np

BATCH, N_CODE = 5, 3


def shaken(link, h):
    """Adds noise in training. NumPy draws float64, whatever the dtype of `h`."""
    if chainer.config.train:
        h = h + link.xp.asarray(0.2 * np.random.standard_normal(h.shape))
    return h


class Painter(chainer.ChainList):
    """Maps codes (batch, N_CODE) to images (batch, 1, 4, 4)."""

    def __init__(self):
        spread = {'initialW': chainer.initializers.Normal(0.1)}
        super().__init__(
            L.Linear(N_CODE, 16, nobias=True, **spread),
            L.BatchNormalization(16),
            L.Deconvolution2D(4, 3, 4, 2, 1, nobias=True, **spread),
            L.BatchNormalization(3),
            L.Deconvolution2D(3, 1, 3, 1, 1, **spread),
        )

    def forward(self, z):
        start, start_norm, grow, grow_norm, finish = self
        h = F.reshape(F.relu(start_norm(start(z))), (-1, 4, 2, 2))
        return F.sigmoid(finish(F.relu(grow_norm(grow(h)))))


class Judge(chainer.Chain):
    """Maps each image to a logit of being real."""

    def __init__(self):
        super().__init__()
        spread = chainer.initializers.Normal(0.1)
        with self.init_scope():
            self.fine = L.Convolution2D(1, 3, 3, pad=1, initialW=spread)
            self.coarse = L.Convolution2D(3, 4, 4, 2, 1, nobias=True, initialW=spread)
            self.norm = L.BatchNormalization(4, use_gamma=False)
            self.verdict = L.Linear(None, 1, initialW=spread)

    def forward(self, x):
        h = F.leaky_relu(shaken(self, self.fine(shaken(self, x))))
        h = F.leaky_relu(shaken(self, self.norm(self.coarse(h))))
        return self.verdict(h)


def train(device, start, iterations=3):
    painter, judge = Painter(), Judge()
    judge.verdict(np.zeros((1, 16), np.float32))
    steps = []
    for model in (painter, judge):
        model.to_device(device)
        optimizer = chainer.optimizers.Adam(alpha=0.0002, beta1=0.5).setup(model)
        optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.0001), name='decay')
        steps.append(optimizer)
    images = np.random.uniform(0, 1, (BATCH, 1, 4, 4)).astype(np.float32)
    losses = []
    for i in range(iterations):
        code = np.random.uniform(-1, 1, (BATCH, N_CODE)).astype(chainer.get_dtype())
        if i == 0:
            state = np.random.get_state()
            start(painter=painter, judge=judge, x=images, z=code, random_state=state)
        real = judge(chainer.Variable(device.send(images)))
        fake = judge(painter(chainer.Variable(device.send(code))))
        aims = F.mean(F.softplus(-fake)), F.mean(F.softplus(-real) + F.softplus(fake))
        for optimizer, aim in zip(steps, aims):
            optimizer.target.cleargrads()
            aim.backward()
            optimizer.update()
        losses.append([float(aim.array) for aim in aims])
    with chainer.using_config('train', False):
        losses.append([float(F.mean(judge(painter(device.send(code)))).array)])
    return losses
