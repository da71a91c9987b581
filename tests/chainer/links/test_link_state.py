"""`Link`: copies, pickles, values, gradients, saving."""

from __future__ import annotations

import base64
import copy
import pickle
import zlib

import chainer
import numpy as np
import pytest
from chainer import Chain, ChainList, Link, Parameter
from chainer import links as L
from chainer.backend import CpuDevice
from devices import DEVICES


@pytest.fixture(params=DEVICES)
def device(request):
    return chainer.get_device(request.param)


class Net(Chain):
    """A link with every kind of content, registered in another order than that of names."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l2 = L.Linear(3, 2)
            self.body = ChainList(Link(b=2), Chain(x=Link(), b=L.EmbedID(2, 2)))
            self.p = Parameter(np.zeros(4, 'f'))
            self.a = Parameter(np.zeros(5, 'f'))
        self.add_persistent('state', np.zeros(2, 'f'))
        self.add_persistent('count', 0)


PATHS = ['/a', '/p', '/body/0/b', '/body/1/b/W', '/l2/W', '/l2/b']
LINK_PATHS = ['/', '/body', '/body/0', '/body/1', '/body/1/b', '/body/1/x', '/l2']


def to_numpy(x):
    return CpuDevice().send(x)


def assert_values(param, expected):
    np.testing.assert_array_equal(to_numpy(param.array), expected)


def names(links):
    return [link.name for link in links]


# -- copies


def test_copy_share():
    net = Net()
    net.l2.W.grad = np.ones((2, 3), 'f')
    net.name = 'given'
    other = net.copy()
    assert type(other) is Net
    assert other.name is None
    assert [name for name, _ in other.namedparams()] == PATHS
    assert names(other.links()) == names(Net().links())
    for new, old in zip(other.params(), net.params(), strict=True):
        assert new is not old
        assert new.array is old.array
        assert new.name == old.name
    assert other.l2.W.grad is None
    assert net.l2.W.grad is not None
    assert all(new is not old for new, old in zip(other.links(), net.links(), strict=True))
    assert other.state is net.state
    other.add_param('z', 2)
    other.add_link('m', Link())
    other.body.append(Link())
    del other.count
    assert [name for name, _ in net.namedparams()] == PATHS
    assert [name for name, _ in net.namedlinks()] == LINK_PATHS


@pytest.mark.parametrize('mode', ['copy', 'init'])
def test_a_child_in_two_places_is_copied_once(mode):
    net = Chain()
    with net.init_scope():
        net.encode = net.decode = L.Linear(2, 2)
    other = net.copy(mode)
    assert other.encode is other.decode
    assert other.encode.W.array is not net.encode.W.array


def test_registrations_in_a_copy_stay_there():
    net = Net()
    other = net.copy()
    before = set(net._persistent), dict(net.__dict__)
    other.add_persistent('more', 1)
    other.extra = 2
    other.register_persistent('extra')
    del other.state
    assert (net._persistent, net.__dict__) == before
    data: dict = {}
    net.serialize(Saver(data))
    assert list(data) == SAVED
    data = {}
    other.serialize(Saver(data))
    assert {'more', 'extra'} <= set(data)
    assert 'state' not in data
    # And vice versa.
    third = net.copy()
    net.add_persistent('late', 3)
    net.add_param('q', 2)
    data = {}
    third.serialize(Saver(data))
    assert list(data) == SAVED


@pytest.mark.parametrize('mode', ['copy', 'init'])
def test_deep_copies(mode):
    net = Net()
    np.random.seed(3)
    other = net.copy(mode)
    assert [name for name, _ in other.namedparams()] == PATHS
    for new, old in zip(other.params(), net.params(), strict=True):
        assert not np.shares_memory(new.array, old.array)
    assert np.array_equal(other.l2.W.array, net.l2.W.array) is (mode == 'copy')
    assert other.state is not net.state
    if mode == 'init':
        np.random.seed(3)
        assert_values(other.body[1].b.W, np.random.normal(size=(2, 2)).astype('f'))


def test_copies_of_uninitialized_links():
    for mode in ('share', 'copy', 'init'):
        other = L.Linear(2).copy(mode)
        assert not other.W.is_initialized
        assert other(np.zeros((1, 3), 'f')).shape == (1, 2)


def test_copies_have_hooks_of_their_own():
    link = Link().add_hook(chainer.LinkHook())
    other = link.copy()
    assert list(other.local_link_hooks) == ['LinkHook']
    other.delete_hook('LinkHook')
    assert list(link.local_link_hooks) == ['LinkHook']


def test_python_copies():
    net = Net()
    shallow, deep = copy.copy(net), copy.deepcopy(net)
    assert shallow.l2 is net.l2
    assert deep.l2.W is not net.l2.W
    assert_values(deep.l2.W, net.l2.W.array)


@pytest.mark.parametrize('make', [Link, Chain, ChainList, L.Linear(2).repeat(2).copy])
def test_unknown_mode_of_copy(make):
    with pytest.raises(ValueError, match='But other was given'):
        make().copy('other')
    with pytest.raises(ValueError, match='But other was given'):
        make().repeat(2, 'other')


@pytest.mark.parametrize('mode', ['init', 'copy', 'share'])
def test_repeat(mode):
    link = L.Linear(3, 3)
    layers = link.repeat(3, mode)
    assert type(layers) is chainer.Sequential
    assert len(layers) == 3
    assert link not in layers
    assert names(layers) == ['0', '2', '1']  # as in v7
    for layer in layers:
        assert (layer.W.array is link.W.array) is (mode == 'share')
        assert np.array_equal(layer.W.array, link.W.array) is (mode != 'init')
    assert np.array_equal(layers[0].W.array, layers[1].W.array) is (mode != 'init')
    assert layers(np.zeros((2, 3), 'f')).shape == (2, 3)


@pytest.mark.parametrize('n', [0, -1])
def test_repeat_no_times(n):
    assert len(L.Linear(3, 3).repeat(n)) == 0


def test_pickle():
    net = Net()
    other = pickle.loads(pickle.dumps(net))
    assert [name for name, _ in other.namedparams()] == PATHS
    for new, old in zip(other.params(), net.params(), strict=True):
        assert_values(new, old.array)
    assert other.count == 0
    other.l2(np.zeros((1, 3), 'f'))


# Chain(a=Linear(2, 1, initialW=3, initial_bias=4), b=Sequential(Linear(1))), with a persistent
# s=5, as Chainer 7.8.1 pickles it; compressed.
V7_PICKLE = (
    'c-nnb&2G~`5O&g}ZMH291qy{eKyrzS#DN16m4bwXD<8rEUm|P0UOG#ib@s<WK|*Q|X_MFDiFgB;T{kUhMQwR^Jv%'
    '$|%{QNYUS|xbkX-k2A<szPy^!w3&rZA_1VK_vxYi=exJ+!3jJSm&Gb-rD8*X<@H60mMV@Z;hBDX>&2{GIfRUgg<@'
    's{`D+6ZI0v}z6N!?=b<qZ$<V_uT$>VFAwxDQsd`G3Khdh#R;g>4>ZKC~iBi69ku3PFW$j+L*^JXJ;VtOmnF=F?Po'
    'XPgTp$R1rQK09h%}^jIM!XI2!_893GCq?**0D;t6?)Lbm6qI^-?E{cPWQ*#09KmfD5`VqDfKe*Zn>+vSO7p1KXkH'
    'Q*k-{hT8Eoho^l4#Bxp%ri3a!k70VX_>Jr-)1Q-l#+psn&E_IZI=8$&k-><wayx?W)INFk=ZTGR_R)(k+PEs|bkK'
    'am*>U<F$HnIZ#ip2A!~mcm47@OlGHJ^nVuD(evw@#r$fZ_B-L4KmSfWkD}<)AH4h!1~y&5o-Z*7j*r~~7}ut-9nE'
    'jbbj=Yo$NIHr*;pzq=`R=Rg;y1E2}PbK6PlM?9bnETnmi!&GAh&PCSXe08JC&qC2U-h{<!?WCxRjDSKSLcfEMg_p'
    'bd@)SXMZLeTTH^k^VYg!fZuz@af^;{)uZ6-Z~PH0(hu+ceR&MJzDT!O3cAfyi@Gj=}PMgeJeo2Rf*pLl0-h=E>}L'
    'DBK?NqB+=F2R*HAz*FyQh<`7V>>TpG{a966nokz}pCju`@<ShDs*JPnbi0Fj(OBq#b-!#XkVKnC--~X;ih}Uq?@-'
    '+IFg@;<wxMuHuN5Wv0Nm~6|aymswLpY>JZX;}#Y40x!(R0)'
)


def test_pickle_of_v7():
    net = pickle.loads(zlib.decompress(base64.b85decode(V7_PICKLE)))
    assert [name for name, _ in net.namedparams()] == ['/a/W', '/a/b', '/b/0/W', '/b/0/b']
    assert net.s == 5
    assert net.a.W.grad is None
    np.testing.assert_array_equal(net.a(np.array([[1, 2]], 'f')).array, [[13]])
    assert not net.b[0].W.is_initialized
    assert net.b(np.zeros((1, 3), 'f')).shape == (1, 1)
    net.copy('init').to_device('native:0')


def test_state_of_v7_pickles():
    # v7 wrote no _local_link_hooks where there was no hook.
    link = L.Linear(3, 2)
    state = dict(link.__dict__)
    del state['_local_link_hooks']
    other = L.Linear.__new__(L.Linear)
    other.__dict__.update(state, _overridden_to_methods=())
    assert other(np.zeros((1, 3), 'f')).shape == (1, 2)
    assert other.local_link_hooks == {}


# -- values and gradients


def test_copyparams(device):
    net, other = Net().to_device(device), Net()
    other.state[...] = 5
    other.count = 7
    other.l2.b.array[...] = 3
    state = net.state
    net.copyparams(other)
    for new, old in zip(net.params(), other.params(), strict=True):
        assert_values(new, old.array)
        assert new.device == device
    assert net.state is state
    np.testing.assert_array_equal(to_numpy(state), [5, 5])
    assert net.count == 7
    other.count = 8
    net.copyparams(other, copy_persistent=False)
    assert net.count == 7


def test_copyparams_of_uninitialized():
    full, lazy = L.Linear(3, 2), L.Linear(2)
    lazy.copyparams(full)
    assert_values(lazy.W, full.W.array)
    L.Linear(2).copyparams(L.Linear(2))


def test_copyparams_of_links_that_do_not_fit():
    L.Linear(3, 2, nobias=True).copyparams(L.Linear(3, 2))
    with pytest.raises(KeyError, match="Linear has no parameter 'b'"):
        L.Linear(3, 2).copyparams(L.Linear(3, 2, nobias=True))
    with pytest.raises(KeyError, match=r"Chain has no child 'a' \(it has: b\)"):
        Chain(a=Link()).copyparams(Chain(b=Link()))
    with pytest.raises(KeyError, match="ChainList has no child '0'"):
        ChainList(Link()).copyparams(ChainList())
    with pytest.raises(TypeError, match='int is no Link'):
        Link().copyparams(3)
    stateful = Link()
    stateful.add_persistent('s', 1)
    with pytest.raises(KeyError, match="no persistent value 's'"):
        stateful.copyparams(Link())


@pytest.mark.parametrize('action', ['copyparams', 'addgrads'])
def test_links_of_other_shapes(action, device):
    """The error names path and shapes, even for shapes that broadcast; nothing changes."""
    net, other = (
        Chain(a=L.Linear(3, 2), b=ChainList(L.Linear(n, 2))).to_device(device) for n in (3, 1)
    )
    for link in (net, other):
        for param in link.params():
            param.grad = param.array + 1
    before = {k: (to_numpy(p.array), to_numpy(p.grad)) for k, p in net.namedparams()}
    before = {k: (x.copy(), g.copy()) for k, (x, g) in before.items()}
    text = rf'^{action}: b/0/W has shape \(2, 1\), expected \(2, 3\)$'
    with pytest.raises(ValueError, match=text):
        getattr(net, action)(other)
    for path, param in net.namedparams():
        np.testing.assert_array_equal(to_numpy(param.array), before[path][0])
        np.testing.assert_array_equal(to_numpy(param.grad), before[path][1])


def test_a_child_that_copies_in_its_own_way():
    class Wide(L.Linear):
        def copyparams(self, link, copy_persistent=True):
            self.W.array[...] = link.weight.array.T

    net, other = Chain(a=Wide(3, 2)), Chain(a=Link(weight=(3, 2)))
    other.a.weight.array[...] = [[1, 2], [3, 4], [5, 6]]
    net.copyparams(other)
    np.testing.assert_array_equal(net.a.W.array, [[1, 3, 5], [2, 4, 6]])


def test_persistent_values_of_other_shapes():
    net, other = L.BatchNormalization(3), L.BatchNormalization(3)
    other.avg_var = np.ones(1, 'f')
    with pytest.raises(
        ValueError, match=r'^copyparams: avg_var has shape \(1,\), expected \(3,\)$'
    ):
        net.copyparams(other)
    net.copyparams(other, copy_persistent=False)


def test_gradients(device):
    net, other = (Chain(l=L.Linear(3, 2)).to_device(device) for _ in range(2))
    net.cleargrads()
    other.cleargrads()
    assert all(param.grad is None for param in net.params())
    ones = np.ones((2, 3), 'f')
    other.l.W.grad = device.send(ones)
    net.addgrads(other)
    net.addgrads(other)
    np.testing.assert_array_equal(to_numpy(net.l.W.grad), 2 * ones)
    assert net.l.b.grad is None
    np.testing.assert_array_equal(to_numpy(other.l.W.grad), ones)
    with pytest.raises(KeyError, match="no child 'l'"):
        net.addgrads(Chain())
    with pytest.raises(KeyError, match="no parameter 'b'"):
        L.Linear(3, 2).addgrads(L.Linear(3, 2, nobias=True))


def test_gradients_of_shared_parameters(device):
    """What two paths of both links share is added once; two sources of one parameter both are."""
    net = Chain(a=L.Linear(3, 3), b=L.Linear(3, 3)).to_device(device)
    net.b.W = net.a.W
    shared, apart = net.copy(mode='copy'), Chain(a=L.Linear(3, 3), b=L.Linear(3, 3))
    apart.to_device(device)
    for other, expected in ((shared, 1), (apart, 2)):
        net.cleargrads()
        other.cleargrads()
        for link in (other.a, other.b):
            link.W.grad = device.send(np.ones((3, 3), 'f'))
        net.addgrads(other)
        np.testing.assert_array_equal(to_numpy(net.a.W.grad), np.full((3, 3), expected))


def test_gradients_of_an_initialized_copy_are_nan_until_cleared():
    link = L.Linear(3, 2)
    link.cleargrads()
    with link.init_scope():
        link.given = chainer.Parameter(np.ones(2, 'f'))
    link.given.grad = np.ones(2, 'f')
    copied = link.copy('init')
    assert np.isnan(copied.W.grad).all()
    assert np.isnan(copied.b.grad).all()
    assert copied.given.grad is None  # as in any parameter made from an array
    copied.cleargrads()
    assert copied.W.grad is None


def test_zerograds_is_deprecated():
    link = L.Linear(3, 2)
    with pytest.warns(DeprecationWarning, match='Use Link.cleargrads') as caught:
        link.zerograds()
    assert [w.filename for w in caught] == [__file__]
    np.testing.assert_array_equal(link.W.grad, np.zeros((2, 3)))


def test_updates_are_switched():
    class Rule:
        enabled = True

    net = Net()
    assert not net.update_enabled
    net.disable_update()
    net.a.update_rule = Rule()
    net.l2.W.update_rule = Rule()
    assert net.update_enabled
    net.disable_update()
    assert not net.update_enabled
    assert net.l2.W.update_rule.enabled is False
    net.body.enable_update()
    assert not net.update_enabled
    net.l2.enable_update()
    assert net.update_enabled


# -- saving


class Saver(chainer.Serializer):
    def __init__(self, data, path=''):
        self.data, self.path = data, path

    def __getitem__(self, key):
        return Saver(self.data, f'{self.path}{key}/')

    def __call__(self, key, value):
        self.data[self.path + key] = to_numpy(value).copy() if hasattr(value, 'shape') else value
        return value


class Loader(chainer.Deserializer):
    def __init__(self, data, path=''):
        self.data, self.path = data, path

    def __getitem__(self, key):
        return Loader(self.data, f'{self.path}{key}/')

    def __call__(self, key, value):
        loaded = self.data[self.path + key]
        if value is None or not hasattr(value, 'shape'):
            return loaded
        chainer.backend.copyto(value, loaded)
        return value


SAVED = ['a', 'p', 'count', 'state', 'body/0/b', 'body/1/b/W', 'l2/W', 'l2/b']


def test_serialize(device):
    data: dict = {}
    Net().to_device(device).serialize(Saver(data))
    assert list(data) == SAVED
    net = Net().to_device(device)
    arrays = [param.array for param in net.params()]
    data['count'] = 5
    data['l2/b'] += 1
    net.serialize(Loader(data))
    assert net.count == 5
    for path, param in net.namedparams():
        assert_values(param, data[path[1:]])
        assert param.device == device
    if device.xp is np:
        pairs = zip(arrays, net.params(), strict=True)
        assert all(array is param.array for array, param in pairs)


def test_a_persistent_value_becomes_a_parameter_and_back(device):
    # It is saved once, under its current kind, and moved, trained and copied as such.
    net = Net()
    with net.init_scope():
        net.state = Parameter(np.full(2, 7, 'f'))
    net.to_device(device)
    data: dict = {}
    net.serialize(Saver(data))
    assert sorted(data) == sorted(SAVED)
    np.testing.assert_array_equal(data['state'], [7, 7])
    assert '/state' in dict(net.namedparams())
    net.copyparams(net.copy('copy'))
    net.serialize(Loader(data | {'state': np.full(2, 8, 'f')}))
    assert type(net.state) is Parameter
    assert_values(net.state, [8, 8])
    assert net.state.device == device
    net.state = np.ones(2, 'f')
    net.register_persistent('state')
    data = {}
    net.serialize(Saver(data))
    assert sorted(data) == sorted(SAVED)
    assert '/state' not in dict(net.namedparams())


def test_an_attribute_that_goes_is_not_saved():
    net = Net()
    del net.state, net.a
    data: dict = {}
    net.serialize(Saver(data))
    assert sorted(data) == sorted(set(SAVED) - {'a', 'state'})


def test_serialize_uninitialized(device):
    data: dict = {}
    L.Linear(2).serialize(Saver(data))
    assert data['W'] is None
    link = L.Linear(2).to_device(device)
    link.serialize(Loader(data))
    assert not link.W.is_initialized
    data['W'] = np.arange(6, dtype='f').reshape(2, 3)
    link.serialize(Loader(data))
    assert_values(link.W, data['W'])
    assert link.W.device == device
    data['W'] = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    link = L.Linear(2)
    link.serialize(Loader(data))
    assert_values(link.W, data['W'])
