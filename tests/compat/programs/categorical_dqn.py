"""A categorical DQN: the value of an action is a distribution over a grid."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np

N_STATES, N_ACTIONS, N_VALUES, LOW, HIGH, DISCOUNT = 3, 2, 5, -1.0, 2.0, 0.9


class ValueDistributions(chainer.Chain):
    def __init__(self):
        super().__init__()
        self.grid = np.linspace(LOW, HIGH, N_VALUES, dtype=np.float32)
        self.register_persistent('grid')
        init = chainer.initializers.LeCunNormal()
        with self.init_scope():
            self.net = chainer.Sequential(
                L.Linear(N_STATES, 6, initialW=init), F.tanh, L.Linear(6, N_ACTIONS * N_VALUES)
            )

    def forward(self, state):
        """Probabilities (batch, action, value)."""
        return F.softmax(F.reshape(self.net(state), (-1, N_ACTIONS, N_VALUES)), axis=2)

    def best(self, state):
        """The actions with the largest mean value."""
        with chainer.no_backprop_mode():
            worth = F.sum(F.scale(self(state), self.grid, axis=2), axis=2)
        return worth.array.argmax(axis=1).astype(np.int32)


def onto_grid(values, probs):
    """Distributes each probability to the two grid points around its value."""
    xp = chainer.backend.get_array_module(values)
    place = (xp.clip(values, LOW, HIGH) - LOW) * ((N_VALUES - 1) / (HIGH - LOW))
    left = xp.clip(xp.floor(place), 0, N_VALUES - 2)
    share = place - left
    row = xp.broadcast_to(xp.arange(len(place))[:, None], place.shape)
    total = xp.zeros_like(probs)
    for step, part in enumerate((1 - share, share)):
        total = F.scatter_add(total, (row, left.astype(np.int32) + step), probs * part)
    return total.array


def losses_of(model, slow_model, state, action, reward, after, end):
    """One loss per step."""
    every = model.xp.arange(len(action))
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        probs = slow_model(after).array[every, model.best(after)]
    values = reward[:, None] + DISCOUNT * (1 - end)[:, None] * model.grid
    chosen = F.get_item(model(state), (every, action))
    return -F.sum(onto_grid(values, probs) * F.log(F.clip(chosen, 1e-10, 1.0)), axis=1)


def train(device, start, iterations=3):
    model = ValueDistributions()
    model.to_device(device)
    slow_model = model.copy(mode='share')
    assert slow_model.net[0].W.array is model.net[0].W.array
    slow_model = model.copy(mode='copy')
    optimizer = chainer.optimizers.Adam(1e-2, eps=1e-3).setup(model)

    n = 12
    one_hot = np.eye(N_STATES, dtype=np.float32)
    place = np.random.randint(N_STATES, size=n)
    action = np.random.randint(N_ACTIONS, size=n).astype(np.int32)
    after = (place + np.where(action == 1, 1, -1)) % N_STATES
    reward = (after == 0).astype(np.float32)
    memory = one_hot[place], action, reward, one_hot[after], reward
    priorities = np.ones(n)
    rows = []
    for i in range(iterations):
        drawn = np.random.choice(n, 4, replace=False, p=priorities / priorities.sum())
        batch = [device.send(column[drawn]) for column in memory]
        if i == 0:
            start(model=model, batch=batch)
        losses = losses_of(model, slow_model, *batch)
        optimizer.update(F.mean, losses)
        # Losses of equal steps differ in the last bits only; rounding makes draws equal.
        priorities[drawn] = np.round(chainer.get_device('@numpy').send(losses.array), 3) + 0.1
        if i % 2 == 1:
            slow_model.copyparams(model)
        rows.append([float(F.mean(losses).array)])
    return [*rows, [float(model.best(device.send(one_hot)).sum())]]
