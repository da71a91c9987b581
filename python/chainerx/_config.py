"""The configuration of this chainerx and its platform: the one place that gathers these facts."""

from __future__ import annotations

import os
import platform
import sys
import typing as tp

from chainerx import _core

#: Packages whose versions matter if a program has imported them.
PACKAGES = ('numpy', 'ml_dtypes', 'cupy', 'scipy', 'chainer')

#: Environment variables of chainerx; docs/configuration.md describes each.
VARIABLES = (
    'CHAINERX_BLAS',
    'CHAINERX_CACHE_DIR',
    'CHAINERX_CACHE_LIMIT',
    'CHAINERX_CACHE_MB',
    'CHAINERX_CONV',
    'CHAINERX_CUDA_PATH',
    'CHAINERX_ISA',
    'CHAINERX_MATMUL',
    'CHAINERX_NUM_THREADS',
    'CHAINERX_NVTX',
    'CHAINERX_OPENBLAS',
    'CHAINERX_PATH',
    'CHAINERX_FUSE',
    'CHAINERX_REDUCE',
    'CHAINERX_SORT',
    'CHAINERX_ZLIB',
)

_OUR_PREFIXES = ('CHAINERX_', 'CHAINER_')


def _or_error(facts: tp.Callable[[], tp.Any]) -> tp.Any:
    """The value of `f()`, or ``{'error': text}`` if a setting makes it fail."""
    try:
        return facts()
    except Exception as error:
        return {'error': f'{type(error).__name__}: {error}'}


def _devices() -> list[str]:
    backends = ['native', *dict.fromkeys(_core._build_info()['plugins'].values())]
    names = []
    for name in backends:
        try:
            backend = _core.get_backend(name)
        except _core.BackendError:
            # Another context loaded the library, by a `CHAINERX_PATH` that is set no more.
            continue
        names += [f'{name}:{i}' for i in range(backend.get_device_count())]
    return names


def _cuda() -> dict[str, tp.Any]:
    from chainerx import cuda

    return cuda.describe()


def _memory() -> dict[str, int]:
    info = _core.get_memory_info()
    return {
        'physical': os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE'),
        'cache_limit': info['limit'],
        'cached': info['cached'],
    }


def _environment() -> dict[str, str]:
    return {k: v for k, v in sorted(os.environ.items()) if k.startswith(_OUR_PREFIXES)}


def _versions() -> dict[str, str]:
    loaded = {name: sys.modules.get(name) for name in PACKAGES}
    return {
        name: str(getattr(module, '__version__', 'unknown'))
        for name, module in loaded.items()
        if module is not None
    }


def config_info() -> dict[str, tp.Any]:
    """What :func:`show_config` prints, as data.

    It opens the BLAS library, as the first matrix product does, and the driver of CUDA.

    Returns:
        dict: ``chainerx`` (its version), ``file``, ``python``, ``platform``, ``compiler``;
        ``isa`` (``used``, ``available`` on this processor, ``built``); ``blas``
        (``engine``, ``path``, ``version``, ``threads``, and the ``reason`` if there is
        none); ``num_threads``; ``devices``; ``default_device``; ``plugins`` (path to name
        of the backend); ``cuda``, what :func:`chainerx.cuda.describe` says; ``memory``
        (bytes: ``physical``, ``cache_limit``, ``cached``); ``environment``, the variables of
        chainerx and chainer that are set; ``packages``, versions of those that are loaded.
        What a wrong setting makes unusable is a dict with ``error``.
    """
    build = _core._build_info()
    return {
        'chainerx': _core.__version__,
        'file': _core.__file__,
        'python': platform.python_version(),
        'platform': platform.platform(),
        'compiler': build['compiler'],
        'isa': {
            'used': build['isa'],
            'available': build['isas_available'],
            'built': build['isas_built'],
        },
        'blas': _or_error(_core._blas_info),
        'num_threads': _or_error(_core.get_num_threads),
        'devices': _or_error(_devices),
        'default_device': _or_error(lambda: _core.get_default_device().name),
        'plugins': build['plugins'],
        'cuda': _or_error(_cuda),
        'memory': _or_error(_memory),
        'environment': _environment(),
        'packages': _versions(),
    }


def _bytes(n: int) -> str:
    return f'{n / 2**30:.1f} GiB' if n >= 2**30 else f'{n / 2**20:.1f} MiB'


#: NVIDIA's libraries in chainerx.cuda.describe().
CUDA_LIBRARIES = {
    'driver': 'CUDA driver',
    'nvrtc': 'NVRTC',
    'cublaslt': 'cuBLASLt',
    'cudnn': 'cuDNN',
    'cufft': 'cuFFT',
    'cusolver': 'cuSOLVER',
    'nccl': 'NCCL',
}


def _cuda_lines(cuda: dict[str, tp.Any]) -> tp.Iterator[tuple[str, str]]:
    """Each library of NVIDIA: which was taken, or where it was looked for."""
    if 'error' in cuda:
        yield 'CUDA', cuda['error']
        return
    if cuda['test_driver']:
        yield 'CUDA', f'the test driver in {cuda["test_driver"]}, which computes on the CPU'
    for key, title in CUDA_LIBRARIES.items():
        library = cuda[key]
        if 'error' not in library:
            yield title, f'{library["version"]} ({library["path"]})'
            continue
        first, *others = library['error'].split('\n')
        yield title, first.removeprefix('cuda: ')
        yield from (('', line) for line in others)
    for i, device in enumerate(cuda['driver'].get('devices', [])):
        yield (
            f'cuda:{i}',
            f'{device["name"]}, compute capability {device["compute_capability"]}, '
            f'{_bytes(device["memory"])}',
        )


def lines(info: dict[str, tp.Any]) -> tp.Iterator[tuple[str, str]]:
    """The facts as lines of text: name and value."""

    def text(value: object) -> str:
        if isinstance(value, dict) and 'error' in value:
            return value['error']
        return ', '.join(value) if isinstance(value, list) else str(value)

    yield 'chainerx', f'{info["chainerx"]} ({info["file"]})'
    yield 'python', f'{info["python"]} on {info["platform"]}'
    yield 'compiler', info['compiler']
    isa = info['isa']
    yield (
        'instruction set',
        f'{isa["used"]} (this processor: {text(isa["available"]) or "none"}; '
        f'built: {text(isa["built"])})',
    )
    blas = info['blas']
    if 'error' in blas:
        yield 'BLAS', blas['error']
    else:
        remark = blas['version'] or blas['reason']
        yield 'BLAS', blas['path'] + (f' ({remark})' if remark else '')
        yield 'BLAS engine', f'{blas["engine"]}; threads of a call: {blas["threads"]}'
    yield 'threads', text(info['num_threads'])
    yield 'devices', text(info['devices'])
    yield 'default device', text(info['default_device'])
    yield 'plug-ins', ', '.join(f'{n} ({p})' for p, n in info['plugins'].items()) or 'none'
    yield from _cuda_lines(info['cuda'])
    memory = info['memory']
    yield (
        'memory',
        text(memory)
        if 'error' in memory
        else f'{_bytes(memory["physical"])} physical; at most {_bytes(memory["cache_limit"])} '
        f'kept for reuse, {_bytes(memory["cached"])} now',
    )
    yield 'packages', ', '.join(f'{k} {v}' for k, v in info['packages'].items())
    environment = info['environment']
    for i, (name, value) in enumerate(environment.items()):
        known = name in VARIABLES or not name.startswith('CHAINERX_') or 'TEST' in name
        note = '' if known else '  (chainerx knows no such variable)'
        yield '' if i else 'environment', f'{name}={value}{note}'
    if not environment:
        yield 'environment', 'nothing set'


def show_config(file: tp.TextIO | None = None) -> None:
    """Prints what this chainerx is and what it runs on: for bug reports, and for a first look.

    ``python -m chainerx --info`` does the same. :func:`config_info` has the facts as data.

    Args:
        file (file): Where to; standard output if None.
    """
    for name, value in lines(config_info()):
        print(f'{name + ":" if name else "":<17} {value}', file=file or sys.stdout)
