"""Hooks of optimizers and of update rules in captured steps: the same bits as without."""

import chainer
import chainerx as chx
import numpy as np
import pytest
from capture.training_steps import batch, compare, make
from chainer import optimizer_hooks, optimizers

HOOKS = {
    'decay': lambda: optimizer_hooks.WeightDecay(0.01),
    'lasso': lambda: optimizer_hooks.Lasso(0.01),
    'clip': lambda: optimizer_hooks.GradientClipping(0.5),
    'hard': lambda: optimizer_hooks.GradientHardClipping(-0.1, 0.1),
    'lars': lambda: optimizer_hooks.GradientLARS(0.01, 0.02),
    'lars of few': lambda: optimizer_hooks.GradientLARS(1.0),
    'noise': lambda: optimizer_hooks.GradientNoise(0.3),
}

WAYS = {
    'pre': lambda model, optimizer, hook: optimizer.add_hook(hook),
    'post': lambda model, optimizer, hook: optimizer.add_hook(hook, timing='post'),
    'rules': lambda model, optimizer, hook: [
        p.update_rule.add_hook(hook, timing='post' if p.ndim == 1 else 'pre')
        for p in model.params()
    ],
}
TABLE = [
    (hook, way, rule)
    for hook in HOOKS
    for way in WAYS
    for rule in ('SGD', 'Adam', 'AdamW', 'MomentumSGD')
    if not (hook == 'clip' and way == 'rules')  # it is of all parameters
]


def run(prepare, calls=8, change=None, rule='SGD', **options):
    """A model that was trained by captured steps, and one that was trained without."""
    models = []
    for capture in (True, False):
        model, optimizer, step = make(rule, dropout=True, **options)
        found = prepare(model, optimizer)
        np.random.seed(5)  # dropout and noise take turns
        captured = chx.capture(step) if capture else step
        for i in range(calls):
            if change is not None and i == calls // 2:
                change(model, optimizer, found)
            captured(*batch(i))
        models.append((model, optimizer))
        if capture:
            (row,) = captured.info()
    (a, one), (b, other) = models
    compare(a, b)
    for p, q in zip(a.params(), b.params(), strict=True):
        assert p.update_rule.t == q.update_rule.t
        for key, state in (p.update_rule.state or {}).items():
            expected = chx.to_numpy(q.update_rule.state[key])
            np.testing.assert_array_equal(chx.to_numpy(state), expected)
    assert one.t == other.t == calls
    return row.replays


@pytest.mark.parametrize(('hook', 'way', 'rule'), TABLE)
def test_hooks(hook, way, rule):
    def add(model, optimizer):
        WAYS[way](model, optimizer, HOOKS[hook]())

    assert run(add, rule=rule) == 5


def test_noise_of_a_function_of_the_program():
    seen = []

    def noise(xp, shape, dtype, hook, rule):
        seen.append((shape, rule.t))
        return xp.full(shape, np.random.random() * hook.eta / (1 + rule.t), dtype)

    hooks = [optimizer_hooks.GradientNoise(0.3, noise) for _ in range(2)]
    assert run(lambda model, optimizer: optimizer.add_hook(hooks.pop()), rule='Adam') == 5
    assert seen[: len(seen) // 2] == seen[len(seen) // 2 :]


def test_noise_after_the_update_knows_its_number():
    seen = []

    def noise(xp, shape, dtype, hook, rule):
        seen.append(rule.t)
        return xp.zeros(shape, dtype)

    def add(model, optimizer):
        optimizer.add_hook(optimizer_hooks.GradientNoise(0.3, noise), timing='post')

    assert run(add) == 5
    assert seen == [t for t in range(1, 9) for _ in range(4)] * 2


def rate_of(model, optimizer):
    return 'alpha' if hasattr(optimizer, 'alpha') else 'lr'


@pytest.mark.parametrize('rule', ['SGD', 'Adam', 'AMSGrad', 'RMSprop', 'MSVAG'])
def test_rules_that_differ(rule):
    def change(model, optimizer, _=None):
        hyperparam = model[0].W.update_rule.hyperparam
        name = rate_of(model, optimizer)
        setattr(hyperparam, name, getattr(hyperparam, name) * 0.5)

    def prepare(model, optimizer):
        change(model, optimizer)
        model[0].b.update_rule.enabled = False

    assert run(prepare, change=change, calls=10, rule=rule) == 7


def test_a_rule_that_comes_to_differ():
    def prepare(model, optimizer):
        optimizer.add_hook(optimizer_hooks.WeightDecay(0.01))

    def change(model, optimizer, _):
        model[0].W.update_rule.hyperparam.lr = 0.5

    assert run(prepare, change=change, calls=12) == 3 + 3


def test_a_rule_that_is_disabled():
    def prepare(model, optimizer):
        optimizer.add_hook(optimizer_hooks.WeightDecay(0.01))

    def change(model, optimizer, _):
        model[0].disable_update()

    assert run(prepare, change=change, calls=12) == 3 + 3


@pytest.mark.parametrize('rule', ['SGD', 'Adam'])
def test_hooks_that_come_and_go(rule):
    def change(model, optimizer, _):
        optimizer.add_hook(optimizer_hooks.Lasso(0.01), name='first')
        model[0].W.update_rule.add_hook(optimizer_hooks.WeightDecay(0.01))

    assert run(lambda model, optimizer: None, change=change, calls=12, rule=rule) == 3 + 3


def test_hooks_of_the_program_are_refused_by_name():
    def of_the_program(rule, param):
        pass

    model, _, step = make()
    model[0].W.update_rule.add_hook(of_the_program)
    captured = chx.capture(step)
    captured(*batch(0))
    with pytest.raises(chx.CaptureError, match=r'a hook of the program, .*of_the_program, is call'):
        captured(*batch(0))


class Counting(optimizers.SGD):
    def call_hooks(self, timing='pre'):
        super().call_hooks(timing)


class Special(optimizers.SGD):
    def create_update_rule(self):
        return Rule()


class Rule(chainer.optimizer.UpdateRule):
    def update_core(self, param):
        param.array -= param.grad


@pytest.mark.parametrize(
    ('cls', 'text'),
    [
        (Counting, 'Counting.call_hooks, which the program has overridden, is called'),
        (Special, 'a parameter is updated by a rule of the program, Rule'),
    ],
)
def test_what_the_program_overrides_is_refused_by_name(cls, text):
    model, _, step = make()
    optimizer = cls().setup(model)
    step.__closure__[step.__code__.co_freevars.index('optimizer')].cell_contents = optimizer
    captured = chx.capture(step)
    captured(*batch(0))
    with pytest.raises(chx.CaptureError, match=text):
        captured(*batch(0))
    assert optimizer.t == 2


def test_lars_that_would_divide_by_zero_is_refused():
    _, optimizer, step = make()
    optimizer.add_hook(optimizer_hooks.GradientLARS(eps=0))
    captured = chx.capture(step)
    captured(*batch(0))
    with pytest.raises(chx.CaptureError, match='GradientLARS divides by a norm, with eps 0'):
        captured(*batch(0))
