"""Moving links, and other device residents, between devices."""

from __future__ import annotations

import warnings

import chainer
import numpy as np
import pytest
from chainer import Chain, ChainList, Link, Parameter, Variable
from chainer import links as L
from chainer.backend import CpuDevice
from chainer.device_resident import DeviceResident, DeviceResidentsVisitor
from devices import DEVICES


@pytest.fixture(params=DEVICES)
def device(request):
    return chainer.get_device(request.param)


class Net(Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.body = ChainList(Link(b=2), Chain(x=Link(), b=L.EmbedID(2, 2)))
            self.l2 = L.Linear(3, 2)
        self.add_persistent('state', np.zeros(2, 'f'))
        self.add_persistent('count', 0)


def to_numpy(x):
    return CpuDevice().send(x)


def assert_values(param, expected):
    np.testing.assert_array_equal(to_numpy(param.array), expected)


# -- devices


def assert_on(net, device):
    for link in net.links():
        assert link.device == device
        assert link.xp is device.xp
    for param in net.params():
        assert param.device == device
        if param.is_initialized:
            assert isinstance(param.array, device.xp.ndarray)
    assert isinstance(net.state, device.xp.ndarray)


@pytest.mark.parametrize('target', DEVICES)
def test_to_device(device, target):
    net = Net()
    net.add_link('lazy', L.Linear(2))
    assert_on(net, CpuDevice())
    assert net.to_device(device) is net
    assert net.to_device(target) is net
    target = chainer.get_device(target)
    assert_on(net, target)
    assert net.count == 0
    y = net.lazy(target.send(np.zeros((2, 3), 'f')))
    assert y.shape == (2, 2)
    assert_on(net, target)


def test_to_chx_and_from_chx():
    net = Net()
    data = net.l2.W.array
    assert net.to_chx() is net
    assert_on(net, chainer.get_device('native:0'))
    assert net.from_chx() is net
    assert_on(net, CpuDevice())
    data[...] = 7
    assert_values(net.l2.W, data)


def test_later_changes_follow(device):
    link = Link().to_device(device)
    with link.init_scope():
        link.p = Parameter(np.zeros(2, 'f'))
        link.lazy = Parameter()
    link.add_param('q', 2)
    link.lazy.initialize((2,))
    for param in link.params():
        assert param.device == device


@pytest.mark.parametrize(
    ('spec', 'error'),
    [('@other', ValueError), (None, TypeError), (3.5, TypeError), ('other:0', Exception)],
)
def test_to_bad_devices(spec, error):
    net = Net()
    with pytest.raises(error):
        net.to_device(spec)
    assert_on(net, CpuDevice())


def test_device_is_read_only():
    with pytest.raises(AttributeError):
        Link().device = CpuDevice()


def test_to_cpu_is_deprecated(device):
    net = Net().to_device(device)
    with pytest.warns(DeprecationWarning, match="to_cpu is deprecated.*'@numpy'") as caught:
        assert net.to_cpu() is net
    assert caught[0].filename == __file__
    assert_on(net, CpuDevice())


@pytest.mark.skipif(chainer.backends.cuda.available, reason='CuPy is there')
def test_to_gpu_without_cupy():
    with pytest.raises(RuntimeError, match='CUDA'):
        Net().to_gpu()


@pytest.mark.skipif(chainer.backends.intel64.is_ideep_available(), reason='iDeep is there')
def test_to_intel64_without_ideep():
    with pytest.raises(RuntimeError, match='iDeep'):
        Net().to_intel64()


class Recorder(DeviceResidentsVisitor):
    def __init__(self):
        self.seen = []

    def visit_device_resident(self, device_resident):
        self.seen.append(device_resident)

    def visit_array(self, arr):
        self.seen.append(arr)
        return arr + 1

    def visit_variable(self, param):
        self.seen.append(param)


def test_order_of_visits():
    link = Link(y=2, x=2)
    for name, value in {'v': Variable(np.zeros(1)), 'n': 1, 's': 'x', 'a': np.zeros(1)}.items():
        link.add_persistent(name, value)
    link.plain = np.zeros(1)
    array = link.a
    net = Chain(b=Link(), a=link)
    recorder = Recorder()
    net.device_resident_accept(recorder)
    expected = [net, link, link.x, link.y, array, link.v, net.b]
    assert len(recorder.seen) == len(expected)
    for seen, one in zip(recorder.seen, expected, strict=True):
        assert seen is one
    assert link.a == 1
    assert link.plain == 0


@pytest.mark.parametrize('name', ['visit_device_resident', 'visit_array', 'visit_variable'])
def test_visitors_must_override(name):
    with pytest.raises(NotImplementedError, match=name):
        getattr(DeviceResidentsVisitor(), name)(None)


@pytest.mark.parametrize('name', ['to_device', 'to_chx', 'from_chx'])
@pytest.mark.parametrize('base', [Link, ChainList, DeviceResident])
def test_final_methods(base, name):
    with pytest.raises(TypeError, match=f"'{name}' is final"):
        type('Bad', (base,), {name: lambda self: self})


def test_a_legacy_method_in_code_without_a_module():
    source = 'class Old(Link):\n    def to_cpu(self):\n        return self'
    with pytest.warns(DeprecationWarning, match='to_cpu') as caught:
        exec(compile(source, 'a cell', 'exec'), {'Link': Link})
    assert caught[0].filename == 'a cell'


@pytest.mark.parametrize('base', [Link, ChainList])
def test_overriding_a_legacy_method(base):
    calls = []
    with pytest.warns(DeprecationWarning, match="Overriding method 'to_cpu'") as caught:

        class Old(base):
            def to_cpu(self):
                calls.append(self.device)
                return super().to_cpu()

    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')

        class Older(Old):
            pass

        chx = chainer.get_device('native:0')
        net = Chain(child=Older()).to_device(chx)
        net.to_device('@numpy')
        assert calls == [chx]
        assert net.child.device == CpuDevice()
        net.to_cpu()
        assert len(calls) == 2
        net.child.to_cpu()
        assert len(calls) == 3
        net.to_device(chx)
        assert len(calls) == 3


def test_device_resident_alone(device):
    resident = DeviceResident()
    assert resident.device == CpuDevice()
    assert resident.to_device(device) is resident
    assert resident.device == device
