"""The engine's cached list of a link's parameters, rebuilt after any edit of the tree."""

import contextlib
import copy
import gc
import pickle
import random
import weakref

import chainer
import numpy as np
import pytest
from chainer import Chain, ChainList, Link, Parameter, Sequential
from chainer import links as L
from chainerx._core import engine


class Net(Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.l2 = L.Linear(3, 2)
            self.body = ChainList(L.Linear(2, 2), Chain(x=Link(), y=L.Linear(2, 1)))
            self.p = Parameter(np.zeros(4, 'f'))
            self.lazy = L.Linear(2)


def by_names(link):
    """The same list by a traversal without cache."""
    return [param for _, param in link.namedparams()]


def assert_right(link):
    assert engine.params(link) is not None
    params = list(link.params())
    assert all(p is q for p, q in zip(params, by_names(link), strict=True))
    assert list(link.params(include_uninit=False)) == [p for p in params if p.is_initialized]
    for param in params:
        if param.is_initialized:
            param.grad = np.ones_like(param.array)
            param.loss_scale = 2
    link.cleargrads()
    assert all(p.grad is None and p.loss_scale is None for p in params)


def rename(link):
    """Renames a parameter; their number stays the same."""
    link.__dict__['V'] = link.W
    link._params.discard('W')
    link._params.add('V')


def in_scope(link, name, value):
    with link.init_scope():
        setattr(link, name, value)


EDITS = {
    'parameter': lambda n: setattr(n, 'p', Parameter(np.ones(2, 'f'))),
    'parameter below': lambda n: setattr(n.body[1].y, 'W', Parameter(np.ones((1, 2), 'f'))),
    'added': lambda n: in_scope(n.l2, 'extra', Parameter(np.ones(2, 'f'))),
    'deleted': lambda n: delattr(n, 'p'),
    'None': lambda n: setattr(n.l2, 'b', None),
    'renamed': lambda n: rename(n.l2),
    'in the dict': lambda n: n.l2.__dict__.update(W=Parameter(np.ones((2, 3), 'f'))),
    'another dict': lambda n: setattr(
        n.l2, '__dict__', n.l2.__dict__ | {'W': Parameter(np.ones((2, 3), 'f'))}
    ),
    'child': lambda n: n.__dict__.update(l2=L.Linear(4, 4)),
    'child added': lambda n: n.add_link('more', L.Linear(1, 1)),
    'child deleted': lambda n: delattr(n, 'l2'),
    'item': lambda n: n.body.__setitem__(0, L.Linear(3, 3)),
    'item added': lambda n: n.body.append(L.Linear(3, 3)),
    'item inserted': lambda n: n.body.insert(0, L.Linear(3, 3)),
    'item deleted': lambda n: n.body.__delitem__(0),
    'items swapped': lambda n: n.body._children.reverse(),
    'persistent': lambda n: n.register_persistent('p'),
    'class': lambda n: setattr(n.l2, '__class__', Link),
    'initialized': lambda n: n.lazy(np.ones((1, 5), 'f')),
    'shared link': lambda n: n.body.append(n.l2),
    'shared parameter': lambda n: in_scope(n, 'q', n.p),
    'device': lambda n: n.to_device('native:0').to_device('@numpy'),
}


@pytest.mark.parametrize('edit', EDITS.values(), ids=EDITS)
def test_edits_take_effect(edit):
    net = Net()
    assert_right(net)
    edit(net)
    assert_right(net)


def test_many_edits_take_effect():
    rng = random.Random(0)
    for _ in range(30):
        net = Net()
        for _ in range(8):
            try:
                rng.choice(list(EDITS.values()))(net)
            except (AttributeError, IndexError, KeyError):
                continue  # the object that it edits is gone
            assert_right(net)


def test_replacements_of_a_parameter():
    net = Net()
    params = list(net.params())
    p = net.p
    other = net.p = chainer.Variable(np.zeros(4, 'f'))  # as a hook does for a forward
    expected = [other if q is p else q for q in params]
    assert all(a is b for a, b in zip(expected, net.params(), strict=True))
    other.grad = np.ones(4, 'f')
    net.cleargrads()
    assert other.grad is None
    net.p = p
    assert_right(net)


def test_lists_are_not_shared_by_copies():
    net = Net()
    assert_right(net)
    others = [net.copy(mode) for mode in ('share', 'copy', 'init')]
    others += [copy.deepcopy(net), pickle.loads(pickle.dumps(net))]
    for other in others:
        assert not set(map(id, net.params())) & set(map(id, other.params()))
        assert_right(other)
        net.p.grad = np.ones(4, 'f')
        other.cleargrads()
        assert net.p.grad is not None
    assert b'ParameterCache' not in pickle.dumps(net)
    shallow = copy.copy(net)
    shallow.p = Parameter(np.ones(1, 'f'))
    for _ in range(2):
        assert_right(shallow)
        assert_right(net)


def test_parameters_of_the_users_choice():
    class Choosy(Chain):
        def params(self, include_uninit=True):
            return iter([self.l.W])

    choosy = Choosy(l=L.Linear(2, 2))
    outer = Chain(c=choosy, d=L.Linear(2, 2))
    for link, expected in (
        (choosy, [choosy.l.W]),
        (outer, [choosy.l.W, outer.d.W, outer.d.b]),
    ):
        assert engine.params(link) is None
        assert list(link.params()) == expected
        for param in (*expected, choosy.l.b):
            param.grad = np.ones_like(param.array)
        link.cleargrads()
        assert all(p.grad is None for p in expected)
        assert choosy.l.b.grad is not None


def test_a_choice_that_comes_later():
    class Late(Chain):
        pass

    net = Late(l=L.Linear(2, 2))
    assert_right(net)
    Late.params = lambda self, include_uninit=True: iter([self.l.b])
    assert list(Chain(net=net).params()) == [net.l.b]
    net.l.W.grad = np.ones((2, 2), 'f')
    net.cleargrads()
    assert net.l.W.grad is not None


def test_cleargrad_of_the_users():
    calls = []

    class Mine(Parameter):
        def cleargrad(self):
            calls.append('class')
            super().cleargrad()

    net = Chain()
    with net.init_scope():
        net.a = Mine(np.zeros(2, 'f'))
        net.b = Parameter(np.zeros(2, 'f'))
    net.a.grad = np.ones(2, 'f')
    net.b.cleargrad = lambda: calls.append('instance')
    net.cleargrads()
    assert calls == ['class', 'instance']
    assert net.a.grad is None


def test_a_gradient_that_edits_the_tree_when_it_goes():
    net = Net()
    assert_right(net)

    class Editor(np.ndarray):
        def __del__(self):
            if hasattr(net, 'l2'):
                del net.l2, net.body[:]

    for param in net.params():
        if param.is_initialized:
            param.grad = np.ones_like(param.array).view(Editor)
    net.cleargrads()
    gc.collect()
    assert_right(net)


def test_nothing_is_kept_alive():
    net = Net()
    assert_right(net)
    gc.disable()
    try:
        old = weakref.ref(net.p), weakref.ref(net.l2)
        net.p = None
        del net.l2
        assert [r() for r in old] == [None, None]
        ref = weakref.ref(net)
        del net
        assert ref() is None
    finally:
        gc.enable()


def test_a_link_in_itself():
    net = Chain()
    net.add_link('l', L.Linear(1, 1))
    net.l.__dict__['_children'] = set()
    ring = ChainList()
    ring._children.append(ring)
    with pytest.raises(RecursionError):
        ring.cleargrads()


def test_iterating_while_editing():
    net = Sequential(L.Linear(2, 2), L.Linear(2, 2))
    seen = 0
    for _ in net.params():
        seen += 1
        net.append(L.Linear(2, 2))
    assert seen == 4
    assert_right(net)


def test_loss_scales_are_copied_and_saved():
    p = Parameter(np.zeros(2, 'f'))
    p.loss_scale = 4.0
    p.mine = 'x'
    for other in (copy.copy(p), copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
        assert other.loss_scale == 4.0
        assert other.mine == 'x'
    q = Parameter.__new__(Parameter)
    q.__setstate__({'mine': 1})
    assert (q.loss_scale, q.mine) == (None, 1)
    p.cleargrad()
    assert p.loss_scale is None


class Name(str):
    """A name that runs code when it is compared."""

    call = None
    __hash__ = str.__hash__

    def __eq__(self, other):
        self.run()
        return str.__eq__(self, other)

    def __lt__(self, other):
        self.run()
        return str.__lt__(self, other)

    @classmethod
    def run(cls):
        call, cls.call = cls.call, None
        if call is not None:
            call()


def name_in_set(link):
    link._params.discard('W')
    link._params.add(Name('W'))


def name_in_dict(link):
    link.__dict__[Name('W')] = link.__dict__.pop('W')


def name_of_set(link):
    link.__dict__[Name('_params')] = link.__dict__.pop('_params')


def name_of_walk(link):
    link.__dict__[Name('_Link__parameter_cache')] = link.__dict__.pop(
        '_Link__parameter_cache', None
    )


def forget_walk(net):
    net.__dict__.pop('_Link__parameter_cache', None)


def empty_dicts(net):
    for link in list(net.links()):
        link.__dict__.clear()


def other_dicts(net):
    for link in list(net.links()):
        link.__dict__ = {}


def delete_params(net):
    for link in net.links():
        for name in link._params:
            del link.__dict__[name]


@pytest.mark.parametrize('damage', [forget_walk, empty_dicts, other_dicts, delete_params])
@pytest.mark.parametrize('put', [name_in_set, name_in_dict, name_of_set, name_of_walk])
@pytest.mark.parametrize('place', [lambda n: n, lambda n: n.l2, lambda n: n.body[1].y])
def test_names_that_run_code(place, put, damage):
    def attack():
        damage(net)
        gc.collect()
        junk.extend(bytearray(n) for n in range(600))

    for walk in (lambda n: n.cleargrads(), lambda n: list(n.params())):
        for known in (False, True):
            net, junk = Net(), []
            net.W = None
            net._params.add('W')
            if known:
                net.cleargrads()
            put(place(net))
            Name.call = attack
            # Links without the attributes that Link.__init__ sets.
            with contextlib.suppress(AttributeError, KeyError):
                walk(net)
            Name.call = None


def test_an_attribute_called_walk_is_the_users():
    net = Net()
    net._walk = 'mine'
    assert_right(net)
    assert net._walk == 'mine'
    net._Link__parameter_cache = 'mine'
    net.cleargrads()
    assert by_names(net) == list(net.params())
    assert net._Link__parameter_cache == 'mine'


def test_containers_of_other_classes():
    class Names(set):
        pass

    class Links(list):
        pass

    for _ in range(100):  # until one has the address of the old one
        net = Net()
        net.cleargrads()
        net.l2._params = Names(net.l2._params)
        net.body._children = Links(net.body._children)
        assert by_names(net) == list(net.params())
        net.l2._params = frozenset(net.l2._params)
        assert by_names(net) == list(net.params())
