"""Builds the test driver, stand-ins for libraries of NVIDIA, into a folder: build_driver.py DIR."""

import argparse
import concurrent.futures
import ctypes
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess

SOURCES = pathlib.Path(__file__).resolve().parent / 'driver'
ROOT = SOURCES.parents[2]
# What kernels include; each mode has a folder, for each has a precompiled prelude of its own.
PRELUDE = ['test_prelude.h', 'test_intrinsics.h', 'test_raw.h', 'kernel_abi.h']
MODES = ['plain', 'checked']
NVRTC = ['nvrtc.cc', 'compiler.cc', 'raw_kernels.cc']
# Stand-ins that run on the streams of libcuda, one source each.
LIBRARIES = {
    'libcufft.so.12': 'cufft.cc',
    'libcusolver.so.12': 'cusolver.cc',
    'libcublasLt.so.13': 'cublaslt.cc',
    'libnccl.so.2': 'nccl.cc',
    'libcudnn.so.9': 'cudnn.cc',
    'libcudnn_graph.so.9': 'cudnn_graph.cc',
}
# Cubins that were cached with another prelude are invalid.
HASH = hashlib.sha256(b''.join((SOURCES / name).read_bytes() for name in PRELUDE)).hexdigest()[:16]
FLAGS = [
    '-std=c++20',
    '-O2',
    '-fPIC',
    '-shared',
    '-pthread',
    '-fvisibility=hidden',
    '-Wall',
    '-Wextra',
    f'-DCX_PRELUDE_HASH=0x{HASH}ULL',
]


def compile_library(target, sources, *options):
    """One unit: the headers of the standard library take most of the time."""
    compiler = os.environ.get('CXX') or 'g++'
    made = target.with_suffix(f'.{os.getpid()}')
    command = [compiler, *FLAGS, f'-I{ROOT / "cpp"}', f'-Wl,-soname,{target.name},--no-undefined']
    text = ''.join(f'#include "{source}"\n' for source in sources)
    command += ['-x', 'c++', '-', '-x', 'none', '-ldl', *options, '-o', made]
    subprocess.run(command, check=True, input=text.encode())
    made.replace(target)


def build(folder):
    """Returns the folder, where everything is newer than the sources; one process builds."""
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / 'lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        build_locked(folder)
    return folder


def build_locked(folder):
    border = ROOT / 'cpp/chainerx/cuda/driver'
    inputs = [pathlib.Path(__file__), *SOURCES.rglob('*.*'), *border.glob('*types.h')]
    inputs += border.glob('*.def')
    done = folder / 'done'
    if done.exists() and done.stat().st_mtime > max(path.stat().st_mtime for path in inputs):
        return
    done.unlink(missing_ok=True)
    for mode in MODES:
        (folder / mode).mkdir(exist_ok=True)
        for name in PRELUDE:
            shutil.copy(SOURCES / name, folder / mode)
    cuda = sorted(path for path in SOURCES.glob('*.cc') if path.name not in NVRTC)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        made = pool.submit(compile_library, folder / 'libcuda.so.1', cuda)
        compile_library(folder / 'libnvrtc.so.13', [SOURCES / name for name in NVRTC])
        if ctypes.CDLL(str(folder / 'libnvrtc.so.13')).cx_test_precompile() != 0:
            raise RuntimeError('the prelude of kernels does not compile')
        made.result()
        for name, source in LIBRARIES.items():
            sources = [SOURCES / 'libraries' / source]
            options = (folder / 'libcuda.so.1', '-Wl,-rpath,$ORIGIN')
            pool.submit(compile_library, folder / name, sources, *options).result()
    done.touch()


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder')
    print(build(parser.parse_args().folder))
