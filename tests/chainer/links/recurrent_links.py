"""`Linear` and the recurrent links built on it, called in both ways.

With a hook for all links, each layer and function is called separately.
"""

from __future__ import annotations

import contextlib

import chainer
import numpy as np
from chainer import links as L
from devices import to_numpy

UNITS = 2


class Looking(chainer.LinkHook):
    """A hook that does nothing, but makes links call each layer separately."""

    name = 'looking'


WAYS = {'by layers': Looking, 'at once': contextlib.nullcontext}

LINKS = {
    'LSTM': lambda: L.LSTM(3, UNITS),
    'StatelessLSTM': lambda: L.StatelessLSTM(3, UNITS),
    'StatefulGRU': lambda: L.StatefulGRU(3, UNITS),
    'GRU': lambda: L.GRU(3, UNITS),
    'StatelessGRU': lambda: L.StatelessGRU(3, UNITS),
    'StatefulMGU': lambda: L.StatefulMGU(3, UNITS),
    'StatelessMGU': lambda: L.StatelessMGU(3, UNITS),
    'StatefulPeepholeLSTM': lambda: L.StatefulPeepholeLSTM(3, UNITS),
    'StatefulZoneoutLSTM': lambda: L.StatefulZoneoutLSTM(3, UNITS),
    'ChildSumTreeLSTM': lambda: L.ChildSumTreeLSTM(3, UNITS),
    'ChildSumTreeLSTM_leaf': lambda: L.ChildSumTreeLSTM(3, UNITS),
    'NaryTreeLSTM': lambda: L.NaryTreeLSTM(3, UNITS),
    'NaryTreeLSTM_leaf': lambda: L.NaryTreeLSTM(3, UNITS, 3),
    'NaryTreeLSTM_half': lambda: L.NaryTreeLSTM(3, UNITS),
    'Linear': lambda: L.Linear(3, UNITS),
}


def class_of(name):
    return getattr(L, name.partition('_')[0])


# A selection, for tests that need not cover each link.
FEW = ['Linear', 'LSTM', 'StatelessGRU', 'ChildSumTreeLSTM']
STATEFUL = [name for name in LINKS if hasattr(class_of(name), 'reset_state')]
# Cells and outputs of children: an array, or None.
CHILDREN = {
    'ChildSumTreeLSTM': (True, True, True, True),
    'ChildSumTreeLSTM_leaf': (),
    'NaryTreeLSTM': (True, True, True, True),
    'NaryTreeLSTM_leaf': (False,) * 6,
    'NaryTreeLSTM_half': (True, False, False, True),
}


def make(name, device='@numpy', dtype='f'):
    np.random.seed(0)
    with chainer.using_config('dtype', dtype):
        link = LINKS[name]()
    for param in link.params():
        param.array[...] = np.random.uniform(-1, 1, param.shape)
    link.to_device(device)
    link.row = name
    return link


def draw(link, *shape, dtype='f'):
    return link.device.send(np.random.uniform(-1, 1, shape).astype(dtype))


def leaves(y):
    return [v for part in y for v in leaves(part)] if isinstance(y, (list, tuple)) else [y]


def arguments(link, rows=2, dtype='f'):
    """The arguments of one call."""
    x = draw(link, rows, 3, dtype=dtype)
    if link.row in CHILDREN:
        has_arrays = CHILDREN[link.row]
        children = [draw(link, rows, UNITS, dtype=dtype) if has else None for has in has_arrays]
        return [*children, x]
    of_cells = {L.StatelessLSTM: 2, L.StatelessGRU: 1, L.StatelessMGU: 1}
    states = next((n for cls, n in of_cells.items() if isinstance(link, cls)), 0)
    return [draw(link, rows, UNITS, dtype=dtype) for _ in range(states)] + [x]


def children_of(link):
    return list(link.children()) or [link]


def state_of(link):
    return [getattr(link, name) for name in getattr(link, '_states', ())]


def reset(link):
    if hasattr(link, 'reset_state'):
        link.reset_state()


def of_steps(name, change=lambda link: link, backprop=False, **kwargs):
    """The last outputs after a change between the steps, in both ways of calling."""
    found = []
    for scope in WAYS.values():
        link = make(name, **kwargs)
        with scope(), chainer.using_config('enable_backprop', backprop):
            np.random.seed(1)
            link(*arguments(link))
            link(*arguments(link))
            np.random.seed(2)
            link = change(link) or link
            np.random.seed(3)
            found.append([to_numpy(v) for v in leaves(link(*arguments(link)))])
    return found
