"""Datasets in columns: views that read what is asked for."""

import pickle

import numpy as np
import pytest
from chainer.dataset import TabularDataset, tabular

A = np.arange(5)
B = [10, 11, 12, 13, 14]


def make():
    return tabular.from_data({'x': A, 'y': B})


class Recorder(TabularDataset):
    """Two columns of three rows, and a list of what was read."""

    keys = ('a', 'b')
    mode = tuple

    def __init__(self):
        self.read = []

    def __len__(self):
        return 3

    def get_examples(self, indices, key_indices):
        self.read.append((indices, key_indices))
        rows = range(3) if indices is None else indices
        rows = range(3)[rows] if isinstance(rows, slice) else rows
        columns = (0, 1) if key_indices is None else key_indices
        return tuple([10 * c + r for r in rows] for c in columns)


def plain(data):
    if isinstance(data, dict):
        return {key: list(column) for key, column in data.items()}
    return tuple(map(list, data)) if isinstance(data, tuple) else list(data)


@pytest.mark.parametrize(
    ('data', 'mode', 'expected'),
    [
        (A, None, [0, 1, 2, 3, 4]),
        (('x', A), None, [0, 1, 2, 3, 4]),
        ((A, B), tuple, ([0, 1, 2, 3, 4], B)),
        ((('x', A), B), tuple, ([0, 1, 2, 3, 4], B)),
        ({'x': A, 'y': B}, dict, {'x': [0, 1, 2, 3, 4], 'y': B}),
        (
            {('p', 'q'): lambda i: (i, -i), 'z': B},
            dict,
            {'p': [0, 1, 2, 3, 4], 'q': [0, -1, -2, -3, -4], 'z': B},
        ),
    ],
)
def test_from_data(data, mode, expected):
    dataset = tabular.from_data(data)
    assert dataset.mode is mode
    assert len(dataset) == 5
    assert plain(dataset.fetch()) == expected
    rows = list(dataset)
    assert dataset[1:3] == rows[1:3]
    if mode is dict:
        assert rows[2] == {key: column[2] for key, column in expected.items()}
    elif mode is tuple:
        assert rows[2] == tuple(column[2] for column in expected)


def test_functions_need_a_key_and_a_size():
    assert tabular.from_data(('x', lambda i: 2 * i), size=3).fetch() == [0, 2, 4]
    for data, kwargs, text in (
        (lambda i: i, {'size': 3}, 'key'),
        (('x', lambda i: i), {}, 'size'),
        ((A, [1]), {}, 'rows'),
        (A, {'size': 3}, 'rows'),
        ({}, {}, 'no data'),
        ((), {}, 'no data'),
    ):
        with pytest.raises(ValueError, match=text):
            tabular.from_data(data, **kwargs)
    with pytest.raises(ValueError, match='1 values'):
        tabular.from_data((('x', 'y'), lambda i: (i,)), size=2).fetch()


@pytest.mark.parametrize(
    ('index', 'expected'),
    [
        (slice(1, 3), {'x': [1, 2], 'y': [11, 12]}),
        (slice(None, None, -2), {'x': [4, 2, 0], 'y': [14, 12, 10]}),
        ([0, -1], {'x': [0, 4], 'y': [10, 14]}),
        ([], {'x': [], 'y': []}),
        (np.array([3]), {'x': [3], 'y': [13]}),
        ([True, False, False, True, False], {'x': [0, 3], 'y': [10, 13]}),
        ((slice(3, None), 'y'), [13, 14]),
        ((slice(3, None), 1), [13, 14]),
        ((slice(3, None), np.int64(1)), [13, 14]),
        (([4], ('y', 'x')), {'y': [14], 'x': [4]}),
        ((slice(3, None), ()), {}),
    ],
)
def test_slice(index, expected):
    assert plain(make().slice[index].fetch()) == expected


@pytest.mark.parametrize(
    ('index', 'error'),
    [
        (0, TypeError),
        ([5], IndexError),
        ([1.5], TypeError),
        ([-6], IndexError),
        ([True], ValueError),
        ((slice(None), 'w'), KeyError),
        ((slice(None), 2), IndexError),
        ((slice(None), ['x', 'w']), KeyError),
    ],
)
def test_bad_slices(index, error):
    with pytest.raises(error):
        make().slice[index]


def test_slices_of_slices():
    numbers = tabular.from_data(np.arange(10))
    turned = numbers.slice[::-1]
    cases = [slice(2, 5), slice(None, None, -3), [0, 9, 3], slice(8, None), slice(4, 4)]
    for first in cases:
        part = turned.slice[first]
        expected = np.arange(10)[::-1][first]
        assert part.fetch().tolist() == expected.tolist()
        for second in (slice(1, None), slice(None, None, -1), slice(-2, None)):
            assert part.slice[second].fetch().tolist() == expected[second].tolist()


def test_only_what_is_asked_for_is_read():
    source = Recorder()
    joined = source.join(tabular.from_data({'c': [7, 8, 9]}))
    assert joined.slice[[2], ('c',)].fetch() == ([9],)
    assert source.read == []
    assert joined.slice[1:, 'b'].fetch() == [11, 12]
    assert source.read == [(slice(1, 3, 1), (1,))]
    source.read.clear()
    other = Recorder()
    assert source.concat(other).slice[[5, 0]].fetch() == ([2, 0], [12, 10])
    assert (source.read, other.read) == ([([0], None)], [([2], None)])


def test_modes_and_joins():
    dataset = make()
    assert dataset.astuple()[0] == (0, 10)
    assert dataset.astuple().asdict()[0] == {'x': 0, 'y': 10}
    assert plain(dataset.concat(dataset).fetch())['y'] == B + B
    assert dataset.join(tabular.from_data(('z', A)))[1] == {'x': 1, 'y': 11, 'z': 1}
    assert tabular.from_data(A).join(tabular.from_data(B))[1] == (1, 11)
    for bad in (
        lambda: dataset.join(dataset),
        lambda: dataset.join(tabular.from_data(('z', [1]))),
        lambda: dataset.concat(tabular.from_data((A, B))),
    ):
        with pytest.raises(ValueError, match=r'keys|length'):
            bad()


@pytest.mark.parametrize('batch', [False, True])
def test_transform(batch):
    dataset = tabular.from_data({'x': A, 'y': np.array(B)})
    apply = dataset.transform_batch if batch else dataset.transform
    single = apply('s', lambda x, y: x + y)
    assert (single.mode, single.keys) == (None, ('s',))
    assert list(single.fetch()) == [10, 12, 14, 16, 18]
    assert list(single.slice[[3]].fetch()) == [16]
    pair = apply(('s', 'd'), lambda x, y: (x + y, y - x))
    assert pair.mode is tuple
    assert pair[1] == (12, 10)
    assert list(pair.slice[1:3, 'd'].fetch()) == [10, 10]
    named = apply(('s', 'd'), lambda y, x: {'d': y - x, 's': x + y})
    assert named.mode is dict
    assert named[1] == {'s': 12, 'd': 10}
    assert list(pair.transform('t', lambda s, d: s * d).fetch()) == [100, 120, 140, 160, 180]
    with pytest.raises(ValueError, match='unique'):
        apply(('s', 's'), max)
    for wrong, text in (
        (lambda x, y: (x,), '1 values'),
        (lambda x, y: {'s': x}, 'missing'),
        (lambda x, y: x, 'expected values'),
    ):
        with pytest.raises(ValueError, match=text):
            apply(('s', 'd'), wrong).fetch()


def test_convert():
    dataset = make()
    arrays = dataset.convert(dataset.fetch())
    assert arrays['y'].tolist() == B
    assert dataset.astuple().convert(([1, 2], [np.zeros(3)] * 2))[1].shape == (2, 3)
    assert tabular.from_data(B).convert([]).shape == (0,)
    changed = dataset.with_converter(lambda x, y: (list(y), list(x)))
    assert changed.convert(changed.fetch())[0] == B
    assert changed.slice[:2].convert(changed.slice[:2].fetch()) == ([10, 11], [0, 1])


def test_delegates_and_copies():
    class Doubled(tabular.DelegateDataset):
        def get_examples(self, indices, key_indices):
            return tuple([2 * x for x in c] for c in super().get_examples(indices, key_indices))

    dataset = Doubled(make())
    assert dataset[1] == {'x': 2, 'y': 22}
    assert dataset.slice[3:, 'y'].fetch() == [26, 28]
    copy = pickle.loads(pickle.dumps(make().slice[1:, 'y']))
    assert copy.fetch() == B[1:]
    with pytest.raises(IndexError):
        make()[9]
    with pytest.raises(NotImplementedError):
        TabularDataset().get_examples(None, None)
