"""Recurrent actor-critic agents (A3C): states are kept over steps, and a local model is a copy."""

import collections.abc
import copy

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np

N_IN, N_UNITS, N_ACTIONS, T_MAX, GAMMA, BETA = 3, 5, 2, 4, 0.9, 1e-2


def unchain_backward(states):
    """States are variables, None, or a nest of them."""
    if isinstance(states, collections.abc.Iterable):
        for state in states:
            unchain_backward(state)
    elif isinstance(states, chainer.Variable):
        states.unchain_backward()


class Model(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.head = L.Linear(N_IN, N_UNITS)
            self.lstm = L.LSTM(N_UNITS, N_UNITS)
            self.pi = L.Linear(N_UNITS, N_ACTIONS, initialW=chainer.initializers.Normal(0.1))
            self.v = L.Linear(N_UNITS, 1)

    def pi_and_v(self, x):
        h = self.lstm(F.relu(self.head(x)))
        return self.pi(h), self.v(h)

    def get_state(self):
        return (), (None, (self.lstm.c, self.lstm.h))

    def set_state(self, states):
        _, (_, (c, h)) = states
        if c is None:
            self.lstm.reset_state()
        else:
            self.lstm.set_state(c, h)

    def unchain(self):
        unchain_backward(self.get_state())

    def reset_state(self):
        self.lstm.reset_state()


def copy_param(target, source):
    """Copies values, not links: the target keeps its states."""
    target_params = dict(target.namedparams())
    for name, param in source.namedparams():
        target_params[name].array[...] = param.array


def copy_grad(target, source):
    target_params = dict(target.namedparams())
    for name, param in source.namedparams():
        if param.grad is None:
            target_params[name].grad = None
        elif target_params[name].grad is None:
            target_params[name].grad = param.grad.copy()
        else:
            target_params[name].grad[...] = param.grad


class Chain1D:
    """An environment in which the last observation must be remembered."""

    def __init__(self, seed):
        self.random = np.random.RandomState(seed)

    def reset(self):
        self.goal, self.t = self.random.randint(N_ACTIONS), 0
        return self.observe()

    def observe(self):
        x = np.zeros(N_IN, np.float32)
        x[self.goal if self.t == 0 else -1] = 1
        return x

    def step(self, action):
        self.t += 1
        done = self.t == 6
        return self.observe(), (1.0 if action == self.goal else -0.5), done


class Agent:
    def __init__(self, shared_model, optimizer, seed):
        self.shared_model, self.optimizer = shared_model, optimizer
        self.model = copy.deepcopy(shared_model)
        self.random = np.random.RandomState(seed)
        self.forget()

    def forget(self):
        self.log_probs, self.entropies, self.values, self.rewards = [], [], [], []

    def act(self, x):
        logit, v = self.model.pi_and_v(self.model.xp.asarray(x[None]))
        probs = chainer.get_device('@numpy').send(F.softmax(logit).array)[0]
        action = int(self.random.uniform() > probs[0])
        log_prob = F.log_softmax(logit)
        self.log_probs.append(log_prob[0, action])
        self.entropies.append(-F.sum(F.exp(log_prob) * log_prob, axis=1)[0])
        self.values.append(v[0, 0])
        return action

    def update(self, next_x):
        """Losses of the steps since the last update; next_x is None at the end of an episode."""
        ret = 0.0
        if next_x is not None:
            state = self.model.get_state()
            with chainer.no_backprop_mode():
                _, v = self.model.pi_and_v(self.model.xp.asarray(next_x[None]))
            self.model.set_state(state)
            ret = float(v.array[0, 0])
        pi_loss, v_loss = 0, 0
        for i in reversed(range(len(self.rewards))):
            ret = self.rewards[i] + GAMMA * ret
            advantage = ret - self.values[i]
            pi_loss -= self.log_probs[i] * float(advantage.array) + BETA * self.entropies[i]
            v_loss += (ret - self.values[i]) ** 2 / 2
        loss = pi_loss + F.reshape(v_loss, pi_loss.shape) * 0.5
        self.model.cleargrads()
        loss.backward()
        self.shared_model.cleargrads()
        copy_grad(self.shared_model, self.model)
        self.optimizer.update()
        copy_param(self.model, self.shared_model)
        self.model.unchain()
        self.forget()
        return float(loss.array)


def train(device, start, iterations=5):
    shared_model = Model()
    shared_model.to_device(device)
    optimizer = chainer.optimizers.RMSprop(lr=7e-3, alpha=0.99, eps=1e-1).setup(shared_model)
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(40))
    agents = [Agent(shared_model, optimizer, seed) for seed in range(2)]
    environments = [Chain1D(seed) for seed in range(2)]
    xs = [environment.reset() for environment in environments]
    seen, actions = [], []
    losses = []
    while len(losses) < iterations:
        for i, (agent, environment) in enumerate(zip(agents, environments)):
            done = False
            while not done and len(agent.rewards) < T_MAX:
                action = agent.act(xs[i])
                if not losses:
                    seen.append(xs[i])
                    actions.append((action, environment.goal))
                xs[i], reward, done = environment.step(action)
                agent.rewards.append(reward)
            if not losses:
                seen.append(xs[i])
                start(model=shared_model, seen=seen, actions=actions)
            losses.append([agent.update(None if done else xs[i])])
            if done:
                agent.model.reset_state()
                xs[i] = environment.reset()
    return losses
