"""Saving and loading of optimizers."""

from __future__ import annotations

import chainer
import numpy as np
import pytest
from chainer import optimizers
from chainer.serializers import DictionarySerializer, NpzDeserializer
from devices import DEVICES
from optim.small_net import CountingRule, Net, half, ones, sgd, to_list


@pytest.fixture(params=DEVICES)
def device(request):
    with chainer.using_device(request.param):
        yield request.param


def saved(optimizer):
    serializer = DictionarySerializer()
    optimizer.serialize(serializer)
    return serializer.target


def test_saved_keys():
    net = Net()
    optimizer = optimizers.Adam().setup(net)
    ts = {'l/W/t', 'l/b/t', 'm/W/t', 'm/b/t'}
    assert saved(optimizer).keys() == {'t', 'epoch'} | ts
    optimizer.update(net.loss, ones(net))
    states = {f'{path}/{key}' for path in ('l/W', 'l/b', 'm/b') for key in 'mv'}
    assert saved(optimizer).keys() == {'t', 'epoch'} | ts | states


@pytest.mark.parametrize('is_used', [False, True])
@pytest.mark.parametrize('name', ['SGD', 'MomentumSGD', 'AMSBound', 'SMORMS3'])
def test_round_trip(name, is_used, device):
    def make():
        net = Net()
        net.m(np.ones((1, 3), 'f'))
        net.to_device(device)
        return net, getattr(optimizers, name)().setup(net)

    net, optimizer = make()
    for _ in range(3):
        optimizer.update(net.loss, ones(net))
    optimizer.new_epoch()
    other_net, other = make()
    if is_used:
        other.update(other_net.loss, ones(net) * 2)
    other_net.copyparams(net)
    other.serialize(NpzDeserializer(saved(optimizer)))
    assert (other.t, other.epoch) == (3, 1)
    assert type(other.t) is int
    for o, n in ((optimizer, net), (other, other_net)):
        o.update(n.loss, ones(n))
    for a, b in zip(net.params(), other_net.params(), strict=True):
        assert to_list(a.array) == to_list(b.array)
        assert a.update_rule.t == b.update_rule.t == 4


def test_load_before_initialization():
    # States of a parameter of yet unknown shape.
    net = Net()
    net.m(np.ones((1, 3), 'f'))
    optimizer = optimizers.Adam().setup(net)
    optimizer.update(net.loss, ones(net))
    other = optimizers.Adam().setup(Net())
    other.serialize(NpzDeserializer(saved(optimizer)))
    rule = other.target.m.W.update_rule
    assert rule.state['m'].shape == (2, 3)
    assert rule.t == 1


def test_load_states_that_were_not_there():
    # The optimizer was saved before its first step.
    net = Net()
    optimizer = optimizers.Adam().setup(net)
    fresh = saved(optimizer)
    optimizer.update(net.loss, ones(net))
    optimizer.serialize(NpzDeserializer(fresh))
    assert net.l.W.update_rule.state is None
    assert net.l.W.update_rule.t == optimizer.t == 0


def test_load_missing_and_wrong_states():
    net = Net()
    optimizer = optimizers.Adam().setup(net)
    net.m.disable_update()
    optimizer.update(net.loss, ones(net))
    good = saved(optimizer)
    for change, error, text in (
        ({'l/W/m': None}, KeyError, 'l/W/m'),
        ({'t': None}, KeyError, "'t'"),
        ({'l/W/m': np.ones((3, 3), 'f')}, ValueError, r'l/W/m.*\(3, 3\).*\(1, 2\)'),
        ({'l/W/m': np.ones((1, 2), 'c8')}, TypeError, r'l/W/m.*complex64.*float32'),
        ({'l/W/v': np.array([['a', 'b']])}, TypeError, r'l/W/v.*<U1.*float32'),
    ):
        bad = {k: v for k, v in (good | change).items() if v is not None}
        other = optimizers.Adam().setup(Net())
        with pytest.raises(error, match=text):
            other.serialize(NpzDeserializer(bad))
        assert other.target.l.W.update_rule.state is None
    # Not strict: missing states start from their initial values.
    other = optimizers.Adam().setup(Net())
    bad = {k: v for k, v in good.items() if k != 'l/W/m'}
    other.serialize(NpzDeserializer(bad, strict=False))
    rule = other.target.l.W.update_rule
    assert rule.t == 1
    assert to_list(rule.state['m']) == [[0, 0]]
    assert to_list(rule.state['v']) == to_list(net.l.W.update_rule.state['v'])


def test_load_rules_without_states():
    net = Net()
    optimizer = optimizers.Adam().setup(net)
    net.m.cleargrads()
    optimizer.update(net.loss, ones(net))
    optimizer.update(net.loss, ones(net))
    assert net.m.W.update_rule.t == 2  # though it has no array yet
    values = saved(optimizer)
    assert 'm/W/m' not in values
    for is_disabled in (False, True):
        other = optimizers.Adam().setup(Net())
        if is_disabled:
            other.target.m(np.ones((1, 3), 'f'))
            with pytest.raises(KeyError, match='m/W/m'):
                other.serialize(NpzDeserializer(values))
            other.target.m.disable_update()
        other.serialize(NpzDeserializer(values))
        rule = other.target.m.W.update_rule
        assert (rule.t, rule.state) == (2, None)
        assert other.target.l.W.update_rule.state['m'].shape == (1, 2)


def test_states_that_were_not_saved_are_made_of_the_parameter_of_the_first_update():
    class Slow(CountingRule):
        def init_state(self, param):
            self.state['slow'] = param.array.copy()

        def update_core_cpu(self, param):
            param.array -= param.grad

    net = half('@numpy')
    optimizer = sgd(net)
    values = saved(optimizer)
    net.W.update_rule = Slow()
    optimizer.serialize(NpzDeserializer(values, strict=False))
    assert net.W.update_rule.state is None
    net.W.array[...] = 7
    net.W.grad = np.ones(2, 'e')
    optimizer.update()
    assert to_list(net.W.update_rule.state['slow']) == [7, 7]


def test_the_fp32_copy_is_resumed(device):
    """The float32 copy preserves small steps that a 16-bit parameter cannot represent."""

    def make():
        link = half(device)
        optimizer = optimizers.MomentumSGD(2.0**-13)
        optimizer.use_fp32_update()
        return optimizer.setup(link)

    def step(optimizer):
        optimizer.target.W.grad = optimizer.target.xp.ones(2, 'e')
        optimizer.update()

    whole, resumed = make(), make()
    for _ in range(3):
        values = {key: np.array(value) for key, value in saved(whole).items()}
        weights = to_list(whole.target.W.array)
        step(whole)
    resumed.target.W.array[...] = resumed.target.xp.array(weights, 'e')
    resumed.serialize(NpzDeserializer(values))
    step(resumed)
    copies = [o.target.W.update_rule._fp32_param for o in (whole, resumed)]
    assert to_list(copies[0].array) == to_list(copies[1].array)
    assert copies[1].device == resumed.target.device
    assert to_list(copies[0].array) != to_list(whole.target.W.array)


def test_load_forgets_the_fp32_copy(device):
    link = half(device)
    optimizer = optimizers.MomentumSGD()
    optimizer.use_fp32_update()
    optimizer.setup(link)
    link.W.grad = link.xp.ones(2, 'e')
    optimizer.update()
    values = saved(optimizer)
    assert values['W/v'].dtype == np.float32
    del values['W/fp32_param']  # as in a snapshot of v7
    optimizer.serialize(NpzDeserializer(values))
    assert link.W.update_rule._fp32_param is None
    other = optimizers.MomentumSGD()
    other.use_fp32_update()
    other.setup(half(device)).serialize(NpzDeserializer(values))
    assert other.target.W.update_rule.state['v'].dtype == np.float32


def test_rule_with_its_own_serialize():
    class Rule(CountingRule):
        def serialize(self, serializer):
            super().serialize(serializer)
            self.extra = serializer('extra', getattr(self, 'extra', 0))

    link = half('@numpy')
    optimizer = sgd(link)
    link.W.update_rule = Rule()
    link.W.update_rule.extra = 9
    values = saved(optimizer)
    assert values['W/extra'] == 9
    link.W.update_rule = Rule()
    optimizer.serialize(NpzDeserializer(values))
    assert link.W.update_rule.extra == 9
