"""Label maps to images, with a U-Net, a discriminator of pairs, and a custom updater."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import training

N_LABELS, N_COLORS, WEIGHT_OF_DISTANCE = 2, 1, 10.0


class Halve(chainer.Chain):
    """Halves height and width."""

    layer = L.Convolution2D

    def __init__(self, ins, outs, norm=True):
        super().__init__()
        with self.init_scope():
            self.conv = self.layer(
                ins, outs, 4, 2, 1, nobias=norm, initialW=chainer.initializers.Normal(0.2)
            )
            self.norm = L.BatchNormalization(outs) if norm else None

    def forward(self, x):
        h = self.conv(x)
        return F.leaky_relu(h if self.norm is None else self.norm(h))


class Double(Halve):
    """Doubles height and width."""

    layer = L.Deconvolution2D


class Colorist(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.large = Halve(N_LABELS, 3, norm=False)
            self.small = Halve(3, 4)
            self.back = Double(4, 3)
            self.paint = L.Deconvolution2D(6, N_COLORS, 4, 2, 1)

    def forward(self, x):
        large = self.large(x)
        back = self.back(self.small(large))
        return F.tanh(self.paint(F.concat([back, large])))


class Judge(chainer.Chain):
    """Scores at each position whether image and label map belong together."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.see_labels = Halve(N_LABELS, 2, norm=False)
            self.see_image = Halve(N_COLORS, 2, norm=False)
            self.verdict = L.Convolution2D(4, 1, 3, 1, 1)

    def forward(self, labels, image):
        return self.verdict(F.concat([self.see_labels(labels), self.see_image(image)]))


def report(model, loss):
    chainer.report({'loss': loss}, model)
    return loss


class PairUpdater(training.StandardUpdater):
    def __init__(self, iterator, colorist, judge, **kwargs):
        super().__init__(iterator, **kwargs)
        self.colorist, self.judge = colorist, judge

    def update_core(self):
        columns = zip(*self.get_iterator('main').next())
        labels, image = (
            self.colorist.xp.asarray(np.stack(column).astype(np.float32)) for column in columns
        )
        labels = chainer.Variable(labels)
        made = self.colorist(labels)
        of_made, of_image = self.judge(labels, made), self.judge(labels, image)
        self.get_optimizer('colorist').update(self.deceive, made, image, of_made)
        for source in (labels, made):
            source.unchain_backward()
        self.get_optimizer('judge').update(self.tell_apart, of_made, of_image)

    def deceive(self, made, image, of_made):
        distance = F.mean_absolute_error(made, image)
        aim = WEIGHT_OF_DISTANCE * distance + F.mean(F.softplus(-of_made))
        return report(self.colorist, aim)

    def tell_apart(self, of_made, of_image):
        return report(self.judge, F.mean(F.softplus(of_made)) + F.mean(F.softplus(-of_image)))


def train(device, start, iterations=3):
    label_maps = np.random.randint(0, 2, (8, N_LABELS, 8, 8))
    images = np.random.uniform(-1, 1, (8, N_COLORS, 8, 8))
    models = {'colorist': Colorist(), 'judge': Judge()}
    optimizers = {}
    for name, model in models.items():
        model.to_device(device)
        optimizers[name] = chainer.optimizers.Adam(0.002, 0.5).setup(model)
        optimizers[name].add_hook(chainer.optimizer.WeightDecay(0.00001), 'decay')
    start(x=label_maps[:2], t=images[:2], **models)
    pairs = list(zip(label_maps, images))
    updater = PairUpdater(
        iterator={'main': chainer.iterators.SerialIterator(pairs, 2, shuffle=False)},
        optimizer=optimizers,
        device=device,
        **models,
    )
    trainer = training.Trainer(updater, (iterations, 'iteration'), out=chainer.config.out)
    trainer.extend(training.extensions.LogReport(trigger=(1, 'iteration')))
    trainer.extend(
        training.extensions.snapshot_object(models['colorist'], '{.updater.iteration}.npz'),
        trigger=(iterations, 'iteration'),
    )
    trainer.run()
    log = trainer.get_extension('LogReport').log
    return [[entry[f'{name}/loss'] for name in models] for entry in log]
