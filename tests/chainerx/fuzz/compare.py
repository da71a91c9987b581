"""Properties that must hold after a call."""

import warnings

import chainerx as chx
import numpy as np

from fuzz.arenas import Arena
from fuzz.calls import FUNCTIONS

# Exceptions that chainerx raises for invalid arguments. The user's own objects raise ValueError.
DOCUMENTED = (chx.ChainerxError, TypeError, ValueError, IndexError, MemoryError, BufferError)
DOCUMENTED += (OverflowError, AttributeError, ZeroDivisionError, np.exceptions.TooHardError)

# Functions whose NumPy counterpart differs, or has other values.
DIFFERENT = {
    'arange': 'the dtype is that of step, as in the original',
    'empty': 'values are not set',
    'empty_like': 'values are not set',
    'ndarray.view': 'reinterprets memory in NumPy',
    'reciprocal': 'of integers it is an integer in NumPy',
    'strides': 'an axis of length 1 may have any',
    'partition': 'the order on either side of the place is open',
    'argpartition': 'the same',
    'ndarray.partition': 'the same',
    'ndarray.argpartition': 'the same',
    'linspace': 'integers are rounded down in NumPy, toward 0 here',
    'searchsorted': 'the place in an array that is not sorted is open',
    'ndarray.searchsorted': 'the same',
}
# The same for arrays of some dtypes only.
UNSIGNED, INTEGERS = ('uint',), ('int', 'uint')
DIFFERENT_OF = {
    'gradient': (UNSIGNED, 'they wrap in NumPy'),
    'percentile': (INTEGERS, 'differences of theirs wrap in NumPy'),
    'quantile': (INTEGERS, 'the same'),
    'nanpercentile': (INTEGERS, 'the same'),
    'nanquantile': (INTEGERS, 'the same'),
    'trapezoid': ((*INTEGERS, 'bool'), 'differences and products of theirs wrap in NumPy'),
    'unwrap': (INTEGERS, 'their period is an integer in NumPy'),
    'nanstd': ((*INTEGERS, 'bool', 'float16'), 'squares are of their dtype in NumPy, which wraps'),
    'nanvar': ((*INTEGERS, 'bool', 'float16'), 'the same'),
    'nextafter': ((*INTEGERS, 'bool'), 'float64 in NumPy, as for all functions, but next to what'),
    'spacing': (
        (*INTEGERS, 'bool', 'float16'),
        'the same; at powers of 2 below 0 it is half there',
    ),
}
# Functions with results in unspecified order, which NumPy makes use of.
UNORDERED = ('unique_values',)
RTOL = {'float16': 2e-2, 'float32': 2e-4, 'float64': 1e-9, 'complex64': 2e-4, 'complex128': 1e-9}


class TookLong(Exception):
    """The call exceeded its time limit, and has reacted to it."""


class Finding(Exception):
    """An error that was found."""


def outcome(draft, arena):
    """The result of the call, or the error that it raises."""
    try:
        with warnings.catch_warnings(), np.errstate(all='ignore'):
            warnings.simplefilter('ignore')
            return draft.run(arena), None
    except TookLong:
        raise
    except Exception as error:
        return None, error


def check(draft):
    """Makes the call in both arenas. Returns what became of it.

    Raises:
        Finding: If an error is not a documented one or has changed an array, or if values differ.
    """
    ours = Arena(chx, draft.blocks)
    before = ours.contents()
    result, error = outcome(draft, ours)
    after = ours.contents()
    if error is not None:
        of_numpy = 'Inconsistent object during array creation' in str(error)
        if not isinstance(error, DOCUMENTED) and not of_numpy:
            raise Finding(f'{type(error).__name__} is not documented: {error}') from error
        # Python's own error for a sequence that claims a huge length has no message.
        if not str(error).strip() and type(error) is not MemoryError:
            raise Finding(f'{type(error).__name__} has no message')
        if after != before and draft.exact:
            raise Finding(f'arrays changed, though it raised {type(error).__name__}: {error}')
    # NumPy is called only with accepted arguments: it crashes at np.zeros(12).repeat(2**62), and a
    # search in a broadcast view of 2^62 elements would not end.
    if error is not None:
        return 'raised'
    if draft.name.endswith('take') and any(type(a) is int and abs(a) > 1 << 31 for a in draft.args):
        return 'returned'  # NumPy wraps an index by multiples of the axis
    if not draft.has_twin or is_different(draft) or draft.name.startswith('random.'):
        return 'returned'
    if 'where' in draft.kwargs and is_elementwise(draft.name.rpartition('.')[2]):
        # Without `out`, masked elements are uninitialized in NumPy; with an `out` of another dtype,
        # they are cast to that of the result and back.
        return 'returned'
    theirs = Arena(np, draft.blocks)
    theirs_before = theirs.contents()
    try:
        expected, their_error = outcome(draft, theirs)
    except TookLong:
        return 'returned'
    if their_error is not None:
        return 'returned, not in NumPy'
    if not draft.blocks and is_overflow(result, expected):
        return 'returned'  # numbers without arrays are float32 here, whose squares may be infinite
    if draft.name in UNORDERED:
        expected = np.sort(expected)
    # Numbers beyond 2^10 are computed in float32 here, but in float64 or float16 in NumPy.
    large = any(b.values.dtype.kind in 'iu' and not in_range(b.values) for b in draft.blocks)
    large |= any(isinstance(a, int | float) and abs(a) > 1024 for a in draft.args)
    if any(b.values.dtype.name == 'bfloat16' and not finite(b.values) for b in draft.blocks):
        large = True
        if is_integer(result):  # the integer that an infinity is cast to depends on the processor
            return 'returned'
    # A wide `out` receives values computed in the dtype of the operands, float16 for bytes.
    dtypes = {b.values.dtype for b in draft.blocks}
    into = len(dtypes) > 1 and ('out' in draft.kwargs or has_out(draft))
    narrow = any(dtype.itemsize == 1 for dtype in dtypes)
    rtol = RTOL['float16' if narrow else 'float32'] if into else 0
    compare(result, expected, 'the result', large, rtol)
    if draft.exact:
        for k, (x, e) in enumerate(zip(ours.whole, theirs.whole, strict=True)):
            compare(x, e, f'block{k}', rtol=rtol)
        if after == before and theirs.contents() != theirs_before:
            raise Finding('NumPy has written, chainerx has not')
    return 'compared'


def is_different(draft):
    dtypes = DIFFERENT_OF.get(draft.name, ((), ''))[0]
    of = any(b.values.dtype.name.startswith(dtypes) for b in draft.blocks)
    # NumPy computes these in the dtype of the array first.
    late = draft.name in ('nanstd', 'nanvar', 'spacing')
    late = late and not {'mean', 'dtype'}.isdisjoint(draft.kwargs)
    return of or late or draft.name in DIFFERENT


def is_elementwise(name):
    """Whether it has a ``where`` that does not belong to a reduction (NumPy's are all methods)."""
    return not hasattr(np.ndarray, name) or name in ('clip', 'conj', 'conjugate')


def has_out(draft):
    """Whether an elementwise function gets ``out`` as a positional argument."""
    names = [p.name for p in FUNCTIONS.get(draft.name, ())]
    return 'out' in names and len(draft.args) > names.index('out')


def finite(values):
    return bool(np.isfinite(values.astype('f4')).all())


def is_overflow(x, expected):
    is_narrow = isinstance(x, chx.ndarray) and x.dtype in (np.float32, np.complex64)
    return is_narrow and not finite(chx.to_numpy(x)) and np.isfinite(expected).all()


def is_integer(x):
    return isinstance(x, chx.ndarray) and x.dtype.kind in 'iu'


def in_range(values):
    return bool(((values < 1024) & (values > -1024)).all()) if values.itemsize > 1 else True


def compare(x, expected, what, large=False, rtol=0):
    if isinstance(x, list | tuple) and isinstance(expected, list | tuple):
        if len(x) != len(expected):
            raise Finding(f'{what}: {len(x)} items, NumPy has {len(expected)}')
        for n, (a, b) in enumerate(zip(x, expected, strict=True)):
            compare(a, b, f'{what}[{n}]', large, rtol)
        return
    if isinstance(x, chx.ndarray) and isinstance(expected, np.ndarray | np.generic):
        if x.shape != expected.shape:
            raise Finding(f'{what}: shape {x.shape}, NumPy {expected.shape}')
        if x.size < 1 << 16 and not (large and x.dtype != expected.dtype):
            compare_values(chx.to_numpy(x), np.asarray(expected), what, rtol)
    elif isinstance(x, bool | int | float | complex) and np.isscalar(expected):
        compare_values(np.asarray(x), np.asarray(expected), what, rtol)


@np.errstate(all='ignore')
def compare_values(x, expected, what, rtol):
    if 'bfloat16' in (x.dtype.name, expected.dtype.name):
        return
    kinds = x.dtype.kind + expected.dtype.kind
    if x.dtype != expected.dtype and ('f' not in kinds and 'c' not in kinds):
        return  # of other widths
    if kinds[0] == 'b':
        x, expected = x.view('u1') != 0, expected.view('u1') != 0
        if not np.array_equal(x, expected):
            raise Finding(f'{what}: {x.tolist()}, NumPy {expected.tolist()}')
        return
    rtols = [RTOL[d.name] for d in (x.dtype, expected.dtype) if d.name in RTOL]
    if not rtols:
        same = x == expected
    else:
        a, b = x.astype('c16'), expected.astype('c16')
        if kinds == 'ff' and x.itemsize < expected.itemsize:  # int32 with float32 is float32 here
            b = expected.astype(x.dtype).astype('c16')
        finite = np.isfinite(a) & np.isfinite(b)
        scale = np.abs(np.where(finite, b, 0)).max(initial=0) + 1
        close = np.abs(a - b) <= max(*rtols, rtol) * scale
        if 'c' in kinds or 'float16' in (x.dtype.name, expected.dtype.name):
            same = close | ~finite  # it is unspecified which of the parts is infinite, and when
        else:
            same = np.where(finite, close, (a == b) | (np.isnan(a) & np.isnan(b)))
    if not same.all():
        at = tuple(int(i) for i in np.argwhere(~np.asarray(same))[0])
        text = f'{what}: {x[at]} {x.dtype} at {at}, NumPy {expected[at]} {expected.dtype}'
        raise Finding(f'{text}; {x.tolist()}, NumPy {expected.tolist()}'[:600])
