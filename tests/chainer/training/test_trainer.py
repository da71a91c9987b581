"""The training loop: names, errors, finalization, the output folder, Ctrl-C."""

import errno
import io
import os
import signal
import sys
import threading

import chainer
import numpy as np
import pytest
from chainer import training
from chainer.training import extensions
from devices import DEVICES
from v7_programs import make_evaluator, make_trainer, model_of


class Recorder(training.Extension):
    def __init__(self, log, label, fails=()):
        self.log, self.label, self.fails = log, label, fails

    def _note(self, what):
        self.log.append(f'{self.label} {what}')
        if what in self.fails:
            raise OSError(f'{self.label} {what}')

    def initialize(self, trainer):
        self._note('initialize')

    def finalize(self):
        self._note('finalize')

    def on_error(self, trainer, exc, tb):
        self._note('on_error')

    def __call__(self, trainer):
        self._note('call')


def test_all_are_finalized_when_one_of_them_fails(tmp_path):
    log = []
    trainer = make_trainer(tmp_path, (1, 'iteration'))
    trainer.extend(Recorder(log, 'a', fails=['finalize']))
    trainer.extend(Recorder(log, 'b'))
    with pytest.raises(OSError, match='a finalize'):
        trainer.run()
    assert log[-2:] == ['a finalize', 'b finalize']


def test_the_first_error_is_the_one_that_is_raised(tmp_path, capsys):
    log = []
    trainer = make_trainer(tmp_path, (3, 'iteration'))
    trainer.extend(Recorder(log, 'a', fails=['call', 'on_error', 'finalize']))
    trainer.extend(Recorder(log, 'b'))
    with pytest.raises(OSError, match='a call') as caught:
        trainer.run()
    notes = '\n'.join(caught.value.__notes__)
    assert "on_error of a failed, too: OSError('a on_error')" in notes.replace('Recorder', 'a')
    assert "finalizing failed, too: OSError('a finalize')" in notes
    assert log[2:] == ['a call', 'a on_error', 'b on_error', 'a finalize', 'b finalize']
    error = capsys.readouterr().err
    assert 'Exception in main training loop: a call' in error
    assert 'Will finalize trainer extensions and updater before reraising' in error


def test_an_error_in_initialize_finalizes_too(tmp_path):
    log = []
    trainer = make_trainer(tmp_path)
    trainer.extend(Recorder(log, 'a', fails=['initialize']))
    with pytest.raises(OSError, match='a initialize'):
        trainer.run(show_loop_exception_msg=False)
    assert log == ['a initialize', 'a on_error', 'a finalize']


def test_runs_once(tmp_path):
    trainer = make_trainer(tmp_path, (1, 'iteration'))
    assert trainer.is_before_training
    with pytest.raises(RuntimeError, match='training has not been started yet'):
        _ = trainer.elapsed_time
    trainer.run()
    elapsed = trainer.elapsed_time
    assert elapsed > 0
    assert trainer.elapsed_time == elapsed
    assert not trainer.is_before_training
    with pytest.raises(RuntimeError, match='cannot run training loop multiple times'):
        trainer.run()


def test_errors_of_extend(tmp_path):
    trainer = make_trainer(tmp_path)
    for arguments, kwargs, error, text in [
        ((len,), {'name': 'training'}, ValueError, 'the name "training" is prohibited'),
        ((5,), {}, TypeError, 'name is not given for the extension 5'),
        ((5,), {'name': 'five'}, TypeError, '5 cannot be called'),
        ((len,), {'invoke_before_training': True}, ValueError, 'has been removed since'),
        ((len,), {'tigger': (1, 'epoch')}, TypeError, "unexpected keyword argument.*'tigger'"),
        ((len,), {'trigger': (1, 'epochs')}, ValueError, "'epoch' or 'iteration'.*'epochs'"),
        ((len,), {'trigger': 5}, TypeError, 'a trigger is a callable, None, or a period'),
        ((len,), {'trigger': (0, 'epoch')}, ValueError, 'period must be a positive number, not 0'),
    ]:
        with pytest.raises(error, match=text):
            trainer.extend(*arguments, **kwargs)
    assert trainer._extensions == {}
    with pytest.raises(ValueError, match='extension LogReport not found; there are: none'):
        trainer.get_extension('LogReport')


def test_an_iterator_is_no_updater(tmp_path):
    iterator = chainer.iterators.SerialIterator([1, 2], 1)
    with pytest.raises(TypeError, match='updater is a SerialIterator, expected an Updater'):
        chainer.training.Trainer(iterator, (1, 'epoch'), out=tmp_path)


def test_readers_of_a_log_ask_for_one(tmp_path):
    trainer = make_trainer(tmp_path, (1, 'iteration'))
    trainer.extend(extensions.PrintReport(['epoch']))
    text = 'PrintReport: extension LogReport not found; there are: PrintReport; .*with a LogReport'
    with pytest.raises(ValueError, match=text):
        trainer.run(show_loop_exception_msg=False)


def test_bound_methods_are_extensions(tmp_path):
    seen = []

    class Owner:
        def look(self, trainer):
            seen.append(trainer.updater.iteration)

    trainer = make_trainer(tmp_path, (3, 'iteration'), extensions=[Owner().look])
    trainer.extend(Owner().look, trigger=(2, 'iteration'))
    assert list(trainer._extensions) == ['look', 'look_1']
    trainer.run()
    assert seen == [1, 2, 2, 3]


def test_a_folder_that_cannot_be_made(tmp_path):
    file = tmp_path / 'file'
    file.write_text('not a folder')
    for out in (file, file / 'inner'):
        trainer = make_trainer(out)
        with pytest.raises(
            OSError, match=r"Trainer.run: out='.*file.*' is no folder to write"
        ) as e:
            trainer.run()
        assert isinstance(e.value, FileExistsError | NotADirectoryError)
    assert file.read_text() == 'not a folder'
    assert trainer.updater.iteration == 0


def test_a_folder_that_cannot_be_written_to(tmp_path, monkeypatch):
    monkeypatch.setattr(os, 'access', lambda path, mode: False)  # root can write everywhere
    trainer = make_trainer(tmp_path)
    with pytest.raises(PermissionError, match='it cannot be written to'):
        trainer.run()


def test_nan_is_found(tmp_path):
    trainer = make_trainer(tmp_path)
    trainer.extend(extensions.FailOnNonNumber())

    def poison(trainer):
        if trainer.updater.iteration == 2:
            model_of(trainer).predictor.b.array[0] = np.nan

    trainer.extend(poison, priority=1000)
    text = "parameters in optimizer 'main' diverge.*/predictor/b is not finite after iteration 2; "
    with pytest.raises(RuntimeError, match=text + 'main/loss = '):
        trainer.run(show_loop_exception_msg=False)


def make_diverging(out, device, **kwargs):
    """A training whose third loss is NaN."""
    trainer = make_trainer(out, device=device)
    model = model_of(trainer)
    count = []

    def loss(x, t):
        count.append(None)
        y = model(x, t)
        bad = float('nan') if len(count) == 3 else 1.0
        y = y * bad
        chainer.report({'loss': y}, model)
        return y

    trainer.updater.loss_func = loss
    trainer.extend(extensions.FailOnNonNumber(**kwargs))
    # Observed values may be anything.
    trainer.extend(lambda t: t.observation.update(text='x', many=np.ones(3)), 'odd', priority=999)
    return trainer, model


@pytest.mark.parametrize('device', DEVICES)
def test_a_nan_loss_is_found_after_the_update(tmp_path, device):
    trainer, model = make_diverging(tmp_path, device)
    text = 'is not finite after iteration 3; main/loss = nan, main/accuracy = '
    with pytest.raises(RuntimeError, match=text):
        trainer.run(show_loop_exception_msg=False)
    assert np.isnan(chainer.cuda.to_cpu(model.predictor.W.array)).any()


@pytest.mark.parametrize('device', DEVICES)
def test_a_nan_loss_is_found_before_the_update(tmp_path, device):
    trainer, model = make_diverging(tmp_path, device, before_update=True)
    trainer.extend(extensions.snapshot(snapshot_on_error=True), trigger=(100, 'epoch'))
    optimizer = trainer.updater.get_optimizer('main')
    text = (
        r"gradients in optimizer 'main' diverge. The gradient of /predictor/\w is not finite in "
        r'iteration 3, whose update was not made; main/loss = nan, main/accuracy = '
    )
    with pytest.raises(RuntimeError, match=text):
        trainer.run(show_loop_exception_msg=False)
    assert (trainer.updater.iteration, optimizer.t) == (2, 2)
    # The state after two updates, in the model and in the snapshot.
    two = make_trainer(tmp_path / 'two', (2, 'iteration'), device=device)
    two.run()
    expected = chainer.cuda.to_cpu(model_of(two).predictor.W.array)
    np.testing.assert_array_equal(chainer.cuda.to_cpu(model.predictor.W.array), expected)
    saved = np.load(tmp_path / 'snapshot_iter_2')['updater/model:main/predictor/W']
    np.testing.assert_array_equal(saved, expected)
    # The optimizer is unchanged.
    assert not optimizer._hookable
    optimizer.update()


def test_a_dynamic_loss_scale_leaves_bad_steps_out_itself(tmp_path):
    trainer, _ = make_diverging(tmp_path, '@numpy', before_update=True)
    trainer.updater.get_optimizer('main').loss_scaling()
    with pytest.warns(UserWarning, match='Non finite number found in param.grad'):
        trainer.run()
    assert trainer.updater.iteration == 10


def interrupt_at(iteration):
    def interrupt(trainer):
        if trainer.updater.iteration == iteration:
            os.kill(os.getpid(), signal.SIGINT)

    return interrupt


def test_ctrl_c_saves_after_the_iteration(tmp_path, capsys):
    log = []
    trainer = make_trainer(tmp_path, (5, 'iteration'))
    trainer.extend(interrupt_at(2), priority=1000)
    trainer.extend(Recorder(log, 'a'))
    trainer.extend(extensions.snapshot(), trigger=(4, 'iteration'))
    with pytest.raises(KeyboardInterrupt):
        trainer.run()
    assert os.listdir(tmp_path) == ['snapshot_iter_2']
    assert log == ['a initialize', 'a call', 'a call', 'a finalize']
    assert 'a snapshot is taken after this iteration' in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_twice_stops_at_once(tmp_path):
    def twice(trainer):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError('not reached')

    trainer = make_trainer(tmp_path)
    trainer.extend(twice)
    trainer.extend(extensions.snapshot())
    with pytest.raises(KeyboardInterrupt):
        trainer.run()
    assert os.listdir(tmp_path) == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_in_the_last_iteration_trains_no_longer(tmp_path):
    trainer = make_trainer(tmp_path, (3, 'iteration'))
    trainer.extend(interrupt_at(3), 'interrupt', priority=1000)
    trainer.extend(extensions.snapshot(), trigger=(9, 'iteration'))
    with pytest.raises(KeyboardInterrupt):
        trainer.run()
    trainer = make_trainer(tmp_path, (3, 'iteration'), extensions=[extensions.snapshot()])
    chainer.serializers.load_npz(tmp_path / 'snapshot_iter_3', trainer)
    trainer.run()
    assert trainer.updater.iteration == 3


def test_extensions_report_before_training(tmp_path):
    trainer = make_trainer(tmp_path, (2, 'iteration'))
    trainer.extend(make_evaluator(model_of(trainer)), call_before_training=True)
    seen = []
    trainer.extend(lambda t: seen.append(sorted(t.observation)), call_before_training=True)
    trainer.run()
    main = ['main/accuracy', 'main/loss']
    assert seen == [['validation/main/accuracy', 'validation/main/loss'], main, main]


def test_an_updater_without_finalize(tmp_path):
    class Bare:
        iteration = 0
        connect_trainer = staticmethod(lambda trainer: None)
        get_all_optimizers = staticmethod(dict)

        def update(self):
            self.iteration += 1

    log = []
    trainer = training.Trainer(Bare(), (1, 'iteration'), str(tmp_path), [Recorder(log, 'a')])
    trainer.run()
    assert log == ['a initialize', 'a call', 'a finalize']


@pytest.mark.parametrize('saves_model', [False, True])
def test_ctrl_c_without_a_snapshot_stops_at_once(saves_model, tmp_path):
    log = []
    trainer = make_trainer(tmp_path)
    if saves_model:  # from which training cannot continue
        trainer.extend(extensions.snapshot_object(model_of(trainer), 'model'))
    trainer.extend(interrupt_at(2), priority=1000)
    trainer.extend(Recorder(log, 'a'))
    with pytest.raises(KeyboardInterrupt):
        trainer.run()
    assert log == ['a initialize', 'a call', 'a finalize']


def test_another_thread_leaves_signals_alone(tmp_path):
    trainer = make_trainer(tmp_path, (2, 'iteration'))
    trainer.extend(extensions.snapshot())
    thread = threading.Thread(target=trainer.run)
    thread.start()
    thread.join()
    assert trainer.updater.iteration == 2


def test_the_updater_may_be_another_object_while_training(tmp_path):
    trainer = make_trainer(tmp_path, (2, 'iteration'))
    assert chainer.training.Trainer is training.Trainer
    old = trainer.updater
    other = training.StandardUpdater(old.get_iterator('main'), old.get_optimizer('main'))

    def swap(trainer):
        trainer.updater = other

    trainer.extend(swap, trigger=training.triggers.OnceTrigger())
    trainer.run()
    assert other.iteration == 2


def test_elapsed_time_continues_after_a_failure(tmp_path):
    trainer = make_trainer(tmp_path, (4, 'iteration'))
    times = []

    def note(trainer):
        times.append(trainer.elapsed_time)
        if len(times) == 2:
            raise ValueError('two')

    trainer.extend(note)
    with pytest.raises(ValueError, match='two'):
        trainer.run(show_loop_exception_msg=False)
    trainer.run()
    assert len(times) == 4
    assert times == sorted(times)


def test_all_failures_of_finalizers_are_reported(tmp_path):
    trainer = make_trainer(tmp_path, (1, 'iteration'))
    for name in ('first', 'second'):

        @training.make_extension(default_name=name, finalizer=Raiser(name))
        def nothing(trainer):
            pass

        trainer.extend(nothing)
    with pytest.raises(RuntimeError, match='first') as caught:
        trainer.run()
    assert any('second' in note for note in caught.value.__notes__)


class Raiser:
    def __init__(self, text):
        self.text = text

    def __call__(self, *args):
        raise RuntimeError(self.text)


class Gone(io.StringIO):
    """A closed pipe, or a full disk."""

    def __init__(self, code, terminal):
        super().__init__()
        self.code, self.terminal = code, terminal

    def isatty(self):
        return self.terminal

    def flush(self):
        raise OSError(self.code, os.strerror(self.code))


@pytest.mark.parametrize('terminal', [False, True])
@pytest.mark.parametrize('code', [errno.EPIPE, errno.ENOSPC])
def test_a_closed_output_pipe_does_not_end_a_training(code, terminal, tmp_path, monkeypatch):
    """A closed output pipe does not end a training, as in `train.py | tee log` after Ctrl-C."""
    stream = Gone(code, terminal)
    trainer = make_trainer(tmp_path, (5, 'iteration'))
    trainer.extend(extensions.LogReport(trigger=(1, 'iteration')))
    trainer.extend(extensions.PrintReport(['main/loss'], out=stream))
    trainer.extend(extensions.ProgressBar(update_interval=1, out=stream))
    trainer.extend(extensions.snapshot(), trigger=(9, 'iteration'))
    trainer.extend(interrupt_at(2), priority=1000)
    monkeypatch.setattr(sys, 'stderr', stream)
    with (
        pytest.warns(UserWarning, match=f'goes on without it.*{os.strerror(code)}'),
        pytest.raises(KeyboardInterrupt),
    ):
        trainer.run()
    assert (tmp_path / 'snapshot_iter_2').exists()


def test_an_error_is_handled_where_it_cannot_be_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, 'stderr', Gone(errno.EPIPE, False))
    trainer = make_trainer(tmp_path, extensions=[Recorder(log := [], 'a')])
    trainer.extend(Raiser('bad'), 'bad')
    with pytest.warns(UserWarning, match='goes on without'), pytest.raises(RuntimeError):
        trainer.run()
    assert 'a on_error' in log


def test_an_error_without_words_is_handled(tmp_path, capsys):
    class Silent(Exception):
        def __str__(self):
            raise ValueError('no words')

    def fail(trainer):
        raise Silent

    trainer = make_trainer(tmp_path, extensions=[Recorder(log := [], 'a'), fail])
    with pytest.raises(Silent):
        trainer.run()
    assert 'a on_error' in log
    assert 'Silent, whose message cannot be had' in capsys.readouterr().err


def test_characters_that_an_encoding_lacks_are_escaped(tmp_path):
    stream = io.TextIOWrapper(io.BytesIO(), encoding='ascii')
    trainer = make_trainer(tmp_path, (1, 'iteration'))
    trainer.extend(lambda t: t.observation.update({'größe': 3}), 'new', priority=1000)
    trainer.extend(extensions.LogReport(trigger=(1, 'iteration')))
    trainer.extend(extensions.PrintReport(['größe'], out=stream))
    trainer.run()
    assert b'gr\\xf6\\xdfe' in stream.buffer.getvalue()
