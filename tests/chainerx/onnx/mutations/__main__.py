"""A child of test_mutations.py: python -m mutations CORPUS SEED FIRST [LAST [PROGRESS]].

Prints a JSON object per finding, and at the end one with counts. PROGRESS is a file whose first
8 bytes are the number of the mutation at hand.
"""

import collections
import faulthandler
import json
import mmap
import os
import pathlib
import pickle
import re
import resource
import struct
import sys

import chainerx
import numpy as np
from chainerx.onnx import load

from mutations.mutate import draw

MEMORY = 2 << 30  # of the process, and so of a run: a shape in a file may ask for any
#: What loading may take: per byte of the file (a field of two bytes is an entry of a table), and
#: for pages that the allocator keeps.
FACTOR, SLACK = 200, 4 << 20
ERRORS = (chainerx.ChainerxError, ValueError, NotImplementedError, TypeError, IndexError)


def status(key):
    text = pathlib.Path('/proc/self/status').read_text()
    return int(re.search(rf'{key}:\s+(\d+) kB', text)[1]) * 1024


def loaded(data):
    """The model, or None; and what is wrong, or None."""
    is_watched = os.access('/proc/self/clear_refs', os.W_OK)
    if is_watched:
        pathlib.Path('/proc/self/clear_refs').write_text('5')  # the peak begins anew
        before = status('VmRSS')
    model = wrong = None
    try:
        model = load(data)
    except ERRORS as error:
        if not str(error).startswith('onnx: '):
            wrong = f'load names nothing: {type(error).__name__}: {error}'
    except BaseException as error:
        wrong = f'load raises {type(error).__name__}: {error}'
    if is_watched and (taken := status('VmHWM') - before) > FACTOR * len(data) + SLACK:
        wrong = wrong or f'load takes {taken} bytes for a file of {len(data)}'
    return model, wrong


def values_for(model, inputs):
    """The given inputs where they fit, else others of the shapes that the file has now."""
    values = []
    for i, info in enumerate(model.inputs):
        given = inputs[i] if i < len(inputs) else None
        shape = info.shape and tuple(n if isinstance(n, int) else 2 for n in info.shape)
        fits = given is not None and np.asarray(given).dtype == info.dtype and (
            info.shape is None or len(info.shape) == np.ndim(given)
        )  # fmt: skip
        if fits or not info.required or info.dtype is None:
            values.append(given)
        elif np.prod(shape or (), dtype=float) < 1 << 16:
            values.append(np.ones(shape or (), info.dtype))
        else:
            values.append(given)
    return values


def check(data, inputs):
    """What came of a mutation, and what is wrong with that, or None."""
    model, wrong = loaded(data)
    if wrong:
        return 'finding', wrong
    if model is None:
        return 'refused', None
    try:
        model(*values_for(model, inputs))
    except MemoryError:
        return 'out of memory', None
    except ERRORS as error:
        text = str(error)
        # What a kernel finds may come from any earlier node.
        if not text.startswith('onnx: ') and not isinstance(error, IndexError):
            return 'finding', f'the run names nothing: {type(error).__name__}: {text}'
        return 'failed', None
    except BaseException as error:
        return 'finding', f'the run raises {type(error).__name__}: {error}'
    return 'ran', None


def main(corpus, seed, first, last, progress):
    faulthandler.enable()
    if 'libasan' not in os.environ.get('LD_PRELOAD', ''):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    models = pickle.loads(pathlib.Path(corpus).read_bytes())
    place = None
    if progress is not None:
        with open(progress, 'r+b') as file:
            place = mmap.mmap(file.fileno(), 8)
    counts: collections.Counter = collections.Counter()
    for number in range(first, last):
        if place is not None:
            place[:8] = struct.pack('q', number)
        name, data, inputs = draw(models, seed, number)
        verdict, wrong = check(data, inputs)
        counts[verdict] += 1
        counts[name.rpartition(' ')[2]] += 1
        if wrong is not None:
            print(json.dumps({'number': number, 'name': name, 'finding': wrong}), flush=True)
        if number % 200 == 0:
            chainerx.free_memory_cache()
    print(json.dumps({'counts': counts}))


if __name__ == '__main__':
    path, *numbers = sys.argv[1:4]
    seed, first = map(int, numbers)
    last = int(sys.argv[4]) if len(sys.argv) > 4 else first + 1
    main(path, seed, first, last, sys.argv[5] if len(sys.argv) > 5 else None)
