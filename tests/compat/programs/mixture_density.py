"""A mixture density network, for the inverse of a function that is not injective."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np

N_MIX, N_DIM = 3, 2


class MDN(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(None, 6)
            self.coef = L.Linear(6, N_MIX)
            self.mu = L.Linear(6, N_MIX * N_DIM)
            self.ln_var = L.Linear(6, N_MIX)

    def forward(self, x):
        h = F.tanh(self.l1(x))
        mu = F.reshape(self.mu(h), (-1, N_MIX, N_DIM))
        return F.softmax(self.coef(h)), mu, self.ln_var(h)

    def negative_log_likelihood(self, x, y):
        coef, mu, ln_var = self(x)
        mu, y = F.broadcast(mu, F.reshape(y, (-1, 1, N_DIM)))
        exponent = -0.5 * F.exp(-ln_var) * F.sum((y - mu) ** 2, axis=2)
        normalizer = -0.5 * N_DIM * (ln_var + self.xp.log(2 * np.pi))
        log_prob = F.logsumexp(F.log(coef) + normalizer + exponent, axis=1)
        return F.mean(-log_prob)

    def sample(self, x):
        coef, mu, ln_var = self(x)
        n = x.shape[0]
        coef = chainer.get_device('@numpy').send(coef.array)
        chosen = [int(np.searchsorted(np.cumsum(p), 0.5)) for p in coef]
        mu = F.get_item(mu, [range(n), chosen])
        ln_var = F.get_item(ln_var, [range(n), chosen])
        ln_var = F.broadcast_to(F.expand_dims(ln_var, 1), mu.shape)
        # Zero noise instead of F.gaussian, so that results can be compared.
        noise = self.xp.zeros_like(mu.array)
        return mu + F.exp(0.5 * ln_var) * noise


def train(device, start, iterations=4):
    t = np.random.uniform(-1, 1, (12, N_DIM)).astype(np.float32)
    x = (t + 0.3 * np.sin(6 * t)).astype(np.float32)
    model = MDN().to_device(device)
    x, t = device.send((x, t))
    model(x)  # infers input sizes
    start(model=model, x=x, t=t)
    optimizer = chainer.optimizers.NesterovAG(0.05).setup(model)
    losses = []
    for _ in range(iterations):
        losses.append([float(model.negative_log_likelihood(x, t).array)])
        optimizer.update(model.negative_log_likelihood, x, t)
    with chainer.using_config('enable_backprop', False):
        losses.append([float(F.sum(model.sample(x)).array)])
    return losses
