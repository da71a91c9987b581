"""Lists of the kernels that programs need, and the compiling of them ahead of time."""

from __future__ import annotations

import json
import os
import runpy
import sys
import time
import typing as tp

from chainerx import _files, cuda

#: Whether this process lists its kernels.
is_recording = False


def record(program: str, arguments: list[str], output: str, *, is_module: bool = False) -> None:
    """Runs a program as ``python [-m] program arguments`` does, and lists its kernels."""
    global is_recording
    is_recording = True
    sys.argv = [program, *arguments]
    sys.path.insert(0, os.getcwd() if is_module else os.path.dirname(os.path.abspath(program)))
    try:
        if is_module:
            runpy.run_module(program, run_name='__main__', alter_sys=True)
        else:
            runpy.run_path(program, run_name='__main__')
    finally:
        sources = json.loads(cuda._plugin().ChainerxCudaSources())
        with _files.replaced(output) as whole, open(whole, 'w', encoding='utf-8') as file:
            json.dump({'kernels': sources}, file, indent=1)
        print(f'{len(sources)} kernels are in {output}', file=sys.stderr)


def _architectures(names: list[str] | None) -> list[int]:
    if not names:
        devices = cuda.describe()['driver'].get('devices', [])
        names = sorted({device['compute_capability'] for device in devices})
    if not names:
        sys.exit('compile: there is no GPU here; say for which by --arch, such as --arch 8.0 9.0')
    for name in names:
        major, _, minor = name.partition('.')
        if not (major.isdecimal() and minor.isdecimal()):
            sys.exit(f'compile: --arch {name} is no compute capability, expected one such as 9.0')
    return [int(major) * 10 + int(minor) for major, _, minor in (n.partition('.') for n in names)]


def _read(path: str) -> list[dict[str, tp.Any]]:
    try:
        with open(path, encoding='utf-8') as file:
            return json.load(file)['kernels']
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f'compile: {path} is no list of kernels: {error!r}')


def compile_lists(paths: list[str], names: list[str] | None) -> None:
    """Fills the cache on disk with the kernels of all lists, for all architectures."""
    architectures = _architectures(names)
    sources = {source['text']: source['kernel'] for path in paths for source in _read(path)}
    start = time.perf_counter()
    for arch in architectures:
        for text, kernel in sources.items():
            error = cuda._plugin().ChainerxCudaCompile(kernel.encode(), text.encode(), arch)
            if error:
                sys.exit(f'compile: {error.decode()}')
    print(
        f'{len(sources)} kernels for {len(architectures)} architectures are in '
        f'{cuda.describe()["cache"]}; {time.perf_counter() - start:.1f} s'
    )
