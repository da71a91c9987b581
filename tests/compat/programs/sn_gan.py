"""A GAN with classes: spectral normalization, conditional batch normalization, hinge losses."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import link_hooks, training
from chainer.training import extensions

N_CLASSES, N_NOISE, BATCH = 3, 4, 6


class NormByClass(chainer.Chain):
    """Batch normalization, followed by an affine map per channel and class."""

    def __init__(self, channels):
        super().__init__()
        start = np.ones((N_CLASSES, 2, channels), np.float32)
        start[:, 1] = np.random.normal(0, 0.1, (N_CLASSES, channels))
        for name, value in (('mean', 0), ('var', 1)):
            self.add_persistent(name, np.full(channels, value, np.float32))
        with self.init_scope():
            self.affine = L.EmbedID(N_CLASSES, 2 * channels, initialW=start.reshape(N_CLASSES, -1))

    def forward(self, x, classes):
        one, zero = (self.xp.full(x.shape[1:2], value, x.dtype) for value in (1, 0))
        if chainer.config.train:
            running = {'running_mean': self.mean, 'running_var': self.var, 'decay': 0.9}
            x = F.batch_normalization(x, one, zero, **running)
        else:
            x = F.fixed_batch_normalization(x, one, zero, self.mean, self.var)
        scale, offset = F.split_axis(self.affine(classes)[..., None, None], 2, axis=1)
        scale, x = F.broadcast(scale, x)
        return scale * x + F.broadcast_to(offset, x.shape)


class Maker(chainer.Chain):
    def __init__(self):
        super().__init__()
        init = {'initialW': chainer.initializers.GlorotUniform()}
        with self.init_scope():
            self.seed = L.Linear(N_NOISE, 20, nobias=True, **init)
            self.norm = NormByClass(5)
            self.draw = L.Convolution2D(5, 1, 3, pad=1, **init)

    def forward(self, z, classes):
        h = F.relu(self.norm(self.seed(z).reshape(-1, 5, 2, 2), classes))
        return F.tanh(self.draw(F.unpooling_2d(h, 2, outsize=(4, 4))))


class Critic(chainer.Chain):
    """Scores the image, and how well it fits its class."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.look = L.Convolution2D(1, 5, 4, 2, 1)
            self.real = L.Linear(5, 1)
            self.fit = L.EmbedID(N_CLASSES, 5)
        for link in self.children():
            link.add_hook(link_hooks.SpectralNormalization())

    def forward(self, x, classes):
        h = F.sum(F.leaky_relu(self.look(x)), axis=(2, 3))
        return self.real(h)[:, 0] + F.sum(self.fit(classes) * h, axis=1)


class AlternatingUpdater(training.updaters.StandardUpdater):
    """Updates the critic twice, with different images, then the generator once."""

    rounds = 2

    def __init__(self, iterator, optimizers, start, **options):
        super().__init__(iterator, optimizers, **options)
        self.start = start

    def update_core(self):
        for turn in range(self.rounds):
            self.play(self.converter(next(self.get_iterator('main')), self.device), turn)

    def play(self, real, turn):
        named = self.get_all_optimizers()
        maker, critic = named['maker'].target, named['critic'].target
        z = np.random.normal(size=(BATCH, N_NOISE)).astype(np.float32)
        classes = np.random.randint(N_CLASSES, size=BATCH).astype(np.int32)
        z, classes = maker.xp.asarray(z), maker.xp.asarray(classes)
        if self.iteration == turn == 0:
            self.start(maker=maker, critic=critic, z=z, classes=classes)
        fake = maker(z, classes)
        if turn == 0:
            self.learn(named['maker'], -F.mean(critic(fake, classes)))
        fake.unchain_backward()
        margin = F.relu(1 - critic(*real)) + F.relu(1 + critic(fake, classes))
        self.learn(named['critic'], F.mean(margin))

    @staticmethod
    def learn(optimizer, loss):
        optimizer.target.cleargrads()
        loss.backward()
        optimizer.update()
        chainer.report({'loss': loss}, optimizer.target)


def train(device, start, iterations=3):
    x = np.random.uniform(-1, 1, (24, 1, 4, 4)).astype(np.float32)
    data = chainer.datasets.TupleDataset(x, np.tile(np.arange(N_CLASSES, dtype=np.int32), 8))
    maker, critic = Maker(), Critic()
    optimizers = {}
    for name, model in (('maker', maker), ('critic', critic)):
        optimizer = chainer.optimizers.Adam(alpha=0.002, beta1=0.0, beta2=0.9)
        optimizers[name] = optimizer.setup(model.to_device(device))
        optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(1e-4))
    iterator = chainer.iterators.SerialIterator(data, BATCH, shuffle=False)
    updater = AlternatingUpdater(iterator, optimizers, start, device=device)
    trainer = training.Trainer(updater, (iterations, 'iteration'), out=chainer.config.out)
    losses = []

    @training.make_extension(trigger=(1, 'iteration'))
    def keep(trainer):
        seen = trainer.observation
        losses.append([float(seen[f'{name}/loss'].array) for name in optimizers])

    trainer.extend(keep)
    for name, optimizer in optimizers.items():
        shift = extensions.LinearShift('alpha', (0.002, 0.0), (1, 10), optimizer=optimizer)
        trainer.extend(shift, name=f'slower_{name}')
    trainer.run()

    with chainer.using_config('train', False), chainer.no_backprop_mode():
        z = np.linspace(-1, 1, 2 * N_NOISE, dtype=np.float32).reshape(2, -1)
        picture = maker(device.send(z), device.send(np.arange(2, dtype=np.int32)))
    return [*losses, [float(F.mean(picture).array), float(F.sum(picture**2).array)]]
