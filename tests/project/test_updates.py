"""The steps of optimizers in C++ are those of the update rules in Python."""

import ast
import importlib.util
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def generator():
    spec = importlib.util.spec_from_file_location('gen_updates', ROOT / 'tools' / 'gen_updates.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_rows_are_current(generator):
    assert generator.PATH.read_text() == generator.text(), 'run python tools/gen_updates.py'


@pytest.mark.parametrize(
    ('python', 'cpp'),
    [
        ('p -= lr * g', 'p = p - c(n(0)) * g;'),
        ('p -= lr * lr * g', 'p = p - c(n(0) * n(0)) * g;'),  # in double, like Python's floats
        ('p *= 1 - (lr - 2)', 'p = p * c(1 - (n(0) - 2));'),
        ('p /= (g + 1) / 2', 'p = p / ((g + c(1)) / c(2));'),
        ('p -= g - (p - g)', 'p = p - (g - (p - g));'),
        ('x = xp.clip(g, 0, lr)', 'const T x = math::Min(math::Max(g, c(0)), c(n(0)));'),
        ('x = lr**2', 'const double x = std::pow(n(0), 2);'),
        ('if lr != 0: p *= lr', 'if (n(0) != 0) p = p * c(n(0));'),
        ('if no is None: p *= g\nelse: p -= g', 'p = p * g;'),
    ],
)
def test_translation(generator, python, cpp):
    known = {'p': ('p', True), 'g': ('g', True), 'lr': ('n(0)', False)}
    known = {name: generator.Expr(*value) for name, value in known.items()}
    translator = generator.Translator(known, {'no'})
    assert ' '.join(translator.statements(ast.parse(python).body)) == cpp


@pytest.mark.parametrize(
    'python', ['for x in g: pass', 'p -= g @ g', 'p -= xp.tanh(g)', 'p -= g[0]', 'p -= unknown']
)
def test_names_without_translation_are_refused(generator, python):
    known = {name: generator.Expr(name, True) for name in 'pg'}
    with pytest.raises(NotImplementedError, match='no translation of'):
        list(generator.Translator(known, set()).statements(ast.parse(python).body))
