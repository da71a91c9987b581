"""Derivatives of chainerx.linalg of complex matrices by differences; phase-independent losses."""

import chainerx as chx
import numpy as np
import pytest
from cases._harness import to_numpy

LA = chx.linalg


def draw(*shape, seed=0):
    rng = np.random.default_rng((seed, *shape))
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def adjoint(a, xp=np):
    return xp.swapaxes(xp.conj(a), -1, -2)


def hermitian(a):
    return (a + adjoint(a, chx)) * 0.5


def good(a):
    return a @ adjoint(a, chx) + chx.array(3 * np.eye(a.shape[-2]) + 0j)


def projections(v):
    """Each column times its adjoint."""
    return v[..., :, None, :] * chx.conj(v)[..., None, :, :]


def svd_losses(a):
    u, s, vh = LA.svd(a, full_matrices=False)
    v = chx.swapaxes(vh, -1, -2)
    return u[..., :, None, :] * v[..., None, :, :], projections(u), s, chx.abs(vh)


def eigh_losses(a):
    w, v = LA.eigh(hermitian(a))
    return w, projections(v), chx.abs(v)


RIGHT = chx.array(draw(4, 2, seed=3))
ALL = [(3, 3), (2, 4, 4), (1, 1)]
SHAPES = [(3, 3), (5, 3), (3, 5), (2, 4, 2), (1, 1)]
LOSSES = {
    'inv': (LA.inv, ALL),
    'det': (LA.det, ALL),
    'slogdet': (LA.slogdet, ALL),
    'solve in a': (lambda a: LA.solve(a, RIGHT), [(4, 4), (2, 4, 4)]),
    'solve in b': (lambda b: LA.solve(chx.array(draw(4, 4)), b), [(4,), (4, 2), (2, 4, 3)]),
    'cholesky': (lambda a: LA.cholesky(good(a)), SHAPES),
    'upper cholesky': (lambda a: LA.cholesky(good(a), upper=True), [(3, 3), (2, 3, 4)]),
    'eigvalsh': (lambda a: LA.eigvalsh(hermitian(a)), ALL),
    'eigh': (eigh_losses, ALL),
    'svdvals': (LA.svdvals, SHAPES),
    'svd': (svd_losses, SHAPES),
    'svd of a square': (lambda a: LA.svd(a)[1], ALL),
    'hermitian svd': (lambda a: LA.svd(a, hermitian=True)[1], ALL),
    'qr': (LA.qr, SHAPES),
    'r': (lambda a: LA.qr(a, 'r'), SHAPES),
    'q': (lambda a: LA.qr(a)[0], SHAPES),
    'pinv': (LA.pinv, SHAPES),
    'pinv with a cut': (lambda a: LA.pinv(a, 0.4), SHAPES),
    'lstsq with a cut': (lambda a: LA.lstsq(a, RIGHT, 0.4)[0], [(4, 4), (4, 3), (4, 6)]),
    'lstsq in a': (lambda a: LA.lstsq(a, RIGHT)[0], [(4, 4), (4, 3), (4, 6)]),
    'lstsq in b': (lambda b: LA.lstsq(chx.array(draw(5, 3)), b)[:2], [(5,), (5, 2)]),
    'residuals': (lambda a: LA.lstsq(a, RIGHT)[1], [(4, 3)]),
    'nuclear norm': (lambda a: LA.matrix_norm(a, ord='nuc'), [(3, 4), (2, 3, 3)]),
    'spectral norm': (lambda a: LA.matrix_norm(a, ord=2), [(3, 4), (2, 3, 3)]),
    'cond': (LA.cond, [(3, 4), (2, 3, 3)]),
    'matrix_power': (lambda a: LA.matrix_power(a, -2), ALL),
}


def loss(function, x):
    """A real number: all results times distinct numbers."""
    total = 0
    y = function(x)
    for i, part in enumerate(y if isinstance(y, (tuple, list)) else (y,)):
        weights = draw(*part.shape, seed=i + 5)
        if part.dtype == 'float64':
            weights = weights.real
        total = total + chx.real(part * chx.array(weights)).sum()
    return total


def gradient(function, a, order=1):
    x = chx.array(a).require_grad()
    (gx,) = chx.grad([loss(function, x)], [x], enable_double_backprop=order > 1)
    return x, gx


@pytest.mark.parametrize(
    ('name', 'shape'), [(name, shape) for name, (_, shapes) in LOSSES.items() for shape in shapes]
)
def test_derivatives(name, shape):
    """The gradient g satisfies df = Re(g da), here as everywhere."""
    function, _ = LOSSES[name]
    a, first, second = draw(*shape, seed=9), draw(*shape, seed=10), draw(*shape, seed=11)
    h = 1e-6

    def difference(f, step):
        return (f(a + h * step) - f(a - h * step)) / (2 * h)

    x, gx = gradient(function, a, order=2)
    assert gx.dtype == 'complex128'
    expected = difference(lambda v: float(loss(function, chx.array(v))), first)
    found = float((to_numpy(gx) * first).sum().real)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)

    def along(v):
        return float((to_numpy(gradient(function, v)[1]) * first).sum().real)

    (ggx,) = chx.grad([chx.real(gx * chx.array(first)).sum()], [x])
    found = 0 if ggx is None else float((to_numpy(ggx) * second).sum().real)  # None: linear
    assert found == pytest.approx(difference(along, second), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize('name', ['eigh', 'eigvalsh', 'cholesky'])
def test_gradients_are_hermitian(name):
    x = chx.array(to_numpy(good(chx.array(draw(3, 3))))).require_grad()
    y = getattr(LA, name)(x)
    (chx.abs(y[1] if name == 'eigh' else y) ** 3).sum().backward()
    found = to_numpy(x.grad)
    np.testing.assert_allclose(found, adjoint(found), atol=1e-14)
    assert np.abs(found.imag).max() > 1e-3


def test_phases_do_not_matter():
    """The gradient is the same for any phases of the vectors."""
    a = draw(4, 4)
    turn = chx.array(np.exp(1j * np.arange(4)))

    def found(phase):
        x = chx.array(a).require_grad()
        u, _, vh = LA.svd(x)
        u, vh = u * phase, vh * chx.conj(phase)[:, None]
        v = LA.eigh(hermitian(x))[1] * phase
        parts = u @ vh, projections(u), projections(v)
        chx.real(sum((p * p).sum() for p in parts)).backward()
        return to_numpy(x.grad)

    np.testing.assert_allclose(found(turn), found(chx.ones(4)), atol=1e-10)


@pytest.mark.parametrize('rank', [0, 1, 2, 3, 4])
def test_derivatives_of_the_determinant_at_any_rank(rank):
    n = 4
    a = draw(n, rank) @ draw(rank, n, seed=1)

    def cofactors(a):
        y = np.empty(a.shape, a.dtype)
        for i, j in np.ndindex(n, n):
            y[i, j] = (-1) ** (i + j) * np.linalg.det(np.delete(np.delete(a, i, 0), j, 1))
        return y

    x = chx.array(a).require_grad()
    (gx,) = chx.grad([chx.real(LA.det(x))], [x], enable_double_backprop=True)
    np.testing.assert_allclose(to_numpy(gx), cofactors(a), atol=1e-10)
    g, h = draw(n, n, seed=2), 1e-5
    (ggx,) = chx.grad([chx.real((gx * chx.array(g)).sum())], [x])
    expected = (cofactors(a + h * g) - cofactors(a - h * g)) / (2 * h)
    np.testing.assert_allclose(to_numpy(ggx), expected, atol=1e-6)


def test_batches_and_forward_derivatives():
    """vmap equals a stack of matrices, jvp equals differences."""
    a = draw(3, 4, 4)
    for name in ('inv', 'det', 'eigvalsh', 'pinv'):
        function = getattr(LA, name)
        found = chx.func.vmap(function)(chx.array(a))
        np.testing.assert_allclose(to_numpy(found), to_numpy(function(chx.array(a))), atol=1e-12)
    step, h = draw(4, 4, seed=1), 1e-6
    _, found = chx.func.jvp(LA.inv, (chx.array(a[0]),), (chx.array(step),))
    expected = (np.linalg.inv(a[0] + h * step) - np.linalg.inv(a[0] - h * step)) / (2 * h)
    np.testing.assert_allclose(to_numpy(found), expected, atol=1e-6)
