"""Datasets in columns, whose views read only the requested columns."""

import itertools
import pickle

import numpy as np
import pytest
from chainer.dataset import TabularDataset, tabular

A = np.arange(5)
B = [10, 11, 12, 13, 14]


def make():
    return tabular.from_data({'x': A, 'y': B})


class Recorder(TabularDataset):
    """Two columns of three rows, with a list of the reads."""

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
        ((A, [1]), {}, 'same length'),
        ((A, ('x', lambda i: i)), {'size': 3}, 'same length'),
        ({}, {}, 'no data'),
        ((), {}, 'no data'),
    ):
        with pytest.raises(ValueError, match=text):
            tabular.from_data(data, **kwargs)
    assert len(tabular.from_data(A, size=3)) == 5  # of functions only
    with pytest.raises(ValueError, match='1 values'):
        tabular.from_data((('x', 'y'), lambda i: (i,)), size=2).fetch()


@pytest.mark.parametrize(
    ('keys', 'function', 'mode', 'example', 'columns'),
    [
        ('x', lambda i: i, None, 1, [0, 1, 2]),
        ('x', lambda i: [i], None, [1], [[0], [1], [2]]),
        ('x', lambda i: (i, -i), None, (1, -1), [(0, 0), (1, -1), (2, -2)]),
        ('x', lambda i: (i,), tuple, (1,), ([0, 1, 2],)),
        ('x', lambda i: {'x': i, 'z': 7}, dict, {'x': 1}, {'x': [0, 1, 2]}),
        (('x',), lambda i: i, None, 1, [0, 1, 2]),
        (('x',), lambda i: (i,), tuple, (1,), ([0, 1, 2],)),
        (('x',), lambda i: {'x': i}, dict, {'x': 1}, {'x': [0, 1, 2]}),
        (('x', 'y'), lambda i: (i, -i), tuple, (1, -1), ([0, 1, 2], [0, -1, -2])),
        (
            ('x', 'y'),
            lambda i: {'y': -i, 'x': i},
            dict,
            {'x': 1, 'y': -1},
            {'x': [0, 1, 2], 'y': [0, -1, -2]},
        ),
    ],
)
def test_modes_follow_from_results(keys, function, mode, example, columns):
    """The mode follows from the function's result, for an index, a row or other datasets' parts."""
    rows = tabular.from_data(('i', [0, 1, 2]))
    for dataset in (tabular.from_data((keys, function), size=3), rows.transform(keys, function)):
        assert dataset.mode is mode
        assert dataset[1] == example
        assert dataset.fetch() == columns
    part = tabular.from_data({keys: function, 'last': [5, 6, 7]})
    assert part.mode is dict
    assert list(part[1]) == [*((keys,) if isinstance(keys, str) else keys), 'last']


@pytest.mark.parametrize('empty', [lambda d: d.slice[:0], lambda d: d.slice[[]]])
def test_modes_of_functions_without_rows(empty):
    rows = empty(tabular.from_data(('i', [0, 1, 2])))
    assert rows.transform('x', float).mode is None
    assert rows.transform(('x', 'y'), float).fetch() == ([], [])


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


def test_slices_select_as_in_lists():
    """Slices select as on lists, with bounds beyond both ends and steps of both signs."""
    bounds = [None, *range(-7, 8)]
    for size in range(5):
        rows = list(range(size))
        dataset = tabular.from_data(rows)
        turned = dataset.slice[::-1]
        for start, stop, step in itertools.product(bounds, bounds, [None, -3, -2, -1, 1, 2, 3]):
            index = slice(start, stop, step)
            part = dataset.slice[index]
            assert part.fetch() == rows[index], (size, index)
            assert len(part) == len(rows[index])
            assert turned.slice[index].fetch() == rows[::-1][index], (size, index)


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


def test_only_requested_columns_are_read():
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
    single = tabular.from_data(A)
    for other in (tabular.from_data(B), tabular.from_data((B,))):
        assert single.join(other)[1] == (1, 11)
    assert single.join(tabular.from_data({'z': B})).mode is dict
    assert tabular.from_data((A,)).join(tabular.from_data({'z': B})).mode is tuple
    for bad in (
        lambda: dataset.join(dataset),
        lambda: dataset.join(tabular.from_data(('z', [1]))),
        lambda: dataset.concat(tabular.from_data((A, B))),
    ):
        with pytest.raises(ValueError, match=r'keys|length'):
            bad()


def test_columns_chosen_of_single_values_are_tuples():
    dataset = tabular.from_data(('x', A))
    assert dataset.slice[1:].mode is dataset.slice[1:, 'x'].mode is None
    assert dataset.slice[1:, ('x',)][0] == (1,)
    assert dataset.slice[1:, ('x', 'x')][0] == (1, 1)
    assert dataset.slice[1:, ()][0] == ()


def test_rows_of_one_dataset_of_several_keep_the_kind_of_column():
    both = tabular.from_data({'x': A}).concat(tabular.from_data({'x': A + 5}))
    for index, expected in ((slice(1, 4), [1, 2, 3]), ([9, 6], [9, 6])):
        (column,) = both.get_examples(index, None)
        assert isinstance(column, np.ndarray)
        assert column.tolist() == expected
    assert both.get_examples([4, 5], (0,)) == ([4, 5],)


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
    bare = apply(('s',), lambda x, y: y)
    assert bare.mode is None
    assert list(bare.fetch()) == B
    for wrong, text in (
        (lambda x, y: (x,), '1 values'),
        (lambda x, y: {'s': x}, 'missing'),
        (lambda x, y: 5, 'expected values'),
    ):
        with pytest.raises(ValueError, match=text):
            apply(('s', 'd'), wrong).fetch()


@pytest.mark.parametrize('batch', [False, True])
@pytest.mark.parametrize('pickled', [False, True])
def test_transforms_return_one_type(batch, pickled):
    dataset = tabular.from_data({'x': A, 'y': np.array(B)})
    apply = dataset.transform_batch if batch else dataset.transform
    for keys in ('s', ('s',)):
        changing = apply(keys, return_a_dict_at_3)
        if pickled:
            changing = pickle.loads(pickle.dumps(changing))
        assert changing.mode is None
        assert list(changing.slice[:3].fetch()) == [0, 1, 2]
        with pytest.raises(ValueError, match='a dict, after a single value'):
            changing.slice[[3]].fetch()
    changing = apply(('s', 'd'), lambda x, y: (x, y) if np.any(x == 0) else {'s': x, 'd': y})
    assert changing.mode is tuple
    with pytest.raises(ValueError, match='a dict, after a tuple'):
        _ = changing[1]


def return_a_dict_at_3(x, y):
    return {'s': x} if np.any(x == 3) else x


@pytest.mark.parametrize('indices', [None, slice(1, 4), [0, 2, 4]])
def test_transformed_batches_have_as_many_rows(indices):
    for function in (
        lambda x, y: (x[:-1], y[:-1]),
        lambda x, y: (x, y[:-1]),
        lambda x, y: (list(x) * 2, y),
    ):
        dataset = make().transform_batch(('s', 'd'), function)
        n = 5 if indices is None else 3
        with pytest.raises(ValueError, match=f'values for {n} rows'):
            dataset.get_examples(indices, (0,))


def test_convert():
    dataset = make()
    arrays = dataset.convert(dataset.fetch())
    assert arrays['y'].tolist() == B
    assert dataset.astuple().convert(([1, 2], [np.zeros(3)] * 2))[1].shape == (2, 3)
    assert tabular.from_data(B).convert([]).shape == (0,)
    changed = dataset.with_converter(lambda x, y: (list(y), list(x)))
    assert changed.convert(changed.fetch())[0] == B
    assert changed.slice[:2].convert(changed.slice[:2].fetch()) == ([10, 11], [0, 1])


def test_views_keep_the_converter():
    """A view of several datasets has the converter of the first one."""
    plain = make()
    marked = plain.with_converter(lambda *columns, **named: (len(columns), list(named)))
    other = tabular.from_data({'z': A})
    for view, expected in (
        (marked.join(other), (0, ['x', 'y', 'z'])),
        (marked.concat(plain), (0, ['x', 'y'])),
        (marked.transform(('a', 'b'), lambda x, y: (x, y)), (2, [])),
        (marked.transform_batch('a', lambda x, y: y), (1, [])),
        (marked.slice[:, ('y',)], (0, ['y'])),
        (marked.astuple(), (2, [])),
    ):
        assert view.convert(view.fetch()) == expected
    joined = other.join(marked)
    assert sorted(joined.convert(joined.fetch())) == ['x', 'y', 'z']


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
