"""Output of extensions in a notebook: replaced elements, and no terminal codes."""

import contextlib
import html
import io
import re

import pytest
from chainer.training import extensions
from chainer.training.extensions import _screen
from v7_programs import make_evaluator, make_trainer, model_of


class OutStream(io.StringIO):
    """The output of a cell; some kernels claim that it is a terminal."""

    __module__ = 'ipykernel.iostream'

    def isatty(self):
        return True


class Publisher:
    """The messages to the front end, by display id: all contents, the latest last."""

    def __init__(self):
        self.places = {}

    def publish(self, data, metadata=None, *, transient=None, update=False, **kwargs):
        place = transient['display_id']
        assert update == (place in self.places)
        self.places.setdefault(place, []).append(data)


class Cell:
    """A cell of a notebook: its stream and its displays."""

    def __init__(self, places):
        self.stream = OutStream()
        self.places = places

    def run(self, trainer):
        with contextlib.redirect_stdout(self.stream):
            trainer.run()
        assert self.stream.getvalue() == ''
        assert '\033' not in str(self.places)
        return list(self.places.values())


@pytest.fixture
def cell(monkeypatch):
    pytest.importorskip('IPython')
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    publisher = Publisher()
    monkeypatch.setattr(shell, 'display_pub', publisher)
    monkeypatch.setattr(InteractiveShell, '_instance', shell)
    monkeypatch.setattr(_screen, '_RATE', 1e9)
    return Cell(publisher.places)


def test_a_table_that_grows(tmp_path, cell):
    trainer = make_trainer(tmp_path, (3, 'epoch'), extensions=[extensions.LogReport()])
    trainer.extend(extensions.PrintReport(['epoch', 'main/loss', '<script>']))
    ((first, *others, last),) = cell.run(trainer)
    assert first['text/html'].startswith(
        '<table><tr><th>epoch</th><th>main/loss</th><th>&lt;script'
    )
    assert re.findall('<tr><td>(.)</td>', last['text/html']) == ['1', '2', '3']
    assert len(others) == 2  # the head, and each row
    header, *rows = last['text/plain'].splitlines()
    assert header.split() == ['epoch', 'main/loss', '<script>']
    assert [row.split()[0] for row in rows] == ['1', '2', '3']


def test_a_long_table_shows_its_end(tmp_path, cell):
    trainer = make_trainer(tmp_path, (250, 'iteration'))
    trainer.extend(extensions.LogReport(trigger=(1, 'iteration'), filename=''))
    trainer.extend(extensions.PrintReport(['iteration']))
    ((*_, last),) = cell.run(trainer)
    rows = re.findall('<td>(.*?)</td>', last['text/html'])
    assert rows == [str(i) for i in range(51, 251)]


def test_progress_is_replaced_and_goes(tmp_path, cell):
    trainer = make_trainer(tmp_path)
    trainer.extend(extensions.ProgressBar(update_interval=5))
    ((first, second, last),) = cell.run(trainer)
    assert first['text/plain'].startswith('     total [#########################....')
    assert first['text/html'] == f'<pre>{html.escape(first["text/plain"], quote=False)}</pre>'
    assert '        10 iter, 3 epoch / 3 epochs' in second['text/plain']
    assert last == {'text/plain': '', 'text/html': '<span></span>'}


def test_evaluations_have_one_place(tmp_path, cell):
    trainer = make_trainer(tmp_path)
    trainer.extend(make_evaluator(model_of(trainer), progress_bar=True))
    (shown,) = cell.run(trainer)
    assert len(shown) == 3 * (3 + 1)
    assert 'validation [' in shown[0]['text/plain']
    assert shown[-1]['text/plain'] == ''


def test_not_more_often_than_eyes_see(tmp_path, cell, monkeypatch):
    monkeypatch.setattr(_screen, '_RATE', 1e-3)
    trainer = make_trainer(tmp_path)
    trainer.extend(extensions.ProgressBar(update_interval=1))
    ((first, last),) = cell.run(trainer)
    assert '         1 iter' in first['text/plain']
    assert last['text/plain'] == ''


def test_output_that_is_redirected_is_lines(tmp_path, cell):
    out = io.StringIO()
    trainer = make_trainer(tmp_path, (1, 'epoch'), extensions=[extensions.LogReport()])
    trainer.extend(extensions.PrintReport(['epoch'], out=out))
    trainer.extend(extensions.ProgressBar(update_interval=1, out=out))
    trainer.run()
    assert not cell.places
    assert '\033' not in out.getvalue()
    assert 'epoch 1.20, iteration 4' in out.getvalue()
