"""The list of `tools/mutate.py` fits the current sources."""

import functools
import importlib.util
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / 'tools' / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


mutate = load('mutate')
MUTATIONS = mutate.read()


@functools.cache
def _sources(path):
    """The test's source, and that of the tables beside it, whose rows name its cases."""
    files = path.rglob('*.py') if path.is_dir() else [path, *path.parent.glob('cases/**/*.py')]
    return ''.join(file.read_text(encoding='utf-8').lower() for file in files)


@pytest.mark.parametrize('mutation', MUTATIONS, ids=str)
def test_each_applies_to_one_place(mutation):
    changed = mutation.applied(ROOT)
    assert changed != (ROOT / mutation.path).read_text()
    files = [word for word in mutation.tests if word.startswith('tests/')]
    assert files
    for name in files:
        assert (ROOT / name.partition('::')[0]).exists(), name
    if '-k' in mutation.tests:  # else pytest finds no test, which is an error, not a failure
        chosen = mutation.tests[mutation.tests.index('-k') + 1]
        paths = [ROOT / name for name in files]
        texts = ''.join(_sources(path) for path in paths)
        words = set(re.findall(r'\w+', chosen.lower())) - {'and', 'or', 'not'}
        assert any(word in texts for word in words), chosen


def test_they_are_many_and_everywhere():
    assert len(MUTATIONS) == len({*map(str, MUTATIONS)}) >= 60
    parts = ('core', 'autograd', 'ops', 'native', 'python/engine')
    for folder in [*(f'cpp/chainerx/{part}/' for part in parts), 'python/chainer/']:
        assert sum(m.path.startswith(folder) for m in MUTATIONS) >= 5, folder


@pytest.mark.parametrize(('old', 'count'), [('nowhere to be found', 0), ('import', 2)])
def test_a_text_that_does_not_name_one_place(tmp_path, old, count):
    (tmp_path / 'file.py').write_text('import a\nimport b\n')
    with pytest.raises(ValueError, match=f'occurs {count} times'):
        mutate.Mutation('file.py', old, 'x', []).applied(tmp_path)
    with pytest.raises(ValueError, match='becomes'):
        mutate.Mutation('file.py', 'import a', 'import a', []).applied(tmp_path)
