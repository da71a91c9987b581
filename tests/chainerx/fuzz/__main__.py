"""A child of test_fuzz.py: python -m fuzz SEED FIRST [LAST [PROGRESS]].

Prints a JSON object per finding, and at the end one with counts. PROGRESS is a file whose first
8 bytes are the number of the call that is being made.
"""

import collections
import contextlib
import faulthandler
import json
import mmap
import os
import resource
import signal
import struct
import sys

import chainerx as chx

from fuzz.calls import draw_call
from fuzz.compare import Finding, TookLong, check

SECONDS = 1.0  # time limit after which a call is asked to stop
MEMORY = 4 << 30


def took_long(*args):
    raise TookLong


def main(seed, first, last, progress):
    faulthandler.enable()
    if 'libasan' not in os.environ.get('LD_PRELOAD', ''):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, took_long)
    with open(progress, 'r+b') as file:
        place = mmap.mmap(file.fileno(), 8)
    counts: collections.Counter = collections.Counter()
    for number in range(first, last):
        place[:8] = struct.pack('q', number)
        draft = draw_call(seed, number)
        finding = None
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            verdict = check(draft)
        except TookLong:
            verdict = 'took long'
        except Finding as error:
            verdict = 'finding'
            finding = str(error)
        finally:
            with contextlib.suppress(TookLong):
                signal.setitimer(signal.ITIMER_REAL, 0)
        counts[verdict] += 1
        if finding is not None:
            report = {'number': number, 'call': str(draft), 'finding': finding}
            print(json.dumps(report), flush=True)
        if number % 500 == 0:
            chx.free_memory_cache()
    print(json.dumps({'counts': counts}), flush=True)


if __name__ == '__main__':
    seed, first = int(sys.argv[1]), int(sys.argv[2])
    if len(sys.argv) == 3:
        draft = draw_call(seed, first)
        print(draft)
        print(check(draft))
    else:
        main(seed, first, int(sys.argv[3]), sys.argv[4])
