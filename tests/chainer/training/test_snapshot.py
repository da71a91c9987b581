"""Snapshots: their content, when they are written, and the state after a failure."""

import errno
import json
import os
import pathlib
import pickle
import random
import subprocess
import sys
import warnings

import chainer
import chainerx
import numpy as np
import pytest
from chainer import training
from chainer.training import extensions
from chainer.training.extensions import snapshot_writers
from devices import DEVICES
from v7_programs import make_trainer, model_of

WRITERS = ['SimpleWriter', 'ThreadWriter', 'ProcessWriter', 'ThreadQueueWriter',
           'ProcessQueueWriter']  # fmt: skip


def names(folder):
    return sorted(path.name for path in pathlib.Path(folder).iterdir())


def make_noisy(out, stop=(7, 'iteration'), device='@numpy', **kwargs):
    """A training that draws from all generators and uses all stateful extensions."""
    optimizer = chainer.optimizers.Adam(0.01)
    trainer = make_trainer(out, stop, optimizer=optimizer, device=device)
    random.seed(1)
    chainerx.random.seed(1)
    np.random.normal()  # one of a pair; the other one is pending

    def noise(trainer):
        b = model_of(trainer).predictor.b.array
        drawn = np.random.normal() + random.gauss(0, 1) + float(chainerx.random.normal())
        b += 0.01 * drawn

    trainer.extend(noise)
    trainer.extend(extensions.LogReport(trigger=(3, 'iteration')))
    trainer.extend(extensions.ExponentialShift('alpha', 0.9))
    trainer.extend(extensions.WarmupShift('eta', 0.1, 3, 1.0))
    trainer.extend(extensions.CosineShift('beta1', 7, warmup=2))
    trainer.extend(extensions.MicroAverage('main/loss', 'main/accuracy', 'm', (4, 'iteration')))
    trainer.extend(
        extensions.ParameterStatistics(model_of(trainer), trigger=(5, 'iteration'), prefix='p')
    )
    early = training.triggers.EarlyStoppingTrigger((2, 'iteration'), patience=2)
    stops = []
    trainer.extend(lambda trainer: stops.append(trainer.updater.iteration), 'early', early)
    trainer.extend(extensions.snapshot(**kwargs), trigger=(1, 'iteration'))
    trainer.stops = stops
    return trainer


def state_of(trainer):
    """The saved state of a trainer, except times."""
    saver = chainer.serializers.DictionarySerializer()
    trainer.serialize(saver)
    state = {key: np.asarray(value) for key, value in saver.target.items() if 'time' not in key}
    log = json.loads(str(state.pop('extensions/LogReport/_log')))
    entries = [{k: v for k, v in entry.items() if k != 'elapsed_time'} for entry in log]
    return {k: (v.dtype.str, v.shape, v.tolist()) for k, v in state.items()}, entries


def numbers_of(trainer):
    """The numbers that an update changes."""
    return {k: v for k, v in state_of(trainer)[0].items() if k.startswith('updater/')}


@pytest.mark.parametrize('device', DEVICES)
def test_resumes_with_the_same_bits_from_each_iteration(device, tmp_path):
    whole = make_noisy(tmp_path / 'whole', device=device)
    whole.run()
    expected = state_of(whole)
    assert whole.stops
    for i in range(1, 7):
        trainer = make_noisy(tmp_path / str(i), device=device)
        np.random.seed(99)
        chainer.serializers.load_npz(tmp_path / 'whole' / f'snapshot_iter_{i}', trainer)
        trainer.run()
        assert state_of(trainer) == expected
        assert trainer.stops == [n for n in whole.stops if n > i]


def test_autoload_takes_the_newest(tmp_path):
    make_noisy(tmp_path, (4, 'iteration')).run()
    trainer = make_noisy(tmp_path, (6, 'iteration'), autoload=True)
    trainer.run()
    assert trainer.updater.iteration == 6
    whole = make_noisy(tmp_path / 'whole', (6, 'iteration'))
    whole.run()
    assert state_of(trainer) == state_of(whole)


def test_autoload_without_files_starts_from_scratch(tmp_path):
    trainer = make_noisy(tmp_path, (2, 'iteration'), autoload=True)
    trainer.run()
    assert names(tmp_path) == ['snapshot_iter_1', 'snapshot_iter_2']


@pytest.mark.parametrize('damage', ['cut', 'empty', 'text', 'bit', 'other', 'folder'])
def test_damaged_snapshots_are_passed_over(damage, tmp_path):
    make_noisy(tmp_path, (4, 'iteration')).run()
    newest = tmp_path / 'snapshot_iter_4'
    content = newest.read_bytes()
    if damage == 'cut':
        newest.write_bytes(content[: len(content) // 2])
    elif damage == 'empty':
        newest.write_bytes(b'')
    elif damage == 'text':
        newest.write_text('no snapshot')
    elif damage == 'bit':
        changed = bytearray(content)
        changed[len(changed) // 3] ^= 0x55
        newest.write_bytes(changed)
    elif damage == 'other':
        chainer.serializers.save_npz(newest, chainer.links.Linear(2, 2))
    else:
        newest.unlink()
        newest.mkdir()
    trainer = make_noisy(tmp_path, (6, 'iteration'), autoload=True)
    if damage == 'folder':
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            trainer.get_extension('_Snapshot').initialize(trainer)
    else:
        with pytest.warns(UserWarning, match=r'snapshot_iter_4 cannot be loaded, an older one'):
            trainer.get_extension('_Snapshot').initialize(trainer)
    assert trainer.updater.iteration == 3


def test_when_none_can_be_loaded_training_does_not_begin(tmp_path):
    for i in (1, 2):
        (tmp_path / f'snapshot_iter_{i}').write_text('no snapshot')
    trainer = make_noisy(tmp_path, autoload=True)
    before = state_of(trainer)
    with (
        pytest.warns(UserWarning, match='cannot be loaded'),
        pytest.raises(ValueError, match='neither npz nor HDF5') as caught,
    ):
        trainer.run(show_loop_exception_msg=False)
    assert any('to begin anew, remove them' in note for note in caught.value.__notes__)
    assert state_of(trainer) == before
    assert names(tmp_path) == ['snapshot_iter_1', 'snapshot_iter_2']


@pytest.mark.parametrize('writer', WRITERS)
def test_writers(writer, tmp_path):
    make = getattr(snapshot_writers, writer)
    trainer = make_noisy(tmp_path, (5, 'iteration'), writer=make(), n_retains=2)
    trainer.run()
    assert names(tmp_path) == ['log', 'snapshot_iter_4', 'snapshot_iter_5']
    other = make_noisy(tmp_path / 'other', (5, 'iteration'))
    chainer.serializers.load_npz(tmp_path / 'snapshot_iter_5', other)
    assert numbers_of(other) == numbers_of(trainer)


def fail_on_third(path, target):
    if int(target['updater/iteration']) == 3:
        pathlib.Path(path).write_bytes(b'half of')
        raise OSError(errno.ENOSPC, 'No space left on device')
    chainer.serializers.save_npz(path, target)


@pytest.mark.parametrize('writer', WRITERS)
def test_a_full_disk_leaves_the_last_good_one(writer, tmp_path):
    make = getattr(snapshot_writers, writer)
    trainer = make_noisy(tmp_path, (3, 'iteration'), writer=make(fail_on_third), n_retains=1)
    with pytest.raises(OSError, match='No space left on device') as caught:
        trainer.run(show_loop_exception_msg=False)
    assert caught.value.errno == errno.ENOSPC
    files = [name for name in names(tmp_path) if name != 'log']
    assert files == ['snapshot_iter_2']
    chainer.serializers.load_npz(tmp_path / 'snapshot_iter_2', make_noisy(tmp_path))


def end_process(path, target):
    os._exit(3)


def test_a_process_that_cannot_start_is_not_waited_for(tmp_path):
    class Worker:
        def start(self):
            raise OSError('no more processes')

        def join(self):
            raise AssertionError('not reached')

    writer = snapshot_writers.ProcessWriter()
    writer.create_worker = lambda *args, **kwargs: Worker()
    with pytest.raises(OSError, match='no more processes'):
        writer('a', str(tmp_path), {})
    writer.finalize()


def test_unpicklable_objects_are_refused():
    with pytest.raises((AttributeError, pickle.PicklingError), match='lambda'):
        snapshot_writers.ProcessQueueWriter(lambda path, target: None)


def test_a_process_that_ends_does_not_hold_up_the_exit(tmp_path):
    here = pathlib.Path(__file__).parent
    program = (
        f'import sys; sys.path[:0] = [{str(here)!r}, {str(here.parent)!r}]\n'
        'import numpy, test_snapshot as t\n'
        'writer = t.snapshot_writers.ProcessQueueWriter(t.end_process)\n'
        "target = {'x': numpy.zeros(1 << 20)}\n"
        'try:\n'
        f'    for name in "abc": writer(name, {str(tmp_path)!r}, target)\n'
        '    writer.finalize()\n'
        'except RuntimeError: print("ended")\n'
        'try: writer.finalize()\n'
        'except RuntimeError: pass\n'
    )
    command = [sys.executable, '-c', program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, 'ended\n'), done.stderr


@pytest.mark.parametrize('interval', [(1, 'iteration'), (1, 'epoch')])
def test_early_stopping_resumes_with_the_last_observation(interval, tmp_path):
    def train(out, *ends):
        for end in ends:
            stop = training.triggers.EarlyStoppingTrigger(interval, patience=2, max_trigger=end)
            trainer = make_trainer(out, stop, optimizer=chainer.optimizers.SGD(3.0))
            trainer.extend(extensions.snapshot(autoload=True), trigger=(1, 'iteration'))
            trainer.run()
        return trainer.updater.iteration, stop.best, stop.count

    whole = train(tmp_path / 'whole', (40, 'iteration'))
    ends = [(n, 'iteration') for n in (*range(1, whole[0]), 40)]
    assert train(tmp_path / 'parts', *ends) == whole


def test_a_dynamic_loss_scale_is_resumed(tmp_path):
    def train(out, *stops):
        for stop in stops:
            optimizer = chainer.optimizers.SGD(0.1)
            optimizer.loss_scaling(interval=3)
            trainer = make_trainer(out, (stop, 'iteration'), optimizer=optimizer)

            def overflow(trainer):
                if trainer.updater.iteration == 3:
                    trainer.updater.get_optimizer('main')._loss_scaling_isnan_ever = True

            trainer.extend(overflow)
            trainer.extend(extensions.snapshot(autoload=True), trigger=(1, 'iteration'))
            trainer.run()
        return optimizer._loss_scale, model_of(trainer).predictor.W.array.tobytes()

    assert train(tmp_path / 'parts', 2, 4, 7) == train(tmp_path / 'whole', 7)
    # A snapshot of Chainer v7, or without loss scaling, leaves the scale as it is.
    plain = make_trainer(tmp_path / 'plain').updater.get_optimizer('main')
    chainer.serializers.save_npz(tmp_path / 'optimizer', plain)
    plain.loss_scaling()
    plain.set_loss_scale(8.0)
    chainer.serializers.load_npz(tmp_path / 'optimizer', plain)
    assert plain._loss_scale == 8.0


def test_autoload_removes_files_of_killed_writers(tmp_path):
    old, new, other = (tmp_path / f'.{x}.tmp' for x in ('0123456789abcdef', 'f' * 16, 'mine'))
    for path in (old, new, other):
        path.write_bytes(b'half of')
    for path in (old, other):
        os.utime(path, (0, 0))
    make_noisy(tmp_path, (1, 'iteration'), autoload=True).run()
    assert names(tmp_path) == ['.' + 'f' * 16 + '.tmp', '.mine.tmp', 'snapshot_iter_1']


@pytest.mark.parametrize('writer', ['ProcessWriter', 'ProcessQueueWriter'])
def test_a_process_that_ends_is_an_error(writer, tmp_path):
    make = getattr(snapshot_writers, writer)
    trainer = make_noisy(tmp_path, (2, 'iteration'), writer=make(end_process))
    with pytest.raises(RuntimeError, match=r'process that wrote .* ended with 3'):
        trainer.run(show_loop_exception_msg=False)


def test_later_updates_are_not_saved(tmp_path):
    """Later in-place updates do not reach a snapshot that a thread is saving."""
    gate = []

    def slow(path, target):
        while not gate:
            pass
        chainer.serializers.save_npz(path, target)

    trainer = make_trainer(tmp_path, (2, 'iteration'), device='native:0')
    writer = snapshot_writers.ThreadWriter(slow)
    trainer.extend(extensions.snapshot(writer=writer), trigger=(1, 'iteration'))
    saved = {}

    def look(trainer):
        if trainer.updater.iteration == 2:
            gate.append(1)
        else:
            saved['W'] = chainer.cuda.to_cpu(model_of(trainer).predictor.W.array).copy()

    trainer.extend(look)
    trainer.run()
    with np.load(tmp_path / 'snapshot_iter_1') as found:
        assert found['updater/model:main/predictor/W'].tobytes() == saved['W'].tobytes()


def test_retention_counts_its_own_files_only(tmp_path):
    keep = [
        'snapshot_iter_',
        'snapshot_iter_x',
        'my_snapshot_iter_1',
        'snapshot_iter_1.npz',
        'log2',
    ]
    for name in keep:
        (tmp_path / name).write_text('mine')
    trainer = make_trainer(tmp_path, (12, 'iteration'))
    trainer.extend(extensions.snapshot(n_retains=3), trigger=(1, 'iteration'))
    trainer.run()
    wanted = [*keep, 'snapshot_iter_10', 'snapshot_iter_11', 'snapshot_iter_12']
    assert names(tmp_path) == sorted(wanted)


@pytest.mark.parametrize(
    ('filename', 'expected'),
    [
        ('snapshot_{.updater.epoch}', ['snapshot_2', 'snapshot_3']),
        ('snapshot_{.updater.epoch_detail}', ['snapshot_2.7', 'snapshot_3.0']),
        ('snapshot_{.updater.epoch_detail:.2e}', ['snapshot_2.70e+00', 'snapshot_3.00e+00']),
        ('snapshot_{.updater.iteration:>3}', ['snapshot_  9', 'snapshot_ 10']),
    ],
)
def test_retention_leaves_the_files_of_others(filename, expected, tmp_path):
    every = (1, 'iteration')
    trainer = make_trainer(tmp_path, (10, 'iteration'))
    trainer.extend(extensions.snapshot(filename=filename, n_retains=2), trigger=every)
    trainer.extend(extensions.snapshot(), trigger=(5, 'iteration'))
    best = extensions.snapshot_object(model_of(trainer), 'snapshot_best')
    trainer.extend(best, trigger=every)
    trainer.run()
    others = ['snapshot_best', 'snapshot_iter_10', 'snapshot_iter_5']
    assert names(tmp_path) == sorted(expected + others)


def test_names_in_a_folder_and_with_leading_zeros(tmp_path):
    (tmp_path / 'sub').mkdir()
    for stop in (9, 11):
        trainer = make_noisy(
            tmp_path,
            (stop, 'iteration'),
            filename='sub/at_{.updater.iteration:04d}.npz',
            n_retains=2,
            autoload=True,
        )
        seen = []
        trainer.extend(lambda trainer, seen=seen: seen.append(trainer.updater.iteration), 'seen')
        trainer.run()
    assert seen == [10, 11]
    assert names(tmp_path / 'sub') == ['at_0010.npz', 'at_0011.npz']


@pytest.mark.parametrize('savefun', ['save_hdf5', 'save_safetensors'])
def test_other_formats(savefun, tmp_path):
    pytest.importorskip({'save_hdf5': 'h5py'}.get(savefun, 'safetensors'))
    results = []
    for stops in ((4,), (2, 4)):
        for stop in stops:
            trainer = make_trainer(tmp_path / str(len(stops)), (stop, 'iteration'))
            save = getattr(chainer.serializers, savefun)
            trainer.extend(extensions.snapshot(save, autoload=True), trigger=(2, 'iteration'))
            trainer.run()
        results.append(model_of(trainer).predictor.W.array.tobytes())
    assert results[0] == results[1]


def test_snapshot_object_condition_and_error(tmp_path):
    trainer = make_trainer(tmp_path, (4, 'iteration'))
    model = model_of(trainer)
    every = (1, 'iteration')
    trainer.extend(
        extensions.snapshot_object(model, 'model_{.updater.iteration}', n_retains=1), trigger=every
    )
    trainer.extend(extensions.snapshot(condition=lambda: False), trigger=every)
    trainer.extend(
        extensions.snapshot(filename='at_error', snapshot_on_error=True), trigger=(9, 'epoch')
    )

    def fail(trainer):
        if trainer.updater.iteration == 3:
            raise ValueError('three')

    trainer.extend(fail)
    with pytest.raises(ValueError, match='three'):
        trainer.run(show_loop_exception_msg=False)
    assert names(tmp_path) == ['at_error', 'model_2']
    other = chainer.links.Classifier(chainer.links.Linear(4, 2))
    chainer.serializers.load_npz(tmp_path / 'model_2', other)


def test_errors_of_snapshot():
    for kwargs, error, text in [
        ({'n_retains': -2}, ValueError, 'n_retains must be positive, or -1 or 0'),
        ({'foo': 1}, TypeError, r"snapshot\(\) got unexpected keyword argument.*'foo'"),
        ({'savefun': print, 'writer': print}, TypeError, 'cannot be specified together'),
    ]:
        with pytest.raises(error, match=text):
            extensions.snapshot(**kwargs)


KILLED = """
import os, sys, signal
sys.path[:0] = [{here!r}, {chainer_tests!r}]
import test_snapshot
out, kill_at, writer = sys.argv[1], int(sys.argv[2]), sys.argv[3]
writer = getattr(test_snapshot.snapshot_writers, writer)()
trainer = test_snapshot.make_noisy(out, (7, 'iteration'), autoload=True, writer=writer, n_retains=3)
def kill(trainer):
    if trainer.updater.iteration == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)
trainer.extend(kill, name='kill', priority=-200)
trainer.run()
state, log = test_snapshot.state_of(trainer)
state = {{k: v for k, v in state.items() if 'kill' not in k}}
print(hash(repr((sorted(state.items()), log))))
"""


@pytest.mark.parametrize('writer', ['ThreadWriter'])
def test_killed_again_and_again(writer, tmp_path):
    here = pathlib.Path(__file__).parent
    program = KILLED.format(here=str(here), chainer_tests=str(here.parent))

    def run(out, kill_at):
        command = [sys.executable, '-c', program, str(out), str(kill_at), writer]
        env = {**os.environ, 'PYTHONHASHSEED': '0'}
        return subprocess.run(command, capture_output=True, text=True, env=env, check=False)

    whole = run(tmp_path / 'whole', 0)
    assert whole.returncode == 0, whole.stderr
    for kill_at in (2, 5):
        assert run(tmp_path / 'killed', kill_at).returncode == -9
    resumed = run(tmp_path / 'killed', 0)
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stdout == whole.stdout


ORPHAN = """
import os, sys, signal
sys.path[:0] = [{here!r}, {chainer_tests!r}]
import test_snapshot
writer = test_snapshot.snapshot_writers.ProcessQueueWriter()
trainer = test_snapshot.make_noisy(sys.argv[1], (3, 'iteration'), writer=writer)
def kill(trainer):
    if trainer.updater.iteration == 2:
        os.kill(os.getpid(), signal.SIGKILL)
trainer.extend(kill, name='kill', priority=-200)
trainer.run()
"""


def test_the_process_of_a_queue_ends_with_a_killed_training(tmp_path):
    here = pathlib.Path(__file__).parent
    program = ORPHAN.format(here=str(here), chainer_tests=str(here.parent))
    command = [sys.executable, '-c', program, str(tmp_path)]
    # It inherits the output pipes, whose end is awaited: both processes have then ended.
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == -9, done.stderr
