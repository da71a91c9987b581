"""Hooks of functions: order, arguments, and the hooks that come with chainer."""

import copy
import gc
import io
import threading
import weakref

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import FunctionNode, Variable, function_hooks
from chainer._graph.builtin import BuiltinFunction

A = np.arange(3, dtype='f') + 1


@pytest.fixture(params=[np, chainerx])
def x(request):
    return Variable(request.param.array(A))


class Mul(FunctionNode):
    def forward(self, xs):
        self.retain_inputs((0,))
        return (xs[0] * xs[1],)

    def backward(self, indexes, gys):
        return tuple((gys[0] * 2, gys[0] * 3)[i] for i in indexes)


class Log(chainer.FunctionHook):
    def __init__(self, name='Log', log=None):
        self.name = name
        self.log = [] if log is None else log

    def added(self, function):
        self.log.append((self.name, 'added', function and function.label))

    def deleted(self, function):
        self.log.append((self.name, 'deleted', function and function.label))

    def forward_preprocess(self, function, in_data):
        assert type(in_data) is tuple
        self.log.append((self.name, 'fpre', function.label))

    def forward_postprocess(self, function, in_data):
        self.log.append((self.name, 'fpost', function.label))

    def backward_preprocess(self, function, in_data, out_grad):
        assert type(in_data) is type(out_grad) is tuple
        self.log.append((self.name, 'bpre', function.label))

    def backward_postprocess(self, function, in_data, out_grad):
        self.log.append((self.name, 'bpost', function.label))


def test_order(x):
    log = []
    f = Mul()
    f.add_hook(Log('local', log))
    with Log('a', log) as a, Log('b', log):
        assert next(iter(chainer.get_function_hooks().values())) is a
        (y,) = f.apply((x, x))
        y.grad = y.array
        del log[:]
        f2 = Mul()
        f2.add_hook(Log('local', log))
        del log[:]
        (y,) = f2.apply((x, x))
        assert log == [(n, m, 'Mul') for m in ('fpre', 'fpost') for n in ('a', 'b', 'local')]
        y.grad = y.array
        del log[:]
        y.backward()
        mine = [row for row in log if row[1] in ('bpre', 'bpost') and row[2] == 'Mul']
        assert mine == [(n, m, 'Mul') for m in ('bpre', 'bpost') for n in ('a', 'b', 'local')]
        del log[:]
    assert log == [('b', 'deleted', None), ('a', 'deleted', None)]
    assert not chainer.get_function_hooks()


def test_all_functions_of_a_graph(x):
    hook = Log()
    with hook:
        y = F.sum(F.relu(x) * 2)
        y.backward()
    labels = ['ReLU', '_ * 2', 'Sum']
    moments = [(m, label) for label in labels for m in ('fpre', 'fpost')]
    moments += [(m, label) for label in labels[::-1] for m in ('bpre', 'bpost')]
    assert [row[1:] for row in hook.log] == [('added', None), *moments, ('deleted', None)]


def test_arguments(x):
    seen = {}

    class Look(chainer.FunctionHook):
        def forward_preprocess(self, function, in_data):
            seen['fpre'] = (function, in_data)

        def backward_preprocess(self, function, in_data, out_grad):
            seen['bpre'] = (function, in_data, out_grad)

    f = Mul()
    f.add_hook(Look())
    h = x * 1
    array = h.array
    (y,) = f.apply((h, x))
    function, in_data = seen['fpre']
    assert function is f
    assert len(in_data) == 2
    assert all(isinstance(v, (np.ndarray, chainerx.ndarray)) for v in in_data)
    del h
    g = y.grad = y.array * 2
    y.backward()
    function, in_data, out_grad = seen['bpre']
    assert function is f
    assert in_data[0] is array  # retained
    np.testing.assert_array_equal(chainer.backend.CpuDevice().send(out_grad[0]), 2 * A * A)
    assert type(out_grad[0]) is type(g)


def test_local_hooks(x):
    f, hook = Mul(), Log()
    f.add_hook(hook)
    f.add_hook(Log('other'), 'named')
    assert list(f.local_function_hooks) == ['Log', 'named']
    with pytest.raises(KeyError, match='already exists'):
        f.add_hook(hook)
    with pytest.raises(TypeError, match='FunctionHook'):
        f.add_hook(5)
    f.apply((x, x))
    f.delete_hook('Log')
    with pytest.raises(KeyError, match='does not exist'):
        f.delete_hook('Log')
    assert [row[1] for row in hook.log] == ['added', 'fpre', 'fpost', 'deleted']
    y = F.relu(x)
    late = Log()
    y.creator.add_hook(late)  # the graph keeps it
    F.sum(y).backward()
    assert [row[1] for row in late.log] == ['added', 'bpre', 'bpost']


def test_functions_without_hooks_are_not_observed(x):
    made = []

    class Twice(BuiltinFunction):
        def __new__(cls):
            made.append(cls)
            return super().__new__(cls)

        @staticmethod
        def compose(x):
            return x * 2

    f = Mul()
    f.add_hook(Log())
    (h,) = f.apply((x, x))
    F.sum(Twice.call(h)).backward()
    assert f.local_function_hooks['Log'].log[-1][1] == 'bpost'
    assert not made  # the function object that hooks would see
    y = Twice.call(x)
    y.creator.add_hook(Log())
    F.sum(y * Twice.call(x)).backward()
    assert len(made) == 1


def test_deleted_hooks(x):
    y = F.relu(x)
    z = F.sum(y * y)
    hook = Log()
    y.creator.add_hook(hook)
    z.backward()
    y.creator.delete_hook('Log')
    z.backward()
    assert [row[1] for row in hook.log] == ['added', 'bpre', 'bpost', 'deleted']
    y.creator.add_hook(hook)
    z.backward()
    assert [row[1] for row in hook.log[4:]] == ['added', 'bpre', 'bpost']


def test_hooks_of_copies(x):
    f, hook = Mul(), Log()
    f.add_hook(hook)
    f = copy.copy(f)
    F.sum(f.apply((x, x))[0]).backward()
    assert [row[1] for row in hook.log] == ['added', 'fpre', 'fpost', 'bpre', 'bpost']


def test_hook_that_is_put_into_the_dict(x):
    y = F.relu(x)
    hook = Log()
    y.creator.local_function_hooks['Log'] = hook
    F.sum(y).backward()
    assert [row[1] for row in hook.log] == ['bpre', 'bpost']


def test_hooks_go_with_their_thread():
    hook = Log()

    def work(hook):
        hook.__enter__()
        F.sum(Variable(A)).backward()

    thread = threading.Thread(target=work, args=(hook,))
    thread.start()
    thread.join()
    assert [row[1] for row in hook.log] == ['added', 'fpre', 'fpost', 'bpre', 'bpost']
    ref = weakref.ref(hook)
    del hook, thread
    gc.collect()
    assert ref() is None


def test_the_same_hook_twice():
    with Log(), pytest.raises(KeyError, match='already exists'):
        Log().__enter__()
    assert not chainer.get_function_hooks()


MOMENTS = [
    'forward_preprocess',
    'forward_postprocess',
    'backward_preprocess',
    'backward_postprocess',
]


@pytest.mark.parametrize('moment', MOMENTS)
def test_hooks_that_raise(x, moment):
    class Raises(chainer.FunctionHook):
        pass

    def throw(*args):
        raise KeyError('mine')

    hook = Raises()
    setattr(hook, moment, throw)

    def run():
        F.sum(F.relu(x)).backward()

    with pytest.raises(KeyError, match='mine'), hook:
        run()
    assert x.grad is None
    assert not chainer.get_function_hooks()
    run()
    np.testing.assert_array_equal(chainer.backend.CpuDevice().send(x.grad), 1)


def test_no_graph_but_hooks(x):
    with chainer.no_backprop_mode(), Log() as hook:
        y = F.relu(x)
    assert y.creator is None
    assert [row[1] for row in hook.log] == ['added', 'fpre', 'fpost', 'deleted']


def test_timer(x):
    with function_hooks.TimerHook() as hook:
        y = F.sum(x * x)
        y.backward()
    assert [name for name, _ in hook.call_history] == ['Mul', 'Sum', 'Sum', 'Mul']
    assert all(seconds >= 0 for _, seconds in hook.call_history)
    assert hook.total_time() == pytest.approx(sum(s for _, s in hook.call_history))
    summary = hook.summary()
    assert {k: v['occurrence'] for k, v in summary.items()} == {'Mul': 2, 'Sum': 2}
    assert summary['Mul']['elapsed_time'] > 0


REPORTS = {
    'auto': ['           A      2.00sec           2', '          BB      0.00sec           1'],
    'auto_foreach': [
        '           A      2.00sec           2',
        '          BB       2.00ms           1',
    ],
    'sec': ['           A      2.00sec           2', '          BB      0.00sec           1'],
    'ms': ['           A    2000.00ms           2', '          BB       2.00ms           1'],
}


@pytest.mark.parametrize('unit', REPORTS)
def test_timer_report(unit):
    hook = function_hooks.TimerHook()
    hook.call_history = [('A', 1.5), ('BB', 0.002), ('A', 0.5)]
    file = io.StringIO()
    hook.print_report(unit, file)
    head, *rows = file.getvalue().splitlines()
    assert head == 'FunctionName  ElapsedTime  Occurrence'
    assert rows == REPORTS[unit]
    with pytest.raises(ValueError, match='unknown unit'):
        hook.print_report('days')


def test_print():
    file = io.StringIO()
    x = Variable(A)
    with function_hooks.PrintHook(file=file):
        F.sum(x).backward()
    lines = file.getvalue().splitlines()
    assert lines[:2] == ['function\tSum', 'input data']
    assert lines.count('function\tSum') == 2
    assert '- statistics: mean=2.00000000, std=0.81649661' in lines
    statistics = lines[lines.index('output gradient') + 6]
    assert statistics == '- statistics: mean=0.00000000, std=0.00000000'
    assert lines[-1] == '- grad: mean=1.00000000, std=0.00000000'


@pytest.mark.skipif(chainer.cuda.available or chainerx.cuda.is_available(), reason='there is a GPU')
@pytest.mark.parametrize('name', ['CUDAProfileHook', 'CupyMemoryProfileHook'])
def test_hooks_of_cuda(name):
    with pytest.raises(RuntimeError, match='CUDA environment'):
        getattr(function_hooks, name)()


class Failing(chainer.FunctionHook):
    name = 'failing'

    def __init__(self, moment):
        self.moment = moment

    def added(self, function):
        if self.moment == 'added':
            raise ZeroDivisionError

    def deleted(self, function):
        if self.moment == 'deleted':
            raise ZeroDivisionError


@pytest.mark.parametrize('moment', ['added', 'deleted'])
def test_a_failing_hook_is_removed(moment, x):
    with pytest.raises(ZeroDivisionError), Failing(moment):
        pass
    assert not chainer.get_function_hooks()
    f = F.exp(x).creator
    with pytest.raises(ZeroDivisionError):  # noqa: PT012 - one of them
        f.add_hook(Failing(moment))
        f.delete_hook('failing')
    assert not f.local_function_hooks
    f.add_hook(Failing(''))
