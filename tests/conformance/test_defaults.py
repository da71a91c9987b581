"""Functions, links, distributions and optimizers take the parameters of Chainer v7.

They have the same names in the same order, with the same defaults.

A line of chainer_v7_defaults.txt is a call, under its [module].
"""

import ast
import importlib
import inspect
import pathlib

import pytest

PATH = pathlib.Path(__file__).with_name('chainer_v7_defaults.txt')
# Parameters beyond v7 have defaults, and follow those of v7.
BEYOND = {'softmax_cross_entropy': ['label_smoothing'], 'Convolution2D': ['cudnn_fast']}


def calls():
    module = ''
    for line in PATH.read_text().splitlines():
        if line.startswith('['):
            module = line[1:-1]
        elif line:
            yield module, line


def wanted(line):
    """(name, default in words, whether by keyword only) of each parameter of a call."""
    (function,) = ast.parse(f'def {line}: pass').body
    args = function.args
    names = [a.arg for a in args.args]
    defaults = [None] * (len(names) - len(args.defaults)) + args.defaults
    positional = [(n, d, False) for n, d in zip(names, defaults, strict=True)]
    by_keyword = zip((a.arg for a in args.kwonlyargs), args.kw_defaults, strict=True)
    for name, default, only in [*positional, *((n, d, True) for n, d in by_keyword)]:
        yield name, '-' if default is None else ast.unparse(default), only


def in_words(default):
    if default is inspect.Parameter.empty:
        return '-'
    if callable(default):
        return f'{default.__module__}.{default.__qualname__}'
    return repr(default)


def found(function):
    for name, p in inspect.signature(function).parameters.items():
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD):  # ** refuses what v7 refused
            yield name, in_words(p.default), p.kind == p.KEYWORD_ONLY


@pytest.mark.parametrize(('module', 'line'), list(calls()), ids=lambda x: x.partition('(')[0])
def test_parameters_and_defaults_are_those_of_v7(module, line):
    name = line.partition('(')[0]
    function = getattr(importlib.import_module(module), name)
    beyond = BEYOND.get(name, [])
    actual = list(found(function))
    assert [p for p in actual if p[0] not in beyond] == list(wanted(line))
    added = [p for p in actual if p[0] in beyond]
    assert actual[len(actual) - len(beyond) :] == added
    assert '-' not in [default for _, default, _ in added]


def test_all_functions_links_and_distributions_have_a_line():
    listed = set(calls())
    names = {(module, line.partition('(')[0]) for module, line in listed}
    assert len(names) == len(listed)
    for module, count in (('functions', 216), ('links', 62), ('distributions', 19)):
        assert sum(m == f'chainer.{module}' for m, _ in names) == count
