"""Functions that leave the fast path of chainerx arrays are counted, or forbidden."""

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import FunctionNode, Variable

A = np.arange(6, dtype='f').reshape(2, 3) + 1


class Slow(FunctionNode):
    seen = None

    def forward(self, xs):
        assert all(isinstance(x, np.ndarray) for x in xs)
        assert self.chainerx_device == chainer.get_device('native:0')
        Slow.seen = xs[0]
        return (xs[0] * 2,)

    def backward(self, indexes, gys):
        assert isinstance(gys[0].array, chainerx.ndarray)
        return (gys[0] * 2,)


class Sometimes(Slow):
    def forward_chainerx(self, xs):
        return chainer.Fallback if xs[0].ndim == 2 else (xs[0] * 2,)


@pytest.fixture(autouse=True)
def count_from_zero():
    chainer.fallback_report(reset=True)
    yield
    chainer.fallback_report(reset=True)


def test_no_copy_and_right_results():
    a = chainerx.array(A)
    x = Variable(a)
    (y,) = Slow().apply((x,))
    assert np.shares_memory(Slow.seen, chainerx.to_numpy(a, copy=False))
    assert isinstance(y.array, chainerx.ndarray)
    assert y.creator.label == 'Slow'
    F.sum(y).backward()
    np.testing.assert_array_equal(chainerx.to_numpy(x.grad), np.full_like(A, 2))


def test_report():
    assert str(chainer.fallback_report()) == 'no function has left the fast path of chainerx'
    for _ in range(2):
        Slow().apply((chainerx.array(A),))
    Sometimes().apply((chainerx.array(A),))
    (y,) = Sometimes().apply((Variable(chainerx.array(A[0])),))
    assert y.creator.label == 'Sometimes'
    report = chainer.fallback_report()
    assert report == [
        ('Slow', '(2, 3)', 'no forward_chainerx', 2),
        ('Sometimes', '(2, 3)', 'forward_chainerx returned Fallback', 1),
    ]
    assert str(report).splitlines() == [
        'count  function   inputs  reason',
        '2      Slow       (2, 3)  no forward_chainerx',
        '1      Sometimes  (2, 3)  forward_chainerx returned Fallback',
    ]
    chainer.fallback_report(reset=True)
    assert chainer.fallback_report() == []


def test_functions_of_chainer_stay_on_the_fast_path():
    x = Variable(chainerx.array(A))
    F.sum(F.relu(x) * x + F.softmax(x)).backward()
    assert chainer.fallback_report() == []


def test_modes():
    x = Variable(chainerx.array(A))
    with chainer.using_config('chainerx_fallback', 'error'):
        with pytest.raises(RuntimeError, match=r'Slow: no chainerx .*\(2, 3\)'):
            Slow().apply((x,))
        Sometimes().apply((chainerx.array(A[0]),))
    assert chainer.fallback_report() == []
    with (
        chainer.using_config('chainerx_fallback', 'warn'),
        pytest.warns(chainer.warnings.PerformanceWarning, match='Slow'),
    ):
        Slow().apply((x,))
    with (
        chainer.using_config('chainerx_fallback', 'sometimes'),
        pytest.raises(ValueError, match="'allow', 'warn' or 'error'"),
    ):
        Slow().apply((x,))


def test_bad_native_results():
    class Bad(FunctionNode):
        def __init__(self, result):
            self.result = result

        def forward_chainerx(self, xs):
            return self.result

    x = Variable(chainerx.array(A))
    for result in (None, [x.array], x.array, (A,), (x,)):
        with pytest.raises(TypeError, match='Bad'):
            Bad(result).apply((x,))
    assert repr(chainer.Fallback) == 'Fallback'


def test_native_hooks_and_checks():
    class Checked(FunctionNode):
        def check_type_forward(self, in_types):
            chainer.utils.type_check.expect(in_types.size() == 2)

        def forward_chainerx(self, xs):
            return (xs[0] * 2,)

    with pytest.raises(chainer.utils.type_check.InvalidType, match='Checked'):
        Checked().apply((chainerx.array(A),))
    with chainer.using_config('type_check', False):
        Checked().apply((chainerx.array(A),))


@pytest.mark.parametrize('ndim', [1, 2])
def test_hooks_hear_begin_and_end_once(ndim):
    order = []

    class Hook(chainer.FunctionHook):
        def forward_preprocess(self, function, in_data):
            order.append('pre')

        def forward_postprocess(self, function, in_data):
            order.append('post')

    with Hook():
        Sometimes().apply((chainerx.array(A if ndim == 2 else A[0]),))
    assert order == ['pre', 'post']


class WithArrays(FunctionNode):
    def __init__(self, given, constant):
        self.given = given
        self.constant = constant
        self.total = given * 0
        self.name = 'any'

    def forward(self, xs):
        assert type(self.given) is type(self.constant) is type(xs[0]) is np.ndarray
        self.mask = np.sign(xs[0])
        self.others = np.array(['a', 'b']), np.ma.array([1.0]), np.zeros((1,) * 12)
        self.words, self.masked, self.deep = self.others
        self.constants = np.broadcast_to(xs[0], (3, 2))
        self.given += 1
        self.total = self.total + xs[0]
        if xs[0][0] > 100:
            raise ValueError('too large')
        return (xs[0] * self.given,)

    def backward(self, indexes, gys):
        return (gys[0] * self.given * self.mask,)


def test_attributes_are_of_the_kind_that_forward_and_backward_see():
    given, constant = chainerx.array([1, 2], 'f'), np.ones(2, 'f')
    f = WithArrays(given, constant)
    x = Variable(chainerx.array([3, -4], 'f'))
    (y,) = f.apply((x,))
    assert f.given is given  # and what was written is there
    np.testing.assert_array_equal(chainerx.to_numpy(given), [2, 3])
    assert f.constant is constant
    assert isinstance(f.mask, chainerx.ndarray)  # assigned by forward
    for before, after in zip(f.others, (f.words, f.masked, f.deep), strict=True):
        assert before is after  # chainerx has no such dtype
    assert isinstance(f.constants, chainerx.ndarray)
    assert isinstance(f.total, chainerx.ndarray)
    np.testing.assert_array_equal(chainerx.to_numpy(f.total), [3, -4])
    F.sum(y).backward()
    np.testing.assert_array_equal(chainerx.to_numpy(x.grad), [2, -3])
    with pytest.raises(ValueError, match='too large'):
        f.apply((chainerx.array([101, 1], 'f'),))
    assert f.given is given
    assert isinstance(f.total, chainerx.ndarray)
    # Over NumPy arrays nothing changes.
    f = WithArrays(np.array([1, 2], 'f'), constant)
    f.apply((np.array([3, -4], 'f'),))
    assert type(f.total) is np.ndarray


def test_attributes_of_old_style_functions():
    class Old(chainer.Function):
        def forward(self, xs):
            assert type(self.weight) is np.ndarray
            self.mask = np.sign(xs[0])
            return (xs[0] * self.weight,)

        def backward(self, xs, gys):
            assert type(self.weight) is type(self.mask) is np.ndarray
            return (gys[0] * self.weight * self.mask,)

    f = Old()
    f.weight = chainerx.array([2, 3], 'f')
    x = Variable(chainerx.array([3, -4], 'f'))
    y = f(x)
    assert isinstance(f.weight, chainerx.ndarray)
    assert isinstance(f.mask, chainerx.ndarray)
    F.sum(y).backward()
    np.testing.assert_array_equal(chainerx.to_numpy(x.grad), [2, -3])
