"""GANs, flows and an autoencoder."""

import numpy as np

from . import _layers as nn


def sn_gan(s):
    def normalized(name):
        W = s[f'critic/{name}/W']
        matrix = W.reshape(len(W), -1)
        v = s[f'critic/{name}/W_u'].reshape(-1) @ matrix
        v /= np.linalg.norm(v)
        return W / np.linalg.norm(matrix @ v)

    h = nn.standardize(nn.linear(s, 'maker/seed', s['z']).reshape(-1, 5, 2, 2), (0, 2, 3), 2e-5)
    affine = s['maker/norm/affine/W'][s['classes']].reshape(-1, 2, 5, 1, 1)
    h = np.maximum(h * affine[:, 0] + affine[:, 1], 0).repeat(2, axis=2).repeat(2, axis=3)
    fake = np.tanh(nn.conv(s, 'maker/draw', h, pad=1))
    h = nn.convolve(fake, normalized('look'), s['critic/look/b'], stride=2, pad=1)
    h = nn.leaky_relu(h).sum(axis=(2, 3))
    y = h @ normalized('real')[0] + s['critic/real/b']
    y += (normalized('fit')[s['classes']] * h).sum(axis=1)
    return [-y.mean()]


def dcgan(s):
    random = np.random.RandomState()
    random.set_state(s['random_state'])

    def shaken(h):
        return h + 0.2 * random.standard_normal(h.shape)

    def judge(x):
        h = nn.leaky_relu(shaken(nn.conv(s, 'judge/fine', shaken(x), pad=1)))
        h = nn.batch_norm(s, 'judge/norm', nn.conv(s, 'judge/coarse', h, stride=2, pad=1))
        return nn.linear(s, 'judge/verdict', nn.leaky_relu(shaken(h)).reshape(len(x), -1))

    real = judge(s['x'])
    h = nn.batch_norm(s, 'painter/1', nn.linear(s, 'painter/0', s['z']))
    h = nn.deconv(s, 'painter/2', np.maximum(h, 0).reshape(5, 4, 2, 2), 2, 1)
    h = np.maximum(nn.batch_norm(s, 'painter/3', h), 0)
    fake = judge(nn.sigmoid(nn.deconv(s, 'painter/4', h, 1, 1)))
    return [nn.softplus(-fake).mean(), (nn.softplus(-real) + nn.softplus(fake)).mean()]


def wgan_gp(s):
    def critic(x):
        h = nn.layer_norm(s, 'critic/ln', nn.linear(s, 'critic/l1', x))
        return nn.linear(s, 'critic/l2', nn.softplus(h))

    fake = nn.linear(s, 'gen/l2', np.tanh(nn.linear(s, 'gen/l1', s['z'])))
    between = s['eps'] * s['x'] + (1 - s['eps']) * fake
    norms = np.linalg.norm(nn.slope(lambda x: critic(x).sum(), between), axis=1)
    return [(critic(fake) - critic(s['x'])).mean() + 10 * ((norms - 1) ** 2).mean()]


def vae(s):
    x = s['x']
    h = nn.linear(s, 'model/code', np.tanh(nn.linear(s, 'model/look', x)))
    mu, ln_sigma = np.split(h, 2, axis=1)
    random = np.random.RandomState()
    random.set_state(s['random_state'])
    z = mu + np.exp(ln_sigma) * random.normal(size=(2, *mu.shape))
    h = nn.linear(s, 'model/pixels', np.tanh(nn.linear(s, 'model/draw', z)))
    fit = (x * h - nn.softplus(h)).sum(axis=2).mean()
    kl = (0.5 * (mu**2 + np.exp(2 * ln_sigma) - 1) - ln_sigma).sum(axis=1).mean()
    return [0.8 * kl - fit, fit, kl]


def autoregressive_flow(s):
    x = s['x']
    log_det = 0
    for i in range(3):
        masked = {
            f'{part}/{key}': s[f'flow/{i}/{part}/{key}'] for part in _MADE for key in ('W', 'b')
        }
        for part in _MADE:
            masked[f'{part}/W'] = masked[f'{part}/W'] * s[f'flow/{i}/{part}/mask']
        h = nn.linear(masked, 'hidden', x)
        h = np.where(h < 0, np.expm1(h), h)
        alpha = np.tanh(nn.linear(masked, 'alpha', h))
        x = (x - nn.linear(masked, 'mu', h)) * np.exp(-alpha)
        log_det = log_det - alpha.sum(axis=1)
    log_prob = log_det - 0.5 * (x**2).sum(axis=1) - 1.5 * np.log(2 * np.pi)
    return [-log_prob.mean()]


_MADE = 'hidden', 'mu', 'alpha'


def glow(s):
    x = s['x'].reshape(3, 2, 2, 2, 2).transpose(0, 2, 4, 1, 3).reshape(3, 4, 2, 2)
    log_det = 0
    for i in (0, 3):
        std = np.sqrt(x.var(axis=(0, 2, 3), keepdims=True)) + 1e-6
        x = (x - x.mean(axis=(0, 2, 3), keepdims=True)) / std
        if i == 0:
            W = s['flow/1/kernel'][:, :, 0, 0]
        else:
            halves, diagonal = s['flow/4/halves'], s['flow/4/signs'] * np.exp(s['flow/4/sizes'])
            W = (np.tril(halves, -1) + np.eye(4)) @ (np.triu(halves, 1) + np.diag(diagonal))
        x = np.einsum('oi,bihw->bohw', W, x)
        log_det += 4 * (np.log(abs(np.linalg.det(W))) - np.log(std).sum())
        kept, changed = x[:, :2], x[:, 2:]
        name = f'flow/{i + 2}'
        h = nn.conv(s, f'{name}/tell', np.maximum(nn.conv(s, f'{name}/read', kept, pad=1), 0))
        gain = nn.sigmoid(h[:, :2] + 2)
        x = np.concatenate([kept, (changed + h[:, 2:]) * gain], axis=1)
        log_det += np.log(gain).sum() / 3
    return [0.5 * (x**2 + np.log(2 * np.pi)).sum() / 3 - log_det]
