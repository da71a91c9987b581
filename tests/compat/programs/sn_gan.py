"""A GAN with classes: spectral normalization, conditional batch normalization, hinge losses."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import link_hooks, training

N_CLASSES, N_NOISE, BATCH = 3, 4, 6


class ConditionalBatchNormalization(chainer.Chain):
    """Batch normalization whose scale and offset are looked up by label."""

    def __init__(self, size, n_classes, decay=0.9, eps=2e-5):
        super().__init__()
        self.decay, self.eps = decay, eps
        self.add_persistent('avg_mean', np.zeros(size, np.float32))
        self.add_persistent('avg_var', np.ones(size, np.float32))
        with self.init_scope():
            self.gammas = L.EmbedID(n_classes, size, initialW=chainer.initializers.One())
            self.betas = L.EmbedID(n_classes, size, initialW=chainer.initializers.Normal(0.1))

    def forward(self, x, labels):
        ones = self.xp.ones(x.shape[1], dtype=x.dtype)
        if chainer.config.train:
            h = F.batch_normalization(
                x,
                ones,
                self.xp.zeros_like(ones),
                eps=self.eps,
                running_mean=self.avg_mean,
                running_var=self.avg_var,
                decay=self.decay,
            )
        else:
            zeros = self.xp.zeros_like(ones)
            h = F.fixed_batch_normalization(x, ones, zeros, self.avg_mean, self.avg_var, self.eps)
        gamma = F.broadcast_to(self.gammas(labels)[:, :, None, None], h.shape)
        beta = F.broadcast_to(self.betas(labels)[:, :, None, None], h.shape)
        return gamma * h + beta


class Generator(chainer.Chain):
    def __init__(self):
        super().__init__()
        initializer = chainer.initializers.GlorotUniform()
        with self.init_scope():
            self.l1 = L.Linear(N_NOISE, 5 * 2 * 2, nobias=True, initialW=initializer)
            self.b1 = ConditionalBatchNormalization(5, N_CLASSES)
            self.c2 = L.Convolution2D(5, 1, 3, pad=1, initialW=initializer)

    def draw(self, n):
        z = np.random.normal(size=(n, N_NOISE)).astype(np.float32)
        labels = np.random.randint(N_CLASSES, size=n).astype(np.int32)
        return self.xp.asarray(z), self.xp.asarray(labels)

    def forward(self, z, labels):
        h = F.reshape(self.l1(z), (len(z), 5, 2, 2))
        h = F.relu(self.b1(h, labels))
        h = F.unpooling_2d(h, 2, outsize=(4, 4))
        return F.tanh(self.c2(h))


class Discriminator(chainer.Chain):
    """A projection discriminator; each of its layers has a spectral norm of about 1."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.c1 = L.Convolution2D(1, 5, 4, 2, 1)
            self.l2 = L.Linear(5, 1)
            self.embed = L.EmbedID(N_CLASSES, 5)
        for link in self.children():
            link.add_hook(link_hooks.SpectralNormalization())

    def forward(self, x, labels):
        h = F.sum(F.leaky_relu(self.c1(x)), axis=(2, 3))
        return self.l2(h) + F.sum(self.embed(labels) * h, axis=1, keepdims=True)


class Updater(training.updaters.StandardUpdater):
    def __init__(self, *args, **kwargs):
        self.gen, self.dis = kwargs.pop('models')
        self.n_dis = kwargs.pop('n_dis')
        self.start = kwargs.pop('start')
        super().__init__(*args, **kwargs)

    def update_core(self):
        gen_optimizer = self.get_optimizer('gen')
        dis_optimizer = self.get_optimizer('dis')
        for i in range(self.n_dis):
            x, labels = self.converter(self.get_iterator('main').next(), self.device)
            z, fake_labels = self.gen.draw(len(x))
            if self.iteration == i == 0:
                self.start(
                    gen=self.gen, dis=self.dis, x=x, labels=labels, z=z, fake_labels=fake_labels
                )
            fake = self.gen(z, fake_labels)
            if i == 0:
                loss_gen = -F.mean(self.dis(fake, fake_labels))
                self.gen.cleargrads()
                loss_gen.backward()
                gen_optimizer.update()
                chainer.report({'loss': loss_gen}, self.gen)
            fake.unchain_backward()
            loss_dis = F.mean(F.relu(1.0 - self.dis(x, labels)))
            loss_dis += F.mean(F.relu(1.0 + self.dis(fake, fake_labels)))
            self.dis.cleargrads()
            loss_dis.backward()
            dis_optimizer.update()
            chainer.report({'loss': loss_dis}, self.dis)


def train(device, start, iterations=3):
    x = np.random.uniform(-1, 1, (24, 1, 4, 4)).astype(np.float32)
    labels = (np.arange(24) % N_CLASSES).astype(np.int32)
    iterator = chainer.iterators.SerialIterator(
        chainer.datasets.TupleDataset(x, labels), BATCH, shuffle=False
    )
    models = {'gen': Generator(), 'dis': Discriminator()}
    optimizers = {}
    for name, model in models.items():
        model.to_device(device)
        optimizers[name] = chainer.optimizers.Adam(alpha=0.002, beta1=0.0, beta2=0.9)
        optimizers[name].setup(model)
        optimizers[name].add_hook(chainer.optimizer_hooks.WeightDecay(1e-4))
    updater = Updater(
        iterator,
        optimizers,
        models=(models['gen'], models['dis']),
        n_dis=2,
        start=start,
        device=device,
    )
    trainer = training.Trainer(updater, (iterations, 'iteration'), out=chainer.config.out)
    losses = []

    @training.make_extension(trigger=(1, 'iteration'))
    def keep_losses(trainer):
        observed = trainer.observation
        losses.append([float(observed[f'{name}/loss'].array) for name in ('gen', 'dis')])

    trainer.extend(keep_losses)
    for shift in ('gen', 'dis'):
        trainer.extend(
            training.extensions.LinearShift(
                'alpha', (0.002, 0.0), (1, 10), optimizer=optimizers[shift]
            ),
            name=f'shift_{shift}',
        )
    trainer.run()

    with chainer.using_config('train', False), chainer.no_backprop_mode():
        picture = models['gen'](*models['gen'].draw(2))
    losses.append([float(F.mean(picture).array), float(F.sum(picture * picture).array)])
    return losses
