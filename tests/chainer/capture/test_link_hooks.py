"""Hooks of links and of gradients that come after a step was recorded are seen."""

import gc

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx as chx
import numpy as np
import pytest
from capture.training_steps import batch, compare, make, numpy
from chainer import link_hooks


class Recorder(chainer.LinkHook):
    name = 'Recorder'

    def __init__(self):
        self.links = []

    def forward_postprocess(self, args):
        self.links.append(args.link)


def test_entered_hooks_see_each_call():
    model, _, step = make()
    captured = chx.capture(step)
    for i in range(5):
        captured(*batch(i))
    with Recorder() as hook:
        for i in range(3):
            captured(*batch(i))
    assert hook.links == [model[0], model[2], model] * 3
    captured(*batch(6))
    assert captured.info()[0].replays == 3


def test_hooks_of_a_link_see_each_call():
    model, _, step = make()
    captured = chx.capture(step)
    for i in range(5):
        captured(*batch(i))
    hook = Recorder()
    model[0].add_hook(hook)
    for i in range(5):
        captured(*batch(i))
    assert hook.links == [model[0]] * 5
    model[0].delete_hook('Recorder')
    for i in range(5):
        captured(*batch(i))
    assert len(hook.links) == 5
    assert sum(row.replays for row in captured.info()) == 2 + 2


def test_a_link_that_goes_watches_no_more():
    _, _, step = make()
    captured = chx.capture(step)
    for i in range(5):
        captured(*batch(i))
    link = L.Linear(2, 3)
    link.add_hook(Recorder())
    link.add_hook(Recorder(), 'another')
    captured(*batch(0))
    assert sum(row.replays for row in captured.info()) == 2
    del link
    gc.collect()
    for i in range(5):
        captured(*batch(i))
    assert sum(row.replays for row in captured.info()) == 2 + 2


@pytest.mark.parametrize('way', ['in the step', 'by hand', 'copied'])
def test_hooks_that_would_not_be_called_are_refused(way):
    model, _, step = make()
    captured = chx.capture(step)
    calls, hook = range(4), Recorder()
    if way == 'in the step':

        @chx.capture
        def captured(x, t):
            with hook:
                return step(x, t)

        calls = range(2)
    elif way == 'by hand':
        model[0].local_link_hooks['Recorder'] = hook
        calls = range(2)
    else:
        source = model[0].copy()
        source.add_hook(hook)
        model[0]._local_link_hooks = source.copy()._local_link_hooks
        source.delete_hook('Recorder')
        calls = range(2)
    captured(*batch(calls[0]))
    with pytest.raises(chx.CaptureError, match='a hook of links, Recorder, is called by'):
        captured(*batch(1))


@pytest.mark.parametrize('name', ['SpectralNormalization', 'WeightStandardization'])
@pytest.mark.parametrize('at_once', [True, False])
def test_hooks_that_compute_are_replayed(name, at_once):
    models = []
    for capture in (True, False):
        model, optimizer, step = make('Adam')
        np.random.seed(0)

        def add(model=model):
            model[0].add_hook(getattr(link_hooks, name)())

        if at_once:
            add()
            optimizer.setup(model)
        captured = chx.capture(step) if capture else step
        for i in range(12):
            if i == 6 and not at_once:
                add()
            if i == 10 and not at_once:
                model[0].delete_hook(name)
            captured(*batch(i))
        models.append(model)
        if capture:
            assert sum(row.replays for row in captured.info()) == (9 if at_once else 3 + 1)
    compare(*models)


@pytest.mark.parametrize('kind', ['variable', 'array'])
def test_hooks_of_gradients_are_seen(kind):
    w = chx.array(np.random.default_rng(0).normal(size=(4, 3)).astype('f'))
    if kind == 'variable':
        w = chainer.Parameter(w)
        array = w.array
    else:
        array = w.require_grad()

    def f(x):
        w.cleargrad()
        F.sum(F.tanh(x @ w)).backward()

    step = chx.capture(f)
    x, _ = batch(0)
    for _ in range(5):
        step(x)
    without = numpy(w.grad)
    if kind == 'variable':
        return
    handle = array.register_hook(lambda g: g * 2)
    for _ in range(5):
        step(x)
        np.testing.assert_array_equal(numpy(w.grad), without * 2)
    handle.remove()
    for _ in range(5):
        step(x)
        np.testing.assert_array_equal(numpy(w.grad), without)
    assert [row.replays for row in step.info()] == [2, 2, 2]
