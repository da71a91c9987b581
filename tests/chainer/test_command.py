"""The command line."""

import hashlib
import importlib
import json
import os
import pathlib
import subprocess
import sys

import chainer
import chainerx
import numpy as np
import pytest
from chainer import _command, dataset, datasets
from chainer._command import data, info
from chainer._diagnostics import self_test
from chainer.dataset import download

ptb = importlib.import_module('chainer.datasets.ptb')


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(download, '_root', str(tmp_path))
    monkeypatch.setenv('CHAINER_DATASET_MIRROR', 'http://127.0.0.1:9')

    def refuse(url, part):
        raise OSError(f'{url} is not asked for in tests')

    monkeypatch.setattr(download, '_transfer', refuse)
    return tmp_path


def test_list_and_path(capsys, root):
    assert _command.main(['data', 'list']) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == list(data.DATASETS)
    assert all(callable(getattr(datasets, f'get_{name}')) for name in listed)
    assert _command.main(['data', 'path']) == 0
    assert capsys.readouterr().out == f'{root}\n'


def test_files_are_taken_from_the_paths_that_it_says(capsys, monkeypatch):
    _command.main(['data', 'path', 'ptb_words'])
    for path in capsys.readouterr().out.splitlines():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        pathlib.Path(path).write_text('one two\n')
    assert _command.main(['data', 'get', 'ptb_words']) == 1
    assert 'ptb.train.txt: the MD5 sum is' in capsys.readouterr().err
    made = hashlib.md5(b'one two\n').hexdigest()
    monkeypatch.setattr(ptb, 'SUMS', dict.fromkeys(ptb.SUMS, made))
    assert _command.main(['data', 'get', 'ptb_words']) == 0
    assert capsys.readouterr().out == 'ptb_words: 3 + 3 + 3 examples\n'
    np.testing.assert_array_equal(datasets.get_ptb_words()[2], [0, 1, 2])


@pytest.mark.parametrize('name', data.DATASETS)
def test_offline_it_names_the_path(capsys, name):
    if name == 'svhn':
        pytest.importorskip('scipy')
    _command.main(['data', 'path', name])
    first = capsys.readouterr().out.splitlines()[0]
    assert _command.main(['data', 'get', name]) == 1
    assert first in capsys.readouterr().err
    assert dataset.get_dataset_root() in first


def test_info(capsys):
    assert _command.main(['info', '--json']) == 0
    found = json.loads(capsys.readouterr().out)
    assert found['chainer'] == chainer.__version__
    assert found['chainerx'] == chainerx.__version__
    assert found['devices'][0] == 'native:0'
    assert found['num_threads'] == chainerx.get_num_threads()
    libraries = {'driver', 'nvrtc', 'cublaslt', 'cudnn', 'cufft', 'cusolver', 'nccl'}
    assert set(found['cuda']) == libraries | {'cache', 'test_driver'}
    assert set(found['optional']) == set(info.OPTIONAL)
    assert _command.main(['info']) == 0
    text = capsys.readouterr().out
    for word in (
        'instruction set:',
        'BLAS:',
        'CUDA driver:',
        'NVRTC:',
        'threads:',
        chainerx.__version__,
    ):
        assert word in text
    for name, version in found['optional'].items():
        assert f'{name} {version}' in text if version else f'{name} ({info.OPTIONAL[name]})' in text


@pytest.mark.parametrize(
    ('arguments', 'text'),
    [
        (['--device', 'native:99'], 'device index 99 is out of range'),
        (['--device', 'nothing:0'], "'nothing'"),
        (['--threads', '0'], 'n is 0'),
    ],
)
def test_bench_refuses(arguments, text, capsys):
    assert _command.main(['bench', *arguments]) == 1
    assert text in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.score
def test_bench(capsys):
    assert _command.main(['bench', '--seconds', '0', '--threads', '1', '--json']) == 0
    result = json.loads(capsys.readouterr().out)
    assert result['info']['num_threads'] == 1
    assert [row['name'] for row in result['rows']] == [row.name for row in self_test.ROWS]
    for row in result['rows']:
        assert row['error'] is None
        assert row['seconds'] > 0
        assert (row['rate'] is None) == (row['unit'] == '')


BROKEN = {  # the broken part -> the message and its rows
    'exp': (lambda x: chainerx.log1p(x * 2), ['exp, 16M elements: exp is']),
    'sum': (lambda x: x.mean(), ['sum, 16M elements: sum is']),
    'matmul': (lambda *_: 1 / 0, ['matrix product, 1024 x 1024: ZeroDivisionError']),
}


@pytest.mark.slow
@pytest.mark.score
@pytest.mark.parametrize('name', BROKEN)
def test_bench_finds_wrong_results(name, monkeypatch, capsys):
    function, texts = BROKEN[name]
    monkeypatch.setattr(chainerx, name, function)
    rows = [row for row in self_test.ROWS if any(text.startswith(row.name) for text in texts)]
    assert rows
    monkeypatch.setattr(self_test, 'ROWS', rows)
    assert _command.main(['bench', '--seconds', '0']) == 1
    done = capsys.readouterr()
    assert 'All results are right' not in done.out
    assert done.out.count('WRONG') == len(texts)
    for text in texts:
        assert f'chainer bench: WRONG: {text}' in done.err


@pytest.mark.parametrize('what', ['gradient', 'loss', 'update'])
def test_bench_finds_wrong_training(what, monkeypatch):
    if what == 'gradient':
        relu = chainer.functions.relu
        monkeypatch.setattr(chainer.functions, 'relu', lambda x: relu(x.array + (x - x.array) * 2))
    elif what == 'loss':
        loss = chainer.functions.softmax_cross_entropy
        monkeypatch.setattr(
            chainer.functions, 'softmax_cross_entropy', lambda y, t: loss(y * 1.01, t)
        )
    else:
        monkeypatch.setattr(chainer.optimizers, 'SGD', chainer.optimizers.AdaGrad)
    rows = [row for row in self_test.ROWS if row.name.startswith('step')]
    monkeypatch.setattr(self_test, 'ROWS', rows)
    results = list(self_test.run('native:0', 0))
    assert len(results) == 3
    word = {'gradient': 'the gradient is', 'loss': 'the loss is', 'update': 'after the update is'}
    for result in results:
        assert word[what] in result.error
        assert 'expected' in result.error


def test_mistakes(capsys):
    for args in ([], ['data'], ['data', 'get', 'nothing'], ['nothing']):
        with pytest.raises(SystemExit) as error:
            _command.main(args)
        assert error.value.code == 2


def test_as_a_module():
    command = [sys.executable, '-m', 'chainer', 'data', '--help']
    assert 'fetch' in subprocess.run(command, check=True, capture_output=True, text=True).stdout
