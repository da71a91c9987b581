"""Objects of every class of the package, constructed in unintended ways."""

import contextlib
import copy
import copyreg
import gc
import json
import os
import pickle
import signal
import subprocess
import sys

import chainer  # the engine's classes need it
import chainerx as chx
import pytest

CORE = chx._core


def classes():
    found = {}
    for module in (CORE, CORE.graph, CORE.engine):
        for value in vars(module).values():
            if isinstance(value, type) and not issubclass(value, BaseException):
                found[f'{value.__module__}.{value.__qualname__}'] = value
    return [found[name] for name in sorted(found)]


CLASSES = classes()
MAKERS = {
    'object.__new__': lambda cls: object.__new__(cls),
    '__new__': lambda cls: cls.__new__(cls),
    'call': lambda cls: cls(),
    'reconstructor': lambda cls: copyreg._reconstructor(cls, object, None),
    'newobj': lambda cls: copyreg.__newobj__(cls),
    'subclass': lambda cls: type('Sub', (cls,), {'__init__': lambda self: None})(),
    'subclass of __new__': lambda cls: type('Sub', (cls,), {'__new__': object.__new__})(),
    'assigned class': lambda cls: assigned(cls),
}


def assigned(cls):
    class Plain:
        pass

    o = Plain()
    o.__class__ = cls
    return o


def use(o):
    """Uses an object in all possible ways; it may only raise exceptions."""
    arguments = [(), (None,), ('native:0',), (1,), (o,), (o, o), (o, o, o)]
    for name in dir(type(o)):
        if name in ('__class__', '__init_subclass__', '__subclasshook__'):
            continue
        try:
            value = getattr(o, name)
        except Exception:
            continue
        if callable(value) and not isinstance(value, type):
            for args in arguments:
                with contextlib.suppress(Exception):
                    value(*args)
    for f in (repr, str, hash, len, list, bool, int, float, iter, next, copy.copy, copy.deepcopy):
        with contextlib.suppress(Exception):
            f(o)
    for f in (
        lambda: o == o,
        lambda: o + 1,
        lambda: o[0],
        lambda: o(),
        lambda: chx.ones(3, device=o),
        lambda: chx.context_scope(o).__enter__(),
        lambda: chx.is_backprop_required(o),
        lambda: chx.ones(3).require_grad(o),
        lambda: chx.ones(3).to_device(o),
        lambda: chx.graph.value(o),
        lambda: chx.sum(o),
        lambda: chx.no_backprop_mode(o),
        lambda: chx.backprop_scope('s', o),
    ):
        with contextlib.suppress(Exception):
            f()
    for protocol in range(6):
        with contextlib.suppress(Exception):
            pickle.loads(pickle.dumps(o, protocol))


def try_all(index):
    cls = CLASSES[index]
    saved = chx.get_global_default_context()
    for make in MAKERS.values():
        try:
            o = make(cls)
        except TypeError:
            continue
        if cls is not chx.Context:  # it has set_... of its own kind
            use(o)
        else:
            for protocol in range(6):
                with pytest.raises(TypeError):
                    pickle.dumps(o, protocol)
        del o
        gc.collect()
    chx.set_global_default_context(saved)
    assert float(chx.ones(3).sum()) == 3


def try_each_in_a_child():
    """Prints how the children ended, one for each class; none may crash."""
    codes = []
    for index, cls in enumerate(CLASSES):
        child = os.fork()
        if child == 0:
            signal.alarm(240)
            with contextlib.redirect_stdout(sys.stderr):
                try_all(index)
                print(cls.__qualname__, 'is whole')
            sys.stderr.flush()
            os._exit(0)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    print(json.dumps(codes))


@pytest.fixture(scope='module')
def children():
    code = (
        f'import sys, warnings; sys.path.insert(0, {str(__file__.rpartition("/")[0])!r})\n'
        'warnings.simplefilter("ignore")\n'
        'import test_instances; test_instances.try_each_in_a_child()'
    )
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize('index', range(len(CLASSES)), ids=[c.__qualname__ for c in CLASSES])
def test_an_object_of_nothing_is_refused_or_harmless(index, children):
    codes, errors = children
    assert len(codes) == len(CLASSES)
    assert codes[index] == 0, errors[-2000:]
    assert f'{CLASSES[index].__qualname__} is whole' in errors


@pytest.mark.parametrize('protocol', range(pickle.HIGHEST_PROTOCOL + 1))
def test_contexts_are_not_pickled(protocol):
    context = chx.get_default_context()
    with pytest.raises(TypeError, match='Context'):
        pickle.dumps(context, protocol)
    with pytest.raises(TypeError):
        object.__new__(chx.Context)
    with pytest.raises(TypeError), pytest.warns(RuntimeWarning, match='uninitialized'):
        chx.Context.__new__(chx.Context).get_device('native:0')


def test_contexts_are_not_copied():
    for f in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match='Context'):
            f(chx.get_default_context())


def test_a_context_lives_as_long_as_the_process():
    context = chx.Context()
    x = chx.ones(3, device=context.get_device('native:1'))
    del context
    gc.collect()
    assert x.device.context.get_device('native:1') is x.device
    assert float(x.sum()) == 3
    again = x.device.context
    with pytest.raises((TypeError, RuntimeError)):
        again.__init__(1)
    assert float((x + x).sum()) == 6


def test_named_objects_are_found():
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        for o in (
            chx.get_device('native:1'),
            chx.get_backend('native'),
            chx.anygraph,
        ):
            assert pickle.loads(pickle.dumps(o, protocol)) is o
    assert copy.copy(chx.anygraph) is chx.anygraph
    assert copy.deepcopy(chx.get_backend('native')) is chx.get_backend('native')


def test_state_of_a_process_is_not_pickled():
    x = chx.ones(3).require_grad()
    y = x * 2
    with chx.backprop_scope('one') as scope:
        for o in (
            scope,
            chx.graph.value(y),
            chx.graph.creator(y),
            chx.using_device('native:1'),
            chx.no_backprop_mode(),
            chx.force_backprop_mode(),
            chx.backprop_scope('two'),
            chx.context_scope(chx.get_default_context()),
        ):
            for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
                with pytest.raises(TypeError, match='cannot copy or pickle'):
                    pickle.dumps(o, protocol)
            with pytest.raises(TypeError):
                copy.copy(o)
            use(o) if o is not scope else None
    assert chainer.__version__
