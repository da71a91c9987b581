"""Random numbers: their dependence on the seed, and their distribution."""

import numpy as np
import scipy.stats
from cases._table import FLOATS, Case, call, f


def _draws(xp, device):
    return {
        'normal': lambda n: xp.random.normal(size=n, device=device),
        'uniform': lambda n: xp.random.uniform(size=n, device=device),
        'integers': lambda n: xp.random.integers(0, 1000, size=n, device=device),
        'permutation': lambda n: xp.random.permutation(n, device=device),
    }


def _check_seed(xp, device):
    for name, draw in _draws(xp, device).items():
        xp.random.seed(7)
        first, second = draw(50), draw(50)
        xp.random.seed(7)
        again = draw(50)
        xp.random.seed(8)
        other = draw(50)
        first, second, again, other = map(xp.to_numpy, (first, second, again, other))
        assert (first == again).all(), name
        assert (first != second).any(), name
        assert (first != other).any(), name
        assert len(np.unique(first)) > 25, name


def _threads(xp, draw):
    results = []
    for threads in (1, 2, 4):
        xp.set_num_threads(threads)
        xp.random.seed(3)
        results.append(xp.to_numpy(draw(100_003)))
    assert (results[0] == results[1]).all()
    assert (results[0] == results[2]).all()
    return results[0]


def _check_normal(xp, device):
    x = _threads(xp, _draws(xp, device)['normal'])
    assert x.dtype == 'float64'
    assert scipy.stats.kstest(x, 'norm').pvalue > 1e-4
    xp.random.seed(1)
    y = xp.to_numpy(xp.random.normal(3.0, 0.5, (300, 100), device=device))
    assert y.shape == (300, 100)
    assert scipy.stats.kstest((y.ravel() - 3) / 0.5, 'norm').pvalue > 1e-4
    assert xp.random.normal(loc=1.0, scale=2.0, size=(0, 2)).shape == (0, 2)
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 0.02


def _check_uniform(xp, device):
    x = _threads(xp, _draws(xp, device)['uniform'])
    assert x.dtype == 'float64'
    assert (x >= 0).all()
    assert (x < 1).all()
    assert scipy.stats.kstest(x, 'uniform').pvalue > 1e-4
    y = xp.to_numpy(xp.random.uniform(-2.0, 5.0, (300, 100), device=device))
    assert y.shape == (300, 100)
    assert scipy.stats.kstest((y.ravel() + 2) / 7, 'uniform').pvalue > 1e-4
    z = xp.to_numpy(xp.random.uniform(low=1.0, high=2.0, size=4))
    assert ((z >= 1) & (z < 2)).all()


def _check_integers(xp, device):
    x = _threads(xp, lambda n: xp.random.integers(-3, 4, size=n, device=device))
    assert x.dtype.kind == 'i'
    values, counts = np.unique(x, return_counts=True)
    assert values.tolist() == list(range(-3, 4))
    assert scipy.stats.chisquare(counts).pvalue > 1e-4
    assert set(xp.to_numpy(xp.random.integers(2, size=100)).tolist()) == {0, 1}


def _check_permutation(xp, device):
    x = _threads(xp, _draws(xp, device)['permutation'])
    assert (np.sort(x) == np.arange(len(x))).all()
    assert (x != np.arange(len(x))).mean() > 0.99
    a = xp.array([10, 20, 30, 40], device=device)
    assert sorted(xp.random.permutation(a).tolist()) == [10, 20, 30, 40]
    assert xp.random.permutation(0).shape == (0,)
    firsts = [int(xp.random.permutation(5)[0]) for _ in range(2000)]
    assert scipy.stats.chisquare(np.bincount(firsts, minlength=5)).pvalue > 1e-5


def _check_state(xp, device):
    xp.random.seed(5)
    xp.random.normal(size=3)
    state = xp.random.get_state()
    first = xp.to_numpy(xp.random.normal(size=20, device=device))
    xp.random.set_state(state)
    again = xp.to_numpy(xp.random.normal(size=20, device=device))
    assert (first == again).all()


def _check_randint(xp, device):
    xp.random.seed(4)
    x = xp.to_numpy(xp.random.randint(-2, 3, size=500, device=device))
    assert sorted(set(x.tolist())) == [-2, -1, 0, 1, 2]


def _dropped(x, key):
    """dropout(x, 0.25, key) by Philox as its authors write it."""
    words = np.zeros((4, -(-x.size // 32) * 8), np.uint64)
    words[0] = np.arange(words.shape[1])
    a, b = np.uint64(key & 0xFFFFFFFF), np.uint64(key >> 32)
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        p, q = words[0] * np.uint64(0xD2511F53), words[2] * np.uint64(0xCD9E8D57)
        shift = np.uint64(32)
        words = np.array([q >> shift ^ words[1] ^ a, q & low, p >> shift ^ words[3] ^ b, p & low])
        a, b = (a + np.uint64(0x9E3779B9)) & low, (b + np.uint64(0xBB67AE85)) & low
    numbers = words.reshape(4, -1, 8).transpose(1, 0, 2).ravel()[: x.size]
    return np.where(numbers < 2**30, 0, x.ravel() / 0.75).reshape(x.shape)


def _dropout(x, ratio=0.5, key=None):
    assert ratio == 0.25
    return _dropped(np.asarray(x), key)


def _check_dropout(xp, device):
    ones = xp.ones(100_003, device=device)
    y = _threads(xp, lambda n: xp.dropout(ones, 0.3))
    assert set(y.tolist()) == {0, np.float32(1 / 0.7)}
    assert abs((y == 0).mean() - 0.3) < 0.01
    assert abs(np.corrcoef(y[:-1], y[1:])[0, 1]) < 0.02
    xp.random.seed(3)
    again = [xp.to_numpy(xp.dropout(ones, 0.3)) for _ in range(2)]
    assert (again[0] == y).all()
    assert (again[1] != y).any()
    before = xp.random.get_state()
    keyed = [xp.to_numpy(xp.dropout(ones, 0.3, key=k)) for k in (1, 1, 2)]
    assert xp.random.get_state() == before
    assert (keyed[0] == keyed[1]).all()
    assert (keyed[0] != keyed[2]).any()
    assert (xp.to_numpy(xp.dropout(ones, 0.0)) == 1).all()
    assert (xp.to_numpy(xp.dropout(ones, 1 - 2**-53)) == 0).mean() > 0.99
    # Backward draws the same numbers again, even if others were drawn meanwhile.
    x = xp.ones((50, 30), 'float64', device=device).require_grad()
    y = xp.dropout(x)
    xp.dropout(x.as_grad_stopped())
    (gx,) = xp.grad([y], [x], enable_double_backprop=True)
    assert (xp.to_numpy(gx) == xp.to_numpy(y)).all()
    nan = xp.dropout(xp.full(100, np.nan, 'float32', device=device))
    assert np.isnan(xp.to_numpy(nan)).all()


CASES = [
    Case('dropout', check=_check_dropout),
    Case(
        'dropout',
        _dropout,
        calls=[
            call(f(3, 50), 0.25, 7),
            call(f(2, 3), ratio=0.25, key=2**63 + 5),
            call(f(), 0.25, 1),
            call(f(0, 3), 0.25, 1),
            call(f(32), 0.25, 3),
            call(f(4, 1, 33), 0.25, 3),
        ],
        dtypes=FLOATS,
        tol=2,
        big=call(f(300, 401), 0.25, 5),
        errors=[
            (call(f(3), 1.0), 'ValueError', 'ratio is 1'),
            (call(f(3), -0.5), 'ValueError', 'ratio is -0.5'),
            (call(f(3), np.nan), 'ValueError', 'nan'),
            (call(f(3), 'x'), 'TypeError', 'ratio'),
            (call(f(3), 0.5, -1), 'ValueError', 'key'),
        ],
    ),
    Case('random.get_state', check=_check_state),
    Case('random.set_state', check=_check_state),
    Case('random.randint', check=_check_randint),
    Case('random.seed', check=_check_seed),
    Case('random.normal', check=_check_normal),
    Case('random.uniform', check=_check_uniform),
    Case('random.integers', check=_check_integers),
    Case('random.permutation', check=_check_permutation),
]
