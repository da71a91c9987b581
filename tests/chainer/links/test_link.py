"""`Link`, `Chain`, `ChainList`: registration, calls, traversal, printing."""

from __future__ import annotations

import abc
import gc
import weakref

import chainer
import numpy as np
import pytest
from chainer import Chain, ChainList, Link, Parameter, Variable
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


# -- Link: registering


@pytest.mark.parametrize(
    ('value', 'shape', 'dtype'),
    [
        ((2, 3), (2, 3), 'float32'),
        (2, (2,), 'float32'),
        ((), (), 'float32'),
        ((3, 4), (3, 4), 'float32'),
        ([2, 3], (2, 3), 'float32'),
        (((3,), np.float64), (3,), 'float64'),
        ((3, 'd'), (3,), 'float64'),
    ],
)
def test_constructor_takes_shapes(value, shape, dtype):
    link = Link(x=value)
    assert link.x.shape == shape
    assert link.x.dtype == dtype
    assert np.isnan(link.x.array).all()
    assert link.x.name == 'x'


def test_constructor_takes_shapes_that_are_not_known():
    link = Link(x=None, y=(None, 'd'))
    assert not link.x.is_initialized
    link.y.initialize((2,))
    assert link.y.dtype == 'd'


def test_init_scope_registers_parameters_only():
    link = Link()
    param = Parameter(np.zeros(2, 'f'), name='other')
    with link.init_scope():
        assert link.within_init_scope
        with link.init_scope():
            pass
        assert link.within_init_scope
        link.p = param
        link.v = Variable(np.zeros(2, 'f'))
        link.x = 3
    assert not link.within_init_scope
    link.q = Parameter(np.zeros(2, 'f'))
    assert link.p is param
    assert param.name == 'p'
    assert link.q.name is None
    assert [name for name, _ in link.namedparams()] == ['/p']


def test_init_scope_ends_with_an_error():
    link = Link()
    with pytest.raises(KeyError), link.init_scope():
        raise KeyError
    assert not link.within_init_scope


def test_one_parameter_under_two_names():
    link = Link()
    with link.init_scope():
        link.x = link.y = Parameter(np.zeros(2, 'f'))
    assert [name for name, _ in link.namedparams()] == ['/x', '/y']
    assert len(list(link.params())) == 2


def test_former_parameters_are_not_traversed():
    link = Link(x=2, y=2)
    param = link.x
    link.x = None
    assert list(link.params()) == [link.y]
    link.cleargrads()
    link.x = param  # as a hook does after a forward
    assert list(link.params()) == [param, link.y]


def test_names_in_place_of_others_are_seen():
    # The same number as before: the cached list must not be validated by its length.
    link = L.Linear(3, 2)
    link.cleargrads()
    assert [p.shape for p in link.params()] == [(2, 3), (2,)]
    link.V = Parameter(np.ones(5, 'f'))
    link._params.remove('b')
    link._params.add('V')
    assert [name for name, _ in link.namedparams()] == ['/V', '/W']
    assert [p.shape for p in link.params()] == [(5,), (2, 3)]
    link._params = {'W'}
    assert [p.shape for p in link.params()] == [(2, 3)]

    chain = Chain(a=link, b=L.Linear(1, 1))
    chain.cleargrads()
    chain.c = L.Linear(7, 7)
    chain._children.remove('b')
    chain._children.add('c')
    assert [p.shape for p in chain.params()] == [(2, 3), (7, 7), (7,)]
    chain.c.W.grad = np.ones((7, 7), 'f')
    chain.cleargrads()
    assert chain.c.W.grad is None

    children = ChainList(L.Linear(1, 1), chain)
    children.cleargrads()
    children._children[0] = L.Linear(4, 4)
    children[0].W.grad = np.ones((4, 4), 'f')
    children.cleargrads()
    assert children[0].W.grad is None
    assert [p.shape for p in children.params()][:2] == [(4, 4), (4,)]


def test_delete_unregisters():
    link = Link(x=2)
    link.add_persistent('s', 1)
    del link.x, link.s
    assert not list(link.params())
    link.add_param('x', 3)
    link.add_persistent('s', 2)
    with pytest.raises(AttributeError, match='nothing'):
        del link.nothing


def test_add_param():
    link = Link()
    link.add_param('x', (2, 3), np.float64)
    link.add_param('y', initializer=3)
    link.add_param('z', 2, initializer=np.ones(2, 'd'))
    link.add_param('w', 2, initializer=chainer.initializers.One())
    assert link.x.dtype == 'd'
    assert np.isnan(link.x.array).all()
    assert not link.y.is_initialized
    link.y.initialize((2,))
    assert_values(link.y, [3, 3])
    assert_values(link.z, [1, 1])
    assert_values(link.w, [1, 1])
    assert not link.within_init_scope


@pytest.mark.parametrize('name', ['p', 'plain', 'state'])
def test_names_can_not_be_registered_twice(name):
    link = Link(p=2)
    link.plain = 1
    link.add_persistent('state', 1)
    with pytest.raises(AttributeError, match=f'new parameter {name}: attribute exists'):
        link.add_param(name, 2)
    with pytest.raises(AttributeError, match=f'new persistent value {name}: attribute exists'):
        link.add_persistent(name, 2)


def test_register_persistent():
    link = Link(p=2)
    link.x = 1
    link.register_persistent('x')
    link.register_persistent('p')
    assert not list(link.params())
    with pytest.raises(AttributeError, match='non-existent attribute y'):
        link.register_persistent('y')


@pytest.mark.parametrize(
    'use',
    [
        lambda link: link.init_scope().__enter__(),
        lambda link: link.add_param('x', 2),
        lambda link: link.add_persistent('x', 2),
        lambda link: link(1),
    ],
)
def test_forgotten_constructor(use):
    class Forgetful(Link):
        def __init__(self):
            pass

        def forward(self, x):
            return x

    with pytest.raises(RuntimeError, match=r'Link.__init__\(\) has not been called.*Forgetful'):
        use(Forgetful())
    for walk in (Link.cleargrads, Link.count_params, lambda link: list(link.namedlinks())):
        for base in (Chain, ChainList):
            walker = type('Forgetful', (base,), {'__init__': Forgetful.__init__})()
            with pytest.raises(AttributeError, match=r'has not been called.*Forgetful'):
                walk(walker)


def test_from_params_is_optional():
    with pytest.raises(NotImplementedError, match='from_params'):
        Link.from_params(np.zeros(2))


# -- calls


def test_call_passes_arguments_and_result():
    class Echo(Link):
        def forward(self, *args, **kwargs):
            return args, kwargs

    assert Echo()(1, 2, k=3) == ((1, 2), {'k': 3})


def test_call_without_forward():
    with pytest.raises(AttributeError, match="'Link' object has no attribute 'forward'"):
        Link()(1)


def test_call_may_be_overridden():
    class Base(Link):
        def forward(self, x):
            return x + 1

    class Derived(Base):
        def __call__(self, x):
            return super().__call__(x) * 10

    assert Derived()(1) == 20


def test_a_base_after_link_may_compute():
    class Layer:
        def __call__(self, x):
            return x + 1

    class Both(Link, Layer):
        def forward(self, x):
            return -x

    class Derived(Both):
        pass

    class Doubled(Link, Layer):
        def __call__(self, x):
            return 2 * super().__call__(x)

    assert Doubled()(1) == 4
    for cls in (type('Mine', (Link, Layer), {}), Both, Derived):
        assert cls()(1) == 2
        with chainer.link_hooks.TimerHook() as hook:
            cls()(1)
        assert [name for name, _ in hook.call_history] == [cls.__name__]


def test_a_base_behind_link_may_call_forward():
    class CallsForward:
        def __call__(self, x):
            return self.forward(x) + 1

    class Net(Chain, CallsForward):
        def forward(self, x):
            return -x

    class Deeper(Net):
        def forward(self, x):
            return x.missing

    assert Net()(3) == -2
    assert Net().forward(3) == -3
    with pytest.raises(AttributeError, match='forward'):
        type('Without', (Chain, CallsForward), {})()(3)
    with pytest.raises(AttributeError) as info:
        Chain(net=Net(), deep=Deeper()).deep(3)
    assert info.value.__notes__ == ['In link deep (Deeper)']


@pytest.mark.parametrize('name', ['__call__', 'forward'])
def test_a_base_behind_link_may_ask_for_a_call(name):
    class Policy(abc.ABC):
        @abc.abstractmethod
        def __call__(self, x):
            raise NotImplementedError

    def negative(self, x):
        return -x

    class Base(Chain, Policy):
        pass

    net = abc.ABCMeta('Net', (Base,), {name: negative})()
    assert net(3) == -3


def test_forward_may_be_an_attribute():
    link = Link()
    link.forward = lambda x: -x
    assert link(3) == -3


class Deep(Chain):
    """Raises a given error at /body/1/deep, reached in a given way."""

    class Raiser(Link):
        def forward(self, error):
            raise error

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.body = ChainList(Link(), Chain(deep=self.Raiser()))
        self.body[1].forward = self.body[1].deep
        self.body.forward = self.body[1]

    def forward(self, error, shortcut=False):
        return self.body[1].deep(error) if shortcut else self.body(error)


@pytest.mark.parametrize('shortcut', [False, True])
def test_errors_carry_the_path_of_the_link(shortcut):
    error = ValueError('bad')
    error.add_note('of the user')
    with pytest.raises(ValueError, match='bad') as caught:
        Deep()(error, shortcut)
    assert caught.value is error
    assert str(error) == 'bad'
    assert error.__notes__ == ['of the user', 'In link /body/1/deep (Raiser) of Deep']
    with pytest.raises(ValueError, match='bad'):
        Deep()(error, shortcut)
    assert len(error.__notes__) == 2


def test_errors_of_a_link_called_alone():
    error = ValueError('bad')
    with pytest.raises(ValueError, match='bad'):
        Deep().body[1].deep(error)
    assert error.__notes__ == ['In link deep (Raiser)']


def test_errors_of_a_link_that_is_called_by_one_that_does_not_own_it():
    class Caller(Link):
        def forward(self, error):
            return Deep()(error)

    error = ValueError('bad')
    with pytest.raises(ValueError, match='bad'):
        Caller()(error)
    assert error.__notes__ == ['In link /body/1/deep (Raiser) of Deep']


def test_invalid_type_carries_the_path_of_the_link(device):
    class Two(Chain):
        def forward(self, x):
            return self.second(self.first(x))

    net = Two(first=L.Linear(3, 4), second=L.Linear(5, 2))
    net.to_device(device)
    with pytest.raises(chainer.utils.type_check.InvalidType) as caught:
        net(device.send(np.zeros((2, 3), 'f')))
    message = str(caught.value)
    assert 'Expect: x.shape[1] == W.shape[1]' in message
    assert 'Actual: 4 != 5' in message
    assert '/second (Linear) of Two' in message


def test_failed_calls_keep_nothing_alive():
    net = Deep()
    ref = weakref.ref(net)
    with pytest.raises(ValueError, match='bad'):
        net(ValueError('bad'))
    del net
    gc.collect()
    assert ref() is None


# -- traversal


def test_walks():
    net = Net()
    assert [name for name, _ in net.namedparams()] == PATHS
    assert [p.name for p in net.params()] == ['a', 'p', 'b', 'W', 'W', 'b']
    assert [name for name, _ in net.namedlinks()] == LINK_PATHS
    assert [name for name, _ in net.namedlinks(skipself=True)] == LINK_PATHS[1:]
    assert [link.name for link in net.links()] == [None, 'body', '0', '1', 'b', 'x', 'l2']
    assert [link.name for link in net.links(skipself=True)] == ['body', '0', '1', 'b', 'x', 'l2']
    assert [link.name for link in net.children()] == ['body', 'l2']
    assert dict(net.namedlinks())['/body/1/b'] is net.body[1].b
    assert dict(net.namedparams())['/l2/W'] is net.l2.W


def test_walks_without_uninitialized_parameters():
    net = Chain(a=L.Linear(2), b=L.Linear(2, 2))
    assert [name for name, _ in net.namedparams(False)] == ['/a/b', '/b/W', '/b/b']
    assert len(list(net.params(False))) == 3
    assert len(list(net.params())) == 4


@pytest.mark.parametrize('make', [lambda link: Chain(a=link), ChainList])
def test_a_child_may_choose_its_parameters(make):
    class Frozen(Link):
        def params(self, include_uninit=True):
            return (p for p in super().params(include_uninit) if p.name != 'x')

    link = Frozen(x=2, y=2)
    assert list(make(link).params()) == [link.y]


def test_indices_are_in_the_order_of_numbers():
    names = [name for name, _ in ChainList(*[Link(b=1) for _ in range(12)]).namedparams()]
    assert names == [f'/{i}/b' for i in range(12)]


def test_count_params():
    assert Link().count_params() == 0
    assert Net().count_params() == 9 + 2 + 4 + 8
    net = Chain(a=L.Linear(2), b=L.Linear(2, 2))
    with pytest.warns(UserWarning, match="'/a/W' has not been initialized") as caught:
        assert net.count_params() == 8
    assert caught[0].filename == __file__


def test_str():
    assert str(Link()) == 'Link()'
    assert str(Chain()) == 'Chain()'
    assert str(L.Linear(3, 2)) == 'Linear(in_size=3, out_size=2, nobias=False)'
    assert str(Net()) == (
        'Net(\n'
        '  (body): ChainList(\n'
        '    (0): Link(),\n'
        '    (1): Chain(\n'
        '      (b): EmbedID(),\n'
        '      (x): Link(),\n'
        '    ),\n'
        '  ),\n'
        '  (l2): Linear(in_size=3, out_size=2, nobias=False),\n'
        ')'
    )


# -- Chain


def test_chain_children():
    a, b = Link(), Link()
    chain = Chain(a=a)
    with chain.init_scope():
        chain.b = b
    chain.c = Link()
    assert list(chain.children()) == [a, b]
    assert (a.name, b.name, chain.c.name) == ('a', 'b', None)
    assert chain['a'] is a
    del chain.a
    assert list(chain.children()) == [b]
    chain.b = 3
    assert list(chain.children()) == []


def test_chain_item_of_any_name():
    chain = Chain(a=Link(x=2))
    chain.plain = 1
    assert chain['plain'] == 1
    with pytest.raises(AttributeError, match=r"no attribute 'z' .*: a\)"):
        chain['z']
    with pytest.raises(TypeError):
        chain[0]


def test_chain_refuses():
    chain = Chain(a=Link())
    chain.plain = 1
    for name in ('a', 'plain'):
        with pytest.raises(AttributeError, match=f'new link {name}: attribute exists'):
            chain.add_link(name, Link())
    with pytest.raises(AttributeError, match='new link a: attribute exists'), chain.init_scope():
        chain.a = Link()
    with pytest.raises(TypeError, match='non-link object'):
        chain.add_link('b', 3)
    with pytest.raises(TypeError, match='non-link object'):
        Chain(a=3)
    with pytest.raises(TypeError):
        chain.add_link(3, Link())
    assert [name for name, _ in chain.namedlinks()] == ['/', '/a']


# -- ChainList


def names(links):
    return [link.name for link in links]


def test_chainlist_is_a_list():
    a, b, c, d = (Link() for _ in range(4))
    links = ChainList(a, b)
    links.append(c)
    links.add_link(d)
    assert list(links) == [a, b, c, d]
    assert links[-1] is d
    assert links[1:3] == [b, c]
    assert names(links) == ['0', '1', '2', '3']
    assert (c in links, links.index(c), len(links), bool(ChainList())) == (True, 2, 4, False)
    assert links.pop() is d
    links.insert(0, d)
    assert list(links) == [d, a, b, c]
    links.insert(100, Link())
    links.remove(a)
    links.reverse()
    assert names(links) == ['0', '1', '2', '3']
    links[0] = a
    assert links[0] is a
    del links[1:]
    links += [b]
    links.extend([c])
    assert list(links) == [a, b, c]
    assert names(links) == ['0', '1', '2']
    links[0:2] = [d]
    links[::2] = [a]
    assert list(links) == [a, c]
    assert names(links) == ['0', '1']
    links.clear()
    assert len(links) == 0
    assert links != ChainList()


def test_chainlist_refuses():
    links = ChainList(Link(), Link(), Link())
    for use in (
        lambda: ChainList(3),
        lambda: links.append(3),
        lambda: links.insert(0, 'x'),
        lambda: links.__setitem__(0, None),
        lambda: links.__setitem__(slice(0, 1), [3]),
    ):
        with pytest.raises(TypeError, match='non-link object'):
            use()
    with pytest.raises(ValueError, match='extended slice'):
        links[::2] = [Link()]
    with pytest.raises(IndexError):
        links[3]
    with pytest.raises(IndexError):
        links[3] = Link()
    with pytest.raises(IndexError):
        del links[3]
    with pytest.raises(TypeError):
        links['0']
    with pytest.raises(TypeError, match='a new link within'), links.init_scope():
        links.x = Link()
    assert names(links) == ['0', '1', '2']


def test_chainlist_may_grow_in_init_scope():
    links = ChainList()
    with links.init_scope():
        links.append(Link())
        links.p = Parameter(np.zeros(2, 'f'))
    assert len(links) == 1
    assert [name for name, _ in links.namedparams()] == ['/p']


def test_cycles_are_collected():
    net = Net()
    net.myself = net
    net.body.forward = net.__call__
    ref = weakref.ref(net)
    del net
    gc.collect()
    assert ref() is None


def test_assignments_in_init_scope():
    class Net(chainer.Chain):
        def __setattr__(self, name, value):
            seen.append(name)
            super().__setattr__(name, value)

    seen = []
    net = Net()
    with net.init_scope():
        net.layer = L.Linear(3, 2)
        net.p = chainer.Parameter(np.ones((4, 3), 'f'))
        net.number = 1
    assert [name for name in seen if not name.startswith('_')][-3:] == ['layer', 'p', 'number']
    assert [name for name, _ in net.namedparams()] == ['/p', '/layer/W', '/layer/b']
    with pytest.raises(AttributeError, match='cannot register a new link layer'), net.init_scope():
        net.layer = L.Linear(3, 2)
    links = chainer.ChainList()
    with pytest.raises(TypeError, match='cannot register a new link'), links.init_scope():
        links.layer = L.Linear(3, 2)
