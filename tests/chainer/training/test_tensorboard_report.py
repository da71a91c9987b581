"""Event files, as TensorBoard itself reads them."""

import math
import os
import sys

import numpy as np
import pytest
from chainer import training
from chainer.training import extensions
from test_log_files import files_of_at_most
from v7_programs import make_evaluator, make_trainer, model_of

EVERY = (1, 'iteration')

pytest.importorskip('tensorboardX')


def make(out, stop=(3, 'epoch'), **kwargs):
    trainer = make_trainer(out, stop)
    trainer.extend(make_evaluator(model_of(trainer)))
    trainer.extend(extensions.TensorBoardReport(**kwargs))
    trainer.extend(extensions.LogReport(trigger=EVERY))
    trainer.extend(extensions.snapshot(autoload=True), trigger=(2, 'iteration'))
    return trainer


def read(folder):
    pytest.importorskip('tensorboard')
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(str(folder), size_guidance={'tensors': 0, 'histograms': 0})
    return found.Reload()


def points(found, name):
    return [(event.step, event.value) for event in found.Scalars(name)]


def assert_as_logged(out, log):
    found = read(out / 'tensorboard')
    names = dict.fromkeys(name for entry in log for name in entry if name != 'iteration')
    assert sorted(found.Tags()['scalars']) == sorted(names)
    for name in names:
        expected = [(e['iteration'], pytest.approx(e[name])) for e in log if name in e]
        assert points(found, name) == expected
    return found


def test_scalars(tmp_path):
    trainer = make(tmp_path)
    trainer.run()
    found = assert_as_logged(tmp_path, trainer.get_extension('LogReport').log)
    assert [step for step, _ in points(found, 'validation/main/loss')] == [4, 7, 10]
    (text,) = found.Tensors('environment/text_summary')
    assert b'instruction set' in text.tensor_proto.string_val[0]
    assert os.getcwd().encode() in text.tensor_proto.string_val[0]


def test_going_on(tmp_path):
    make(tmp_path, (5, 'iteration')).run()  # the last snapshot is of iteration 4
    trainer = make(tmp_path)
    trainer.run()
    log = trainer.get_extension('LogReport').log
    assert [entry['iteration'] for entry in log] == list(range(1, 11))
    assert_as_logged(tmp_path, log)
    files = list((tmp_path / 'tensorboard').iterdir())
    assert len(files) == 2  # even within the same second
    # Without the earlier files, the old log entries are written again.
    for file in files:
        file.unlink()
    make(tmp_path, (12, 'iteration')).run()
    assert [step for step, _ in points(read(tmp_path / 'tensorboard'), 'main/loss')] == [
        *range(1, 13)
    ]


def test_a_new_training_in_the_folder_counts(tmp_path):
    for n in (6, 3):
        trainer = make_trainer(tmp_path, (n, 'iteration'))
        trainer.extend(extensions.LogReport(trigger=EVERY))
        trainer.extend(extensions.TensorBoardReport())
        trainer.run()
    assert len(points(read(tmp_path / 'tensorboard'), 'main/loss')) == 3


def test_histograms(tmp_path):
    trainer = make(tmp_path, (2, 'iteration'), histograms=True, environment=False)
    model = model_of(trainer)

    def spoil(trainer):
        model.predictor.b.grad[...] = [np.nan, 3]

    trainer.extend(spoil, priority=training.PRIORITY_WRITER)
    trainer.run()
    found = read(tmp_path / 'tensorboard')
    kinds = ('gradients', 'parameters')
    assert sorted(found.Tags()['histograms']) == [
        f'{kind}/main/predictor/{name}' for kind in kinds for name in 'Wb'
    ]
    first, last = found.Histograms('parameters/main/predictor/W')
    assert (first.step, last.step) == (1, 2)
    W = model.predictor.W.array
    value = last.histogram_value
    assert (value.num, value.min, value.max) == (8, pytest.approx(W.min()), pytest.approx(W.max()))
    assert found.Histograms('gradients/main/predictor/b')[0].histogram_value.num == 1
    assert found.Tags()['tensors'] == []


def test_hyperparameters(tmp_path):
    values = {'lr': 0.1, 'layers': 3, 'bias': True, 'name': 'small'}
    make(tmp_path, hyperparameters=values).run()
    found = read(tmp_path / 'tensorboard')
    from tensorboard.plugins.hparams import metadata

    content = found.summary_metadata['_hparams_/session_start_info'].plugin_data.content
    read_back = metadata.parse_session_start_info_plugin_data(content).hparams
    assert read_back['lr'].number_value == 0.1
    assert read_back['layers'].number_value == 3
    assert read_back['bias'].bool_value
    assert read_back['name'].string_value == 'small'
    content = found.summary_metadata['_hparams_/experiment'].plugin_data.content
    infos = metadata.parse_experiment_plugin_data(content).metric_infos
    assert 'main/loss' in [info.name.tag for info in infos]


def test_odd_names_and_values(tmp_path):
    odd = {
        '<script>': 1.5,
        'a b': 2.0,
        'a_b': 3.0,
        'ü\ud800': 4.0,
        'nan': math.nan,
        'inf': math.inf,
    }
    trainer = make_trainer(tmp_path, (1, 'iteration'))
    trainer.extend(lambda t: t.observation.update(odd), 'odd', priority=training.PRIORITY_WRITER)
    log = extensions.LogReport(trigger=EVERY, postprocess=lambda entry: entry.update(text='x'))
    trainer.extend(extensions.TensorBoardReport(log))
    trainer.run()
    found = read(tmp_path / 'tensorboard')
    assert points(found, '<script>') == [(1, 1.5)]
    assert (points(found, 'a b'), points(found, 'a_b')) == ([(1, 2.0)], [(1, 3.0)])
    assert points(found, 'ü?') == [(1, 4.0)]
    assert math.isnan(points(found, 'nan')[0][1])
    assert points(found, 'inf') == [(1, math.inf)]
    assert 'text' not in found.Tags()['scalars']


def test_a_full_disk(tmp_path):
    trainer = make_trainer(tmp_path, (9, 'iteration'))
    trainer.extend(extensions.LogReport(trigger=EVERY, filename=''))
    trainer.extend(extensions.TensorBoardReport(environment=False))
    with files_of_at_most(700), pytest.raises(OSError, match='File too large'):
        trainer.run(show_loop_exception_msg=False)
    # Events written before can be read.
    steps = [step for step, _ in points(read(tmp_path / 'tensorboard'), 'main/loss')]
    assert 1 <= len(steps) < 9
    assert steps == list(range(1, len(steps) + 1))


def test_what_is_refused(tmp_path, monkeypatch):
    with pytest.raises(TypeError, match=r"hyperparameter 'a' must be a number, .*, not \[1\]"):
        extensions.TensorBoardReport(hyperparameters={'a': [1]})
    trainer = make_trainer(tmp_path, extensions=[extensions.TensorBoardReport()])
    with pytest.raises(ValueError, match='extension LogReport not found'):
        trainer.run(show_loop_exception_msg=False)
    monkeypatch.setitem(sys.modules, 'tensorboardX', None)
    with pytest.raises(ImportError, match='"pip install tensorboardX" installs it'):
        extensions.TensorBoardReport()
