"""Measures how many bytes a graph keeps alive, in Chainer v7 and here.

A call is made and the caller drops its arrays; the bytes that are still allocated are kept by
the graph. `data/make_v7_retained.py` runs this in Chainer 7.8.1 and notes the figures,
`test_retained.py` runs it here and compares.
"""

import dataclasses
import tracemalloc

import chainer.functions as F
import numpy as np
from chainer import Variable
from functions.cases import CASES
from functions.cases._table import Arg, Call, Case, c, call, f, own, seeded

# What the caller still holds. It matters: a function that keeps its output costs nothing while the
# output is in use.
HELD = ('inputs and outputs', 'outputs', 'nothing', 'inputs')
_NUMPY = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)


def _ids(*shape, hi=2):
    return own('int32', *shape, lo=0, hi=hi)


def _get(name, fn, *calls, **kw):
    return Case(f'x[{name}]', fn=fn, calls=list(calls), **kw)


# Calls without a v7 figure to compare with.
NOT_IN_V7 = {
    'softmax(<32x48x64>, axis=[0, -1])': 'v7 takes no tuple',
    'softmax(<2x3x4>, axis=[0, -1])': 'v7 takes no tuple',
    'log_softmax(<32x48x64>, axis=[0, -1])': 'v7 takes no tuple',
    'log_softmax(<2x3x4>, axis=[0, -1])': 'v7 takes no tuple',
    'dropout(<>, mask=<>)': 'fails: its mask is a number then',
    'rrelu(<2x3>, r=<2x3>)': 'wrong gradients where slopes are negative',
    'permutate(<4x3>, <3 int32 [2, 0, 1]>, axis=-1, inv=True)': 'the result has another shape',
    'zoneout(<>, <>, 1)': 'fails: random numbers without axes are no array',
    'convolution_2d(<1x1x3x3>, <1x1x2x2>, cudnn_fast=True)': 'on GPUs alone',
    'connectionist_temporal_classification(<4x2x3>, <2x2 int32 [[0, 1], [1, 1]]>, 2)': (
        'v7 takes a list'
    ),
    'tree_lstm(<3x2x2>, <3x2x2>, <3x10x2>)': 'fails: several children must be matrices',
    'sparse_matmul(<2x3>, <2x3x4>)': 'padding must have the value 0 there',
    'sparse_matmul(<2x3>, <2x3x400>)': 'padding must have the value 0 there',
    'sparse_matmul(<2x3>, <2x2x4>)': 'padding must have the value 0 there',
    'sparse_matmul(<2x3>, <2x2x400>)': 'padding must have the value 0 there',
}
# Functions that v7 does not have.
NEW = ('gelu', 'mish', 'rectified_linear', 'rms_norm', 'rotary_embedding')
NEW += ('scaled_dot_product_attention', 'silu')
# Calls that might retain too much, and that the table of functions does not need.
MORE = [
    Case('dropout', calls=[call(f(48, 64), 0.5)]),
    Case('gaussian', calls=[call(f(48, 64), f(48, 64))]),
    Case('rrelu', calls=[call(f(48, 64))]),
    Case('embed_id', calls=[call(_ids(500), f(3, 40)), call(_ids(500), f(3, 40), 1)]),
    Case('embed_id of a column', fn=lambda t, w: F.embed_id(t[:, 0], w), params=(0,),
         calls=[call(_ids(500, 2), f(3, 4))]),
    Case('select_item', calls=[call(f(500, 3), _ids(500))]),
    Case('select_item of a column', fn=lambda x, t: F.select_item(x, t[:, 0]), params=(1,),
         calls=[call(f(500, 3), _ids(500, 2))]),
    _get('i', lambda x, i: x[i], call(f(30, 4), _ids(500)), call(f(30, 4), _ids(20, 30)),
         params=(1,)),
    _get('i[:, 0]', lambda x, i: x[i[:, 0]], call(f(30, 4), _ids(500, 2)), params=(1,)),
    _get(':, i', lambda x, i: x[:, i], call(f(4, 30), _ids(500)), params=(1,)),
    _get('i, j', lambda x, i, j: x[i, j], call(f(30, 4), _ids(500), _ids(500)),
         call(f(30, 4), _ids(50, 1), _ids(60)), call(f(30, 4, 5), _ids(500), _ids(500)),
         params=(1, 2)),
    _get('i, :, j', lambda x, i, j: x[i, :, j], call(f(30, 4, 5), _ids(500), _ids(500)),
         params=(1, 2)),
    _get('i, 1', lambda x, i: x[i, 1], call(f(30, 4), _ids(500)), params=(1,)),
    _get('::2, i', lambda x, i: x[::2, i], call(f(30, 4), _ids(500)), params=(1,)),
    _get('mask', lambda x, m: x[m], call(f(30, 40), own('bool', 30, 40)),
         call(f(30, 40), own('bool', 30)), call(f(30, 40), c(np.ones((30, 40)), 'bool')),
         params=(1,)),
    Case('scatter_add', fn=lambda x, i, b: F.scatter_add(x, i, b), params=(1,),
         calls=[call(f(30, 4), _ids(500), f(500, 4)),
                call(f(30, 40), c(np.ones((30, 40)), 'bool'), f(1200))]),
    Case('scatter_add at pairs', fn=lambda x, i, j, b: F.scatter_add(x, (i, j), b), params=(1, 2),
         calls=[call(f(30, 4), _ids(500), _ids(500), f(500)),
                call(f(30, 4), _ids(50, 1), _ids(60), f(50, 60))]),
    Case('permutate', params=(1,), calls=[
        call(f(300, 4), c(np.arange(300)[::-1], 'int32')),
        call(f(300, 4), c(np.arange(300)[::-1], 'int32'), inv=True)]),
    Case('where', calls=[call(own('bool', 50, 60), f(50, 60), f(50, 60))]),
    Case('einsum', calls=[
        call('ij,jk,kl->il', f(20, 30), f(30, 40), f(40, 10)),
        call('ij,jk,kl,lm->im', f(20, 30), f(30, 40), f(40, 10), f(10, 50)),
        call('bi,ij,bj->b', f(50, 30), f(30, 40), f(50, 40)),
        call('i,j,k->ijk', f(9), f(10), f(11)), call('ij,ij,ij->', *[f(30, 40)] * 3),
        call('ii,ij,jj->i', f(30, 30), f(30, 40), f(40, 40)),
        call('...i,ij,...j->...', f(7, 30), f(30, 40), f(7, 40)),
        call('iij->j', f(20, 20, 30)), call('ij,jk->', f(30, 40), f(40, 50)),
        call('iij,jkk->ik', f(20, 20, 30), f(30, 40, 40)),
        call('ijk,ikl->lji', *[f(20, 20, 20)] * 2),
        call('ijk,k->i', f(20, 30, 40), f(40)), call(',ij', f(), f(30, 40))]),
    Case('average', calls=[call(f(48, 64), 1, f(64, lo=0.5)),
                           call(f(48, 64), weights=f(48, 64, lo=1))]),
]  # fmt: skip


def calls_to_measure():
    """(key, case, call) of the table without empty arrays, of large calls, and of `MORE`."""
    return ((key, *rest) for key, *rest in all_calls() if key not in NOT_IN_V7)


def all_calls():
    seen = set()
    for case in [*CASES, *MORE]:
        if case.name in NEW:
            continue
        specs = case.calls if case in MORE else [case.big_call(), *case.calls]
        for spec in specs:
            spec = _with_int32(spec)
            key = f'{case.name}({_text(spec)})'
            is_empty = any(0 in a.shape for a in spec.arrays())
            if key not in seen and not is_empty:
                seen.add(key)
                yield key, case, spec


def _with_int32(spec):
    return spec.map(lambda a: dataclasses.replace(a, dtype='int32') if a.dtype == 'int64' else a)


def _text(spec):
    parts = [_text_of(x) for x in spec.args] + [f'{k}={_text_of(v)}' for k, v in spec.kw.items()]
    return ', '.join(parts)


def _text_of(x):
    if isinstance(x, Arg):
        dtype = '' if x.dtype is None else f' {x.dtype}'
        data = '' if x.data is None or (x.shape != () and np.size(x.data) > 20) else f' {x.data!r}'
        return f'<{"x".join(map(str, x.shape))}{dtype}{data}>'.replace('\n', '')
    if isinstance(x, (list, tuple)):
        return f'[{", ".join(map(_text_of, x))}]'
    if isinstance(x, np.ndarray):
        return f'<{"x".join(map(str, x.shape))} {x.dtype} array>'
    return x.__name__ if callable(x) else repr(x.item() if isinstance(x, np.generic) else x)


def numpy_bytes():
    """Bytes that NumPy has allocated since traces were last cleared."""
    traces = tracemalloc.take_snapshot().filter_traces((_NUMPY,)).traces
    return sum(trace.size for trace in traces)


class _Made:
    """A completed call. It holds the output nodes, and nothing else of the graph."""

    def __init__(self, case, spec, make):
        rng = seeded(case.name, 'float32', len(spec.args))
        self.inputs = [make(a.draw(rng, 'float32')) for a in spec.arrays()]
        spec = Call(
            tuple(self._own(x, make) for x in spec.args),
            {k: self._own(v, make) for k, v in spec.kw.items()},
        )
        given = iter(x if n in case.params else Variable(x) for n, x in enumerate(self.inputs))
        ys = spec.map(lambda a: next(given)).run(case.function)
        self.outputs = list(ys) if isinstance(ys, (tuple, list)) else [ys]
        self.nodes = [y.node for y in self.outputs]

    def _own(self, x, make):
        """Copies the arrays among a row's arguments, as they are inputs, too."""
        if isinstance(x, (list, tuple)):
            return type(x)(self._own(y, make) for y in x)
        if isinstance(x, np.ndarray):
            x = make(x.astype('int32') if x.dtype == np.int64 else x.copy())
            self.inputs.append(x)
        return x


def retained(case, spec, make, count, look=None):
    """Bytes that are alive after a call, for each of `HELD`.

    Args:
        make: From a NumPy array to one that the function is given.
        count: Returns the bytes that are allocated now.
        look: Called with the nodes of the outputs while nothing else is held.
    """
    _Made(case, spec, make)  # fills caches that later calls share
    result = []
    tracemalloc.clear_traces()  # fewer objects are counted faster
    start = count()
    made = _Made(case, spec, make)
    result.append(count() - start)
    made.inputs.clear()
    result.append(count() - start)
    made.outputs.clear()
    result.append(count() - start)
    if look is not None:
        look(made.nodes)
    del made
    start = count()
    made = _Made(case, spec, make)
    made.outputs.clear()
    result.append(count() - start)
    return result


NOT_IN_V7 |= {
    key: 'v7 takes no Variable as labels'
    for key, case, _ in all_calls()
    if case.name == 'discriminative_margin_based_clustering_loss'
}
NOT_IN_V7 |= {
    key: 'v7 has no such argument' for key, *_ in all_calls() if 'label_smoothing=' in key
}
