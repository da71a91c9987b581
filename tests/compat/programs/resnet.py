"""A small residual network: Evaluator, snapshots, and a second run that resumes the first."""

import os

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import training
from chainer.training import extensions


class BasicBlock(chainer.Chain):
    def __init__(self, n_in, n_out, stride):
        super().__init__()
        w = chainer.initializers.HeNormal(fan_option='fan_out')
        with self.init_scope():
            self.conv1 = L.Convolution2D(n_in, n_out, 3, stride, 1, nobias=True, initialW=w)
            self.bn1 = L.BatchNormalization(n_out)
            self.conv2 = L.Convolution2D(n_out, n_out, 3, 1, 1, nobias=True, initialW=w)
            self.bn2 = L.BatchNormalization(n_out)
            if stride != 1 or n_in != n_out:
                self.shortcut = L.Convolution2D(n_in, n_out, 1, stride, nobias=True, initialW=w)

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        h = self.bn2(self.conv2(h))
        return F.relu(h + (self.shortcut(x) if hasattr(self, 'shortcut') else x))


class ResNet(chainer.Chain):
    def __init__(self, n_classes):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(None, 4, 3, 1, 1, nobias=True)
            self.bn1 = L.BatchNormalization(4)
            self.blocks = chainer.Sequential(BasicBlock(4, 4, 1), BasicBlock(4, 6, 2))
            self.fc = L.Linear(None, n_classes)

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        h = self.blocks(h)
        h = F.average_pooling_2d(h, h.shape[2:])
        return self.fc(h)


class Mirrored(chainer.dataset.DatasetMixin):
    """Mirrors every second image."""

    def __init__(self, images, labels):
        self.images, self.labels = images, labels

    def __len__(self):
        return len(self.images)

    def get_example(self, i):
        image = self.images[i]
        return (image[:, :, ::-1] if i % 2 else image), self.labels[i]


class Stride(chainer.iterators.OrderSampler):
    """Takes every fifth example, then their neighbours."""

    def __call__(self, current_order, current_position):
        n = 12 if current_order is None else len(current_order)
        return np.arange(n) * 5 % n


class TestModeEvaluator(extensions.Evaluator):
    def evaluate(self):
        model = self.get_target('main')
        model.in_test = True
        result = super().evaluate()
        model.in_test = False
        return result


def make_trainer(device, data, n_iterations):
    model = L.Classifier(ResNet(3))
    model.to_device(device)
    optimizer = chainer.optimizers.MomentumSGD(lr=0.1, momentum=0.9)
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(5e-4))
    iterator = chainer.iterators.SerialIterator(data, 4, order_sampler=Stride())
    updater = training.updaters.StandardUpdater(iterator, optimizer, device=device)
    trainer = training.Trainer(updater, (n_iterations, 'iteration'), out=chainer.config.out)
    validation = chainer.iterators.MultithreadIterator(
        data, 5, repeat=False, shuffle=False, n_threads=2
    )
    trainer.extend(TestModeEvaluator(validation, model, device=device), trigger=(2, 'iteration'))
    trainer.extend(extensions.ExponentialShift('lr', 0.5), trigger=(3, 'iteration'))
    trainer.extend(
        extensions.snapshot(filename='snapshot_iter_{.updater.iteration}'),
        trigger=training.triggers.ManualScheduleTrigger(2, 'iteration'),
        priority=-300,  # after the extensions whose state it saves
    )
    trainer.extend(
        extensions.snapshot_object(model, 'best_model'),
        trigger=training.triggers.MinValueTrigger('validation/main/loss', (2, 'iteration')),
    )
    trainer.extend(extensions.FailOnNonNumber())
    trainer.extend(extensions.LogReport(trigger=(1, 'iteration')))
    return trainer, model


def train(device, start, iterations=4):
    images = np.random.uniform(size=(12, 1, 6, 6)).astype(np.float32)
    labels = (np.arange(12) % 3).astype(np.int32)
    data = Mirrored(images, labels)
    trainer, model = make_trainer(device, data, iterations)
    model.predictor(device.send(images[:2]))  # infers input sizes
    x, t = chainer.dataset.concat_examples([data[i] for i in (0, 5, 10, 3)])
    start(model=model, x=x, t=t)
    trainer.run()

    resumed, other = make_trainer(device, data, iterations)
    snapshot = os.path.join(chainer.config.out, 'snapshot_iter_2')
    chainer.serializers.load_npz(snapshot, resumed)
    resumed.run()
    log = trainer.get_extension('LogReport').log
    last = log[-1]['main/loss'], resumed.get_extension('LogReport').log[-1]['main/loss']
    np.testing.assert_allclose(*last, rtol=1e-5)
    chainer.serializers.load_npz(os.path.join(chainer.config.out, 'best_model'), other)
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        y = other.predictor(device.send(images[:3]))
    return [
        *[[entry['main/loss'], entry['main/accuracy']] for entry in log],
        [log[3]['validation/main/loss'], float(F.sum(y).array)],
    ]
