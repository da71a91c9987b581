"""User code that runs at bad moments, and objects that misrepresent themselves."""

import gc
import threading
import weakref

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import FunctionNode, Parameter, Variable
from chainer._graph.builtin import BuiltinFunction
from chainerx._core import engine
from engine.misuse import (
    DOCUMENTED,
    X,
    check_afterwards,  # noqa: F401 - a fixture
    refuses,
)


class Double(FunctionNode):
    def forward(self, xs):
        self.retain_inputs((0,))
        return (xs[0] * 2,)

    def backward(self, indexes, gys):
        return (gys[0] * 2,)


class Hook(chainer.FunctionHook):
    """Calls a function at one moment of a function's life."""

    name = 'hook'

    def __init__(self, moment, call):
        self.times = 0
        self.call = call
        setattr(self, moment, self.run)

    def run(self, function, *args):
        self.times += 1
        self.call(function)


def test_half_made_objects():
    v = Variable.__new__(Variable)
    assert v.array is None
    assert v.grad is None
    assert v.creator is None
    assert v.rank == 0
    with pytest.raises(TypeError, match='uninitialized'):
        v.backward()
    with pytest.raises(TypeError, match='uninitialized'):
        F.relu(v)
    assert Parameter.__new__(Parameter).array is None
    f = FunctionNode.__new__(FunctionNode)
    assert f.inputs is None
    assert f.outputs is None
    assert f.rank == 0
    f.unchain()
    with pytest.raises(NotImplementedError, match='neither forward'):
        f.apply((X,))
    with pytest.raises(TypeError):
        chainer.variable.VariableNode.__new__(chainer.variable.VariableNode)
    with pytest.raises(TypeError):
        object.__new__(Variable)
    with pytest.raises(TypeError):
        engine.Entry.__new__(engine.Entry)
    with pytest.raises(TypeError):
        type(F.relu(Variable(X)).creator.outputs[0])()


@pytest.mark.parametrize('name', ['array', 'data', 'grad', 'grad_var', 'name'])
def test_attributes_are_not_deleted(name):
    with pytest.raises(AttributeError):
        delattr(Variable(X), name)


def test_init_again():
    x = Variable(X)
    y = F.relu(x)
    y.__init__(X + 1)
    assert y.creator is None
    np.testing.assert_array_equal(y.array, X + 1)
    with pytest.raises(TypeError):
        y.__init__(5)
    assert y.array is None
    y.__init__(X)
    assert y.array is X


def test_init_again_from_a_destructor():
    # Freeing the old state runs code that sees the variable.
    seen = []

    class Watch(Double):
        def __del__(self):
            seen.append((y.array, y.creator, y.grad))

    (y,) = Watch().apply((Variable(X),))
    y.__init__(None)
    assert seen == [(None, None, None)]


MOMENTS = [
    'forward_preprocess',
    'forward_postprocess',
    'backward_preprocess',
    'backward_postprocess',
]


@pytest.mark.parametrize('moment', MOMENTS)
@pytest.mark.parametrize('what', ['none', 'init', 'unchain', 'dict', 'all', 'run', 'hooks'])
@pytest.mark.parametrize('kind', ['builtin', 'user'])
def test_hooks_that_meddle(moment, what, kind):
    x = Variable(X.copy())

    def meddle(f):
        match what:
            case 'none':
                x.array = None
            case 'init':
                x.__init__(X + 1)
            case 'unchain':
                f.unchain()
            case 'dict':
                f.__dict__.clear()
            case 'all':
                f.unchain()
                x.__init__(None)
                f.__init__()
            case 'run':
                with_other = Variable(X.copy())
                hooks = dict(chainer.get_function_hooks())
                chainer.get_function_hooks().clear()
                F.sum(F.relu(with_other)).backward()
                chainer.get_function_hooks().update(hooks)
            case 'hooks':
                chainer.get_function_hooks().clear()
        gc.collect()

    def run():
        h = F.relu(x) if kind == 'builtin' else Double().apply((x,))[0]
        F.sum(h).backward()

    hook = Hook(moment, meddle)
    chainer.get_function_hooks()['hook'] = hook
    harmless = what in ('dict', 'run', 'hooks')
    refused = refuses(run, errors=() if harmless else DOCUMENTED)
    chainer.get_function_hooks().clear()
    assert hook.times >= 1
    if harmless:
        np.testing.assert_array_equal(x.grad, np.full_like(X, 1 if kind == 'builtin' else 2))
    elif not refused and x.grad is not None:  # to x before the graph was cut, or to x as it is now
        assert x.grad.shape == x.shape
        assert moment.startswith('backward') or what == 'unchain'


def test_chainerx_backward_inside_backward_keeps_the_pairs_of_hooks():
    order = []

    class Inner(FunctionNode):
        def forward(self, xs):
            return (xs[0] * 2,)

        def backward(self, indexes, gys):
            x = chainerx.array(X).require_grad()
            (x * x).sum().backward()
            with chainer.force_backprop_mode():
                (y,) = Double().apply((Variable(X),))
            y.grad = X
            y.backward()
            return (gys[0] * 2,)

    class Order(chainer.FunctionHook):
        def backward_preprocess(self, f, *args):
            order.append(('pre', f.label))

        def backward_postprocess(self, f, *args):
            order.append(('post', f.label))

    (y,) = Inner().apply((Variable(X.copy()),))
    y.grad = X
    with Order():
        y.backward()
    assert order == [('pre', 'Inner'), ('pre', 'Double'), ('post', 'Double'), ('post', 'Inner')]


@pytest.mark.parametrize('unchain', [False, True])
def test_function_that_applies_itself(unchain):
    class Again(FunctionNode):
        def forward(self, xs):
            if unchain:
                self.unchain()
            return (xs[0] * 2,)

        def backward(self, indexes, gys):
            self.apply(gys)
            gc.collect()
            if unchain:
                self.unchain()
            return (gys[0] * 2,)

    x = Variable(X.copy())
    (y,) = Again().apply((x,))
    y.grad = X
    y.backward()
    if unchain:
        assert x.grad is None
    else:
        np.testing.assert_array_equal(x.grad, 2 * X)


def test_backward_of_itself_inside_backward():
    class Nested(FunctionNode):
        times = 0

        def forward(self, xs):
            return (xs[0] * 2,)

        def backward(self, indexes, gys):
            Nested.times += 1
            if Nested.times < 10:
                y.grad = X
                y.backward()
            return (gys[0] * 2,)

    x = Variable(X.copy())
    (y,) = Nested().apply((x,))
    y.grad = X
    y.backward()
    np.testing.assert_array_equal(x.grad, 10 * 2 * X)


@pytest.mark.parametrize('where', ['forward', 'backward'])
def test_endless_recursion_is_a_recursion_error(where):
    class Endless(FunctionNode):
        def forward(self, xs):
            return Endless().apply(xs)[0].array if where == 'forward' else (xs[0] * 2,)

        def backward(self, indexes, gys):
            y.grad = X
            y.backward()

    y = None

    def start():
        nonlocal y
        (y,) = Endless().apply((Variable(X.copy()),))
        y.grad = X
        y.backward()

    with pytest.raises(RecursionError):
        start()


def test_class_of_a_function_changes_in_backward():
    class Changes(FunctionNode):
        def forward(self, xs):
            self.retain_inputs((0,))
            return (xs[0] * 2,)

        def backward(self, indexes, gys):
            self.__dict__.clear()
            self.__class__ = FunctionNode
            assert self.get_retained_inputs() == ()
            return gys

    x = Variable(X.copy())
    (y,) = Changes().apply((x,))
    y.grad = X
    y.backward()
    np.testing.assert_array_equal(x.grad, X)


def test_destructor_that_brings_a_variable_back():
    kept = []

    class Back(Variable):
        def __del__(self):
            F.sum(F.relu(Variable(X))).backward()
            kept.append((self, self.array, self.creator, self.grad))

    v = Back(X.copy())
    y = F.relu(v)
    y.grad = X
    y.backward()
    del v, y
    gc.collect()
    v, array, creator, grad = kept.pop()
    assert v.array is array
    assert creator is None
    np.testing.assert_array_equal(grad, X)
    v.cleargrad()
    assert v.grad is None


def test_destructor_that_brings_a_function_back():
    kept = []

    class Back(Double):
        def __del__(self):
            kept.append((self, self.inputs, self.outputs, self.rank))

    x = Variable(X)
    (y,) = Back().apply((x,))
    del y
    f, inputs, _, rank = kept.pop()
    assert inputs[0] is x.node
    assert rank == 0
    x2 = Variable(X.copy())
    (y,) = f.apply((x2,))
    y.grad = X
    y.backward()
    np.testing.assert_array_equal(x2.grad, 2 * X)


def test_dying_objects_are_not_found():
    # A callback of a weak reference runs while its object is being freed.
    found = []
    x = Variable(X)
    node = x.node
    ref = weakref.ref(x, lambda _: found.append(node.get_variable_or_none()))
    del x
    y = F.relu(Variable(X))
    f = y.creator
    ref2 = weakref.ref(f, lambda _: found.append(y.creator))
    del f
    assert ref() is None
    assert found[0] is None
    if ref2() is None:  # otherwise the graph keeps it, because some test has used function hooks
        assert type(found[1]).__name__ == 'ReLU'
        assert y.creator is found[1]


def test_collector_callbacks_that_unchain():
    def callback(phase, info):
        nonlocal called
        called += 1
        for o in gc.get_objects():
            if isinstance(o, FunctionNode):
                o.unchain()
            elif isinstance(o, Variable):
                o.cleargrad()

    class Quiet(chainer.FunctionHook):
        pass

    called = 0
    thresholds = gc.get_threshold()
    gc.callbacks.append(callback)
    try:
        with Quiet():
            gc.set_threshold(1)
            for _ in range(3):
                x = Variable(X.copy())
                (y,) = Double().apply((F.relu(x),))
                y = F.sum(y * y + x)
                y.backward()
                chainer.grad([y], [x])
    finally:
        gc.callbacks.remove(callback)
        gc.set_threshold(*thresholds)
    assert called > 10


def test_class_that_makes_something_else():
    class Five(BuiltinFunction):
        def __new__(cls):
            return 5

        @staticmethod
        def compose(x):
            return x * 2

    with pytest.raises((TypeError, AttributeError)):
        _ = Five.call(Variable(X)).creator


def test_class_that_makes_one_object():
    class One(BuiltinFunction):
        it = None

        def __new__(cls):
            cls.it = cls.it or super().__new__(cls)
            return cls.it

        @staticmethod
        def compose(x):
            return x * 2

    x = Variable(X)
    y = One.call(x)
    z = One.call(y)
    for _ in range(3):
        assert y.creator is One.it
        assert z.creator is One.it
        assert One.it.inputs[0] in (x.node, y.node)
    del y, z
    gc.collect()
    One.it.unchain()


@pytest.mark.parametrize('result', [None, 5, (), (None,), [1], X, (X,), Variable(X)])
def test_composition_that_returns_something_else(result):
    class Bad(BuiltinFunction):
        @staticmethod
        def compose(x):
            return result

    if isinstance(result, tuple) and not result:
        assert Bad.call(Variable(X)) == ()
        return
    for call in (Bad.call, lambda x: Bad().apply((x,))):
        with pytest.raises(TypeError, match='Bad'):
            call(Variable(X))


def test_parameters_whose_comparison_calls_the_function():
    class Odd:
        def __eq__(self, other):
            nonlocal depth
            if depth < 20:
                depth += 1
                for _ in range(3):
                    Checked.call(Variable(X), p=Odd())
            return False

        __hash__ = None

    class Checked(BuiltinFunction):
        def check_type_forward(self, in_types):
            pass

        @staticmethod
        def compose(x, *, p):
            return x * 2

    depth = 0
    for _ in range(3):
        Checked.call(Variable(X), p=Odd())
    assert depth == 20


def test_config_that_cannot_be_read():
    class Bad:
        def __bool__(self):
            raise KeyError('no truth')

    chainer.config.debug = Bad()
    try:
        with pytest.raises(KeyError, match='no truth'):
            F.relu(Variable(X))
    finally:
        del chainer.config.debug


def test_deep_chains_of_other_references():
    n = 100_000
    for base in (Variable, engine.Variable):
        v = base(None)
        for _ in range(n):
            w = base(None)
            w.grad_var = v
            v = w
        del v, w
    v = Variable(X)
    for _ in range(n):
        w = Variable(X)
        w.attribute = v
        v = w
    del v, w
    x = Variable(X)
    for _ in range(n // 10):
        f = Double()
        f.attribute = x
        (x,) = f.apply((x,))
    del f, x


def test_threads_on_one_graph():
    x = Variable(X.copy())
    h = F.relu(x)
    errors = []

    def work():
        try:
            for _ in range(100):
                y = F.sum(h * x)
                y.backward()
                assert y.creator.inputs[0].creator_node.inputs[0] is h.node
                assert h.creator.outputs[0]() is h.node
        except Exception as e:
            errors.append(e)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors
    np.testing.assert_array_equal(x.grad, 400 * 2 * X)


def test_hooks_belong_to_their_thread():
    counts = []

    class Count(chainer.FunctionHook):
        def __init__(self, name):
            self.name = name
            self.n = 0

        def forward_preprocess(self, function, in_data):
            self.n += 1

    def work(name):
        for _ in range(20):
            with Count(name) as hook:
                F.relu(Variable(X) * 2)
            counts.append(hook.n)

    threads = [threading.Thread(target=work, args=(f'{i}',)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert counts == [2] * 80


def test_graphs_outlive_their_thread():
    outputs = []

    def work():
        x = Variable(X.copy())
        outputs.append((x, F.sum(Double().apply((x,))[0])))

    t = threading.Thread(target=work)
    t.start()
    t.join()
    x, y = outputs.pop()
    y.backward()
    np.testing.assert_array_equal(x.grad, np.full_like(X, 2))


@pytest.mark.parametrize('swap', [False, True])
@pytest.mark.parametrize('look', ['outputs', 'backward', 'output_data'])
def test_outputs_of_functions_being_freed(look, swap):
    """A graph is freed node by node, and user code may run in between."""

    class WithDestructor(Double):
        def __del__(self):
            found.append([ref() for ref in function.outputs])
            if look == 'output_data':
                with pytest.raises(RuntimeError, match='gone'):
                    _ = function.output_data
            if look == 'backward':
                F.sum(F.relu(Variable(X.copy()))).backward()

    found = []
    for _ in range(10):
        y1 = F.relu(Variable(X.copy()))
        function = y1.creator
        (y2,) = WithDestructor().apply((Variable(X.copy()),))
        y = y2 + y1 if swap else y1 + y2
        del y1, y2
        del y
        gc.collect()
    # Whichever was freed first, it was found complete or not at all.
    assert len(found) == 10
    assert all(nodes == [None] or nodes[0].shape == X.shape for nodes in found)
    if not swap:
        assert found == [[None]] * 10
