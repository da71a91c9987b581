"""Learn to draw digits with a variational autoencoder, written with chainer.distributions.

The pixels of 1,797 real digits are black or white; the score is the evidence lower bound of digits
that were not trained on, in nats. (Independent pixels with the mean brightness get -25.)

    python examples/vae.py
    python examples/vae.py --device @numpy --latent 8
"""

import chainer
import chainer.distributions as D
import chainer.functions as F
import chainer.links as L
import numpy as np
from _plots import save_digits
from _programs import finish, parse_args, run_batches, to_numpy


class Encoder(chainer.Chain):
    def __init__(self, n_latent, n_hidden):
        super().__init__()
        with self.init_scope():
            self.hidden = L.Linear(64, n_hidden)
            self.mu = L.Linear(n_hidden, n_latent)
            self.ln_sigma = L.Linear(n_hidden, n_latent)

    def forward(self, x):
        h = F.tanh(self.hidden(x))
        return D.Independent(D.Normal(loc=self.mu(h), log_scale=self.ln_sigma(h)), 1)


class Decoder(chainer.Chain):
    def __init__(self, n_latent, n_hidden):
        super().__init__()
        with self.init_scope():
            self.hidden = L.Linear(n_latent, n_hidden)
            self.out = L.Linear(n_hidden, 64)

    def forward(self, z):
        h = F.tanh(self.hidden(F.reshape(z, (-1, z.shape[-1]))))
        y = F.reshape(self.out(h), (*z.shape[:-1], 64))
        return D.Independent(D.Bernoulli(logit=y), 1)


class Prior(chainer.Link):
    """A fixed normal distribution on the device of the model."""

    def __init__(self, n_latent):
        super().__init__()
        self.loc = np.zeros(n_latent, np.float32)
        self.scale = np.ones(n_latent, np.float32)
        self.register_persistent('loc')
        self.register_persistent('scale')

    def forward(self):
        return D.Independent(D.Normal(self.loc, scale=self.scale), 1)


class VAE(chainer.Chain):
    def __init__(self, n_latent=4, n_hidden=128):
        super().__init__()
        with self.init_scope():
            self.encoder = Encoder(n_latent, n_hidden)
            self.decoder = Decoder(n_latent, n_hidden)
            self.prior = Prior(n_latent)

    def forward(self, x, n_samples=1):
        """The evidence lower bound of each row, from a number of samples."""
        q = self.encoder(x)
        z = q.sample(n_samples)
        likelihood = self.decoder(z).log_prob(F.broadcast_to(x[None], (n_samples, *x.shape)))
        return F.mean(likelihood, axis=0) - chainer.kl_divergence(q, self.prior())


def main():
    options = [('--latent', {'type': int, 'default': 6, 'help': 'numbers that make a digit'})]
    args = parse_args(__doc__, epochs=40, batch_size=32, more=options)
    digits = chainer.datasets.get_digits(withlabel=False, ndim=1)
    x_train, x_test = ((part > 0.4).astype(np.float32) for part in digits)
    model = VAE(args.latent).to_device(args.device)
    optimizer = chainer.optimizers.Adam(3e-3).setup(model)
    x_train, x_test = model.device.send(x_train), model.device.send(x_test)

    def step(batch):
        loss = -F.mean(model(x_train[batch]))
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss.array

    losses = run_batches(step, len(x_train), args)
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        bound = float(F.mean(model(x_test, n_samples=8)).array)
        again = model.decoder(model.encoder(x_test[:12]).mean).mean
        drawn = model.decoder(model.prior().sample(12)).mean
    if not args.no_plots:
        rows = [('given', x_test[:12]), ('decoded', again.array), ('drawn', drawn.array)]
        rows = [(title, to_numpy(images)) for title, images in rows]
        save_digits(args.out, 'vae.png', losses, rows)
    finish(args, 'Evidence lower bound of 360 other digits', bound, at_least=-19.5)


if __name__ == '__main__':
    main()
