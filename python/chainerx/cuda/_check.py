"""The check of a GPU: is what it computes what the CPU computes, and how fast is it?"""

from __future__ import annotations

import contextlib
import fnmatch
import functools
import importlib
import shutil
import subprocess
import sys
import time
import typing as tp

import chainerx
from chainerx import cuda
from chainerx._core import kernels
from chainerx.cuda import _figures
from chainerx.cuda._check_capture import check_capture
from chainerx.cuda._check_chains import check_chains
from chainerx.cuda._check_gradients import check_gradients
from chainerx.cuda._check_layers import check_layers
from chainerx.cuda._check_libraries import check_fourier, check_linalg
from chainerx.cuda._check_products import check_convolutions, check_products
from chainerx.cuda._check_rooms import (
    check_norm,
    check_optim,
    check_random,
    check_scan,
    check_softmax,
    check_sort,
)
from chainerx.cuda._check_runtime import check_runtime
from chainerx.cuda._check_streams import check_streams
from chainerx.cuda._check_training import check_training
from chainerx.cuda._check_values import (
    Checks,
    check_complex,
    check_elementwise,
    check_layouts,
    check_reductions,
    check_scatter,
)
from chainerx.cuda._check_worker import Report, run_part, run_parts
from chainerx.cuda._figures_chains import FIGURES_OF_CHAINS

#: What is compared with the CPU, by name.
SECTIONS: tp.Final[dict[str, tp.Callable[[Checks], None]]] = {
    'elementwise': check_elementwise,
    'complex numbers': check_complex,
    'layouts': check_layouts,
    'scatter': check_scatter,
    'reductions': check_reductions,
    'gradients': check_gradients,
    'softmax': check_softmax,
    'norm': check_norm,
    'scan': check_scan,
    'sort': check_sort,
    'random': check_random,
    'optim': check_optim,
    'products': check_products,
    'convolutions': check_convolutions,
    'fourier': check_fourier,
    'linalg': check_linalg,
    'streams': check_streams,
    'layers': check_layers,
    'captured steps': check_capture,
    'fused chains': check_chains,
    'memory, errors, profiler': check_runtime,
    'training': check_training,
}
#: What takes long on small arrays, too.
SLOW: tp.Final = {'training'}
#: What a profile would change: it sees each call, so that no graph is launched.
UNPROFILED: tp.Final = {'captured steps', 'fused chains'}
#: Which of them compute-sanitizer sees, where it is installed; it takes tens of times as long.
SANITIZED: tp.Final = ('scatter', 'streams', 'layouts')


def _run_section(name: str, device: str) -> Report:
    checks = Checks(device)
    start = time.perf_counter()
    profile = None if name in UNPROFILED else chainerx.profile()
    with profile or contextlib.nullcontext():
        SECTIONS[name](checks)
    rows = profile.rows if profile is not None else []
    called = sorted({row.name.partition('[')[0] for row in rows if row.device != 'native:0'})
    return {
        'passed': checks.passed,
        'failed': checks.failed,
        'missing': checks.missing,
        'kernels': called,
        'seconds': round(time.perf_counter() - start, 1),
    }


@functools.cache
def _all_figures() -> dict[str, _figures.Figure]:
    from chainerx.cuda import _figures_steps  # needs chainer, which stands on chainerx

    every = (*_figures.FIGURES, *FIGURES_OF_CHAINS, *_figures_steps.STEPS)
    return {one.name: one for one in every}


@functools.cache
def _torch() -> tp.Any:
    try:
        torch = importlib.import_module('torch')
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def _run_figure(name: str, device: str) -> Report:
    torch = _torch()
    try:
        return _figures.measure(_all_figures()[name], _figures.Setting(device, torch))
    finally:
        cuda.empty_cache(device)
        if torch is not None:
            torch.cuda.empty_cache()


def _try_figure(name: str, device: str) -> Report:
    return _figures.run_once(_all_figures()[name], _figures.Setting(device, small=True))


def _run(run: tp.Any, names: list[str], device: str, limit: float | None) -> tp.Any:
    if limit is not None:
        return run_parts(run, names, device, limit)
    return ((name, run_part(run, name, device)[0]) for name in names)


def _sanitize(device: str, limit: float) -> Report | None:
    """What compute-sanitizer says about a few sections; None where it is not installed."""
    tool = shutil.which('compute-sanitizer')
    if tool is None:
        return None
    command = [tool, '--error-exitcode', '77', sys.executable, '-m', 'chainerx.cuda', 'check']
    command += ['--quick', '--in-process', '--device', device, '--only', *SANITIZED]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {'error': f'no result in {limit:g} s'}
    if done.returncode == 0:
        return {'passed': list(SANITIZED)}
    lines = [line for line in done.stdout.splitlines() if line.startswith('=====')]
    return {'error': f'it ended with {done.returncode}', 'lines': lines[:40]}


def _time(seconds: float) -> str:
    for unit, size in (('s', 1.0), ('ms', 1e-3)):
        if seconds >= size:
            return f'{seconds / size:.3g} {unit}'
    return f'{seconds * 1e6:.3g} us'


def _line(name: str, result: Report) -> str:
    """A figure as a line of the table."""
    write = _size if result['unit'] == 'bytes' else _time
    here, theirs = ((n and write(n)) or '' for n in (result['ours'], result['PyTorch']))
    ratio, bar = ((n and f'{n:.2f}') or '' for n in (result['ratio'], result['bar']))
    star = '*' if theirs and result['source'] == _figures.SOURCE else ' '
    mark = ' above the bar' if result['is met'] is False else ''
    return f'{name:58} {here:>9} {theirs:>9}{star}{ratio:>6} {bar:>5}{mark}'


def _size(nbytes: float) -> str:
    return f'{nbytes / 2**30:.2f} GiB'


def _print_head(report: Report) -> None:
    for part in ('driver', 'nvrtc'):
        found = report[part]
        print(f'{part}: ' + (found.get('error') or f'{found["version"]}, {found["path"]}'))
    for i, found in enumerate(report['driver'].get('devices', [])):
        print(
            f'cuda:{i}: {found["name"]}, compute capability {found["compute_capability"]}, '
            f'{found["memory"] / 2**30:.1f} GiB'
        )


def _compare(report: Report, names: list[str], device: str, limit: float | None) -> None:
    called = set()
    for name, result in _run(_run_section, names, device, limit):
        if error := result.get('error'):
            report['failed'].append(f'{name}: {error}')
            print(f'{name}: FAILED: {error}', flush=True)
            continue
        report['passed'] += result['passed']
        report['failed'] += result['failed']
        report['missing'] += result['missing']
        called |= set(result['kernels'])
        print(f'{name}: {result["passed"]} passed, {result["seconds"]} s', flush=True)
    every = {name for name, *_ in kernels.table()}
    report['kernels'] = {'called': len(called & every), 'not called': sorted(every - called)}
    print(f'{len(called & every)} of {len(every)} kernels were called', flush=True)


def _measure(report: Report, names: list[str], device: str, limit: float | None) -> None:
    print(f'{"":58} {"here":>9} {"PyTorch":>9} {"ratio":>6} {"bar":>5}')
    for name, result in _run(_run_figure, names, device, limit):
        report['figures'][name] = result
        if error := result.get('error'):
            report['failed'].append(f'{name}: {error}')
            print(f'{name:58} FAILED: {error}', flush=True)
            continue
        print(_line(name, result), flush=True)
        if 'error of PyTorch' in result:
            print(f'  PyTorch failed: {result["error of PyTorch"]}', flush=True)
    if any(one.get('source') == _figures.SOURCE for one in report['figures'].values()):
        print(f'* {_figures.SOURCE}')


def _try(report: Report, names: list[str], device: str, limit: float | None) -> None:
    n_failed = 0
    for name, result in _run(_try_figure, names, device, limit):
        if error := result.get('error'):
            n_failed += 1
            report['failed'].append(f'{name}: {error}')
            print(f'{name}: FAILED: {error}', flush=True)
    print(f'{len(names) - n_failed} of {len(names)} figures can be measured', flush=True)


def _matching(names: tp.Iterable[str], patterns: list[str] | None) -> list[str]:
    return [n for n in names if not patterns or any(fnmatch.fnmatch(n, p) for p in patterns)]


def run(
    device: str,
    *,
    quick: bool = False,
    only: list[str] | None = None,
    limit: float = 120,
    isolated: bool = True,
) -> Report:
    """Runs all checks, and returns what was found.

    Parameters
    ----------
    device : str
        The GPU.
    quick : bool
        Whether arrays are small, and nothing is measured.
    only : list of str
        Patterns of the names of what is to be run.
    limit : float
        Seconds after which a part is given up, in a process of its own.
    isolated : bool
        Whether it runs in processes of its own, which may die.
    """
    start = time.perf_counter()
    report: Report = {'chainerx': chainerx.__version__, **cuda.describe()}
    _print_head(report)
    report |= {'passed': 0, 'failed': [], 'missing': [], 'figures': {}}
    if not cuda.is_available():
        report['failed'].append('there is no CUDA here')
        return report
    part_limit = limit if isolated else None
    sections = _matching(SECTIONS.keys() - (SLOW if quick else set()), only)
    _compare(report, [name for name in SECTIONS if name in sections], device, part_limit)
    figures = _matching(_all_figures(), only)
    (_try if quick else _measure)(report, figures, device, part_limit)
    if not quick and not only:
        report['compute-sanitizer'] = found = _sanitize(device, limit)
        print(f'compute-sanitizer: {"not installed" if found is None else found}')
        if found is not None and 'error' in found:
            report['failed'].append(f'compute-sanitizer: {found["error"]}')
    report['seconds'] = round(time.perf_counter() - start, 1)
    print(
        f'{report["passed"]} passed, {len(report["failed"])} failed, {len(report["missing"])} '
        f'not there yet; {report["seconds"]} s'
    )
    return report
