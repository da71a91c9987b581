"""`Sequential` as a list and as a link, and through pickling."""

from __future__ import annotations

import copy
import functools
import pickle

import chainer
import numpy as np
import pytest
from chainer import ChainList, Link, Sequential
from chainer import functions as F
from chainer import links as L
from devices import DEVICES


def double(x):
    return x * 2


def make():
    return Sequential(L.Linear(3, 2), F.relu, L.Linear(2))


def paths(seq):
    return [path for path, _ in seq.namedlinks(skipself=True)]


# -- calls


@pytest.mark.parametrize('device', DEVICES)
def test_forward(device):
    seq = Sequential(L.Linear(3, 2, initialW=1), F.relu, double).to_device(device)
    x = chainer.get_device(device).send(np.array([[1, 2, 3], [-1, -2, -3]], 'f'))
    y = seq(x)
    assert isinstance(y, chainer.Variable)
    np.testing.assert_array_equal(chainer.backend.CpuDevice().send(y.array), [[12, 12], [0, 0]])


def test_tuples_are_spread():
    assert Sequential(lambda x, y: (x + y, x), lambda a, b: [a, b], lambda x: x)(1, 2) == [3, 1]
    assert Sequential(lambda x: (x,))(1) == (1,)
    assert Sequential(lambda x: None, lambda x: x)(1) is None


def test_forward_without_layers():
    with pytest.raises(RuntimeError, match='does not have any layer'):
        Sequential()(1)


def test_keywords_are_refused():
    with pytest.raises(TypeError, match='unexpected keyword argument'):
        Sequential(double)(1, k=2)


def test_errors_carry_the_path():
    def fail(x):
        raise ValueError('bad')

    class Fail(Link):
        def forward(self, x):
            fail(x)

    seq = Sequential(double, Link(), Sequential(double, Fail()))
    del seq[1]
    with pytest.raises(ValueError, match='bad') as caught:
        seq(1)
    assert caught.value.__notes__ == ['In link /0/0 (Fail) of Sequential']


# -- a list


def test_children_are_numbered_among_themselves():
    seq = Sequential(F.relu, L.Linear(2, 2), F.relu, L.Linear(2, 2))
    assert [path for path, _ in seq.namedparams()] == ['/0/W', '/0/b', '/1/W', '/1/b']
    assert [link.name for link in seq.children()] == ['0', '1']
    seq[0] = L.Linear(2, 2)
    assert paths(seq) == ['/0', '/1', '/2']
    assert seq[3].name == '2'
    seq[1] = F.relu
    assert paths(seq) == ['/0', '/1']
    assert seq[3].name == '1'


def test_items():
    seq = make()
    assert seq[1] is F.relu
    assert seq[-1] is seq[2]
    assert seq[0:2] == [seq[0], F.relu]
    assert len(seq) == 3
    assert list(seq) == [seq[0], F.relu, seq[2]]
    assert list(reversed(seq)) == [seq[2], F.relu, seq[0]]
    assert F.relu in seq
    assert seq[0] in seq
    assert F.absolute not in seq
    with pytest.raises(IndexError):
        seq[3]
    with pytest.raises(IndexError):
        del seq[3]
    with pytest.raises(ValueError, match='3 should be less than 3'):
        seq[3] = F.relu
    seq[0:2] = [F.absolute]
    assert len(seq) == 2
    assert paths(seq) == ['/0']
    del seq[1:]
    assert list(seq) == [F.absolute]
    assert paths(seq) == []


def test_index_and_count():
    seq = Sequential(F.relu, F.absolute, F.relu, L.Linear(2))
    assert seq.index(F.relu) == 0
    assert seq.index(F.relu, 1) == 2
    assert seq.index(F.relu, 1, 3) == 2
    with pytest.raises(ValueError, match='not in list'):
        seq.index(F.relu, 1, 2)
    assert seq.count(F.relu) == 2
    assert seq.count(3) == 0
    assert seq.count_by_layer_type('relu') == 2
    assert seq.count_by_layer_type('Linear') == 1
    assert seq.count_by_layer_type('other') == 0


def test_add():
    a, b = make(), Sequential(F.absolute)
    c = a + b
    assert type(c) is Sequential
    assert list(c) == [*a, F.absolute]
    same = b
    b += a
    assert b is same
    assert list(b) == [F.absolute, *a]
    for other in ([F.relu], 3, ChainList(Link())):
        with pytest.raises(ValueError, match='only objects of Sequential'):
            a + other
        with pytest.raises(ValueError, match='only objects of Sequential'):
            a += other


def test_grow():
    seq = make()
    seq.append(F.absolute)
    seq.add_link(L.Linear(2))
    seq.extend([F.relu, L.Linear(2)])
    seq.extend(Sequential(F.relu))
    assert len(seq) == 8
    assert paths(seq) == ['/0', '/1', '/2', '/3']
    seq.insert(0, L.Linear(2))
    assert seq[0].name == '0'
    assert paths(seq) == ['/0', '/1', '/2', '/3', '/4']
    seq.insert(-1, double)
    assert seq[-2] is double
    seq.insert(len(seq), double)
    assert seq[-1] is double
    for i in (100, -100):
        with pytest.raises(IndexError, match=f'Index out of range: {i}'):
            seq.insert(i, double)


def test_shrink():
    seq = make()
    first, last = seq[0], seq[2]
    assert seq.pop() is last
    assert seq.pop(0) is first
    assert list(seq) == [F.relu]
    seq.remove(F.relu)
    with pytest.raises(ValueError, match='no layer object that is same'):
        seq.remove(F.relu)
    with pytest.raises(IndexError):
        seq.pop()
    seq = make()
    seq.remove_by_layer_type('Linear')
    assert list(seq) == [F.relu]
    assert paths(seq) == []
    seq = make()
    seq.clear()
    assert len(seq) == 0
    assert paths(seq) == []


def test_one_link_twice():
    link = L.Linear(2, 2)
    seq = Sequential(link, F.relu, link)
    assert paths(seq) == ['/0', '/1']
    seq.remove(link)
    assert list(seq) == [F.relu, link]
    assert paths(seq) == ['/0']


@pytest.mark.parametrize(
    'use',
    [
        lambda: Sequential(3),
        lambda: Sequential(None),
        lambda: make().append(3),
        lambda: make().insert(0, 'x'),
        lambda: make().extend([F.relu, 3]),
        lambda: make().__setitem__(0, 3),
        lambda: make().__setitem__(slice(0, 1), [3]),
    ],
)
def test_layers_must_be_callable(use):
    with pytest.raises(ValueError, match='is not callable'):
        use()


def test_a_failed_change_changes_nothing():
    seq = make()
    before = list(seq)
    with pytest.raises(ValueError, match='is not callable'):
        seq.extend([L.Linear(2), 3])
    assert list(seq) == before
    assert paths(seq) == ['/0', '/1']


def test_flatten():
    seq = Sequential(make(), Sequential(Sequential(F.absolute), L.Linear(2)), ChainList(Link()))
    flat = seq.flatten()
    assert type(flat) is Sequential
    assert [getattr(layer, '__name__', type(layer).__name__) for layer in flat] == [
        'Linear', 'relu', 'Linear', 'absolute', 'Linear', 'ChainList',
    ]  # fmt: skip
    assert len(seq) == 3


# -- a link


def test_str():
    partial = functools.partial(double)
    seq = Sequential(L.Linear(3, 2), double, partial, Sequential(double), len)
    assert str(seq) == (
        'Sequential(\n'
        '  (0): Linear(in_size=3, out_size=2, nobias=False),\n'
        f'  (1): {double},\n'
        f'  (2): {partial},\n'
        '  (3): Sequential(\n'
        f'    (0): {double},\n'
        '  ),\n'
        '  (4): <built-in function len>,\n'
        ')'
    )
    assert str(Sequential()) == 'Sequential()'


def test_lambdas_are_shown_as_code():
    seq = Sequential(
        lambda x: x + 1,
    )
    assert str(seq) == 'Sequential(\n  (0): lambda x: x + 1,\n)'
    assert '<lambda>' in str(Sequential(eval('lambda x: x')))


@pytest.mark.parametrize('mode', ['share', 'copy', 'init'])
def test_copy(mode):
    class Mine(Sequential):
        pass

    seq = Mine(L.Linear(3, 2), lambda x: x, Sequential(L.Linear(2, 2), F.relu))
    seq.add_persistent('s', 1)
    other = seq.copy(mode)
    assert type(other) is Mine
    assert other.s == 1
    assert other[0] is not seq[0]
    assert (other[0].W.array is seq[0].W.array) is (mode == 'share')
    assert np.array_equal(other[0].W.array, seq[0].W.array) is (mode != 'init')
    assert other[1] is seq[1]
    assert other[2][0] is not seq[2][0]
    assert next(iter(other.children())) is other[0]
    assert paths(other) == paths(seq)
    other.append(F.relu)
    assert len(seq) == 3


def test_deep_copies_take_lambdas():
    seq = Sequential(L.Linear(3, 2), lambda x: x)
    other = copy.deepcopy(chainer.Chain(seq=seq)).seq
    assert other[1] is seq[1]
    assert other[0] is not seq[0]
    assert next(iter(other.children())) is other[0]
    assert copy.copy(seq)[0] is seq[0]


def test_copyparams():
    seq, other = make(), make()
    seq.copyparams(other)
    np.testing.assert_array_equal(seq[0].W.array, other[0].W.array)
    with pytest.raises(ValueError, match='other than Sequential'):
        seq.copyparams(ChainList(L.Linear(3, 2), L.Linear(2)))
    with pytest.raises(KeyError, match="no child '1'"):
        seq.copyparams(Sequential(L.Linear(3, 2)))


class Named(Sequential):
    def __init__(self):
        super().__init__(L.Linear(2, 2), functools.partial(double), double)


def test_pickle():
    seq = Named()
    seq.extra = 3
    other = pickle.loads(pickle.dumps(seq))
    assert type(other) is Named
    assert other.extra == 3
    assert other[2] is double
    assert next(iter(other.children())) is other[0]
    np.testing.assert_array_equal(other[0].W.array, seq[0].W.array)


def test_lambdas_are_not_pickled():
    with pytest.raises(ValueError, match='lambda function'):
        pickle.dumps(chainer.Chain(s=Sequential(lambda x: x)))


def test_repeat_nests():
    seq = make().repeat(2)
    assert [type(layer) for layer in seq] == [Sequential, Sequential]
    assert paths(seq) == ['/0', '/0/0', '/0/1', '/1', '/1/0', '/1/1']


def _linear(number):
    link = L.Linear(1, 1)
    link.W.array[...] = number
    return link


def _numbers(layers):
    return [int(link.W.array.item()) for link in layers.children()]


# How Chainer v7 numbers the links 1, 2, ... among layers; '-' is not a link.
@pytest.mark.parametrize(
    ('pattern', 'expected'),
    [
        ('1', [1]),
        ('1-2', [1, 2]),
        ('-1-2', [1, 2]),
        ('1-23', [1, 3, 2]),
        ('1-2-3-4', [1, 4, 3, 2]),
        ('123-456', [1, 6, 5, 4, 3, 2]),
        ('-123', [1, 2, 3]),
        ('-1234', [1, 2, 4, 3]),
        ('--1234', [1, 2, 3, 4]),
    ],
)
def test_numbers_of_links_are_those_of_v7(pattern, expected):
    layers = chainer.Sequential(*[F.relu if c == '-' else _linear(int(c)) for c in pattern])
    assert _numbers(layers) == expected
    assert [link.name for link in layers.children()] == [str(i) for i in range(len(expected))]
    assert _numbers(layers.copy('copy')) == expected


def test_numbers_of_links_after_changes_are_those_of_v7():
    def layers():
        return chainer.Sequential(_linear(1), F.relu, _linear(2), _linear(4))

    assert _numbers(layers()) == [1, 4, 2]
    changed = layers()
    changed.insert(-1, _linear(3))
    assert _numbers(changed) == [1, 3, 4, 2]
    changed[1] = _linear(9)
    assert _numbers(changed) == [1, 9, 3, 4, 2]
    changed[4] = F.relu
    assert _numbers(changed) == [1, 9, 3, 2]
    del changed[0]
    assert _numbers(changed) == [9, 3, 2]
    assert _numbers(changed.copy()) == [9, 3, 2]
    changed.insert(0, _linear(5))
    assert _numbers(changed) == [5, 9, 3, 2]
    assert _numbers(changed.copy('copy')) == [5, 3, 2, 9]
