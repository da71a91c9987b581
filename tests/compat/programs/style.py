"""A picture that is optimized: content and style as a frozen network sees them, total variation."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np


class Eye(chainer.Chain):
    """A network that is not trained."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1_1 = L.Convolution2D(3, 4, 3, stride=1, pad=1)
            self.conv1_2 = L.Convolution2D(4, 4, 3, stride=1, pad=1)
            self.conv2_1 = L.Convolution2D(4, 6, 3, stride=1, pad=1)
        self.mean = np.array([0.4, 0.5, 0.6], np.float32)

    def preprocess(self, image):
        return self.xp.asarray((image - self.mean[:, None, None]).astype(np.float32))

    def forward(self, x):
        layer1 = F.relu(self.conv1_2(F.relu(self.conv1_1(x))))
        layer2 = F.relu(self.conv2_1(F.average_pooling_2d(layer1, 2, stride=2)))
        return [layer1, layer2]


class Picture(chainer.Link):
    def __init__(self, shape):
        super().__init__()
        with self.init_scope():
            self.x = chainer.Parameter(chainer.initializers.Uniform(0.5), shape)

    def forward(self):
        return self.x


def gram_matrix(y):
    batch, channels, height, width = y.shape
    features = F.reshape(y, (batch, channels, height * width))
    return F.batch_matmul(features, features, transb=True) / np.float32(channels * height * width)


def total_variation(x):
    xp = chainer.backend.get_array_module(x.array)
    channels = x.shape[1]
    wh = xp.array(
        np.tile([[[[1], [-1]]]], (channels, channels, 1, 1))
        * np.eye(channels).reshape(channels, channels, 1, 1),
        dtype=np.float32,
    )
    ww = wh.transpose(0, 1, 3, 2)
    return F.sum(F.convolution_2d(x, W=wh) ** 2) + F.sum(F.convolution_2d(x, W=ww) ** 2)


@chainer.training.make_extension(trigger=(1, 'iteration'))
def clip(trainer):
    image = trainer.updater.get_optimizer('main').target.x
    xp = image.xp
    image.array[...] = xp.clip(image.array, -0.6, 0.6)


class StyleUpdater(chainer.training.StandardUpdater):
    def __init__(self, optimizer, eye, content, styles, device):
        iterator = chainer.iterators.SerialIterator(np.zeros((1, 1)), 1)
        super().__init__(iterator, optimizer, device=device)
        self.eye, self.content, self.styles = eye, content, styles

    def update_core(self):
        optimizer = self.get_optimizer('main')
        link = optimizer.target
        layers = self.eye(link())
        loss = F.mean_squared_error(layers[1], self.content)
        for layer, style in zip(layers, self.styles):
            loss += 5 * F.mean_squared_error(gram_matrix(layer), style)
        loss += 1e-2 * total_variation(link.x)
        link.cleargrads()
        self.eye.cleargrads()
        loss.backward()
        optimizer.update()
        chainer.report({'loss': loss})


def train(device, start, iterations=4):
    content = np.random.uniform(size=(1, 3, 6, 6))
    style = np.random.uniform(size=(1, 3, 6, 6))
    eye = Eye()
    eye.disable_update()
    eye.to_device(device)
    picture = Picture((1, 3, 6, 6)).to_device(device)
    start(eye=eye, picture=picture, content=content, style=style)
    with chainer.using_config('enable_backprop', False), chainer.using_config('train', False):
        layers = eye(eye.preprocess(content))
        content_feature = layers[1]
        style_grams = [gram_matrix(y) for y in eye(eye.preprocess(style))]
    optimizer = chainer.optimizers.Adam(alpha=0.1).setup(picture)
    updater = StyleUpdater(optimizer, eye, content_feature, style_grams, device)
    trainer = chainer.training.Trainer(updater, (iterations, 'iteration'), chainer.config.out)
    trainer.extend(clip)
    trainer.extend(chainer.training.extensions.LogReport(trigger=(1, 'iteration')))
    trainer.run()
    return [[entry['loss']] for entry in trainer.get_extension('LogReport').log]
