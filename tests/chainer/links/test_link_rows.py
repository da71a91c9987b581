"""Every row of links: values, dtypes, derivatives, kinds of inputs, errors, on each kind."""

import re

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
import numpy as np
import pytest
from chainer import Variable
from devices import kinds, ours
from functions.cases._harness import RTOL, as_numpy, check_gradients, lay
from links.cases import GONE, MODELS, ROWS
from links.cases._table import draw, make, run, values_of

KINDS = kinds()
DEVICES = {'numpy': '@numpy', 'native': ours(), 'cupy': '@cupy:0'}
DTYPES = ('float16', 'float32', 'float64')
on_each_kind = pytest.mark.parametrize('kind', KINDS)


def each(rows):
    return pytest.mark.parametrize('row', list(rows), ids=repr)


def there(kind):
    return chainer.get_device(DEVICES[kind]).send


def wide(x):
    x = np.asarray(as_numpy(x))
    return x.astype('float64') if x.dtype.kind == 'f' else x


def made(row, kind, dtype='float32'):
    return make(row, dtype).to_device(DEVICES[kind])


@each(r for r in ROWS if r.ref)
@on_each_kind
@pytest.mark.parametrize('dtype', DTYPES)
def test_values(row, kind, dtype):
    """Values equal those of NumPy in float64, from arrays and from variables."""
    link = made(row, kind, dtype)
    values = {path: wide(value) for path, value in values_of(link).items()}
    expected = draw(row, dtype, wide).run(lambda *args, **kw: row.ref(values, *args, **kw))
    expected = [*expected] if isinstance(expected, (list, tuple)) else [expected]
    send, tol = there(kind), RTOL[dtype] * row.tol
    seen = []
    with chainer.using_config('train', row.train), chainer.using_config('dtype', np.dtype(dtype)):
        for convert in (send, lambda x: Variable(send(x)) if x.dtype.kind == 'f' else send(x)):
            ys = run(row, link, draw(row, dtype, convert))
            assert len(ys) == len(expected)
            for y, e in zip(ys, expected, strict=True):
                assert isinstance(y, Variable)
                assert y.dtype == dtype
                assert y.shape == np.shape(e)
                assert y.device.name == DEVICES[kind]
                np.testing.assert_allclose(wide(y.array), e, tol, tol)
            seen.append([as_numpy(y.array) for y in ys])
    for a, b in zip(*seen, strict=True):
        np.testing.assert_array_equal(a, b)


@each(r for r in ROWS if r.order)
@on_each_kind
def test_gradients(row, kind):
    """First and second gradients of inputs and parameters agree with differences, in float64."""
    link = made(row, kind, 'float64')
    arrays = []
    draw(row, 'float64', lambda x: arrays.append(x) or x)
    inputs = [x for x in arrays if x.dtype.kind == 'f']
    places = [
        (child, name)
        for child in link.links()
        for name, p in sorted(vars(child).items())
        if isinstance(p, chainer.Parameter)
    ]
    send = there(kind)
    persistent = {k: np.array(as_numpy(v)) for k, v in values_of(link).items()}

    def function(*xs):
        for (child, name), x in zip(places, xs[len(inputs) :], strict=True):
            vars(child)[name] = x
        for path, child in link.namedlinks():
            for name in child._persistent:
                before = persistent[f'{path}/{name}'[1:] if path != '/' else name]
                vars(child)[name] = send(before) if before.ndim else before.item()
        it = iter(xs)
        with chainer.using_config('train', row.train):
            ys = run(
                row,
                link,
                draw(row, 'float64', lambda x: next(it) if x.dtype.kind == 'f' else send(x)),
            )
        return tuple(ys)

    values = [*inputs, *(np.array(as_numpy(vars(child)[name].array)) for child, name in places)]
    if not values:
        return
    # All as one vector, which takes two evaluations instead of two per parameter.
    shapes, ends = [x.shape for x in values], np.cumsum([x.size for x in values])

    def of_vector(v):
        parts = F.split_axis(v, ends[:-1], 0)
        return function(*(F.reshape(x, shape) for x, shape in zip(parts, shapes, strict=True)))

    vector = np.concatenate([x.ravel() for x in values])
    check_gradients(of_vector, [vector], kind, row.order, 1e-6 * row.gtol, row.key)
    variables = [Variable(lay(x, 'contiguous', kind)) for x in values]
    ys = function(*variables)
    gys = [Variable(lay(np.ones(y.shape), 'contiguous', kind)) for y in ys]
    grads = chainer.grad(list(ys), variables, gys)
    of_params = grads[len(inputs) :]
    unreached = {name for (_, name), g in zip(places, of_params, strict=True) if g is None}
    assert unreached == set()


@each(r for r in ROWS)
@on_each_kind
@pytest.mark.parametrize('train', [True, False])
def test_arrays_need_no_variable(row, kind, train):
    """Links take raw arrays in both modes, and without recording; inputs do not change."""
    link = made(row, kind)
    arguments = draw(row, convert=there(kind))
    given = [x for x in _leaves(arguments) if isinstance(x, (np.ndarray, chainerx.ndarray))]
    before = [np.array(as_numpy(x)) for x in given]
    with chainer.using_config('train', train):
        recorded = run(row, link, arguments)
        with chainer.no_backprop_mode():
            alone = run(row, link, arguments)
    assert all(isinstance(y, Variable) for y in recorded)
    assert all(y.creator is None for y in alone if not isinstance(y, chainer.Parameter))
    assert all(
        a.shape == b.shape and a.dtype == b.dtype for a, b in zip(recorded, alone, strict=True)
    )
    for x, old in zip(given, before, strict=True):
        np.testing.assert_array_equal(as_numpy(x), old)


def _leaves(arguments):
    todo = [*arguments.args, *arguments.kw.values()]
    while todo:
        x = todo.pop()
        if isinstance(x, (list, tuple)):
            todo += x
        else:
            yield x


@each(r for r in ROWS if not r.random)
def test_on_another_device_than_the_default_one(row, async_toy):
    """Arrays that a link creates are on its inputs' device; nothing falls back to NumPy."""
    found = []
    for name in ('@numpy', f'{async_toy}:1'):
        link, device = make(row).to_device(name), chainer.get_device(name)
        with chainer.using_config('chainerx_fallback', 'error'):
            ys = run(row, link, draw(row, convert=device.send))
            sum(F.sum(y) for y in ys).backward()
        grads = [p.grad for _, p in sorted(link.namedparams()) if p.grad is not None]
        assert all(device.is_array_supported(x) for x in (*(y.array for y in ys), *grads))
        found.append([wide(y.array) for y in ys] + [wide(g) for g in grads])
    for x, y in zip(*found, strict=True):
        np.testing.assert_allclose(x, y, 1e-4, 1e-5)


BAD = [(row, n) for row in ROWS for n in range(len(row.bad))]


@pytest.mark.parametrize(('row', 'number'), BAD, ids=[f'{r}-{n}' for r, n in BAD])
@on_each_kind
def test_errors(row, number, kind):
    """Errors have the right type and name the argument; the link does not change."""
    given, error, text = row.bad[number]
    if callable(given):
        with pytest.raises(error, match=text):
            given()
        return
    link = made(row, kind)
    before = {k: np.array(as_numpy(v)) for k, v in values_of(link).items()}
    arguments = draw(row, convert=there(kind), inputs=given)
    with pytest.raises(error) as info:
        run(row, link, arguments)
    assert re.search(text, str(info.value)), info.value
    for path, value in values_of(link).items():
        np.testing.assert_array_equal(as_numpy(value), before[path], path)


@pytest.mark.parametrize('name', sorted(set(dir(L)) & {row.name for row in ROWS}))
def test_errors_are_listed(name):
    assert any(row.bad for row in ROWS if row.name == name), f'no row of {name} has an error'


@each(ROWS)
def test_printable_specs(row):
    """Printable specs are pairs of a name and a value, as shown by the link's repr."""
    link = make(row)
    specs = list(link.printable_specs)
    assert all(len(pair) == 2 and isinstance(pair[0], str) for pair in specs)
    text = str(link)
    if specs or not isinstance(link, chainer.Chain):
        for name, value in specs:
            assert f'{name}={value}' in text
    assert text.startswith(type(link).__name__)


def test_every_link_has_a_row():
    classes = {n for n in dir(L) if isinstance(getattr(L, n), type)}
    links = {n for n in classes if issubclass(getattr(L, n), chainer.Link)}
    assert len(links) > 60
    assert links == {row.name for row in ROWS} | MODELS | (GONE & links)


def test_keys_are_all_different():
    assert len({row.key for row in ROWS}) == len(ROWS)
