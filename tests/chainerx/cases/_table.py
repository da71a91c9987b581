"""The row of the table: an op, its reference, its calls and the expected results.

A row says only what is special about its op; the loops over devices, dtypes, layouts, derivatives
and errors are in `test_ops.py` and `test_errors.py`.
"""

import dataclasses
import itertools
import math
import typing as tp
import zlib
from collections.abc import Callable

import numpy as np

from cases import _promotion as p
from cases._promotion import ALL, BOOL, COMPLEX, FLOATS, INTS, NUMERIC, REAL

__all__ = ['ALL', 'BOOL', 'COMPLEX', 'FLOATS', 'INTS', 'NOT_OPS', 'NUMERIC', 'REAL']
__all__ += ['Arg', 'Call', 'Case', 'b', 'c', 'call', 'f', 'i', 'own', 'seeded', 'turned']


# Public callables that are not array routines; test_context_device.py, test_autograd.py,
# test_dlpack.py, test_config.py, test_memory_stats.py, test_profile.py, test_numpy_functions.py,
# test_index_tricks.py, test_files.py and test_capture.py test them.
NOT_OPS = """
    context_scope get_backend get_default_context get_default_device get_device
    get_global_default_context is_available set_default_context set_default_device
    set_global_default_context using_device get_num_threads set_num_threads
    backprop_scope backward check_backward check_double_backward force_backprop_mode grad
    is_backprop_required no_backprop_mode value_and_grad
    from_dlpack free_memory_cache get_memory_info set_memory_cache_limit
    memory_stats reset_peak_memory_stats profile config_info show_config capture
    can_cast finfo iinfo iscomplexobj isdtype isrealobj isscalar promote_types result_type
    shape ndim size broadcast_shapes shares_memory may_share_memory
    apply_along_axis apply_over_axes mask_indices piecewise vectorize astype
    asarray_chkfinite common_type genfromtxt isfortran issubdtype iterable load ndenumerate save
    savetxt savez savez_compressed
"""


@dataclasses.dataclass(frozen=True)
class Arg:
    """An array argument: shape, range of its values, and its dtype if it doesn't vary."""

    shape: tuple
    lo: float = -2.0
    hi: float = 2.0
    avoid: tuple = ()  # values keep a distance of at least `gap` from these
    gap: float = 0.15
    distinct: bool = False  # all values differ, for ops with kinks at ties
    dtype: str | None = None
    data: tp.Any = None
    complex_data: tp.Any = None  # the replacement for complex dtypes

    def draw(self, rng, dtype):
        """Values for this argument, as a NumPy array of `dtype` (or its own)."""
        dtype = self.dtype or dtype
        kind = p.category(dtype)
        if kind == 3 and self.complex_data is not None:
            return np.array(self.complex_data).astype(np_dtype(dtype))
        if self.data is not None:
            return np.array(self.data).astype(np_dtype(dtype))
        if kind == 0:
            return rng.integers(0, 2, self.shape).astype(bool)
        if kind == 1:
            lo = math.ceil(self.lo) if dtype in p.SIGNED else max(0, math.ceil(self.lo))
            values = [v for v in range(lo, math.floor(self.hi) + 1) if v not in self.avoid]
            values = values or [1, 2, 3]  # a range between two integers, or below zero
            if self.distinct:
                start = max(0, lo)
                return (rng.permutation(math.prod(self.shape)).reshape(self.shape) + start).astype(
                    dtype
                )
            return rng.choice(values, self.shape).astype(dtype)
        values = self._reals(rng)
        if kind == 3:
            values = values + 1j * self._reals(rng)
        return values.astype(np_dtype(dtype))

    def _reals(self, rng):
        if self.distinct:
            n = max(1, math.prod(self.shape))
            values = self.lo + (self.hi - self.lo) * (rng.permutation(n) + 0.5) / n
            values = values[: math.prod(self.shape)].reshape(self.shape)
        else:
            values = rng.uniform(self.lo, self.hi, self.shape)
        for point in self.avoid:
            near = np.abs(values - point) < self.gap
            side = np.where(values < point, -1.0, 1.0)
            if point <= self.lo:
                side = 1.0
            values = np.where(near, point + side * self.gap, values)
        return values


def np_dtype(name):
    if name == 'bfloat16':
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def f(*shape, **kw):
    """An array that takes each of the op's dtypes in turn."""
    return Arg(shape, **kw)


def own(dtype, *shape, **kw):
    """An array of one fixed dtype."""
    return Arg(shape, dtype=dtype, **kw)


def i(*shape, lo=0, hi=3, dtype='int64', **kw):
    """An array of integers, such as indices; `hi` is the largest value."""
    return Arg(shape, lo=lo, hi=hi, dtype=dtype, **kw)


def b(*shape, **kw):
    return Arg(shape, dtype='bool', **kw)


def c(data, dtype=None, complex_data=None):
    """An array of given values, of each dtype in turn or of one."""
    return Arg(np.shape(data), dtype=dtype, data=data, complex_data=complex_data)


def turned(data, similar=False):
    """Matrices, and complex ones of the same singular values; the same eigenvalues if `similar`.

    Those of symmetric ones are Hermitian then.
    """
    m, n = data.shape[-2:]
    left = np.exp(1j * np.arange(m))[:, None]
    right = left.conj().T if similar else np.exp(2j + 3j * np.arange(n))
    return c(data, complex_data=left * data * right)


@dataclasses.dataclass(frozen=True)
class Call:
    args: tuple
    kw: dict

    def arrays(self):
        """All `Arg`s, including those inside of lists and tuples."""
        for x in (*self.args, *self.kw.values()):
            yield from _arrays(x)

    def map(self, function):
        """The call with each `Arg` replaced."""
        args = tuple(_map(x, function) for x in self.args)
        return Call(args, {k: _map(v, function) for k, v in self.kw.items()})

    def run(self, function):
        return function(*self.args, **self.kw)


def _arrays(x):
    if isinstance(x, Arg):
        yield x
    elif isinstance(x, (list, tuple)):
        for y in x:
            yield from _arrays(y)


def _map(x, function):
    if isinstance(x, Arg):
        return function(x)
    if isinstance(x, (list, tuple)) and any(True for _ in _arrays(x)):
        return type(x)(_map(y, function) for y in x)
    return x


def call(*args, **kw):
    return Call(args, kw)


OUT = {
    'same': p.promote,
    'float': lambda *d: p.math(p.promote(*d)),
    'divide': lambda *d: p.math(p.promote(*d)),
    'abs': lambda *d: p.real(p.promote(*d)),
    'real': lambda *d: p.real(p.math(p.promote(*d))),
    'total': lambda *d: p.total(p.promote(*d)),
    'bool': lambda *d: 'bool',
    'int64': lambda *d: 'int64',
    'bits': p.bits,
    'first': lambda *d: d[0],
}


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """One row. All but the name and the reference has a default that suits most ops."""

    name: str  # as reached from the module: 'add', 'random.normal'
    ref: Callable | None = None  # NumPy or SciPy, called with float64, complex128 or int64
    inputs: list | None = None  # shorthand for one call
    calls: list | None = None
    sig: str = ''  # parameter names in order; positional and keyword calls must agree
    dtypes: tuple = REAL  # all others must raise DtypeError ...
    maybe: tuple = ()  # ... except these, which must raise it or be right
    unchecked: tuple = ()  # unspecified: not tested
    out: tp.Any = 'same'  # key of OUT, name of a dtype, or function of the arrays' dtypes
    order: int = 2  # highest order of derivatives
    diff: tuple | None = None  # indices among the arrays that have them (None: all floats)
    elastic: bool = False  # arguments take any shapes that broadcast
    bools: str = 'no'  # binary ops: bool 'no', 'yes', or in a 'pair' only
    binary: bool = False  # run all pairs of dtypes
    scalar: bool = False  # either side may be a Python scalar
    tol: float = 1.0  # factor on the tolerance of the dtype
    gtol: float = 1.0  # the same for gradients
    border: tp.Any = ()  # {value or tuple: exact result}; pairs where 0.0 and -0.0 are both keys
    errors: list = dataclasses.field(default_factory=list)  # (call, exception name[, text])
    big: Call | None = None  # call that is large enough for several threads
    huge: bool = True  # 2**62-sized inputs end at once (an error, or a view)
    check: Callable | None = None  # check(xp, device): for routines without a reference
    layouts: bool = True
    # Whose sums have an order that each backend chooses: a 'product', 'convolution', 'attention'.
    # All other results have the same bits on every device, but for those that tests list.
    sums: str = ''
    fn: Callable | None = None  # the callable if it is not a single routine: gets the arrays
    multi: type | None = None  # list or tuple: the type of the op's result

    def resolve(self, module):
        """The function under test."""
        if self.fn is not None:
            return self.fn
        for part in self.name.split('.'):
            module = getattr(module, part)
        return module

    def __post_init__(self):
        set_ = object.__setattr__
        calls = list(self.calls or ())
        if self.inputs is not None:
            calls.insert(0, call(*self.inputs))
        set_(self, 'calls', calls)
        if isinstance(self.border, dict):
            set_(self, 'border', tuple(self.border.items()))
        if self.elastic:
            set_(self, 'calls', calls + self._elastic_calls(calls[0]))
            if self.big is None:
                set_(self, 'big', calls[0].map(lambda a: dataclasses.replace(a, shape=(50021,))))

    def _elastic_calls(self, first):
        def shaped(*shapes):
            it = itertools.cycle(shapes)
            return first.map(lambda a: dataclasses.replace(a, shape=next(it)))

        result = [shaped(()), shaped((0,)), shaped((2, 0, 3)), shaped((67,)), shaped((2, 1, 3, 2))]
        if len(list(first.arrays())) > 1:
            result += [shaped((2, 3), (3,)), shaped((3, 1), (1, 4)), shaped((), (2, 2))]
            result += [shaped((2, 0), (1, 1)), shaped((40, 1), (1, 5)), shaped((1,), (7,))]
        return result

    def result_dtype(self, dtypes, kw):
        """Expected dtype of the result, or None if the row does not specify it."""
        if 'dtype' in kw and kw['dtype'] is not None:
            return np.dtype(kw['dtype']).name if kw['dtype'] != 'bfloat16' else 'bfloat16'
        if callable(self.out):
            return self.out(*dtypes)
        return OUT[self.out](*dtypes) if self.out in OUT else self.out

    def __repr__(self):
        return self.name


def seeded(*words):
    """Random generator whose numbers depend only on the words, not on the order of the tests."""
    return np.random.default_rng(zlib.crc32(' '.join(map(str, words)).encode()))
