"""Datasets made of other datasets: their examples and their errors."""

import copy
import gzip
import io
import multiprocessing
import os
import pathlib
import pickle
import re

import numpy as np
import pytest
from chainer import datasets as D

WHOLE = list(range(100, 110))
REVERSED = np.arange(10)[::-1]


def everything(dataset):
    return [dataset[i] for i in range(len(dataset))]


MADE = {  # dataset, its examples
    'part': (lambda: D.SubDataset(WHOLE, 2, 5), [102, 103, 104]),
    'part of an order': (lambda: D.SubDataset(WHOLE, 0, 3, REVERSED), [109, 108, 107]),
    'part of a tuple': (lambda: D.SubDataset(WHOLE, 8, 10, tuple(REVERSED)), [101, 100]),
    'nothing': (lambda: D.SubDataset(WHOLE, 4, 4), []),
    'first of two': (lambda: D.split_dataset(WHOLE, 2)[0], [100, 101]),
    'second of two': (lambda: D.split_dataset(WHOLE, np.int64(8))[1], [108, 109]),
    'all in one': (lambda: D.split_dataset(WHOLE, 10)[0], WHOLE),
    # Orders as v7 draws them.
    'split at random': (lambda: D.split_dataset_random(WHOLE, 4, seed=3)[0], [105, 104, 101, 102]),
    'second of three': (lambda: D.split_dataset_n(WHOLE, 3)[1], [103, 104, 105]),
    'of three at random': (lambda: D.split_dataset_n_random(WHOLE, 3, 1)[0], [102, 109, 106]),
    'more parts than examples': (lambda: D.split_dataset_n(WHOLE, 11)[3], []),
    'one after the other': (
        lambda: D.ConcatenatedDataset([1, 2], (), (3,), np.array([4, 5])),
        [1, 2, 3, 4, 5],
    ),
    'none': (lambda: D.ConcatenatedDataset(), []),
    'by name': (lambda: D.DictDataset(x=[1, 2], y='ab'), [{'x': 1, 'y': 'a'}, {'x': 2, 'y': 'b'}]),
    'side by side': (lambda: D.TupleDataset([1, 2], 'ab'), [(1, 'a'), (2, 'b')]),
    'changed': (lambda: D.TransformDataset(WHOLE, lambda x: x * 2), [2 * x for x in WHOLE]),
}


@pytest.mark.parametrize('name', MADE)
def test_examples(name):
    make, expected = MADE[name]
    dataset = make()
    n = len(expected)
    assert len(dataset) == n
    assert everything(dataset) == expected
    assert [dataset[i] for i in range(-n, 0)] == expected
    assert dataset[:] == expected
    assert dataset[1:][::-1] == expected[:0:-1]
    assert dataset[list(range(n))] == dataset[np.arange(n)] == expected
    chosen = [i % 2 == 0 for i in range(n)]
    for booleans in (chosen, np.array(chosen, bool), list(np.array(chosen, bool))):
        assert dataset[booleans] == expected[::2]
    with pytest.raises(IndexError, match=f'^{n + 1} booleans cannot choose among {n} examples'):
        dataset[[*chosen, True]]
    for outside in (n, -n - 1):
        with pytest.raises(IndexError):
            dataset[outside]
    with pytest.raises(TypeError):
        dataset[0.0]
    if n:
        with pytest.raises(TypeError):
            dataset[[0.0]]


def test_lists_of_keys_of_the_dataset():
    class ByName(D.TransformDataset):
        def get_example(self, i):
            return f'example of {i}'

    assert ByName(WHOLE, None)[['a', 'b']] == ['example of a', 'example of b']


def test_folds():
    pairs = D.get_cross_validation_datasets(WHOLE, 3)
    assert [everything(test) for _, test in pairs] == [
        [106, 107, 108, 109],
        [103, 104, 105],
        [100, 101, 102],
    ]
    # Examples after the fold come first, as in v7.
    assert everything(pairs[1][0]) == [106, 107, 108, 109, 100, 101, 102]
    turned = D.get_cross_validation_datasets(WHOLE, n_folds=3, order=REVERSED)
    assert everything(turned[2][1]) == [109, 108, 107]
    assert len(D.get_cross_validation_datasets(WHOLE, n_fold=3)) == 3
    drawn = D.get_cross_validation_datasets_random(WHOLE, 3, seed=0)
    assert everything(drawn[0][1]) == [107, 103, 100, 105]
    for train, test in drawn:
        assert sorted(everything(train) + everything(test)) == WHOLE
    assert everything(D.get_cross_validation_datasets(WHOLE, 1)[0][0]) == []


REFUSED = {
    'part before the start': (lambda: D.SubDataset(WHOLE, -1, 3), ValueError, r'\[-1, 3\).*10 ex'),
    'part beyond the end': (lambda: D.SubDataset(WHOLE, 0, 11), ValueError, r'\[0, 11\)'),
    'part from end to start': (lambda: D.SubDataset(WHOLE, 5, 3), ValueError, r'\[5, 3\)'),
    'short order': (lambda: D.SubDataset(WHOLE, 0, 3, [1, 2]), ValueError, 'order has 2'),
    'split at a float': (lambda: D.split_dataset(WHOLE, 3.0), TypeError, 'split_at.*float'),
    'split before': (lambda: D.split_dataset(WHOLE, -1), ValueError, 'split_at is -1'),
    'split beyond': (lambda: D.split_dataset(WHOLE, 11), ValueError, 'split_at is 11.* 10 '),
    'no parts': (lambda: D.split_dataset_n(WHOLE, 0), ValueError, 'n must be positive, not 0'),
    'no folds': (lambda: D.get_cross_validation_datasets(WHOLE, 0), ValueError, 'not 0'),
    'folds missing': (lambda: D.get_cross_validation_datasets(WHOLE), TypeError, 'missing'),
    'too many folds': (lambda: D.get_cross_validation_datasets(WHOLE, 11), ValueError, '11.* 10 '),
    'order of folds': (
        lambda: D.get_cross_validation_datasets(WHOLE, 2, [1]),
        ValueError,
        'order has 1',
    ),
    'odd argument': (
        lambda: D.get_cross_validation_datasets_random(WHOLE, 2, folds=3),
        TypeError,
        "'folds'",
    ),
    'no names': (lambda: D.DictDataset(), ValueError, 'no datasets'),
    'lengths by name': (lambda: D.DictDataset(a=[1], b=[1, 2]), ValueError, "'b' has 2.*'a' has 1"),
    'no columns': (lambda: D.TupleDataset(), ValueError, 'no datasets'),
    'lengths': (lambda: D.TupleDataset([1], [1, 2]), ValueError, 'index 1'),
    'no text': (lambda: D.TextDataset([]), ValueError, 'at least one'),
    'no such text': (lambda: D.TextDataset('no such file'), FileNotFoundError, 'no such file'),
}


@pytest.mark.parametrize('name', REFUSED)
def test_refused(name):
    call, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        call()


def test_an_error_of_a_transform_comes_through():
    dataset = D.TransformDataset([1, 0], lambda x: 1 // x)
    assert dataset[0] == 1
    with pytest.raises(ZeroDivisionError):
        dataset[1]


# ---- text ----


@pytest.fixture
def texts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'a').write_bytes(b'one\ntwo \n\nthree')
    (tmp_path / 'b').write_bytes(b'eins\nzwei\n\ndrei\n')
    (tmp_path / 'short').write_bytes(b'x\n')
    (tmp_path / 'ends').write_bytes(b'a\r\nb\rc\n\x0cd\n')
    (tmp_path / 'wide').write_bytes('ä\nö'.encode('utf-16'))
    (tmp_path / 'broken').write_bytes(b'a\n\xff\n')
    return tmp_path


TEXTS = {  # arguments, and the lines that v7 returns
    'one file': (('a',), {}, ['one\n', 'two \n', '\n', 'three']),
    'one in a list': ((['a'],), {'encoding': ['utf-8']}, ['one\n', 'two \n', '\n', 'three']),
    'two files': (
        (['a', 'b'],),
        {},
        [('one\n', 'eins\n'), ('two \n', 'zwei\n'), ('\n', '\n'), ('three', 'drei\n')],
    ),
    'path': ((pathlib.Path('wide'),), {'encoding': 'utf-16'}, ['ä\n', 'ö']),
    'filter': (('a',), {'filter_func': lambda line: 'o' in line}, ['one\n', 'two \n']),
    'filter of two': (
        (['a', 'b'],),
        {'filter_func': lambda a, b: 'e' in a and 'i' in b},
        [('one\n', 'eins\n'), ('three', 'drei\n')],
    ),
    'all ends': (('ends',), {}, ['a\n', 'b\n', 'c\n', '\x0cd\n']),
    'ends as they are': (('ends',), {'newline': ''}, ['a\r\n', 'b\r', 'c\n', '\x0cd\n']),
    'ends of Windows': (('ends',), {'newline': '\r\n'}, ['a\r\n', 'b\rc\n\x0cd\n']),
    'encoding': (('wide',), {'encoding': 'utf-16'}, ['ä\n', 'ö']),
    'encodings': (
        (['wide', 'broken'],),
        {'encoding': ['utf-16', 'ascii'], 'errors': ['strict', 'replace']},
        [('ä\n', 'a\n'), ('ö', '\ufffd\n')],
    ),
}


@pytest.mark.parametrize('name', TEXTS)
def test_text(name, texts):
    args, options, expected = TEXTS[name]
    dataset = D.TextDataset(*args, **options)
    order = [*range(len(expected)), *range(-len(expected), 0)]
    assert len(dataset) == len(expected)
    assert [dataset[i] for i in order] == [expected[i] for i in order]
    with pytest.raises(IndexError, match=f'{len(expected)} is out of range'):
        dataset[len(expected)]
    if 'filter_func' not in options:
        assert everything(pickle.loads(pickle.dumps(dataset))) == expected
    dataset.close()


def test_texts_that_do_not_fit(texts):
    with pytest.raises(ValueError, match=r"numbers of lines differ: 'short' has 1"):
        D.TextDataset(['a', 'short'])
    with pytest.raises(ValueError, match='encoding has 1 items for 2 files'):
        D.TextDataset(['a', 'b'], encoding=['ascii'])
    with pytest.raises(UnicodeDecodeError):
        D.TextDataset('broken', encoding='utf-8')


def read_all(dataset, results):
    for _ in range(20):
        results.put(everything(dataset))


def test_forked_processes_read_their_own_lines(texts):
    """Forked processes read their own lines, though the file offset is shared."""
    context = multiprocessing.get_context('fork')
    (texts / 'long').write_text(''.join(f'line {i}\n' for i in range(300)))
    with D.open_pickle_dataset_writer('p') as writer:
        for i in range(300):
            writer.write(i)
    for dataset in (D.TextDataset('long'), D.open_pickle_dataset('p')):
        expected, results = everything(dataset), context.SimpleQueue()
        workers = [context.Process(target=read_all, args=(dataset, results)) for _ in range(2)]
        for worker in workers:
            worker.start()
        for _ in range(40):
            assert results.get() == expected
        for worker in workers:
            worker.join()
        dataset.close()


# ---- pickles ----


def test_pickles(tmp_path):
    path = str(tmp_path / 'p')
    with D.open_pickle_dataset_writer(path) as writer:
        writer.write([1, 2])
        writer.flush()
        writer.write('x')
    with D.open_pickle_dataset(path) as dataset:
        assert len(dataset) == 2
        assert dataset[:] == [[1, 2], 'x']
        assert dataset[-1] == 'x'
        with pytest.raises(IndexError, match='2 is out of range for 2'):
            dataset[2]
        copy = pickle.loads(pickle.dumps(dataset))
        assert copy[0] == [1, 2]
        copy.close()
    with pytest.raises(ValueError, match='closed'):
        dataset[0]
    for f in (D.open_pickle_dataset, D.PickleDataset):
        assert re.search(r'pickle is a program', f.__doc__)


def test_pickles_of_files_without_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    memory = io.BytesIO()
    for example in ('a', len, [3]):
        D.PickleDatasetWriter(memory).write(example)
    dataset = D.PickleDataset(memory)
    for copied in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        assert copied(dataset)[:] == ['a', len, [3]]
    with gzip.open('compressed', 'wb') as file:
        file.write(memory.getvalue())
    dataset = D.PickleDataset(gzip.open('compressed'))  # noqa: SIM115  # the dataset closes it
    child = os.fork()
    if child == 0:  # the name is that of the compressed bytes
        os._exit(0 if dataset[1:] == [len, [3]] else 1)
    assert os.waitpid(child, 0)[1] == 0
    dataset.close()


def test_broken_pickles(tmp_path):
    path = tmp_path / 'p'
    path.write_bytes(pickle.dumps([1, 2])[:-3])
    with pytest.raises((pickle.UnpicklingError, EOFError)):
        D.open_pickle_dataset(str(path))
    path.write_bytes(b'')
    with D.open_pickle_dataset(str(path)) as dataset:
        assert len(dataset) == 0
