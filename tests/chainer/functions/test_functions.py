"""Every row of the table: values, dtypes, layouts, derivatives, creators, errors."""

import importlib
import inspect
import itertools
import pkgutil
import re

import chainer
import chainer.functions
import chainerx
import numpy as np
import pytest
from chainer import Variable
from chainer._graph.builtin import BuiltinFunction
from devices import has_fallback
from functions.cases import CASES
from functions.cases._harness import (
    ARRAY_TYPES,
    KINDS,
    LAYOUTS,
    Prepared,
    as_numpy,
    check_gradients,
    compare,
    lay,
)
from functions.cases._table import InvalidType


def each(cases):
    cases = list(cases)
    return pytest.mark.parametrize('case', cases, ids=[c.name for c in cases])


# Rows of deprecated functions.
pytestmark = pytest.mark.filterwarnings('ignore:.* is deprecated')
on_each_kind = pytest.mark.parametrize('kind', KINDS)
REFERENCED = [case for case in CASES if case.ref is not None]
# Gradients in these dtypes are compared with those in float64.
NARROW = ('float16', 'float32')


def first_dtype(case):
    return 'float32' if 'float32' in case.dtypes else case.dtypes[0]


@each(REFERENCED)
@on_each_kind
def test_values(case, kind):
    """Values equal the reference for all calls and dtypes, from Variables and from arrays."""
    for spec in case.calls:
        for dtype in case.dtypes:
            prepared = Prepared(case, spec, dtype, kind)
            expected = prepared.expected()
            for given in (prepared.variables(), prepared.arrays)[: 1 if case.fn else 2]:
                ys = prepared.call(given)
                assert all(isinstance(y, Variable) for y in ys), prepared.where
                assert len(ys) == len(expected), prepared.where
                for n, (y, e) in enumerate(zip(ys, expected, strict=True)):
                    compare(y.array, e, prepared.result_dtype(n), kind, case.tol, prepared.where)
            for x, old in zip(prepared.arrays, prepared.values, strict=True):
                np.testing.assert_array_equal(
                    as_numpy(x), old, err_msg=f'input of {prepared.where}'
                )


@each(c for c in REFERENCED if c.layouts)
@on_each_kind
def test_layouts(case, kind):
    """Transposed, reversed, strided and broadcast arrays give the same values and gradients."""
    dtype = first_dtype(case)
    for layout in LAYOUTS:
        prepared = Prepared(case, case.calls[0], dtype, kind, layout)
        ys = prepared.call(prepared.variables())
        for n, (y, e) in enumerate(zip(ys, prepared.expected(), strict=True)):
            compare(y.array, e, prepared.result_dtype(n), kind, case.tol, prepared.where)


@each(c for c in CASES if c.order)
@on_each_kind
def test_gradients(case, kind):
    """First and second derivatives agree with differences, in float64."""
    for spec in case.calls:
        prepared = Prepared(case, spec, 'float64', kind)
        targets = prepared.differentiable()

        def function(*xs, prepared=prepared, targets=targets):
            given = prepared.variables()
            for n, x in zip(targets, xs, strict=True):
                given[n] = x
            return prepared.call(given)

        values = [prepared.values[n] for n in targets]
        check_gradients(function, values, kind, case.order, 1e-6 * case.gtol, prepared.where)


@each(c for c in CASES if c.order)
@on_each_kind
def test_gradients_in_other_dtypes(case, kind):
    """Gradients have the dtype, shape and kind of their variables, and float64's values."""
    for dtype in [d for d in NARROW if d in case.dtypes]:
        prepared = Prepared(case, case.calls[0], dtype, kind)
        results = {}
        for computed in (dtype, 'float64'):
            arrays = [
                lay(x.astype(computed), 'contiguous', kind) if x.dtype == dtype else a
                for x, a in zip(prepared.values, prepared.arrays, strict=True)
            ]
            xs = [a if prepared.is_param(n) else Variable(a) for n, a in enumerate(arrays)]
            ys = prepared.call(xs)
            for y in ys:
                y.grad = lay(np.ones(y.shape, y.dtype), 'contiguous', kind)
            chainer.backward(list(ys))
            results[computed] = [xs[n].grad for n in prepared.differentiable()]
        for gx, expected in zip(results[dtype], results['float64'], strict=True):
            where = f'gradient of {prepared.where}'
            compare(gx, as_numpy(expected), dtype, kind, 4 * case.gtol, where)


@each(c for c in REFERENCED if c.order)
def test_gradients_of_some_inputs(case):
    """Gradients of some inputs have the same bits as when all inputs need one."""
    for spec in case.calls:
        prepared = Prepared(case, spec, 'float64')
        targets = prepared.differentiable()
        if not 2 <= len(targets) <= 4:
            continue

        def gradients(chosen, rest, prepared=prepared, targets=targets):
            given = prepared.variables()
            for n in {*targets} - {*chosen}:
                given[n] = rest(prepared.arrays[n])
            ys = prepared.call(given)
            for k, y in enumerate(ys):
                y.grad = np.full(y.shape, k + 1.0, y.dtype)
            chainer.backward(list(ys))
            for n in {*targets} - {*chosen}:
                assert getattr(given[n], 'grad', None) is None, prepared.where
            return [given[n].grad for n in chosen]

        whole = dict(zip(targets, gradients(targets, None), strict=True))
        for count in range(1, len(targets)):
            for chosen in itertools.combinations(targets, count):
                for rest in (lambda x: x, lambda x: Variable(x, requires_grad=False)):
                    found = gradients(chosen, rest)
                    for n, gx in zip(chosen, found, strict=True):
                        where = f'{prepared.where}: input {n}, gradients of {chosen} alone'
                        np.testing.assert_array_equal(gx, whole[n], err_msg=where)


@each(CASES)
@on_each_kind
def test_creator(case, kind):
    """The creator has v7's class, label, attributes and inputs; without a graph there is none."""
    for number, spec in enumerate(case.calls):
        prepared = Prepared(case, spec, first_dtype(case), kind)
        variables = prepared.variables()
        ys = prepared.call(variables)
        with chainer.using_config('enable_backprop', False):
            assert all(y.creator is None for y in prepared.call(variables)), prepared.where
        if case.cls is None:
            assert all(y.creator is None for y in ys), prepared.where
            continue
        f = ys[0].creator
        assert type(f) is case.creator_class(), prepared.where
        assert f.label == (case.label or type(f).__name__), prepared.where
        for name, value in dict(case.attributes_of(number)).items():
            np.testing.assert_array_equal(getattr(f, name), value, f'{prepared.where}: {name}')
        assert all(y.creator is f for y in ys), prepared.where
        outputs = [ref() for ref in f.outputs]
        if case.picks is not None:
            outputs = [outputs[i] for i in case.picks]
        assert outputs == [y.node for y in ys], prepared.where
        if case.direct:
            nodes = [x.node for x in variables if isinstance(x, Variable)]
            assert list(f.inputs) == nodes, prepared.where


def made_like(creator, cls):
    """An object of another class with the same attributes, without its constructor."""
    f = cls.__new__(cls)
    vars(f).update({name: getattr(creator, name) for name in creator.attributes})
    return f


@each(c for c in CASES if c.cls is not None and c.direct)
@on_each_kind
def test_class_by_itself(case, kind):
    """A function object made by the user, or of a subclass, gives the same and is the creator."""
    cls = case.creator_class()

    class Subclass(cls):
        def forward(self, inputs):
            self.seen = len(inputs)
            return super().forward(inputs)

    for spec in case.calls:
        prepared = Prepared(case, spec, first_dtype(case), kind)
        xs = [x for x in prepared.variables() if isinstance(x, Variable)]
        expected = prepared.call(prepared.variables())
        for made in (cls, Subclass) if has_fallback() else (cls,):
            f = made_like(expected[0].creator, made)
            ys = f.apply(xs)
            assert type(ys) is tuple, prepared.where
            for y, e in zip(ys, expected, strict=True):
                assert y.creator is f, prepared.where
                assert type(y.array) is type(e.array), prepared.where
                np.testing.assert_array_equal(as_numpy(y.array), as_numpy(e.array), prepared.where)
            if made is Subclass:
                assert f.seen == len(xs)


@each(c for c in CASES if c.cls is not None and c.direct and c.order)
def test_gradients_of_subclass(case):
    """A subclass that overrides forward has the gradients of its base."""
    cls = case.creator_class()

    class Subclass(cls):
        def forward(self, inputs):
            return super().forward(inputs)

    prepared = Prepared(case, case.calls[0], 'float64')
    targets = prepared.differentiable()
    creator = prepared.call(prepared.variables())[0].creator

    def gradients(overridden, differentiable):
        given = prepared.variables()
        xs = [x for x in given if isinstance(x, Variable)]
        ys = made_like(creator, Subclass).apply(xs) if overridden else prepared.call(given)
        gys = [Variable(np.full(y.shape, 2, y.dtype)) for y in ys]
        gxs = chainer.grad(
            list(ys), [given[n] for n in targets], gys, enable_double_backprop=differentiable
        )
        return [gx.array for gx in gxs]

    for differentiable in (False, True):
        expected = gradients(False, differentiable)
        for gx, e in zip(gradients(True, differentiable), expected, strict=True):
            np.testing.assert_allclose(gx, e, rtol=1e-12, err_msg=prepared.where)


class Recorder(chainer.FunctionHook):
    """Records the functions that it sees, and their arrays."""

    name = 'Recorder'

    def __init__(self):
        self.forward, self.backward = [], []

    def forward_postprocess(self, function, in_data):
        self.forward.append((function, in_data))

    def backward_postprocess(self, function, in_data, out_grad):
        self.backward.append((function, out_grad))


@each(c for c in CASES if c.cls is not None)
@on_each_kind
@pytest.mark.parametrize('debug', [False, True], ids=['hook', 'debug'])
def test_hooks(case, kind, debug):
    """A hook sees the creator and its attributes in both passes; results do not change."""
    prepared = Prepared(case, case.calls[0], first_dtype(case), kind)
    variables = prepared.variables()
    expected = prepared.call(variables)
    with Recorder() as hook, chainer.using_config('debug', debug):
        ys = prepared.call(variables)
        f, in_data = hook.forward[-1]
        assert ys[0].creator is f, prepared.where
        assert len(in_data) == len(f.inputs), prepared.where
        if isinstance(f, BuiltinFunction):  # other functions may fall back to NumPy
            assert all(isinstance(x, ARRAY_TYPES[kind]) for x in in_data), prepared.where
        if case.order:
            for y in ys:
                y.grad = lay(np.ones(y.shape, y.dtype), 'contiguous', kind)
            chainer.backward(list(ys))
            g, out_grad = hook.backward[0]
            assert g is f, prepared.where
            assert len(out_grad) == len(ys), prepared.where
    for name in getattr(f, 'attribute_names', ()):
        np.testing.assert_array_equal(
            as_numpy(getattr(f, name)), as_numpy(getattr(expected[0].creator, name)), prepared.where
        )
    for y, e in zip(ys, expected, strict=True):
        np.testing.assert_array_equal(as_numpy(y.array), as_numpy(e.array), prepared.where)


def refused(case):
    """Calls with integers and bools of functions that only take floats."""
    for dtype in ('int32', 'bool'):
        varies = any(arg.dtype is None for arg in case.calls[0].arrays())
        if varies and dtype not in case.dtypes and case.refuses:
            yield case.calls[0], InvalidType, '', dtype


@each(CASES)
@on_each_kind
def test_errors(case, kind):
    """The errors that a row lists are raised, and those for unlisted dtypes."""
    listed = [
        (spec, *rest, 'float32') for spec, *rest in case.bad if kind in rest[2:] or not rest[2:]
    ]
    for spec, error, text, *_, dtype in [*listed, *refused(case)]:
        prepared = Prepared(case, spec, dtype, kind)
        with pytest.raises(error) as info:
            prepared.call(prepared.variables())
        assert re.search(text, str(info.value)), f'{prepared.where}: {info.value} lacks {text}'


@each(c for c in CASES if c.fn is None)
@on_each_kind
def test_errors_of_non_arrays(case, kind):
    """An input that is not an array raises an error that names its type."""
    prepared = Prepared(case, case.calls[0], first_dtype(case), kind)
    inputs = [n for n in range(len(prepared.arrays)) if not prepared.is_param(n)]
    for replaced in (inputs[:1], inputs) if inputs else ():
        given = ['abc' if n in replaced else x for n, x in enumerate(prepared.arrays)]
        with pytest.raises((TypeError, AttributeError), match=r'\bstr\b'):
            prepared.call(given)


@each(CASES)
def test_mixed_kinds(case):
    """NumPy and chainerx arrays don't mix in one call."""
    prepared = Prepared(case, case.calls[0], first_dtype(case))
    given = prepared.variables()
    inputs = [n for n in range(len(given)) if not prepared.is_param(n)]
    if len(inputs) < 2:
        return
    given[inputs[-1]] = Variable(chainerx.array(prepared.values[inputs[-1]]))
    with pytest.raises(TypeError):
        prepared.call(given)


def test_every_function_has_a_row():
    names = {case.name for case in CASES}
    module = chainer.functions
    public = [
        n for n in dir(module) if not n.startswith('_') and inspect.isfunction(getattr(module, n))
    ]
    missing = [n for n in public if n not in names]
    assert public
    assert not missing, f'no row in tests/chainer/functions/cases for {missing}'


def test_every_class_has_a_row():
    rows = {case.creator_class() for case in CASES if case.cls is not None}
    missing = []
    for info in pkgutil.walk_packages(chainer.functions.__path__, 'chainer.functions.'):
        for name, cls in vars(importlib.import_module(info.name)).items():
            declared = inspect.isclass(cls) and cls.__module__ == info.name
            if (
                declared
                and issubclass(cls, BuiltinFunction)
                and 'compose' in vars(cls)
                and (not name.startswith('_') and cls not in rows)
            ):
                missing.append(cls)
    assert not missing, f'no row in tests/chainer/functions/cases for {missing}'
