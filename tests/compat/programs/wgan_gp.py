"""WGAN with gradient penalty: the gradient's norm is part of the loss (double backprop)."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np

LAMBDA = 10.0


class Generator(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(2, 8)
            self.l2 = L.Linear(8, 3)

    def forward(self, z):
        return self.l2(F.tanh(self.l1(z)))


class Critic(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(3, 7)
            self.ln = L.LayerNormalization(7)
            self.l2 = L.Linear(7, 1)

    def forward(self, x):
        return self.l2(F.softplus(self.ln(self.l1(x))))


def critic_loss(critic, real, fake, eps):
    xp = critic.xp
    between = chainer.Variable(eps * real + (1.0 - eps) * fake)
    (grad,) = chainer.grad([critic(between)], [between], enable_double_backprop=True)
    norm = F.sqrt(F.batch_l2_norm_squared(grad))
    penalty = F.mean_squared_error(norm, xp.ones_like(norm.array))
    return F.average(critic(fake) - critic(real)) + LAMBDA * penalty


def train(device, start, iterations=4):
    data = np.random.normal(2, 1, (30, 3)).astype(np.float32)
    iterator = chainer.iterators.SerialIterator(data, 6, shuffle=False)
    gen, critic = Generator(), Critic()
    gen.to_device(device)
    critic.to_device(device)
    gen_optimizer = chainer.optimizers.RMSprop(lr=1e-2).setup(gen)
    critic_optimizer = chainer.optimizers.Adam(alpha=1e-2, beta1=0.5, beta2=0.9).setup(critic)
    losses = []
    for iteration in range(iterations):
        real = chainer.dataset.concat_examples(iterator.next(), device)
        z = device.send(np.random.normal(size=(6, 2)).astype(np.float32))
        eps = device.send(np.random.uniform(size=(6, 1)).astype(np.float32))
        if iteration == 0:
            start(gen=gen, critic=critic, x=real, z=z, eps=eps)
        with chainer.no_backprop_mode():
            fake = gen(z).array
        loss = critic_loss(critic, real, fake, eps)
        critic_optimizer.target.cleargrads()
        loss.backward()
        critic_optimizer.update()
        losses.append([float(loss.array)])
        if iteration % 2 == 1:
            loss_gen = -F.average(critic(gen(z)))
            gen.cleargrads()
            critic.cleargrads()
            loss_gen.backward()
            loss_gen.unchain_backward()
            gen_optimizer.update()
            losses.append([float(loss_gen.array)])
    iterator.finalize()
    return losses
