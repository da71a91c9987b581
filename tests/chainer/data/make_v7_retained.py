"""Measures how many bytes graphs of Chainer v7.8.1 keep, for `functions/cases/_retained.py`.

Run it where Chainer 7.8.1 with numpy < 1.24 and scipy is installed:

    python tests/chainer/data/make_v7_retained.py       # writes v7_retained.json here

The figures are the bytes allocated by NumPy; a check compares them with what is reachable from
the nodes.
"""

import functools
import gc
import json
import pathlib
import sys
import tracemalloc
import types

import chainer
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / 'chainerx'), str(HERE.parent)]

from functions.cases._retained import HELD, calls_to_measure, numpy_bytes, retained  # noqa: E402


def reachable_bytes(nodes):
    """Bytes reachable from the graph: of arrays, each memory once, and of NumPy scalars."""
    seen, buffers, numbers, todo = set(), {}, 0, list(nodes)
    while todo:
        o = todo.pop()
        if id(o) in seen or isinstance(o, (type, types.ModuleType)):
            continue
        seen.add(id(o))
        if isinstance(o, np.ndarray):
            while isinstance(o.base, np.ndarray):
                o = o.base
            buffers[id(o)] = o
        elif isinstance(o, np.generic):
            numbers += o.nbytes
        elif isinstance(o, types.FunctionType):
            todo += [o.__closure__, o.__defaults__]
        else:
            todo += gc.get_referents(o)
    return sum(b.nbytes for b in buffers.values()), numbers


def count():
    gc.collect()
    return numpy_bytes()


def main():
    assert chainer.__version__ == '7.8.1'
    chainer.config.use_ideep = 'never'
    np.seterr(all='ignore')
    gc.collect()
    gc.freeze()
    tracemalloc.start()
    figures = {}
    for key, case, spec in calls_to_measure():
        reached = []
        look = functools.partial(lambda found, nodes: found.append(reachable_bytes(nodes)), reached)
        allocated = retained(case, spec, np.array, count, look)
        ((arrays, numbers),) = reached
        if arrays != allocated[HELD.index('nothing')]:
            sys.exit(f'{key}: {arrays} bytes can be reached, {allocated} are allocated')
        # For 0-d arrays, v7 often keeps a scalar instead of an array.
        figures[key] = [n + numbers for n in allocated]
    lines = [f'{json.dumps(k)}: {json.dumps(v)}' for k, v in sorted(figures.items())]
    path = HERE / 'v7_retained.json'
    path.write_text('{\n' + ',\n'.join(lines) + '\n}\n')
    print(f'{len(figures)} calls in {path.name}')


if __name__ == '__main__':
    main()
