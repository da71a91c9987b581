"""HTML reports of trainings: their content, also in a browser, and their robustness."""

import json
import math
import os
import re
import subprocess
import sys

import browser
import chainer
import chainer.links as L
import numpy as np
import pytest
from chainer import _command, training
from chainer.training import extensions
from chainer.training._report import facts, page, series, ticks
from v7_programs import make_evaluator, make_trainer, model_of

ODD = {
    '<script>alert(1)</script>': 1.5,
    'a/b c"\'&': -2.0,
    '\x00\x1b\ud800': 3.0,
    'nan': math.nan,
    'inf': math.inf,
    '</style><img src=http://127.0.0.1:9/x>': 0.0,
}


def make(out, stop=(3, 'epoch'), **kwargs):
    trainer = make_trainer(out, stop)
    trainer.extend(make_evaluator(model_of(trainer)))
    trainer.extend(extensions.LogReport(trigger=(1, 'iteration')))
    trainer.extend(extensions.snapshot())
    trainer.extend(extensions.HTMLReport(**kwargs))
    return trainer


def read(out, name='report.html'):
    return (out / name).read_text(encoding='utf-8')


def status(text):
    return re.search('class="status ([a-z]+)"', text)[1]


def entries(n, **values):
    """A log of ``n`` entries; a value may be a function of the index."""
    log = []
    for i in range(1, n + 1):
        entry = {k: v(i) if callable(v) else v for k, v in values.items()}
        log.append(entry | {'epoch': i // 10, 'iteration': i, 'elapsed_time': 0.5 * i})
    return log


# ---- content of a page ----


def test_all_parts(tmp_path):
    make(tmp_path, profile=2).run()
    text = read(tmp_path)
    titles = ['Curves', 'Values', 'Times', 'Parameters', 'Files', 'Environment', 'Log']
    assert re.findall('<h2>(.*?)</h2>', text) == titles
    assert status(text) == 'finished'
    assert text.count('class="chart ') == 4  # loss, accuracy, and two of times
    assert 'aria-label="main/loss, validation/main/loss"' in text
    for words in ('/predictor/W', '2 \u00d7 4', 'float32', 'snapshot_iter_10', 'validation'):
        assert f'>{words}</' in text, words
    assert '>updates (data, forward, backward, step)</td><td>10</td>' in text
    assert 'instruction set' in text
    assert os.getcwd() in text
    assert re.search(r'<summary>Profile of kernels</summary>\s*<pre>[^<]*\bLinear', text)


def test_parameters(tmp_path):
    model = L.Classifier(chainer.Sequential(L.Linear(2, 3), L.Linear(None, 2)))
    link = model.predictor[0]
    link.W.array[...] = [[1, 2], [3, np.nan], [-np.inf, 6]]
    link.W.grad = np.full((3, 2), 2, np.float32)
    optimizer = chainer.optimizers.SGD().setup(model)
    trainer = make_trainer(tmp_path)
    trainer.updater._optimizers['main'] = optimizer
    found = {one.path: one for one in facts.parameters_of(trainer)}
    W = found['/predictor/0/W']
    assert (W.shape, W.dtype, W.count, W.wrong) == ((3, 2), 'float32', 6, 2)
    assert (W.mean, W.least, W.greatest) == (3, 1, 6)
    assert W.std == pytest.approx(np.std([1, 2, 3, 6]))
    assert W.gradient == pytest.approx(math.sqrt(24))
    assert found['/predictor/1/W'].dtype == 'uninitialized'
    text = page.make(facts.Run('x', [], '', parameters=list(found.values())), 'test')
    assert '2 numbers NaN or infinite' in text
    empty = facts._statistics('empty', np.zeros((0, 3), np.float32))
    assert (empty.count, empty.wrong, empty.shape) == (0, 0, (0, 3))


@pytest.mark.parametrize('device', ['@numpy', 'native:0'])
def test_parameters_on_devices_and_small_dtypes(tmp_path, device):
    with chainer.using_config('dtype', np.float16):
        model = L.Classifier(L.Linear(300, 300, initialW=np.float16(100)))
    model.to_device(device)
    trainer = make_trainer(tmp_path)
    trainer.updater._optimizers['main'] = chainer.optimizers.SGD().setup(model)
    W = next(one for one in facts.parameters_of(trainer) if one.path.endswith('W'))
    # A sum in float16 would overflow.
    assert (W.dtype, W.mean, W.std, W.wrong) == ('float16', 100, 0, 0)


def test_values_that_share_a_chart():
    names = ['main/loss', 'main/acc', 'validation/main/loss', 'test/main/loss', 'lr', 'val/x/y']
    found = series.collect(entries(2, **dict.fromkeys(names, 1.0)))
    assert [[line.name for line in lines] for lines in series.group(found)] == [
        ['main/loss', 'validation/main/loss', 'test/main/loss'],
        ['main/acc'],
        ['lr'],
        ['val/x/y'],
    ]


def test_values_that_are_no_numbers_have_no_curve():
    log = entries(3, text='abc', flag=True, none=None, big=10**400, part=lambda i: i)
    del log[1]['part']
    found = series.collect(log)
    assert list(found) == ['big', 'part']
    assert list(found['part'].x) == [1, 3]
    assert np.isinf(found['big'].y).all()
    assert 'None of the values is finite' in page.make(facts.Run('x', log, ''), 'test')


@pytest.mark.parametrize(
    ('low', 'high'),
    [(0, 1), (-3, 7), (0.1234, 0.12341), (5, 5), (0, 0), (-1e308, 1e308), (1e308, 1e308),
     (-1e308, -1e305), (1e-320, 1e-310),
     (1e16, 1e16 + 4), (1, 1 + 1e-15), (-1e-7, 3e8), (1, 20_000)],
)  # fmt: skip
def test_axes(low, high):
    for axis in (ticks.linear(low, high), ticks.padded(low, high)):
        values = [value for value, _ in axis.ticks]
        assert len(values) <= 8
        assert values == sorted(values)
        assert all(0 <= axis.place(value) <= 1 for value in values)
        assert all(0 <= axis.place(value) <= 1 for value in (low, high))
        texts = [text for _, text in axis.ticks]
        assert len(set(texts)) == len(texts)
        assert all(len(text) < 19 for text in texts)


@pytest.mark.parametrize(
    ('low', 'high'), [(1e-3, 1e3), (1, 1), (2, 7), (3.1, 3.2), (5e-324, 1e308)]
)
def test_logarithmic_axes(low, high):
    axis = ticks.logarithmic(low, high)
    assert 2 <= len(axis.ticks) <= 8
    assert all(0 <= axis.place(value) <= 1 for value, _ in axis.ticks)
    assert axis.place(low) <= axis.place(high)


def test_digits_of_numbers():
    assert [ticks.number(v, 0.001) for v in (0, 1.234, 123.456)] == ['0', '1.234', '123.456']
    assert [ticks.number(v, 1000) for v in (5000, 20_000, 1_500_000)] == ['5000', '20k', '1.5M']
    assert [ticks.number(v, 1e20) for v in (1e20, 3e-9)] == ['1e20', '3e-9']


def test_thinned_curves_keep_their_peaks():
    y = np.zeros(1_000_000)
    y[[3, 777_777, 999_998]] = 5, -7, np.nan
    x, thinned = series.thin(np.arange(1e6), y)
    assert len(x) <= 1002
    assert (np.nanmax(thinned), np.nanmin(thinned)) == (5, -7)
    assert (x[0], x[-1]) == (0, 999_999)
    assert (np.diff(x) > 0).all()
    few = series.thin(x[:10], y[:10])
    assert len(few[0]) == 10


def test_means_of_noisy_curves():
    rng = np.random.default_rng(0)
    y = np.linspace(0, 1, 5000) + rng.normal(0, 1, 5000)
    assert series.is_noisy(y)
    assert not series.is_noisy(np.linspace(0, 1, 5000))
    assert not series.is_noisy(y[:100])
    y[10] = np.nan
    x, means = series.smooth(np.arange(5000), y)
    assert len(x) == 1000
    assert np.abs(means - x / 5000).max() < 0.4
    y[:500] = np.nan
    assert np.isnan(series.smooth(x, y[:1000])[1]).sum() == 500
    few = series.smooth(np.arange(500), np.full(500, 1e308))[1]
    np.testing.assert_allclose(few, 1e308)


def test_times():
    log = entries(30)
    np.testing.assert_allclose(series.pace(log).y, 2)
    assert len(series.pace(log).y) == 30
    assert list(series.epochs(log).x) == [1, 2, 3]
    np.testing.assert_allclose(series.epochs(log).y, 5)
    assert series.pace([]) is None
    assert series.epochs(entries(3)) is None
    assert series.pace([{'a': 1.0}]) is None


# ---- how a training ends ----


def test_while_it_runs(tmp_path):
    trainer = make(tmp_path)
    seen = []
    trainer.extend(lambda t: seen.append(read(tmp_path)), 'look', (1, 'epoch'), -300)
    trainer.run()
    assert [status(text) for text in seen] == ['running'] * 3
    assert [text.count('<details>') for text in seen] == [1] * 3
    assert 'snapshot_iter_4' in seen[0]  # the one of the same iteration


def raise_in(trainer, iteration, error):
    def fail(trainer):
        if trainer.updater.iteration == iteration:
            raise error

    trainer.extend(fail, 'fail')


def test_an_exception(tmp_path):
    trainer = make(tmp_path)
    raise_in(trainer, 2, ValueError('<b>broken</b>'))
    with pytest.raises(ValueError, match='broken'):
        trainer.run(show_loop_exception_msg=False)
    text = read(tmp_path)
    assert status(text) == 'failed'
    assert 'ValueError: &lt;b&gt;broken&lt;/b&gt;' in text
    assert 'raise_in' not in text
    assert 'in fail' in text
    assert 'aria-label="main/loss"' in text


def test_ctrl_c(tmp_path):
    trainer = make(tmp_path)
    raise_in(trainer, 2, KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        trainer.run()
    assert status(read(tmp_path)) == 'interrupted'


def test_while_another_exception_is_handled(tmp_path):
    try:
        raise RuntimeError('before')
    except RuntimeError:
        make(tmp_path).run()
    assert status(read(tmp_path)) == 'finished'


def test_killed_while_it_writes(tmp_path):
    """A page is complete, old or new, if the process is killed while it writes."""
    program = (
        'import os, sys; sys.path.append(sys.argv[1]); import test_html_report as t\n'
        'trainer = t.make(sys.argv[2]); count = []\n'
        'import chainer.training.extensions._files as files; replace = os.replace\n'
        'def kill(a, b):\n'
        '    count.append(b.endswith("report.html"))\n'
        '    os.kill(os.getpid(), 9) if sum(count) == 2 else replace(a, b)\n'
        'os.replace = kill; trainer.run()\n'
    )
    here = os.path.dirname(__file__)
    command = [sys.executable, '-c', program, here, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    assert done.returncode == -9, done.stderr
    text = read(tmp_path)
    assert status(text) == 'running'
    assert text.endswith('</html>\n')


def test_a_page_that_cannot_be_written_is_a_warning(tmp_path):
    trainer = make(tmp_path, filename='no/report.html')
    with pytest.warns(
        UserWarning, match=r'HTMLReport: .*no/report.html cannot be written: .*No such'
    ):
        trainer.run()
    assert trainer.updater.iteration == 10


def test_what_is_refused(tmp_path):
    with pytest.raises(ValueError, match='profile must not be negative, but is -1'):
        extensions.HTMLReport(profile=-1)
    trainer = make_trainer(tmp_path, extensions=[extensions.HTMLReport()])
    with pytest.raises(ValueError, match='extension LogReport not found; there are: HTMLReport'):
        trainer.run(show_loop_exception_msg=False)
    assert not (tmp_path / 'report.html').exists()


def test_times_of_extensions(tmp_path):
    trainer = make(tmp_path)
    trainer.extend(lambda trainer: None, 'nothing', (2, 'iteration'))
    trainer.run()
    timings = {t.name: t for t in trainer.get_extension('HTMLReport')._timings}
    assert {name: t.calls for name, t in timings.items()} == {
        'validation': 3, 'LogReport': 10, 'nothing': 5, '_Snapshot': 3, 'HTMLReport': 3
    }  # fmt: skip
    assert all(t.seconds > 0 for t in timings.values())
    # It does not change which functions are called.
    assert trainer.get_extension('LogReport').log[-1]['iteration'] == 10


def test_going_on(tmp_path):
    make(tmp_path, (1, 'epoch')).run()
    trainer = make(tmp_path)
    chainer.serializers.load_npz(tmp_path / 'snapshot_iter_4', trainer)
    trainer.run()
    assert '>the last 10 entries</summary>' in read(tmp_path)


def test_of_its_own_choice(tmp_path):
    make(tmp_path, title='<My> run', parameters=False, environment=False).run()
    text = read(tmp_path)
    assert '<h1>&lt;My&gt; run<' in text
    assert '<title>&lt;My&gt; run - training report</title>' in text
    assert 'Parameters' not in text
    assert 'Environment' not in text
    assert os.getcwd() not in text


def test_git_commit(tmp_path):
    assert facts.git_commit(str(tmp_path)) is None
    git = ['git', '-C', str(tmp_path), '-c', 'user.name=a', '-c', 'user.email=b']
    (tmp_path / 'a').write_text('1')
    for words in (['init', '-q'], ['add', 'a'], ['commit', '-qm', 'First']):
        subprocess.run([*git, *words], check=True)
    commit = facts.git_commit(str(tmp_path))
    assert re.fullmatch('[0-9a-f]{40}', commit)
    (tmp_path / 'a').write_text('2')
    changed = facts.git_commit(str(tmp_path))
    assert changed == f'{commit}, with changes that are not committed in files: 1'


# ---- the command ----


def flipped(archive):
    """A snapshot with flipped bytes at the start of a model's compressed data."""
    begin = archive.index(b'updater/model:main/predictor/W.npy') + 60
    return archive[:begin] + b'\xff' * 8 + archive[begin + 8 :]


@pytest.mark.parametrize('name', ['log', 'log.jsonl', 'log.csv'])
def test_command(tmp_path, capsys, name):
    trainer = make_trainer(tmp_path)
    trainer.extend(extensions.LogReport(trigger=(1, 'iteration')))
    trainer.extend(extensions.CSVReport())
    trainer.extend(extensions.JSONLinesReport())
    trainer.extend(extensions.snapshot())
    trainer.run()
    if name != 'log':  # a training that was killed
        with open(tmp_path / name, 'a') as stream:
            stream.write('{"epo' if name == 'log.jsonl' else '3')
    whole = (tmp_path / 'snapshot_iter_10').read_bytes()
    damaged = {'99': b'broken', '98': b'', '97': whole[: len(whole) // 2], '96': flipped(whole)}
    for number, content in damaged.items():
        (tmp_path / f'snapshot_iter_{number}').write_bytes(content)
    assert _command.main(['report', str(tmp_path), '--log', name]) == 0
    said = capsys.readouterr()
    assert said.out == f'{tmp_path}/report.html\n'
    assert re.findall(r"_iter_(\d+)' cannot be read: .", said.err) == list(damaged)
    text = read(tmp_path)
    assert 'aria-label="main/loss"' in text
    assert 'of the snapshot snapshot_iter_10' in text
    assert '/predictor/W' in text
    assert 'class="status' not in text
    # It replaces its own page, and not that of the training.
    assert _command.main(['report', str(tmp_path)]) == 0
    make(tmp_path).run()
    assert _command.main(['report', str(tmp_path)]) == 1
    assert 'was not written by this command' in capsys.readouterr().err
    assert status(read(tmp_path)) == 'finished'
    other = str(tmp_path / 'other.html')
    assert _command.main(['report', str(tmp_path), '--output', other, '--title', 'T']) == 0
    assert '<h1>T</h1>' in read(tmp_path, 'other.html')
    assert _command.main(['report', str(tmp_path), '--force']) == 0


def test_snapshots_with_values_that_are_none(tmp_path):
    model = L.Classifier(chainer.Sequential(L.Linear(2, 3), L.Linear(None, 2)))
    updater = training.StandardUpdater(
        chainer.iterators.SerialIterator([1], 1), chainer.optimizers.SGD().setup(model)
    )
    chainer.serializers.save_npz(tmp_path / 'a', training.Trainer(updater, out=str(tmp_path)))
    paths = [one.path for one in facts.parameters_of_snapshot(str(tmp_path / 'a'))]
    assert paths[:2] == ['/predictor/0/W', '/predictor/0/b']


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        (None, 'there is no log in'),
        ('', 'is no log: Expecting value'),
        ('{"a": 1}', 'is no log: not a list of entries'),
        ('[1, 2]', 'is no log: not a list of entries'),
    ],
)
def test_command_without_a_log(tmp_path, capsys, text, message):
    if text is not None:
        (tmp_path / 'log').write_text(text)
    assert _command.main(['report', str(tmp_path)]) == 1
    assert message in capsys.readouterr().err
    assert _command.main(['report', str(tmp_path / 'none')]) == 1
    assert 'is no folder' in capsys.readouterr().err


@pytest.mark.parametrize('n', [0, 1, 2])
def test_command_on_short_logs(tmp_path, n):
    (tmp_path / 'log').write_text(json.dumps(entries(n, a=1.0, **ODD)))
    assert _command.main(['report', str(tmp_path)]) == 0
    text = read(tmp_path)
    # One curve per value with finite numbers, and one for the speed.
    assert text.count('class="chart ') == 6 * bool(n)
    assert ('The log has no values yet' in text) == (n == 0)


def test_a_long_log(tmp_path, request):
    """A long log gives a short page, quickly."""
    rng = np.random.default_rng(0)
    n = 1_000_000 if request.config.getoption('--full', default=False) else 100_000
    loss = rng.uniform(0, 1, n).tolist()
    with open(tmp_path / 'log.csv', 'w') as stream:
        stream.write('iteration,loss\n')
        stream.writelines(f'{i},{value}\n' for i, value in enumerate(loss))
    assert _command.main(['report', str(tmp_path)]) == 0
    assert len(read(tmp_path)) < 500_000


# ---- in a browser ----

in_browser = pytest.mark.skipif(browser.why_not() is not None, reason=str(browser.why_not()))


@pytest.fixture(scope='module')
def pages(tmp_path_factory):
    with browser.open_browser(tmp_path_factory.mktemp('browser')) as opened:
        yield opened


@in_browser
def test_nothing_is_fetched_run_or_complained_about(tmp_path, pages):
    trainer = make(tmp_path)

    def report(trainer):
        trainer.observation.update(ODD)

    trainer.extend(report, priority=training.PRIORITY_WRITER)
    raise_in(trainer, 9, ValueError('<script>document.title = "run"</script>'))
    (tmp_path / '<img src=x onerror=alert(1)>').touch()
    (tmp_path / 'javascript:alert(1)').touch()
    with pytest.raises(ValueError, match='script'):
        trainer.run(show_loop_exception_msg=False)
    pages.requests.clear()
    pages.complaints.clear()
    pages.open(tmp_path / 'report.html')
    assert pages.requests == [(tmp_path / 'report.html').as_uri()]
    assert pages.complaints == []
    assert pages.ask('document.scripts.length + document.images.length') == 0
    assert pages.ask('document.title') == f'{tmp_path.name} - training report'
    links = pages.ask('[...document.links].map(a => a.protocol + a.hash + a.search)')
    assert set(links) == {'file:'}
    names = pages.ask('[...document.querySelectorAll("figcaption b")].map(b => b.textContent)')
    assert '<script>alert(1)</script>' in names
    assert '\ufffd\ufffd?' in names
    assert set(names) >= {name for name in ODD if '\x00' not in name}


@in_browser
def test_curves_are_drawn(tmp_path, pages):
    make(tmp_path).run()
    pages.open(tmp_path / 'report.html')
    shown = '[...document.querySelectorAll("svg.chart")].filter(s => s.checkVisibility())'
    curves = f'{shown}.map(s => [...s.querySelectorAll(".line")].map(p => p.getTotalLength()))'
    lengths = pages.ask(curves)
    assert [len(lines) for lines in lengths] == [2, 2, 1, 1]
    assert all(length > 100 for lines in lengths for length in lines)
    box = pages.ask(f'{shown}.map(s => s.getBoundingClientRect().toJSON())')
    assert all(one['width'] > 300 and one['height'] > 150 for one in box)
    # All text lies within its chart.
    outside = pages.ask(
        f'{shown}.flatMap(s => [...s.querySelectorAll("text:not(.readout)")].filter(t => '
        '{ const a = s.getBoundingClientRect(), b = t.getBoundingClientRect(); return b.left < '
        'a.left - 1 || b.right > a.right + 1 || b.top < a.top - 1 || b.bottom > a.bottom + 1 })'
        '.map(t => t.textContent))'
    )
    assert outside == []
    assert pages.ask('document.documentElement.scrollWidth <= innerWidth')


@in_browser
def test_the_scale_is_switched(tmp_path, pages):
    (tmp_path / 'log').write_text(json.dumps(entries(9, loss=lambda i: 10.0**-i)))
    _command.main(['report', str(tmp_path)])
    pages.open(tmp_path / 'report.html')
    shown = '[...document.querySelectorAll(".of-linear, .of-log")].filter(s => s.checkVisibility())'
    names = f'{shown}.map(s => s.getAttribute("class"))'
    assert pages.ask(names) == ['chart of-linear']
    for kind in ('log', 'linear'):
        button = pages.ask(f'document.getElementById("scale0{kind}").nextSibling'
                           '.getBoundingClientRect().toJSON()')  # fmt: skip
        pages.click(button['x'] + 5, button['y'] + 5)
        assert pages.ask(names) == [f'chart of-{kind}']


@in_browser
def test_values_where_the_pointer_is(tmp_path, pages):
    log = entries(5, loss=lambda i: float(i * i))
    log[-1]['validation/loss'] = 7.5
    (tmp_path / 'log').write_text(json.dumps(log))
    _command.main(['report', str(tmp_path)])
    pages.open(tmp_path / 'report.html')
    box = pages.ask('document.querySelector(".of-linear").getBoundingClientRect().toJSON()')
    visible = (
        '[...document.querySelectorAll(".of-linear .strip")].filter(g => getComputedStyle(g)'
        '.opacity == 1).map(g => g.textContent)'
    )
    pages.move_to(1, 1)
    assert pages.ask(visible) == []
    middle = box['y'] + box['height'] / 2
    pages.move_to(box['x'] + box['width'] - 25, middle)
    assert pages.ask(visible) == ['5\u25cf 25\u25cf 7.5']
    pages.move_to(box['x'] + 65, middle)
    assert pages.ask(visible) == ['1\u25cf 1']


@in_browser
def test_light_and_dark(tmp_path, pages):
    make(tmp_path).run()
    pages.open(tmp_path / 'report.html')
    lightness = (
        '["body", "h1", "figure", ".chart text"].map(s => { const e = document.querySelector(s), '
        'c = getComputedStyle(e), w = s == "body" || s == "figure" ? c.backgroundColor : '
        's == "h1" ? c.color : c.fill; return Math.max(...w.match(/\\d+/g).map(Number)) })'
    )
    pages.set_dark(False)
    body, title, card, ticks_ = pages.ask(lightness)
    assert min(body, card) > 200 > 140 > max(title, ticks_)
    pages.set_dark(True)
    body, title, card, ticks_ = pages.ask(lightness)
    assert max(body, card) < 60 < 140 < min(title, ticks_)
    pages.set_dark(False)
