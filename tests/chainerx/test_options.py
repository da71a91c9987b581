"""`out`, `where` and `dtype` of elementwise functions, for every row of the table that has them."""

import inspect

import chainerx as chx
import numpy as np
import pytest
from cases import CASES
from cases import _promotion as p
from cases._harness import Prepared, each, make, to_numpy
from cases._table import f


def parameters(case):
    return list(inspect.signature(case.resolve(chx)).parameters)


PAIRS = ('divmod', 'modf', 'frexp')
# One row of each function with one result.
ROWS = {
    c.name: c
    for c in CASES
    if c.ref is not None and c.fn is None and c.inputs is not None and c.name not in PAIRS
}
WITH_OPTIONS = [c for c in ROWS.values() if parameters(c)[1:3] == ['out', 'where']]
WITH_OPTIONS += [c for c in ROWS.values() if parameters(c)[2:4] == ['out', 'where']]
WITH_DTYPE = [c for c in WITH_OPTIONS if parameters(c)[-1] == 'dtype']
LAYOUTS = ('contiguous', 'transposed', 'reversed', 'strided')


def test_there_are_many():
    assert len(WITH_OPTIONS) > 70
    assert len(WITH_DTYPE) > 45


def run(case, arrays, **options):
    return case.resolve(chx)(*arrays, **options)


def operands(case, device, shape=(6, 4), dtypes=('float32', 'int32', 'bool')):
    """Arrays of one shape for a row, in each of some dtypes that it accepts."""
    spec = case.calls[0].map(
        lambda a: f(*shape, lo=a.lo, hi=a.hi, avoid=a.avoid, gap=a.gap, dtype=a.dtype)
    )
    for dtype in dtypes:
        if dtype in case.dtypes:
            yield Prepared(case, spec, dtype, device=device).arrays


def garbage(y, layout, device):
    n = np.full(y.shape, 77).astype(y.dtype)
    return make(n, layout, device)


@each(WITH_OPTIONS)
def test_out(case, device):
    """The same bits as without, in any layout, by keyword, position and as a tuple."""
    for arrays in operands(case, device):
        y = run(case, arrays)
        for layout in LAYOUTS:
            out = garbage(y, layout, device)
            assert run(case, arrays, out=out) is out
            np.testing.assert_array_equal(to_numpy(out), to_numpy(y))
        out = garbage(y, 'contiguous', device)
        assert run(case, [*arrays, out]) is out
        np.testing.assert_array_equal(to_numpy(out), to_numpy(y))
        out = garbage(y, 'contiguous', device)
        assert run(case, arrays, out=(out,)) is out
        np.testing.assert_array_equal(to_numpy(out), to_numpy(y))
        assert to_numpy(run(case, arrays, out=None, where=True)).tobytes() == to_numpy(y).tobytes()


@each(WITH_OPTIONS)
def test_out_of_another_dtype(case, device):
    """The result is computed as usual, and then cast; not to a dtype of a lower kind."""
    for arrays in operands(case, device):
        y = run(case, arrays)
        out = chx.zeros(y.shape, 'complex128', device=device)
        np.testing.assert_array_equal(to_numpy(run(case, arrays, out=out)), to_numpy(y))
        if y.dtype == 'bool':
            continue
        out = chx.zeros(y.shape, 'bool', device=device)
        with pytest.raises(chx.DtypeError, match='of out'):
            run(case, arrays, out=out)
        assert not to_numpy(out).any()


@each(WITH_OPTIONS)
def test_out_is_an_operand(case, device):
    """As if all operands were read first."""
    for arrays in operands(case, device):
        y = to_numpy(run(case, arrays))
        for k, x in enumerate(arrays):
            if x.dtype != y.dtype:
                continue
            again = [a.copy() for a in arrays]
            run(case, again, out=again[k])
            np.testing.assert_array_equal(to_numpy(again[k]), y)
            # Shifted by a row: elementwise, each written element is read again later.
            wide = chx.concatenate([x, x[:1]])
            again = list(arrays)
            again[k] = wide[:-1]
            run(case, again, out=wide[1:])
            np.testing.assert_array_equal(to_numpy(wide[1:]), y)


@each(WITH_OPTIONS)
def test_out_is_larger(case, device):
    """Operands broadcast to it; a smaller one is an error."""
    for arrays in operands(case, device, shape=(4,)):
        y = run(case, arrays)
        out = chx.zeros((3, 4), y.dtype, device=device)
        run(case, arrays, out=out)
        np.testing.assert_array_equal(to_numpy(out), np.broadcast_to(to_numpy(y), (3, 4)))
        for shape in ((3,), (1,), (4, 1), ()):
            with pytest.raises(chx.DimensionError):
                run(case, arrays, out=chx.zeros(shape, y.dtype, device=device))


@each(WITH_OPTIONS)
def test_where(case, device):
    """Elsewhere `out` is unchanged; without it there are zeros."""
    for arrays in operands(case, device):
        y = to_numpy(run(case, arrays))
        for mask in (np.arange(24).reshape(6, 4) % 3 == 0, np.array([True, False, True, True])):
            m = chx.array(mask, device=device)
            out = garbage(chx.array(y), 'transposed', device)
            assert run(case, arrays, out=out, where=m) is out
            np.testing.assert_array_equal(
                to_numpy(out), np.where(mask, y, np.array(77).astype(y.dtype))
            )
            np.testing.assert_array_equal(
                to_numpy(run(case, arrays, where=m)), np.where(mask, y, 0)
            )
            for given in (mask, mask.tolist()):
                np.testing.assert_array_equal(
                    to_numpy(run(case, arrays, where=given)), np.where(mask, y, 0)
                )
        assert not to_numpy(run(case, arrays, where=False)).any()
        with pytest.raises(chx.DtypeError, match='where'):
            run(case, arrays, where=chx.ones((6, 4), 'int32', device=device))
        with pytest.raises(TypeError, match='where'):
            run(case, arrays, where=1)


@each(WITH_DTYPE)
def test_dtype(case, device):
    """Operands are cast first: not downwards, and to dtypes that the function computes in."""
    for arrays in operands(case, device, dtypes=('int32', 'float32')):
        for dtype in ('int64', 'float64', 'complex64', 'bool'):
            downwards = any(p.category(dtype) < p.category(x.dtype.name) for x in arrays)
            try:
                y = run(case, arrays, dtype=dtype)
            except chx.DtypeError:
                continue
            assert not downwards
            assert y.dtype == dtype
            e = run(case, [x.astype(dtype) for x in arrays])
            np.testing.assert_array_equal(to_numpy(y), to_numpy(e))
            out = chx.zeros(y.shape, 'complex128', device=device)
            run(case, arrays, dtype=dtype, out=out)
            np.testing.assert_array_equal(to_numpy(out), to_numpy(e))
    if 'float32' in case.dtypes and case.out in ('same', 'float', 'divide'):
        assert run(case, next(operands(case, device)), dtype='float64').dtype == 'float64'


# Functions whose first operand may be floats.
SMOOTH = [c for c in WITH_OPTIONS if c.order and c.diff is None]


@each(c for c in SMOOTH if next(c.calls[0].arrays()).dtype is None)
def test_graphs(case, device):
    """`out` is written in place, so no graph may know it, nor be recorded meanwhile."""
    arrays = next(operands(case, device, dtypes=('float32', 'float64')))
    y = run(case, arrays)
    out = chx.zeros(y.shape, y.dtype, device=device).require_grad()
    with pytest.raises(chx.ChainerxError, match='graph'):
        run(case, arrays, out=out)
    out = chx.zeros(y.shape, y.dtype, device=device)
    arrays[0].require_grad()
    for options in ({'out': out}, {'out': out, 'where': chx.ones(4, bool, device=device)}):
        with pytest.raises(chx.ChainerxError, match='requires backprop'):
            run(case, arrays, **options)
        assert not to_numpy(out).any()
    with chx.no_backprop_mode():
        run(case, arrays, out=out)
    np.testing.assert_array_equal(to_numpy(out), to_numpy(y))
    # Without `out`, the options are part of the graph.
    mask = chx.array([True, False, True, False], device=device)
    options = {'where': mask} | ({'dtype': 'float64'} if case in WITH_DTYPE else {})
    z = run(case, arrays, **options)
    z.sum().backward()
    whole = run(case, [arrays[0].as_grad_stopped().astype('float64').require_grad(), *arrays[1:]])
    assert whole.is_backprop_required()
    (expected,) = chx.grad([run(case, arrays, **options).sum()], [arrays[0]])
    assert arrays[0].grad.dtype == arrays[0].dtype
    np.testing.assert_array_equal(to_numpy(arrays[0].grad), to_numpy(expected))
    assert not to_numpy(arrays[0].grad)[:, 1::2].any()


def test_overwriting_arrays_that_backward_needs_is_detected(device):
    c = chx.array([1.0, 2.0], device=device)
    x = chx.array([3.0, 4.0], device=device).require_grad()
    y = x * c
    chx.add(c, 1, out=c)
    with pytest.raises(chx.GradientError, match='written'):
        y.backward()


def test_out_of_a_view_and_of_a_constant(device):
    x = chx.arange(12, dtype='float32', device=device).reshape(3, 4)
    chx.negative(x[1], out=x[:, :].reshape(-1)[4:8])
    assert x[1].tolist() == [-4, -5, -6, -7]
    constant = chx.broadcast_to(chx.zeros(1, device=device), (3, 4))
    with pytest.raises(chx.ChainerxError, match=r'read-only|write'):
        chx.add(x, 1, out=constant)


def test_bad_out():
    x = chx.ones(3)
    for out in (np.ones(3), [1, 2, 3], (x, x), ()):
        with pytest.raises(TypeError, match='out'):
            chx.exp(x, out=out)
    with pytest.raises(TypeError, match='at most 2'):
        chx.exp(x, x, True)
    with pytest.raises(chx.DeviceError):
        chx.exp(x, out=chx.ones(3, device='native:1'))
    with pytest.raises(chx.DeviceError):
        chx.exp(x, out=chx.ones(3), where=chx.ones(3, bool, device='native:1'))


def test_pairs(device):
    x = chx.array([7.5, -7.5, 2.0], device=device)
    for function, args in ((chx.divmod, (x, 2)), (chx.modf, (x,)), (chx.frexp, (x,))):
        expected = function(*args)
        outs = tuple(chx.zeros(3, y.dtype, device=device) for y in expected)
        got = function(*args, out=outs)
        assert got[0] is outs[0]
        assert got[1] is outs[1]
        for y, e in zip(got, expected, strict=True):
            np.testing.assert_array_equal(to_numpy(y), to_numpy(e))
        first, second = function(*args, out=(None, outs[1]))
        assert second is outs[1]
        assert first is not outs[0]
        with pytest.raises(TypeError, match='two'):
            function(*args, out=outs[0])
        mask = chx.array([True, False, True], device=device)
        got = function(*args, out=(None, outs[1]), where=mask)
        for y, e, rest in zip(got, expected, (0, expected[1][1].item()), strict=True):
            assert y.tolist() == [e[0].item(), rest, e[2].item()]
        wide = tuple(chx.zeros((2, 3), y.dtype, device=device) for y in expected)
        assert function(*args, out=wide)[1] is wide[1]
        assert wide[0].tolist() == [expected[0].tolist()] * 2
        with pytest.raises(chx.DimensionError, match='broadcast'):
            function(*args, out=(chx.zeros(2, device=device), None))
        with pytest.raises(chx.DtypeError, match='bool'):
            function(*args, where=x)
    for function, args in ((chx.divmod, (x, 2)), (chx.modf, (x,))):
        for dtype in ('float32', 'float64'):
            for y, e in zip(function(*args, dtype=dtype), function(*args), strict=True):
                assert y.dtype == dtype
                assert y.tolist() == e.tolist()
        with pytest.raises(chx.DtypeError, match='int32'):
            function(*args, dtype='int32')
    assert chx.divmod(x.astype('int8'), 2, dtype='int32')[0].dtype == 'int32'
    with pytest.raises(chx.DtypeError, match='int32'):
        chx.modf(x.astype('int8'), dtype='int32')
    with pytest.raises(chx.DtypeError, match='x2'):
        chx.divmod(x.astype('int8'), 2.5, dtype='int32')
    assert [y.tolist() for y in chx.divmod(7, chx.array([2, 3], device=device))] == [[3, 2], [1, 1]]


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'int8'])
def test_numbers_beside_arrays(dtype, device):
    x = chx.array([1, 2, 3], dtype, device=device)
    out = chx.zeros(3, dtype, device=device)
    assert chx.add(x, 2, out=out).tolist() == [3, 4, 5]
    assert chx.subtract(2, x, out=out).tolist() == [1, 0, -1]
    assert chx.greater(x, 1, out=chx.zeros(3, bool, device=device)).tolist() == [False, True, True]
    if dtype == 'int8':
        with pytest.raises(chx.DtypeError, match='of out'):
            chx.add(x, 0.5, out=out)
        with pytest.raises(chx.DtypeError, match='dtype'):
            chx.add(x, 0.5, dtype='int8')
        with pytest.raises(chx.OverflowError):
            chx.add(x, 300, out=out)
        assert chx.left_shift(x, 1, out=out).tolist() == [2, 4, 6]
        assert chx.left_shift(1, x, out=chx.zeros(3, 'int64', device=device)).tolist() == [2, 4, 8]


def test_methods_and_named_bounds(device):
    x = chx.array([1.25, -3.75], device=device)
    out = chx.zeros(2, x.dtype, device=device)
    assert x.round(1).tolist() == [1.2, -3.8]
    assert x.round(out=out) is out
    assert x.clip(min=0, out=out).tolist() == [1.25, 0]
    assert x.clip(max=0).tolist() == [0, -3.75]
    with pytest.raises(chx.DimensionError, match='out'):
        x.clip(0, 1, out=chx.zeros((2, 2), device=device))


REDUCTIONS = ['sum', 'prod', 'nansum', 'mean', 'var', 'max', 'min', 'nanmax', 'cumsum', 'cumprod']


@pytest.mark.parametrize('name', REDUCTIONS)
def test_out_of_reductions(name, device):
    """It has the same shape, and no lower kind; it is written in place."""
    function, reference = getattr(chx, name), getattr(np, name)
    n = np.arange(1, 7, dtype='float32').reshape(2, 3) / 2
    x = chx.array(n, device=device)
    expected = reference(n, axis=1)
    for dtype in ('float32', 'float64', 'complex64'):
        out = chx.zeros(expected.shape, dtype, device=device)
        assert function(x, axis=1, out=out) is out
        np.testing.assert_allclose(to_numpy(out), expected, rtol=1e-6)
        if hasattr(x, name):
            out.fill(0)
            assert getattr(x, name)(axis=1, out=out) is out
            np.testing.assert_allclose(to_numpy(out), expected, rtol=1e-6)
    out = chx.zeros(expected.shape, 'int64', device=device)
    with pytest.raises(chx.DtypeError, match='of out'):
        function(x, axis=1, out=out)
    with pytest.raises(chx.DimensionError, match='out'):
        function(x, axis=1, out=chx.zeros((7, 2), device=device))
    out = chx.zeros(expected.shape, device=device)
    with pytest.raises(chx.ChainerxError, match='requires backprop'):
        function(x.require_grad(), axis=1, out=out)
    with pytest.raises(chx.ChainerxError, match='graph'):
        function(chx.array(n, device=device), axis=1, out=out.require_grad())


def test_totals_in_the_dtype_of_out(device):
    x = chx.array([2**24, 1, 1], 'float32', device=device)
    assert chx.sum(x, out=chx.zeros((), 'float64', device=device)).item() == 2**24 + 2
    assert chx.sum(x.astype('int32'), out=chx.zeros((), device=device)).dtype == 'float32'
    assert chx.argmax(x, out=chx.zeros((), 'int64', device=device)).item() == 0
    for name in ('argmax', 'argmin', 'nanargmax', 'nanargmin'):
        with pytest.raises(chx.DtypeError, match=f'{name}: out has dtype float64, expected'):
            getattr(chx, name)(x, out=chx.zeros((), 'float64', device=device))
    assert chx.all(x, out=chx.zeros((), 'int32', device=device)).item() == 1
    with pytest.raises(TypeError, match='ddof and correction'):
        chx.var(x, ddof=1, correction=1)
    with pytest.raises(chx.DtypeError, match='dtype'):
        chx.mean(x, dtype='int32')
    for name in ('sum', 'mean', 'var', 'cumsum'):
        with pytest.raises(chx.DtypeError, match=f'{name}: dtype is float64'):
            getattr(chx, name)(x.astype('complex64'), dtype='float64')
    assert chx.var(chx.zeros(0, device=device), ddof=-1).item() == 0
    for name in ('sum', 'nanprod', 'min', 'mean', 'nanvar'):
        f, mask = getattr(chx, name), [False] * x.shape[-1]
        mask[1] = True
        initial = {'initial': 9} if name == 'min' else {}
        expected = f(x, where=chx.array(mask, device=device), **initial).item()
        assert f(x, where=mask, **initial).item() == expected
        assert f(x, where=np.array(mask), **initial).item() == expected
    with pytest.raises(chx.DtypeError, match='where'):
        chx.sum(x, where=x)
    with pytest.raises(chx.DtypeError, match='where'):
        chx.sum(x, where=[1, 0, 1])
    with pytest.raises(TypeError, match='where'):
        chx.sum(x, where='yes')
    with pytest.raises(chx.DimensionError, match='where'):
        chx.sum(x, where=chx.ones((2, 3), bool, device=device))
