"""Style transfer: an image is optimized by the gradients of a frozen network."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import training

SIZE = 6


class Eye(chainer.ChainList):
    """A frozen network that returns features of two scales."""

    def __init__(self):
        sizes = ((3, 4), (4, 4), (4, 6))
        super().__init__(*[L.Convolution2D(ins, outs, 3, pad=1) for ins, outs in sizes])
        self.disable_update()

    def forward(self, x):
        first, second, third = self.children()
        near = F.relu(second(F.relu(first(x))))
        return near, F.relu(third(F.average_pooling_2d(near, 2)))


def texture(seen):
    """The Gram matrix of the channels."""
    batch, channels = seen.shape[:2]
    rows = F.reshape(seen, (batch, channels, -1))
    return F.batch_matmul(rows, rows, transb=True) / np.float32(rows[0].size)


class Canvas(chainer.Link):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.paint = chainer.Parameter(chainer.initializers.Uniform(0.5), (1, 3, SIZE, SIZE))

    def roughness(self):
        x = self.paint
        kernel = self.xp.array([1, -1], dtype=np.float32)
        total = 0
        for shape in ((1, 1, 2, 1), (1, 1, 1, 2)):
            steps = F.convolution_2d(F.reshape(x, (3, 1, SIZE, SIZE)), kernel.reshape(shape))
            total += F.sum(steps**2)
        return total


class PaintingUpdater(training.updaters.StandardUpdater):
    """An updater without minibatches; its iterator only exists because updaters have one."""

    def __init__(self, canvas, eye, scene, textures, device):
        optimizer = chainer.optimizers.Adam(alpha=0.1).setup(canvas)
        nothing = chainer.iterators.SerialIterator([None], 1)
        super().__init__(nothing, optimizer, device=device)
        self.eye, self.scene, self.textures = eye, scene, textures

    def update_core(self):
        optimizer = self.get_optimizer('main')
        canvas = optimizer.target
        near, far = self.eye(canvas.paint)
        loss = F.mean_squared_error(far, self.scene) + 1e-2 * canvas.roughness()
        for seen, wanted in zip((near, far), self.textures):
            loss += 5 * F.mean_squared_error(texture(seen), wanted)
        for link in (canvas, self.eye):
            link.cleargrads()
        loss.backward()
        optimizer.update()
        chainer.report({'loss': loss})


@training.make_extension(trigger=(1, 'iteration'))
def keep_in_range(trainer):
    paint = trainer.updater.get_optimizer('main').target.paint
    paint.array[...] = paint.xp.clip(paint.array, -0.6, 0.6)


def train(device, start, iterations=4):
    scene, style = np.random.uniform(-0.5, 0.5, (2, 1, 3, SIZE, SIZE))
    eye, canvas = Eye(), Canvas()
    for link in (eye, canvas):
        link.to_device(device)
    start(eye=eye, canvas=canvas, scene=scene, style=style)
    with chainer.using_config('enable_backprop', False):
        scene, style = (eye.xp.asarray(x.astype('f')) for x in (scene, style))
        wanted = [texture(seen) for seen in eye(style)]
        updater = PaintingUpdater(canvas, eye, eye(scene)[1], wanted, device)
    frozen = eye[0].W.array.copy()
    trainer = training.Trainer(updater, (iterations, 'iteration'), chainer.config.out)
    trainer.extend(keep_in_range)
    trainer.extend(training.extensions.LogReport(trigger=(1, 'iteration')))
    trainer.run()
    assert float(abs(eye[0].W.array - frozen).max()) == 0
    return [[entry['loss']] for entry in trainer.get_extension('LogReport').log]
