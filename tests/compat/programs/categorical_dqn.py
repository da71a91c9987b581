"""A categorical DQN: values are distributions over atoms; targets are projected on the atoms."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np

N_STATES, N_ACTIONS, N_ATOMS, V_MIN, V_MAX, GAMMA = 3, 2, 5, -1.0, 2.0, 0.9


class DistributionalQ(chainer.Chain):
    def __init__(self):
        super().__init__()
        self.z_values = np.linspace(V_MIN, V_MAX, N_ATOMS, dtype=np.float32)
        self.register_persistent('z_values')
        with self.init_scope():
            self.l1 = L.Linear(N_STATES, 6, initialW=chainer.initializers.LeCunNormal())
            self.l2 = L.Linear(6, N_ACTIONS * N_ATOMS)

    def forward(self, x):
        h = F.reshape(self.l2(F.tanh(self.l1(x))), (-1, N_ACTIONS, N_ATOMS))
        return F.softmax(h, axis=2)

    def greedy(self, x):
        with chainer.no_backprop_mode():
            q = F.sum(F.scale(self(x), self.z_values, axis=2), axis=2)
        return q.array.argmax(axis=1).astype(np.int32)


def project(xp, y, y_probs, z):
    """The distribution on atoms z of a distribution on points y, by linear interpolation."""
    batch = len(y)
    delta = (V_MAX - V_MIN) / (N_ATOMS - 1)
    y = xp.clip(y, V_MIN, V_MAX)
    place = (y - V_MIN) / delta
    low = xp.clip(xp.floor(place), 0, N_ATOMS - 1)
    high = xp.clip(xp.ceil(place), 0, N_ATOMS - 1)
    rows = xp.broadcast_to(xp.arange(batch)[:, None], y.shape)
    result = F.scatter_add(
        xp.zeros((batch, N_ATOMS), dtype=np.float32),
        (rows, low.astype(np.int32)),
        y_probs * (1 + low - place),
    )
    result = F.scatter_add(result, (rows, high.astype(np.int32)), y_probs * (place - low))
    return result.array


class Agent:
    def __init__(self, device):
        self.device = device
        self.q = DistributionalQ().to_device(device)
        self.target_q = self.q.copy()
        self.target_q.to_device(device)
        self.optimizer = chainer.optimizers.Adam(1e-2, eps=1e-3)
        self.optimizer.setup(self.q)

    def compute_loss(self, state, action, reward, next_state, terminal):
        xp = self.q.xp
        z = self.q.z_values
        with chainer.using_config('train', False), chainer.no_backprop_mode():
            best = self.q.greedy(next_state)
            next_probs = self.target_q(next_state).array[xp.arange(len(best)), best]
        y = reward[:, None] + GAMMA * (1 - terminal[:, None]) * z[None]
        t = project(xp, y, next_probs, z)
        probs = F.get_item(self.q(state), (xp.arange(len(action)), action))
        eltwise = -t * F.log(F.clip(probs, 1e-10, 1.0))
        priorities = F.sum(eltwise, axis=1)
        return F.mean(priorities), priorities.array

    def update(self, *batch):
        loss, priorities = self.compute_loss(*batch)
        self.q.cleargrads()
        loss.backward()
        self.optimizer.update()
        return float(loss.array), chainer.get_device('@numpy').send(priorities)


def train(device, start, iterations=3):
    agent = Agent(device)
    n = 12
    states = np.eye(N_STATES, dtype=np.float32)
    place = np.random.randint(N_STATES, size=n)
    action = np.random.randint(N_ACTIONS, size=n).astype(np.int32)
    after = (place + action * 2 - 1) % N_STATES
    reward = (after == 0).astype(np.float32)
    columns = states[place], action, reward, states[after], reward
    weights = np.ones(n)
    losses = []
    for iteration in range(iterations):
        chosen = np.random.choice(n, 4, replace=False, p=weights / weights.sum())
        batch = [device.send(column[chosen]) for column in columns]
        if iteration == 0:
            start(q=agent.q, batch=batch)
        loss, priorities = agent.update(*batch)
        # Equal rows have priorities that differ in the last bits only: rounded, they draw alike.
        weights[chosen] = np.round(priorities, 3) + 0.1
        if iteration % 2 == 1:
            agent.target_q.copyparams(agent.q)
        losses.append([loss])
    losses.append([float(agent.q.greedy(device.send(states)).sum())])
    return losses
