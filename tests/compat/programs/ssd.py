"""A detector in the style of SSD: boxes of two scales, and hard negative mining."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np

N_CLASSES, K = 2, 3


class Detector(chainer.Chain):
    def __init__(self):
        super().__init__()
        init = {'initialW': chainer.initializers.LeCunUniform(), 'initial_bias': 0}
        with self.init_scope():
            self.conv1 = L.Convolution2D(1, 4, 3, stride=2, pad=1, **init)
            self.conv2 = L.DilatedConvolution2D(4, 4, 3, pad=2, dilate=2, **init)
            self.norm = L.Scale(W_shape=(4,), axis=1)
            self.loc, self.conf = chainer.ChainList(), chainer.ChainList()
        for _ in range(2):
            self.loc.add_link(L.Convolution2D(4, 4, 3, pad=1, **init))
            self.conf.add_link(L.Convolution2D(4, N_CLASSES + 1, 3, pad=1, **init))
        self.norm.W.array[...] = 2

    def forward(self, x):
        h = F.relu(self.conv1(x))
        first = self.norm(F.normalize(h, axis=1))
        second = F.relu(self.conv2(F.max_pooling_2d(h, 2)))
        locs, confs = [], []
        for h, loc, conf in zip((first, second), self.loc, self.conf):
            for link, out, size in ((loc, locs, 4), (conf, confs, N_CLASSES + 1)):
                y = F.transpose(link(h), (0, 2, 3, 1))
                out.append(F.reshape(y, (y.shape[0], -1, size)))
        return F.concat(locs, axis=1), F.concat(confs, axis=1)


def hardest(losses, positive):
    """The background boxes with the largest losses: K for each box with an object."""
    rank = xp_of(losses).argsort(xp_of(losses).argsort(losses * (positive - 1), axis=1), axis=1)
    return rank < K * positive.sum(axis=1)[:, None]


def xp_of(x):
    return chainer.backend.get_array_module(x)


class Training(chainer.Chain):
    """The losses of locations and of classes, per box with an object."""

    def __init__(self, detector):
        super().__init__()
        with self.init_scope():
            self.detector = detector

    def forward(self, images, places, classes):
        found, scores = self.detector(images)
        positive = (classes > 0).astype(found.dtype)
        n = positive.sum()
        of_places = F.sum(F.huber_loss(found, places, 1, reduce='no'), axis=-1)
        of_places *= positive
        of_classes = F.softmax_cross_entropy(
            F.reshape(scores, (-1, N_CLASSES + 1)), classes.reshape(-1), reduce='no'
        )
        of_classes = F.reshape(of_classes, classes.shape)
        counted = xp_of(classes).logical_or(classes > 0, hardest(of_classes.array, positive))
        of_classes *= counted.astype(of_classes.dtype)
        parts = {'loc': F.sum(of_places) / n, 'conf': F.sum(of_classes) / n}
        loss = parts['loc'] + parts['conf']
        chainer.reporter.report({'loss': loss, **parts}, self)
        return loss


class Faster:
    """A hook of an update rule that multiplies gradients in place."""

    name = 'faster'
    call_for_each_param = True
    timing = 'pre'

    def __call__(self, rule, param):
        with chainer.using_device(param.device):
            param.grad[...] = param.grad * 2


def train(device, start, iterations=3):
    n_boxes = 16 + 4
    images = np.random.uniform(-1, 1, (3, 1, 8, 8)).astype(np.float32)
    places = np.random.normal(size=(3, n_boxes, 4)).astype(np.float32)
    classes = np.random.randint(1, N_CLASSES + 1, (3, n_boxes)).astype(np.int32)
    classes[np.random.uniform(size=classes.shape) > 0.15] = 0
    batch = [device.send(x) for x in (images, places, classes)]
    model = Training(Detector())
    model.to_device(device)
    start(model=model, x=images, locs=places, labels=classes)
    optimizer = chainer.optimizers.MomentumSGD(0.05)
    optimizer.setup(model)
    for param in model.params():
        hook = Faster() if param.name == 'b' else chainer.optimizer.WeightDecay(0.0005)
        param.update_rule.add_hook(hook)
    losses = []
    for _ in range(iterations):
        reporter = chainer.Reporter()
        reporter.add_observer('', model)
        with reporter:
            optimizer.update(model, *batch)
        losses.append(
            [float(reporter.observation[f'/{key}'].array) for key in ('loss', 'loc', 'conf')]
        )
    return losses
