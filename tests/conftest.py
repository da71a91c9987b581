"""Fixtures for all tests."""

import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[1]


@pytest.fixture(scope='session')
def build_library():
    """Compiles a text of C++ to a shared library."""

    def build(library, source, *options):
        compiler = os.environ.get('CXX') or shutil.which('c++') or shutil.which('g++')
        if compiler is None:
            pytest.fail('the tests need a C++ compiler, as does building chainerx')
        command = [compiler, '-std=c++20', '-O1', '-fPIC', '-shared', '-fvisibility=hidden']
        command += ['-o', str(library), '-x', 'c++', '-', *options]
        subprocess.run(command, input=source.encode(), check=True)

    return build


@pytest.fixture(scope='session')
def build_backend(build_library, tmp_path_factory):
    """Builds the backend of tests/cpp/toy_backend.cc, under a name of the caller's choice.

    It computes on host memory. The path of the library is in a folder that CHAINERX_PATH may name.
    """
    import chainerx

    def build(name):
        library = tmp_path_factory.mktemp('chainerx_path') / 'backends' / f'{name}.so'
        library.parent.mkdir()
        source = (ROOT / 'tests' / 'cpp' / 'toy_backend.cc').read_text()
        lib = pathlib.Path(chainerx.__file__).parent / 'lib'
        source = source.replace('"toy"', f'"{name}"')
        build_library(library, source, f'-I{ROOT / "cpp"}', f'-L{lib}', '-lchainerx')
        return library

    return build
