"""Repeated steps equal one-by-one updates, whatever is done in between."""

import gc
import random
import threading
import weakref

import chainer
import numpy as np
import pytest
from chainer import Chain, Parameter, optimizers
from chainer import links as L
from chainer.optimizers.sgd import SGDRule
from devices import to_numpy

MAKE = {
    'SGD': lambda cls: cls(optimizers.SGD)(0.1),
    'MomentumSGD': lambda cls: cls(optimizers.MomentumSGD)(0.1, 0.8),
    'Adam': lambda cls: cls(optimizers.Adam)(0.1),
    'AdaBound': lambda cls: cls(optimizers.Adam)(0.1, adabound=True),
    'MSVAG': lambda cls: cls(optimizers.MSVAG)(0.1),
}


def plain(cls):
    """The optimizer with one-by-one updates."""

    class OneByOne(cls):
        def _update_params(self, params):
            for param in params:
                param.update()

    return OneByOne


def make_net(kind):
    rng = np.random.RandomState(0)
    net = Chain(a=L.Linear(3, 2), b=Chain(c=L.Linear(2, 2), d=L.Linear(2, 1)))
    for _, param in sorted(net.namedparams()):
        param.array[...] = rng.randn(*param.shape)
    return net.to_device('native:0') if kind == 'chainerx' else net


def set_grads(net, step):
    rng = np.random.RandomState(step)
    for _, param in sorted(net.namedparams()):
        if param.array is not None:
            param.grad = param.device.send(rng.randn(*param.shape).astype('f'))


def first(net):
    return net.b.c.W


def replace(net, optimizer):
    p = first(net)
    with net.b.c.init_scope():
        net.b.c.W = Parameter(to_numpy(p.array).copy())
    net.b.c.W.to_device(p.device)
    net.b.c.W.update_rule = optimizer.create_update_rule()
    net.b.c.W.update_rule.t = p.update_rule.t


def set_t(net, t):
    for param in net.params():
        if param.update_rule is not None:
            param.update_rule.t = t


def another_target(net, optimizer):
    optimizer.target = Chain(inner=net.a if optimizer.target is net else net.b)
    optimizer.target.inner.name = None


def count_up(rule, param):
    rule.seen = getattr(rule, 'seen', 0) + 1


# Actions of a program between two steps.
EDITS = {
    'nothing': lambda net, o: None,
    'value': lambda net, o: first(net).array.fill(0.5),
    'array': lambda net, o: (
        None if o.target.device.xp is not np else setattr(first(net), 'array', np.ones((2, 2), 'f'))
    ),
    'rate': lambda net, o: setattr(o.hyperparam, *next(iter(o.hyperparam.get_dict().items()))),
    'other rate': lambda net, o: (
        setattr(o, 'lr' if hasattr(type(o), 'lr') else 'alpha', 0.03)
        if not isinstance(o, optimizers.Adam)
        else setattr(o, 'alpha', 0.03)
    ),
    'own rate': lambda net, o: setattr(
        first(net).update_rule.hyperparam, 'alpha' if hasattr(o, 'alpha') else 'lr', 0.5
    ),
    'disabled': lambda net, o: setattr(net.a.b.update_rule, 'enabled', False),
    'enabled': lambda net, o: setattr(net.a.b.update_rule, 'enabled', True),
    'link disabled': lambda net, o: net.b.d.disable_update(),
    'link enabled': lambda net, o: net.b.d.enable_update(),
    'no rule': lambda net, o: setattr(net.b.d.b, 'update_rule', None),
    'rule hook': lambda net, o: first(net).update_rule.add_hook(count_up, f'h{o.t}'),
    'optimizer hook': lambda net, o: o.add_hook(chainer.optimizer_hooks.WeightDecay(0.1), f'{o.t}'),
    't': lambda net, o: setattr(net.a.W.update_rule, 't', net.a.W.update_rule.t + 1),
    't of all': lambda net, o: set_t(net, 40),
    't from 0': lambda net, o: set_t(net, 0),
    'optimizer t': lambda net, o: setattr(o, 't', o.t + 5),
    'state': lambda net, o: net.a.W.update_rule.state.update(
        {k: v * 2 for k, v in net.a.W.update_rule.state.items()}
    ),
    'no state': lambda net, o: setattr(net.a.W.update_rule, '_state', None),
    'loss scale': lambda net, o: setattr(first(net), 'loss_scale', 4.0),
    'no gradient': lambda net, o: net.a.cleargrads(),
    'replaced': replace,
    'setup': lambda net, o: o.setup(net),
    'target': another_target,
    'added': lambda net, o: (
        o.target.add_param(f'p{o.t}', 2, initializer=1.0)
        if not hasattr(o.target, f'p{o.t}')
        else None
    ),
    'dynamic': lambda net, o: o.loss_scaling(interval=2),
    'shared': lambda net, o: (
        setattr(net.a.W, 'update_rule', first(net).update_rule)
        if not net.a.W.update_rule.state
        else None
    ),
}


@pytest.mark.parametrize('kind', ['numpy', 'chainerx'])
@pytest.mark.parametrize('name', MAKE)
@pytest.mark.filterwarnings('ignore:.*came into the link after setup')
def test_edits_between_steps(kind, name):
    rng = random.Random(f'{kind} {name}')
    plans = [[edit] for edit in EDITS] + [rng.sample(list(EDITS), 4) for _ in range(6)]
    for i, plan in enumerate(plans):
        sides = []
        for cls in (lambda c: c, plain):
            net = make_net(kind)
            sides.append((net, MAKE[name](cls).setup(net)))
        done = []
        step = 100 * i
        for edit in ('nothing', 'nothing', *plan, 'nothing'):
            done.append(edit)
            errors = [error_of(EDITS[edit], *side) for side in sides]
            assert errors[0] == errors[1], done
            for _ in range(2):
                step += 1
                errors = [error_of(update, *side, step) for side in sides]
                assert errors[0] == errors[1], done
                compare(sides, done)


def error_of(function, *args):
    try:
        function(*args)
    except Exception as error:  # the edited object may not exist any more
        return type(error)
    return None


def update(net, optimizer, step):
    set_grads(net, step)
    optimizer.update()


def compare(sides, done):
    (net, o), (other, p) = sides
    assert (o.t, o._loss_scale) == (p.t, p._loss_scale), done
    pairs = zip(sorted(net.namedparams()), sorted(other.namedparams()), strict=True)
    for (path, x), (_, y) in pairs:
        np.testing.assert_array_equal(to_numpy(x.array), to_numpy(y.array), str((path, done)))
        r, s = x.update_rule, y.update_rule
        assert (r is None) == (s is None)
        if r is None:
            continue
        assert (r.t, r.enabled, getattr(r, 'seen', 0)) == (s.t, s.enabled, getattr(s, 'seen', 0))
        for key in r.state or {}:
            np.testing.assert_array_equal(to_numpy(r.state[key]), to_numpy(s.state[key]), str(done))


def warm(kind='numpy', make=MAKE['SGD'], n=3):
    net = make_net(kind)
    optimizer = make(lambda c: c).setup(net)
    for step in range(n):
        set_grads(net, step)
        optimizer.update()
    return net, optimizer


def repeats(optimizer):
    """Whether the engine alone could do the next step; if so, it did."""
    return optimizer._plan.engine_plan.repeat(optimizer)


@pytest.mark.parametrize('kind', ['numpy', 'chainerx'])
@pytest.mark.parametrize('name', MAKE)
def test_the_engine_does_it(kind, name):
    _, optimizer = warm(kind, MAKE[name])
    assert optimizer.t == 3
    optimizer.update()  # which requests the settings
    assert repeats(optimizer) is True
    assert optimizer.t == 5
    rate = 'alpha' if name.startswith('Ada') else 'lr'
    setattr(optimizer, rate, 0.25)
    assert repeats(optimizer) is None
    optimizer.update()
    assert repeats(optimizer) is True
    assert {p.update_rule.t for p in optimizer.target.params()} == {7}


def test_disabled_hooks_do_not_prevent_it():
    net, optimizer = warm(n=1)
    net.a.disable_update()
    net.b.d.b.update_rule = None
    before = net.a.W.array.copy()
    for _ in range(3):
        optimizer.update()
    assert repeats(optimizer) is True
    np.testing.assert_array_equal(net.a.W.array, before)
    net.a.cleargrads()
    assert repeats(optimizer) is False
    optimizer.update()  # which makes them zeros
    assert not net.a.W.grad.any()
    net.a.enable_update()
    assert repeats(optimizer) is False


def test_rates_that_may_change_in_place_are_reread():
    net, optimizer = warm()
    rate = np.array(0.5)
    optimizer.hyperparam.lr = rate
    for value in (0.5, 0.25, 0.125):
        rate[...] = value
        before = net.a.b.array.copy()
        optimizer.update()
        np.testing.assert_array_equal(net.a.b.array, before - np.float32(value) * net.a.b.grad)


def test_changed_classes_take_effect(monkeypatch):
    _, optimizer = warm()
    optimizer.update()
    monkeypatch.setattr(SGDRule, 'something', 1, raising=False)
    assert repeats(optimizer) is False
    optimizer.update()
    optimizer.update()
    assert repeats(optimizer) is True
    calls = []
    monkeypatch.setattr(optimizers.SGD, 'call_hooks', lambda self, timing: calls.append(timing))
    optimizer.update()
    assert calls == ['pre', 'post']


def test_edits_that_leave_the_parameters_are_no_hindrance():
    class Counting(Chain):
        count = 0

    net = Counting(a=L.Linear(2, 2))
    optimizer = optimizers.SGD(0.1).setup(net)
    for step in range(3):
        set_grads(net, step)
        optimizer.update()
    for _ in range(3):
        Counting.count += 1
        net.a, net.a.note = net.a, Counting.count
        assert repeats(optimizer) is True
    net.a.W, net.a.b = net.a.b, net.a.W
    assert repeats(optimizer) is False


def test_read_only_arrays_are_not_written():
    net, optimizer = warm()
    optimizer.update()
    net.a.W.array.flags.writeable = False
    before = [p.array.copy() for p in net.params()]
    with pytest.raises(ValueError, match='/a/W is read-only'):
        optimizer.update()
    for p, old in zip(net.params(), before, strict=True):
        np.testing.assert_array_equal(p.array, old)
    assert {p.update_rule.t for p in net.params()} == {4}


def test_a_gradient_that_shares_memory_with_a_parameter():
    net = chainer.Link()
    memory = np.arange(200, dtype='f')
    with net.init_scope():
        net.p = Parameter(memory[1:])
    optimizer = optimizers.SGD(0.5).setup(net)
    for _ in range(4):
        net.p.grad = np.ones_like(net.p.array)
        optimizer.update()
    expected = memory[1:] - np.float32(0.5) * memory[:-1]
    net.p.grad = memory[:-1]
    optimizer.update()
    np.testing.assert_array_equal(net.p.array, expected)


def test_nothing_is_kept_alive():
    net, optimizer = warm()
    optimizer.update()
    refs = [weakref.ref(x) for x in (net, optimizer, net.a, net.a.W, net.a.W.update_rule)]
    net.a.W.update_rule.optimizer = optimizer  # a cycle through the plan
    optimizer.update()
    del net, optimizer
    gc.collect()
    assert [r() for r in refs] == [None] * 5


def test_updates_in_threads():
    nets = [warm() for _ in range(4)]

    def train(net, optimizer):
        for step in range(50):
            set_grads(net, step)
            optimizer.update()

    threads = [threading.Thread(target=train, args=pair) for pair in nets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    values = [to_numpy(net.a.W.array) for net, _ in nets]
    for other in values[1:]:
        np.testing.assert_array_equal(other, values[0])
    assert {o.t for _, o in nets} == {53}


def test_one_optimizer_in_threads():
    net, optimizer = warm()
    n = 200

    def train():
        for _ in range(n):
            optimizer.update()

    threads = [threading.Thread(target=train) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert optimizer.t == 3 + 4 * n
    assert {p.update_rule.t for p in net.params()} == {3 + 4 * n}


def overriding(name, value):
    """Ways to replace the object that updates one parameter."""

    def in_object(net, monkeypatch):
        monkeypatch.setattr(net.a.W, name, value, raising=False)

    def in_class(net, monkeypatch):
        monkeypatch.setattr(Parameter, name, lambda self: value())

    def as_class(net, monkeypatch):
        net.a.W.__class__ = type('Own', (Parameter,), {name: lambda self: value()})

    return in_object, in_class, as_class


@pytest.mark.parametrize('disabled', [False, True])
@pytest.mark.parametrize('after', [0, 3])
@pytest.mark.parametrize('way', [0, 1, 2])
def test_an_update_of_the_users_is_called(way, after, disabled, monkeypatch):
    net, optimizer = warm(n=after)
    if disabled:
        net.a.W.update_rule = None
    calls = []
    overriding('update', lambda: calls.append(1))[way](net, monkeypatch)
    n = len(list(net.params())) if way == 1 else 1
    for step in range(1, 4):
        set_grads(net, step)
        optimizer.update()
        assert len(calls) == n * step


@pytest.mark.parametrize('after', [0, 3])
def test_a_gradient_of_the_users_counts(after):
    class Twice(Parameter):
        @property
        def grad(self):
            grad = Parameter.grad.__get__(self)
            return None if grad is None else 2 * grad

        @grad.setter
        def grad(self, value):
            Parameter.grad.__set__(self, value)

    net, optimizer = warm(n=after)
    net.a.W.__class__ = Twice
    for _ in range(3):
        net.a.W.array[...] = 1
        set_grads(net, 0)
        expected = 1 - np.float32(0.1) * net.a.W.grad
        optimizer.update()
        np.testing.assert_allclose(net.a.W.array, expected, rtol=1e-6)


@pytest.mark.parametrize('after', [0, 3])
@pytest.mark.parametrize('name', ['update', 'update_core', 'update_core_cpu'])
def test_a_formula_put_into_a_class_is_used(name, after, monkeypatch):
    net, optimizer = warm(n=after)
    calls = []
    monkeypatch.setattr(SGDRule, name, lambda self, param: calls.append(param))
    for _ in range(3):
        set_grads(net, 0)
        optimizer.update()
    assert len(calls) == 3 * len(list(net.params()))
    monkeypatch.undo()
    for _ in range(3):
        optimizer.update()
    assert repeats(optimizer) is True
    assert len(calls) == 3 * len(list(net.params()))


class Name(str):
    """A name that runs code when it is compared."""

    call = None
    __hash__ = str.__hash__

    def __eq__(self, other):
        call, Name.call = Name.call, None
        if call is not None:
            call()
        return str.__eq__(self, other)


@pytest.mark.parametrize('name', ['t', '_state', 'enabled', 'hyperparam', '_hookable'])
@pytest.mark.parametrize('of_optimizer', [False, True])
@pytest.mark.parametrize('again', [False, True])
def test_names_that_run_code(name, of_optimizer, again):
    def attack():
        plan, optimizer._plan = optimizer._plan, None
        plan.engine_plan.watch(optimizer, [])
        if again:
            optimizer.update()
        del plan
        gc.collect()

    net, optimizer = warm()
    attributes = (optimizer if of_optimizer else net.a.W.update_rule).__dict__
    if name not in attributes:
        return
    attributes[Name(name)] = attributes.pop(name)
    for _ in range(3):
        set_grads(net, 0)
        Name.call = attack
        optimizer.update()
    Name.call = None
    counts = {p.update_rule.t for p in net.params()}
    assert len(counts) == 1 or (name == 't' and not of_optimizer)


def test_a_number_of_updates_of_another_class(monkeypatch):
    class Number:
        def __add__(self, other):
            optimizer._plan.engine_plan.watch(optimizer, [])
            return 7

    net, optimizer = warm()
    optimizer.target = net.b.d
    for param in net.b.d.params():
        param.update_rule.t = Number()
    set_grads(net, 0)
    optimizer.update()
    assert {p.update_rule.t for p in net.b.d.params()} == {7}


def test_a_rule_that_may_refuse_its_number():
    class Rule(SGDRule):
        most = 5

        @property
        def t(self):
            return self.__dict__.get('number', 0)

        @t.setter
        def t(self, value):
            if value > self.most:
                raise RuntimeError(f'no update {value}')
            self.__dict__['number'] = value

    class Optimizer(optimizers.SGD):
        def create_update_rule(self):
            return Rule(self.hyperparam)

    net = make_net('numpy')
    optimizer = Optimizer(1).setup(net)
    net.b.c.W.update_rule.most = 3
    for step in range(5):
        set_grads(net, 0)
        if step < 3:
            optimizer.update()
            continue
        before = net.b.c.W.array.copy()
        with pytest.raises(RuntimeError, match='no update 4'):
            optimizer.update()
        np.testing.assert_array_equal(net.b.c.W.array, before)
    assert net.b.c.W.update_rule.t == 3


@pytest.mark.parametrize(
    'move',
    [
        lambda net: net.W.__init__(net.W.array.T),
        lambda net: net.to_chx(),
        lambda net: net.from_chx(),
    ],
    ids=['transposed', 'to_chx', 'from_chx'],
)
@pytest.mark.parametrize('name', MAKE)
def test_other_arrays_over_the_same_memory(name, move, request):
    """Other arrays over the same memory are updated correctly, whichever is first."""
    results = []
    for cls in (lambda c: c, plain):
        net = Chain()
        with net.init_scope():
            net.W = Parameter(np.arange(4, dtype='f').reshape(2, 2))
        if 'from_chx' in request.node.callspec.id:
            net.to_chx()
        optimizer = MAKE[name](cls).setup(net)
        for _ in range(2):
            for step in range(3):
                update(net, optimizer, step)
            rule, memory = net.W.update_rule, net.W.array
            move(net)
            net.W.update_rule = rule
            for step in range(3):
                update(net, optimizer, step)
            del memory
        for state in (rule.state or {}).values():
            assert type(state) is type(net.W.array)
        results.append(to_numpy(net.W.array))
    np.testing.assert_array_equal(*results)
