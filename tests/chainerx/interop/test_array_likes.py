"""Numbers and lists instead of arrays: every routine accepts them."""

import re

import chainer
import chainerx as chx
import numpy as np
import pytest
from cases import CASES
from cases._harness import each, to_numpy
from cases._table import seeded
from chainerx import _core, func

# Row name -> parameters, in the binding's notation.
SIGNATURES = {
    {'routine': '', 'draw': 'random.'}.get(kind, f'{kind}.') + name: signature
    for kind, name, signature, _ in _core._signatures()
    if 'alias' not in kind and kind not in ('method', 'generator') and not name.startswith('_')
}
PARAMETER = re.compile(r'(?:^|, )(\*?\w+): ((?:[^,=\[]|\[(?:[^\[\]]|\[[^\]]*\])*\])+)(=?)')


def parameters(signature):
    """Name, annotation, and whether there is a default."""
    return [
        (name, annotation.strip(), default == '=')
        for name, annotation, default in PARAMETER.findall(signature[1:].rsplit(') -> ', 1)[0])
    ]


def takes_arrays(signature):
    return any(
        re.search(r'(?<![\w.])ndarray\b', annotation)
        for name, annotation, _ in parameters(signature)
        if name != 'out' and not annotation.startswith('Callable')
    )


ROUTINES = {name: s for name, s in SIGNATURES.items() if takes_arrays(s)}
WRITES = {name for name, s in SIGNATURES.items() if 'ExistingArray' in s}
# Arguments of routines that no row calls directly with drawn arrays.
SQUARE = [[2.0, 1.0], [1.0, 3.0]]
P = [0.25, 0.75]
CALLS = {
    'allclose': (P, P),
    'array_equal': (P, P),
    'array_equiv': (P, P),
    'empty_like': ([],),
    'frexp': (P,),
    'full': ((2, 2), P),
    'full_like': (SQUARE, P),
    'histogram': (P, 2),
    'histogram2d': (P, P, 2),
    'histogramdd': ([P, P], 2),
    'iscomplexobj': (P,),
    'isrealobj': (P,),
    'linalg.eig': (SQUARE,),
    'linalg.eigh': (SQUARE,),
    'linalg.eigvals': (SQUARE,),
    'linalg.lstsq': (SQUARE, P),
    'linalg.qr': (SQUARE,),
    'linalg.slogdet': (SQUARE,),
    'nancumprod': (P,),
    'nancumsum': (P,),
    'nextafter': (P, [1.0, 0.0]),
    'ones_like': (P,),
    'random.categorical': (P,),
    'random.choice': ([3, 5, 7], 4),
    'random.dirichlet': (P,),
    'random.hypergeometric': ([5, 6], [7, 8], [3, 4]),
    'random.integers': ([1, 2], [5, 7]),
    'random.multinomial': ([5, 6], P),
    'random.multivariate_hypergeometric': ([4, 5], 3),
    'random.multivariate_normal': (P, SQUARE),
    'random.permutation': ([1, 2, 3],),
    'random.permuted': ([1, 2, 3],),
    'random.randint': ([1, 2], [5, 7]),
    'random.triangular': ([0.0, 0.5], P, [1.0, 2.0]),
    'random.truncated_normal': ([0.0, -1.0], [0.5, 1.0]),
    'random.zipf': ([1.5, 2.5],),
    'real_if_close': ([1 + 0j, 2],),
    'roots': ([1.0, -3.0, 2.0],),
    'spacing': (P,),
    'to_numpy': (P,),
    'topk': (P, 1),
    'unique_all': (P,),
    'unique_counts': (P,),
    'unique_inverse': (P,),
    'zeros_like': (P,),
}
# Distributions whose parameters may have any value.
CALLS |= {
    name: tuple(
        [[5, 6] if a.startswith('int') else P for _, a, has_default in ps if not has_default]
    )
    or (P,)
    for name, ps in ((n, parameters(s)) for n, s in ROUTINES.items() if n.startswith('random.'))
    if name not in CALLS and name not in WRITES
}
NOT_CALLED = {
    'n_step_': 'lists of arrays are sequences, and lists of lists are layers',
    'unpackbits': 'lists are of int64, and it takes uint8, as NumPy does',
}


def drawn(case):
    """The first call of a row whose arrays can be given as lists, and their values."""
    for dtype in ('float64', 'int64', 'complex128', 'bool'):
        if dtype not in case.dtypes:
            continue
        for spec in case.calls:
            rng = seeded(case.name, dtype)
            values = [arg.draw(rng, dtype) for arg in spec.arrays()]
            if values and all(v.size for v in values):
                return spec, values
    return None


def rows_of_lists():
    for case in CASES:
        if case.fn is not None or case.name not in set(ROUTINES) - WRITES:
            continue
        if drawn(case) and not case.name.startswith(tuple(NOT_CALLED)):
            yield case


ROWS = list(rows_of_lists())


def with_values(spec, values, convert):
    it = iter(values)
    return spec.map(lambda _: convert(next(it)))


def resolve(name):
    function = chx
    for part in name.split('.'):
        function = getattr(function, part)
    return function


def check_same(found, expected):
    if isinstance(expected, (list, tuple)):
        for y, e in zip(found, expected, strict=True):
            check_same(y, e)
    elif isinstance(expected, chx.ndarray):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.device is expected.device
        np.testing.assert_array_equal(to_numpy(found), to_numpy(expected))
    else:
        np.testing.assert_array_equal(found, expected)


def test_every_routine_is_in_a_row():
    missing = set(ROUTINES) - WRITES - {case.name for case in ROWS} - set(CALLS)
    missing = [name for name in missing if not name.startswith(tuple(NOT_CALLED))]
    assert not missing, f'{sorted(missing)} are called with no list: a row for each, or a call'


@each(ROWS)
def test_lists(case):
    spec, values = drawn(case)
    function = case.resolve(chx)

    def call(convert):
        chx.random.seed(0)
        return with_values(spec, values, convert).run(function)

    check_same(
        call(lambda v: v.tolist() if v.ndim else chx.array(v)),
        call(lambda v: chx.array(v.tolist())),
    )


@pytest.mark.parametrize('name', CALLS)
def test_lists_in_calls(name):
    function = resolve(name)

    def call(convert):
        chx.random.seed(0)
        return function(*[convert(x) if isinstance(x, list) else x for x in CALLS[name]])

    check_same(
        call(lambda x: x),
        call(lambda x: [*map(chx.array, x)] if name == 'histogramdd' else chx.array(x)),
    )


@each([case for case in ROWS if case.elastic])
def test_numbers(case):
    """A number alone has the default dtype of its kind, and a NumPy scalar its own dtype."""
    spec, values = drawn(case)
    function = case.resolve(chx)
    numbers = [v.ravel()[0] for v in values]
    kinds = {'f': 'float32', 'i': 'int32', 'c': 'complex64', 'b': 'bool'}
    expected = with_values(spec, numbers, lambda v: chx.array(v).astype(kinds[v.dtype.kind]))
    check_same(with_values(spec, numbers, lambda v: v.item()).run(function), expected.run(function))
    expected = with_values(spec, numbers, chx.array)
    check_same(with_values(spec, numbers, lambda v: v).run(function), expected.run(function))


def only_arrays(signature):
    """The number of arguments of a routine that accept arrays only."""
    first, *rest = parameters(signature)
    required = [(name, a) for name, a, _ in (first, *[p for p in rest if not p[2]])]
    plain = re.compile(r'(ndarray|Scalar|None| |\|)+')
    if all(plain.fullmatch(a) and 'ndarray' in a for _, a in required):
        return len(required)
    return 0


@pytest.mark.parametrize('name', sorted(n for n in ROUTINES if n not in WRITES))
def test_a_number_is_an_array_without_axes(name):
    """The results are the same, even if they are errors."""
    n = only_arrays(ROUTINES[name])
    if n == 0:
        return
    function = resolve(name)

    def outcome(x):
        chx.random.seed(0)
        try:
            return function(*[x] * n), None
        except Exception as error:
            return (), (type(error), str(error))

    found, error = outcome(0.5)
    expected, expected_error = outcome(chx.array(0.5, 'float32'))
    assert error == expected_error
    check_same(found, expected)


# ---- dtypes and devices -------------------------------------------------------------------------


def test_the_dtype_of_numbers():
    for value, dtype in [
        (0.5, 'float32'),
        (2, 'int32'),
        (True, 'bool'),
        (2j, 'complex64'),
        (2**40, 'int64'),
        (2**63, 'uint64'),
        (np.float16(1), 'float16'),
        (np.float64(1), 'float64'),
        (np.int8(1), 'int8'),
        (np.uint64(1), 'uint64'),
        (np.complex128(1), 'complex128'),
        (np.bool_(True), 'bool'),
    ]:
        y = chx.ravel(value)
        assert (y.shape, y.dtype.name) == ((1,), dtype)
    assert chx.exp(2).dtype == 'float32'
    assert chx.sqrt(np.int64(4)).dtype == 'float32'
    with pytest.raises(OverflowError, match='ravel'):
        chx.ravel(2**64)


def test_a_number_alone_is_computed_in_the_given_dtype():
    """Not in its default dtype first, which would lose digits."""
    x = 0.123456789123
    for function in (chx.add, chx.sin, chx.ceil, chx.sum, chx.cumsum, chx.mean):
        n = 2 if function is chx.add else 1
        for dtype in ('float16', 'float32', 'float64', 'complex128'):
            if function is chx.ceil and dtype == 'complex128':
                continue
            expected = function(*[chx.array(x, dtype)] * n, dtype=dtype)
            check_same(function(*[x] * n, dtype=dtype), expected)
    assert chx.floor(1e30, dtype='float64').item() == 1e30
    assert chx.negative(2**62, dtype='int64').item() == -(2**62)
    assert chx.negative(2**70, dtype='float64').item() == -(2.0**70)
    # Numbers of a higher kind are refused, or cast, as arrays are.
    assert chx.sum(1.7, dtype='int8').item() == 1
    with pytest.raises(chx.DtypeError, match='does not go into dtype, int32'):
        chx.add(0.5, 1, dtype='int32')
    with pytest.raises(OverflowError, match='300 does not fit in int8'):
        chx.negative(300, dtype='int8')
    with pytest.raises(TypeError, match='dtype'):
        chx.negative(1, dtype='no dtype')


def test_numbers_together():
    for args, dtype in [
        ((1, 2), 'int32'),
        ((1, 2.0), 'float32'),
        ((1.0, 2j), 'complex64'),
        ((np.float16(1), 2.0), 'float16'),
        ((np.float64(1), 2), 'float64'),
        ((2, np.float64(1)), 'float64'),
        ((np.float16(1), np.float64(1)), 'float64'),
        ((np.int8(1), np.int64(1)), 'int64'),
    ]:
        y = chx.add(*args)
        assert (y.shape, y.dtype.name) == ((), dtype), args
        assert y.item() == args[0] + args[1]


def test_a_number_beside_an_array_is_weak():
    x = chx.ones((2, 2), 'float16')
    assert chx.dot(x, 2.0).dtype == 'float16'
    assert chx.dot(np.float64(2), x).dtype == 'float16'
    assert chx.dot(x, 2).dtype == 'float16'
    assert chx.dot(chx.ones(2, 'int8'), 2).dtype == 'int8'
    assert chx.dot(chx.ones(2, 'int8'), 0.5).dtype == 'float32'
    assert chx.stack([x.sum(), 0.0]).dtype == 'float16'
    assert chx.einsum('ij,->', x, np.float64(2)).dtype == 'float16'
    assert chx.block([x[0], np.float64(2)]).dtype == 'float16'
    assert chx.concatenate([x[0], [1.0]]).dtype == 'float64'  # like chainerx.array([1.0])
    assert chx.outer(chx.ones(2, bool), 3).tolist() == [[3], [3]]
    with pytest.raises(OverflowError, match='300 does not fit in int8'):
        chx.kron(chx.ones(2, 'int8'), 300)


def test_devices():
    with chx.using_device('native:1'):
        assert chx.exp(0.5).device.name == 'native:1'
        assert chx.exp([0.5]).device.name == 'native:1'
    x = chx.ones(2, device='native:1')
    for y in (
        chx.add(x, [1, 2]),
        chx.dot(x, 2.0),
        chx.append(x, 2.0),
        chx.einsum('i,i', x, [1, 2]),
    ):
        assert y.device.name == 'native:1'


def test_by_keyword_and_as_methods():
    x = chx.array([[1.0, 2.0], [3.0, 4.0]])
    assert chx.exp(x=0.0).item() == 1
    assert chx.sum(a=[1, 2], axis=0).item() == 3
    assert chx.add(x1=1, x2=[2, 3]).tolist() == [3, 4]
    assert x.dot([1.0, 1.0]).tolist() == [3, 7]
    assert x.clip([0.0, 3.0]).tolist() == [[1, 3], [3, 4]]
    assert x.std(mean=2.5).item() == pytest.approx(1.25**0.5)
    out = chx.zeros((), 'float64')
    assert chx.exp(0.0, out=out) is out
    assert out.item() == 1
    assert chx.exp(0.5, dtype='float64').dtype == 'float64'
    assert chx.add([1, 2], 1, where=[True, False]).tolist() == [2, 0]


def test_several_arrays():
    assert [x.shape for x in chx.atleast_2d(1.0, [2.0])] == [(1, 1), (1, 1)]
    assert chx.ix_([0, 1], [2])[0].shape == (2, 1)
    assert chx.meshgrid([1, 2], [3, 4, 5])[1].tolist() == [[3, 3], [4, 4], [5, 5]]
    assert chx.hstack([1, 2.0]).tolist() == [1, 2]
    assert chx.concatenate(([1, 2], (3,))).tolist() == [1, 2, 3]
    assert chx.block([[chx.ones((1, 1), 'float16'), 2.0]]).dtype == 'float16'
    assert chx.einsum('ij,j->i', [[1, 2], [3, 4]], [1, 1]).tolist() == [3, 7]
    assert chx.einsum([[1, 2], [3, 4]], [0, 1], [0]).tolist() == [3, 7]
    assert chx.gradient([1.0, 2.0, 4.0], 2.0).tolist() == [0.5, 0.75, 1]
    assert chx.select([[True, False]], [[1, 2]], 5).tolist() == [1, 5]
    assert chx.choose([1, 0], [[1, 2], [3, 4]]).tolist() == [3, 2]
    assert chx.interp(1.5, [1, 2], [10.0, 20.0]).item() == 15
    assert chx.isin(3, [1, 3]).item()
    assert chx.full((2, 2), [1.0, 2.0]).tolist() == [[1, 2], [1, 2]]
    chx.random.seed(0)
    assert chx.random.choice([7, 8], 3, p=[0.0, 1.0]).tolist() == [8, 8, 8]
    assert chx.random.normal([0.0, 100.0], 1e-3).tolist() == pytest.approx([0, 100], abs=0.1)
    assert sorted(chx.random.permutation([3, 1, 2]).tolist()) == [1, 2, 3]


def test_routines_in_python(tmp_path):
    assert chx.apply_along_axis(chx.sum, 0, [[1, 2], [3, 4]]).tolist() == [4, 6]
    assert chx.apply_over_axes(chx.sum, [[1, 2], [3, 4]], 0).tolist() == [[4, 6]]
    assert chx.piecewise([1.0, -2.0], [[True, False]], [5.0, 7.0]).tolist() == [5, 7]
    assert chx.piecewise(2.0, [True], [5.0]).dtype == 'float32'
    assert list(chx.ndenumerate([5, 6])) == [((0,), 5), ((1,), 6)]
    chx.save(tmp_path / 'x.npy', [1.0, 2.0])
    assert chx.load(tmp_path / 'x.npy').tolist() == [1, 2]
    chx.savez(tmp_path / 'x.npz', 0.5, y=[1])
    assert chx.load(tmp_path / 'x.npz')['arr_0'].dtype == 'float32'
    with pytest.raises(TypeError, match=r'piecewise: x must be a chainerx.ndarray, got NoneType'):
        chx.piecewise(None, [True], [5.0])
    with pytest.raises(TypeError, match=r'save: arr must be a chainerx.ndarray, got ndarray'):
        chx.save(tmp_path / 'z.npy', np.ones(2))


# ---- graphs and batches -------------------------------------------------------------------------


def test_arrays_in_lists_keep_their_graphs():
    x = chx.array([1.0, 2.0], 'float64').require_grad()
    y = chx.sum([x, x * x], axis=0)
    chx.backward(chx.sum(chx.multiply(y, [1.0, 10.0])))
    assert x.grad.tolist() == [3, 50]
    x.cleargrad()
    chx.backward(chx.stack([x[0] * 3, 1.0]).sum())
    assert x.grad.tolist() == [3, 0]
    x.cleargrad()
    chx.backward(chx.prod([x[0], 5.0, x[1]]))
    assert x.grad.tolist() == [10, 5]


def test_batches():
    x = chx.array([[1.0, 2.0], [3.0, 5.0]], 'float64')
    weights = [10.0, 100.0]
    for f in (
        lambda a: chx.add(a, weights),
        lambda a: chx.dot(weights, a),
        lambda a: chx.concatenate([a, weights]),
        lambda a: chx.stack([a[0], 1.0, a[1]]),
        lambda a: chx.sum([a, [1.0, 1.0], a], axis=0),
        lambda a: chx.add(chx.exp(0.5), a),
        lambda a: chx.einsum('i,i->', a, weights),
        lambda a: chx.interp(a, [0, 10], [0, 100]),
    ):
        expected = chx.stack([f(row) for row in x])
        found = func.vmap(f)(x)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(to_numpy(found), to_numpy(expected))
    assert func.grad(lambda a: chx.sum(chx.multiply(a, weights)))(x[0]).tolist() == weights


# ---- what is none -------------------------------------------------------------------------------


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize(
    'garbage',
    [None, 'abc', b'abc', {}, {1}, object(), ['a'], [None], [{}], Text('1'), range(3)],
    ids=lambda garbage: type(garbage).__name__,
)
def test_garbage(garbage):
    kind = type(garbage).__name__
    with pytest.raises(TypeError, match=rf'exp: x must be a chainerx.ndarray, got {kind}'):
        chx.exp(garbage)
    with pytest.raises(TypeError, match=rf'sum: a must be a chainerx.ndarray, got {kind}'):
        chx.sum(garbage, 0)
    with pytest.raises(TypeError, match=r'add: x[12] must be a chainerx.ndarray'):
        chx.add(1.0, garbage)
    with pytest.raises(TypeError, match='stack: arrays must be a'):
        chx.stack([chx.ones(()), garbage])


def test_arrays_of_numpy_are_refused():
    """The caller has to choose the device for them."""
    for x in (np.ones(2), np.array(1.0)):
        with pytest.raises(
            TypeError, match=r'exp: x must be a chainerx.ndarray, got numpy.ndarray'
        ):
            chx.exp(x)


def test_rows_of_other_lengths():
    with pytest.raises(ValueError, match='inhomogeneous'):
        chx.sum([[1, 2], [3]])


def test_an_interrupt_in_a_list_comes_out():
    class Number:
        def __float__(self):
            raise KeyboardInterrupt

        __array__ = __float__

    with pytest.raises(KeyboardInterrupt):
        chx.sum([Number()])


def test_a_variable_is_no_array():
    text = r'exp: x must be .*, got Parameter; pass its array, or .*chainer\.functions$'
    with pytest.raises(TypeError, match=text):
        chx.exp(chainer.Parameter(np.ones(2, 'f')))


def test_another_mistake_is_told_of_the_array():
    with pytest.raises(chx.DimensionError, match='sum: axis 3'):
        chx.sum([1, 2], axis=3)
    with pytest.raises(TypeError, match='sum: axis'):
        chx.sum([1, 2], axis='a')
    with pytest.raises(TypeError, match="unexpected keyword argument 'axes'"):
        chx.sum([1, 2], axes=1)


def test_written_objects_are_arrays():
    x = chx.zeros(2)
    written = [[1.0, 2.0], 5.0]
    for target in written:
        for f in (
            lambda a: chx.copyto(a, x),
            lambda a: chx.put(a, [0], [1]),
            lambda a: chx.place(a, x > 0, [1]),
            lambda a: chx.putmask(a, x > 0, [1]),
            lambda a: chx.put_along_axis(a, x.astype('int64'), x),
            lambda a: chx.add_at(a, [0], x),
            lambda a: chx.fill_diagonal(a, 1),
            lambda a: chx.random.shuffle(a),
            lambda a: chx.backward(a),
            lambda a: chx.grad([x], [a]),
            lambda a: chx.exp(x, out=a),
            lambda a: x.copy().set_grad(a),
            lambda a: chx.batch_norm(chx.ones((2, 2)), x, x, a, x),
        ):
            with pytest.raises(TypeError):
                f(target)
    assert written == [[1.0, 2.0], 5.0]
    a = chx.zeros((2, 2), 'float64')
    chx.copyto(a, [1.0, 2.0])
    assert a.tolist() == [[1, 2], [1, 2]]
