"""Loss scaling in captured steps: the same bits, counts and warnings as without."""

import warnings

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx as chx
import numpy as np
import pytest
from capture.training_steps import numpy
from chainer import optimizer_hooks, optimizers


def make(rule='Adam', dtype='float32', scale=2.0**8, interval=3, hooks=(), dynamic=True):
    rng = np.random.default_rng(0)
    with chainer.using_config('dtype', dtype):
        model = chainer.Sequential(L.Linear(4, 8), F.tanh, L.Linear(8, 3))
    for p in model.params():
        p.array = rng.normal(size=p.shape).astype(dtype)
    model.to_chx()
    optimizer = getattr(optimizers, rule)()
    if dtype == 'float16':
        optimizer.use_fp32_update()
    optimizer.setup(model)
    if dynamic:
        optimizer.loss_scaling(interval)
    optimizer.set_loss_scale(scale)
    for hook in hooks:
        optimizer.add_hook(hook())

    def loss(x, t):
        return F.sum(F.squared_error(model(x), t))

    def step(x, t):
        optimizer.update(loss, x, t)

    return model, optimizer, step


def batch(seed, dtype, bad):
    rng = np.random.default_rng(seed)
    x, t = rng.normal(size=(5, 4)).astype(dtype), rng.normal(size=(5, 3)).astype(dtype)
    if bad:
        x[0, 0] = np.inf
    return chx.array(x), chx.array(t)


def state_of(model, optimizer):
    arrays = {}
    for path, p in model.namedparams():
        rule = p.update_rule
        found = {'': p.array, 'grad': p.grad, **(rule.state or {})}
        if rule._fp32_param is not None:
            found['wide'] = rule._fp32_param.array
        arrays.update((f'{path} {key}', numpy(x)) for key, x in found.items())
    counts = [optimizer.t, *(p.update_rule.t for p in model.params())]
    scaling = optimizer._loss_scale, optimizer._loss_scaling_isnan_ever
    return arrays, counts, scaling, optimizer.is_safe_to_update()


def run(capture, calls, bad, change=None, dtype='float32', **options):
    model, optimizer, step = make(dtype=dtype, **options)
    if capture:
        step = chx.capture(step)
    seen = []
    for i in range(calls):
        if i == calls // 2 and change is not None:
            change(optimizer)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter('always')
            step(*batch(i, dtype, i in bad))
        seen.append((*state_of(model, optimizer), [str(w.message) for w in found]))
    return seen, sum(v.replays for v in step.info()) if capture else 0


def check(calls=12, bad=(), **options):
    expected, _ = run(False, calls, bad, **options)
    seen, replays = run(True, calls, bad, **options)
    for i, (a, b) in enumerate(zip(seen, expected, strict=True)):
        assert a[1:] == b[1:], i
        # A first update that is left out has made its states here, but not there.
        for key, expected_array in b[0].items():
            np.testing.assert_array_equal(a[0][key], expected_array, f'{i} {key}')
    return replays, expected


RULES = ['SGD', 'Adam', 'AdamW', 'MomentumSGD']


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
@pytest.mark.parametrize('rule', RULES)
@pytest.mark.parametrize('bad', [(), (5, 6, 9), (1,), (2, 3), (0,), tuple(range(6))])
def test_dynamic_scales(bad, rule, dtype):
    with np.errstate(all='ignore'):
        replays, seen = check(bad=bad, rule=rule, dtype=dtype)
    assert replays == 9
    assert len({scaling[0] for _, _, scaling, _, _ in seen}) > 2
    for i in bad:
        assert 'Non finite number found in param.grad of /0/' in seen[i][-1][0]


def test_scales_that_overflow_float16():
    with np.errstate(all='ignore'):
        replays, seen = check(30, dtype='float16', scale=60000.0)
    assert replays == 27
    assert 0 < sum(not is_safe for *_, is_safe, _ in seen) < 30


HOOKS = {
    'decay': lambda: optimizer_hooks.WeightDecay(0.01),
    'clip': lambda: optimizer_hooks.GradientClipping(0.5),
    'lars': lambda: optimizer_hooks.GradientLARS(0.01, 0.02),
    'noise': lambda: optimizer_hooks.GradientNoise(0.3),
}


@pytest.mark.parametrize('hook', HOOKS)
def test_hooks_see_gradients_without_their_scale(hook):
    def hooks():
        np.random.seed(1)
        return HOOKS[hook]()

    with np.errstate(all='ignore'):
        replays, _ = check(bad=(4, 7), hooks=[hooks])
    assert replays == 9


@pytest.mark.parametrize('dynamic', [True, False])
@pytest.mark.parametrize('dtype', ['float16', 'float32'])
def test_scales_that_the_program_sets(dtype, dynamic):
    replays, _ = check(14, dtype=dtype, dynamic=dynamic, change=lambda o: o.set_loss_scale(3.0))
    assert replays == (11 if dynamic else 4 + 4)


def test_a_scale_that_is_no_longer_dynamic():
    def change(optimizer):
        optimizer._loss_scaling_is_dynamic = False

    assert check(14, change=change)[0] == 4 + 4


@pytest.mark.parametrize('where', ['rule', 'noise'])
def test_hooks_that_an_overflow_leaves_out_are_refused(where):
    model, optimizer, step = make()
    if where == 'rule':
        model[0].W.update_rule.add_hook(optimizer_hooks.WeightDecay(0.1))
    else:
        optimizer.add_hook(optimizer_hooks.GradientNoise(0.1), timing='post')
    captured = chx.capture(step)
    captured(*batch(0, 'float32', False))
    with pytest.raises(chx.CaptureError, match='while the loss scale is dynamic'):
        captured(*batch(0, 'float32', False))


def test_a_scale_that_is_given_to_backward_as_a_number():
    model, optimizer, _ = make()

    def step(x, t):
        loss = F.sum(F.squared_error(model(x), t))
        model.cleargrads()
        loss.backward(loss_scale=optimizer._loss_scale)
        optimizer.update()

    captured = chx.capture(step)
    for i in range(4):
        captured(*batch(i, 'float32', False))
    with pytest.raises(chx.CaptureError, match=r'value was 2048, now 4096'):
        captured(*batch(4, 'float32', False))
