"""A variational autoencoder whose codes, images and prior are distributions."""

import chainer
import chainer.distributions as D
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import training
from chainer.training import extensions

N_PIXELS, N_CODE, N_DRAWS, WEIGHT_OF_KL = 12, 2, 2, 0.8


class StandardNormal(chainer.Link):
    """A prior that moves to devices and is saved with the model."""

    def __init__(self):
        super().__init__()
        self.add_persistent('loc', np.zeros(N_CODE, np.float32))
        self.add_persistent('scale', np.ones(N_CODE, np.float32))

    def forward(self):
        return D.Normal(self.loc, scale=self.scale)


class Autoencoder(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.look = L.Linear(N_PIXELS, 6)
            self.code = L.Linear(6, 2 * N_CODE)
            self.draw = L.Linear(N_CODE, 6)
            self.pixels = L.Linear(6, N_PIXELS)
            self.prior = StandardNormal()

    def encode(self, x):
        loc, log_scale = F.split_axis(self.code(F.tanh(self.look(x))), 2, axis=1)
        return D.Normal(loc, log_scale=log_scale)

    def decode(self, z):
        axes = z.ndim - 1
        h = F.tanh(self.draw(z, n_batch_axes=axes))
        pixels = D.Bernoulli(logit=self.pixels(h, n_batch_axes=axes), binary_check=False)
        return D.Independent(pixels, 1)

    def forward(self, x):
        codes = self.encode(x)
        # Drawn by NumPy for all devices, instead of codes.sample(N_DRAWS).
        noise = np.random.normal(size=(N_DRAWS, *codes.batch_shape)).astype(np.float32)
        pictures = self.decode(codes.loc + codes.scale * self.xp.asarray(noise))
        fit = F.mean(pictures.log_prob(F.broadcast_to(x, (N_DRAWS, *x.shape))))
        kl = F.mean(F.sum(chainer.kl_divergence(codes, self.prior()), axis=-1))
        loss = WEIGHT_OF_KL * kl - fit
        chainer.report({'loss': loss, 'fit': fit, 'kl': kl}, self)
        return loss


def train(device, start, iterations=3):
    x = (np.random.uniform(size=(20, N_PIXELS)) > 0.5).astype(np.float32)
    model = Autoencoder()
    model.to_device(device)
    start(model=model, x=x[:5], random_state=np.random.get_state())
    optimizer = chainer.optimizers.Adam(0.01)
    optimizer.setup(model)
    batches, again = (
        chainer.iterators.SerialIterator(x, 5, repeat=repeat, shuffle=False)
        for repeat in (True, False)
    )
    updater = training.updaters.StandardUpdater(batches, optimizer, device=device)
    trainer = training.Trainer(updater, (iterations, 'iteration'), out=chainer.config.out)
    trainer.extend(
        extensions.Evaluator(again, model, device=device), trigger=(iterations, 'iteration')
    )
    trainer.extend(extensions.LogReport(trigger=(1, 'iteration')))
    trainer.extend(extensions.PrintReport(['iteration', 'main/loss', 'validation/main/loss']))
    trainer.run()
    log = trainer.get_extension('LogReport').log
    rows = [[entry[f'main/{key}'] for key in ('loss', 'fit', 'kl')] for entry in log]
    return [*rows, [log[-1]['validation/main/loss']]]
