"""Figures of the check: how long work takes, beside PyTorch where that is installed.

Both run in turn in one process. Where there is no PyTorch, its times on an H100 stand instead.
"""

from __future__ import annotations

import dataclasses
import statistics
import time
import typing as tp

import chainerx
from chainerx import cuda

Work = tp.Callable[[], object]

#: What a batch of calls takes at least, how many calls it has at most, and how many batches.
_SECONDS: tp.Final = 0.02
_MOST_CALLS: tp.Final = 500
_ROUNDS: tp.Final = 7

MS: tp.Final = 1e-3
US: tp.Final = 1e-6
#: Where and when PyTorch took the times of the table.
SOURCE: tp.Final = 'PyTorch 2.11 on an H100, 2026-11'


class Setting:
    """What a figure is made of.

    Parameters
    ----------
    device : str
        The GPU.
    torch : module
        PyTorch, or None where there is none.
    small : bool
        Whether sizes are small, to try the work, not to measure it.
    """

    def __init__(self, device: str, torch: tp.Any = None, small: bool = False) -> None:
        self.device = device
        self.torch = torch
        self.small = small

    def size(self, n: int, small: int = 70) -> int:
        """Returns a size, or a small one."""
        return min(n, small) if self.small else n

    def draw(self, *shape: int, dtype: str = 'float32') -> tp.Any:
        """Returns an array of the GPU of normal numbers."""
        generator = chainerx.random.default_rng(0)
        numbers = generator.normal(size=shape, dtype='float32', device=self.device)
        return numbers.astype(dtype, copy=False)

    def torch_draw(self, *shape: int, dtype: str = 'float32') -> tp.Any:
        """Returns a tensor of the same GPU of normal numbers."""
        return self.torch.randn(shape, device=self.device, dtype=getattr(self.torch, dtype))


@dataclasses.dataclass(frozen=True)
class Figure:
    """One piece of work, and how long it may take.

    Attributes
    ----------
    name : str
        What is done.
    h100 : float
        What PyTorch takes on an H100: seconds, or bytes; None if that is not known.
    bar : float
        The most that we may take, as a part of what PyTorch takes; None if there is none.
    ours : callable
        Prepares the work.
    theirs : callable
        Prepares PyTorch's.
    is_memory : bool
        Whether the peak of the memory counts, not the time.
    """

    name: str
    h100: float | None
    bar: float | None
    ours: tp.Callable[[Setting], Work]
    theirs: tp.Callable[[Setting], Work]
    is_memory: bool = False


def _seconds_of_batch(work: Work, synchronize: Work, calls: int) -> float:
    synchronize()
    start = time.perf_counter()
    for _ in range(calls):
        work()
    synchronize()
    return (time.perf_counter() - start) / calls


def seconds_of(works: tp.Sequence[Work], synchronize: Work) -> list[float]:
    """Returns the seconds of one call of each, the median of batches that run in turn."""
    calls = []
    for work in works:
        for _ in range(2):  # compiles kernels, and chooses algorithms
            work()
        once = min(_seconds_of_batch(work, synchronize, 1) for _ in range(2))
        calls.append(min(max(round(_SECONDS / once), 1), _MOST_CALLS))
    rounds = [
        [_seconds_of_batch(w, synchronize, n) for w, n in zip(works, calls, strict=True)]
        for _ in range(_ROUNDS)
    ]
    return [statistics.median(times) for times in zip(*rounds, strict=True)]


def _peak_of(setting: Setting, work: Work) -> float:
    work()
    chainerx.get_device(setting.device).synchronize()
    chainerx.reset_peak_memory_stats(setting.device)
    work()
    return float(chainerx.memory_stats(setting.device)['peak_in_use'] or 0)


def _torch_peak_of(setting: Setting, work: Work) -> float:
    work()
    setting.torch.cuda.reset_peak_memory_stats()
    work()
    setting.torch.cuda.synchronize()
    return float(setting.torch.cuda.max_memory_allocated())


def measure(figure: Figure, setting: Setting) -> dict[str, tp.Any]:
    """Returns what a figure is: ours, PyTorch's and from where, their ratio, and the bar."""
    theirs, source, error = figure.h100, SOURCE, None
    their_work = None
    if setting.torch is not None:
        try:
            their_work = figure.theirs(setting)
            their_work()
        except Exception as e:  # ours is of interest, whatever is broken there
            their_work, error = None, f'{type(e).__name__}: {e}'.splitlines()[0]
    if their_work is not None:
        source = f'PyTorch {setting.torch.__version__}'
    work = figure.ours(setting)
    if figure.is_memory:
        ours = _peak_of(setting, work)
        if their_work is not None:
            theirs = _torch_peak_of(setting, their_work)
    else:
        synchronize = chainerx.get_device(setting.device).synchronize  # of all in the context
        works = [work] if their_work is None else [work, their_work]
        ours, *rest = seconds_of(works, synchronize)
        theirs = rest[0] if rest else theirs
    ratio = None if theirs is None else ours / theirs
    found = {
        'ours': ours,
        'PyTorch': theirs,
        'source': source,
        'ratio': ratio and round(ratio, 3),
        'bar': figure.bar,
        'is met': None if ratio is None or figure.bar is None else ratio <= figure.bar,
        'unit': 'bytes' if figure.is_memory else 'seconds',
    }
    return found | ({'error of PyTorch': error} if error else {})


def run_once(figure: Figure, setting: Setting) -> dict[str, tp.Any]:
    """Does the work on small arrays, without measuring it."""
    figure.ours(setting)()
    chainerx.get_device(setting.device).synchronize()
    return {}


# ---- the host ----


def _add(s: Setting, *, graph: bool = False) -> Work:
    a, b = s.draw(2, 3), s.draw(2, 3)
    if graph:
        a.require_grad()
    return lambda: a + b


def _torch_add(s: Setting, *, graph: bool = False) -> Work:
    a, b = s.torch_draw(2, 3), s.torch_draw(2, 3)
    a.requires_grad_(graph)
    return lambda: a + b


def _item(s: Setting) -> Work:
    a, b = s.draw(2, 3), s.draw(2, 3)
    return lambda: (a + b).sum().item()


def _torch_item(s: Setting) -> Work:
    a, b = s.torch_draw(2, 3), s.torch_draw(2, 3)
    return lambda: (a + b).sum().item()


# ---- 10^8 numbers ----


def _over_all(
    f: tp.Callable[..., object], g: tp.Callable[..., object]
) -> tuple[tp.Callable[[Setting], Work], tp.Callable[[Setting], Work]]:
    """Work on two vectors, the first of which has the rows of a matrix, too."""

    def ours(s: Setting) -> Work:
        n = s.size(10**4)
        x, y = s.draw(n * n), s.draw(n * n)
        matrix, row = x.reshape(n, n), y[:n].copy()
        return lambda: f(x, y, matrix, row)

    def theirs(s: Setting) -> Work:
        n = s.size(10**4)
        x, y = s.torch_draw(n * n), s.torch_draw(n * n)
        matrix, row = x.view(n, n), y[:n].clone()
        return lambda: g(s.torch, x, y, matrix, row)

    return ours, theirs


_BANDWIDTH: tp.Final = [
    # name, GB/s of PyTorch, bytes per number, bar, ours, PyTorch's
    ('a + b', 2900, 12, 1.02, lambda x, y, m, r: x + y, lambda t, x, y, m, r: x + y),
    ('exp', 2930, 8, 1.02, lambda x, y, m, r: chainerx.exp(x), lambda t, x, y, m, r: t.exp(x)),
    ('tanh', 2930, 8, 1.02, lambda x, y, m, r: chainerx.tanh(x), lambda t, x, y, m, r: t.tanh(x)),
    ('sum', 2502, 4, 0.9, lambda x, y, m, r: chainerx.sum(x), lambda t, x, y, m, r: x.sum()),
    ('argmax', 2368, 4, 0.85, lambda x, y, m, r: chainerx.argmax(x), lambda t, x, *_: x.argmax()),
    ('rows + vector', 2387, 8, 0.9, lambda x, y, m, r: m + r, lambda t, x, y, m, r: m + r),
    ('max', 2590, 4, 0.9, lambda x, y, m, r: chainerx.max(x), lambda t, x, *_: x.max()),
    (
        'transposed copy',
        939,
        8,
        0.4,
        lambda x, y, m, r: m.T.copy(),
        lambda t, x, y, m, r: m.t().contiguous(),
    ),
    (
        'cumsum',
        2001,
        8,
        0.85,
        lambda x, y, m, r: chainerx.cumsum(x),
        lambda t, x, y, m, r: t.cumsum(x, 0),
    ),
]


# ---- with backward ----


def _backward(function: tp.Callable[..., tp.Any], arrays: tp.Sequence[tp.Any]) -> Work:
    for x in arrays:
        x.require_grad()
    y = function(*arrays)
    gy = chainerx.ones(y.shape, y.dtype, device=y.device)

    def work() -> None:
        y = function(*arrays)
        for x in arrays:
            x.cleargrad()
        y.grad = gy
        y.backward()

    return work


def _torch_backward(function: tp.Callable[..., tp.Any], arrays: tp.Sequence[tp.Any]) -> Work:
    for x in arrays:
        x.requires_grad_()
    gy = function(*arrays).detach().clone()

    def work() -> None:
        for x in arrays:
            x.grad = None
        function(*arrays).backward(gy)

    return work


def _softmax(s: Setting, rows: int, columns: int) -> Work:
    return _backward(chainerx.softmax, [s.draw(s.size(rows), s.size(columns))])


def _torch_softmax(s: Setting, rows: int, columns: int) -> Work:
    x = s.torch_draw(s.size(rows), s.size(columns))
    return _torch_backward(lambda x: s.torch.softmax(x, 1), [x])


def _layer_norm(s: Setting, rows: int, columns: int) -> Work:
    n = s.size(columns)
    return _backward(chainerx.layer_norm, [s.draw(s.size(rows), n), s.draw(n), s.draw(n)])


def _torch_layer_norm(s: Setting, rows: int, columns: int) -> Work:
    n = s.size(columns)
    arrays = [s.torch_draw(s.size(rows), n), s.torch_draw(n), s.torch_draw(n)]
    norm = s.torch.nn.functional.layer_norm
    return _torch_backward(lambda x, w, b: norm(x, (n,), w, b), arrays)


def _batch_norm(s: Setting) -> Work:
    n, c, h = s.size(64, 3), s.size(256, 5), s.size(56, 7)
    mean, var = (chainerx.ones(c, 'float32', device=s.device) for _ in range(2))

    def norm(x: tp.Any, gamma: tp.Any, beta: tp.Any) -> tp.Any:
        return chainerx.batch_norm(x, gamma, beta, mean, var, axis=(0, 2, 3))

    return _backward(norm, [s.draw(n, c, h, h), s.draw(c), s.draw(c)])


def _torch_batch_norm(s: Setting) -> Work:
    n, c, h = s.size(64, 3), s.size(256, 5), s.size(56, 7)
    mean, var = s.torch_draw(c), s.torch_draw(c).abs()
    norm = s.torch.nn.functional.batch_norm
    arrays = [s.torch_draw(n, c, h, h), s.torch_draw(c), s.torch_draw(c)]
    return _torch_backward(lambda x, w, b: norm(x, mean, var, w, b, training=True), arrays)


def _attention(s: Setting, dtype: str) -> Work:
    q = s.draw(s.size(8, 2), s.size(16, 2), s.size(1024), 64, dtype=dtype)
    return _backward(lambda q: chainerx.scaled_dot_product_attention(q, q, q), [q])


def _torch_attention(s: Setting, dtype: str) -> Work:
    q = s.torch_draw(s.size(8, 2), s.size(16, 2), s.size(1024), 64, dtype=dtype)
    attention = s.torch.nn.functional.scaled_dot_product_attention
    return _torch_backward(lambda q: attention(q, q, q), [q])


# ---- products, orders, random numbers ----


def _product(s: Setting, dtype: str, *, tf32: bool = False) -> Work:
    n = s.size(4096)
    a, b = s.draw(n, n, dtype=dtype), s.draw(n, n, dtype=dtype)

    def work() -> tp.Any:
        before = cuda.allow_tf32(tf32)
        try:
            return a @ b
        finally:
            cuda.allow_tf32(before)

    return work


def _torch_product(s: Setting, dtype: str, *, tf32: bool = False) -> Work:
    n = s.size(4096)
    a, b = s.torch_draw(n, n, dtype=dtype), s.torch_draw(n, n, dtype=dtype)

    def work() -> tp.Any:
        s.torch.backends.cuda.matmul.allow_tf32 = tf32
        return a @ b

    return work


def _sort(s: Setting) -> Work:
    x = s.draw(s.size(10**7, 5000))
    return lambda: chainerx.sort(x)


def _torch_sort(s: Setting) -> Work:
    x = s.torch_draw(s.size(10**7, 5000))
    return lambda: s.torch.sort(x)


def _gather(s: Setting) -> Work:
    n = s.size(10**6)
    x = s.draw(n)
    generator = chainerx.random.default_rng(0)
    indices = generator.integers(0, n, size=s.size(10**7, 500), device=s.device)
    return lambda: x[indices]


def _torch_gather(s: Setting) -> Work:
    n = s.size(10**6)
    x = s.torch_draw(n)
    indices = s.torch.randint(n, (s.size(10**7, 500),), device=s.device)
    return lambda: x[indices]


def _randn(s: Setting) -> Work:
    generator = chainerx.random.default_rng(0)
    n = s.size(10**8, 500)
    return lambda: generator.normal(size=n, dtype='float32', device=s.device)


def _torch_randn(s: Setting) -> Work:
    return lambda: s.torch_draw(s.size(10**8, 500))


def bind(
    make: tp.Callable[..., Work], *args: object, **options: object
) -> tp.Callable[[Setting], Work]:
    """Returns a function of the setting alone."""
    return lambda s: make(s, *args, **options)


def pair(
    ours: tp.Callable[..., Work], theirs: tp.Callable[..., Work], *args: object, **options: object
) -> tuple[tp.Callable[[Setting], Work], tp.Callable[[Setting], Work]]:
    """Returns both as functions of the setting alone."""
    return bind(ours, *args, **options), bind(theirs, *args, **options)


def _copy(s: Setting, source: str, target: str) -> Work:
    n = s.size(2**26)
    places = {
        'pinned': cuda.empty_pinned(n, 'float32', s.device),
        'pageable': chainerx.empty(n, 'float32', device='native:0'),
        'device': chainerx.empty(n, 'float32', device=s.device),
    }
    src, dst = places[source], places[target]
    return lambda: cuda.copy_async(src, dst)


def _torch_copy(s: Setting, source: str, target: str) -> Work:
    n = s.size(2**26)
    places = {
        'pinned': s.torch.empty(n, pin_memory=True),
        'pageable': s.torch.empty(n),
        'device': s.torch.empty(n, device=s.device),
    }
    src, dst = places[source], places[target]
    return lambda: dst.copy_(src, non_blocking=True)


FIGURES: tp.Final = [
    Figure('a + b of (2, 3)', 9.3 * US, 0.4, _add, _torch_add),
    Figure('the same with a graph', 11.5 * US, 0.4, *pair(_add, _torch_add, graph=True)),
    Figure('(a + b).sum().item()', 35.8 * US, 0.4, _item, _torch_item),
    *(
        Figure(f'{name}, 10^8', nbytes * 1e8 / (rate * 1e9), bar, *_over_all(ours, theirs))
        for name, rate, nbytes, bar, ours, theirs in _BANDWIDTH
    ),
    Figure(
        'softmax 10^5 x 1,000, backward',
        1.088 * MS,
        0.7,
        *pair(_softmax, _torch_softmax, 10**5, 1000),
    ),
    Figure(
        'softmax 8,192 x 8,192, backward',
        0.844 * MS,
        0.75,
        *pair(_softmax, _torch_softmax, 8192, 8192),
    ),
    Figure(
        'layer norm 10^5 x 1,000, backward',
        1.163 * MS,
        0.7,
        *pair(_layer_norm, _torch_layer_norm, 10**5, 1000),
    ),
    Figure(
        'layer norm 10^6 x 64, backward',
        2.502 * MS,
        0.25,
        *pair(_layer_norm, _torch_layer_norm, 10**6, 64),
    ),
    Figure(
        'batch norm 64 x 256 x 56 x 56, backward', 0.773 * MS, 0.8, _batch_norm, _torch_batch_norm
    ),
    Figure('product 4,096 float32', 2.73 * MS, 1.0, *pair(_product, _torch_product, 'float32')),
    Figure(
        'product 4,096 TF32',
        0.395 * MS,
        1.0,
        *pair(_product, _torch_product, 'float32', tf32=True),
    ),
    Figure('product 4,096 bfloat16', 0.206 * MS, 1.0, *pair(_product, _torch_product, 'bfloat16')),
    Figure(
        'attention 8 x 16 x 1,024 x 64 bfloat16, backward',
        0.488 * MS,
        1.1,
        *pair(_attention, _torch_attention, 'bfloat16'),
    ),
    Figure(
        'attention 8 x 16 x 1,024 x 64 float32, backward',
        3.73 * MS,
        1.0,
        *pair(_attention, _torch_attention, 'float32'),
    ),
    Figure('sort 10^7', 0.614 * MS, 0.65, _sort, _torch_sort),
    Figure('gather 10^7 of 10^6', 0.102 * MS, 1.0, _gather, _torch_gather),
    Figure('normal numbers 10^8', 0.238 * MS, 1.2, _randn, _torch_randn),
    *(
        Figure(
            f'copy of 256 MiB, {source} to {target}',
            None,
            None,
            *pair(_copy, _torch_copy, source, target),
        )
        for source, target in (('pinned', 'device'), ('device', 'pinned'), ('pageable', 'device'))
    ),
]
