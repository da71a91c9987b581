"""Compiles kernels by NVRTC, without a GPU, and reads what ptxas says of spills and registers.

check_cuda_kernels.py SOURCES NVRTC...: SOURCES is what tests wrote with CHAINERX_CUDA_TEST_SOURCES
(tests/cuda/README.md), and each NVRTC a folder of `pip install --target`. Without --full every
kernel is compiled by the first NVRTC for sm_90, and a fixed sample by the others and for other
GPUs. Registers are bounded by what the first one uses for sm_90: it should be of a fixed version,
for newer ones use others. --renew writes these bounds anew.
"""

import argparse
import collections
import concurrent.futures
import ctypes
import hashlib
import itertools
import os
import pathlib
import re
import sys
import time

BOUNDS = pathlib.Path(__file__).resolve().parent / 'cuda_registers.txt'
MAIN = 90
OTHERS = [80, 100, 120]
SECONDS = 300  # for one kernel
#: Kernels that spill, up to so many bytes: values live across calls of long functions, a tile of
#: scores leaves few registers on sm_120, and ptxas 13.4 takes bytes apart for sm_100 and sm_120.
SPILLS = {
    '(Log)?(Gamma|Beta)inc': 160,
    'AttentionGradKeys_float32': 128,
    '(Minimum|Maximum)_uint8_vv': 160,
    'GammaDensity_float32_vv': 8,
}

state: dict[str, 'Library'] = {}


class Library:
    """One NVRTC, in a process of a pool."""

    def __init__(self, folder):
        # NVRTC asks for the second by its name, and is found beside the first of a process only.
        (path,) = pathlib.Path(folder).rglob('libnvrtc.so.*')
        (builtins,) = path.parent.glob('libnvrtc-builtins.so.*')
        self.builtins = ctypes.CDLL(str(builtins))
        self.nvrtc = ctypes.CDLL(str(path))
        self.headers = {}

    def read_headers(self, folder):
        if folder not in self.headers:
            paths = [path for path in folder.rglob('*') if path.is_file()]
            names = [str(path.relative_to(folder)).encode() for path in paths]
            array = ctypes.c_char_p * len(paths)
            self.headers[folder] = (array(*[path.read_bytes() for path in paths]), array(*names))
        return self.headers[folder]

    def compile(self, path, arch):
        """Returns the code of the result, and the log."""
        first, text = path.read_text().split('\n', 1)
        headers, *options = first.removeprefix('// ').split()
        options = [option for option in options if not option.startswith('--gpu-arch')]
        options += [f'--gpu-architecture=sm_{arch}', '--ptxas-options=-v']
        texts, names = self.read_headers(path.parent / headers)
        program = ctypes.c_void_p()
        self.nvrtc.nvrtcCreateProgram(
            ctypes.byref(program), text.encode(), b'kernel', len(texts), texts, names
        )
        array = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
        code = self.nvrtc.nvrtcCompileProgram(program, len(options), array)
        size = ctypes.c_size_t()
        self.nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        self.nvrtc.nvrtcGetProgramLog(program, log)
        self.nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
        return code, log.value.decode()


def kernel_of(path):
    return path.stem.rsplit('-', 1)[0]


def compile_kernel(task):
    """Returns the task, its registers, or what is wrong, and its time."""
    path, folder, arch = task
    start = time.monotonic()
    if folder not in state:
        state[folder] = Library(folder)
    code, log = state[folder].compile(path, arch)
    seconds = time.monotonic() - start
    if code:
        return task, None, f'does not compile: {log.strip()[:500]}', seconds
    allowed = [number for name, number in SPILLS.items() if re.match(name, path.stem)]
    if is_custom(path):
        allowed.append(sys.maxsize)
    for spilled in re.finditer(r'(\d+) bytes spill stores, (\d+) bytes spill loads', log):
        if max(map(int, spilled.groups())) > max(allowed, default=0):
            return task, None, f'spills: {spilled[0]}', seconds
    registers = max(map(int, re.findall(r'Used (\d+) registers', log)), default=None)
    fault = 'has no report of ptxas' if registers is None else None
    return task, registers, fault, seconds


def is_custom(path):
    return re.search('custom/device|__global__', path.read_text()) is not None


def number_of(path):
    return int(hashlib.sha256(kernel_of(path).encode()).hexdigest()[:8], 16)


def choose(paths, folders, full):
    """Returns the tasks, in an order that makes a sample of any number of the first ones."""
    tasks = []
    for path in sorted(paths, key=number_of):
        rest = [(folder, MAIN) for folder in folders[1:]] + [(folders[-1], arch) for arch in OTHERS]
        if not full:  # each kernel is in one sample of eight
            number = number_of(path) % 8
            rest = rest[number : number + 1]
        tasks += [(path, folder, arch) for folder, arch in [(folders[0], MAIN), *rest]]
    return tasks


def read_bounds():
    if not BOUNDS.exists():
        return {}
    rows = [line.split() for line in BOUNDS.read_text().splitlines() if not line.startswith('#')]
    return {name: int(number) for name, number in rows}


def write_bounds(used):
    """Keeps the rows of kernels that were not compiled. Registers are given out by eights. Fused
    chains have no bounds, since there are as many as programs; but they must not spill.
    """
    used = {name: n for name, n in used.items() if not name.startswith('Fused')}
    bounds = read_bounds() | {name: -(-number // 8) * 8 for name, number in used.items()}
    lines = ['# Registers that a kernel may use: check_cuda_kernels.py --renew writes this.']
    lines += [f'{name} {number}' for name, number in sorted(bounds.items())]
    BOUNDS.write_text('\n'.join(lines) + '\n')


def run(tasks, jobs):
    """Compiles all; returns the results."""
    done: list[tuple] = []
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        waiting: collections.deque[tuple] = collections.deque()
        rest = iter(tasks)
        while True:
            for task in itertools.islice(rest, 4 * jobs - len(waiting)):
                waiting.append((task, pool.submit(compile_kernel, task)))
            if not waiting:
                return done
            task, future = waiting.popleft()
            try:
                done.append(future.result(timeout=SECONDS))
            except concurrent.futures.TimeoutError:
                print(f'{kernel_of(task[0])}: not compiled after {SECONDS} s', flush=True)
                for process in pool._processes.values():
                    process.kill()
                sys.exit(1)


def report(results, bounds, first):
    """Prints one line per fault; returns how many, and the registers of the first NVRTC for MAIN,
    by kernel. Those that users write have no bounds, and may spill.
    """
    faults = 0
    used: collections.Counter[str] = collections.Counter()
    for (path, folder, arch), registers, fault, _ in results:
        name = kernel_of(path)
        if registers is not None and (folder, arch) == (first, MAIN) and not is_custom(path):
            used[name] = max(used[name], registers)
            bound = bounds.get(name, registers)  # new ones have none until --renew
            if registers > bound:
                fault = f'uses {registers} registers, above its bound of {bound}'
        if fault is not None:
            faults += 1
            print(f'{name} (sm_{arch}, {pathlib.Path(folder).name}): {fault}')
    return faults, used


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('sources', type=pathlib.Path)
    parser.add_argument('nvrtc', nargs='+')
    parser.add_argument('--full', action='store_true')
    parser.add_argument('--renew', action='store_true')
    parser.add_argument('--only', default='', help='kernels whose name has this')
    parser.add_argument('--most', type=int, help='compiles so many times, always the same ones')
    parser.add_argument('--jobs', type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_args()
    texts = {path: path.read_text() for path in args.sources.glob('*.cu')}
    # Tests of the test driver itself have programs that no GPU runs.
    ours = re.compile('-DCX_ISA=gpu.*\n(.*\n)*?(#include "chainerx/|.*__global__)')
    unique = {kernel_of(path) + text: path for path, text in texts.items() if ours.search(text)}
    paths = sorted(path for path in unique.values() if args.only in kernel_of(path))
    if not paths:
        sys.exit(f'no sources in {args.sources}')
    tasks = choose(paths, args.nvrtc, args.full)
    results = run(tasks[: args.most], args.jobs)
    faults, used = report(results, {} if args.renew else read_bounds(), args.nvrtc[0])
    if args.renew:
        write_bounds(used)
    unbounded = len(used.keys() - read_bounds().keys())
    print(
        f'{len(paths)} kernels ({unbounded} without a bound of registers), '
        f'compiled {len(results)} times in {sum(seconds for *_, seconds in results):.0f} s of CPU, '
        f'{len(tasks) - len(results)} left out, {faults} faults'
    )
    sys.exit(faults != 0)


if __name__ == '__main__':
    main()
