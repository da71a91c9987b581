"""Image to image with a U-Net, a critic of pairs, and an updater of its own."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import training

N_IN, N_OUT = 2, 1


class CBR(chainer.Chain):
    """Convolution, batch normalization, activation; `sample` halves or doubles the size."""

    def __init__(self, n_in, n_out, bn=True, sample='down', activation=F.relu):
        super().__init__()
        self.bn, self.activation = bn, activation
        w = chainer.initializers.Normal(0.2)
        layer = L.Convolution2D if sample == 'down' else L.Deconvolution2D
        with self.init_scope():
            self.c = layer(n_in, n_out, 4, 2, 1, nobias=bn, initialW=w)
            if bn:
                self.batchnorm = L.BatchNormalization(n_out)

    def forward(self, x):
        h = self.c(x)
        if self.bn:
            h = self.batchnorm(h)
        return h if self.activation is None else self.activation(h)


class UNet(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.down0 = CBR(N_IN, 3, bn=False, activation=F.leaky_relu)
            self.down1 = CBR(3, 4, activation=F.leaky_relu)
            self.up1 = CBR(4, 3, sample='up')
            self.up0 = CBR(6, N_OUT, bn=False, sample='up', activation=F.tanh)

    def forward(self, x):
        h0 = self.down0(x)
        h1 = self.down1(h0)
        h = self.up1(h1)
        return self.up0(F.concat([h, h0]))


class Discriminator(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.c_in = CBR(N_IN, 2, bn=False, activation=F.leaky_relu)
            self.c_out = CBR(N_OUT, 2, bn=False, activation=F.leaky_relu)
            self.last = L.Convolution2D(4, 1, 3, 1, 1)

    def forward(self, x, y):
        return self.last(F.concat([self.c_in(x), self.c_out(y)]))


class FacadeUpdater(training.StandardUpdater):
    lam = 10.0

    def __init__(self, *args, **kwargs):
        self.gen, self.dis = kwargs.pop('models')
        super().__init__(*args, **kwargs)

    def loss_gen(self, gen, out, t, y_fake):
        batch, _, w, h = y_fake.shape
        l1 = self.lam * F.mean_absolute_error(out, t)
        adversarial = F.sum(F.softplus(-y_fake)) / batch / w / h
        loss = l1 + adversarial
        chainer.report({'loss': loss}, gen)
        return loss

    def loss_dis(self, dis, y_real, y_fake):
        batch, _, w, h = y_fake.shape
        loss = (F.sum(F.softplus(-y_real)) + F.sum(F.softplus(y_fake))) / batch / w / h
        chainer.report({'loss': loss}, dis)
        return loss

    def update_core(self):
        xp = self.gen.xp
        batch = self.get_iterator('main').next()
        x_in = xp.asarray(np.stack([x for x, _ in batch]).astype('f'))
        t = xp.asarray(np.stack([y for _, y in batch]).astype('f'))
        x_in = chainer.Variable(x_in)
        out = self.gen(x_in)
        y_fake = self.dis(x_in, out)
        y_real = self.dis(x_in, t)
        self.get_optimizer('gen').update(self.loss_gen, self.gen, out, t, y_fake)
        x_in.unchain_backward()
        out.unchain_backward()
        self.get_optimizer('dis').update(self.loss_dis, self.dis, y_real, y_fake)


def train(device, start, iterations=3):
    masks = np.random.randint(0, 2, (8, N_IN, 8, 8))
    images = np.random.uniform(-1, 1, (8, N_OUT, 8, 8))
    gen, dis = UNet(), Discriminator()
    optimizers = {}
    for name, model in (('gen', gen), ('dis', dis)):
        model.to_device(device)
        optimizers[name] = chainer.optimizers.Adam(0.002, 0.5).setup(model)
        optimizers[name].add_hook(chainer.optimizer.WeightDecay(0.00001), 'hook_dec')
    start(gen=gen, dis=dis, x=masks[:2], t=images[:2])
    iterator = chainer.iterators.SerialIterator(list(zip(masks, images)), 2, shuffle=False)
    updater = FacadeUpdater(
        models=(gen, dis), iterator={'main': iterator}, optimizer=optimizers, device=device
    )
    trainer = training.Trainer(updater, (iterations, 'iteration'), out=chainer.config.out)
    trainer.extend(training.extensions.LogReport(trigger=(1, 'iteration')))
    trainer.extend(
        training.extensions.snapshot_object(gen, 'gen_{.updater.iteration}.npz'),
        trigger=(iterations, 'iteration'),
    )
    trainer.run()
    log = trainer.get_extension('LogReport').log
    return [[entry['gen/loss'], entry['dis/loss']] for entry in log]
