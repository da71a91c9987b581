"""No function keeps more memory for backward than in Chainer v7.8.1."""

import functools
import gc
import json
import pathlib
import tracemalloc

import chainer
import chainerx
import numpy as np
import pytest
from functions.cases._harness import lay
from functions.cases._retained import (
    HELD,
    NOT_IN_V7,
    all_calls,
    calls_to_measure,
    numpy_bytes,
    retained,
)
from functions.cases._table import Case, call, f

V7 = json.loads(
    (pathlib.Path(__file__).parents[1] / 'data' / 'v7_retained.json').read_text(encoding='utf-8')
)
CALLS = {key: (case, spec) for key, case, spec in calls_to_measure()}

# A row of the deprecated batch_matmul.
pytestmark = pytest.mark.filterwarnings('ignore:batch_matmul')


def allocated():
    # The garbage collector is off: there must be no cycles.
    return chainerx._core._live_counts()[3] + numpy_bytes()


@pytest.fixture(scope='module')
def counting():
    gc.collect()
    tracemalloc.start()
    chainerx._core._set_leak_tracking(True)
    yield
    chainerx._core._set_leak_tracking(False)
    tracemalloc.stop()


def joined(case, spec):
    """Extra bytes of sequence functions: concatenated steps and biases, and lengths."""
    if not case.name.startswith('n_step'):
        return 0
    *_, bs, xs = spec.args
    sizes = 8 * len(xs)
    return sizes + 4 * sum(np.prod(x.shape) for x in call(bs, xs).arrays())


@pytest.mark.parametrize('kind', ['numpy', 'native'])
@pytest.mark.parametrize('key', CALLS)
def test_no_more_than_in_v7(key, kind, counting):
    assert key in V7, (
        'no figures of Chainer v7: run tests/chainer/data/make_v7_retained.py there; a function '
        'that v7 does not have goes into NEW of cases/_retained.py'
    )
    make = functools.partial(lay, layout='contiguous', kind=kind)
    figures = retained(*CALLS[key], make, allocated)
    for held, ours, v7 in zip(HELD, figures, V7[key], strict=True):
        most = v7 + joined(*CALLS[key])
        assert ours <= most, f'{key}, where the caller holds {held}: {ours} bytes, in v7 {v7}'


def test_figures_are_of_these_calls():
    assert set(V7) == set(CALLS)
    assert set(NOT_IN_V7) == {key for key, *_ in all_calls()} - set(V7)


class KeepsTwice(chainer.FunctionNode):
    def forward(self, inputs):
        self.retain_inputs((0,))
        self.copy = inputs[0].copy()
        return (inputs[0] * 2,)


@pytest.mark.parametrize('kind', ['numpy', 'native'])
def test_retained_memory_is_measured(kind, counting):
    size = 30 * 40 * 4

    def measured(function):
        case = Case('', fn=function, calls=[call(f(30, 40))])
        make = functools.partial(lay, layout='contiguous', kind=kind)
        return [n // size for n in retained(case, case.calls[0], make, allocated)]

    assert measured(lambda x: x + 1) == [2, 1, 0, 1]
    assert measured(lambda x: chainer.functions.exp(x) * x) == [3, 3, 2, 2]
    assert measured(lambda x: KeepsTwice().apply((x,))[0]) == [3, 3, 2, 2]
