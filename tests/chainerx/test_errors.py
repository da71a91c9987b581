"""Drives every row of the table with bad input: no crash, a documented class, nothing changed.

The input is generated: each array of a row's first calls is replaced in turn by each of a list of
bad arrays and objects, each parameter by bad values, each axis by bad axes. CI runs it under the
sanitizers too.
"""

import dataclasses
import itertools

import chainerx as chx
import numpy as np
import pytest
from cases import CASES
from cases._harness import Prepared, call_text, to_numpy
from cases._table import Arg, Call

DOCUMENTED = (chx.ChainerxError, TypeError, ValueError, IndexError, MemoryError)
ROWS = [c for c in CASES if c.ref is not None and c.calls]
HUGE = 2**62


def unique(cases):
    """One row per op: bad input doesn't need the variations."""
    rows = {}
    for case in cases:
        rows.setdefault(case.name, case)
    return list(rows.values())


each_op = pytest.mark.parametrize('case', unique(ROWS), ids=str)


def attempt(case, call, where):
    """Runs the call; any result is valid, but only documented errors with a message."""
    error = None
    try:
        call.run(case.resolve(chx))
    except DOCUMENTED as caught:
        error = caught
    except Exception as caught:
        raise AssertionError(f'{where}: {type(caught).__name__} is not documented') from caught
    if error is not None:
        assert str(error).strip(), f'{where}: {type(error).__name__} without a message'
    if isinstance(error, chx.ChainerxError) and case.fn is None:
        assert mentions(str(error), case.name), f'{where}: "{error}" does not name the op'


def mentions(text, name):
    """The name of the op, or of the function that it is an alias of."""
    aliases = {'mod': 'remainder', 'abs': 'absolute', 'true_divide': 'divide'}
    aliases |= {'amax': 'max', 'amin': 'min', 'fabs': 'abs', 'bitwise_not': 'invert'}
    aliases |= {'psi': 'digamma', 'gammaln': 'lgamma', 'permute_dims': 'transpose'}
    aliases |= {'concat': 'concatenate', 'row_stack': 'vstack'}
    aliases |= {'around': 'round', 'conjugate': 'conj'}
    text = text.lower().replace('_', '')
    name = name.rpartition('.')[2]
    names = (name, aliases.get(name, name))
    return any(n.replace('_', '') in text for n in names)


def replaced(prepared, position, value):
    """The prepared call with its n-th array replaced."""
    arrays = list(prepared.arrays)
    arrays[position] = value
    it = iter(arrays)
    return prepared.spec.map(lambda a: next(it))


def first_calls(case, count=2):
    return [c for c in case.calls if all(0 not in a.shape for a in c.arrays())][:count]


def prepare(case, spec, device='native:0', dtype=None):
    dtype = dtype or ('float32' if 'float32' in case.dtypes else case.dtypes[0])
    return Prepared(case, spec, dtype, device=device)


def check_unchanged(prepared, where):
    for x, old in zip(prepared.arrays, prepared.values, strict=True):
        np.testing.assert_array_equal(to_numpy(x), old, err_msg=where)


def bad_arrays(device):
    """Arrays of wrong rank, shape and dtype, empty, with odd values."""
    yield from (chx.zeros(shape, 'float32', device=device) for shape in ((), (0,), (5, 7), (0, 3)))
    yield chx.zeros((1,) * 10, 'float32', device=device)
    yield chx.zeros((2, 3), 'complex64', device=device)
    yield chx.zeros((2, 3), 'bool', device=device)
    yield chx.full((2, 3), float('nan'), device=device)
    yield chx.full((2, 3), -(2**31), 'int32', device=device)
    yield chx.full((3,), -(2**63), 'int64', device=device)
    yield chx.full((3,), 2**63 - 1, 'int64', device=device)


def bad_objects():
    yield from (None, 'text', b'bytes', object(), {}, {1, 2}, len, type, 1j, float('nan'), 2**70)
    yield from ([], [[1, 2], [3]], [None], ['a'], [[[]]], [1, [2, [3, [4]]]], (1, (2,)))
    yield np.array([1, None], object)
    yield np.zeros(2, 'S3')
    yield np.zeros(2, [('a', 'i4')])
    yield np.zeros((2, 3))


BAD_VALUES = [None, 'x', '0', b'', float('nan'), float('inf'), 1.5, 1j, object(), [], (), [[]]]
BAD_VALUES += [(0, 0), (0, 0, 0), [None], 100, -100, HUGE, -HUGE, 2**63 - 1, -(2**63), 2**64, 2**70]
BAD_VALUES += [True, np.float32(2), np.array([0, 1]), np.array(1), {}, (2**31, 2**31), (HUGE, HUGE)]
BAD_VALUES += [(-1,), (-1, -1), (1,) * 11, (0, HUGE, HUGE), range(2), iter([0]), 'native:9']


@each_op
def test_bad_arrays(case, device):
    for spec in first_calls(case):
        prepared = prepare(case, spec, device)
        for position in range(len(prepared.arrays)):
            for bad in bad_arrays(device):
                where = f'{case.name} with {bad.dtype} {bad.shape} as array {position}'
                attempt(case, replaced(prepared, position, bad), where)
        check_unchanged(prepared, case.name)


@each_op
def test_bad_objects(case, device):
    if case.fn is not None:
        return  # Python's use of the object is not ours
    for spec in first_calls(case):
        prepared = prepare(case, spec, device)
        for position in range(len(prepared.arrays)):
            for bad in bad_objects():
                where = f'{case.name} with {bad!r} as array {position}'
                attempt(case, replaced(prepared, position, bad), where)
        check_unchanged(prepared, case.name)


@each_op
def test_bad_parameters(case, device):
    """Axes, shapes, dtypes and all other parameters, and one argument too few or too many."""
    names = [part.split('=')[0].strip() for part in case.sig.split(',') if part]
    for spec in first_calls(case, 3):
        prepared = prepare(case, spec, device)
        call = prepared.call
        for n, original in enumerate(call.args):
            if isinstance(original, chx.ndarray):
                continue
            for bad in BAD_VALUES:
                args = (*call.args[:n], bad, *call.args[n + 1 :])
                attempt(case, Call(args, call.kw), f'{case.name} with {bad!r} as argument {n}')
        arrays = [n for n, a in zip(names, call.args, strict=False) if isinstance(a, chx.ndarray)]
        for name in {*names[len(call.args) :], *call.kw} - {*arrays}:
            for bad in BAD_VALUES:
                where = f'{case.name} with {name}={bad!r}'
                attempt(case, Call(call.args, call.kw | {name: bad}), where)
        if not case.name.startswith(
            ('meshgrid', 'ix_', 'atleast_')
        ):  # as in NumPy, empty inputs have empty results
            with pytest.raises((TypeError, chx.ChainerxError, AttributeError)):
                Call((), {}).run(case.resolve(chx))
        attempt(case, Call(call.args + (object(),) * 9, {}), f'{case.name} with 9 more arguments')
        # Any false value of its parameter makes it write to its operand.
        if case.name != 'nan_to_num':
            check_unchanged(prepared, case.name)


@pytest.mark.parametrize(
    ('call', 'shape'),
    [
        (lambda a: chx.zeros(a(3)), (3,)),
        (lambda a: chx.zeros((6, 2)).reshape(a(12)), (12,)),
        (lambda a: chx.zeros((2, 3)).sum(a(1)), (2,)),
        (lambda a: chx.zeros((2, 3)).sum(a([1, 0])), ()),
        (lambda a: chx.broadcast_to(chx.zeros(1), a(3)), (3,)),
        (lambda a: chx.pad(chx.zeros((2, 3)), a(1)), (4, 5)),
        (lambda a: chx.pad(chx.zeros((2, 3)), a([[1, 0], [2, 2]])), (3, 7)),
        (lambda a: chx.max_pool(chx.zeros((1, 1, 6, 6)), a(2)), (1, 1, 3, 3)),
        (lambda a: chx.max_pool(chx.zeros((1, 1, 6, 6)), a([3, 2]), pad=a([0, 1])), (1, 1, 2, 4)),
        (lambda a: chx.max_pool(chx.zeros((1, 1, 6, 6)), 2, pad=a([[0, 0], [0, 2]])), (1, 1, 3, 4)),
        (lambda a: chx.adaptive_max_pool(chx.zeros((1, 1, 6, 6)), a([3, 2])), (1, 1, 3, 2)),
    ],
)
@pytest.mark.parametrize('dtype', ['int64', 'uint8', 'float32'])
def test_arrays_of_numpy_where_integers_are_taken(call, shape, dtype):
    if dtype != 'float32':
        assert call(lambda v: np.array(v, dtype)).shape == shape
        return
    with pytest.raises(TypeError, match=r'^\w+: \w+ must be an integer, got numpy'):
        call(lambda v: np.array(v, dtype))


def test_other_sequences_of_integers():
    x = chx.zeros((1, 1, 6, 6))
    assert chx.max_pool(x, range(2, 4), pad=[range(2), (1, 0)]).shape == (1, 1, 3, 2)
    with pytest.raises(TypeError, match='max_pool: ksize must be an integer, got str'):
        chx.max_pool(x, '22')
    with pytest.raises(chx.DimensionError, match=r'pad is \(\), expected 2 numbers'):
        chx.max_pool(x, 2, pad=np.zeros(0, 'i'))


@pytest.mark.parametrize(
    'case', [c for c in unique(ROWS) if 'axis=' in c.sig and 'arrays' not in c.sig], ids=str
)
def test_bad_axis(case, device):
    """An axis that isn't there is a DimensionError with its number; no int at all a TypeError."""
    spec = next(c for c in case.calls if len(next(c.arrays()).shape) == 2)
    spec = Call(spec.args, {k: v for k, v in spec.kw.items() if k != 'axis'})
    for bad in (2, -3, 100, 2**31, -(2**31), HUGE, 2**64 - 1, 127, 128, 255, 256):
        prepared = prepare(case, spec, device)
        if 'indices' in case.sig:
            prepared.call = Call(prepared.call.args[:2], prepared.call.kw)
        with pytest.raises((chx.DimensionError, OverflowError, TypeError)) as info:
            run_with_axis(case, prepared, bad)
        assert isinstance(info.value, DOCUMENTED), f'{case.name}: {info.value!r} for axis {bad}'
        if isinstance(info.value, chx.DimensionError) and -(2**63) <= bad < 2**63:
            assert str(bad) in str(info.value), f'{case.name}: {info.value} lacks {bad}'
    for bad in (float('nan'), 0.0, 1.5, '0', b'', object(), 1j, True, np.array(0.0), np.array('a')):
        prepared = prepare(case, spec, device)
        if 'indices' in case.sig:
            prepared.call = Call(prepared.call.args[:2], prepared.call.kw)
        with pytest.raises(TypeError, match=': axis must be'):
            run_with_axis(case, prepared, bad)


def run_with_axis(case, prepared, axis):
    Call(prepared.call.args, prepared.call.kw | {'axis': axis}).run(case.resolve(chx))


@each_op
def test_mixed_devices(case, device):
    """Operands on two devices are a DeviceError, never a silent copy."""
    others = [d for d in ('native:0', 'native:1') if d != device.name]
    for spec in first_calls(case, 99):
        prepared = prepare(case, spec, device)
        if len(prepared.arrays) < 2:
            continue
        for position in range(len(prepared.arrays)):
            moved = prepared.arrays[position].to_device(others[0])
            with pytest.raises(chx.DeviceError) as info:
                replaced(prepared, position, moved).run(case.resolve(chx))
            text = str(info.value)
            assert device.name in text, f'{case.name}: {text}'
            assert others[0] in text, f'{case.name}: {text}'
        check_unchanged(prepared, case.name)
        return


@each_op
def test_foreign_context(case, device):
    """An array of another context in place of one of several."""
    context = chx.Context()
    foreign = context.get_device('native', 0)
    for spec in first_calls(case, 1):
        prepared = prepare(case, spec, device)
        if not prepared.arrays:
            return
        with chx.context_scope(context):
            outside = chx.array(prepared.values[0], device=foreign)
        call = replaced(prepared, 0, outside)
        if len(prepared.arrays) > 1:
            with pytest.raises((chx.ContextError, chx.DeviceError)):
                call.run(case.resolve(chx))
        else:
            attempt(case, call, f'{case.name} in a foreign context')


@each_op
def test_deleted_graph(case, device):
    """Arrays of a graph whose scope has ended: usable as data, an error as a graph."""
    for spec in first_calls(case, 1):
        prepared = prepare(case, spec, device)
        targets = prepared.differentiable()
        if case.diff == () or not targets:
            return
        with chx.backprop_scope('gone') as gone:
            for n in targets:
                prepared.arrays[n].require_grad(gone)
            results = prepared.call.run(case.resolve(chx))
        for y in results if isinstance(results, (list, tuple)) else [results]:
            with pytest.raises(chx.ChainerxError):
                chx.backward(y, gone)
        attempt(case, prepared.call, f'{case.name} after the scope')
        del results
        check_unchanged(prepared, case.name)


@each_op
def test_huge(case, device):
    """Operands with 2**62 elements (stride 0): a view, or an error at once."""
    if not case.huge or case.fn is not None:
        return
    for spec in first_calls(case, 1):
        prepared = prepare(case, spec, device)
        for position, x in enumerate(prepared.arrays):
            one = x.reshape(-1)[:1].reshape(())
            for shape in ((HUGE,), (2**31, 2**31), (1, HUGE), (HUGE, 1), (2**20, 2**21, 2**21)):
                try:
                    huge = chx.broadcast_to(one, shape)
                except (chx.DimensionError, MemoryError):
                    continue
                call = replaced(prepared, position, huge)
                attempt(case, call, f'{case.name} with {shape} as array {position}')


@each_op
def test_empty(case, device):
    """Every array empty along each axis in turn."""
    for spec in first_calls(case):
        rank = max((len(a.shape) for a in spec.arrays()), default=0)
        for axis in range(rank):

            def empty(arg: Arg, axis=axis):
                if len(arg.shape) <= axis or arg.data is not None:
                    return arg
                return dataclasses.replace(
                    arg, shape=(*arg.shape[:axis], 0, *arg.shape[axis + 1 :]), distinct=False
                )

            prepared = prepare(case, spec.map(empty), device)
            attempt(case, prepared.call, f'{case.name}, empty along {axis}: {call_text(spec)}')


@each_op
def test_strange_dtypes(case, device):
    """All pairs of dtypes, also in ops where only some make sense."""
    dtypes = ('bool', 'int8', 'uint64', 'float16', 'bfloat16', 'float64', 'complex64')
    for spec in first_calls(case, 1):
        count = sum(a.dtype is None for a in spec.arrays())
        for pair in itertools.product(dtypes, repeat=min(count, 2)):
            chosen = pair + pair[-1:] * (count - len(pair))
            if not chosen:
                return
            prepared = Prepared(case, spec, chosen[0], device=device, dtypes=chosen)
            attempt(case, prepared.call, f'{case.name} of {chosen}')
            check_unchanged(prepared, case.name)


def test_creation_out_of_memory(device):
    """Arrays that exceed memory raise MemoryError (or DimensionError); later calls work."""
    for shape in ((HUGE,), (2**40, 2**10), (2**62, 2**62), (2**63 - 1,), (2**62, 4), (3, 2**62)):
        for make in (chx.zeros, chx.ones, chx.empty):
            with pytest.raises((MemoryError, chx.DimensionError)):
                make(shape, 'float64', device=device)
        with pytest.raises((MemoryError, chx.DimensionError)):
            chx.full(shape, 1.0, device=device)
    for count in (2**62, 2**63 - 1):
        with pytest.raises((MemoryError, chx.DimensionError)):
            chx.arange(count)
        with pytest.raises((MemoryError, chx.DimensionError)):
            chx.identity(count)
        with pytest.raises((MemoryError, chx.DimensionError)):
            chx.linspace(0, 1, count)
    assert float(chx.ones(3, device=device).sum()) == 3


def test_exception_classes():
    """The old names, and the ordinary ones they now also are."""
    base = chx.ChainerxError
    names = 'Context Backend Device Dimension Dtype Gradient GradientCheck NotImplemented NotFound'
    for name in names.split():
        assert issubclass(getattr(chx, name + 'Error'), base), name
    assert issubclass(base, Exception)
    assert issubclass(chx.DimensionError, ValueError)
    assert issubclass(chx.DtypeError, TypeError)
    assert issubclass(chx.NotImplementedError, NotImplementedError)
