"""A child of test_out_of_memory.py: out_of_memory LIBRARY table|training|captures [0|1|2].

Lets each request for memory fail that a piece of work makes, alone and with all that follow, and
expects a MemoryError, and that the work can be done when all of them have failed. With a number,
every third piece of the work from that on.
"""

import ctypes
import faulthandler
import gc
import itertools
import sys
import threading

import chainerx as chx

from out_of_memory import work

NEVER = 2**31


class Failing:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.fail_begin.argtypes = [ctypes.c_long, ctypes.c_long]
        self.library.fail_end.restype = ctypes.c_long
        assert self.library.fail_init() >= 3

    def run(self, f, first, last):
        """Runs the work; returns the number of requests and the error."""
        results = []

        def attempt():
            error = None
            self.library.fail_begin(first, last)
            try:
                f()
            except BaseException as e:
                error = e
            results.append((self.library.fail_end(), error))

        # In its own thread, whose pools are empty.
        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join()
        return results[0]

    def sweep(self, name, f):
        f()
        total, error = self.run(f, NEVER, NEVER)
        assert error is None, (name, error)
        failed = 0
        for last in (None, NEVER):
            for n in range(1, total + 1):
                _, error = self.run(f, n, last or n)
                # An alternative path may need no memory.
                assert error is None or isinstance(error, MemoryError), (name, n, last, error)
                failed += error is not None
        f()
        return failed


def main(path, what, part=None):
    faulthandler.enable()
    chx.set_memory_cache_limit(0)
    gc.disable()
    failing = Failing(path)
    pieces = itertools.islice(getattr(work, what)(), int(part or 0), None, 3 if part else 1)
    print(sum(failing.sweep(name, f) for name, f in pieces))


if __name__ == '__main__':
    main(*sys.argv[1:])
