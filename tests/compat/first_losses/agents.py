"""Programs that learn by acting."""

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
        h = nn.linear(s, 'q/l2', np.tanh(nn.linear(s, 'q/l1', x)))
        return nn.softmax(h.reshape(-1, 2, 5), axis=2)

    z = np.linspace(-1, 2, 5)
    losses = []
    for state, action, reward, next_state, end in zip(*s['batch'], strict=True):
        after = q(next_state)[0]
        after = after[(after @ z).argmax()]
        # The share of an atom falls off linearly to both sides.
        y = np.clip(reward + 0.9 * (1 - end) * z, -1, 2)
        share = np.maximum(1 - abs(y[:, None] - z) / 0.75, 0)
        losses.append(-(after @ share) @ np.log(q(state)[0, action]))
    return [np.mean(losses)]


def actor_critic(s):
    c = h = np.zeros((1, 5))
    values, log_probs = [], []
    for x in s['seen']:
        x = np.maximum(nn.linear(s, 'model/head', x[None]), 0)
        c, h = nn.lstm(s, 'model/lstm', c, h, x)
        values.append(nn.linear(s, 'model/v', h)[0, 0])
        log_probs.append(nn.log_softmax(nn.linear(s, 'model/pi', h))[0])
    ret = values[-1]
    loss = 0
    for i, (action, goal) in reversed(list(enumerate(s['actions']))):
        ret = (1.0 if action == goal else -0.5) + 0.9 * ret
        entropy = -(np.exp(log_probs[i]) * log_probs[i]).sum()
        advantage = ret - values[i]
        loss += advantage**2 / 4 - log_probs[i][action] * advantage - 1e-2 * entropy
    return [loss]
