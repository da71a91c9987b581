"""`out` of all functions that are not elementwise, for each row of the table that has it."""

import inspect

import chainerx as chx
import numpy as np
import pytest
from cases import CASES
from cases._harness import Prepared, each, make, to_numpy


def parameters(case):
    return set(inspect.signature(case.resolve(chx)).parameters)


ROWS = [
    case
    for case in CASES
    if case.ref is not None and case.fn is None and case.multi is None and case.calls
    if 'out' in parameters(case)
    if 'axis' in parameters(case) or 'where' not in parameters(case)
]
DTYPES = 'float32', 'complex64', 'int32', 'bool'


def test_there_are_many():
    names = {case.name for case in ROWS}
    assert {'matmul', 'concatenate', 'take', 'einsum', 'fft.fft', 'median', 'sum'} <= names
    assert len(names) > 60


def calls(case, device):
    """Some calls of a row, each with its result."""
    dtype = next((d for d in DTYPES if d in case.dtypes), case.dtypes[0])
    for spec in case.calls[:12]:
        if 'out' in spec.kw:
            continue
        prepared = Prepared(case, spec, dtype, device=device)
        yield prepared, prepared.call.run(case.resolve(chx))


def run(case, prepared, **options):
    return case.resolve(chx)(*prepared.call.args, **prepared.call.kw, **options)


@each(ROWS)
def test_out(case, device):
    """The same bits as without; a wrong shape or a lower kind of dtype is an error."""
    for prepared, y in calls(case, device):
        for layout in ('contiguous', 'transposed', 'reversed', 'strided'):
            out = make(np.full(y.shape, 1).astype(y.dtype), layout, device)
            assert run(case, prepared, out=out) is out
            np.testing.assert_array_equal(to_numpy(out), to_numpy(y))
        wide = chx.zeros(y.shape, 'complex128', device=device)
        if case.name.removeprefix('nan') in ('argmax', 'argmin'):  # positions are no numbers
            with pytest.raises(chx.DtypeError, match='out has dtype complex128'):
                run(case, prepared, out=wide)
        elif 'dtype' not in prepared.call.kw and case.name not in COMPUTED_IN_THAT_OF_OUT:
            assert run(case, prepared, out=wide) is wide
            np.testing.assert_array_equal(to_numpy(wide), to_numpy(y))
        for shape in ((*y.shape, 1), (7, *y.shape)):
            with pytest.raises(chx.DimensionError, match=r'out\.shape'):
                run(case, prepared, out=chx.zeros(shape, y.dtype, device=device))
        if y.dtype != 'bool':
            low = chx.zeros(y.shape, 'bool', device=device)
            with pytest.raises(chx.DtypeError):
                run(case, prepared, out=low)
            assert not to_numpy(low).any()


# As in NumPy, sums are computed in the dtype of `out`, and joined arrays are cast to it.
COMPUTED_IN_THAT_OF_OUT = {
    f'{nan}{op}' for nan in ('', 'nan') for op in ('sum', 'prod', 'cumsum', 'cumprod')
}


@each(ROWS)
def test_out_is_an_operand(case, device):
    """As if the operands were read first."""
    for prepared, y in calls(case, device):
        for k, x in enumerate(prepared.arrays):
            if x.shape != y.shape or x.dtype != y.dtype:
                continue
            again = Prepared(case, prepared.spec, prepared.dtypes[0], device=device)
            expected = to_numpy(again.call.run(case.resolve(chx)))
            assert run(case, again, out=again.arrays[k]) is again.arrays[k]
            np.testing.assert_array_equal(to_numpy(again.arrays[k]), expected)


@each([c for c in ROWS if c.order and c.diff is None])
def test_graphs(case, device):
    """`out` is written in place, so no graph may know it, nor be recorded meanwhile."""
    for prepared, y in calls(case, device):
        if y.dtype != 'float32' or prepared.dtypes[0] != 'float32' or not y.size:
            continue
        out = chx.zeros(y.shape, y.dtype, device=device).require_grad()
        with pytest.raises(chx.ChainerxError, match='graph'):
            run(case, prepared, out=out)
        prepared.arrays[0].require_grad()
        out = chx.zeros(y.shape, y.dtype, device=device)
        with pytest.raises(chx.ChainerxError, match='requires backprop'):
            run(case, prepared, out=out)
        assert not to_numpy(out).any()
        break
