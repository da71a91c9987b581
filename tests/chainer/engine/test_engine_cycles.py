"""Random cycles of Python objects through the graph: unreachable objects are collected, and
reachable ones are not touched."""

import gc
import random
import subprocess
import sys
import weakref

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import Variable


class Function(chainer.FunctionNode):
    def forward(self, inputs):
        return (sum(inputs),) * 2

    def backward(self, indexes, grad_outputs):
        return tuple(grad_outputs[0] for _ in indexes)


class Box:
    pass


class ObjectGraph:
    """Objects that refer to one another: functions, variables, nodes of variables, boxes, and, for
    chainerx, arrays."""

    def __init__(self, rng, module=np):
        self.rng = rng
        self.module = module
        self.objects = []  # all objects that could be held from outside
        self.refs = []  # (holder, held), through attributes or as a gradient
        self.creators = {}  # variable or node -> function
        self.functions = {}  # function -> functions it depends on
        self.variables = []

    def build(self, n):
        leaf = Variable(self.module.ones(2, 'f'))
        self.creators[id(leaf)] = None
        variables = [leaf]
        for _ in range(n):
            choices = self.variables + variables
            inputs = [self.rng.choice(choices) for _ in range(self.rng.randint(1, 2))]
            function = Function()
            outputs = function.apply(inputs)
            self.functions[id(function)] = {
                c for x in inputs if (c := self.creators[id(x)]) is not None
            }
            self.objects.append(function)
            for y in outputs:
                if self.rng.random() < 0.4:  # with a built-in function above
                    y = F.relu(y) * 2.0
                self.creators[id(y)] = id(function)
                if y.creator is not function and self.rng.random() < 0.5:
                    self.look_at(y)
                variables.append(y)
                self.objects.append(y)
                if self.rng.random() < 0.3:
                    node = y.node
                    self.creators[id(node)] = self.creators[id(y)]
                    self.objects.append(node)
                    self.refs.append((id(y), id(node)))
                if self.module is chainerx and self.rng.random() < 0.4:
                    array = y._record
                    self.objects += [array, array * 2]
                    for x in self.objects[-2:]:
                        self.creators[id(x)] = self.creators[id(y)]
                    self.refs.append((id(array), -id(y)))
        for x in variables:
            if self.rng.random() < 0.3:
                x.grad_var = self.rng.choice(variables)
                self.refs.append((id(x), id(x.grad_var)))
                # Their arrays, which may outlive the variables.
                self.refs.append((-id(x), -id(x.grad_var)))
                self.creators[-id(x.grad_var)] = self.creators[id(x.grad_var)]
        self.objects += [Box() for _ in range(3)]
        self.variables += variables
        holders = [o for o in self.objects if hasattr(o, '__dict__')]
        for function in [o for o in self.objects if isinstance(o, Function)]:
            if self.rng.random() < 0.3:  # refer to the region, and so to its inputs
                holder = self.rng.choice(holders)
                holder.outputs_of = [*getattr(holder, 'outputs_of', ()), function.outputs]
                self.refs += [(id(holder), f) for f in self.functions[id(function)]]
        for _ in range(2 * n):
            holder, held = self.rng.choice(holders), self.rng.choice(self.objects)
            setattr(holder, f'ref{len(self.refs)}', held)
            self.refs.append((id(holder), id(held)))

    def look_at(self, y):
        """From now on the graph keeps a built-in function, and so the nodes of its inputs."""
        f = y.creator
        (node,) = f.inputs
        below = self.creators[id(y)]
        self.creators |= {id(y): id(f), id(node): below}
        self.functions[id(f)] = {below}
        self.refs.append((id(f), id(node)))
        self.objects += [f, node]

    def reachable(self, held):
        found, todo = set(), [id(o) for o in held]
        while todo:
            o = todo.pop()
            if o in found or o is None:
                continue
            found.add(o)
            todo += [b for a, b in self.refs if a == o]
            todo += [self.creators.get(o)]
            todo += self.functions.get(o, ())
        return found

    def watch(self, held):
        """Drops all objects but some; returns the reference, liveness and attributes of each."""
        alive = self.reachable(held)
        watched = [
            (weakref.ref(o), id(o) in alive, len(vars(o)) if hasattr(o, '__dict__') else 0)
            for o in self.objects
        ]
        self.objects.clear()
        self.variables.clear()
        return watched


@pytest.mark.parametrize('module', [np, chainerx])
@pytest.mark.parametrize('seed', range(200))
def test_random_cycles(seed, module):
    rng = random.Random(seed)
    graph = ObjectGraph(rng, module)
    gc.disable()
    try:
        graph.build(rng.randint(1, 8))
        if seed % 3 == 0:
            gc.collect()  # all objects are in the oldest generation
        held = rng.sample(graph.objects, rng.randint(0, 2))
        watched = graph.watch(held)
        for generation in (0, 1, 2):
            gc.collect(generation)
            for ref, is_alive, size in watched:
                o = ref()
                if is_alive:
                    assert o is not None
                    assert not hasattr(o, '__dict__') or len(vars(o)) >= size
                del o
        assert [ref() is not None for ref, *_ in watched] == [a for _, a, _ in watched]
    finally:
        gc.enable()


def test_random_cycles_where_some_are_frozen():
    """A frozen cycle and everything it refers to survive; the rest is collected."""
    worlds = []
    for seed in range(100):
        rng = random.Random(seed)
        graph = ObjectGraph(rng)
        graph.build(rng.randint(1, 4))
        ring = Box()
        ring.refs = [ring, *graph.objects]
        gc.freeze()
        graph.build(rng.randint(1, 8))
        watched = graph.watch(ring.refs)
        del ring
        gc.collect()
        assert [ref() is not None for ref, *_ in watched] == [a for _, a, _ in watched]
        worlds.append(watched)
    assert any(not alive for watched in worlds for _, alive, _ in watched)
    gc.unfreeze()
    gc.collect()
    assert not [ref for watched in worlds for ref, *_ in watched if ref() is not None]


def cycle():
    """A link-like object whose function refers to it; two of its variables own one node."""
    box, function = Box(), Function()
    function.box = box
    box.y, _ = function.apply((Variable(np.ones(2, 'f')),))
    box.z = F.sum(box.y)
    return box, weakref.ref(function)


def test_two_owners():
    box, ref = cycle()
    del box
    gc.collect()
    assert ref() is None


def test_one_owner_that_is_alive():
    box, ref = cycle()
    z = box.z
    del box
    gc.collect()
    assert ref().box.z is z
    z.backward()
    del z
    gc.collect()
    assert ref() is None


def test_frozen_owner():
    box, ref = cycle()
    z = box.z
    gc.collect()
    gc.freeze()
    try:
        del box
        w = F.sum(z.creator.inputs[0].get_variable() * 2)
        gc.collect()
        assert ref().box.z is z
        del w
    finally:
        gc.unfreeze()
    del z
    gc.collect()
    assert ref() is None


def test_owner_that_is_saved_by_its_finalizer():
    saved = []

    class Finalized(Box):
        def __del__(self):
            saved.append(self)

    box, ref = cycle()
    box.more = Finalized()
    box.more.box = box
    del box
    gc.collect()
    # The collector has cleared weak references to the objects that it is about to free.
    function = saved[0].box.y.creator
    assert function.box is saved[0].box
    ref = weakref.ref(function)
    del function
    saved[0].box.z.backward()
    saved.clear()
    gc.collect()
    assert ref() is None


def test_other_uses_of_traversal_by_the_collector():
    """Other users of traversal, such as gc.get_referents, get the usual results."""
    seen = []

    def look(phase, info):
        if phase == 'start':
            seen.append(gc.get_referents(z))

    box, ref = cycle()
    z = box.z
    gc.callbacks.append(look)
    try:
        gc.collect()
    finally:
        gc.callbacks.remove(look)
    assert seen
    assert ref().box is box


def test_signals_do_not_meet_the_collector():
    """Signal handlers do not run inside the collector, where Ctrl-C would be lost."""
    code = """
import gc, signal, sys
import chainer

class Stop(Exception):
    pass

def stop(*args):
    global armed
    if armed:
        armed = False
        raise Stop

lost, caught, armed = [], 0, False
sys.unraisablehook = lambda args: lost.append(args.exc_type)
signal.signal(signal.SIGALRM, stop)
signal.setitimer(signal.ITIMER_REAL, 5e-5, 5e-5)
while caught < 300:
    try:
        armed = True
        for _ in range(10_000):
            gc.collect(0)
    except Stop:
        caught += 1
signal.setitimer(signal.ITIMER_REAL, 0)
assert not lost, len(lost)
"""
    command = [sys.executable, '-c', code]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
