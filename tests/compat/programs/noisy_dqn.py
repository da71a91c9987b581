"""A DQN that explores by noise in its layers, with a target network and a replay buffer."""

import collections
import random

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer.backends import cuda

N_STATES, N_ACTIONS = 4, 3


class FactorizedNoisyLinear(chainer.Chain):
    """Weights with noise of rank 1, of learned size."""

    def __init__(self, mu_link, sigma_scale=0.4):
        super().__init__()
        self._kernel = None
        self.out_size, in_size = mu_link.W.shape
        scale = in_size**-0.5
        with self.init_scope():
            self.mu = L.Linear(
                in_size, self.out_size, initialW=chainer.initializers.Uniform(scale=scale)
            )
            self.sigma = L.Linear(
                in_size,
                self.out_size,
                initialW=chainer.initializers.Constant(sigma_scale * scale),
                initial_bias=chainer.initializers.Constant(sigma_scale * scale),
            )
        device_id = mu_link._device_id
        if device_id is not None:
            self.to_gpu(device_id)

    def noise(self, size):
        r = self.xp.asarray(np.random.normal(size=size).astype(np.float32))
        return self.xp.copysign(self.xp.sqrt(self.xp.abs(r)), r)

    def forward(self, x):
        with cuda.get_device_from_id(self._device_id):
            in_size = self.sigma.W.shape[1]
            eps = self.noise(in_size + self.out_size)
            eps_in, eps_out = eps[:in_size], eps[in_size:]
            W = self.mu.W + self.sigma.W * self.xp.outer(eps_out, eps_in)
            b = self.mu.b + self.sigma.b * eps_out
            return F.linear(x, W, b)


def to_factorized_noisy(chain):
    """Replaces the linear layers of a chain."""
    for name, link in list(chain.namedlinks()):
        if isinstance(link, L.Linear):
            setattr(chain, name.lstrip('/'), FactorizedNoisyLinear(link))


class DuelingQ(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.hidden = L.Linear(N_STATES, 8)
            self.advantage = L.Linear(8, N_ACTIONS)
            self.value = L.Linear(8, 1)

    def forward(self, x):
        h = F.relu(self.hidden(x))
        advantage = self.advantage(h)
        mean = F.sum(advantage, axis=1, keepdims=True) / N_ACTIONS
        advantage, mean = F.broadcast(advantage, mean)
        value, advantage = F.broadcast(self.value(h), advantage - mean)
        return value + advantage


class Corridor:
    """An environment: walk to the right end."""

    def reset(self):
        self.place, self.steps = 0, 0
        return self.observe()

    def observe(self):
        state = np.zeros(N_STATES, np.float32)
        state[self.place] = 1
        return state

    def step(self, action):
        self.steps += 1
        self.place = int(np.clip(self.place + (action - 1), 0, N_STATES - 1))
        end = self.place == N_STATES - 1
        return self.observe(), float(end), end or self.steps == 8


Transition = collections.namedtuple('Transition', 'state action reward next_state done')


class Agent:
    def __init__(self, q, optimizer, gamma=0.9, target_update=2):
        self.q, self.optimizer, self.gamma = q, optimizer, gamma
        self.target_q = q.copy(mode='copy')
        self.target_update = target_update
        self.memory = collections.deque(maxlen=100)
        self.updates = 0

    @property
    def xp(self):
        return self.q.xp

    def act(self, state):
        with chainer.no_backprop_mode(), chainer.using_config('train', False):
            q = self.q(self.xp.asarray(state[None]))
        return int(self.xp.argmax(q.array, axis=1)[0])

    def batch(self, transitions):
        stack = [np.stack(column) for column in zip(*transitions)]
        dtypes = np.float32, np.int32, np.float32, np.float32, np.float32
        return [self.xp.asarray(x.astype(t)) for x, t in zip(stack, dtypes)]

    def loss(self, state, action, reward, next_state, done):
        y = F.select_item(self.q(state), action)
        with chainer.no_backprop_mode():
            best = F.argmax(self.q(next_state), axis=1)
            target = F.select_item(self.target_q(next_state), best)
            t = reward + self.gamma * (1 - done) * target.array
        return F.sum(F.huber_loss(F.reshape(y, (-1, 1)), F.reshape(t, (-1, 1)), 1.0)) / len(y)

    def update(self, transitions):
        loss = self.loss(*self.batch(transitions))
        self.q.cleargrads()
        loss.backward()
        self.optimizer.update()
        self.updates += 1
        if self.updates % self.target_update == 0:
            self.target_q.copyparams(self.q)
        return float(loss.array)


def train(device, start, iterations=4):
    q = DuelingQ()
    to_factorized_noisy(q)
    q.to_device(device)
    optimizer = chainer.optimizers.RMSpropGraves(lr=0.01, alpha=0.95, momentum=0.0, eps=1e-2)
    optimizer.setup(q)
    agent = Agent(q, optimizer)
    environment = Corridor()
    draw = random.Random(0)
    losses = []
    state = environment.reset()
    while len(losses) < iterations:
        action = agent.act(state)
        next_state, reward, done = environment.step(action)
        agent.memory.append(Transition(state, action, reward, next_state, done))
        state = environment.reset() if done else next_state
        if len(agent.memory) >= 10:
            transitions = draw.sample(list(agent.memory), 5)
            if not losses:
                start(
                    q=q,
                    target=agent.target_q,
                    batch=agent.batch(transitions),
                    random_state=np.random.get_state(),
                )
            losses.append([agent.update(transitions)])
    return losses
