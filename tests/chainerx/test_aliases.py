"""Which results are views, and which are copies even if there is nothing to compute."""

import chainerx as chx
import numpy as np
import pytest
from cases import CASES
from cases._harness import Prepared, as_list, call_text, to_numpy

# Routines that may return a view; all others never do. NumPy's choice, if NumPy has the function.
VIEWS = """
    as_strided asarray ascontiguousarray atleast_1d atleast_2d atleast_3d broadcast_arrays
    broadcast_to diag diagonal expand_dims flip fliplr flipud hsplit moveaxis ravel reshape
    real rollaxis rot90 split einsum matrix_transpose linalg.diagonal linalg.matrix_transpose
    array_split dsplit vsplit squeeze swapaxes transpose permute_dims
    unstack trim_zeros ix_ diff
"""
# These may be read-only.
READ_ONLY = ('as_strided', 'broadcast_to', 'broadcast_arrays', 'meshgrid')


def overwrite(y):
    """Changes every element of an array."""
    y[...] = ~y if y.dtype.kind == 'b' else chx.where(y == 77, 78, 77).astype(y.dtype)


ROWS = {case.name: case for case in CASES if case.ref is not None and case.fn is None}


@pytest.mark.parametrize('case', ROWS.values(), ids=ROWS)
def test_results_are_no_views(case, device):
    """Writing to the result of an operation leaves its operands, for each call of the table."""
    changed = []
    dtypes = [d for d in ('float32', 'bool', 'int64') if d in case.dtypes]
    for spec in case.calls:
        for dtype in dtypes:
            prepared = Prepared(case, spec, dtype, device=device)
            results = as_list(prepared.call.run(case.resolve(chx)))
            for y in results:
                if case.name not in READ_ONLY:
                    overwrite(y)
            for x, old in zip(prepared.arrays, prepared.values, strict=True):
                same = np.array_equal(to_numpy(x), old, equal_nan=old.dtype.kind == 'f')
                assert same or case.name in VIEWS.split(), (
                    f'{case.name}({call_text(spec)}) of {dtype}'
                )
                changed.append(not same)
    if case.name in ('reshape', 'transpose', 'squeeze', 'expand_dims', 'swapaxes', 'ravel'):
        assert any(changed), f'{case.name} never returns a view'


# Calls for which a shortcut would return the operand itself.
NOTHING_TO_DO = {
    'pad by 0': lambda xp, x: xp.pad(x, 0, 'edge'),
    'pad by 0, constant': lambda xp, x: xp.pad(x, 0),
    'pad by 0, reflect': lambda xp, x: xp.pad(x, ((0, 0), (0, 0)), 'reflect'),
    'pad by 0, maximum': lambda xp, x: xp.pad(x, 0, 'maximum'),
    'pad by 0, wrap': lambda xp, x: xp.pad(x, 0, 'wrap'),
    'tile by 1': lambda xp, x: xp.tile(x, 1),
    'tile by (1, 1)': lambda xp, x: xp.tile(x, (1, 1)),
    'repeat by 1': lambda xp, x: xp.repeat(x, 1, 0),
    'roll by 0': lambda xp, x: xp.roll(x, 0),
    'roll around': lambda xp, x: xp.roll(x, 3, 1),
    'concatenate one': lambda xp, x: xp.concatenate([x]),
    'concatenate with nothing': lambda xp, x: xp.concatenate([x, x[:0]]),
    'vstack one': lambda xp, x: xp.vstack([x]),
    'take all': lambda xp, x: xp.take(x, xp.array([0, 1]), 0),
    'index all': lambda xp, x: x[xp.array([0, 1])],
    'mask all': lambda xp, x: x[xp.array([True, True])],
    'sum over no axis': lambda xp, x: xp.sum(x, ()),
    'max over no axis': lambda xp, x: xp.max(x, ()),
    'sum over one': lambda xp, x: x[:1].sum(0),
    'mean over one': lambda xp, x: x[:1].mean(0),
    'max over one': lambda xp, x: x[:1].max(0),
    'prod over one': lambda xp, x: x[:1].prod(0),
    'cumsum over one': lambda xp, x: x[:1].cumsum(0),
    'astype': lambda xp, x: x.astype(x.dtype),
    'copy': lambda xp, x: x.copy(),
    'flatten': lambda xp, x: x.flatten(),
    'array': lambda xp, x: xp.array(x),
    'positive': lambda xp, x: +x,
    'abs': lambda xp, x: abs(x),
    'clip': lambda xp, x: x.clip(-100, 100),
    'where all': lambda xp, x: xp.where(x > -1, x, 0),
    'maximum with itself': lambda xp, x: xp.maximum(x, x),
    'plus 0': lambda xp, x: x + 0,
    'times 1': lambda xp, x: x * 1,
    'by 1': lambda xp, x: x / 1,
    'to the 1st': lambda xp, x: x**1,
    'floor': lambda xp, x: xp.floor(x),
}


@pytest.mark.parametrize('name', NOTHING_TO_DO)
def test_copies_where_nothing_is_to_be_done(name, device):
    function = NOTHING_TO_DO[name]
    n = np.arange(6, dtype='float32').reshape(2, 3)
    for view in (lambda x: x, lambda x: x.T.copy().T, lambda x: x.copy()[:, :]):
        x = view(chx.array(n, device=device))
        expected = function(np, n.copy())
        y = function(chx, x)
        np.testing.assert_array_equal(to_numpy(y), expected)
        overwrite(y)
        np.testing.assert_array_equal(to_numpy(x), n)
        y = function(chx, x)
        x[...] = 55
        np.testing.assert_array_equal(to_numpy(y), expected)
