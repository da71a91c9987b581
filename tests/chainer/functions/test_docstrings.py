"""What docstrings of functions say is what the table tests: orders of gradients, and errors."""

import inspect
import re

import chainer
import pytest
from functions.cases import CASES

DESCRIBED = [c for c in CASES if c.fn is None]
on_each = pytest.mark.parametrize('case', DESCRIBED, ids=[c.name for c in DESCRIBED])


def section(name, heading):
    text = inspect.getdoc(getattr(chainer.functions, name))
    return ' '.join(re.split(r'^\w+:', text.split(f'{heading}:\n')[1], flags=re.M)[0].split())


@pytest.mark.parametrize('name', sorted({c.name for c in DESCRIBED} - {'copy', 'forget'}))
def test_orders(name):
    """But for functions that have files of their own: `copy` and `forget`."""
    order = max(case.order for case in DESCRIBED if case.name == name)
    text = section(name, 'Returns')
    assert ('Not differentiable' in text) == (order == 0), text
    assert ('any order' in text) == (order == 2), text


@on_each
def test_errors(case):
    """An error that the table knows is described, by its name or that of a base."""
    text = section(case.name, 'Raises')
    for _, errors, message, *_ in case.bad:
        names = set()
        for error in errors if isinstance(errors, tuple) else (errors,):  # one of several
            names |= {base.__name__ for base in error.__mro__}
        assert any(name in text for name in names - {'Exception', 'object'}), message


@on_each
def test_dtypes(case):
    """A function that refuses integers and bools says so."""
    if case.refuses and not {'int32', 'bool'} & set(case.dtypes):
        text = section(case.name, 'Raises')
        assert re.search(r'dtype|float|no such array', text), text
