"""Host cost of chainer on chainerx: functions on variables, a network as a Chain, user functions.

The peer of the rows is PyTorch with a graph; that of the user's function is chainerx's own figure
divided by real Chainer 7.8.1, which runs in an environment of its own (numpy 1.23) and is named by
``$CHAINER_V7_PYTHON``; without it the row is left out.
"""

import functools
import itertools
import os
import subprocess
import sys

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
import numpy as np
import torch
from harness import Result, ceiling_of, float32, main

FUNCTIONS = {  # name -> (chainer, torch)
    'F.add': ('add(x, y)', 'add(x, y)'),
    'F.relu': ('relu(x)', 'relu(x)'),
    'x[0]': ('x[0]', 'x[0]'),
    'x.T': ('x.T', 'x.T'),
    'x.reshape(3, 2)': ('x.reshape(3, 2)', 'x.reshape(3, 2)'),
    'x.sum()': ('x.sum()', 'x.sum()'),
    'x * 2.0': ('x * 2.0', 'x * 2.0'),
    'F.dropout': ('dropout(x)', 'dropout(x)'),
    'F.softmax_cross_entropy': ('loss(x, t)', 'loss(x, t)'),
}

KINDS = {'chainerx': chainerx.array, 'numpy': lambda a: a}


def functions(bench):
    (_, tx, nx), (_, ty, ny) = float32(2, 3), float32(2, 3, seed=1)
    theirs = {'x': tx.requires_grad_(), 'y': ty.requires_grad_()}
    nt = np.array([0, 2], np.int32)
    theirs.update(
        add=torch.add,
        relu=torch.relu,
        dropout=torch.nn.functional.dropout,
        loss=torch.nn.functional.cross_entropy,
        t=torch.tensor(nt.astype(np.int64)),
    )
    for kind, convert in KINDS.items():
        ours = {'x': chainer.Variable(convert(nx)), 'y': chainer.Variable(convert(ny))}
        ours.update(add=F.add, relu=F.relu, dropout=F.dropout)
        ours.update(loss=F.softmax_cross_entropy, t=convert(nt))
        for name, (our, their) in FUNCTIONS.items():
            bench.row(
                f'{name}, {kind}',
                {'chainerx': our, 'torch': their},
                {'chainerx': ours, 'torch': theirs},
            )


def scopes(bench):
    bench.row(
        'no_backprop_mode',
        {'chainerx': 'with scope(): pass', 'torch': 'with scope(): pass'},
        {'chainerx': {'scope': chainer.no_backprop_mode}, 'torch': {'scope': torch.no_grad}},
    )


def gru_step(h, x, reset_x, reset_h, update_x, update_h, new_x, new_h):
    linear, sigmoid = chainerx.linear, chainerx.sigmoid
    r = sigmoid(linear(x, *reset_x) + linear(h, *reset_h))
    z = sigmoid(linear(x, *update_x) + linear(h, *update_h))
    new = chainerx.tanh(linear(x, *new_x) + linear(r * h, *new_h))
    return z * new + (h - z * h)


def links(bench):
    """Calls of links with chainerx arrays, without a graph, against the routines below them."""

    def draw(*shape):
        return chainerx.array(np.random.default_rng(0).uniform(-1, 1, shape).astype(np.float32))

    def row(name, link, routine, variables):
        bench.row(
            name,
            {'chainerx': link, 'routine': routine},
            {'chainerx': variables, 'routine': variables},
            against='routine',
            scope={'chainerx': chainer.no_backprop_mode, 'routine': chainerx.no_backprop_mode},
        )

    linear = L.Linear(16, 16).to_device('native:0')
    variables = {'link': linear, 'x': draw(1, 16), 'w': linear.W.array, 'b': linear.b.array}
    row('L.Linear, 16 units', 'link(x)', 'f(x, w, b)', variables | {'f': chainerx.linear})
    lstm = L.LSTM(16, 16).to_device('native:0')
    lstm(draw(1, 16))
    variables = {'link': lstm, 'x': draw(1, 16), 'c': draw(1, 16), 'h': draw(1, 16)}
    variables |= {'f': chainerx.lstm, 'linear': chainerx.linear}
    variables |= {'w': lstm.upward.W.array, 'b': lstm.upward.b.array, 'u': lstm.lateral.W.array}
    row('L.LSTM, 16 units', 'link(x)', 'f(c, linear(x, w, b) + linear(h, u))', variables)
    gru = L.StatefulGRU(16, 16).to_device('native:0')
    gru(draw(1, 16))
    variables = {'link': gru, 'x': draw(1, 16), 'h': draw(1, 16), 'step': gru_step}
    layers = (gru.W_r, gru.U_r, gru.W_z, gru.U_z, gru.W, gru.U)
    variables['parameters'] = [(layer.W.array, layer.b.array) for layer in layers]
    row('L.StatefulGRU, 16 units', 'link(x)', 'step(h, x, *parameters)', variables)
    zoneout = L.StatefulZoneoutLSTM(16, 16).to_device('native:0')
    zoneout(draw(1, 16))
    variables = {'link': zoneout, 'x': draw(1, 16), 'c': draw(1, 16), 'h': draw(1, 16)}
    variables |= {'f': zoneout_step, 'w': zoneout.upward.W.array, 'b': zoneout.upward.b.array}
    variables['u'] = zoneout.lateral.W.array
    row('L.StatefulZoneoutLSTM, 16 units', 'link(x)', 'f(c, h, x, w, b, u)', variables)
    tree = L.ChildSumTreeLSTM(16, 16).to_device('native:0')
    variables = {name: draw(1, 16) for name in ('c1', 'c2', 'h1', 'h2', 'x')}
    variables |= {'link': tree, 'f': child_sum, 'w': tree.W_x.W.array, 'b': tree.W_x.b.array}
    variables |= {'u': tree.W_h_aio.W.array, 'v': tree.W_h_f.W.array}
    call = '(c1, c2, h1, h2, x'
    row('L.ChildSumTreeLSTM, 16 units', f'link{call})', f'f{call}, w, b, u, v)', variables)
    tree = L.NaryTreeLSTM(16, 16).to_device('native:0')
    variables |= {'link': tree, 'f': chainerx.tree_lstm, 'w': tree.W_x.W.array}
    variables |= {'b': tree.W_x.b.array, 'u': tree.W_h1.W.array, 'v': tree.W_h2.W.array}
    variables['linear'] = chainerx.linear
    routine = 'f(c1, c2, linear(x, w, b) + linear(h1, u) + linear(h2, v))'
    row('L.NaryTreeLSTM, 16 units', f'link{call})', routine, variables)
    for n, steps in ((1, '1 step'), (50, '50 steps')):
        link = L.NStepLSTM(1, 16, 16, 0.0).to_device('native:0')
        variables = {
            'link': link,
            'h': draw(1, 1, 16),
            'c': draw(1, 1, 16),
            'sequence': [draw(n, 16)],
        }
        variables['ws'], variables['bs'] = (
            [[p.array for p in params] for params in lists] for lists in (link.ws, link.bs)
        )
        variables |= {'f': chainerx.n_step_lstm, 'steps': [draw(1, 16) for _ in range(n)]}
        name = f'L.NStepLSTM, 16 units, {steps}'
        row(name, 'link(h, c, sequence)', 'f(1, h, c, ws, bs, steps)', variables)
        if n == 1:
            name += ', no first states'
            zeros = 'f(1, zeros((1, 1, 16)), zeros((1, 1, 16)), ws, bs, steps)'
            variables['zeros'] = functools.partial(chainerx.zeros, dtype='float32')
            row(name, 'link(None, None, sequence)', zeros, variables)


def child_sum(c1, c2, h1, h2, x, w, b, aio, f):
    linear = chainerx.linear
    gates, forget = chainerx.split(linear(x, w, b), [48], 1)
    gates = gates + linear(h1 + h2, aio)
    gates = chainerx.concatenate([gates, forget + linear(h1, f), forget + linear(h2, f)], 1)
    return chainerx.tree_lstm(c1, c2, gates)


def zoneout_step(c, h, x, w, b, u):
    next_c, next_h = chainerx.lstm(c, chainerx.linear(x, w, b) + chainerx.linear(h, u))
    where, uniform = chainerx.where, chainerx.random.uniform
    c = where(uniform(0, 1, c.shape, 'float32', c.device, 1) < 0.5, c, next_c)
    return c, where(uniform(0, 1, h.shape, 'float32', h.device, 2) < 0.5, h, next_h)


class MLP(chainer.Chain):
    def __init__(self, sizes):
        super().__init__()
        with self.init_scope():
            self.l1 = L.Linear(sizes[0], sizes[1])
            self.l2 = L.Linear(sizes[1], sizes[2])
            self.l3 = L.Linear(sizes[2], sizes[3])

    def forward(self, x):
        h = F.relu(self.l1(x))
        h = F.relu(self.l2(h))
        return self.l3(h)


def networks(bench):
    for sizes in ((16, 16, 16, 10), (784, 8, 8, 10)):
        rng = np.random.default_rng(0)
        x = rng.uniform(0, 1, (1, sizes[0])).astype(np.float32)
        t = rng.integers(0, sizes[-1], 1)
        layers = []
        for n_in, n_out in itertools.pairwise(sizes):
            layers += [torch.nn.Linear(n_in, n_out), torch.nn.ReLU()]
        their_model = torch.nn.Sequential(*layers[:-1])
        tx, tt = torch.tensor(x), torch.tensor(t)

        def their_step(model=their_model, tx=tx, tt=tt):
            loss = torch.nn.functional.cross_entropy(model(tx), tt)
            model.zero_grad(set_to_none=True)
            loss.backward()
            return loss

        for kind, convert in KINDS.items():
            model = MLP(sizes)
            for p, theirs in zip(
                (model.l1.W, model.l1.b, model.l2.W, model.l2.b, model.l3.W, model.l3.b),
                their_model.parameters(),
                strict=True,
            ):
                p.array[...] = theirs.detach().numpy()
            if kind == 'chainerx':
                model.to_device('native:0')
            ours = convert(x), convert(t.astype(np.int32))

            def step(model=model, x=ours[0], t=ours[1]):
                loss = F.softmax_cross_entropy(model(x), t)
                model.cleargrads()
                loss.backward()
                return loss

            difference = abs(float(step().item()) - their_step().item())
            if difference > 1e-5:
                raise RuntimeError(f'the peers do not compute the same: {difference}')
            name = '-'.join(map(str, sizes))
            variables = {'chainerx': {'step': step}, 'torch': {'step': their_step}}
            statements = {'chainerx': 'step()', 'torch': 'step()'}
            bench.row(f'Chain {name}, {kind}', statements, variables)
            with chainer.function_hooks.TimerHook() as hook:

                def clear(hook=hook):
                    hook.call_history.clear()

                variables['chainerx']['clear'] = clear
                bench.row(
                    f'Chain {name}, {kind}, TimerHook',
                    {'chainerx': 'step(); clear()', 'torch': 'step()'},
                    variables,
                )


# Runs here and in Chainer v7: forward and backward of a user-defined function.
ROUND_TRIP = """
import sys, time, numpy as np, chainer
class Multiply(chainer.FunctionNode):
    def forward(self, inputs):
        self.retain_inputs((0, 1))
        return inputs[0] * inputs[1],
    def backward(self, indexes, grad_outputs):
        a, b = self.get_retained_inputs()
        return grad_outputs[0] * b, grad_outputs[0] * a
a, b, g = (np.ones((2, 3), np.float32) for _ in range(3))
x, y = chainer.Variable(a), chainer.Variable(b)
def step():
    z, = Multiply().apply((x, y))
    z.grad = g
    x.cleargrad()
    y.cleargrad()
    z.backward()
best = 1e9
for _ in range(20):
    start = time.perf_counter()
    for _ in range(100):
        step()
    best = min(best, (time.perf_counter() - start) / 100)
print(best)
"""


def user_function(bench):
    """Uses two processes alternately, as the two Chainers can't be in one."""
    v7 = os.environ.get('CHAINER_V7_PYTHON')
    if not v7:
        print('user FunctionNode: left out, $CHAINER_V7_PYTHON is not set')
        return
    name = 'user FunctionNode, round trip'
    times = {'chainerx': [], 'chainer 7.8.1': []}
    for _ in range(3):
        for peer, python in zip(times, (sys.executable, v7), strict=True):
            environment = dict(os.environ)
            if peer != 'chainerx':
                environment.pop('PYTHONPATH', None)
            output = subprocess.run(
                [python, '-W', 'ignore', '-c', ROUND_TRIP],
                capture_output=True,
                text=True,
                check=True,
                env=environment,
            ).stdout
            times[peer].append(float(output))
    best = {peer: min(t) for peer, t in times.items()}
    median = {peer: sorted(t)[1] for peer, t in times.items()}
    against = 'chainer 7.8.1'
    ceiling = ceiling_of(bench.section, name)
    bench.add(Result(bench.section, name, 1, against, ceiling, best, median))


def rows(bench):
    """Functions on variables, networks as Chains, and a user's function."""
    functions(bench)
    scopes(bench)
    links(bench)
    networks(bench)
    user_function(bench)


if __name__ == '__main__':
    main(rows, 'chainer_overhead', rounds=40)
