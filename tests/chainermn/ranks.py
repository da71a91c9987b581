"""Runs the functions ``check_*`` of modules in all processes of ``mpiexec``, one after the other.

    mpiexec -n 3 python ranks.py [--timeout SECONDS] checks_one.py checks_two.py

A check is called with a communicator, by all ranks. The first failure ends all processes, since
others may wait for the rank that failed; so does a check that takes too long, after the stacks of
all ranks have been printed. The last line of a good run says how many checks there were.
"""

import argparse
import faulthandler
import importlib.util
import os
import pathlib
import sys
import threading
import time
import traceback


def checks_of(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return {name: f for name, f in vars(module).items() if name.startswith('check_')}


_timers = []


def end_after(seconds):
    """Prints the stacks of this rank after a time, and ends it when others have printed theirs.

    A second call begins anew. All goes to stderr, which mpiexec passes on.
    """
    faulthandler.dump_traceback_later(seconds)
    for timer in _timers:
        timer.cancel()
    _timers[:] = [threading.Timer(seconds + 2, os._exit, [3])]
    _timers[0].daemon = True
    _timers[0].start()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--timeout', type=float, default=60)
    parser.add_argument('--communicator', default='naive')
    parser.add_argument('--only')
    parser.add_argument('files', nargs='+', type=pathlib.Path)
    args = parser.parse_args()
    end_after(60)
    import chainermn

    comm = chainermn.create_communicator(args.communicator)
    n = 0
    for path in args.files:
        for name, check in checks_of(path).items():
            if args.only and args.only not in name:
                continue
            end_after(args.timeout + comm.rank / 2)
            try:
                check(comm)
                comm.mpi_comm.Barrier()
            except BaseException:
                text = f'{path.name}: {name}, rank {comm.rank} of {comm.size}:\n'
                text += traceback.format_exc()
                # One after the other, or mpiexec mixes their lines up.
                time.sleep(comm.rank / 2)
                sys.stderr.write(text)
                sys.stderr.flush()
                time.sleep(comm.size / 2)
                comm.mpi_comm.Abort(1)
            n += 1
    if comm.rank == 0:
        print(f'{n} checks passed', flush=True)


if __name__ == '__main__':
    main()
