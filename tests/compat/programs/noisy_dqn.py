"""A DQN with noisy layers for exploration, a target network and a replay buffer."""

import collections
import random

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer.backends import cuda

N_STATES, N_ACTIONS = 4, 3


class NoisyLinear(chainer.Chain):
    """A layer with factorized noise on its weights, whose scale is learned."""

    def __init__(self, plain, share=0.4):
        super().__init__()
        outs, ins = plain.W.shape
        bound = ins**-0.5
        size = chainer.initializers.Constant(share * bound)
        with self.init_scope():
            self.center = L.Linear(ins, outs, initialW=chainer.initializers.Uniform(bound))
            self.spread = L.Linear(ins, outs, initialW=size, initial_bias=size)
        if plain._device_id is not None:
            self.to_gpu(plain._device_id)

    def draw(self, n):
        r = self.xp.asarray(np.random.normal(size=n).astype(np.float32))
        return self.xp.copysign(self.xp.sqrt(self.xp.abs(r)), r)

    def forward(self, x):
        center, spread = self.center, self.spread
        with cuda.get_device_from_id(self._device_id):
            outs, ins = spread.W.shape
            noise = self.draw(ins + outs)
            W = center.W + spread.W * self.xp.outer(noise[ins:], noise[:ins])
            return F.linear(x, W, center.b + spread.b * noise[ins:])


class Values(chainer.Chain):
    """Dueling values: the value of the state plus the centered advantage of each action."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.look = L.Linear(N_STATES, 8)
            self.actions = L.Linear(8, N_ACTIONS)
            self.state = L.Linear(8, 1)

    def make_noisy(self):
        for path, link in list(self.namedlinks(skipself=True)):
            setattr(self, path[1:], NoisyLinear(link))

    def forward(self, x):
        h = F.relu(self.look(x))
        actions = self.actions(h)
        actions -= F.broadcast_to(F.mean(actions, axis=1, keepdims=True), actions.shape)
        return sum(F.broadcast(self.state(h), actions))


class Corridor:
    """An environment whose goal is to walk to the right end."""

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


Step = collections.namedtuple('Step', 'state action reward then end')


class Player:
    """Acts by the values of a network, and trains it from a replay buffer."""

    discount, period = 0.9, 2

    def __init__(self, values, optimizer):
        self.values, self.optimizer = values, optimizer
        self.slow = values.copy(mode='copy')
        self.memory = collections.deque(maxlen=100)

    def choose(self, state):
        with chainer.no_backprop_mode(), chainer.using_config('train', False):
            values = self.values(self.values.xp.asarray(state[None]))
        return int(values.xp.argmax(values.array, axis=1)[0])

    def columns(self, steps):
        dtypes = Step(np.float32, np.int32, np.float32, np.float32, np.float32)
        xp = self.values.xp
        return Step(*(xp.asarray(np.stack(x).astype(d)) for x, d in zip(zip(*steps), dtypes)))

    def improve(self, steps):
        s = self.columns(steps)
        chosen = F.select_item(self.values(s.state), s.action)
        with chainer.no_backprop_mode():
            best = F.argmax(self.values(s.then), axis=1)
            later = F.select_item(self.slow(s.then), best).array
        aim = s.reward + self.discount * (1 - s.end) * later
        loss = F.sum(F.huber_loss(chosen[:, None], aim[:, None], 1.0)) / len(steps)
        self.values.cleargrads()
        loss.backward()
        self.optimizer.update()
        if self.optimizer.t % self.period == 0:
            self.slow.copyparams(self.values)
        return float(loss.array)


def train(device, start, iterations=4):
    values = Values()
    values.make_noisy()
    values.to_device(device)
    optimizer = chainer.optimizers.RMSpropGraves(lr=0.01, alpha=0.95, momentum=0.0, eps=1e-2)
    player = Player(values, optimizer.setup(values))
    corridor = Corridor()
    draw = random.Random(0)
    losses = []
    state = corridor.reset()
    while len(losses) < iterations:
        action = player.choose(state)
        then, reward, end = corridor.step(action)
        player.memory.append(Step(state, action, reward, then, end))
        state = corridor.reset() if end else then
        if len(player.memory) >= 10:
            steps = draw.sample(list(player.memory), 5)
            if not losses:
                batch = list(player.columns(steps))
                numbers = np.random.get_state()
                start(values=values, slow=player.slow, batch=batch, random_state=numbers)
            losses.append([player.improve(steps)])
    return losses
