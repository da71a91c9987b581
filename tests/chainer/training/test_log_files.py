"""Log files that are appended to have complete rows, each once, whatever stops a training."""

import contextlib
import csv
import itertools
import json
import math
import resource

import pytest
from chainer import training
from chainer.training import extensions
from v7_programs import make_evaluator, make_trainer, model_of

EVERY = (1, 'iteration')


def make(out, stop=(3, 'epoch'), **kwargs):
    trainer = make_trainer(out, stop)
    trainer.extend(make_evaluator(model_of(trainer)))
    trainer.extend(extensions.LogReport(trigger=EVERY))
    trainer.extend(extensions.CSVReport(**kwargs))
    trainer.extend(extensions.JSONLinesReport())
    trainer.extend(extensions.snapshot(autoload=True), trigger=(2, 'iteration'))
    return trainer


def read_csv(path):
    with open(path, newline='') as stream:
        return list(csv.DictReader(stream))


def assert_whole(out):
    """Asserts that both files have the log's entries, in order, each once."""
    log = json.loads((out / 'log').read_text())
    assert [json.loads(line) for line in (out / 'log.jsonl').read_text().splitlines()] == log
    rows = read_csv(out / 'log.csv')
    assert [{k: float(v) for k, v in row.items() if v} for row in rows] == log
    return log


@contextlib.contextmanager
def files_of_at_most(n_bytes):
    """Writes beyond the limit fail after the part that fits, as on a full disk."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


def test_entries_as_rows(tmp_path):
    make(tmp_path).run()
    log = assert_whole(tmp_path)
    assert len(log) == 10
    header = (tmp_path / 'log.csv').read_text().splitlines()[0].split(',')
    assert header[:5] == ['epoch', 'iteration', 'elapsed_time', 'main/loss', 'main/accuracy']
    # The column came with the first evaluation; earlier rows lack it.
    assert header[5:] == ['validation/main/loss', 'validation/main/accuracy']
    rows = read_csv(tmp_path / 'log.csv')
    assert [bool(row['validation/main/loss']) for row in rows] == [
        False, False, False, True, False, False, True, False, False, True
    ]  # fmt: skip


def test_the_file_grows_in_place(tmp_path):
    trainer = make(tmp_path, keys=['iteration', 'main/loss', 'nothing'])
    seen = []

    def look(trainer):
        path = tmp_path / 'log.csv'
        seen.append((path.stat().st_ino, path.read_text()))

    trainer.extend(look, priority=0)
    trainer.run()
    assert len({inode for inode, _ in seen}) == 1
    for (_, before), (_, after) in itertools.pairwise(seen):
        assert after.startswith(before)
        assert after.count('\n') == before.count('\n') + 1
    assert seen[-1][1].startswith('iteration,main/loss,nothing\n1,')
    assert seen[-1][1].endswith(',\n')


@pytest.mark.parametrize('left', ['', '5,'], ids=['whole', 'half a row'])
def test_going_on_with_neither_lost_nor_double_rows(tmp_path, left):
    make(tmp_path, (5, 'iteration')).run()  # the last snapshot is of iteration 4
    for name in ('log.csv', 'log.jsonl'):
        with open(tmp_path / name, 'a') as stream:
            stream.write(left)
    make(tmp_path).run()
    assert [entry['iteration'] for entry in assert_whole(tmp_path)] == list(range(1, 11))
    # A training with nothing left to do.
    make(tmp_path).run()
    assert len(assert_whole(tmp_path)) == 10


def test_a_new_training_begins_a_new_file(tmp_path):
    (tmp_path / 'log.csv').write_text('epoch\n1\n2\n3\n')
    make(tmp_path, (2, 'iteration')).run()
    assert len(assert_whole(tmp_path)) == 2


def test_two_trainings_in_one_folder_mix_no_rows(tmp_path):
    first, second = make(tmp_path, (4, 'iteration')), make(tmp_path, (4, 'iteration'))
    second.extend(lambda trainer: None, name='none')
    ran = []

    def run_other(trainer):
        if trainer.updater.iteration == 2:
            second.run()
            ran.append(len(read_csv(tmp_path / 'log.csv')))

    first.extend(run_other, name='other', priority=0)
    first.run()
    assert ran == [4]
    # The last writer has all of its own rows.
    log = first.get_extension('LogReport').log
    assert [float(row['main/loss']) for row in read_csv(tmp_path / 'log.csv')] == [
        entry['main/loss'] for entry in log
    ]
    assert_whole(tmp_path)


def test_a_removed_file_is_created_again(tmp_path):
    trainer = make(tmp_path)

    def remove(trainer):
        if trainer.updater.iteration == 5:
            (tmp_path / 'log.csv').unlink()

    trainer.extend(remove, priority=0)
    trainer.run()
    assert len(assert_whole(tmp_path)) == 10


def test_a_full_disk_leaves_whole_rows(tmp_path):
    trainer = make_trainer(tmp_path, (9, 'iteration'))
    trainer.extend(extensions.LogReport(trigger=EVERY, filename=''))
    trainer.extend(extensions.JSONLinesReport())
    with files_of_at_most(400), pytest.raises(OSError, match='File too large'):
        trainer.run(show_loop_exception_msg=False)
    text = (tmp_path / 'log.jsonl').read_text()
    assert text.endswith('}\n')
    entries = [json.loads(line) for line in text.splitlines()]
    assert [entry['iteration'] for entry in entries] == list(range(1, len(entries) + 1))
    assert 1 < len(entries) < 9


def test_odd_names_and_values(tmp_path):
    trainer = make_trainer(tmp_path, (2, 'iteration'))
    odd = {'<script>': 1.5, 'a/b, "c"\n d': float('nan'), 'ü': float('inf')}

    def report(trainer):
        trainer.observation.update(odd)

    trainer.extend(report, priority=training.PRIORITY_WRITER)
    log = extensions.LogReport(trigger=EVERY, postprocess=lambda entry: entry.update(text='x,y'))
    trainer.extend(extensions.CSVReport(log_report=log))  # it need not belong to the trainer
    trainer.extend(extensions.JSONLinesReport(log_report='Other'))
    trainer.extend(extensions.LogReport(trigger=EVERY), name='Other')
    trainer.run()
    for row in read_csv(tmp_path / 'log.csv'):
        assert float(row['<script>']) == 1.5
        assert math.isnan(float(row['a/b, "c"\n d']))
        assert float(row['ü']) == math.inf
        assert row['text'] == 'x,y'
    lines = (tmp_path / 'log.jsonl').read_text().splitlines()
    assert [json.loads(line)['ü'] for line in lines] == [math.inf, math.inf]


def test_what_is_refused(tmp_path):
    with pytest.raises(TypeError, match="keys must be a list of names, not 'abc'"):
        extensions.CSVReport(keys='abc')
    trainer = make_trainer(tmp_path)
    trainer.extend(extensions.CSVReport())
    with pytest.raises(ValueError, match='extension LogReport not found; there are: CSVReport'):
        trainer.run(show_loop_exception_msg=False)
    trainer = make_trainer(tmp_path)
    trainer.extend(extensions.CSVReport(log_report='dump'))
    trainer.extend(lambda trainer: None, name='dump')
    with pytest.raises(TypeError, match="CSVReport: the extension 'dump' has no log"):
        trainer.run(show_loop_exception_msg=False)
    trainer = make_trainer(tmp_path, extensions=[extensions.LogReport()])
    trainer.extend(extensions.CSVReport('no/folder.csv'))
    with pytest.raises(FileNotFoundError, match=r'no/'):
        trainer.run(show_loop_exception_msg=False)
