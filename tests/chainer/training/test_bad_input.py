"""Trainings with bad input raise an error that says where, do not hang, and leave no process."""

import errno
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import time

import chainer
import chainer.links as L
import numpy as np
import pytest
from chainer import iterators, training
from chainer.training import extensions

MAKERS = {
    'serial': iterators.SerialIterator,
    'threads': lambda *args, **kwargs: iterators.MultithreadIterator(*args, n_threads=2, **kwargs),
    'processes': lambda *args, **kwargs: iterators.MultiprocessIterator(
        *args, n_processes=2, **kwargs
    ),
    'ahead': lambda *args, **kwargs: iterators.DevicePrefetchIterator(
        iterators.MultiprocessIterator(*args, n_processes=2, **kwargs), 'native:0'
    ),
}


class Dataset(chainer.dataset.DatasetMixin):
    """Twelve examples, the eighth of which may be bad."""

    def __init__(self, fault=None):
        self.fault = fault

    def __len__(self):
        return 12

    def get_example(self, i):
        if i != 7 or self.fault is None:
            return np.full(4, i, 'f'), np.int32(i % 3)
        if self.fault == 'raises':
            raise KeyError('what is wrong with seven')
        if self.fault == 'killed':
            os.kill(os.getpid(), signal.SIGKILL)
        if self.fault == 'text':
            return 'text', np.int32(0)
        if self.fault == 'single':
            return np.zeros(4, 'f')
        return np.zeros(5, 'f'), np.int32(0)


def make_trainer(iterator, out, stop=(3, 'epoch')):
    np.random.seed(0)
    model = L.Classifier(L.Linear(4, 3))
    optimizer = chainer.optimizers.SGD(0.01).setup(model)
    updater = training.StandardUpdater(iterator, optimizer, device='native:0')
    return training.Trainer(updater, stop, out=out)


def children():
    """The running processes that were started by this one, or for it by `multiprocessing`."""
    parents, servers = {}, set()
    for folder in pathlib.Path('/proc').glob('[0-9]*'):
        try:
            state, parent = (folder / 'stat').read_text().rpartition(')')[2].split()[:2]
            name = (folder / 'cmdline').read_text()
        except (OSError, ValueError):
            continue
        if state not in 'ZX':
            parents[int(folder.name)] = int(parent)
            # A fork of the server has its name.
            if int(parent) == os.getpid() and ('resource_tracker' in name or 'forkserver' in name):
                servers.add(int(folder.name))
    starters = {os.getpid(), *servers}
    return sorted(p for p, parent in parents.items() if parent in starters and p not in servers)


@pytest.mark.parametrize('make', MAKERS)
@pytest.mark.parametrize(
    ('fault', 'kind', 'text'),
    [
        ('raises', KeyError, 'what is wrong with seven'),
        ('ragged', ValueError, 'example 0 (0) has shape (4,), example 1 has (5,)'),
        ('text', TypeError, 'example 0 (0) is an array, example 1 is not'),
        ('single', ValueError, 'example 0 is a tuple of 2, example 1 is not'),
        ('killed', RuntimeError, 'while it made examples 6 to 8 of the dataset'),
    ],
)
def test_a_bad_example(make, fault, kind, text, tmp_path, capsys):
    if fault == 'killed' and make in ('serial', 'threads'):
        pytest.skip('that ends the program')
    before = children()
    iterator = MAKERS[make](Dataset(fault), 3, shuffle=False)
    trainer = make_trainer(iterator, tmp_path)
    errors = []
    trainer.extend(
        training.make_extension(on_error=lambda trainer, error, tb: errors.append(error))(
            lambda trainer: None
        ),
        name='told',
    )
    start = time.monotonic()
    with pytest.raises(kind) as caught:
        trainer.run()
    assert time.monotonic() - start < 60
    assert text in str(caught.value)
    assert errors == [caught.value]
    assert trainer.updater.iteration == 2
    if fault == 'raises':
        (note,) = caught.value.__notes__
        assert 'raised by example 7 of the dataset' in note
        assert ('in thread MultithreadIterator' in note) == (make == 'threads')
        if make in ('processes', 'ahead'):
            assert 'raised by example 7 of the dataset in process ' in note
            assert 'get_example' in note
    assert children() == before
    assert 'Exception in main training loop' in capsys.readouterr().err


@pytest.mark.parametrize('make', MAKERS)
def test_a_bad_example_to_evaluate(make, tmp_path):
    before = children()
    test = MAKERS[make](Dataset('raises'), 3, repeat=False, shuffle=False)
    trainer = make_trainer(iterators.SerialIterator(Dataset(), 3), tmp_path)
    model = trainer.updater.get_optimizer('main').target
    trainer.extend(extensions.Evaluator(test, model, device='native:0'))
    with pytest.raises(KeyError, match='seven'):
        trainer.run()
    assert children() == before


@pytest.mark.parametrize('make', MAKERS)
def test_an_empty_dataset(make, tmp_path):
    before = children()
    with pytest.raises(StopIteration, match='a dataset that is not empty'):
        make_trainer(MAKERS[make]([], 3), tmp_path).run()
    trainer = make_trainer(iterators.SerialIterator(Dataset(), 3), tmp_path)
    test = MAKERS[make]([], 3, repeat=False)
    trainer.extend(extensions.Evaluator(test, trainer.updater.get_optimizer('main').target))
    with pytest.raises(ValueError, match='gave no minibatch; is its dataset empty'):
        trainer.run()
    assert children() == before


@pytest.mark.parametrize(
    ('trigger', 'error', 'text'),
    [
        ((1, 'epochs'), ValueError, "either 'epoch' or 'iteration'. Actual: 'epochs'"),
        ((0, 'epoch'), ValueError, 'must be a positive number, not 0'),
        (('1', 'epoch'), ValueError, "must be a positive number, not '1'"),
        ((float('nan'), 'iteration'), ValueError, 'must be a positive number, not nan'),
        (3, TypeError, 'a trigger is a callable, None, or a period and its unit'),
        ('epoch', TypeError, 'a trigger is a callable, None, or a period and its unit'),
    ],
)
def test_bad_triggers_are_refused_where_they_are_given(trigger, error, text, tmp_path):
    iterator = iterators.SerialIterator(Dataset(), 3)
    with pytest.raises(error) as caught:
        make_trainer(iterator, tmp_path, trigger)
    assert text in str(caught.value)
    trainer = make_trainer(iterator, tmp_path)
    for add in (
        lambda: trainer.extend(lambda trainer: None, name='a', trigger=trigger),
        lambda: extensions.LogReport(trigger=trigger),
    ):
        with pytest.raises(error) as caught:
            add()
        assert text in str(caught.value)


PROGRAM = """
    import multiprocessing, resource, signal, sys
    import chainer, chainer.links as L
    import numpy as np
    from chainer import iterators, training
    from chainer.training import extensions

    multiprocessing.set_start_method('fork')  # so that a process inherits the limit
    folder, limit, stop, writer = sys.argv[1:]
    np.random.seed(0)
    data = chainer.datasets.TupleDataset(np.ones((12, 50), 'f'), np.zeros(12, 'i'))
    optimizer = chainer.optimizers.SGD(0.1).setup(L.Classifier(L.Linear(50, 90)))
    updater = training.StandardUpdater(iterators.SerialIterator(data, 3), optimizer)
    trainer = training.Trainer(updater, (int(stop), 'iteration'), out=folder)
    if writer != 'log':
        writer = getattr(extensions.snapshot_writers, writer)()
        trainer.extend(
            extensions.snapshot(n_retains=2, autoload=True, writer=writer), trigger=(1, 'iteration')
        )
    trainer.extend(extensions.LogReport(trigger=(1, 'iteration')))

    def fill(trainer):
        if trainer.updater.iteration == 3 and limit != '0':
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))

    trainer.extend(fill, trigger=(1, 'iteration'), priority=400)
    trainer.run()
    print('done', trainer.updater.iteration)
"""


def run(folder, limit, stop, writer):
    command = [sys.executable, '-c', textwrap.dedent(PROGRAM), folder, limit, stop, writer]
    return subprocess.run(
        [str(c) for c in command], capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize('writer', ['SimpleWriter', 'ThreadWriter', 'ProcessWriter'])
def test_files_that_cannot_be_written_whole(writer, tmp_path):
    """Truncated writes, as on a full disk, keep the old files, which are then used."""
    done = run(tmp_path, 9000, 6, writer)
    assert done.returncode == 1
    assert os.strerror(errno.EFBIG) in done.stderr, done.stderr
    names = sorted(p.name for p in tmp_path.iterdir())
    assert names[:2] == ['log', 'snapshot_iter_1']
    # A concurrent write may be the one that reaches the limit.
    assert names[2:] in [['snapshot_iter_2']] + ([[]] if writer != 'SimpleWriter' else [])
    for name in names[1:]:
        with np.load(tmp_path / name) as snapshot:
            assert int(snapshot['updater/iteration']) == int(name[-1])
    done = run(tmp_path, 0, 4, writer)
    assert done.stdout == 'done 4\n', done.stderr


def test_a_log_that_cannot_be_written(tmp_path):
    done = run(tmp_path, 100, 6, 'log')
    assert done.returncode == 1
    assert os.strerror(errno.EFBIG) in done.stderr, done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ['log']
    assert (tmp_path / 'log').read_text().count('"iteration"') == 2  # as it was before
