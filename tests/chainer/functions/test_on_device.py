"""No function leaves the device of its arrays, nor do its first and second derivatives.

The tests use a device whose memory the host can't access, so that each read is counted, and check
that no function falls back to NumPy.
"""

import ctypes
import inspect
import pathlib

import chainer
import chainer.functions as F
import numpy as np
import pytest
from chainer import Variable
from functions.cases import CASES
from functions.cases._table import seeded

HERE = pathlib.Path(__file__).parent
_SPANS = 'a region says which pixels are read'
_CLASSES = 'labels must not be negative, and the number of classes is the shape of the result'
_MASK = 'how many a mask picks is the shape of the result'
_SIZES = 'the sizes of steps, for which its kernel has an array'
# Functions that read from the device on purpose, and why; all others compute there.
READS = {
    'classification_summary': _CLASSES,
    'precision': _CLASSES,
    'recall': _CLASSES,
    'f1_score': _CLASSES,
    'decorrelated_batch_normalization': 'eigenvectors are those of NumPy',
    'get_item': _MASK,
    'roi_average_align_2d': _SPANS,
    'roi_average_pooling_2d': _SPANS,
    'roi_max_align_2d': _SPANS,
    'roi_max_pooling_2d': _SPANS,
    'roi_pooling_2d': _SPANS,
    'rrelu': 'whether slopes that are given are negative decides what is kept for backward',
    'scatter_add': _MASK,
    'sparse_matmul': 'places of a sparse matrix are sorted on the host',
    'n_step_bigru': _SIZES,
    'n_step_bilstm': _SIZES,
    'n_step_birnn': _SIZES,
    'n_step_gru': _SIZES,
    'n_step_lstm': _SIZES,
    'n_step_rnn': _SIZES,
}


@pytest.fixture(scope='module')
def device(async_toy):
    return chainer.get_device(f'{async_toy}:0')


@pytest.fixture(scope='module')
def reads(async_toy, build_backend):
    """How often the host has read the device's memory; each read is counted."""
    return ctypes.CDLL(str(build_backend(async_toy, 'async_backend.cc'))).async_toy_reads


def first_dtype(case):
    return 'float32' if 'float32' in case.dtypes else case.dtypes[0]


def count(case, spec, device, reads):
    dtype = first_dtype(case)
    rng = seeded(case.name, dtype, len(spec.args))
    arrays, given = [], []
    for n, arg in enumerate(spec.arrays()):
        x = device.send(arg.draw(rng, dtype))
        arrays.append(x)
        given.append(x if n in case.params else Variable(x))
    it = iter(given)
    called = spec.map(lambda arg: next(it))
    before = reads()
    ys = called.run(case.function)
    ys = ys if isinstance(ys, (tuple, list)) else (ys,)
    counts = [reads() - before]
    xs = [
        x
        for n, x in enumerate(given)
        if isinstance(x, Variable) and x.dtype.kind == 'f' and (case.diff is None or n in case.diff)
    ]
    for _ in range(case.order):
        if not xs:
            break
        ys = [y for y in ys if y is not None]
        gys = [Variable(device.send(np.ones(y.shape, y.dtype))) for y in ys]
        before = reads()
        ys = chainer.grad(ys, xs, gys, enable_double_backprop=True)
        counts.append(reads() - before)
        xs = xs + gys
    return counts


ROWS = {name: [c for c in CASES if c.name == name] for name in sorted({c.name for c in CASES})}


@pytest.mark.parametrize('name', ROWS)
@pytest.mark.filterwarnings('ignore:.* is deprecated')
def test_stays_on_the_device(name, device, reads):
    with chainer.using_config('chainerx_fallback', 'error'):
        counts = [count(case, spec, device, reads) for case in ROWS[name] for spec in case.calls]
    assert any(map(any, counts)) == (name in READS), f'reads in forward, backward, ...: {counts}'


def test_all_functions_are_counted():
    """All functions are covered: v7's, of which 43 had a native implementation, and ours."""
    lines = (HERE.parents[1] / 'conformance' / 'chainer_v7.txt').read_text()
    text = lines.partition('[chainer.functions]\n')[2].partition('\n[')[0]
    of_v7 = {line.split()[1].partition('(')[0] for line in text.splitlines() if line}
    of_v7 = {name for name in of_v7 if inspect.isfunction(getattr(F, name, None))}
    assert len(of_v7) == 216
    ours = {n for n in dir(F) if inspect.isfunction(getattr(F, n)) and not n.startswith('_')}
    assert of_v7 <= ours == ours & set(ROWS)
    assert set(READS) <= ours
