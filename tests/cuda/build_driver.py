"""Builds the test driver, libcuda.so.1 and libnvrtc.so.13, into a folder: build_driver.py DIR."""

import argparse
import concurrent.futures
import ctypes
import os
import pathlib
import shutil
import subprocess

SOURCES = pathlib.Path(__file__).resolve().parent / 'driver'
ROOT = SOURCES.parents[2]
# What kernels include; each mode has a folder, for each has a precompiled prelude of its own.
PRELUDE = ['test_prelude.h', 'test_intrinsics.h', 'kernel_abi.h']
NVRTC = ['nvrtc.cc', 'compiler.cc']
FLAGS = ['-std=c++20', '-O2', '-fPIC', '-fvisibility=hidden', '-Wall', '-Wextra']


def compile_source(folder, source):
    compiler = os.environ.get('CXX') or 'g++'
    target = folder / f'{source.stem}.o'
    command = [compiler, *FLAGS, f'-I{ROOT / "cpp"}', '-c', source, '-o', target]
    subprocess.run(command, check=True)
    return target


def link(objects, target):
    compiler = os.environ.get('CXX') or 'g++'
    made = target.with_suffix(f'.{os.getpid()}')
    command = [compiler, '-shared', '-pthread', f'-Wl,-soname,{target.name},--no-undefined']
    subprocess.run([*command, *objects, '-ldl', '-o', made], check=True)
    made.replace(target)


def build(folder):
    """Returns the folder, where everything is newer than the sources."""
    folder = pathlib.Path(folder).resolve()
    inputs = [
        *SOURCES.iterdir(),
        *(ROOT / 'cpp/chainerx/cuda/driver').iterdir(),
        pathlib.Path(__file__),
    ]
    done = folder / 'done'
    if done.exists() and done.stat().st_mtime > max(path.stat().st_mtime for path in inputs):
        return folder
    done.unlink(missing_ok=True)
    objects = folder / 'objects'
    objects.mkdir(parents=True, exist_ok=True)
    sources = sorted(SOURCES.glob('*.cc'))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        made = dict(
            zip(sources, pool.map(lambda s: compile_source(objects, s), sources), strict=True)
        )
    nvrtc = [made[source] for source in sources if source.name in NVRTC]
    link([made[source] for source in sources if source.name not in NVRTC], folder / 'libcuda.so.1')
    link(nvrtc, folder / 'libnvrtc.so.13')
    for mode in ['plain', 'checked']:
        (folder / mode).mkdir(exist_ok=True)
        for name in PRELUDE:
            shutil.copy(SOURCES / name, folder / mode)
    if ctypes.CDLL(str(folder / 'libnvrtc.so.13')).cx_test_precompile() != 0:
        raise RuntimeError(
            (folder / 'plain/log').read_text() + (folder / 'checked/log').read_text()
        )
    done.touch()
    return folder


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder')
    print(build(parser.parse_args().folder))
