"""Recurrent actor-critic workers, each with its own copy and states, train one shared model."""

import collections.abc
import copy

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np

N_IN, N_UNITS, N_STEPS, DISCOUNT, BONUS = 3, 5, 4, 0.9, 1e-2


def cut(states):
    """Unchains states: variables, None, or nested ones."""
    if isinstance(states, collections.abc.Iterable):
        for state in states:
            cut(state)
    elif isinstance(states, chainer.Variable):
        states.unchain_backward()


class Player(chainer.Chain):
    """Takes one observation at a time; returns logits of two actions, and a value."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.see = L.Linear(N_IN, N_UNITS)
            self.remember = L.LSTM(N_UNITS, N_UNITS)
            self.choose = L.Linear(N_UNITS, 2, initialW=chainer.initializers.Normal(0.1))
            self.judge = L.Linear(N_UNITS, 1)

    @property
    def states(self):
        return [None, (self.remember.c, self.remember.h)]

    def forward(self, x):
        h = self.remember(F.relu(self.see(self.xp.asarray(x[None]))))
        return self.choose(h), self.judge(h)[0, 0]

    def foresee(self, x):
        """The value of the next observation, without a change of the states."""
        cell, out = self.remember.c, self.remember.h
        with chainer.no_backprop_mode():
            _, value = self(x)
        self.remember.set_state(cell, out)
        return float(value.array)


class Recall:
    """An environment whose reward is for repeating the first observation's action."""

    length = 6

    def __init__(self, seed):
        self.random = np.random.RandomState(seed)
        self.begin()

    def begin(self):
        self.goal, self.t = self.random.randint(2), 0

    def observation(self):
        return np.eye(N_IN, dtype=np.float32)[self.goal if self.t == 0 else 2]

    def reward(self, action):
        self.t += 1
        return 1.0 if action == self.goal else -0.5


class Worker:
    def __init__(self, shared, optimizer, seed):
        self.shared, self.optimizer = shared, optimizer
        self.player = copy.deepcopy(shared)
        self.world = Recall(seed)
        self.random = np.random.RandomState(seed)

    def play(self):
        """Plays some steps; returns them, the last observation, and whether the episode is over."""
        steps, seen = [], []
        while len(steps) < N_STEPS and self.world.t < Recall.length:
            seen.append(self.world.observation())
            logits, value = self.player(seen[-1])
            right = chainer.get_device('@numpy').send(F.softmax(logits).array)[0, 1]
            action = int(self.random.uniform() < right)
            log_probs = F.log_softmax(logits)[0]
            bonus = -BONUS * F.sum(F.exp(log_probs) * log_probs)
            steps.append((self.world.reward(action), log_probs[action], bonus, value))
        return steps, seen, self.world.t == Recall.length

    def loss(self, steps, future):
        total = 0
        for reward, log_prob, bonus, value in steps[::-1]:
            future = reward + DISCOUNT * future
            surprise = future - value
            total += 0.25 * surprise**2 - bonus - log_prob * float(surprise.array)
        return total

    def learn(self, loss):
        """Updates the shared model with the worker's gradients."""
        mine, common = (dict(link.namedparams()) for link in (self.player, self.shared))
        self.player.cleargrads()
        loss.backward()
        for path, param in common.items():
            param.grad = None if mine[path].grad is None else mine[path].grad.copy()
        self.optimizer.update()
        for path, param in mine.items():  # not copyparams: states stay
            param.array[...] = common[path].array


def train(device, start, iterations=5):
    shared = Player().to_device(device)
    optimizer = chainer.optimizers.RMSprop(lr=7e-3, alpha=0.99, eps=1e-1).setup(shared)
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(40))
    workers = [Worker(shared, optimizer, seed) for seed in range(2)]
    losses = []
    while len(losses) < iterations:
        worker = workers[len(losses) % 2]
        steps, seen, over = worker.play()
        last = worker.world.observation()
        loss = worker.loss(steps, 0.0 if over else worker.player.foresee(last))
        if not losses:
            rewards = [reward for reward, *_ in steps]
            start(model=shared, seen=[*seen, last], rewards=rewards, goal=worker.world.goal)
        worker.learn(loss)
        cut(worker.player.states)
        if over:
            worker.player.remember.reset_state()
            worker.world.begin()
        losses.append([float(loss.array)])
    return losses
