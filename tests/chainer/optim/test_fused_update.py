"""Updates of all parameters in one call: bits equal to one-by-one updates, and conditions."""

import signal

import chainer
import chainerx
import numpy as np
import pytest
from chainer import optimizers
from chainer._optim import fused_update

MAKE = {
    'SGD': lambda: optimizers.SGD(0.1),
    'MomentumSGD': lambda: optimizers.MomentumSGD(0.1, 0.8),
    'NesterovAG': lambda: optimizers.NesterovAG(0.1, 0.8),
    'CorrectedMomentumSGD': lambda: optimizers.CorrectedMomentumSGD(0.1, 0.8),
    'RMSprop': lambda: optimizers.RMSprop(0.1),
    'RMSprop inside': lambda: optimizers.RMSprop(0.1, eps_inside_sqrt=True),
    'RMSpropGraves': lambda: optimizers.RMSpropGraves(0.1),
    'SMORMS3': lambda: optimizers.SMORMS3(0.1),
    'AdaDelta': lambda: optimizers.AdaDelta(),
    'AdaGrad': lambda: optimizers.AdaGrad(0.1),
    'Adam': lambda: optimizers.Adam(0.1),
    'AdamW': lambda: optimizers.Adam(0.1, eta=0.9, weight_decay_rate=0.03),
    'AMSGrad': lambda: optimizers.Adam(0.1, amsgrad=True),
    'AdaBound': lambda: optimizers.Adam(0.1, adabound=True),
    'AMSBound': lambda: optimizers.Adam(0.1, amsgrad=True, adabound=True),
    'MSVAG': lambda: optimizers.MSVAG(0.1),
}
# The last ones together exceed one chunk of work, and end in the middle of one.
SHAPES = [(), (3,), (7, 5), (0, 4), (300,), (130, 131), (151, 157)]


def make_model(kind, dtype='float32'):
    rng = np.random.RandomState(0)
    model = chainer.Link()
    with model.init_scope():
        for i, shape in enumerate(SHAPES):
            setattr(model, f'p{i}', chainer.Parameter(np.asarray(rng.randn(*shape), dtype)))
    if kind == 'chainerx':
        model.to_device('native:0')
    return model


def set_grads(model, step):
    rng = np.random.RandomState(step + 1)
    for param in model.params():
        g = np.asarray(rng.randn(*param.shape) * (step % 3), param.dtype)  # zeros, too
        param.grad = param.device.send(g)


def values(model):
    return [chainer.backend.CpuDevice().send(p.array).copy() for p in model.params()]


def train(kind, make, dtype, n=6):
    model = make_model(kind, dtype)
    optimizer = make().setup(model)
    history = []
    for step in range(n):
        set_grads(model, step)
        optimizer.update()
        history.append(values(model))
    return history, optimizer


@pytest.fixture
def one_by_one(monkeypatch):
    def switch():
        monkeypatch.setattr(fused_update, 'update', lambda *_: False)
        monkeypatch.setattr(fused_update, 'repeat', lambda *_: False)

    return switch


@pytest.fixture
def calls(monkeypatch):
    """Records whether each update was one call."""
    answers = []
    update, repeat = fused_update.update, fused_update.repeat

    def spy(*args):
        answers.append(update(*args))
        return answers[-1]

    def spy_repeat(*args):
        done = repeat(*args)
        if done:
            answers.append(done)
        return done

    monkeypatch.setattr(fused_update, 'update', spy)
    monkeypatch.setattr(fused_update, 'repeat', spy_repeat)
    return answers


@pytest.mark.parametrize('name', MAKE)
@pytest.mark.parametrize('dtype', ['float32', 'float64'])
@pytest.mark.parametrize('kind', ['numpy', 'chainerx'])
def test_same_bits_as_one_by_one(name, dtype, kind, one_by_one, calls):
    fused, optimizer = train(kind, MAKE[name], dtype)
    assert calls == [True] * 6
    assert {p.update_rule.t for p in optimizer.target.params()} == {6}
    one_by_one()
    expected, _ = train('numpy', MAKE[name], dtype)
    for got, want in zip(fused, expected, strict=True):
        for x, y in zip(got, want, strict=True):
            np.testing.assert_array_equal(x, y)


def warm(make=MAKE['Adam'], kind='numpy'):
    """A model whose optimizer has an update plan."""
    model = make_model(kind)
    optimizer = make().setup(model)
    for step in (1, 2):
        set_grads(model, step)
        optimizer.update()
    return model, optimizer


@pytest.mark.parametrize('kind', ['numpy', 'chainerx'])
def test_replaced_states_take_effect(kind, calls):
    model, optimizer = warm(kind=kind)
    model.p2.update_rule.state['m'] = model.p2.xp.zeros_like(model.p2.array)
    set_grads(model, 1)
    optimizer.update()
    assert calls[-1]
    assert float(abs(model.p2.update_rule.state['m']).sum()) > 0


def test_replaced_arrays_take_effect(calls):
    model, optimizer = warm()
    model.p2.array = np.ones_like(model.p2.array)
    set_grads(model, 1)
    optimizer.update()
    assert calls[-1]
    assert (model.p2.array != 1).all()


def test_changed_hyperparameters_take_effect(calls):
    model, optimizer = warm(MAKE['SGD'])
    before = model.p2.array.copy()
    set_grads(model, 1)
    optimizer.lr = 0.5
    optimizer.update()
    np.testing.assert_array_equal(model.p2.array, before - np.float32(0.5) * model.p2.grad)
    assert calls[-1]


@pytest.mark.parametrize(
    ('change', 'reason'),
    [
        (lambda m: setattr(m.p1.update_rule.hyperparam, 'alpha', 0.5), 'rules of parameters'),
        (lambda m: m.p1.update_rule.add_hook(lambda rule, param: None, 'h'), 'has a hook'),
        (lambda m: setattr(m.p1.update_rule, 't', 7), 'rules of parameters'),
        (lambda m: setattr(m.p1.update_rule, 'update_core', print), 'rules of parameters'),
        (lambda m: setattr(m.p1, 'array', np.ones((3, 2), 'f')[:, 0]), 'not a contiguous array'),
    ],
)
def test_special_parameters_are_updated_one_by_one(change, reason, calls):
    model, optimizer = warm()
    change(model)
    set_grads(model, 1)
    before = model.p3.array.copy(), model.p4.array.copy()
    chainer.fallback_report(reset=True)
    optimizer.update()
    assert calls[-1] is False
    (row,) = chainer.fallback_report()
    assert row[0] == 'Adam.update'
    assert reason in row[2]
    assert (model.p4.array != before[1]).all()


def test_a_shared_rule_makes_a_step_for_each_parameter(calls):
    model, optimizer = warm(MAKE['SGD'])
    model.p1.update_rule = model.p2.update_rule
    set_grads(model, 1)
    optimizer.update()
    assert calls[-1] is False
    assert model.p2.update_rule.t == 4


def test_a_disabled_rule_is_left_out(calls):
    model, optimizer = warm()
    model.p2.update_rule.enabled = False
    before = model.p2.array.copy()
    set_grads(model, 1)
    optimizer.update()
    assert calls[-1]
    np.testing.assert_array_equal(model.p2.array, before)


def test_float16_is_updated_one_by_one(calls):
    train('numpy', MAKE['MomentumSGD'], 'float16', n=2)
    assert calls == [False, False]


def test_plan_refuses_unsupported_parameters():
    from chainerx._core import engine

    p = chainer.Parameter(np.ones(3, 'f'))
    with pytest.raises(ValueError, match='no rule nonsense'):
        engine.UpdatePlan('nonsense', (), [])
    with pytest.raises(ValueError, match='1 states, got 0'):
        engine.UpdatePlan('momentum_sgd', (), [])
    with pytest.raises(TypeError, match='pairs'):
        engine.UpdatePlan('sgd', (), [p])
    with pytest.raises(ValueError, match='parameter 0'):
        engine.UpdatePlan('momentum_sgd', ('v',), [(p, {'v': np.ones(4, 'f')})])
    with pytest.raises(ValueError, match='parameter 0'):
        engine.UpdatePlan('sgd', (), [(chainer.Parameter(), {})])
    plan = engine.UpdatePlan('sgd', (), [(p, {})])
    assert plan.step(1, (0.1,)) is False  # no gradient
    with pytest.raises(TypeError, match='1 numbers'):
        plan.step(1, ())
    with pytest.raises(TypeError):
        plan.step(1, ('x',))
    p.grad = np.ones(3, 'f')
    assert plan.step(1, (0.5,)) is True
    np.testing.assert_array_equal(p.array, np.full(3, 0.5, 'f'))


@pytest.mark.parametrize('kind', ['numpy', 'chainerx'])
def test_an_interrupted_step_is_whole(kind):
    class Stop(Exception):
        pass

    def stop(*_):
        raise Stop

    model = chainer.Link()
    with model.init_scope():
        for i in range(4):
            setattr(model, f'p{i}', chainer.Parameter(np.zeros(1_500_000, 'f')))
    if kind == 'chainerx':
        model.to_device('native:0')
    optimizer = optimizers.MomentumSGD(lr=1, momentum=1).setup(model)
    for p in model.params():
        p.grad = model.xp.ones(p.shape, 'float32')
    optimizer.update()
    optimizer.update()  # from now on the plan exists
    stopped = 0
    old = signal.signal(signal.SIGALRM, stop)
    try:
        for i in range(30):
            try:
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0.0005 * (1 + i % 10))
                    optimizer.update()
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except Stop:
                stopped += 1
            t = optimizer.t
            assert {p.update_rule.t for p in model.params()} == {t}
            for p in model.params():
                state = p.update_rule.state['v']
                assert (float(state.min()), float(state.max())) == (-t, -t)
                expected = -t * (t + 1) / 2
                assert (float(p.array.min()), float(p.array.max())) == (expected, expected)
    finally:
        signal.signal(signal.SIGALRM, old)
    assert stopped


def test_read_only_parameters_are_refused():
    from chainerx._core import engine

    a = np.ones(3, 'f')
    a.flags.writeable = False
    with pytest.raises(ValueError, match='parameter 0'):
        engine.UpdatePlan('sgd', (), [(chainer.Parameter(a), {})])


def test_results_do_not_depend_on_threads():
    results = []
    threads = chainerx.get_num_threads()
    try:
        for n in (1, 2, 4):
            chainerx.set_num_threads(n)
            results.append(train('chainerx', MAKE['Adam'], 'float32')[0][-1])
    finally:
        chainerx.set_num_threads(threads)
    for other in results[1:]:
        for x, y in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize('kind', ['numpy', 'chainerx'])
def test_a_loss_scale_takes_effect(kind, calls):
    """A loss scale introduced later is divided out, once."""
    model, optimizer = warm(kind=kind)
    other, expected = warm(kind=kind)
    for param in model.params():
        grad = chainer.backend.CpuDevice().send(param.grad)
        param.grad = param.device.send(np.asarray(grad * 8))
        param.loss_scale = 8
    optimizer.update()
    expected.update()
    for x, y in zip(values(model), values(other), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6)


def test_a_loss_scale_without_an_update_takes_effect(calls):
    """The gradient of a parameter without update is unscaled, too, when a step repeats."""
    model, optimizer = warm()
    model.p1.update_rule.enabled = False
    for step in (1, 2, 3):
        set_grads(model, step)
        optimizer.update()
    set_grads(model, 1)
    grad = model.p1.grad.copy()
    model.p1.grad = grad * 8
    model.p1.loss_scale = 8
    optimizer.update()
    np.testing.assert_array_equal(model.p1.grad, grad)
    assert model.p1.loss_scale is None
