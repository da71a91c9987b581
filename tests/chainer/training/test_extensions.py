"""Extensions: their output, their errors, and features beyond v7."""

import io
import json
import warnings

import chainer
import chainer.links as L
import chainerx
import numpy as np
import pytest
from chainer import training
from chainer.training import extensions, triggers
from devices import DEVICES
from v7_programs import DATA, make_evaluator, make_model, make_trainer, model_of

EVERY = (1, 'iteration')


class Terminal(io.StringIO):
    def isatty(self):
        return True


# ---- reports ----


def test_progress_bar_in_a_file_is_lines(tmp_path):
    out = io.StringIO()
    trainer = make_trainer(tmp_path)
    trainer.extend(extensions.ProgressBar(update_interval=5, out=out))
    trainer.run()
    lines = out.getvalue().splitlines()
    assert [line.split(' (')[0] for line in lines] == [
        'epoch 1.50, iteration 5', 'epoch 3.00, iteration 10'
    ]  # fmt: skip
    assert '(50.0%, ' in lines[0]
    assert 'iters/sec' in lines[1]
    assert '\033' not in out.getvalue()


def test_progress_bar_in_a_terminal(tmp_path):
    out = Terminal()
    trainer = make_trainer(tmp_path)
    trainer.extend(extensions.ProgressBar(update_interval=5, out=out))
    trainer.run()
    first, second, last = out.getvalue().split('\033[4A')
    assert first.splitlines()[:3] == [
        '\033[J     total [' + '#' * 25 + '.' * 25 + '] 50.00%',
        'this epoch [' + '#' * 25 + '.' * 25 + '] 50.00%',
        '         5 iter, 1 epoch / 3 epochs',
    ]
    assert 'iters/sec. Estimated time to finish: 0:00:0' in second
    assert last == '\033[J'


def test_progress_bar_without_a_known_length(tmp_path):
    out = Terminal()
    trainer = make_trainer(tmp_path, lambda trainer: trainer.updater.iteration >= 4)
    trainer.extend(extensions.ProgressBar(update_interval=2, out=out))
    trainer.run()
    assert 'total' not in out.getvalue()
    assert '         4 iter, 1 epoch\n' in out.getvalue()
    with pytest.raises(ValueError, match='update_interval must be positive, not 0'):
        extensions.ProgressBar(update_interval=0)


def test_print_report_in_a_terminal_and_of_odd_values(tmp_path):
    out = Terminal()
    trainer = make_trainer(tmp_path, (2, 'epoch'))
    log = extensions.LogReport(postprocess=lambda entry: entry.update(text='abc', none=None))
    report = extensions.PrintReport(['epoch', 'text', 'none'], log, out)
    trainer.extend(report)
    trainer.run()
    header, *rows = out.getvalue().splitlines()
    assert header == 'epoch       text        none      '
    assert rows == [f'\033[J{i}           abc         None        ' for i in (1, 2)]


def test_print_report_looks_for_its_log_first(tmp_path):
    trainer = make_trainer(tmp_path)
    trainer.extend(extensions.PrintReport(['epoch'], 'Log'))
    with pytest.raises(ValueError, match='extension Log not found; there are: PrintReport'):
        trainer.run(show_loop_exception_msg=False)
    assert trainer.updater.iteration == 0


def test_nan_and_arrays_in_the_log(tmp_path):
    trainer = make_trainer(tmp_path, (2, 'iteration'))

    def report(trainer):
        trainer.observation.update(nan=float('nan'), array=np.zeros(3), text='x', n=np.int32(3))

    trainer.extend(report, priority=training.PRIORITY_WRITER)
    trainer.extend(extensions.LogReport(trigger=EVERY))
    trainer.run()
    for entry in json.loads((tmp_path / 'log').read_text()):
        assert entry['n'] == 3
        assert np.isnan(entry['nan'])
        assert 'array' not in entry
        assert 'text' not in entry


def test_numpy_means_are_logged(tmp_path):
    trainer = make_trainer(tmp_path, (1, 'iteration'))

    def postprocess(entry):
        entry['perplexity'] = np.exp(np.float32(entry['main/loss']))
        entry['x'] = chainerx.array(2.5)

    trainer.extend(extensions.LogReport(trigger=EVERY, postprocess=postprocess))
    trainer.run()
    (entry,) = json.loads((tmp_path / 'log').read_text())
    assert entry['perplexity'] == pytest.approx(np.exp(entry['main/loss']))
    assert entry['x'] == 2.5


def test_a_log_is_valid_json(tmp_path):
    trainer = make_trainer(tmp_path, (3, 'iteration'))
    odd = {'a\nb "c"': 1, 'nan': float('nan')}
    trainer.extend(lambda t: t.observation.update(odd), 'odd', priority=1000)
    log = extensions.LogReport(
        trigger=EVERY, postprocess=lambda e: e.update(list=[1, {'x': []}], text='a\n[')
    )
    trainer.extend(log)
    trainer.run()
    text = (tmp_path / 'log').read_text()
    assert text == json.dumps(log.log, indent=4)
    saver = chainer.serializers.DictionarySerializer()
    log.serialize(saver)
    log.log.append({'lost': 1})
    log.serialize(chainer.serializers.NpzDeserializer(saver.target))
    assert log._to_text() == text


def test_odd_names_and_values_in_logs(tmp_path):
    """Names become strings, as in a loaded log; files accept lone surrogates."""
    trainer = make_trainer(tmp_path, (1, 'iteration'))
    trainer.extend(
        lambda t: t.observation.update({5: 1, ('a',): 2, '\ud800': 3}), 'new', priority=1000
    )
    trainer.extend(extensions.LogReport(trigger=EVERY))
    out = io.StringIO()
    trainer.extend(extensions.PrintReport(['5', "('a',)"], out=out))
    for reader in (extensions.CSVReport, extensions.JSONLinesReport, extensions.HTMLReport):
        trainer.extend(reader())
    trainer.run()
    assert out.getvalue().split()[-2:] == ['1', '2']
    assert '\\ud800' in (tmp_path / 'log.csv').read_text()
    assert (tmp_path / 'report.html').exists()


def test_a_value_that_is_no_real_number_is_named(tmp_path):
    readers = [extensions.LogReport(trigger=EVERY)]
    if extensions.PlotReport.available():
        readers.append(extensions.PlotReport(['z'], 'z', EVERY))
    for reader in readers:
        trainer = make_trainer(tmp_path, (1, 'iteration'), extensions=[reader])
        trainer.extend(lambda t: t.observation.update(z=1j), 'new', priority=1000)
        with pytest.raises(TypeError, match=rf"{type(reader).__name__}: 'z' is no real number: 1j"):
            trainer.run(show_loop_exception_msg=False)


@pytest.mark.parametrize('device', DEVICES)
def test_evaluator_of_dicts_hooks_and_functions(device):
    model = make_model().to_device(device)
    hooked = []
    evaluator = make_evaluator(model, device=device, eval_hook=hooked.append)
    result = evaluator()
    assert hooked == [evaluator]
    assert sorted(result) == ['main/accuracy', 'main/loss']
    evaluator = make_evaluator(
        {'main': model, 'other': make_model()},
        device=device,
        eval_func=lambda x, t: chainer.report({'flag': chainer.config.train}, model),
    )
    assert evaluator() == {'main/flag': False}
    assert sorted(evaluator.get_all_targets()) == ['main', 'other']


class Once(chainer.dataset.Iterator):
    """A user's extension without reset."""

    begun = 0

    def __next__(self):
        if self.begun == len(DATA):
            raise StopIteration
        self.begun += 5
        return DATA[self.begun - 5 : self.begun]


def test_an_iterator_without_reset_serves_every_evaluation():
    iterator = Once()
    evaluator = extensions.Evaluator(iterator, make_model())
    assert evaluator() == evaluator()
    assert iterator.begun == 0


def test_errors_of_evaluators():
    model = make_model()
    with pytest.warns(UserWarning, match="iterator 'main' repeats for ever"):
        evaluator = extensions.Evaluator(chainer.iterators.SerialIterator(DATA, 5), model)
    with pytest.raises(RuntimeError, match='make it with repeat=False'):
        evaluator()
    empty = chainer.iterators.SerialIterator([], 5, repeat=False)
    with pytest.raises(ValueError, match='gave no minibatch; is its dataset empty'):
        extensions.Evaluator(empty, model)()
    with pytest.raises(TypeError, match="target 'main' must be a link"):
        extensions.Evaluator(empty, 5)
    for arguments, kind in (((empty, {'a': model}), 'target'), (({'a': empty}, model), 'iterator')):
        with pytest.raises(KeyError, match=f"the dict of {kind}s must have 'main'; it has "):
            extensions.Evaluator(*arguments)()


def test_evaluator_shows_progress(capsys):
    make_evaluator(make_model(), progress_bar=True)()
    assert capsys.readouterr().out.splitlines() == [
        'validation: 35.0%', 'validation: 70.0%', 'validation: 100.0%'
    ]  # fmt: skip


# ---- pictures ----


def test_plots(tmp_path):
    pytest.importorskip('matplotlib')
    trainer = make_trainer(tmp_path)
    model = model_of(trainer)
    drawn = []
    trainer.extend(
        extensions.PlotReport(
            ['main/loss', 'nothing'], 'epoch', postprocess=lambda *a: drawn.append(a)
        )
    )
    trainer.extend(extensions.PlotReport(['main/loss'], 'main/accuracy', filename='a.svg'), 'b')
    trainer.extend(extensions.VariableStatisticsPlot(model, max_sample_size=3))
    trainer.extend(
        extensions.VariableStatisticsPlot(
            [model, chainer.Variable(np.ones(3, np.float32))],
            report_grad=False, plot_mean=False, percentile_sigmas=(), filename='b.pdf',
        ),
        name='c',
    )  # fmt: skip
    trainer.run()
    assert (tmp_path / 'plot.png').read_bytes().startswith(b'\x89PNG')
    assert b'<svg' in (tmp_path / 'a.svg').read_bytes()
    assert (tmp_path / 'statistics.png').read_bytes().startswith(b'\x89PNG')
    assert (tmp_path / 'b.pdf').read_bytes().startswith(b'%PDF')
    assert len(drawn) == 3
    data = trainer.get_extension('PlotReport')._data
    assert [x for x, _ in data['main/loss']] == [1, 2, 3]
    with pytest.raises(ValueError, match='Need at least one variable'):
        extensions.VariableStatisticsPlot([])
    with pytest.raises(TypeError, match='must be links or variables, not int'):
        extensions.VariableStatisticsPlot([5])


def test_names_in_plots_are_no_formulas(tmp_path):
    pytest.importorskip('matplotlib')
    names = [r'$\bad$', 'a$b', '_hidden', 'x_1']
    shown = []

    def look(figure, axes, summary):
        shown.extend(text.get_text() for text in axes.legend().get_texts())

    trainer = make_trainer(tmp_path, (1, 'iteration'))
    trainer.extend(lambda t: t.observation.update(dict.fromkeys(names, 1)), 'new', priority=1000)
    trainer.extend(extensions.PlotReport(names, names[0], EVERY, look))
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        trainer.run()
    assert shown == [r'\$\bad\$', r'a\$b', ' _hidden', 'x_1']
    assert (tmp_path / 'plot.png').exists()


def test_plots_are_resumed(tmp_path):
    pytest.importorskip('matplotlib')
    results = []
    for stops in ((6,), (3, 6)):
        out = tmp_path / str(len(stops))
        for stop in stops:
            trainer = make_trainer(out, (stop, 'iteration'))
            trainer.extend(extensions.PlotReport(['main/loss'], trigger=(2, 'iteration')))
            trainer.extend(extensions.snapshot(autoload=True), trigger=EVERY)
            trainer.run()
        results.append(trainer.get_extension('PlotReport')._data)
    assert results[0] == results[1]
    assert len(results[0]['main/loss']) == 3


def test_without_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setattr('importlib.util.find_spec', lambda name: None)
    with pytest.warns(UserWarning, match='matplotlib is not installed'):
        assert not extensions.PlotReport.available()
    with pytest.warns(UserWarning, match='matplotlib is not installed'):
        plot = extensions.PlotReport(['main/loss'])
    trainer = make_trainer(tmp_path, (1, 'epoch'), extensions=[plot])
    trainer.run()
    assert list(tmp_path.iterdir()) == []


# ---- graphs ----


@pytest.mark.parametrize('device', DEVICES)
def test_dump_graph(device, tmp_path):
    trainer = make_trainer(tmp_path, device=device)
    trainer.extend(extensions.DumpGraph('main/loss', filename='graph.dot'))
    kept = []
    trainer.extend(lambda trainer: kept.append(chainer.config.keep_graph_on_report))
    trainer.run()
    assert 'SoftmaxCrossEntropy' in (tmp_path / 'graph.dot').read_text()
    assert kept == [False] * 10
    assert not chainer.config.keep_graph_on_report


def test_dump_graph_of_missing_variables(tmp_path):
    trainer = make_trainer(tmp_path, extensions=[extensions.DumpGraph('main/los')])
    with pytest.raises(KeyError, match=r"'main/los' was not observed; .*'main/loss'"):
        trainer.run(show_loop_exception_msg=False)
    assert not chainer.config.keep_graph_on_report


def test_unchain_variables(tmp_path):
    trainer = make_trainer(tmp_path)
    seen = []

    def look(trainer):
        seen.append(trainer.observation['main/loss'].creator is not None)

    trainer.extend(extensions.unchain_variables())
    trainer.extend(look, name='before')
    trainer.extend(look, name='after', priority=-1)
    trainer.run()
    assert seen == [True, False] * 10
    assert not chainer.config.keep_graph_on_report


# ---- scheduled values ----


def test_cosine_shift(tmp_path):
    trainer = make_trainer(tmp_path, (10, 'iteration'))
    trainer.extend(extensions.CosineShift('lr', 8, init=1.0, target=0.1, warmup=4))
    values = []
    trainer.extend(lambda trainer: values.append(trainer.updater.get_optimizer('main').lr))
    trainer.run()
    half = 0.1 + 0.9 * (1 + np.cos(np.pi * np.array([0.25, 0.5, 0.75]))) / 2
    np.testing.assert_allclose(values, [0.25, 0.5, 0.75, 1.0, *half, 0.1, 0.1, 0.1])


def test_errors_of_shifts(tmp_path):
    for make, text in [
        (lambda: extensions.ExponentialShift('lr', -1), 'does not support negative rate'),
        (lambda: extensions.InverseShift('lr', -1, 1), 'does not support negative gamma'),
        (lambda: extensions.StepShift('lr', 0.1, 0), 'step must be positive, not 0'),
        (lambda: extensions.PolynomialShift('lr', 1, 0), 'max_count must be positive'),
        (lambda: extensions.LinearShift('lr', (1,), (1, 2)), 'value_range must be a pair'),
        (lambda: extensions.WarmupShift('lr', 0.1, -1, 1), 'warmup_iter must not be negative'),
        (lambda: extensions.CosineShift('lr', 3, warmup=3), 'warmup must be at least 0'),
    ]:
        with pytest.raises(ValueError, match=text):
            make()
    trainer = make_trainer(tmp_path, extensions=[extensions.ExponentialShift('rate', 0.5)])
    with pytest.raises(AttributeError, match='rate'):
        trainer.run(show_loop_exception_msg=False)
    assert trainer.updater.iteration == 0


@pytest.mark.parametrize('device', DEVICES)
def test_exponential_moving_average(device, tmp_path):
    def train(out, stop):
        trainer = make_trainer(out, (stop, 'iteration'), device=device)
        weights = []

        def keep(trainer):
            W = model_of(trainer).predictor.W.array
            weights.append(chainer.backend.CpuDevice().send(W).astype(np.float64))

        trainer.extend(keep)
        average = extensions.ExponentialMovingAverage(model_of(trainer), 0.3)
        trainer.extend(average)
        trainer.extend(extensions.snapshot(autoload=True), trigger=EVERY)
        trainer.run()
        return weights, average.model.to_device('@numpy').predictor.W.array

    weights, average = train(tmp_path / 'whole', 6)
    expected = make_model().predictor.W.array.astype(np.float64)
    for t, W in enumerate(weights, 1):
        decay = min(0.3, (1 + t) / (10 + t))
        expected = decay * expected + (1 - decay) * W
    np.testing.assert_allclose(average, expected, rtol=1e-5)
    train(tmp_path / 'parts', 3)
    assert train(tmp_path / 'parts', 6)[1].tobytes() == average.tobytes()
    for arguments, error in [((5,), TypeError), ((make_model(), 1), ValueError)]:
        with pytest.raises(error, match='ExponentialMovingAverage: '):
            extensions.ExponentialMovingAverage(*arguments)


@pytest.mark.parametrize('device', DEVICES)
def test_averages_of_weights_of_16_bits(device, tmp_path):
    """Averages of 16-bit weights are kept in float32, as small steps would be lost."""

    class Half(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.W = chainer.Parameter(np.ones(3, np.float16))

    def train(out, stop):
        link = Half().to_device(device)
        trainer = make_trainer(out, (stop, 'iteration'))
        trainer.extend(lambda t: link.W.array.fill(1.25), 'step', priority=1000)
        average = extensions.ExponentialMovingAverage(link, 0.999)
        average._t = 10**6
        trainer.extend(average)
        trainer.extend(extensions.snapshot(autoload=True), trigger=EVERY)
        trainer.run()
        assert average.model.W.dtype == np.float16
        (wide,) = average._wide.values()
        return [chainer.cuda.to_cpu(x).tolist() for x in (average.model.W.array, wide)]

    whole = train(tmp_path / 'whole', 40)
    np.testing.assert_allclose(whole[0], 1.25 - 0.25 * 0.999**40, rtol=1e-3)
    train(tmp_path / 'parts', 15)
    assert train(tmp_path / 'parts', 40) == whole


def test_averages_of_shared_weights(tmp_path):
    model = chainer.Chain()
    with model.init_scope():
        model.a, model.b = L.Linear(2, 2, initialW=0), L.Linear(2, 2)
        model.b.W = model.a.W
    average = extensions.ExponentialMovingAverage(model, 0.5)
    average._t = 100
    model.a.W.array[...] = 1
    average(None)
    assert (average.model.a.W.array == 0.5).all()
    assert average.model.b.W is average.model.a.W


# ---- triggers ----


@pytest.mark.parametrize(
    ('trigger', 'fires'),
    [(triggers.MinValueTrigger, [0, 1, 0, 1]), (triggers.MaxValueTrigger, [0, 1, 0, 0])],
)
def test_nan_is_never_the_best(trigger, fires, tmp_path):
    trainer = make_trainer(tmp_path, (4, 'iteration'))
    values = [float('nan'), 3, float('nan'), 2]
    trainer.extend(
        lambda t: t.observation.update(x=values[t.updater.iteration - 1]), 'x', priority=1000
    )
    fired = []
    trainer.extend(
        lambda t: fired.append(t.updater.iteration), 'best', trigger('x', (1, 'iteration'))
    )
    trainer.run()
    assert fired == [i + 1 for i, fire in enumerate(fires) if fire]


def test_errors_of_triggers():
    for make, error, text in [
        (lambda: training.get_trigger((1, 'week')), ValueError, "'epoch' or 'iteration'.*'week'"),
        (lambda: training.get_trigger((1,)), TypeError, r'not \(1,\)'),
        (lambda: training.get_trigger((float('nan'), 'epoch')), ValueError, 'not nan'),
        (lambda: triggers.ManualScheduleTrigger([1], 'week'), ValueError, "Actual: 'week'"),
        (lambda: triggers.ManualScheduleTrigger(['1'], 'epoch'), TypeError, 'must be numbers'),
        (lambda: triggers.TimeTrigger(-1), ValueError, 'must be a positive number or 0, not -1'),
        (lambda: triggers.EarlyStoppingTrigger(mode='x'), ValueError, "not 'x'"),
        (lambda: triggers.EarlyStoppingTrigger(patience=0), ValueError, 'at least 1, not 0'),
        (lambda: triggers.EarlyStoppingTrigger(foo=1), TypeError, "'foo'"),
    ]:
        with pytest.raises(error, match=text):
            make()


def test_a_best_value_that_was_not_observed(tmp_path):
    trainer = make_trainer(tmp_path)
    trainer.extend(lambda trainer: None, 'x', triggers.MaxValueTrigger('main/los'))
    with pytest.raises(KeyError, match=r"'main/los' was not observed .*'main/loss'"):
        trainer.run(show_loop_exception_msg=False)


def test_early_stopping_warns_of_missing_observations(tmp_path):
    stop = triggers.EarlyStoppingTrigger(monitor='nothing', max_trigger=(3, 'epoch'))
    with pytest.warns(UserWarning, match="'nothing' was not observed"):
        make_trainer(tmp_path, stop).run()


def test_time_trigger(tmp_path):
    trainer = make_trainer(tmp_path, (3, 'iteration'))
    seen = []
    trainer.extend(
        lambda trainer: seen.append(trainer.updater.iteration), 'x', triggers.TimeTrigger(1e-9)
    )
    trainer.run()
    assert seen == [1, 2, 3]
