"""Learn to draw digits with a DCGAN: a generator of deconvolutions against a discriminator.

The score is the fraction of generated images that lie as close to a real digit as 95 % of the real
ones lie to one another, times the fraction of the ten digits found among these.

    python examples/dcgan.py
    python examples/dcgan.py --device @numpy --epochs 30
"""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from _plots import save_digits
from _programs import finish, parse_args, run_batches, to_numpy


class Generator(chainer.Chain):
    def __init__(self, n_hidden=16, ch=32):
        super().__init__()
        self.n_hidden = n_hidden
        self.ch = ch
        w = chainer.initializers.Normal(0.05)
        with self.init_scope():
            self.l0 = L.Linear(n_hidden, 2 * 2 * 2 * ch, initialW=w)
            self.dc1 = L.Deconvolution2D(2 * ch, ch, 4, stride=2, pad=1, initialW=w)
            self.dc2 = L.Deconvolution2D(ch, 1, 4, stride=2, pad=1, initialW=w)
            self.bn0 = L.BatchNormalization(2 * 2 * 2 * ch)
            self.bn1 = L.BatchNormalization(ch)

    def make_hidden(self, n):
        return np.random.uniform(-1, 1, (n, self.n_hidden)).astype(np.float32)

    def forward(self, z):
        h = F.relu(self.bn0(self.l0(z)))
        h = F.reshape(h, (len(z), 2 * self.ch, 2, 2))
        h = F.relu(self.bn1(self.dc1(h)))
        return F.sigmoid(self.dc2(h))


class Discriminator(chainer.Chain):
    def __init__(self, ch=32):
        super().__init__()
        w = chainer.initializers.Normal(0.05)
        with self.init_scope():
            self.c0 = L.Convolution2D(1, ch, 3, pad=1, initialW=w)
            self.c1 = L.Convolution2D(ch, 2 * ch, 4, stride=2, pad=1, initialW=w)
            self.c2 = L.Convolution2D(2 * ch, 2 * ch, 4, stride=2, pad=1, initialW=w)
            self.l3 = L.Linear(2 * 2 * 2 * ch, 1, initialW=w)
            self.bn1 = L.BatchNormalization(2 * ch)

    def forward(self, x):
        noise = self.xp.asarray(np.random.normal(0, 0.1, x.shape).astype(np.float32))
        h = F.leaky_relu(self.c0(x + noise))
        h = F.leaky_relu(self.bn1(self.c1(h)))
        h = F.leaky_relu(self.c2(h))
        return self.l3(h)


def loss_dis(dis, y_fake, y_real):
    loss = F.mean(F.softplus(-y_real)) + F.mean(F.softplus(y_fake))
    chainer.report({'loss': loss}, dis)
    return loss


def loss_gen(gen, y_fake):
    loss = F.mean(F.softplus(-y_fake))
    chainer.report({'loss': loss}, gen)
    return loss


def make_optimizer(model):
    optimizer = chainer.optimizers.Adam(alpha=1e-3, beta1=0.5).setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(1e-4))
    return optimizer


def distances(a, b):
    return np.sqrt(np.maximum((a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T, 0))


def judge(x, t, drawn):
    """The score, and one generated image close to each digit that was found."""
    between = distances(x, x)
    np.fill_diagonal(between, np.inf)
    radius = np.quantile(between.min(1), 0.95)
    to_real = distances(drawn, x)
    near = to_real.min(1) < radius
    digit = t[to_real.argmin(1)]
    found = [d for d in range(10) if (digit[near] == d).sum() >= 5]
    print(f'{near.mean():.3f} of {len(drawn)} are near a real digit; digits found: {found}')
    return near.mean() * len(found) / 10


def main():
    args = parse_args(__doc__, epochs=12, batch_size=48)
    images, t = chainer.dataset.concat_examples(chainer.datasets.get_digits()[0])
    x = images.reshape(-1, 64)
    gen, dis = Generator().to_device(args.device), Discriminator().to_device(args.device)
    gen_optimizer, dis_optimizer = make_optimizer(gen), make_optimizer(dis)
    reporter = chainer.Reporter()
    reporter.add_observer('dis', dis)
    reporter.add_observer('gen', gen)
    images = gen.device.send(images)

    def step(batch):
        y_real = dis(images[batch])
        x_fake = gen(gen.device.send(gen.make_hidden(len(batch))))
        y_fake = dis(x_fake)
        # One forward pass for both: the second backward pass sees the first update.
        with reporter.scope({}):
            dis_optimizer.update(loss_dis, dis, y_fake, y_real)
            gen_optimizer.update(loss_gen, gen, y_fake)
            return [reporter.observation[f'{name}/loss'].array for name in ('dis', 'gen')]

    losses = run_batches(step, len(x), args)
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        drawn = to_numpy(gen(gen.device.send(gen.make_hidden(500))).array).reshape(-1, 64)
    score = judge(x, t, drawn)
    if not args.no_plots:
        rows = [('real', x[:12]), *(('drawn', drawn[i : i + 12]) for i in range(0, 60, 12))]
        save_digits(args.out, 'dcgan.png', losses, rows, ['discriminator', 'generator'])
    finish(args, 'Score', score, at_least=0.2)


if __name__ == '__main__':
    main()
