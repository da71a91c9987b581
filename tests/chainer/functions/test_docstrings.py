"""Docstrings of functions agree with the table: orders of gradients, and errors."""

import inspect
import re

import chainer
import numpy as np
import pytest
from functions.cases import CASES
from functions.cases._harness import Prepared
from functions.cases._table import Arg

# Rows of deprecated functions.
pytestmark = pytest.mark.filterwarnings('ignore:.* is deprecated')
DESCRIBED = [c for c in CASES if c.fn is None]
on_each = pytest.mark.parametrize('case', DESCRIBED, ids=[c.name for c in DESCRIBED])


def section(name, heading):
    text = inspect.getdoc(getattr(chainer.functions, name))
    return ' '.join(re.split(r'^\w+:', text.split(f'{heading}:\n')[1], flags=re.M)[0].split())


@pytest.mark.parametrize('name', sorted({c.name for c in DESCRIBED} - {'copy', 'forget'}))
def test_orders(name):
    """Orders agree, except for functions with files of their own: `copy` and `forget`."""
    order = max(case.order for case in DESCRIBED if case.name == name)
    text = section(name, 'Returns')
    assert ('Not differentiable' in text) == (order == 0), text
    assert ('any order' in text or ', twice' in text) == (order == 2), text


@on_each
def test_errors(case):
    """Each error in the table is documented, by its name or that of a base class."""
    text = section(case.name, 'Raises')
    for _, errors, message, *_ in case.bad:
        names = set()
        for error in errors if isinstance(errors, tuple) else (errors,):  # one of several
            names |= {base.__name__ for base in error.__mro__}
        assert any(name in text for name in names - {'Exception', 'object'}), message


@on_each
def test_dtypes(case):
    """A function that refuses integers and bools documents it."""
    if case.refuses and not {'int32', 'bool'} & set(case.dtypes):
        text = section(case.name, 'Raises')
        assert re.search(r'dtype|float|no such array', text), text


# A statement about a result, and whether an array and the arguments (by name) fit it.
SAID = {
    r'Shape and dtype of ``(\w+)``(?!, or)': lambda y, xs, name: (
        y.shape == xs[name].shape and y.dtype == xs[name].dtype
    ),
    r'(?:Their|Its) shape and dtype': lambda y, xs: (
        {(x.shape, x.dtype) for x in xs.values()} == {(y.shape, y.dtype)}
    ),
    r'The common shape': lambda y, xs: (
        y.shape == np.broadcast_shapes(*(x.shape for x in xs.values()))
    ),
    r'[Vv]iews? of the same shape': lambda y, xs: y.shape == next(iter(xs.values())).shape,
    r'0-d, of': lambda y, xs: y.shape == (),
    r'the dtype of ``(\w+)``': lambda y, xs, name: name not in xs or y.dtype == xs[name].dtype,
    r', [Tt]heir dtype': lambda y, xs: y.dtype in {x.dtype for x in xs.values()},
    r', its dtype\.': lambda y, xs: y.dtype == next(iter(xs.values())).dtype,
    r'the axis, int32\.': lambda y, xs: y.dtype == np.int32,
}


def named_arrays(case, prepared):
    """The arrays of a call by parameter name; those of ``*xs`` by number."""
    arrays = iter(prepared.arrays)
    parameters = inspect.signature(getattr(chainer.functions, case.name)).parameters.values()
    names = [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]
    names += range(len(prepared.spec.args))
    return {
        name: next(arrays)
        for name, arg in zip(names, prepared.spec.args, strict=False)
        if isinstance(arg, Arg)
    }


@pytest.mark.parametrize(
    ('case', 'said'),
    [(c, said) for c in DESCRIBED for said in SAID if re.search(said, section(c.name, 'Returns'))],
    ids=str,
)
def test_shapes_and_dtypes(case, said):
    words = re.search(said, section(case.name, 'Returns')).groups()
    for spec in case.calls:
        for dtype in case.dtypes:
            prepared = Prepared(case, spec, dtype)
            xs = named_arrays(case, prepared)
            for y in prepared.call(prepared.variables()) if xs else ():
                assert SAID[said](y, xs, *words), (prepared.where, y.shape, y.dtype)
