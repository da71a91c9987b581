"""DCGAN whose discriminator adds float64 noise to float32 images; two optimizers in a loop."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np


def add_noise(device, h, sigma=0.2):
    """NumPy draws float64, whatever `h` is."""
    if not chainer.config.train:
        return h
    return h + sigma * device.xp.asarray(np.random.randn(*h.shape))


class Generator(chainer.Chain):
    def __init__(self, n_hidden, wscale=0.1):
        super().__init__()
        self.n_hidden = n_hidden
        w = chainer.initializers.Normal(wscale)
        with self.init_scope():
            self.l0 = L.Linear(n_hidden, 2 * 2 * 4, nobias=True, initialW=w)
            self.dc1 = L.Deconvolution2D(4, 3, 4, 2, 1, nobias=True, initialW=w)
            self.dc2 = L.Deconvolution2D(3, 1, 3, 1, 1, initialW=w)
            self.bn0 = L.BatchNormalization(2 * 2 * 4)
            self.bn1 = L.BatchNormalization(3)

    def make_hidden(self, batchsize):
        dtype = chainer.get_dtype()
        return np.random.uniform(-1, 1, (batchsize, self.n_hidden, 1, 1)).astype(dtype)

    def forward(self, z):
        h = F.reshape(F.relu(self.bn0(self.l0(z))), (len(z), 4, 2, 2))
        h = F.relu(self.bn1(self.dc1(h)))
        return F.sigmoid(self.dc2(h))


class Discriminator(chainer.Chain):
    def __init__(self, wscale=0.1):
        super().__init__()
        w = chainer.initializers.Normal(wscale)
        with self.init_scope():
            self.c0 = L.Convolution2D(1, 3, 3, 1, 1, initialW=w)
            self.c1 = L.Convolution2D(3, 4, 4, 2, 1, nobias=True, initialW=w)
            self.l2 = L.Linear(2 * 2 * 4, 1, initialW=w)
            self.bn1 = L.BatchNormalization(4, use_gamma=False)

    def forward(self, x):
        device = self.device
        h = add_noise(device, x)
        h = F.leaky_relu(add_noise(device, self.c0(h)))
        h = F.leaky_relu(add_noise(device, self.bn1(self.c1(h))))
        return self.l2(h)


def train(device, start, iterations=3):
    gen, dis = Generator(3), Discriminator()
    optimizers = []
    for model in (gen, dis):
        model.to_device(device)
        optimizer = chainer.optimizers.Adam(alpha=0.0002, beta1=0.5).setup(model)
        optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.0001), 'hook_dec')
        optimizers.append(optimizer)
    images = np.random.uniform(0, 1, (5, 1, 4, 4)).astype(np.float32)
    losses = []
    for _ in range(iterations):
        real = chainer.Variable(device.send(images)) / 1.0
        z = chainer.Variable(device.send(gen.make_hidden(5)))
        if not losses:
            start(gen=gen, dis=dis, x=images, z=z.array, random_state=np.random.get_state())
        y_real = dis(real)
        fake = gen(z)
        y_fake = dis(fake)
        loss_dis = F.sum(F.softplus(-y_real)) / 5 + F.sum(F.softplus(y_fake)) / 5
        loss_gen = F.sum(F.softplus(-y_fake)) / 5
        for model, optimizer, loss in zip((dis, gen), optimizers[::-1], (loss_dis, loss_gen)):
            model.cleargrads()
            loss.backward()
            optimizer.update()
        losses.append([float(loss_gen.array), float(loss_dis.array)])
    with chainer.using_config('train', False):
        losses.append([float(F.mean(dis(gen(z))).array)])
    return losses
