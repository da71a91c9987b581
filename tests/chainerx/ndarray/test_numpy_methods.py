"""Attributes and methods of NumPy's arrays that are more than a routine with another name."""

import builtins

import chainerx as chx
import numpy as np
import pytest
from cases._arrays import check, filled, leaf, same


def test_methods_are_routines():
    x, n = filled(3, 4)
    same(x.diagonal(1), n.diagonal(1))
    same(x.trace(-1), np.float32(n.trace(-1)))
    same(x.conj(), n)
    assert x.conjugate().data_ptr != x.data_ptr
    same((x > 5).choose([x, x + 1]), np.where(n > 5, n + 1, n))
    same(x.compress([True, False, True], 0), n.compress([True, False, True], 0))
    for ours, theirs in zip(x.nonzero(), n.nonzero(), strict=True):
        same(ours, theirs)
    x.put([0, 5], [7, 8])
    n.put([0, 5], [7, 8])
    same(x, n)


def test_matrices_transposed():
    x, n = filled(2, 3, 4)
    same(x.mT, n.swapaxes(-1, -2))
    assert x.mT.data_ptr == x.data_ptr
    with pytest.raises(chx.DimensionError, match='mT'):
        _ = chx.zeros(3).mT


@pytest.mark.parametrize('dtype', ['complex64', 'complex128'])
def test_parts_of_complex_numbers(dtype):
    n = (np.arange(6) + 1j * np.arange(6)[::-1]).astype(dtype).reshape(2, 3)
    x = chx.array(n)
    same(x.real, n.real)
    same(x.imag, n.imag)
    x.real = [1, 2, 3]
    x.imag = x.real
    n.real = [1, 2, 3]
    n.imag = n.real
    same(x, n)
    x.T.imag[0] = 9
    assert (chx.to_numpy(x).imag[:, 0] == 9).all()
    y = x.copy().require_grad()
    for name in ('real', 'imag'):
        with pytest.raises(chx.ChainerxError, match='graph'):
            setattr(y, name, 1)
        with pytest.raises(chx.DtypeError, match=name):
            setattr(x, name, 1j)


def test_parts_of_real_numbers():
    x, n = filled(2, 3)
    assert x.real.data_ptr == x.data_ptr
    same(x.imag, np.zeros((2, 3), 'float32'))
    x.real = n + 1
    same(x, n + 1)
    with pytest.raises(TypeError, match='imag'):
        x.imag = 1
    y = leaf([1, 2])
    y.real.backward()
    check(y.grad, [1, 1])


@pytest.mark.parametrize('dtype', ['bool', 'int16', 'float32', 'complex128', 'bfloat16'])
def test_bytes(dtype):
    x = chx.arange(6).reshape(2, 3).astype(dtype)
    n = chx.to_numpy(x)
    for ours, theirs in ((x, n), (x.T, n.T), (x[:, ::-2], n[:, ::-2]), (x[:0], n[:0])):
        assert ours.tobytes() == theirs.tobytes()
        assert ours.tobytes('F') == theirs.tobytes('F')
    with pytest.raises(ValueError, match='order'):
        x.tobytes('K')


def test_array_api_namespace():
    x = chx.zeros(2)
    assert x.__array_namespace__() is chx
    assert x.__array_namespace__(api_version='2023.12') is chx
    with pytest.raises(ValueError, match='1999'):
        x.__array_namespace__(api_version='1999.12')
    info = chx.__array_namespace_info__()
    assert info.default_device() is chx.get_default_device()
    assert info.default_device() in info.devices()
    defaults = info.default_dtypes()
    assert defaults['real floating'] == chx.zeros(1).dtype
    assert defaults['integral'] == chx.arange(1).dtype
    assert defaults['indexing'] == chx.argmax(x).dtype
    assert [*info.dtypes(kind='real floating')] == ['float32', 'float64']
    assert len(info.dtypes()) == 13
    shape = (1,) * info.capabilities()['max dimensions']
    assert chx.zeros(shape).ndim == 10
    with pytest.raises(chx.DimensionError):
        chx.zeros((1, *shape))


def test_atleast_of_several_arrays():
    x, y = chx.zeros(3), chx.zeros(())
    for ours, theirs in (
        (chx.atleast_1d, np.atleast_1d),
        (chx.atleast_2d, np.atleast_2d),
        (chx.atleast_3d, np.atleast_3d),
    ):
        several = ours(x, y)
        assert type(several) is tuple
        for a, b in zip(several, theirs(np.zeros(3, 'f4'), np.zeros((), 'f4')), strict=True):
            same(a, b)
        assert ours() == ()
        with pytest.raises(TypeError, match='atleast'):
            ours(x, 'a')


def test_item_at_a_place():
    x, n = filled(2, 3)
    for args in ((4,), (-1,), (1, 2), (-1, 0), ((1, 1),), ((3,),), (np.int8(2),)):
        assert x.item(*args) == n.item(*args)
        assert x.T.item(*args[:1]) == n.T.item(*args[:1]) or len(args) > 1
    assert x[0].item(1) == n[0].item(1)
    assert x[1, 2].item() == x[1, 2].item(()) == n[1, 2].item(())
    assert chx.array(3).item(0) == 3
    assert type(x.astype('int8').item(0)) is int
    for args in ((6,), (-7,), (2, 0), (0, -4)):
        with pytest.raises(IndexError):
            x.item(*args)
    for args in ((), (0, 0, 0), ((),)):
        with pytest.raises(chx.DimensionError, match='item'):
            x.item(*args)
    for args in ((1.0,), ('1',), (True,), (None, 1)):
        with pytest.raises(TypeError, match='item'):
            x.item(*args)


def layouts():
    x, n = filled(2, 3, 4)
    yield from ((x, n), (x.T, n.T), (x.transpose(1, 0, 2), n.transpose(1, 0, 2)))
    yield from ((x[:, ::-1], n[:, ::-1]), (x[..., ::2], n[..., ::2]), (x[:1].T, n[:1].T))
    yield from ((x[::-1, ::-1, ::-1], n[::-1, ::-1, ::-1]), (x[0, 0, 0], n[0, 0, 0]))
    yield from (
        (x[:, :0], n[:, :0]),
        (chx.broadcast_to(x, (2, 2, 3, 4)), np.broadcast_to(n, (2, 2, 3, 4))),
    )


@pytest.mark.parametrize('order', 'CFAK')
def test_orders_of_elements(order):
    """'A' and 'K' depend on the memory layout, which a row of the table does not see."""
    for x, n in layouts():
        for y, e in (
            (x.ravel(order), n.ravel(order)),
            (chx.ravel(x, order=order), n.ravel(order)),
            (x.flatten(order), n.flatten(order)),
        ):
            if order == 'K' and any(s < 0 for s in n.strides):
                e = np.abs(n)[tuple([slice(None, None, -1 if s < 0 else 1) for s in n.strides])]
                e = n.transpose(sorted(range(n.ndim), key=lambda i: -abs(n.strides[i]))).ravel()
            same(y, e)
        assert not chx.shares_memory(x, x.flatten(order))
        if order != 'K':
            same(x.reshape((x.size,), order=order), n.reshape((n.size,), order=order))
            if x.size == 24:
                same(chx.reshape(x, 4, 6, order=order), n.reshape(4, 6, order=order))
                same(x.reshape(-1, 2, order=order), n.reshape(-1, 2, order=order))
    x, n = filled(3, 4)
    assert chx.shares_memory(x.T, x.T.ravel('F'))
    assert chx.shares_memory(x.T, x.T.ravel('K'))
    y = leaf(np.ones((3, 4)))
    g = np.arange(12, dtype='float32')
    (y.T.ravel(order) * chx.array(g)).sum().backward()
    back = {'C': g.reshape(4, 3).T, 'F': g.reshape(3, 4)}
    np.testing.assert_array_equal(chx.to_numpy(y.grad), back['C' if order == 'C' else 'F'])
    for method in (x.ravel, x.flatten):
        with pytest.raises(ValueError, match='order'):
            method('c')


def test_view_of_another_dtype():
    x, n = filled(3, 4)
    for dtype in ('int32', 'uint8', 'float64', 'complex64', 'int16'):
        for a, b in ((x, n), (x[::2], n[::2]), (x[::-1], n[::-1]), (x[1:1], n[1:1])):
            same(a.view(dtype), b.view(dtype))
        assert chx.shares_memory(x, x.view(dtype))
    same(x.T.view('uint32'), n.T.view('uint32'))
    same(x[1, 2].view('int32'), n[1, 2].view('int32'))
    y = x.view('int32')
    y += 1
    same(x, (n.view('int32') + 1).view('float32'))
    for bad, dtype, text in (
        (x.T, 'int64', 'stride'),
        (x[:, :3], 'float64', '12 bytes'),
        (x[0, 0], 'int8', r'shape \(\)'),
        (x[:, 1:3], 'float64', 'aligned'),
    ):
        with pytest.raises(ValueError, match=text):
            bad.view(dtype)
    with pytest.raises(chx.DtypeError, match='bool'):
        x.view(bool)
    flags = chx.array([True, False])
    assert flags.view('int8').tolist() == [1, 0]
    with pytest.raises(chx.ChainerxError, match=r'read-only|write'):
        flags.view('int8')[0] = 2
    assert chx.shares_memory(flags, flags.view(bool))


def test_view_and_backward():
    """The view is in no graph, but backward detects writes through it."""
    x = leaf([1.0, 2.0, 3.0, 4.0])
    assert not x.view('int32').is_backprop_required()
    assert x.view('float32').is_backprop_required()
    c = chx.array([1.0, 2.0, 3.0, 4.0], 'float32')
    y = x * c
    c.view('int32')[0] = 0
    with pytest.raises(chx.GradientError, match='written'):
        y.backward()


@pytest.mark.parametrize('casting', ['no', 'equiv', 'safe', 'same_kind', 'unsafe'])
def test_casting(casting):
    dtypes = ('bool', 'int8', 'uint8', 'int32', 'float16', 'float32', 'complex64')
    for source in dtypes:
        x, n = chx.ones((2,), source), np.ones(2, source)
        for target in dtypes:
            allowed = np.can_cast(source, target, casting)
            if casting == 'same_kind':  # by our rules, the sign does not matter
                allowed |= {source, target} <= {'int8', 'uint8', 'int32'}
            how = {'dtype': target, 'casting': casting}
            for run, args, expected in (
                (x.astype, (), n),
                (chx.concatenate, ([x, x],), [1, 1, 1, 1]),
                (chx.stack, ([x],), [n]),
                (chx.hstack, ([x],), n),
                (chx.vstack, ([x],), [n]),
            ):
                if allowed:
                    same(run(*args, **how), np.asarray(expected).astype(target))
                else:
                    with pytest.raises(chx.DtypeError, match=casting):
                        run(*args, **how)
    with pytest.raises(ValueError, match='casting'):
        x.astype('int8', casting='never')


def test_joining_into_a_dtype():
    x = chx.array([1.5, 2.5])
    out = chx.zeros(4, 'int32')
    with pytest.raises(chx.DtypeError, match='int32'):
        chx.concatenate([x, x], out=out)
    assert chx.concatenate([x, x], out=out, casting='unsafe') is out
    assert out.tolist() == [1, 2, 1, 2]
    with pytest.raises(TypeError, match='out'):
        chx.concatenate([x], out=out[:2], dtype='int32')
    y = leaf([1.0, 2.0])
    chx.concatenate([y, y], dtype='float64').sum().backward()
    assert y.grad.tolist() == [2, 2]
    assert y.grad.dtype == 'float32'


def test_least_number_of_axes():
    for value in (3, [1, 2], np.ones((2, 3)), chx.ones((2, 3))):
        for ndmin in range(5):
            x = chx.array(value, ndmin=ndmin)
            assert x.shape == np.array(chx.to_numpy(chx.array(value)), ndmin=ndmin).shape
    assert chx.array(leaf([1.0, 2.0]), ndmin=2).is_backprop_required()
    with pytest.raises(chx.DimensionError):
        chx.array(1, ndmin=11)


def test_tuples_in_an_index():
    """Like lists: a tuple in a tuple is an array of indices."""
    x, n = filled(3, 4)
    for index in (((0, 2),), ((0, 2), (1, 3)), (slice(None), (1, 1)), ((), 0), (((0, 1), (2, 0)),)):
        same(x[index], n[index])
    same(x[(True, False, True), :], n[(True, False, True), :])
    x[(0, 2), 1] = 5
    n[(0, 2), 1] = 5
    same(x, n)
    with pytest.raises(IndexError):
        x[((0, 3),)]


def test_reductions_of_no_axes():
    """Like NumPy's ufuncs: axis 0 and -1 are valid, though the array has no axes."""
    x, n = chx.array(3.5, 'float32'), np.float32(3.5)
    names = (
        'sum prod max min ptp all any argmax argmin cumsum cumprod nansum nanprod nanmax nanmin '
    )
    names += 'nancumsum nancumprod nanargmax nanargmin count_nonzero amax amin'
    for name in names.split():
        for axis in (0, -1):
            y, e = getattr(chx, name)(x, axis=axis), getattr(np, name)(n, axis=axis)
            assert y.shape == np.shape(e), name
            assert y.tolist() == np.asarray(e).tolist(), name
        for axis in (1, -2, (0, 1)):
            with pytest.raises((chx.DimensionError, TypeError)):
                getattr(chx, name)(x, axis=axis)
    for name in ('mean', 'var', 'std', 'median', 'sort'):
        with pytest.raises(chx.DimensionError):
            getattr(chx, name)(x, axis=0)
    y = leaf(2.0)
    (chx.sum(y, axis=0) * 3 + chx.max(y, axis=-1) + chx.cumsum(y, axis=0)[0]).backward()
    assert y.grad.item() == 5


def test_options_by_position():
    """If v7 has another parameter in NumPy's position, the argument is refused."""
    x = chx.ones((2, 3))
    for call in (
        lambda: chx.sum(x, 0, 'float64'),
        lambda: x.max(0, chx.zeros(3)),
        lambda: x.mean(0, np.float64),
        lambda: chx.any(x, 0, 'yes'),
    ):
        with pytest.raises(TypeError, match='keepdims'):
            call()
    for keepdims in (True, 1, np.True_):
        assert chx.sum(x, 0, keepdims).shape == (1, 3)
        assert chx.median(x, 0, keepdims).shape == (1, 3)
    with pytest.raises(TypeError, match='mode'):
        chx.take(x, 0, 0, chx.zeros(3))


@pytest.mark.parametrize(
    'name',
    [
        'argmax',
        'argmin',
        'average',
        'count_nonzero',
        'linalg.norm',
        'linalg.vector_norm',
        'logsumexp',
        'max',
        'median',
        'nanargmax',
        'nanargmin',
        'nanmedian',
        'nanpercentile',
        'nanquantile',
        'percentile',
        'ptp',
        'quantile',
        'sum',
    ],
)
@pytest.mark.parametrize('keepdims', ['yes', 1.0, chx.zeros(3), chx.zeros(())])
def test_keepdims_is_a_bool(name, keepdims):
    """A NumPy ``out`` passed positionally would never be written to."""
    module, _, last = name.rpartition('.')
    function = getattr(chx.linalg if module else chx, last)
    more = (50,) if 'quantile' in name or 'percentile' in name else ()
    with pytest.raises(TypeError, match=f'{last}: keepdims must be a bool'):
        function(chx.ones((2, 3)), *more, axis=0, keepdims=keepdims)


def test_keepdims_of_matrix_norm_is_a_bool():
    with pytest.raises(TypeError, match='matrix_norm: keepdims must be a bool'):
        chx.linalg.matrix_norm(chx.ones((2, 3)), keepdims=chx.zeros(()))


def test_initial_does_not_change_the_dtype():
    x = chx.array([3, 4])
    assert chx.sum(x, initial=2).item() == 9
    for function in (chx.sum, chx.prod, chx.max):
        with pytest.raises(chx.DtypeError, match=r'initial is 2\.0, a float, .* of int64'):
            function(x, initial=2.0)
    with pytest.raises(chx.DtypeError, match=r'initial is .*j.*, a complex number, .* of float64'):
        chx.sum(chx.array([0.5]), initial=1j)


def test_rint_of_complex_numbers():
    x = np.array([1.5 + 2.5j, -0.5 - 0.2j])
    np.testing.assert_array_equal(chx.to_numpy(chx.rint(chx.array(x))), np.rint(x))
    out = chx.zeros(2, 'complex128')
    assert chx.rint(chx.array(x), out=out) is out
    np.testing.assert_array_equal(chx.to_numpy(out), np.rint(x))


def test_a_range_of_arrays_without_axes():
    x = chx.array([1.0, 2.0, 3.0])
    expected = chx.histogram(x, 3, range=(0, 4))
    for ends in ((chx.array(0.0), chx.array(4)), (np.array(0.0), np.float64(4))):
        for y, e in zip(chx.histogram(x, 3, range=ends), expected, strict=True):
            assert y.tolist() == e.tolist()
    with pytest.raises(TypeError, match='range must be a number, got'):
        chx.histogram(x, 3, range=(chx.zeros(1), 4))


def test_an_array_without_axes_is_one_index():
    x = chx.arange(4)
    for one in (chx.array(1), np.array(1)):
        assert chx.delete(x, one).tolist() == [0, 2, 3]
        assert chx.insert(x, one, chx.array([7, 8])).tolist() == [0, 7, 8, 1, 2, 3]


def test_small_whole_powers_of_complex_numbers_are_products():
    x = np.array([1j, 2 - 3j, 0.5 + 1e-3j])
    for e in range(-4, 8):
        ours = chx.to_numpy(chx.array(x) ** chx.array([e + 0j] * 3))
        np.testing.assert_allclose(ours, x ** np.array([e + 0j] * 3), rtol=1e-15)
    assert (chx.array([1j]) ** (1 + 0j)).tolist() == [1j]
    assert (chx.array([1j]) ** (3 + 0j)).tolist() == [-1j]
    assert (chx.array([1j]) ** chx.array([-2.0])).tolist() == [-1]


def test_signs_of_infinite_complex_numbers():
    inf, nan = np.inf, np.nan
    x = [complex(0, inf), complex(-inf, 2), complex(inf, inf), complex(nan, -inf), 3 - 4j, 0j]
    ours = chx.to_numpy(chx.sign(chx.array(x)))
    np.testing.assert_allclose(ours, np.sign(np.array(x)), rtol=1e-15)


def test_operands_that_are_no_arrays():
    x = chx.ones(3)
    for call, name in (
        (lambda: chx.add(x, np.ones(3)), 'x2'),
        (lambda: chx.arctan2(x, ['a']), 'x2'),
        (lambda: chx.add(x, np.ones(3), out=x), 'x2'),
        (lambda: chx.where(x > 0, np.ones(3), x), 'x'),
        (lambda: chx.clip(x, 'a', 2), 'min'),
        (lambda: chx.clip(x, a_min='a'), 'a_min'),
    ):
        with pytest.raises(TypeError, match=f'{name} must be a chainerx.ndarray or a number, got'):
            call()


@pytest.mark.parametrize(
    ('call', 'error', 'text'),
    [
        (lambda: chx.maximum(chx.array([True]), 1), 'DtypeError', r'x2 has dtype int \(a scalar'),
        (
            lambda: chx.maximum(1.5, chx.array([True])),
            'DtypeError',
            'x1 has dtype float .*x2.*bool',
        ),
        (lambda: abs(chx.array([True])), 'DtypeError', r'bool, expected a number.*; cast .*astype'),
        (lambda: chx.sign(chx.array([True])), 'DtypeError', 'bool, expected a number'),
        (lambda: chx.clip(chx.array([True]), 0, 1), 'DtypeError', '^clip: a has dtype bool, min'),
        (lambda: complex(chx.ones(3)), 'DimensionError', '^complex: an'),
        (lambda: float(chx.ones(3)), 'DimensionError', '^float: an array of shape'),
        (lambda: int(chx.ones(3)), 'DimensionError', '^int: an array of shape'),
        (lambda: format(chx.ones(3), '.2f'), 'TypeError', '^format: the'),
        (lambda: chx.ones(3).item(5), 'IndexError', '^item: index 5 is out of range for axis 0'),
        (lambda: chx.random.choice('a'), 'TypeError', 'a must be a chainerx.ndarray or an int'),
        (lambda: chx.fromfile(3), 'TypeError', 'file must be a path or a file, got int'),
        (lambda: chx.genfromtxt([1.0]), 'TypeError', 'a line of fname must be a str, got float'),
        (lambda: chx.genfromtxt(1), 'TypeError', 'fname must be a path, a file or lines, got int'),
        (lambda: chx.apply_along_axis(abs, 5, chx.ones(3)), 'DimensionError', '^apply_al.*axis 5'),
        (lambda: chx.apply_along_axis(abs, 'a', chx.ones(3)), 'TypeError', '^apply_along_axis: ax'),
        (lambda: chx.can_cast('x', 'f4'), 'DtypeError', "^can_cast: unknown dtype name: 'x'"),
        (lambda: chx.result_type('x'), 'DtypeError', '^result_type: unknown'),
        (lambda: chx.promote_types('f4', 'x'), 'DtypeError', '^promote_types: unknown'),
        (lambda: chx.isdtype('x', 'bool'), 'DtypeError', '^isdtype: unknown'),
        (lambda: chx.issubdtype('x', np.number), 'DtypeError', '^issubdtype: unknown'),
        (lambda: chx.finfo('x'), 'DtypeError', '^finfo: unknown'),
    ],
)
def test_messages_name_the_called_function(call, error, text):
    with pytest.raises(getattr(chx, error, None) or getattr(builtins, error), match=text):
        call()


def test_limits_of_other_dtypes():
    for function, dtype in ((chx.finfo, 'int32'), (chx.iinfo, 'float32')):
        for error in (ValueError, chx.DtypeError):
            with pytest.raises(error, match=f'got {dtype}'):
                function(dtype)
    assert chx.result_type(10**30) == chx.result_type(1)


def test_integers_with_their_end():
    draw = chx.random.integers
    assert set(draw(1, 3, 200, endpoint=True).tolist()) == {1, 2, 3}
    assert set(draw(1, size=200, endpoint=True).tolist()) == {0, 1}
    assert draw(255, 255, 3, 'uint8', endpoint=True).tolist() == [255] * 3
    high = chx.array([127, 0], 'int8')
    got = draw(chx.array([127, 0], 'int8'), high, (4, 2), endpoint=True)
    assert got.tolist() == [[127, 0]] * 4
    assert 0 <= draw(0, 2**63 - 1, endpoint=True).item() < 2**63
    with pytest.raises(ValueError, match='last number'):
        draw(0, 2**63, endpoint=True)


def test_files_in_part(tmp_path):
    path = tmp_path / 'x'
    n = np.arange(5, dtype='int16')
    n.tofile(path)
    same(chx.fromfile(path, 'int16', offset=4), n[2:])
    path.write_text('1 2\n3 4\n5 6\n')
    same(chx.loadtxt(path, max_rows=2), np.loadtxt(path, max_rows=2))
    path.write_text('"1" "2"\n')
    same(chx.loadtxt(path, quotechar='"'), np.array([1.0, 2.0]))
