"""The part of the check that compares elementwise operations, reductions and layouts."""

from __future__ import annotations

import typing as tp
import zlib

import numpy as np

import chainerx
from chainerx.cuda._check_worker import is_usable

#: Functions of one array, compared over floats of all magnitudes.
UNARY = (
    'exp expm1 exp2 log log1p log2 log10 sqrt cbrt square reciprocal negative abs sign floor ceil '
    'trunc rint sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh sigmoid '
    'relu isnan isinf isfinite logical_not'
)
SPECIAL = 'erf erfc erfcx erfinv ndtr ndtri log_ndtr gammaln digamma i0 i0e i1 i1e expit logit entr'
BINARY = (
    'add subtract multiply divide power maximum minimum fmod remainder floor_divide arctan2 hypot '
    'logaddexp copysign equal less logical_and'
)
#: Functions of complex numbers.
COMPLEX_UNARY = (
    'sqrt exp exp2 expm1 log log1p log2 log10 sin cos tan arcsin arccos arctan sinh cosh tanh '
    'arcsinh arccosh arctanh square reciprocal negative abs conj isnan isinf isfinite'
)
COMPLEX_BINARY = 'add subtract multiply divide power equal logical_and'
REDUCTIONS = 'sum prod max min mean var std any all count_nonzero'
SHAPES: list[tuple[tuple[int, ...], tp.Any]] = [
    ((1000,), None),
    ((70000,), None),
    ((300, 500), 0),
    ((300, 500), 1),
    ((5000, 3), 0),
    ((40, 30, 7), 1),
]


class Checks:
    """Counts comparisons, and prints those that fail; runs one of `every`, by their names."""

    def __init__(self, device: str, every: int = 1) -> None:
        self.device = device
        self.every = every
        self.left_out = 0
        self.failed: list[str] = []
        self.missing: list[str] = []
        self.passed = 0

    def compare(self, name: str, compute: tp.Callable[..., tp.Any], *arrays: np.ndarray) -> None:
        """Compares the bits of the results on the device with those on the CPU."""
        self.close(name, compute, None, *arrays)

    def close(
        self,
        name: str,
        compute: tp.Callable[..., tp.Any],
        tolerance: float | None,
        *arrays: np.ndarray,
    ) -> None:
        """Compares results up to errors of `tolerance` times the largest one."""
        if zlib.crc32(name.encode()) % self.every:
            self.left_out += 1
            return
        with np.errstate(all='ignore'):
            expected = chainerx.to_numpy(compute(*map(chainerx.array, arrays)))
        try:
            on_device = [chainerx.array(x, device=self.device) for x in arrays]
            result = chainerx.to_numpy(compute(*on_device))
        except Exception as error:  # whatever it is, other comparisons are of interest
            if 'is not there on backend' in str(error) or 'no kernels' in str(error):
                self.missing.append(name)
                return
            reason = f'{type(error).__name__}: {error}'.splitlines()[0]
            self.fail(name, reason)
            if not is_usable(self.device):
                raise RuntimeError(f'the GPU failed in {name}: {reason}') from error
            return
        if tolerance is not None and result.shape == expected.shape:
            result = np.where(_are_close(result, expected, tolerance), expected, result)
        if difference := describe_difference(result, expected):
            self.fail(name, difference)
        else:
            self.passed += 1

    def expect(self, name: str, find_fault: tp.Callable[[], str]) -> None:
        """Calls a function that returns what is wrong, or ''."""
        try:
            fault = find_fault()
        except Exception as error:
            fault = f'{type(error).__name__}: {error}'.splitlines()[0]
        if fault:
            self.fail(name, fault)
        else:
            self.passed += 1

    def fail(self, name: str, reason: str) -> None:
        self.failed.append(f'{name}: {reason}')
        print(f'  FAILED {name}: {reason}', flush=True)


def _are_close(result: np.ndarray, expected: np.ndarray, tolerance: float) -> np.ndarray:
    finite = np.abs(expected[np.isfinite(expected)])
    return np.abs(result - expected) <= tolerance * (finite.max() if finite.size else 0)


def describe_difference(result: np.ndarray, expected: np.ndarray) -> str:
    """Says how two arrays differ; NaNs are equal, whatever their bits."""
    if result.dtype != expected.dtype or result.shape != expected.shape:
        return f'{result.dtype}{result.shape} is not {expected.dtype}{expected.shape}'
    if result.dtype.kind == 'c':  # by parts
        part = result.real.dtype
        result, expected = (np.atleast_1d(x).view(part) for x in (result, expected))
    with np.errstate(all='ignore'):
        equal = (result == expected) | ((result != result) & (expected != expected))
    if result.dtype.kind == 'f':
        equal &= (np.signbit(result) == np.signbit(expected)) | (result != result)
    if equal.all():
        return ''
    first = tuple(int(i) for i in np.argwhere(~equal)[0])
    return (
        f'{int((~equal).sum())} of {equal.size} differ, first at {first}: '
        f'{result[first]!r}, expected {expected[first]!r}'
    )


def floats(dtype: str, n: int = 24000) -> np.ndarray:
    """Numbers of all magnitudes: around 1, random bits, and the special ones."""
    random = np.random.default_rng(0)
    bits = np.dtype(dtype).str.replace('f', 'u')
    info = np.finfo(dtype)
    special: list[tp.Any] = [
        0.0,
        -0.0,
        1,
        -1,
        0.5,
        2,
        np.inf,
        -np.inf,
        np.nan,
        88.8,
        -104,
        710,
        -746,
    ]
    special += [info.max, info.min, info.tiny, -info.tiny, info.smallest_subnormal]
    parts = [
        np.array(special, dtype),
        (random.normal(size=n // 4) * 3).astype(dtype),
        random.uniform(-1, 1, n // 4).astype(dtype),
        (random.normal(size=n // 4) * 100).astype(dtype),
        random.integers(0, np.iinfo(bits).max, n // 4, dtype=bits).view(dtype),
    ]
    return np.concatenate(parts)


def check_elementwise(checks: Checks) -> None:
    for dtype in ('float32', 'float64'):
        x = floats(dtype)
        y = np.roll(x, 7)
        for name in UNARY.split():
            checks.compare(f'{name} {dtype}', getattr(chainerx, name), x)
        for name in SPECIAL.split():
            checks.compare(f'special.{name} {dtype}', getattr(chainerx.special, name), x)
        for name in BINARY.split():
            checks.compare(f'{name} {dtype}', getattr(chainerx, name), x, y)
    numbers = np.arange(-3000, 3000)
    for dtype in ('int8', 'uint8', 'int32', 'int64', 'float16', 'bool'):
        x = numbers.astype(dtype)
        checks.compare(f'multiply {dtype}', chainerx.multiply, x, x[::-1])
        checks.compare(f'astype {dtype}', lambda a: a.astype('float32'), x)
        checks.compare(f'equal {dtype}', chainerx.equal, x, np.roll(x, 1))


def check_complex(checks: Checks) -> None:
    random = np.random.default_rng(5)
    special = [0.0, -0.0, 1, -1, 0.5, -2.5, 100, 710, 1e-40, 1e200, np.inf, -np.inf, np.nan]
    for dtype in ('complex64', 'complex128'):
        with np.errstate(all='ignore'):
            borders = np.array([complex(a, b) for a in special for b in special]).astype(dtype)
        parts = random.normal(size=(3000, 2)) * random.choice([1e-3, 1, 30, 1e3], (3000, 1))
        x = np.concatenate([borders, (parts[:, 0] + 1j * parts[:, 1]).astype(dtype)])
        y = np.roll(x, 17)
        for name in COMPLEX_UNARY.split():
            checks.compare(f'{name} {dtype}', getattr(chainerx, name), x)
        for name in COMPLEX_BINARY.split():
            checks.compare(f'{name} {dtype}', getattr(chainerx, name), x, y)
        numbers = x[len(borders) :]
        for other in ('bool', 'int32', 'float16', 'float32', 'complex64', 'complex128'):
            checks.compare(f'{dtype} to {other}', lambda a, to=other: a.astype(to), numbers)
        for name in ('sum', 'prod', 'mean', 'var', 'std', 'any', 'count_nonzero'):
            function = getattr(chainerx, name)
            for axis in (None, 0, 1):
                checks.compare(
                    f'{name} {dtype} {axis}',
                    lambda a, function=function, axis=axis: function(a, axis=axis),
                    numbers.reshape(30, 100) / 30,
                )
        for name in ('sort', 'argsort'):
            checks.compare(f'{name} {dtype}', getattr(chainerx, name), np.round(x))
        checks.compare(f'cumsum {dtype}', lambda a: chainerx.cumsum(a, axis=0), x[-400:])
    # In float64, whose logarithms and powers are not those of the CPU.
    random = np.random.default_rng(8)
    a, b, x = (np.exp(random.normal(size=2000) * 2.5) for _ in range(3))
    p = random.uniform(size=2000)
    for name, arrays in (
        ('gammainc', (a, x)),
        ('gammaincinv', (a, p)),
        ('betainc', (a, b, p)),
        ('log_betaincc', (a, b, p)),
    ):
        checks.close(f'special.{name}', getattr(chainerx.special, name), 1e-12, *arrays)


def check_reductions(checks: Checks) -> None:
    random = np.random.default_rng(1)
    for dtype in ('float32', 'float64', 'int32'):
        for shape, axis in SHAPES:
            x = (random.normal(size=shape) * 3).astype(dtype)
            for name in REDUCTIONS.split():
                function = getattr(chainerx, name)
                checks.compare(
                    f'{name} {dtype} {shape} {axis}',
                    lambda a, function=function, axis=axis: function(a, axis=axis),
                    x,
                )


def check_layouts(checks: Checks) -> None:
    x = np.arange(60000, dtype='float32').reshape(20, 30, 100)
    row = np.arange(100, dtype='float32')
    checks.compare('transposed copy', lambda a: a.transpose(2, 0, 1).copy(), x)
    checks.compare('negative strides', lambda a: a[::-2, :, ::-3] * 2, x)
    checks.compare('row broadcast', lambda a, b: a + b, x, row)
    checks.compare('column broadcast', lambda a: a - a[:, :, :1], x)
    checks.compare('unaligned', lambda a: a.ravel()[1:] * 3, x)
    checks.compare('empty', lambda a: a[:0] + 1, x)


def check_scatter(checks: Checks) -> None:
    def add(i: tp.Any, values: tp.Any) -> tp.Any:
        out = chainerx.zeros((700, 3), values.dtype, device=i.device)
        chainerx.add_at(out, i, values)
        return out

    def assign(i: tp.Any, values: tp.Any) -> tp.Any:
        out = chainerx.zeros((700, 3), values.dtype, device=i.device)
        out[i] = values
        return out

    random = np.random.default_rng(5)
    for n in (2000, 20000):
        indices = random.integers(-700, 700, n)
        for dtype in ('float16', 'float32', 'int64'):
            values = (random.normal(size=(n, 3)) * 10).astype(dtype)
            checks.compare(f'add_at {dtype} {n}', add, indices, values)
            checks.compare(f'assign {dtype} {n}', assign, indices, values)
        weights = random.normal(size=n)
        checks.compare(
            f'bincount {n}', lambda i, w: chainerx.bincount(i, weights=w), abs(indices), weights
        )
