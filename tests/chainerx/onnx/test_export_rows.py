"""Every row of the table of operations, exported and run with numbers that are new to it."""

import inspect
import pathlib
import warnings

import chainerx as chx
import numpy as np
import pytest
from cases import CASES
from cases._harness import RTOL, Prepared, call_text, ids, name_of, to_numpy
from cases._table import seeded
from chainerx import onnx
from chainerx.func import _tree
from chainerx.onnx._routine import COMPOSITIONS, ROWS
from onnx_runtimes import run

_LINES = (pathlib.Path(__file__).parent / 'not_exported.txt').read_text().splitlines()
NOT_EXPORTED = dict(line.split(': ', 1) for line in _LINES if not line.startswith('#'))

# What is refused of rows that are written else: parts of the messages.
PARTLY = {
    'any all isin max min amax amin': 'of no elements',
    'mean var batch_norm layer_norm rms_norm group_norm': 'mean of no elements',
    'median quantile percentile': 'has no elements',
    'quantile percentile': ('for method', 'its argument weights'),
    'var std nanmean nanvar': 'its argument where',
    'nanmax nanmin': 'its argument initial',
    'conv': 'no Conv of ',
    'conv_transpose': 'no ConvTranspose of ',
    'max_pool': 'no MaxPool of ',
    'average_pool': 'padding of 2 for a window of 2',
    'unpool': 'without channels',
    'power float_power': 'no Pow of uint64',
    'argwhere nonzero': 'array without axes',
    'putmask': 'values of another shape',
    'fill_diagonal': ('with wrap', 'several values'),
    'put_along_axis': 'without an axis',
    'einsum': ('that broadcasts', 'dots are other', 'without a string'),
    'linalg.matrix_power': 'no inverse',
    'linalg.inv linalg.solve': 'of any size',
    'linalg.cholesky': 'factors of batches',
    'linalg.norm linalg.matrix_norm': 'singular values',
    'cov': ('its argument fweights', 'its argument aweights'),
    'pad': ('of Pad', 'with several values', 'reflect that is longer', 'its argument'),
    'resize': 'of no elements',
    'trapezoid': 'other lengths',
    'interp': 'its argument period',
    'vander': 'no columns',
    'isin searchsorted': 'of uint64 and int64',
    'searchsorted': 'its argument sorter',
    'max_pool_indices max_pool': 'positions within windows',
}
# Rows whose results are one of several, or of numbers that runtimes order otherwise.
OTHER_ORDER = ('partition', 'argpartition')
HAS_NAN = ('unique', 'unique_values', 'unique_counts', 'unique_inverse', 'unique_all')
OPSET = 20


def is_tested(case):
    return not case.name.startswith('random.') and 'dropout' not in case.name


def of_numbers(case):
    return [d for d in case.dtypes if 'complex' not in d]


ROWS_OF_TABLE = [
    pytest.param(case, dtype, id=f'{name}-{dtype}')
    for case, name in zip(CASES, ids(CASES), strict=True)
    if is_tested(case)
    for dtype in of_numbers(case)
]


def function_of(case, spec):
    routine = case.resolve(chx)  # a case refers to a lot, where `export` would look for arrays

    def function(*xs):
        it = iter(xs)
        return spec.map(lambda a: next(it)).run(routine)

    return function


def calls_of(case, dtype, is_full):
    """Calls that work, with their functions and arrays; of many, a third for each dtype."""
    calls = case.calls
    if not is_full and len(calls) > 4:
        calls = calls[case.dtypes.index(dtype) % 3 :: 3]
    for spec in calls:
        if not list(spec.arrays()) or [] in [v for v in spec.args if type(v) is list]:
            continue  # lists without elements become floats, beside a batch
        function = function_of(case, spec)
        try:
            arrays = Prepared(case, spec, dtype).arrays
            function(*[x.copy() for x in arrays])
        except Exception:
            continue
        yield spec, function, arrays


def redrawn(case, spec, dtype):
    rng = seeded('other numbers', case.name, dtype)
    return [np.asarray(arg.draw(rng, dtype)) for arg in spec.arrays()]


def is_known(case, message):
    for names, parts in PARTLY.items():
        parts = (parts,) if isinstance(parts, str) else parts
        if case.name in names.split() and any(part in message for part in parts):
            return True
    return 'complex' in message


def exported(case, function, arrays, opset):
    """The model, None if it is refused, which must be known."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            return onnx.export(function, tuple(arrays), opset_version=opset)
    except (ValueError, TypeError) as error:
        message = str(error)
        assert message.startswith('export:'), message
        is_known_here = case.name in NOT_EXPORTED or is_known(case, message)
        assert is_known_here or (opset < OPSET and 'has first' in message), (
            f'{case.name}: {message}'
        )
        return None


def check(actual, expected, tol, where):
    assert actual.shape == expected.shape, where
    if name_of(expected.dtype) != 'bfloat16':
        assert actual.dtype == expected.dtype, where
    if expected.dtype.kind in 'biu':
        np.testing.assert_array_equal(actual, expected, err_msg=where)
        return
    a, e = actual.astype('f8'), expected.astype('f8')
    rtol = RTOL[name_of(expected.dtype)] * 30 * tol
    scale = max(1, np.abs(e[np.isfinite(e)]).max(initial=0))
    np.testing.assert_allclose(a, e, rtol=rtol, atol=rtol * scale, err_msg=where)


@pytest.mark.parametrize(('case', 'dtype'), ROWS_OF_TABLE)
def test_row(case, dtype, request):
    check_row(case, dtype, OPSET, request.config.getoption('--full'))


@pytest.mark.parametrize('opset', [7, 9, 11, 13, 23])
@pytest.mark.parametrize(('case', 'dtype'), [p for p in ROWS_OF_TABLE if p.values[1] == 'float32'])
def test_row_in_other_versions(case, dtype, opset, request):
    check_row(case, dtype, opset, request.config.getoption('--full'))


def check_row(case, dtype, opset, is_full):
    for spec, function, arrays in calls_of(case, dtype, is_full):
        if max(x.ndim for x in arrays) > 9:
            continue  # windows of 8 axes have 11 in chainerx.onnx
        where = f'{case.name}({call_text(spec)})'
        proto = exported(case, function, arrays, opset)
        if proto is None:
            continue
        assert case.name not in NOT_EXPORTED, where
        fresh = redrawn(case, spec, dtype)
        try:
            expected = _tree.flatten(function(*map(chx.array, fresh)))[0]
        except Exception:
            continue  # indices that follow from the first numbers
        if case.name in HAS_NAN and np.isnan(fresh[0].astype('f8')).any():
            continue
        if case.name == 'interp' and dtype == 'bool':
            continue  # its points do not ascend
        actual, _ = run(proto, fresh)
        assert len(actual) == len(expected), where
        for y, e in zip(actual, expected, strict=True):
            e = to_numpy(e)
            if case.name.removeprefix('ndarray.') in OTHER_ORDER:
                assert y.shape == e.shape
                assert y.dtype == e.dtype
                if 'arg' not in case.name:
                    y, e = np.sort(y, None), np.sort(e, None)
                    np.testing.assert_array_equal(y, e, err_msg=where)
                continue
            check(y, e, case.tol, where)


def test_what_is_not_exported_exists():
    names = {case.name for case in CASES}
    assert set(NOT_EXPORTED) <= names
    assert all(NOT_EXPORTED.values())


def test_every_row_is_of_a_routine():
    """A misspelled name would never be found."""
    known = {'_max', '_min', '_relu', 'max_unpool'}
    for name in {**ROWS, **COMPOSITIONS}:
        owner = chx
        if name.startswith('ndarray.at.'):
            owner, name = type(chx.zeros(1).at[0]), name.removeprefix('ndarray.at.')
        for part in name.split('.'):
            owner = getattr(owner, part, None) or getattr(chx._core, part, None)
        assert owner is not None or name in known, name


def test_rows_have_the_parameters_of_their_routines():
    for name, row in {**ROWS, **COMPOSITIONS}.items():
        if name.startswith(('ndarray.', '_')):
            continue
        owner = chx
        for part in name.split('.'):
            owner = getattr(owner, part)
        theirs = list(inspect.signature(owner).parameters)
        mine = [
            p.name
            for p in inspect.signature(row).parameters.values()
            if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name not in ('g', 'dtype')
        ]
        optional = [p for p in mine if p in theirs]
        positional = [
            p.name for p in inspect.signature(owner).parameters.values() if p.default is not p.empty
        ]
        unknown = [p for p in mine if p not in theirs and p not in positional]
        n_required = len(theirs) - len(positional)
        assert len(unknown) <= n_required, (name, unknown, optional)
