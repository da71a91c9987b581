"""Graphs, mixtures, metrics, meta-learning, and custom functions."""

import numpy as np

from . import _layers as nn


def graph_network(s):
    losses = []
    name = 'model/guess'
    width = s['atoms'].shape[1]
    for atoms, bonds, t in zip(s['atoms'], s['bonds'], s['t'], strict=True):
        x = np.where(atoms[:, None] == 0, 0, s[f'{name}/elements/W'][atoms])
        state = np.zeros((width, 4))
        gru = f'{name}/gated/remember'
        for _ in range(2):
            said = sum(bonds[k] @ nn.linear(s, f'{name}/gated/say/{k}', x) for k in range(2))
            x = np.concatenate([x, said], axis=1)
            r, z = (
                nn.sigmoid(nn.linear(s, f'{gru}/W_{g}', x) + nn.linear(s, f'{gru}/U_{g}', state))
                for g in 'rz'
            )
            new = nn.linear(s, f'{gru}/W', x) + nn.linear(s, f'{gru}/U', r * state)
            x = state = (1 - z) * state + z * np.tanh(new)
        both = bonds.sum(axis=0)
        both /= np.maximum(both.sum(axis=1, keepdims=True), 1)
        x = x + np.maximum(nn.linear(s, f'{name}/mean/linear', both @ x), 0)
        found, c, h = np.zeros((1, 8)), np.zeros((1, 4)), np.zeros((1, 4))
        for _ in range(2):
            c, h = nn.lstm(s, f'{name}/readout/ask', c, h, found)
            found = np.concatenate([h, nn.softmax(h @ x.T) @ x], axis=1)
        losses.append(nn.linear(s, f'{name}/out', found)[0] - t)
    return [np.square(losses).mean(), np.abs(losses).mean()]


def learned_optimizer(s):
    names = [f'{link}/{key}' for link in ('l1', 'l2') for key in ('W', 'b')]
    weights = {name: s[f'optimizee/{name}'] for name in names}
    states = {name: (np.zeros((w.size, 4)),) * 2 for name, w in weights.items()}
    total = 0

    def loss(weights):
        h = np.tanh(nn.linear(weights, 'l1', s['x']))
        return nn.cross_entropies(nn.linear(weights, 'l2', h), s['t']).mean()

    for _ in range(3):
        total += loss(weights)
        slopes = {
            name: nn.slope(lambda w, name=name, at=weights: loss({**at, name: w}), weights[name])
            for name in names
        }
        moved = {}
        for name, g in slopes.items():
            g = g.reshape(-1)
            large = abs(g) > np.exp(-5)
            log = np.where(large, np.log(np.maximum(abs(g), 1e-8)) / 5, -1)
            x = np.stack([log, np.where(large, np.sign(g), np.exp(5) * g)], axis=1)
            states[name] = nn.lstm(s, 'learned/lstm', *states[name], x)
            step = nn.linear(s, 'learned/out', states[name][1])
            moved[name] = weights[name] + 0.1 * step.reshape(weights[name].shape)
        weights = moved
    return [total]


def mixture_density(s):
    h = np.tanh(nn.linear(s, 'model/l1', s['x']))
    coef, mu, ln_var = (nn.linear(s, f'model/{name}', h) for name in ('coef', 'mu', 'ln_var'))
    square = ((mu.reshape(-1, 3, 2) - s['t'][:, None]) ** 2).sum(axis=2)
    density = np.exp(-0.5 * square / np.exp(ln_var)) / (2 * np.pi * np.exp(ln_var))
    return [-np.log((nn.softmax(coef) * density).sum(axis=1)).mean()]


def metric_learning(s):
    def embed(x):
        h = nn.leaky_relu(nn.linear(s, 'model/embedding/0', x.reshape(len(x), -1)))
        return nn.unit(nn.linear(s, 'model/embedding/1', h))

    x0, x1, same = s['pairs']
    d = np.linalg.norm(embed(x0) - embed(x1), axis=1)
    siamese = np.where(same, d**2, np.maximum(1.5 - d, 0) ** 2).mean() / 2
    anchor, positive, negative = (embed(x) for x in s['triplets'])
    near, far = (((anchor - y) ** 2).sum(axis=1) for y in (positive, negative))
    triplet = np.maximum(near - far + 0.5, 0).mean() + 0.1 * abs(anchor - positive).mean()
    return [siamese, triplet]


def maml(s):
    names = [f'{link}/{key}' for link in ('l1', 'l2') for key in ('W', 'b')]

    def loss(weights, x, t):
        y = nn.linear(weights, 'l2', np.tanh(nn.linear(weights, 'l1', x)))
        return ((y - t) ** 2).mean()

    losses = []
    for task, query in s['tasks']:
        weights = {name: s[f'model/{name}'] for name in names}
        for _ in range(2):
            slopes = {
                name: nn.slope(
                    lambda w, name=name, at=weights, task=task: loss({**at, name: w}, *task),
                    weights[name],
                )
                for name in names
            }
            weights = {name: weights[name] - 0.1 * slopes[name] for name in names}
        losses.append(loss(weights, *query))
    return [np.mean(losses)]


def custom_function(s):
    h = nn.linear(s, 'model/l1', s['x'])
    h = h * nn.sigmoid(s['model/swish/beta'] * h)
    label, domain = (nn.linear(s, f'model/{name}', h) for name in ('label', 'domain'))
    return [(nn.cross_entropies(label, s['t']) + nn.cross_entropies(domain, s['d'])).mean()]
