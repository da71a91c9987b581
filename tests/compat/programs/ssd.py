"""A detector in the manner of SSD: boxes of two scales, and a loss that mines hard negatives."""

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


def multibox_loss(mb_locs, mb_confs, gt_mb_locs, gt_mb_labels, k):
    mb_locs = chainer.as_variable(mb_locs)
    mb_confs = chainer.as_variable(mb_confs)
    xp = chainer.backend.get_array_module(gt_mb_labels)
    positive = gt_mb_labels > 0
    n_positive = positive.sum()
    loc_loss = F.huber_loss(mb_locs, gt_mb_locs, 1, reduce='no')
    loc_loss = F.sum(loc_loss, axis=-1)
    loc_loss *= positive.astype(loc_loss.dtype)
    loc_loss = F.sum(loc_loss) / n_positive
    conf_loss = F.softmax_cross_entropy(
        F.reshape(mb_confs, (-1, mb_confs.shape[-1])), gt_mb_labels.reshape(-1), reduce='no'
    )
    conf_loss = F.reshape(conf_loss, gt_mb_labels.shape)
    hard = hard_negative(conf_loss.array, positive, k)
    conf_loss *= xp.logical_or(positive, hard).astype(conf_loss.dtype)
    return loc_loss, F.sum(conf_loss) / n_positive


def hard_negative(x, positive, k):
    xp = chainer.backend.get_array_module(x)
    rank = (x * (positive.astype(x.dtype) - 1)).argsort(axis=1).argsort(axis=1)
    return rank < (positive.sum(axis=1) * k)[:, xp.newaxis]


class TrainChain(chainer.Chain):
    def __init__(self, model, alpha=1.0):
        super().__init__()
        with self.init_scope():
            self.model = model
        self.alpha = alpha

    def forward(self, images, gt_locs, gt_labels):
        loc_loss, conf_loss = multibox_loss(*self.model(images), gt_locs, gt_labels, K)
        loss = loc_loss * self.alpha + conf_loss
        chainer.reporter.report({'loss': loss, 'loc': loc_loss, 'conf': conf_loss}, self)
        return loss


class GradientScaling:
    """A hook of an update rule: biases learn faster."""

    name = 'GradientScaling'
    call_for_each_param = True
    timing = 'pre'

    def __init__(self, rate):
        self.rate = rate

    def __call__(self, rule, param):
        grad = param.grad
        with chainer.using_device(param.device):
            grad[...] = grad * self.rate


def train(device, start, iterations=3):
    n_boxes = 16 + 4
    images = np.random.uniform(-1, 1, (3, 1, 8, 8)).astype(np.float32)
    locs = np.random.normal(size=(3, n_boxes, 4)).astype(np.float32)
    labels = (np.random.uniform(size=(3, n_boxes)) < 0.15) * np.random.randint(
        1, N_CLASSES + 1, (3, n_boxes)
    )
    batch = [device.send(x) for x in (images, locs, labels.astype(np.int32))]
    model = TrainChain(Detector())
    model.to_device(device)
    start(model=model, x=images, locs=locs, labels=labels)
    optimizer = chainer.optimizers.MomentumSGD(0.05)
    optimizer.setup(model)
    for param in model.params():
        if param.name == 'b':
            param.update_rule.add_hook(GradientScaling(2))
        else:
            param.update_rule.add_hook(chainer.optimizer.WeightDecay(0.0005))
    losses = []
    for _ in range(iterations):
        observer = chainer.Reporter()
        observer.add_observer('', model)
        with observer:
            optimizer.update(model, *batch)
        seen = observer.observation
        losses.append([float(seen[key].array) for key in ('/loss', '/loc', '/conf')])
    return losses
