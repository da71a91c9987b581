"""Reinforcement learning programs."""

import numpy as np

from . import _layers as nn


def noisy_dqn(s):
    random = np.random.RandomState()
    random.set_state(s['random_state'])

    def noisy(name, x):
        center, spread = s[f'{name}/center/W'], s[f'{name}/spread/W']
        r = random.normal(size=sum(center.shape))
        r = np.sign(r) * np.sqrt(abs(r))
        e_in, e_out = r[: center.shape[1]], r[center.shape[1] :]
        b = s[f'{name}/center/b'] + s[f'{name}/spread/b'] * e_out
        return x @ (center + spread * np.outer(e_out, e_in)).T + b

    def values(name, x):
        h = np.maximum(noisy(f'{name}/look', x), 0)
        actions = noisy(f'{name}/actions', h)
        return noisy(f'{name}/state', h) + actions - actions.mean(axis=1, keepdims=True)

    state, action, reward, then, end = s['batch']
    rows = np.arange(len(action))
    chosen = values('values', state)[rows, action]
    best = values('values', then).argmax(axis=1)
    aim = reward + 0.9 * (1 - end) * values('slow', then)[rows, best]
    d = abs(chosen - aim)
    return [np.where(d < 1, d**2 / 2, d - 0.5).mean()]


def categorical_dqn(s):
    def q(x):
        h = nn.linear(s, 'model/net/1', np.tanh(nn.linear(s, 'model/net/0', x)))
        return nn.softmax(h.reshape(-1, 2, 5), axis=2)

    z = np.linspace(-1, 2, 5)
    losses = []
    for state, action, reward, next_state, end in zip(*s['batch'], strict=True):
        after = q(next_state)[0]
        after = after[(after @ z).argmax()]
        # The weight of an atom decreases linearly on both sides.
        y = np.clip(reward + 0.9 * (1 - end) * z, -1, 2)
        share = np.maximum(1 - abs(y[:, None] - z) / 0.75, 0)
        losses.append(-(after @ share) @ np.log(q(state)[0, action]))
    return [np.mean(losses)]


def actor_critic(s):
    c = h = np.zeros((1, 5))
    values, log_probs = [], []
    for x in s['seen']:
        x = np.maximum(nn.linear(s, 'model/see', x[None]), 0)
        c, h = nn.lstm(s, 'model/remember', c, h, x)
        values.append(nn.linear(s, 'model/judge', h)[0, 0])
        log_probs.append(nn.log_softmax(nn.linear(s, 'model/choose', h))[0])
    future = values[-1]
    loss = 0
    for reward, value, log_prob in list(zip(s['rewards'], values, log_probs, strict=False))[::-1]:
        future = reward + 0.9 * future
        action = s['goal'] if reward > 0 else 1 - s['goal']
        entropy = -(np.exp(log_prob) * log_prob).sum()
        surprise = future - value
        loss += surprise**2 / 4 - log_prob[action] * surprise - 1e-2 * entropy
    return [loss]
