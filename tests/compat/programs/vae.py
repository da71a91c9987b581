"""A variational autoencoder on distributions, with a prior that is a link, and StandardUpdater."""

import chainer
import chainer.distributions as D
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import reporter, training
from chainer.training import extensions

N_IN, N_LATENT = 12, 2


class Encoder(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.linear = L.Linear(N_IN, 6)
            self.mu = L.Linear(6, N_LATENT)
            self.ln_sigma = L.Linear(6, N_LATENT)

    def forward(self, x):
        h = F.tanh(self.linear(x))
        return D.Normal(loc=self.mu(h), log_scale=self.ln_sigma(h))


class Decoder(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.linear = L.Linear(N_LATENT, 6)
            self.output = L.Linear(6, N_IN)

    def forward(self, z):
        n_batch_axes = z.ndim - 1
        h = F.tanh(self.linear(z, n_batch_axes=n_batch_axes))
        h = self.output(h, n_batch_axes=n_batch_axes)
        return D.Independent(D.Bernoulli(logit=h, binary_check=False), reinterpreted_batch_ndims=1)


class Prior(chainer.Link):
    def __init__(self):
        super().__init__()
        self.loc = np.zeros(N_LATENT, np.float32)
        self.scale = np.ones(N_LATENT, np.float32)
        self.register_persistent('loc')
        self.register_persistent('scale')

    def forward(self):
        return D.Normal(self.loc, scale=self.scale)


class AvgELBOLoss(chainer.Chain):
    """The negative evidence lower bound, with k draws of each latent variable."""

    def __init__(self, encoder, decoder, prior, beta, k):
        super().__init__()
        self.beta, self.k = beta, k
        with self.init_scope():
            self.encoder, self.decoder, self.prior = encoder, decoder, prior

    def __call__(self, x):
        q_z = self.encoder(x)
        # Drawn by NumPy for all devices; q_z.sample(k) would do.
        noise = np.random.normal(size=(self.k, *q_z.batch_shape)).astype(np.float32)
        z = q_z.loc + q_z.scale * self.xp.asarray(noise)
        p_z = self.prior()
        reconstruction = F.mean(self.decoder(z).log_prob(F.broadcast_to(x, (self.k, *x.shape))))
        kl_penalty = F.mean(F.sum(chainer.kl_divergence(q_z, p_z), axis=-1))
        loss = -(reconstruction - self.beta * kl_penalty)
        reporter.report({'loss': loss, 'rec': reconstruction, 'kl': kl_penalty}, self)
        return loss


def train(device, start, iterations=3):
    x = (np.random.uniform(size=(20, N_IN)) > 0.5).astype(np.float32)
    model = AvgELBOLoss(Encoder(), Decoder(), Prior(), beta=0.8, k=2)
    model.to_device(device)
    start(model=model, x=x[:5], random_state=np.random.get_state())
    optimizer = chainer.optimizers.Adam(0.01)
    optimizer.setup(model)
    updater = training.updaters.StandardUpdater(
        chainer.iterators.SerialIterator(x, 5, shuffle=False), optimizer, device=device
    )
    trainer = training.Trainer(updater, (iterations, 'iteration'), out=chainer.config.out)
    test_iterator = chainer.iterators.SerialIterator(x, 5, repeat=False, shuffle=False)
    trainer.extend(
        extensions.Evaluator(test_iterator, model, device=device), trigger=(iterations, 'iteration')
    )
    trainer.extend(extensions.LogReport(trigger=(1, 'iteration')))
    trainer.extend(
        extensions.PrintReport(['iteration', 'main/loss', 'main/rec', 'validation/main/loss'])
    )
    trainer.run()
    log = trainer.get_extension('LogReport').log
    losses = [[entry['main/loss'], entry['main/rec'], entry['main/kl']] for entry in log]
    return [*losses, [log[-1]['validation/main/loss']]]
