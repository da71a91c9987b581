"""The command line."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from chainer import _command, dataset, datasets
from chainer._command import data
from chainer.dataset import download


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


def test_files_are_taken_from_the_paths_that_it_says(capsys):
    _command.main(['data', 'path', 'ptb_words'])
    for path in capsys.readouterr().out.splitlines():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        pathlib.Path(path).write_text('one two\n')
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


def test_mistakes(capsys):
    for args in ([], ['data'], ['data', 'get', 'nothing'], ['nothing']):
        with pytest.raises(SystemExit) as error:
            _command.main(args)
        assert error.value.code == 2


def test_as_a_module():
    command = [sys.executable, '-m', 'chainer', 'data', '--help']
    assert 'fetch' in subprocess.run(command, check=True, capture_output=True, text=True).stdout
