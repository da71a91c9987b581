"""Parameters of NumPy: those that have another name here, and errors where they are not here."""

import chainerx as chx
import pytest


@pytest.mark.parametrize(
    ('run', 'text'),
    [
        (lambda x: chx.add(x, x, casting='no'), r"argument 'casting': cast with astype"),
        (lambda x: chx.sort(x, order='f'), "argument 'order': .*no fields"),
        (lambda x: chx.median(x, overwrite_input=True), 'operands are never written to'),
        (lambda x: chx.zeros(2, like=x), 'one type of array'),
        (lambda x: chx.matmul(x, x, axes=[]), 'moveaxis'),
        (lambda x: chx.sum(x, nonsense=1), "argument 'nonsense'$"),
        (lambda x: x.max(0, None, True), 'at most 2 positional arguments, got 3; give the others'),
        (lambda x: chx.hstack(x, tup=x), "multiple values for argument 'tup'"),
        (lambda x: chx.sum(x, tup=x), "argument 'tup'$"),
    ],
)
def test_parameters_that_are_not_here_say_why(run, text):
    with pytest.raises(TypeError, match=text):
        run(chx.ones((2, 2)))


def test_names_of_parameters_in_numpy():
    x = chx.array([1.0, 2.0])
    for name in ('hstack', 'vstack', 'dstack', 'column_stack'):
        y = getattr(chx, name)(tup=[x, x])
        assert y.tolist() == getattr(chx, name)([x, x]).tolist()
    assert chx.empty_like(prototype=x).shape == (2,)
    assert chx.asarray(a=x) is x
    assert chx.real(val=x).tolist() == [1, 2]
    assert chx.imag(val=x.astype('complex64')).tolist() == [0, 0]
