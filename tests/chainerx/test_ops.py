"""Runs every row of the table: values, dtypes, layouts, derivatives, errors, threads."""

import inspect
import itertools
import re

import chainerx as chx
import numpy as np
import pytest
from cases import CASES
from cases import _promotion as p
from cases._harness import (
    LAYOUTS,
    REFERENCED,
    Prepared,
    as_list,
    call_text,
    compare,
    each,
    make,
    numerical_gradient,
    to_numpy,
)
from cases._table import ALL, NOT_OPS, call, np_dtype, seeded

CHECKED = [c for c in CASES if c.check is not None]


def error_classes(names):
    found = []
    for name in names.split('|'):
        found.append(getattr(chx, name, None) or getattr(__import__('builtins'), name))
    return tuple(found)


def run(case, prepared):
    return as_list(prepared.call.run(case.resolve(chx)))


def run_to_the_end(case, prepared, device):
    """Synchronizes, since kernels may run later and report errors then."""
    prepared.call.run(case.resolve(chx))
    device.synchronize()


@each(CHECKED)
def test_check(case, device):
    case.check(chx, device)


@each(REFERENCED)
@pytest.mark.parametrize('dtype', ALL)
def test_forward(case, dtype, device):
    """Value, dtype, shape and device, for every layout; DtypeError as the row says."""
    if not any(a.dtype is None for c in case.calls for a in c.arrays()):
        if dtype != case.dtypes[0]:
            return  # nothing in these calls depends on the dtype
    elif dtype in case.unchecked:
        return
    elif dtype not in case.dtypes:
        prepared = Prepared(case, case.calls[0], dtype, device=device)
        try:
            check_forward(case, prepared)
        except chx.DtypeError:
            return
        assert dtype in case.maybe, f'{case.name} accepts {dtype}'
    for spec in case.calls:
        arrays = list(spec.arrays())
        prepared = None
        for layout in LAYOUTS if arrays and case.layouts else LAYOUTS[:1]:
            prepared = Prepared(case, spec, dtype, layout, device, like=prepared)
            check_forward(case, prepared, f'{layout} ')
            for x, old in zip(prepared.arrays, prepared.values, strict=True):
                assert to_numpy(x).tobytes() == old.tobytes(), f'{case.name} changed an input'


def check_forward(case, prepared, where=''):
    where = f'{case.name}({where}{call_text(prepared.spec)}) of {prepared.dtypes}'
    result = prepared.call.run(case.resolve(chx))
    expected_dtype = prepared.result_dtype()
    expected = as_list(prepared.expected(expected_dtype))
    if case.multi in (list, tuple):
        assert type(result) is case.multi, where
    result = as_list(result)
    assert len(result) == len(expected), f'{where}: {len(result)} results, not {len(expected)}'
    for y, e in zip(result, expected, strict=True):
        assert isinstance(y, chx.ndarray), where
        assert y.device is chx.get_default_device(), where
        compare(y, e, expected_dtype, case.tol, where)


@each(c for c in REFERENCED if c.binary)
def test_mixed_dtypes(case, device):
    """All pairs of dtypes promote by the rules, or are refused by them."""
    for d1 in ALL:
        for d2 in ALL:
            bools = (d1 == 'bool') + (d2 == 'bool')
            allowed = {'no': bools == 0, 'pair': bools != 1, 'yes': True, 'any': True}[case.bools]
            result = p.promote(d1, d2)
            supported = d1 in case.dtypes and d2 in case.dtypes and result in case.dtypes
            prepared = Prepared(case, case.calls[0], d1, device=device, dtypes=(d1, d2))
            if allowed and supported:
                check_forward(case, prepared)
                continue
            try:
                check_forward(case, prepared)
            except chx.DtypeError:
                continue
            assert {d1, d2, result} & {*case.maybe}, f'{case.name} accepts {d1} with {d2}'


@each(c for c in REFERENCED if c.scalar)
@pytest.mark.parametrize('dtype', ALL)
def test_scalars(case, dtype, device):
    """A Python scalar on either side is weak: it changes the kind, never the width."""
    arrays = list(case.calls[0].arrays())
    for value in (2, 3.0, np.float64(3.0), True):
        weak = float(value) if isinstance(value, np.floating) else value
        result = p.promote(dtype, weak)
        for spec in (call(arrays[0], value), call(value, arrays[1])):
            prepared = Prepared(case, spec, dtype, device=device)
            bools = (dtype == 'bool') + (value is True)
            refused = {'no': bools > 0, 'pair': bools == 1, 'yes': False}[case.bools]
            if {dtype, result} & {*case.maybe}:
                continue
            if refused or not {dtype, result} <= {*case.dtypes}:
                with pytest.raises(chx.DtypeError):
                    prepared.call.run(case.resolve(chx))
                continue
            prepared.call = call(
                *(weak if x is value else x for x in prepared.call.args)
            )  # the reference takes the Python value
            check_forward(case, prepared)


# Options that many functions share are tested in test_options.py.
OPTIONS = {
    'axis',  # flip, whose parameter was first named axes
    'out',
    'where',
    'dtype',
    'initial',
    'ddof',
    'correction',
    'upper',
    'casting',
    'weights',
    'mean',
    'a_min',  # clip, as a_max
    'a_max',
    'keepdims',
}


@each(c for c in REFERENCED if c.sig)
def test_signature(case, device):
    """The parameters have the documented names; positional and keyword calls agree."""
    function = case.resolve(chx)
    parts = re.split(r',(?![^(]*\))', case.sig)  # but not inside of a tuple
    names = [part.split('=')[0].strip() for part in parts]
    if case.fn is None:
        parameters = list(inspect.signature(function).parameters)
        assert parameters[: len(names)] == names
        assert {*parameters[len(names) :]} <= OPTIONS
        assert function.__doc__, f'{case.name} has no docstring'
    for spec in case.calls[:8]:
        prepared = Prepared(case, spec, 'float32' if 'float32' in case.dtypes else 'int32')
        reference = run(case, prepared)
        keywords = dict(zip(names, prepared.call.args, strict=False)) | prepared.call.kw
        positional = []
        for name in names:
            if name not in keywords:
                break
            positional.append(keywords[name])
        rest = {k: v for k, v in keywords.items() if k not in names[: len(positional)]}
        for again in (call(**keywords), call(*positional, **rest)):
            for y, e in zip(as_list(again.run(function)), reference, strict=True):
                np.testing.assert_array_equal(to_numpy(y), to_numpy(e))
    with pytest.raises(TypeError):
        call(*prepared.call.args, **prepared.call.kw, no_such_argument=1).run(function)


@each(c for c in REFERENCED if c.diff != ())
def test_gradient(case, device):
    """First derivatives of every float dtype against the reference's, and the graph they need."""
    for dtype in p.FLOATS:
        if dtype not in case.dtypes:
            continue
        for spec in case.calls:
            check_gradient(case, spec, dtype, device)


def check_gradient(case, spec, dtype, device):
    prepared = Prepared(case, spec, dtype, device=device)
    targets = prepared.differentiable()
    where = f'{case.name}({call_text(spec)}) of {dtype}'
    for y in run(case, prepared):
        assert not y.is_backprop_required(), f'{where}: a graph that nobody asked for'
    if not targets:
        return
    for n in targets:
        prepared.arrays[n].require_grad()
    with chx.no_backprop_mode():
        for y in run(case, prepared):
            assert not y.is_backprop_required(), f'{where}: a graph in no_backprop_mode'
    ys = run(case, prepared)
    if case.order == 0:
        for y in ys:
            assert not y.is_backprop_required(), f'{where}: connected, but has no gradient'
        return
    rng = seeded('gy', case.name)
    gys = [rng.uniform(-1, 1, y.shape) for y in ys]
    for y, gy in zip(ys, gys, strict=True):
        assert y.is_backprop_required(), f'{where}: not connected'
        y.grad = chx.array(gy.astype(np_dtype(dtype)), device=device)
        gy[...] = to_numpy(y.grad).astype('f8')
    chx.backward(ys)

    def reference(values):
        return prepared.expected('float64', values)

    for n in targets:
        gx = prepared.arrays[n].grad
        expected = numerical_gradient(reference, prepared.values, gys, n)
        assert gx is not None, f'{where}: no gradient in argument {n}'
        # Differences of the reference have errors of 1e-8; rounding in the dtypes adds to them.
        rtol = {'float16': 1e-2, 'bfloat16': 8e-2, 'float32': 2e-5, 'float64': 1e-6}[dtype]
        compare(gx, expected, dtype, 1, f'{where}: gradient {n}', rtol * case.gtol)


@each(c for c in REFERENCED if c.diff != () and c.order > 0)
def test_gradients_of_some_inputs(case, device):
    """The others are constants: the same bits as if all had a gradient."""
    for spec in case.calls:
        dtype = 'float64' if 'float64' in case.dtypes else 'float32'
        targets = Prepared(case, spec, dtype, device=device).differentiable()
        if not 2 <= len(targets) <= 4:
            continue

        def gradients(chosen, spec=spec, dtype=dtype):
            prepared = Prepared(case, spec, dtype, device=device)
            for n in chosen:
                prepared.arrays[n].require_grad()
            ys = run(case, prepared)
            ys = [(k, y) for k, y in enumerate(ys) if y.is_backprop_required()]
            for k, y in ys:
                y.grad = chx.full(y.shape, k + 1.0, y.dtype, device=device)
            chx.backward([y for _, y in ys])
            return [to_numpy(prepared.arrays[n].grad) for n in chosen]

        whole = dict(zip(targets, gradients(targets), strict=True))
        for count in range(1, len(targets)):
            for chosen in itertools.combinations(targets, count):
                for n, gx in zip(chosen, gradients(chosen), strict=True):
                    where = f'{case.name}({call_text(spec)}): input {n}, gradients of {chosen}'
                    np.testing.assert_array_equal(gx, whole[n], err_msg=where)


@each(c for c in REFERENCED if c.diff != () and c.order > 0)
def test_double_gradient(case, device):
    """Second derivatives, by the library's own checker (which test_autograd.py checks)."""
    for spec in case.calls:
        if sum(np.prod(a.shape) for a in spec.arrays()) > 80:
            continue
        dtype = 'float64' if 'float64' in case.dtypes else 'float32'
        prepared = Prepared(case, spec, dtype, device=device)
        targets = prepared.differentiable()
        if not targets or dtype != 'float64':
            continue
        inputs = [prepared.arrays[n].require_grad() for n in targets]

        def function(xs, prepared=prepared, targets=targets, spec=spec):
            arrays = list(prepared.arrays)
            for n, x in zip(targets, xs, strict=True):
                arrays[n] = x
            it = iter(arrays)
            return as_list(spec.map(lambda a: next(it)).run(case.resolve(chx)))

        rng = seeded('ggx', case.name)

        def like(x, rng=rng):
            return chx.array(rng.uniform(-1, 1, x.shape), device=device).require_grad()

        ys = function(inputs)
        if any(np.isnan(to_numpy(y)).any() for y in ys):
            continue  # the mean of no elements has no derivatives to compare
        gys = [like(y) for y in ys]
        eps = [chx.full_like(x, 1e-4, device) for x in inputs]
        chx.check_backward(function, inputs, gys, eps, atol=1e-6, rtol=1e-5)
        if case.order > 1:
            eps += [chx.full_like(x, 1e-4, device) for x in gys]
            ggx = [like(x) for x in inputs]
            chx.check_double_backward(function, inputs, gys, ggx, eps, atol=1e-5, rtol=1e-4)


@each(c for c in REFERENCED if c.border)
def test_border(case, device):
    """Values at 0, inf and nan, alone and inside a vector, and the sign of zero."""
    function = case.resolve(chx)
    for dtype in ('float32', 'float64', 'float16', 'bfloat16'):
        for point, value in case.border:
            point = point if isinstance(point, tuple) else (point,)
            finite = [abs(v) for v in point if v and np.isfinite(v)]
            if dtype in ('float16', 'bfloat16') and any(v < 1e-4 or v > 1e4 for v in finite):
                continue  # outside of the range of these dtypes
            for count in (1, 37):
                xs = [make(np.full(count, v, np_dtype(dtype)), None, device) for v in point]
                y = to_numpy(function(*xs)).astype('f8')
                where = f'{case.name}{point} of {dtype}, {count} elements'
                rtol = {'float16': 1e-3, 'bfloat16': 8e-3, 'float32': 1e-6, 'float64': 1e-14}[dtype]
                expected = np.full(count, float(value))
                np.testing.assert_allclose(y, expected, rtol=rtol, atol=0, err_msg=where)
                same = np.signbit(y) == np.signbit(expected)
                assert (same | np.isnan(y) | bool(value is True)).all(), f'{where}: sign of zero'


# Functions with constant derivatives, whatever the element.
STRAIGHT = {'relu', 'leaky_relu', 'clipped_relu', 'negative', 'positive', 'add'}
STRAIGHT |= {'maximum', 'minimum', 'fmax', 'fmin', 'heaviside', 'modf', 'degrees', 'radians'}


@each(c for c in REFERENCED if c.border and c.order and c.name not in STRAIGHT)
def test_derivatives_at_nan(case, device):
    """NaN propagates through backward, too."""
    function = case.resolve(chx)
    points = [p if isinstance(p, tuple) else (p,) for p, value in case.border if np.isnan(value)]
    for dtype, point, count in itertools.product(case.dtypes, points, (1, 37)):
        if np_dtype(dtype).kind not in 'fV':
            continue
        xs = [make(np.full(count, v, np_dtype(dtype)), None, device) for v in point]
        positions = range(len(xs)) if case.diff is None else case.diff
        of = [xs[i].require_grad() for i in positions if np.isnan(point[i])]
        for gx in chx.grad([function(*xs).sum()], of) if of else ():
            assert np.isnan(to_numpy(gx).astype('f8')).all(), f'{case.name}{point} of {dtype}'


@each(c for c in CASES if c.errors)
def test_errors(case, device):
    """The documented mistakes raise the documented classes and change nothing."""
    for spec, names, *texts in case.errors:
        prepared = Prepared(case, spec, 'float64', device=device)
        before = [v.copy() for v in prepared.values]
        with pytest.raises(error_classes(names)) as info:
            run_to_the_end(case, prepared, device)
        for text in texts:
            where = f'{case.name}({call_text(spec)})'
            assert re.search(text, str(info.value)), f'{where}: {info.value} lacks {text}'
        for x, old in zip(prepared.arrays, before, strict=True):
            np.testing.assert_array_equal(to_numpy(x), old)


@each(c for c in REFERENCED if c.big is not None)
def test_threads_give_same_bits(case, device):
    """1, 2 and 4 threads: the same bits, forward and backward."""
    dtype = 'float32' if 'float32' in case.dtypes else 'int32'
    results = []
    for threads in (1, 2, 4):
        chx.set_num_threads(threads)
        prepared = Prepared(case, case.big, dtype, device=device)
        targets = prepared.differentiable() if case.order and case.diff != () else []
        for n in targets:
            prepared.arrays[n].require_grad()
        ys = run(case, prepared)
        if targets:
            chx.backward(ys)
        ys += [prepared.arrays[n].grad for n in targets]
        results.append([to_numpy(y).tobytes() for y in ys])
    assert results[0] == results[1], 'two threads differ from one'
    assert results[0] == results[2], 'four threads differ from one'


@pytest.mark.parametrize(
    ('actual', 'expected', 'dtype'),
    [
        ([1.0, 2.0], [1.0, 2.001], 'float32'),
        ([1.0, 2.0], [1.0, np.inf], 'float32'),
        ([1.0, np.inf], [1.0, 2.0], 'float64'),
        ([1.0, np.nan], [1.0, 2.0], 'float64'),
        ([1.0, 2.0], [1.0, np.nan], 'float64'),
        ([-np.inf, 2.0], [np.inf, 2.0], 'float64'),
        ([1, 2], [1, 3], 'int8'),
        ([True], [False], 'bool'),
        ([1, 2], [[1, 2]], 'int32'),
    ],
)
def test_what_is_wrong_is_seen(actual, expected, dtype, device):
    """The comparison by which all rows are judged detects errors."""
    right = chx.array(actual, dtype=dtype)
    compare(right, to_numpy(right), dtype, 1, 'same')
    with pytest.raises(AssertionError, match='other'):
        compare(right, expected, dtype, 1, 'other')
    with pytest.raises(AssertionError, match='dtype'):
        compare(right, actual, 'uint16', 1, 'other')


def test_every_op_has_a_case():
    rows = {case.name for case in CASES}
    tested = {id(case.resolve(chx)) for case in CASES if case.fn is None}  # also under another name
    missing, not_ops = [], NOT_OPS.split()
    modules = {f'{name}.': getattr(chx, name) for name in ('fft', 'linalg', 'random', 'special')}
    modules[''] = chx
    for prefix, module in modules.items():
        for name in dir(module):
            value = getattr(module, name)
            public = not name.startswith('_') and callable(value) and not inspect.isclass(value)
            has_row = prefix + name in rows or id(value) in tested
            if public and name not in not_ops and not has_row:
                missing.append(prefix + name)
    assert not missing, f'no row in tests/chainerx/cases for {missing}'


def test_every_case_has_an_op():
    absent = []
    for case in CASES:
        try:
            case.resolve(chx)
        except AttributeError:
            absent.append(case.name)
    assert not absent, f'the table has rows for what does not exist: {absent}'
