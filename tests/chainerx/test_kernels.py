"""Kernels conform to their rows: the table, hooks on calls, forward derivatives, batches."""

import threading

import chainerx as chx
import numpy as np
import pytest
from cases._harness import LAYOUTS, REFERENCED, Prepared, as_list, call_text, each, to_numpy
from cases._table import seeded
from chainerx._core import kernels
from chainerx.testing import check_kernels, forward_derivative

TABLE = {name: (family, operands) for name, family, operands, _ in kernels.table()}


# ---- the table ---------------------------------------------------------------------------------


def test_table_describes_operands():
    assert TABLE['Take'] == (
        'indexing',
        [
            ('attr', 'const char*', 'op'),
            ('in', 'Array', 'x'),
            ('attr', 'int8_t', 'axis'),
            ('in', 'Array', 'indices'),
            ('attr', 'IndexBoundsMode', 'mode'),
            ('out', 'Array', 'out'),
        ],
    )
    assert TABLE['Add'][1] == [
        ('in', 'Operand', 'x1'),
        ('in', 'Operand', 'x2'),
        ('out_or_same', 'Array', 'out'),
    ]
    assert TABLE['Exp'] == ('explog', [('in', 'Array', 'x'), ('out_or_same', 'Array', 'out')])


def test_names_and_hashes_are_unique():
    rows = kernels.table()
    assert len({name for name, *_ in rows}) == len(rows)
    assert len({hash_ for *_, hash_ in rows}) == len(rows)


def test_every_kernel_has_an_output():
    for name, (_, operands) in TABLE.items():
        roles = {role for role, *_ in operands}
        # One operand is a list of parameters; the other kernel only reports errors.
        if name not in ('UpdateParameters', 'CheckDomain'):
            assert roles & {'out', 'out_or_same', 'inout'}, name


# ---- hooks -------------------------------------------------------------------------------------


def counts(profile):
    return {r.name: r.calls for r in profile.rows}


def test_profile_counts_calls(device):
    x = chx.array([1.0, 2.0, 3.0])
    with chx.profiler.profile() as profile:
        y = chx.exp(x) + x
        y += 1
    chx.tanh(x)
    assert counts(profile) == {'Exp': 1, 'Add': 2}
    for row in profile.rows:
        assert 0 < row.self_time <= row.total
        assert row.family == TABLE[row.name][0]
    assert 'Exp' in str(profile)
    profile.reset()
    assert profile.rows == []


def test_profile_counts_backward(device):
    x = chx.array([1.0, 2.0, 3.0]).require_grad()
    y = chx.tanh(x)
    with chx.profiler.profile(synchronize=True) as profile:
        y.backward()
    assert counts(profile)['TanhGrad'] == 1


def test_profile_tells_nested_kernels_apart(device):
    """concatenate of a strided part converts by AsType inside of its kernel."""
    x = chx.ones((64, 64))[:, ::2]
    with chx.profiler.profile() as profile:
        chx.concatenate([x, x], axis=1)
    rows = {r.name: r for r in profile.rows}
    inner, outer = rows['AsType'], rows['Concatenate']
    assert (inner.calls, outer.calls) == (2, 1)
    assert outer.self_time <= outer.total - inner.total + 1e-9


def test_two_profiles_see_the_same():
    x = chx.ones(3)
    with chx.profiler.profile() as outer:
        with chx.profiler.profile() as inner:
            chx.exp(x)
        chx.exp(x)
    assert (counts(outer), counts(inner)) == ({'Exp': 2}, {'Exp': 1})
    for profile in (outer, inner):
        (row,) = profile.rows
        assert row.self_time == row.total


def test_profile_of_several_threads():
    n, x = 200, chx.ones(3)

    def work():
        for _ in range(n):
            chx.exp(x)

    threads = [threading.Thread(target=work) for _ in range(3)]
    with chx.profiler.profile() as profile:
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert counts(profile) == {'Exp': 3 * n}


def test_hooks_come_and_go_while_others_compute():
    x, stop = chx.ones(3), threading.Event()
    failures = []

    def work():
        while not stop.is_set():
            y = to_numpy(chx.exp(x) * x)
            if not np.allclose(y, np.e):
                failures.append(y)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(300):
            with chx.profiler.profile():
                chx.sqrt(x)
    finally:
        stop.set()
        thread.join()
    assert not failures


def test_hooks_see_devices_made_later():
    with chx.profiler.profile() as profile:
        context = chx.Context()
        with chx.context_scope(context), chx.using_device('native:2'):
            chx.ones(3)
    assert counts(profile) == {'Fill': 1}


def test_error_of_a_kernel_passes_through():
    x = chx.arange(3)
    with chx.profiler.profile() as profile:
        for _ in range(2):
            with pytest.raises(IndexError):
                chx.take(x, chx.array([7]), axis=0, mode='raise')
        chx.exp(x)
    chx.exp(x)
    assert counts(profile)['Exp'] == 1


def test_remove_twice():
    hook = kernels.Profiler()
    hook.install()
    assert hook.remove()
    assert not hook.remove()


# ---- operands of every operation ---------------------------------------------------------------


@each(REFERENCED)
def test_operands_are_as_the_rows_say(case, device):
    """The whole table, forward and backward, under the validator."""
    dtypes = {case.dtypes[0], case.dtypes[-1], 'float32' if 'float32' in case.dtypes else 'int64'}
    for dtype in sorted(dtypes & {*case.dtypes}):
        for spec in case.calls:
            layouts = LAYOUTS if case.layouts and any(True for _ in spec.arrays()) else LAYOUTS[:1]
            for layout in layouts:
                prepared = Prepared(case, spec, dtype, layout, device)
                targets = prepared.differentiable() if case.order and case.diff != () else []
                for n in targets:
                    prepared.arrays[n] = prepared.arrays[n].require_grad()
                with check_kernels():
                    ys = as_list(prepared.call.run(case.resolve(chx)))
                    ys = [y for y in ys if isinstance(y, chx.ndarray) and y.is_backprop_required()]
                    if ys:
                        chx.backward(ys)


# ---- what is known of operations ---------------------------------------------------------------


def single(case, prepared):
    """The node of a case that is one operation on its arrays, or None."""
    targets = range(len(prepared.arrays))
    if not targets or prepared.differentiable() != list(targets):
        return None
    for n in targets:
        prepared.arrays[n].require_grad()
    ys = as_list(prepared.call.run(case.resolve(chx)))
    if len(ys) != 1 or not ys[0].is_backprop_required():
        return None
    node = chx.graph.creator(ys[0])
    values = [] if node is None else [v and v.array for v in node.inputs]
    if len(values) != len(prepared.arrays):
        return None
    return node if all(v is x for v, x in zip(values, prepared.arrays, strict=True)) else None


def single_operations(device):
    """(case, call, its arrays, node) for each call of the table that is one operation."""
    for case in REFERENCED:
        if case.order == 0 or 'float64' not in case.dtypes:
            continue
        for spec in case.calls:
            prepared = Prepared(case, spec, 'float64', device=device)
            node = single(case, prepared)
            if node is not None:
                yield case, spec, prepared, node


def test_forward_derivatives(device):
    """Every operation that has one, compared with differences of the reference."""
    seen = set()
    for case, spec, prepared, node in single_operations(device):
        if not node.has_forward_derivative:
            continue
        if sum(role == 'in' for role, *_ in TABLE[node.kernel][1]) != len(prepared.arrays):
            continue  # the other operand is a number
        seen.add(node.name)
        check_forward_derivative(case, spec, prepared, device)
    assert {'exp', 'add', 'power', 'arctan2', 'tanh', 'hypot', 'maximum'} <= seen
    assert {'clamp', 'leaky_relu', 'elu'} <= seen
    assert len(seen) >= 40, seen


def check_forward_derivative(case, spec, prepared, device):
    rng = seeded('t', case.name)
    tangents = [rng.uniform(-1, 1, v.shape) for v in prepared.values]
    arrays = [chx.array(t, device=device) for t in tangents]

    def function(*xs):
        it = iter(xs)
        return spec.map(lambda a: next(it)).run(case.resolve(chx))

    def along(step):
        """The reference, with inputs moved along the tangents."""
        moved = [v + step * t for v, t in zip(prepared.values, tangents, strict=True)]
        return np.asarray(prepared.expected('float64', moved))

    inputs = [x.as_grad_stopped() for x in prepared.arrays]
    result = forward_derivative(function, inputs, arrays)
    expected = (along(1e-6) - along(-1e-6)) / 2e-6
    shape = expected.shape
    got = np.zeros(shape) if result is None else to_numpy(result)
    where = f'{case.name}({call_text(spec)})'
    assert got.shape == shape, where
    np.testing.assert_allclose(got, expected, 1e-5, 1e-6, err_msg=where)
    # The parts for each input add up.
    parts = np.zeros(shape)
    for n in range(len(arrays)):
        part = forward_derivative(
            function, inputs, [t if k == n else None for k, t in enumerate(arrays)]
        )
        parts = parts + (0 if part is None else to_numpy(part))
    np.testing.assert_allclose(parts, got, 1e-12, 1e-14, err_msg=where)


def test_forward_derivative_is_differentiable():
    x = chx.array([0.5, -1.0], dtype='float64')
    y = chx.tanh(x)
    node = chx.graph.creator(chx.tanh(x.as_grad_stopped().require_grad()))
    leaf = x.as_grad_stopped().require_grad()
    t = node.forward_derivative([leaf], chx.tanh(leaf), [chx.ones(2, 'float64')])
    t.backward()
    y = np.tanh([0.5, -1.0])
    np.testing.assert_allclose(to_numpy(leaf.grad), -2 * y * (1 - y * y), 1e-12)


def test_forward_derivative_refuses():
    x = chx.array([1.0, 2.0])
    with pytest.raises(chx.ChainerxError, match='not one operation'):
        forward_derivative(lambda x: chx.exp(x) + 1, [x], [x])
    with pytest.raises(chx.ChainerxError, match='not one operation'):
        forward_derivative(lambda x: x, [x], [x])
    with pytest.raises(chx.ChainerxError, match=r'sum: its forward derivative is not known'):
        forward_derivative(chx.sum, [x], [x])
    # A scalar operand is no input of the graph.
    with pytest.raises(chx.ChainerxError, match='expected 2'):
        forward_derivative(lambda x: x * 2, [x], [x])
    with pytest.raises(chx.DimensionError, match=r'tangent 0 has shape \(3,\)'):
        forward_derivative(chx.exp, [x], [chx.ones(3)])


def test_attributes_are_part_of_the_node():
    x = chx.array([-1.0, 2.0], dtype='float64').require_grad()
    for function, attributes, slopes in (
        (lambda: chx.leaky_relu(x, slope=0.25), {'slope': 0.25}, [0.25, 1]),
        (lambda: chx.elu(x, alpha=0.5), {'alpha': 0.5}, [0.5 * np.exp(-1.0), 1]),
        (lambda: chx.elu(x, alpha=-0.5), {'alpha': -0.5}, [-0.5 * np.exp(-1.0), 1]),
        (lambda: chx.exp(x), {}, [np.exp(-1.0), np.exp(2.0)]),
    ):
        y = function()
        node = chx.graph.creator(y)
        assert node.attributes == attributes
        inputs, values = [x.as_grad_stopped()], y.as_grad_stopped()
        tangent = chx.array([1.0, 1.0], dtype='float64')
        t = node.forward_derivative(inputs, values, [tangent])
        np.testing.assert_allclose(to_numpy(t), slopes, 1e-12)
        assert node.forward_derivative(inputs, values, [None]) is None
        y.sum().backward()
        np.testing.assert_allclose(to_numpy(x.grad), slopes, 1e-12)
        x.cleargrad()
        assert node.attributes == {}
        if attributes:
            with pytest.raises(chx.ChainerxError, match='0 attributes, expected 1; backward has'):
                node.forward_derivative(inputs, values, [tangent])


def test_node_tells_kernel_and_batching():
    x = chx.ones((2, 3)).require_grad()
    for y, expected in (
        (chx.exp(x), ('Exp', 'elementwise', True)),
        (x.sum(axis=0), ('Sum', 'axes', False)),
        (x.reshape(6), (None, 'shape', False)),
        (x @ chx.ones((3, 2)), ('Matmul', 'unknown', True)),
    ):
        node = chx.graph.creator(y)
        assert (node.kernel, node.batching, node.has_forward_derivative) == expected


# Subscripts name all axes; coefficients are one axis.
OF_GIVEN_RANK = ('einsum', 'polyadd', 'polysub', 'polymul', 'polydiv', 'polyder', 'polyint')


def test_elementwise_operations_batch(device):
    """A batch of inputs gives the batch of results, for each operation that declares it."""
    seen = set()
    for case, spec, prepared, node in single_operations(device):
        if node.batching != 'elementwise' or case.name in OF_GIVEN_RANK:
            continue
        if len({x.ndim for x in prepared.arrays}) != 1 or not prepared.arrays[0].ndim:
            continue  # dot, for example, treats numbers and vectors differently
        seen.add(node.name)
        check_batch(case.resolve(chx), spec, prepared.values, device)
    assert len(seen) >= 40, seen


def check_batch(function, spec, values, device, batched=lambda call: call):
    batch = [[np.roll(v.ravel(), k).reshape(v.shape) for v in values] for k in range(3)]

    def run(spec, values):
        it = iter(chx.array(v, device=device) for v in values)
        return to_numpy(spec.map(lambda a: next(it)).run(function))

    together = run(batched(spec), [np.stack(vs) for vs in zip(*batch, strict=True)])
    np.testing.assert_allclose(together, np.stack([run(spec, vs) for vs in batch]), 1e-12)


AXES = {
    'sum': [{'axis': 0}, {'axis': (0, 1)}, {'axis': 1, 'keepdims': True}],
    'prod': [{'axis': 1}],
    'mean': [{'axis': (1, 0)}],
    'var': [{'axis': 0}],
    'std': [{'axis': 0}],
    'nansum': [{'axis': 0}],
    'logsumexp': [{'axis': 1}],
    'max': [{'axis': 0}],
    'min': [{'axis': 0}],
    'softmax': [{'axis': 0}, {'axis': 1}],
    'log_softmax': [{'axis': 1}],
    'cumsum': [{'axis': 0}],
    'cumprod': [{'axis': 1}],
    'expand_dims': [{'axis': 1}],
}


@pytest.mark.parametrize('name', AXES)
def test_operations_with_axes_batch(name, device):
    values = seeded('batch', name).uniform(0.5, 2, (3, 2, 4, 3))
    function = getattr(chx, name)
    for kw in AXES[name]:
        axis = kw['axis']
        above = tuple(a + 1 for a in axis) if isinstance(axis, tuple) else axis + 1
        x = chx.array(values, device=device).require_grad()
        y = function(x, **(kw | {'axis': above}))
        assert chx.graph.creator(y).batching == 'axes'
        parts = [to_numpy(function(chx.array(v, device=device), **kw)) for v in values]
        np.testing.assert_allclose(to_numpy(y), np.stack(parts), 1e-12)


# ---- operations with an attribute ----------------------------------------------------------------


def test_attribute_is_no_operand():
    assert TABLE['LeakyRelu'][1] == [
        ('in', 'Array', 'x'),
        ('attr', 'double', 'slope'),
        ('out_or_same', 'Array', 'out'),
    ]


@pytest.mark.parametrize('dtype', ['float16', 'bfloat16', 'float32', 'float64'])
def test_elu_of_any_alpha(dtype, device):
    """The gradient keeps y if alpha allows it, else x: the same values."""
    values = np.linspace(-2, 2, 9)
    for alpha in (-1.5, -0.0, 0.5, 2.0):
        x = chx.array(values, device=device).astype(dtype).require_grad()
        y = chx.elu(x, alpha)
        y.sum().backward()
        low = values <= 0
        tol = {'float16': 2e-3, 'bfloat16': 2e-2, 'float32': 1e-6, 'float64': 1e-12}[dtype]
        expected = np.where(low, alpha * np.expm1(values), values)
        np.testing.assert_allclose(to_numpy(y).astype('f8'), expected, tol, tol)
        slope = np.where(low, alpha * np.exp(values), 1)
        np.testing.assert_allclose(to_numpy(x.grad).astype('f8'), slope, tol, 4 * tol)
