"""Optimizers: a table of v7's results, on NumPy and chainerx arrays."""

from __future__ import annotations

import copy
import inspect
import math
import pickle
import typing as tp

import chainer
import chainerx
import numpy as np
import pytest
from chainer import optimizers
from chainer.optimizers import adam, sgd
from devices import DEVICES

START = (-2.0, 0.5, 3.0)
GRADS = (
    (0.5, -1.5, 0.25),
    (-0.25, 2.0, 0.125),
    (1.0, 0.75, -3.0),
    (-2.0, -0.0625, 0.5),
    (0.375, 1.25, 1.0),
)

STATES = {
    'SGD': [],
    'MomentumSGD': ['v'],
    'CorrectedMomentumSGD': ['v'],
    'NesterovAG': ['v'],
    'AdaGrad': ['h'],
    'AdaDelta': ['msg', 'msdx'],
    'RMSprop': ['ms'],
    'RMSpropGraves': ['n', 'g', 'delta'],
    'SMORMS3': ['mem', 'g', 'g2'],
    'MSVAG': ['m', 'v'],
    'Adam': ['m', 'v'],
    'AdamW': ['m', 'v'],
    'AMSGrad': ['m', 'v', 'vhat'],
    'AdaBound': ['m', 'v'],
    'AMSBound': ['m', 'v', 'vhat'],
}


def row(name, kwargs, *values):
    """An optimizer, and the parameter after all steps in float16, 32 and 64, by Chainer 7.8.1."""
    label = ','.join([name, *(f'{k}={v}' for k, v in kwargs.items())])
    return pytest.param(name, kwargs, dict(zip('efd', values, strict=True)), id=label)


TABLE = [
    row(
        'SGD',
        dict(),
        (-1.998, 0.4758, 3.01),
        (-1.99625, 0.475625, 3.0112498),
        (-1.9962499999999996, 0.47562499999999996, 3.01125),
    ),
    row(
        'MomentumSGD',
        dict(),
        (-2.006, 0.4612, 3.049),
        (-2.004728, 0.46100897, 3.0472634),
        (-2.0047279999999996, 0.46100900000000006, 3.0472635000000006),
    ),
    row(
        'CorrectedMomentumSGD',
        dict(),
        (-2.006, 0.4612, 3.049),
        (-2.004728, 0.46100897, 3.0472634),
        (-2.0047279999999996, 0.46100900000000006, 3.0472635000000006),
    ),
    row(
        'NesterovAG',
        dict(),
        (-1.998, 0.4219, 3.06),
        (-1.9967049, 0.4221048, 3.0596585),
        (-1.9967046800000001, 0.42210479000000006, 3.059658435),
    ),
    row(
        'AdaGrad',
        dict(),
        (-2.002, 0.4993, 3.0),
        (-2.0007186, 0.49950472, 2.9990735),
        (-2.000718522435899, 0.49950475739130795, 2.999073601196626),
    ),
    row(
        'AdaDelta',
        dict(),
        (-2.002, 0.4934, 2.996),
        (-2.001676, 0.49342975, 2.994754),
        (-2.0016759308846472, 0.4934297252566856, 2.994753725141786),
    ),
    row(
        'RMSprop',
        dict(eps=0.0001),
        (-2.07, 0.45, 2.908),
        (-2.071648, 0.44959423, 2.9073658),
        (-2.071647955086915, 0.44959419269811096, 2.907365940746394),
    ),
    row(
        'RMSprop',
        dict(eps=0.0001, eps_inside_sqrt=True),
        (-2.07, 0.4495, 2.916),
        (-2.0703123, 0.44949248, 2.9165902),
        (-2.0703121588364595, 0.44949241738511625, 2.9165900959691604),
    ),
    row(
        'RMSpropGraves',
        dict(lr=0.01),
        (-2.158, 0.508, 2.836),
        (-2.1596878, 0.50844544, 2.8368397),
        (-2.1596875961162643, 0.5084453799750097, 2.836839501776552),
    ),
    row(
        'SMORMS3',
        dict(lr=0.01),
        (-2.01, 0.4854, 2.982),
        (-2.009202, 0.48518637, 2.983765),
        (-2.0092021646498206, 0.485186374206104, 2.9837648485305452),
    ),
    row(
        'MSVAG',
        dict(),
        (-2.072, 0.4712, 3.023),
        (-2.0717542, 0.6059245, 3.0208805),
        (-2.071754292698962, 0.605924571621799, 3.0208805075718823),
    ),
    row(
        'MSVAG',
        dict(eta=0.5, weight_decay_rate=0.1),
        (-1.578, 0.372, 2.332),
        (-1.5776134, 0.42665184, 2.332683),
        (-1.5776133815366842, 0.42665183108202015, 2.3326829540874443),
    ),
    row(
        'Adam',
        dict(),
        (-2.002, 0.4995, 2.998),
        (-2.001578, 0.49979642, 2.9991252),
        (-2.0015782340710047, 0.49979643156786635, 2.999125080427953),
    ),
    row(
        'Adam',
        dict(alpha=0.01, eta=0.5, weight_decay_rate=0.1),
        (-1.555, 0.3855, 2.32),
        (-1.5540738, 0.38530594, 2.3181918),
        (-1.5540739510280854, 0.38530599234765384, 2.318191710359608),
    ),
    row(
        'AdamW',
        dict(weight_decay_rate=0.01),
        (-1.906, 0.4758, 2.854),
        (-1.9035004, 0.47526687, 2.8521476),
        (-1.9035002884026362, 0.47526684425442833, 2.8521473437250227),
    ),
    row(
        'AMSGrad',
        dict(alpha=0.01, beta2=0.5),
        (-2.016, 0.4995, 2.986),
        (-2.0155869, 0.49985135, 2.9886994),
        (-2.0155866972848973, 0.4998513522690642, 2.9886993284752514),
    ),
    row(
        'AdaBound',
        dict(alpha=0.01),
        (-2.014, 0.4976, 2.992),
        (-2.0157824, 0.4979643, 2.9912508),
        (-2.015782340710046, 0.49796431567866406, 2.991250804279532),
    ),
    row(
        'AMSBound',
        dict(final_lr=0.5, gamma=0.01, beta2=0.5),
        (-2.0, 0.491, 3.008),
        (-2.000055, 0.4908113, 3.0074193),
        (-2.0000552985809317, 0.4908112809540402, 3.0074191609493397),
    ),
]


def link_of(dtype='f', device='@numpy', start=START):
    link = chainer.Link()
    with link.init_scope():
        link.p = chainer.Parameter(np.array(start, dtype))
    return link.to_device(device)


def step(optimizer, grad):
    param = optimizer.target.p
    param.grad = optimizer.target.device.send(np.array(grad, param.dtype))
    optimizer.update()


def values(array):
    return chainer.backend.CpuDevice().send(array)


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('dtype', ['e', 'f', 'd'])
@pytest.mark.parametrize(('name', 'kwargs', 'expected'), TABLE)
def test_values(name, kwargs, expected, dtype, device):
    optimizer = getattr(optimizers, name)(**kwargs).setup(link_of(dtype, device))
    param = optimizer.target.p
    array = param.array
    for grad in GRADS:
        step(optimizer, grad)
    assert param.array is array
    assert param.dtype == np.dtype(dtype)
    state = param.update_rule.state
    assert list(state) == STATES[name]
    assert all(type(s) is type(array) and s.dtype == param.dtype for s in state.values())
    # On NumPy to the bit, except for the power functions of the C library.
    ulps = 2 if device == '@numpy' else {'e': 8, 'f': 16, 'd': 16}[dtype]
    wanted = np.array(expected[dtype], dtype)
    np.testing.assert_array_max_ulp(values(param.array), wanted, ulps)


@pytest.mark.parametrize('device', DEVICES)
@pytest.mark.parametrize('name', STATES)
def test_fp32_update(name, device):
    # 16-bit parameters follow their float32 copy, which accumulates small steps.
    wide = getattr(optimizers, name)().setup(link_of('f', device))
    narrow = getattr(optimizers, name)()
    narrow.use_fp32_update()
    narrow.setup(link_of('e', device))
    for grad in GRADS * 2:
        step(wide, grad)
        step(narrow, grad)
    param = narrow.target.p
    assert param.dtype == np.float16
    assert all(state.dtype == np.float32 for state in param.update_rule.state.values())
    assert np.array_equal(values(param.array), values(wide.target.p.array).astype('e'))


@pytest.mark.parametrize('name', STATES)
def test_bfloat16(name):
    # With float32 copies: float32's result, rounded. Directly: close to that.
    wide = getattr(optimizers, name)(eps=0.01) if name == 'RMSprop' else getattr(optimizers, name)()
    wide.setup(link_of('f', 'native:0'))
    results = []
    for use in (True, False):
        narrow = type(wide)()
        for key, value in wide.hyperparam.get_dict().items():
            setattr(narrow.hyperparam, key, value)
        narrow.use_fp32_update(use)
        link = chainer.Link()
        with link.init_scope():
            link.p = chainer.Parameter(chainerx.array(START, 'bfloat16'))
        narrow.setup(link)
        for grad in GRADS:
            link.p.grad = chainerx.array(grad, 'bfloat16')
            narrow.update()
            assert link.p.dtype == link.p.array.dtype == narrow.target.p.grad.dtype
        assert link.p.array.dtype.name == 'bfloat16'
        results.append(link.p.array.tolist())
    for grad in GRADS:
        step(wide, grad)
    assert results[0] == wide.target.p.array.astype('bfloat16').tolist()
    np.testing.assert_allclose(results[1], results[0], rtol=0.1, atol=0.01)


@pytest.mark.parametrize('name', STATES)
def test_frozen_and_gradientless(name):
    link = chainer.Link()
    with link.init_scope():
        for key in 'abc':
            setattr(link, key, chainer.Parameter(np.ones(2, 'f')))
    optimizer = getattr(optimizers, name)().setup(link)
    link.a.update_rule.enabled = False
    link.cleargrads()
    link.c.grad = link.a.grad = np.ones(2, 'f')
    optimizer.update()
    assert link.a.array.tolist() == [1, 1]
    assert link.a.update_rule.t == 0
    assert link.b.array.tolist() == [1, 1]  # a gradient of zeros
    assert link.b.grad.tolist() == [0, 0]
    assert (link.c.array < 1).all()


@pytest.mark.parametrize('name', STATES)
def test_rule_without_gradient(name):
    # Called directly, a rule counts the step, creates its states, and leaves the parameter alone.
    rule = getattr(optimizers, name)().create_update_rule()
    param = chainer.Parameter(np.ones(2, 'f'))
    param.cleargrad()
    rule.update(param)
    assert rule.t == 1
    assert list(rule.state) == STATES[name]
    assert param.array.tolist() == [1, 1]


@pytest.mark.parametrize('name', STATES)
def test_empty_and_scalar(name):
    for start in (np.zeros((0, 3)), np.array(2.0)):
        optimizer = getattr(optimizers, name)().setup(link_of(start=start))
        step(optimizer, np.ones_like(start))
        assert optimizer.target.p.shape == start.shape
        assert (optimizer.target.p.array < start + (start.size == 0)).all()


@pytest.mark.parametrize('name', STATES)
def test_hyperparameters(name):
    optimizer = getattr(optimizers, name)()
    rule = optimizer.create_update_rule()
    for key, value in optimizer.hyperparam.get_dict().items():
        assert getattr(optimizer, key) == value
        assert getattr(rule.hyperparam, key) == value
        if type(value) is not bool:
            setattr(optimizer, key, 0.125)
            assert getattr(rule.hyperparam, key) == 0.125
            own = type(rule)(optimizer.hyperparam, **{key: 0.25})
            assert getattr(own.hyperparam, key) == 0.25
            assert getattr(optimizer, key) == 0.125
    # A rule also works without an optimizer.
    assert type(rule)().hyperparam.get_dict().keys() == optimizer.hyperparam.get_dict().keys()


@pytest.mark.parametrize('name', STATES)
@pytest.mark.parametrize('clone', [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies(name, clone):
    optimizer = getattr(optimizers, name)().setup(link_of())
    step(optimizer, GRADS[0])
    other = clone(optimizer)
    for grad in GRADS[1:]:
        step(optimizer, grad)
        step(other, grad)
    assert other.t == 5
    assert other.target.p.array.tolist() == optimizer.target.p.array.tolist()


NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ('name', 'key', 'bad'),
    [
        ('SGD', 'lr', (NAN, INF, 'a', '0.1', None, [1, 2])),
        ('MomentumSGD', 'momentum', (NAN, INF)),
        ('Adam', 'beta1', (-0.1, 1, 1.5, NAN)),
        ('AdamW', 'beta2', (-0.1, 1, 1.5)),
        ('AMSGrad', 'eps', (-1e-8, NAN)),
        ('AdaBound', 'gamma', (0, -1)),
        ('AMSBound', 'final_lr', (NAN, -INF)),
        ('AdaDelta', 'rho', (-0.1, 1.5)),
        ('AdaGrad', 'eps', (-1,)),
        ('RMSprop', 'alpha', (-0.1, 1.5)),
        ('RMSpropGraves', 'alpha', (-0.1, 1.5)),
        ('SMORMS3', 'eps', (-1,)),
        ('MSVAG', 'beta', (-0.1, 1)),
    ],
)
def test_hyperparameters_out_of_range(name, key, bad):
    cls = getattr(optimizers, name)
    optimizer = cls()
    before = getattr(optimizer, key)
    rule = optimizer.create_update_rule()
    for value in bad:
        error = ValueError if type(value) in (int, float) else TypeError
        for attempt in (
            lambda value=value: cls(**{key: value}),
            lambda value=value: setattr(optimizer, key, value),
            lambda value=value: setattr(rule.hyperparam, key, value),
        ):
            with pytest.raises(error, match=rf'{name}: {key} must be .*'):
                attempt()
    assert getattr(optimizer, key) == getattr(rule.hyperparam, key) == before


def test_hyperparameters_of_other_types():
    # Any number is accepted, and does not change dtypes.
    for lr in (np.float64(0.5), np.float32(0.5), np.array(0.5), 1, True, chainerx.array(0.5)):
        for device in DEVICES:
            optimizer = optimizers.SGD(lr).setup(link_of('e', device))
            step(optimizer, (1, 1, 1))
            assert optimizer.target.p.dtype == np.float16
            assert values(optimizer.target.p.array).tolist() == [x - float(lr) for x in START]


@pytest.mark.parametrize('device', DEVICES)
def test_eps_that_is_zero_in_the_dtype(device):
    for optimizer, dtype in (
        (optimizers.RMSprop(), 'e'),
        (optimizers.RMSprop(eps=1e-60), 'f'),
        (optimizers.Adam(eps=1e-60), 'f'),
        (optimizers.Adam(eps=1e-60), 'e'),
    ):
        optimizer.setup(link_of(dtype, device))
        with pytest.raises(ValueError, match=r'eps of \w+ optimizer is too small for float'):
            step(optimizer, GRADS[0])
        assert values(optimizer.target.p.array).tolist() == list(START)
    step(optimizers.Adam(eps=1e-60).setup(link_of('d', device)), GRADS[0])


def test_alpha_t_and_lr():
    optimizer = optimizers.Adam(alpha=0.5, beta1=0.5, beta2=0.75).setup(link_of())
    rule = optimizer.target.p.update_rule
    for owner in (optimizer, rule):
        with pytest.raises(RuntimeError, match=r"Can't determine the learning rate.*'alpha'"):
            _ = owner.alpha_t
    step(optimizer, GRADS[0])
    for owner, name in ((optimizer, 'Adam'), (rule, 'AdamRule')):
        assert owner.alpha_t == 0.5 * 0.5 / 0.5
        with pytest.warns(DeprecationWarning, match=rf'{name}\.lr .* {name}\.alpha_t') as caught:
            assert owner.lr == owner.alpha_t
        assert caught[0].filename == __file__
    with pytest.raises(AttributeError):
        optimizer.lr = 1


def test_bounds():
    optimizer = optimizers.AdaBound(alpha=0.001, final_lr=0.1, gamma=0.001).setup(link_of())
    rule = optimizer.target.p.update_rule
    with pytest.raises(RuntimeError, match="Can't determine the bounds"):
        _ = rule.bounds
    rule.t = 4
    assert rule.bounds == pytest.approx((0.0003984063745019917, 25.1), rel=1e-14)
    # They change with alpha.
    optimizer.alpha = 0.01
    assert rule.bounds == pytest.approx((0.003984063745019917, 251.0), rel=1e-14)
    with pytest.raises(ValueError, match='AdaBound: alpha must not be 0'):
        optimizers.AdaBound(alpha=0).setup(link_of())


@pytest.mark.parametrize('dtype', ['e', 'f'])  # one by one, and in one call
def test_amsgrad_set_later(dtype):
    optimizer = optimizers.Adam(alpha=0.1).setup(link_of(dtype))
    step(optimizer, GRADS[0])
    optimizer.amsgrad = optimizer.adabound = True
    step(optimizer, GRADS[1])
    rule = optimizer.target.p.update_rule
    assert sorted(rule.state) == ['m', 'v', 'vhat']
    assert np.array_equal(rule.state['vhat'], rule.state['v'])
    assert rule.initial_alpha == 0.1


def test_msvag_after_zero_gradients():
    optimizer = optimizers.MSVAG().setup(link_of())
    step(optimizer, (0, 0, 1))
    step(optimizer, (0, 1, 1))
    assert np.isfinite(optimizer.target.p.array).all()
    assert optimizer.target.p.array[0] == START[0]


@pytest.mark.parametrize('device', DEVICES)
def test_states_of_the_user(device):
    # An array that the user sets as state is used, and stays the same object.
    optimizer = optimizers.MomentumSGD(lr=1, momentum=0.5).setup(link_of('f', device))
    step(optimizer, (0, 0, 0))
    rule = optimizer.target.p.update_rule
    mine = optimizer.target.device.send(np.array([2, 4, 8], 'f'))
    rule.state['v'] = mine
    step(optimizer, (0, 0, 1))
    assert rule.state['v'] is mine
    assert values(mine).tolist() == [1, 2, 3]
    assert values(optimizer.target.p.array).tolist() == [-1, 2.5, 6]


@pytest.mark.parametrize('name', STATES)
def test_move_between_devices(name):
    moved = getattr(optimizers, name)().setup(link_of())
    stayed = getattr(optimizers, name)().setup(link_of())
    for grad, device in zip(
        GRADS, ('@numpy', 'native:0', 'native:1', '@numpy', '@numpy'), strict=True
    ):
        moved.target.to_device(device)
        step(moved, grad)
        step(stayed, grad)
        state = moved.target.p.update_rule.state
        assert all(moved.target.device.is_array_supported(s) for s in state.values())
    np.testing.assert_allclose(moved.target.p.array, stayed.target.p.array, rtol=1e-5)


def test_wrong_dtype_and_shape():
    optimizer = optimizers.SGD().setup(link_of('i'))
    with pytest.raises(TypeError, match="SGDRule: parameter 'p' is of dtype int32"):
        step(optimizer, (1, 1, 1))
    optimizer = optimizers.Adam().setup(link_of())
    step(optimizer, (1, 1, 1))
    optimizer.target.p.array = np.ones(2, 'f')
    with pytest.raises(ValueError, match=r"AdamRule: state 'm' of parameter 'p' .*\(3,\).*\(2,\)"):
        step(optimizer, (1, 1))


def test_fused_call():
    for name in STATES:
        rule = getattr(optimizers, name)().create_update_rule()
        rule.t = 1
        _, states, settings = rule.fused_call(np.dtype('f'))
        numbers = rule._numbers()
        assert list(states) == STATES[name]
        assert all(type(number) in (float, bool) for number in (*numbers, *settings))
        assert len(numbers) == len(settings)
        # The numbers that the formula uses.
        p, g = np.ones(2, 'f'), np.ones(2, 'f')
        rule.t = 0
        param = chainer.Parameter(np.ones(2, 'f'))
        param.grad = g.copy()
        rule.update(param)
        arrays = {key: np.zeros(2, 'f') + (key == 'mem') for key in states}
        rule.step(np, p, g, *numbers, **arrays)
        assert p.tolist() == param.array.tolist()
    assert [
        getattr(optimizers, name)().create_update_rule().__class__.fused for name in ('Adam', 'SGD')
    ] == ['adam', 'sgd']


@pytest.mark.parametrize(('name', 'routine'), [
    ('Adam', 'adam'), ('AdamW', 'adam'), ('AMSGrad', 'amsgrad'), ('AdaBound', 'adabound'),
    ('AMSBound', 'amsbound'),
])  # fmt: skip
def test_fused_routines_of_adam(name, routine):
    rule = getattr(optimizers, name)().create_update_rule()
    rule.t = 1
    assert rule.fused_call(np.dtype('f'))[0] == routine


@pytest.mark.parametrize('name', STATES)
def test_fused_key(name):
    optimizer = getattr(optimizers, name)()
    a, b = optimizer.create_update_rule(), optimizer.create_update_rule()
    assert a.fused_key() == b.fused_key()
    key = next(iter(optimizer.hyperparam.get_dict()))
    setattr(optimizer, key, 0.125)
    assert a.fused_key() == b.fused_key()
    b.t += 1
    assert a.fused_key() != b.fused_key()
    b.t = a.t
    setattr(b.hyperparam, key, 0.25)
    assert a.fused_key() != b.fused_key()
    b = optimizer.create_update_rule()
    b.update_core = print
    assert a.fused_key() != b.fused_key()
    other = getattr(optimizers, name)().create_update_rule()
    assert a.fused_key() != other.fused_key()


@pytest.mark.parametrize('method', ['update', 'update_core', 'update_core_cpu', 'step'])
def test_overriding_rules_are_not_fused(method):
    calls = []
    cls = type('Rule', (sgd.SGDRule,), {method: lambda self, *args: calls.append(args)})
    assert cls.fused is None
    assert cls(lr=1).fused_call(np.dtype('f')) is None
    rule = sgd.SGDRule()
    setattr(rule, method, None)
    assert rule.fused_call(np.dtype('f')) is None
    # This method is also called for chainerx arrays.
    link = link_of('f', 'native:0')
    optimizers.SGD().setup(link)
    link.p.update_rule = cls(lr=1)
    step_with = link.device.send(np.ones(3, 'f'))
    link.p.grad = step_with
    link.p.update()
    assert len(calls) == 1
    assert values(link.p.array).tolist() == list(START)


def test_subclass_that_overrides_nothing_is_fused():
    class Rule(adam.AdamRule):
        @property
        def lr(self):
            return 0

    assert Rule.fused == 'adam'


@pytest.mark.parametrize('name', STATES)
def test_subclasses_of_optimizers(name):
    cls = getattr(optimizers, name)
    first = next(iter(inspect.signature(cls).parameters))

    class Same(cls):
        pass

    class Own(cls):
        def __init__(self, extra, *args):
            super().__init__(*args)
            self.hyperparam.extra = extra

    assert inspect.signature(Same) == inspect.signature(cls)
    for optimizer in (Same(0.25), Own(3, 0.25), Own(3)):
        assert getattr(optimizer, first) in (0.25, getattr(cls(), first))
        rule = optimizer.create_update_rule()
        assert type(rule) is type(cls().create_update_rule())
        assert getattr(rule.hyperparam, 'extra', 3) == 3
    with pytest.raises(ValueError, match=f'Own: {first} must be'):
        Own(3, NAN)


@pytest.mark.parametrize('name', STATES)
def test_wrong_arguments_of_constructors(name):
    cls = getattr(optimizers, name)
    first = next(iter(inspect.signature(cls).parameters))
    for made in (cls, type(cls().create_update_rule())):
        owner = made.__name__
        with pytest.raises(TypeError, match=rf"{owner}.__init__\(\) got an unexpected .* 'rate'"):
            made(rate=1)
        with pytest.raises(TypeError, match=rf'{owner}.__init__\(\) takes from 1 to \d+ posi'):
            made(*[0.5] * 13)
    with pytest.raises(TypeError, match=rf"{name}.__init__\(\) got multiple .* '{first}'"):
        cls(0.5, **{first: 0.5})


@pytest.mark.parametrize('name', STATES)
def test_types_of_constructors_can_be_looked_up(name):
    optimizer = getattr(optimizers, name)
    rule = type(optimizer().create_update_rule())
    for cls in (optimizer, rule):
        types = tp.get_type_hints(cls.__init__)
        assert set(inspect.signature(cls).parameters) <= set(types), cls
