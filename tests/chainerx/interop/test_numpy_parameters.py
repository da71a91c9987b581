"""Parameters of NumPy: those that have another name here, and errors where they are not here."""

import chainerx as chx
import numpy as np
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
        (lambda x: x.view(2, 1), 'at most 1 positional argument, got 2$'),
        (lambda x: chx.sum(x, axs=0), r"argument 'axs'\. Did you mean 'axis'\?$"),
        (lambda x: x.astype(dytpe='f'), "Did you mean 'dtype'"),
        (lambda x: chx.mean(x, axes=0), "Did you mean 'axis'"),
        (lambda x: chx.mean(x, dim=0), "Did you mean 'axis'"),
        (lambda x: x.mean(0, keepdim=True), "Did you mean 'keepdims'"),
        (lambda x: chx.add(x, other=x), "Did you mean 'x2'"),
        (lambda x: chx.exp(x, other=x), "argument 'other'$"),
        (lambda x: chx.exp(x, **{'\ud800': x}), 'exp'),
        (lambda x: chx.ones(2, requires_grad=True), r"'requires_grad': require_grad\(\) of"),
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


@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize('dtype', ['bool', 'int8', 'uint64', 'int64'])
@pytest.mark.parametrize('shape', [(4, 5), (0, 3), (3, 0), (1, 1)])
def test_integers_have_no_nan_to_skip(shape, dtype):
    n = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    nowhere = np.zeros(shape, bool)
    for name in ('nanmean', 'nanvar', 'nanstd'):
        options = [{}, {'axis': 0}, {'axis': -1, 'keepdims': True}, {'where': nowhere}]
        options += [{'ddof': 1}, {'ddof': 5, 'axis': 0}] if name != 'nanmean' else []
        for o in options:
            ours = {k: chx.array(v) if k == 'where' else v for k, v in o.items()}
            found = getattr(chx, name)(chx.array(n), **ours)
            expected = getattr(np, name)(n, **o)
            np.testing.assert_allclose(chx.to_numpy(found), expected, rtol=1e-6, err_msg=str(o))
