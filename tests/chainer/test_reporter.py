"""Reporting of values, and their statistics, over arrays of any kind."""

from __future__ import annotations

import threading

import chainer
import chainerx
import numpy as np
import pytest
from chainer import serializer

XP = [np, chainerx]


class Observer:
    pass


def test_report():
    reporter = chainer.Reporter()
    reporter.report({'a': 1})
    assert reporter.observation == {'a': 1}
    reporter.report({'a': 2, 'b': 'text'})
    assert reporter.observation == {'a': 2, 'b': 'text'}


def test_observers():
    reporter, one, two = chainer.Reporter(), Observer(), Observer()
    reporter.add_observer('one', one)
    reporter.add_observers('one', [('/two', two)])
    reporter.report({'a': 1}, one)
    reporter.report({'a': 2}, two)
    assert reporter.observation == {'one/a': 1, 'one/two/a': 2}
    with pytest.raises(KeyError, match=r"\['a'\] cannot be.*, a Observer, is not registered"):
        reporter.report({'a': 3}, Observer())
    reporter.add_observer('other', one)
    reporter.report({'a': 4}, one)
    assert reporter.observation['other/a'] == 4


def test_observers_that_are_links():
    link = chainer.Chain(child=chainer.Link())
    reporter = chainer.Reporter()
    reporter.add_observer('main', link)
    reporter.add_observers('main', link.namedlinks(skipself=True))
    with reporter:
        chainer.report({'a': 1}, link)
        chainer.report({'a': 2}, link.child)
    assert reporter.observation == {'main/a': 1, 'main/child/a': 2}


def test_current_reporter():
    outer, inner = chainer.Reporter(), chainer.Reporter()
    chainer.report({'a': 0})  # without an observer
    with outer:
        chainer.report({'a': 1})
        with inner:
            assert chainer.get_current_reporter() is inner
            chainer.report({'a': 2})
        assert chainer.get_current_reporter() is outer
    assert (outer.observation, inner.observation) == ({'a': 1}, {'a': 2})
    with pytest.raises(IndexError, match='no reporter is current'):
        chainer.get_current_reporter()
    with pytest.raises(IndexError), chainer.report_scope({}):
        pass


def test_current_reporter_is_of_the_thread():
    reporter = chainer.Reporter()
    errors: list = []

    def run():
        chainer.report({'a': 1})
        try:
            chainer.get_current_reporter()
        except IndexError as e:
            errors.append(e)

    with reporter:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert len(errors) == 1
    assert reporter.observation == {}


def test_reporter_after_an_error():
    with pytest.raises(ZeroDivisionError), chainer.Reporter():
        raise ZeroDivisionError
    with pytest.raises(IndexError):
        chainer.get_current_reporter()


def test_scopes():
    reporter = chainer.Reporter()
    scoped: dict = {}
    with reporter:
        chainer.report({'a': 1})
        with chainer.report_scope(scoped):
            chainer.report({'a': 2})
        chainer.report({'b': 3})
    assert reporter.observation == {'a': 1, 'b': 3}
    assert scoped == {'a': 2}
    with reporter.scope(scoped):
        chainer.report({'c': 4})
    assert scoped == {'a': 2, 'c': 4}
    with pytest.raises(ZeroDivisionError), reporter.scope({}):
        raise ZeroDivisionError
    assert reporter.observation == {'a': 1, 'b': 3}


@pytest.mark.parametrize('xp', XP)
def test_reported_variables_lose_the_graph(xp):
    x = chainer.Variable(xp.array(np.float32(2)))
    y = x * 3
    y.name = 'name'
    reporter = chainer.Reporter()
    reporter.report({'y': y})
    kept = reporter.observation['y']
    assert kept is not y
    assert kept.creator is None
    assert kept.name == 'name'
    assert kept.array == 6
    assert y.creator is not None
    if xp is np:
        assert kept.array is y.array
    y.backward()
    assert x.grad == 3
    assert kept.grad is None
    with chainer.using_config('keep_graph_on_report', True):
        reporter.report({'y': y})
    assert reporter.observation['y'] is y


def test_reported_arrays():
    reporter = chainer.Reporter()
    x = np.ones(2)
    y = chainerx.ones(()).require_grad() * 2
    reporter.report({'x': x, 'y': y})
    assert reporter.observation['x'] is x
    kept = reporter.observation['y']
    assert not kept.is_backprop_required()
    assert float(kept) == 2


def test_summary():
    summary = chainer.Summary()
    summary.add(1)
    assert summary.compute_mean() == 1
    assert summary.make_statistics() == (1, 0)
    summary.add(2.0)
    summary.add(np.float32(4))
    mean, std = summary.make_statistics()
    assert summary.compute_mean() == mean
    np.testing.assert_allclose([mean, std], [7 / 3, np.std([1, 2, 4])])


@pytest.mark.parametrize('xp', XP)
@pytest.mark.parametrize('as_variable', [False, True])
@pytest.mark.parametrize('dtype', ['e', 'f', 'd', 'i'])
def test_summary_of_numbers(xp, as_variable, dtype):
    values, weights = [1000, 3, 5000], [1, 2, 3]
    summary = chainer.Summary()
    for value, weight in zip(values, weights, strict=True):
        x = xp.array(np.array(value, dtype))
        summary.add(chainer.as_variable(x) if as_variable else x, weight=weight)
    mean, std = summary.make_statistics()
    assert mean.dtype == std.dtype == np.float64
    assert chainer.backend.get_array_module(mean) is xp
    expected = np.repeat(np.array(values, dtype).astype('d'), weights)
    np.testing.assert_allclose([float(mean), float(std)], [expected.mean(), expected.std()])


@pytest.mark.parametrize('xp', XP)
def test_summary_of_arrays(xp):
    arrays = np.random.RandomState(0).rand(4, 2, 3).astype('f')
    summary = chainer.Summary()
    for array in arrays:
        summary.add(xp.array(array))
    first = xp.array(arrays[0])
    mean, std = chainer.backend.CpuDevice().send(summary.make_statistics())
    np.testing.assert_allclose(mean, arrays.mean(0), rtol=1e-5)
    np.testing.assert_allclose(std, arrays.std(0), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(chainer.backend.CpuDevice().send(first), arrays[0])


def test_summary_does_not_write_into_arrays():
    x = np.ones(2)
    summary = chainer.Summary()
    summary.add(x)
    summary.add(x)
    np.testing.assert_array_equal(x, [1, 1])


def test_summary_of_weights_that_are_arrays():
    summary = chainer.Summary()
    summary.add(1, weight=np.array(2.0))
    summary.add(4, weight=chainer.Variable(np.array(1.0)))
    assert summary.compute_mean() == 2


@pytest.mark.parametrize('make', [float, np.float64, np.array, chainerx.array])
def test_summary_of_equal_values(make):
    for value, weights in ((0.1, [3]), (0.7, [1, 5, 6]), (1e3 / 3, [1] * 19)):
        summary = chainer.Summary()
        for weight in weights:
            summary.add(make(value), weight)
            _, std = summary.make_statistics()
            assert 0 <= float(std) < 1e-15 * value, (value, weight)


@pytest.mark.parametrize('xp', XP)
@pytest.mark.parametrize('ndim', [0, 1])
@pytest.mark.parametrize('dtype', ['f', 'd'])
def test_summary_of_numbers_that_differ_little(xp, ndim, dtype):
    """The variance of numbers that differ little is accurate, without cancellation."""
    n = {'f': 2**20, 'd': 10**9}[dtype]
    for offsets in ([0, 1, 2], [-n, *[0, 1, 2] * 20], [2, 1, 0, -n]):
        values = np.array([n + offset for offset in offsets], dtype)
        summary = chainer.Summary()
        for value in values:
            summary.add(xp.array(value if ndim == 0 else np.array([value, 1], dtype)))
        mean, std = chainer.backend.CpuDevice().send(summary.make_statistics())
        expected = values.astype('d').mean(), values.astype('d').std()
        rtol = 1e-5 if ndim and dtype == 'f' else 1e-7
        np.testing.assert_allclose([np.ravel(mean)[0], np.ravel(std)[0]], expected, rtol=rtol)


def test_summary_of_floats_with_weights():
    summary, other = chainer.Summary(), chainer.Summary()
    for value, weight in ((5.0, 0), (1e9, 2), (1e9 + 1, 0), (1e9 + 2, 1), (1e9 + 3, 3)):
        summary.add(value, weight)
        other.add(value, np.float64(weight))
    expected = [1e9, 1e9, 1e9 + 2, 1e9 + 3, 1e9 + 3, 1e9 + 3]
    for one in (summary, other):
        mean, std = one.make_statistics()
        np.testing.assert_allclose([mean, std], [np.mean(expected), np.std(expected)], rtol=1e-7)


@pytest.mark.parametrize('xp', XP)
def test_summary_of_weights_of_each_element(xp):
    summary = chainer.Summary()
    for value, weight in (([1, 7], [0, 1]), ([2, 5], [1, 0]), ([4, 9], [1, 1])):
        summary.add(xp.array(np.array(value, 'd')), xp.array(np.array(weight, 'd')))
    mean, std = chainer.backend.CpuDevice().send(summary.make_statistics())
    assert (mean.tolist(), std.tolist()) == ([3, 8], [1, 1])


def test_summary_keeps_no_graph():
    x = chainer.Variable(np.array(2.0))
    summary = chainer.Summary()
    summary.add(x * 2)
    y = chainerx.ones(()).require_grad()
    summary.add(y * 2)
    assert not summary.compute_mean().is_backprop_required()
    assert float(summary.compute_mean()) == 3


def test_empty_summary():
    with pytest.raises(ZeroDivisionError):
        chainer.Summary().compute_mean()
    with pytest.raises(ZeroDivisionError):
        chainer.Summary().make_statistics()


def test_dict_summary():
    summary = chainer.DictSummary()
    assert summary.compute_mean() == summary.make_statistics() == {}
    summary.add({'number': 1, 'numpy': np.float32(2), 'zero_d': np.array(3.0), 'flag': True})
    summary.add(
        {'number': 3, 'chainerx': chainerx.array(4.0), 'variable': chainer.Variable(np.array(5.0))}
    )
    means = {name: float(value) for name, value in summary.compute_mean().items()}
    assert means == {'number': 2, 'numpy': 2, 'zero_d': 3, 'flag': 1, 'chainerx': 4, 'variable': 5}
    statistics = summary.make_statistics()
    assert set(statistics) == {*means, *(f'{name}.std' for name in means)}
    assert statistics['number'] == 2
    assert statistics['number.std'] == 1
    assert statistics['numpy.std'] == 0


def test_dict_summary_of_pairs_with_weights():
    summary = chainer.DictSummary()
    summary.add({'a': (1, 3), 'b': (np.array(2.0), np.array(1.0))})
    summary.add({'a': (5, 1), 'b': chainer.Variable(np.array(4.0))})
    assert summary.compute_mean() == {'a': 2, 'b': 3}


def test_dict_summary_skips_non_numbers():
    summary = chainer.DictSummary()
    summary.add(
        {
            'text': 'text',
            'none': None,
            'list': [1],
            'array': np.ones(2),
            'triple': (1, 2, 3),
            'weighted array': (np.ones(2), 2),
            'a': 1,
        }
    )
    assert summary.compute_mean() == {'a': 1}


@pytest.mark.parametrize('weight', [np.ones(1), np.ones((1, 1)), 'a', None, [1]])
def test_dict_summary_refuses_weights_that_are_no_numbers(weight):
    summary = chainer.DictSummary()
    with pytest.raises(ValueError, match="the weight of 'b' is no number"):
        summary.add({'a': 1, 'b': (1, weight)})
    assert summary.compute_mean() == {}


class Save(serializer.Serializer):
    def __init__(self, saved, path=''):
        self.saved = saved
        self.path = path

    def __getitem__(self, key):
        return type(self)(self.saved, f'{self.path}{key}/')

    def __call__(self, key, value):
        self.saved[self.path + key] = value
        return value


class Load(serializer.Deserializer):
    __init__ = Save.__init__
    __getitem__ = Save.__getitem__

    def __call__(self, key, value):
        return self.saved[self.path + key]


def test_serialize_summary():
    summary = chainer.Summary()
    summary.add(1)
    summary.add(2.5)
    saved: dict = {}
    Save(saved).save(summary)
    assert saved == {'_x': 3.5, '_x2': 7.25, '_n': 2, '_m2': 1.125}  # the last is not in v7
    loaded = chainer.Summary()
    Load(saved).load(loaded)
    assert loaded.make_statistics() == summary.make_statistics()
    loaded.add(4)
    assert loaded.compute_mean() == 2.5


@pytest.mark.parametrize('format', ['npz', 'hdf5'])
@pytest.mark.parametrize('make', [float, np.array, chainerx.array])
def test_a_saved_summary_resumes_with_the_same_bits(format, make, tmp_path):
    if format == 'hdf5':
        pytest.importorskip('h5py')
    save, load = (getattr(chainer.serializers, f'{verb}_{format}') for verb in ('save', 'load'))
    summaries = chainer.DictSummary(), chainer.DictSummary()
    values = [1e9, 1e9 + 1, 1e9 + 2.7, 1e9 - 3.3]
    for value in values:
        summaries[0].add({'a': make(value)})
    for value in values[:2]:
        summaries[1].add({'a': make(value)})
    save(tmp_path / 'x', summaries[1])
    loaded = chainer.DictSummary()
    load(tmp_path / 'x', loaded)
    for value in values[2:]:
        loaded.add({'a': make(value)})
    expected = summaries[0].make_statistics()
    assert {k: float(v) for k, v in loaded.make_statistics().items()} == {
        k: float(v) for k, v in expected.items()
    }


def test_load_a_summary_of_v7():
    """A summary of v7, which stores the sum of squares, can be loaded."""
    saved = {'_x': 10.0, '_x2': 42.0, '_n': 3}
    for loader in (
        Load(saved),
        chainer.serializers.NpzDeserializer(
            {key: np.asarray(value) for key, value in saved.items()}, strict=False
        ),
    ):
        summary = chainer.Summary()
        loader.load(summary)
        summary.add(6.0)
        mean, std = summary.make_statistics()
        assert (mean, std) == (4, pytest.approx(np.sqrt((42 + 36) / 4 - 16)))


def test_load_a_summary_that_was_not_saved():
    summary = chainer.Summary()
    summary.add(3)
    with pytest.warns(UserWarning, match='The previous statistics are not saved'):
        Load({'_x': 1}).load(summary)
    assert summary.compute_mean() == 3


def test_serialize_dict_summary():
    summary = chainer.DictSummary()
    summary.add({'a': 1, 'b/c': 2})
    saved: dict = {}
    Save(saved).save(summary)
    assert saved['_names'] == '["a", "b/c"]'
    assert saved['_summaries/1/_x'] == 2
    loaded = chainer.DictSummary()
    loaded.add({'old': 1})
    Load(saved).load(loaded)
    assert loaded.compute_mean() == {'a': 1, 'b/c': 2}
    with pytest.warns(UserWarning, match='The names of statistics are not saved'):
        Load({}).load(loaded)


def test_abstract_serializer():
    abstract = chainer.AbstractSerializer()
    with pytest.raises(NotImplementedError):
        abstract['a']
    with pytest.raises(NotImplementedError):
        abstract('a', 1)
    assert issubclass(chainer.Serializer, chainer.AbstractSerializer)
    assert issubclass(chainer.Deserializer, chainer.AbstractSerializer)
    with pytest.raises(AttributeError):
        chainer.Serializer().save(3)
