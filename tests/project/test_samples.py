"""The samples that tests/conftest.py makes of the rows of tables."""

import collections
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

TABLES = """
import pytest

@pytest.mark.parametrize('op', range(9))
@pytest.mark.parametrize('dtype', range(6))
@pytest.mark.parametrize(('shape', 'axis', 'name'), [(i, 0, 'a') for i in range(3)])
def test_small(op, dtype, shape, axis, name): pass

@pytest.mark.parametrize('op', range(120))
@pytest.mark.parametrize('dtype', range(12))
def test_large(op, dtype): pass

@pytest.fixture(params=['numpy', 'native'])
def kind(request): return request.param

def test_alone(): pass
"""
PAIRS = [f'test_pair_{i}' for i in range(20)]


@pytest.fixture(scope='module')
def samples(tmp_path_factory):
    """The parameters of each test, for each of the three samples."""
    folder = tmp_path_factory.mktemp('samples')
    shutil.copy(pathlib.Path(__file__).parents[1] / 'conftest.py', folder)
    pairs = ''.join(f'def {name}(kind): pass\n' for name in PAIRS)
    (folder / 'test_tables.py').write_text(TABLES + pairs)

    def collected(sample):
        done = subprocess.run(
            [sys.executable, '-m', 'pytest', '--collect-only', '-q', '--sample', str(sample)],
            cwd=folder, capture_output=True, text=True, check=True,
        )  # fmt: skip
        found = collections.defaultdict(list)
        for name, row in re.findall(r'::(\w+)(?:\[(.*)\])?$', done.stdout, re.MULTILINE):
            found[name].append(tuple(row.split('-')))
        return found

    return [collected(i) for i in range(3)]


def test_each_row_is_in_one(samples):
    for name, rows in {'test_small': 9 * 6 * 3, 'test_large': 1440, 'test_alone': 1}.items():
        found = [row for sample in samples for row in sample[name]]
        assert len(found) == len({*found}) == rows
    assert [len(sample['test_small']) for sample in samples] == [54, 54, 54]
    assert [len(sample['test_large']) for sample in samples] == [240, 480, 720]
    assert [len(sample['test_alone']) for sample in samples] == [1, 0, 0]


@pytest.mark.parametrize('name', ['test_small', 'test_large'])
def test_each_has_rows_of_every_value(name, samples):
    everywhere = [row for sample in samples for row in sample[name]]
    for sample in samples:
        for i in range(len(everywhere[0])):
            counts = collections.Counter(row[i] for row in sample[name])
            assert {*counts} == {row[i] for row in everywhere}
            assert max(counts.values()) <= 2 * min(counts.values())


def test_sample_0_has_one_of_each_pair_and_not_always_the_first(samples):
    chosen = [samples[0][name] for name in PAIRS]
    assert [len(rows) for rows in chosen] == [1] * len(PAIRS)
    assert {row for rows in chosen for row in rows} == {('numpy',), ('native',)}
