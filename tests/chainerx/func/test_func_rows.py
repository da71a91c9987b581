"""Rows of the table under jvp, vjp and vmap: compared with each other, differences and loops."""

import math
import warnings

import chainerx as chx
import numpy as np
import pytest
from cases import CASES
from cases._harness import REFERENCED, Prepared, as_list, call_text, each, to_numpy
from cases._table import Arg, seeded
from chainerx import func
from chainerx.func import _batch, _loop, _rules_axes

SMOOTH = [c for c in REFERENCED if c.diff != () and c.order > 0]


def calls_of(case):
    """Each small call with float64 arrays to differentiate by, with these arrays."""
    if 'float64' not in case.dtypes:
        return
    for spec in case.calls:
        if sum(math.prod(a.shape) for a in spec.arrays()) > 300:
            continue
        prepared = Prepared(case, spec, 'float64')
        if prepared.differentiable():
            yield spec, prepared


def function_of(case, spec, prepared, targets):
    """The op as a function of some of its arrays, with a list of results."""

    def function(*xs):
        arrays = list(prepared.arrays)
        for n, x in zip(targets, xs, strict=True):
            arrays[n] = x
        it = iter(arrays)
        return as_list(spec.map(lambda a: next(it)).run(case.resolve(chx)))

    return function


def draw(rng, like):
    return [chx.array(rng.uniform(-1, 1, x.shape).astype(x.dtype)) for x in like]


def inner(xs, ys):
    pairs = [(to_numpy(x), to_numpy(y)) for x, y in zip(xs, ys, strict=True)]
    return sum(float((x * y).sum()) for x, y in pairs)


@each(SMOOTH)
def test_jvp_is_a_difference_and_transposes_vjp(case):
    for spec, prepared in calls_of(case):
        where = f'{case.name}({call_text(spec)})'
        targets = prepared.differentiable()
        function = function_of(case, spec, prepared, targets)
        xs = [prepared.arrays[n] for n in targets]
        rng = seeded('jvp', case.name)
        ts = draw(rng, xs)
        ys, changes = func.jvp(function, xs, ts)
        for y, e, t in zip(ys, function(*xs), changes, strict=True):
            assert (t.shape, t.dtype) == (y.shape, y.dtype), where
            assert not y.is_backprop_required(chx.anygraph)
            assert not t.is_backprop_required(chx.anygraph)
            np.testing.assert_array_equal(to_numpy(y), to_numpy(e), err_msg=where)
        if not all(np.isfinite(to_numpy(y)).all() for y in ys):
            continue  # the mean of no elements
        eps = 1e-6
        high = function(*[x + eps * t for x, t in zip(xs, ts, strict=True)])
        low = function(*[x - eps * t for x, t in zip(xs, ts, strict=True)])
        for t, h, w in zip(changes, high, low, strict=True):
            expected = (to_numpy(h) - to_numpy(w)) / (2 * eps)
            limit = 1e-6 * case.gtol * max(1, np.abs(expected).max(initial=0))
            np.testing.assert_allclose(to_numpy(t), expected, rtol=0, atol=limit, err_msg=where)
        _, pull = func.vjp(function, *xs)
        us = draw(rng, ys)
        forward, backward = inner(us, changes), inner(pull(us), ts)
        scale = 1 + sum(
            np.abs(to_numpy(u) * to_numpy(t)).sum() for u, t in zip(us, changes, strict=True)
        )
        assert abs(forward - backward) <= 1e-9 * scale * case.gtol, where


@each(c for c in SMOOTH if c.order > 1)
def test_forward_over_reverse_is_reverse_over_forward(case):
    """Two ways to second derivatives, which only share the op."""
    for spec, prepared in calls_of(case):
        if sum(x.size for x in prepared.arrays) > 80:
            continue
        targets = prepared.differentiable()
        function = function_of(case, spec, prepared, targets)
        xs = [prepared.arrays[n] for n in targets]
        rng = seeded('hvp', case.name)
        ts = draw(rng, xs)
        us = draw(rng, function(*xs))

        def total(*xs, function=function, us=us):
            terms = [chx.sum(u * y) for u, y in zip(us, function(*xs), strict=True)]
            return sum(terms[1:], terms[0])

        one = func.hvp(total, xs, ts)
        other = func.grad(
            lambda *xs, total=total, ts=ts: func.jvp(total, xs, ts)[1], tuple(range(len(xs)))
        )(*xs)
        for a, b in zip(one, other, strict=True):
            a, b = to_numpy(a), to_numpy(b)
            if np.isnan(a).any():
                continue
            limit = 1e-9 * case.gtol * max(1, np.abs(b).max(initial=0))
            np.testing.assert_allclose(a, b, rtol=0, atol=limit, err_msg=call_text(spec))


# ---- vmap ---------------------------------------------------------------------------------------

N = 3


def has_rule(case):
    if case.fn is not None:
        return False
    function = case.resolve(chx)
    prefix, _, name = case.name.rpartition('.')
    return any(
        n in _batch.RULES
        for n in (case.name, f'{prefix}.{function.__name__}' if prefix else function.__name__, name)
    )


WITH_RULES = [c for c in CASES if has_rule(c)]


def test_number_of_rules():
    """It may only grow: a new routine has a rule, or a reason in the review."""
    assert len({c.name for c in WITH_RULES}) >= 340


def test_every_row_has_a_rule_or_a_reason():
    """Rows without array arguments, and rows with their own functions, are not routines."""
    without = {
        c.name
        for c in CASES
        if not has_rule(c) and c.fn is None and any(list(s.arrays()) for s in c.calls)
    }
    unknown = {n for n in without if n not in _loop.REASONS and not n.startswith('random.')}
    assert unknown == set()
    assert all(_loop.REASONS.values())


# Rows whose own functions call methods and writers. Factorizations inspect values.
_NAMES = """
    ndarray.at. ndarray.arg ndarray.partition ndarray.sort add_at copyto fill_diagonal n_step place
    put topk
"""
OWN = [
    c for c in CASES if c.fn is not None and c.dtypes and c.name.startswith(tuple(_NAMES.split()))
]


@each(OWN)
def test_methods_and_writers_of_batches(case):
    dtype = next((d for d in ('float64', 'float32', 'int32') if d in case.dtypes), case.dtypes[0])
    for spec in case.calls:
        if not list(spec.arrays()):
            continue
        arrays = [chx.array(v) for v in batched_values(case, spec, dtype)]

        def one(*xs, spec=spec):
            it = iter(xs)
            return as_list(spec.map(lambda a: next(it)).run(case.fn))

        expected = [one(*[x[i].copy() for x in arrays]) for i in range(N)]
        with warnings.catch_warnings():
            warnings.simplefilter('error', func.BatchingWarning)
            if case.name in _loop.REASONS:
                warnings.simplefilter('ignore', func.BatchingWarning)
            ys = func.vmap(one)(*[x.copy() for x in arrays])
        for y, *rows in zip(ys, *expected, strict=True):
            e = np.stack([to_numpy(r) for r in rows])
            assert (y.shape, y.dtype) == (e.shape, rows[0].dtype), call_text(spec)
            np.testing.assert_allclose(to_numpy(y), e, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize('name', ['svd', 'eigh', 'qr', 'eigvals', 'eig', 'eigvalsh', 'slogdet'])
def test_factors_of_batches(name):
    a = chx.array(seeded('factors', name).uniform(-1, 1, (N, 4, 4)))
    function = getattr(chx.linalg, name)

    def parts(x):
        y = function(x)
        return tuple(y) if isinstance(y, tuple) else (y,)

    with warnings.catch_warnings():
        warnings.simplefilter('error', func.BatchingWarning)
        found = func.vmap(parts, in_axes=1)(chx.moveaxis(a, 0, 1))
    for i in range(N):
        for y, e in zip(found, parts(a[i]), strict=True):
            np.testing.assert_array_equal(to_numpy(y[i]), to_numpy(e))


def test_python_values_of_several_examples_are_refused():
    x = chx.array([[1.0, 2.0], [3.0, 4.0]])
    with (
        pytest.warns(func.BatchingWarning),
        pytest.raises(TypeError, match='array_equal gives'),
    ):
        func.vmap(lambda a: a if chx.array_equal(a, x[0]) else -a)(x)


def test_rules_agree_with_nodes():
    """The batching that an operation declares in its nodes (OpInfo) equals that of its routine."""
    seen = set()
    for case in WITH_RULES:
        if case not in SMOOTH or case.diff is not None:
            continue
        for _, prepared in calls_of(case):
            for n in prepared.differentiable():
                prepared.arrays[n].require_grad()
            node = chx.graph.creator(as_list(prepared.call.run(case.resolve(chx)))[0])
            # Skips tables of rows, and compositions with one node.
            if node is None or node.name != case.name or node.batching != 'elementwise':
                continue
            seen.add(case.name)
            rule = _batch.RULES[case.name]
            own = (_rules_axes._same_shapes, _rules_axes._triangle, _rules_axes._where)
            assert rule is _rules_axes.elementwise or rule in own, case.name
            break
    assert len(seen) >= 40, seen


def batched_values(case, spec, dtype):
    """The values of each array for N examples: drawn, or given and the same for all."""
    rng = seeded('vmap', case.name, dtype)
    for arg in spec.arrays():
        yield np.stack([arg.draw(rng, dtype) for _ in range(N)])


@each(WITH_RULES)
def test_vmap_is_a_loop(case):
    function = case.resolve(chx)
    dtype = next((d for d in ('float64', 'float32', 'int32') if d in case.dtypes), case.dtypes[0])
    for spec in case.calls:
        count = len(list(spec.arrays()))
        if count == 0 or any(len(a.shape) > 7 for a in spec.arrays()):
            continue  # arrays have at most ten axes
        values = list(batched_values(case, spec, dtype))
        choices = {(True,) * count}
        if count > 1:
            choices |= {tuple(i == k for i in range(count)) for k in range(count)}
        for chosen in sorted(choices):
            where = f'{case.name}({call_text(spec)}), batches: {chosen}'
            arrays = [chx.array(v if c else v[0]) for v, c in zip(values, chosen, strict=True)]

            def one(*xs, spec=spec):
                it = iter(xs)
                return as_list(spec.map(lambda a: next(it)).run(function))

            expected = []
            for i in range(N):
                expected.append(
                    one(*[x[i] if c else x for x, c in zip(arrays, chosen, strict=True)])
                )
            with warnings.catch_warnings():
                warnings.simplefilter('error', func.BatchingWarning)
                try:
                    ys = func.vmap(one, tuple([0 if c else None for c in chosen]))(*arrays)
                except (func.BatchingWarning, TypeError, chx.ChainerxError):
                    if case.name not in _loop.REASONS:
                        raise
                    continue
            for y, *rows in zip(ys, *expected, strict=True):
                assert y.dtype == rows[0].dtype, where
                e = np.stack([to_numpy(r) for r in rows])
                assert y.shape == e.shape, f'{where}: {y.shape}, not {e.shape}'
                if e.dtype.kind in 'biu':
                    np.testing.assert_array_equal(to_numpy(y), e, err_msg=where)
                else:
                    rtol = 1e-12 if dtype == 'float64' else 1e-5
                    wide = 'c16' if e.dtype.kind == 'c' else 'f8'
                    np.testing.assert_allclose(
                        to_numpy(y).astype(wide),
                        e.astype(wide),
                        rtol=rtol,
                        atol=rtol,
                        err_msg=where,
                    )


@each(c for c in WITH_RULES if c in SMOOTH and c.name not in _loop.REASONS)
def test_gradients_of_each_example(case):
    """vmap(grad) equals a loop of grad; grad of vmap equals that of the sum."""
    function = case.resolve(chx)
    for spec, prepared in calls_of(case):
        if any(len(a.shape) > 7 for a in spec.arrays()):
            continue
        targets = prepared.differentiable()
        values = list(batched_values(case, spec, 'float64'))
        arrays = [chx.array(v) for v in values]
        y0 = as_list(function_of(case, spec, prepared, targets)(*[arrays[n][0] for n in targets]))
        us = draw(seeded('weights', case.name), y0)

        def total(*xs, spec=spec, us=us):
            it = iter(xs)
            ys = as_list(spec.map(lambda a: next(it)).run(function))
            terms = [chx.sum(u * y) for u, y in zip(us, ys, strict=True)]
            return sum(terms[1:], terms[0])

        gradient = func.grad(total, tuple(targets))
        with warnings.catch_warnings():
            warnings.simplefilter('error', func.BatchingWarning)
            found = func.vmap(gradient)(*arrays)
            outer = func.grad(
                lambda *xs, total=total: chx.sum(func.vmap(total)(*xs)), tuple(targets)
            )(*arrays)
        for k, (inside, outside) in enumerate(zip(found, outer, strict=True)):
            e = np.stack([to_numpy(gradient(*[x[i] for x in arrays])[k]) for i in range(N)])
            limit = 1e-11 * max(1, np.nan_to_num(np.abs(e)).max(initial=0))
            for g in (inside, outside):
                np.testing.assert_allclose(
                    to_numpy(g), e, rtol=0, atol=limit, err_msg=f'{case.name}({call_text(spec)})'
                )


_NESTED = 'sum matmul where conv take concatenate accuracy cov ediff1d einsum sort quantile trace'


@pytest.mark.parametrize('name', _NESTED.split())
def test_vmaps_inside_one_another(name):
    case = next(c for c in WITH_RULES if c.name == name)
    function = case.resolve(chx)
    spec = case.calls[0]
    rng = seeded('nested', name)
    values = [
        np.stack([np.stack([a.draw(rng, 'float64') for _ in range(2)]) for _ in range(N)])
        for a in spec.arrays()
    ]
    arrays = [chx.array(v) for v in values]

    def one(*xs):
        it = iter(xs)
        return as_list(spec.map(lambda a: next(it)).run(function))

    ys = func.vmap(func.vmap(one))(*arrays)
    crossed = func.vmap(func.vmap(one, in_axes=0, out_axes=-1), in_axes=1, out_axes=0)(*arrays)
    for k, y in enumerate(ys):
        for i in range(N):
            for j in range(2):
                e = one(*[x[i, j] for x in arrays])[k]
                np.testing.assert_allclose(to_numpy(y[i, j]), to_numpy(e), rtol=1e-12, atol=1e-12)
                np.testing.assert_allclose(
                    to_numpy(crossed[k][j, ..., i]), to_numpy(e), rtol=1e-12, atol=1e-12
                )


@pytest.mark.parametrize('name', ['astype', 'flatten', 'sort', 'partition', 'fill', 'view'])
def test_methods_inside_of_two_vmaps(name):
    args = {'astype': ('float32',), 'partition': (1,), 'fill': (3.0,)}.get(name, ())
    x = chx.array(seeded('methods', name).uniform(-1, 1, (2, N, 4)))

    def f(x):
        x = x.copy()
        y = getattr(x, name)(*args)
        return x if y is None else y

    y = func.vmap(func.vmap(f))(x)
    for i in range(2):
        for j in range(N):
            np.testing.assert_array_equal(to_numpy(y[i, j]), to_numpy(f(x[i, j])))


def test_names_of_rules_are_routines():
    for name in _batch.RULES:
        owner = chx._core if '.' not in name else None
        prefix, _, last = name.rpartition('.')
        if prefix == 'ndarray.at':
            assert hasattr(type(chx.zeros(1).at[0]), last), name
            continue
        if owner is None:
            owner = chx.ndarray if prefix == 'ndarray' else getattr(chx, prefix)
        assert hasattr(owner, last), f'{name} is the name of no routine'


def test_arguments_of_rows_are_arrays():
    """They are, so the tests above batch them all."""
    assert all(isinstance(a, Arg) for c in CASES for s in c.calls for a in s.arrays())
