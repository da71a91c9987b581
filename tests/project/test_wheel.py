"""What is installed suits other machines than the one that built it, and pyproject.toml agrees."""

import functools
import importlib.metadata
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sysconfig
import tomllib

import chainerx
import pytest

ROOT = pathlib.Path(__file__).parents[2]
FOLDER = pathlib.Path(chainerx.__file__).parent
PROJECT = tomllib.loads((ROOT / 'pyproject.toml').read_text())

in_place = FOLDER.is_relative_to(ROOT / 'python')
installed = pytest.mark.skipif(in_place, reason='a build in place: nothing was installed')
released = pytest.mark.skipif(
    'libasan' in os.environ.get('LD_PRELOAD', ''), reason='nobody ships a build with sanitizers'
)
needs_readelf = pytest.mark.skipif(shutil.which('readelf') is None, reason='needs readelf')

# What manylinux_2_28 has: AlmaLinux 8, whose own libraries these are. Each newer function of
# libstdc++ is linked statically there, so it needs no limit.
GLIBC = 2, 28
SYSTEM = {
    *('libc.so.6', 'libm.so.6', 'libpthread.so.0', 'libdl.so.2', 'librt.so.1'),
    *('libstdc++.so.6', 'libgcc_s.so.1', 'ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'),
}
# Names that headers of a newer glibc write for what an older one has under others.
RENAMED = {
    *('stat', 'fstat', 'lstat', 'fstatat', 'stat64', 'fstat64', 'lstat64', 'fstatat64'),
    *('__libc_single_threaded', '__libc_start_main'),
}


def program():
    """A build in place has it in the package; else it lies where scripts lie."""
    inside = FOLDER / 'bin' / 'chainerx-run'
    return inside if inside.exists() else pathlib.Path(sysconfig.get_path('scripts'), inside.name)


def binaries():
    modules = [*FOLDER.glob('*.so'), *FOLDER.glob('lib/*.so')]
    assert {'_core', '_onnx', 'libchainerx'} <= {path.name.partition('.')[0] for path in modules}
    return [*modules, program()]


@functools.cache
def readelf(option, path):
    return subprocess.run(
        ['readelf', '-W', option, str(path)], check=True, capture_output=True, text=True
    ).stdout


def dynamic(path, *tags):
    pattern = rf'\((?:{"|".join(tags)})\).*\[(.*)\]'
    return re.findall(pattern, readelf('-d', path))


def versions(path, *, defined):
    """What has a version, as (name, library, version): that of GLIBC_2.34 is (2, 34)."""
    found = set()
    for line in readelf('--dyn-syms', path).splitlines():
        match = re.search(r' (\w+) +(\w+)@@?([A-Z]+)_([\d.]+)(?: \(\d+\))?$', line)
        if match and (match[1] != 'UND') == defined:
            found.add((match[2], match[3], tuple(map(int, match[4].split('.')))))
    return found


def parts_of_glibc(maps):
    """Which of the files that a process has are glibc's: libm-2.28.so or libm.so.6."""
    pattern = r'(/\S*/lib(?:c|m|dl|pthread)(?:-[\d.]+\.so|\.so\.\d+))$'
    return set(re.findall(pattern, maps, re.MULTILINE))


@released
@needs_readelf
def test_binaries_need_only_each_other_and_the_system():
    paths = binaries()
    own = {path.name for path in paths}
    for path in paths:
        needed = set(dynamic(path, 'NEEDED'))
        assert needed - own <= SYSTEM, path
        # Strings of programs go through the interface: one libstdc++ for both.
        assert 'libstdc++.so.6' in needed, path


@released
@needs_readelf
def test_binaries_find_each_other_from_where_they_are():
    for path in binaries():
        entries = [e for paths in dynamic(path, 'RUNPATH', 'RPATH') for e in paths.split(':')]
        assert all(re.match(r'\$ORIGIN(/|$)', entry) for entry in entries), (path, entries)
        if path.name != 'libchainerx.so':
            assert entries, path


@released
@needs_readelf
def test_functions_are_those_of_the_oldest_glibc_that_wheels_support():
    # A newer version of an old function is what the machine of this build has; that of wheels has
    # the old one. So the function must have been there.
    old = {
        name
        for file in parts_of_glibc(pathlib.Path('/proc/self/maps').read_text())
        for name, library, version in versions(file, defined=True)
        if library == 'GLIBC' and version <= GLIBC
    }
    assert {'exp', 'malloc', 'pthread_create', 'dlopen'} <= old
    for path in binaries():
        new = {
            n for n, library, v in versions(path, defined=False) if library == 'GLIBC' and v > GLIBC
        }
        assert new - old <= RENAMED, path


@installed
@released
@needs_readelf
def test_installed_binaries_are_stripped():
    assert [path for path in binaries() if '.symtab' in readelf('-S', path)] == []


@released
def test_binaries_name_no_place_of_the_build():
    # Of the sources, of environments in which pip builds, and what __FILE__ would leave.
    root = re.escape(str(ROOT).encode())
    places = re.compile(
        root + rb'/|/pip-build-env|/third_party/|(?<![\w.])/(?:[\w.+-]+/)+[\w.+-]+\.(?:cc|h)\b'
    )
    for path in binaries():
        assert {match[0] for match in places.finditer(path.read_bytes())} == set(), path


@installed
def test_licenses_of_what_is_compiled_in_are_installed():
    texts = {path.name: path.read_text() for path in (FOLDER / 'licenses').iterdir()}
    assert texts.keys() == {
        f'LICENSE.{name}' for name in ('nanobind', 'pocketfft', 'robin_map', 'xsimd')
    }
    for name, text in texts.items():
        assert 'Copyright' in text, name
        assert re.search(r'WITHOUT WARRANTY|DISCLAIMED', text), name
        assert re.search(r'DAMAGE[S.]', text), name


@installed
def test_metadata_is_that_of_the_project():
    project = PROJECT['project']
    distribution = importlib.metadata.distribution('chainerx')
    metadata = distribution.metadata
    assert metadata['Requires-Python'] == project['requires-python']
    assert metadata['License-Expression'] == project['license']
    assert set(metadata.get_all('Classifier')) == set(project['classifiers'])
    normalized = {name.lower().replace('_', '-') for name in metadata.get_all('Provides-Extra')}
    assert normalized == set(project['optional-dependencies'])
    assert metadata.get_payload().strip() == (ROOT / 'README.md').read_text().strip()
    assert 'Root-Is-Purelib: false' in distribution.read_text('WHEEL')
    tops = {str(path).partition('/')[0] for path in distribution.files}
    packages = {
        pathlib.Path(path).name for path in PROJECT['tool']['scikit-build']['wheel']['packages']
    }
    assert {name for name in tops if name.isidentifier()} == packages


@installed
@pytest.mark.parametrize('command', [['chainer', '--help'], ['chainerx-run', '--version']])
def test_programs_are_installed(command):
    path = pathlib.Path(sysconfig.get_path('scripts'), command[0])
    done = subprocess.run([path, *command[1:]], check=True, capture_output=True, text=True)
    assert command[0] in done.stdout


@pytest.mark.parametrize('package', ['six', 'filelock'])
def test_packages_that_libraries_for_v7_take_for_granted(package):
    assert package in PROJECT['project']['dependencies']
    if not in_place:
        assert importlib.util.find_spec(package) is not None


def test_versions_of_python_stand_in_agreement():
    project, tool = PROJECT['project'], PROJECT['tool']
    classifiers = re.findall(
        r'Programming Language :: Python :: (3\.\d+)', str(project['classifiers'])
    )
    numbers = [int(version.partition('.')[2]) for version in classifiers]
    assert numbers == list(range(numbers[0], numbers[-1] + 1))
    assert project['requires-python'] == f'>={classifiers[0]}'
    assert tool['mypy']['python_version'] == classifiers[0]
    assert tool['ruff']['target-version'] == f'py{classifiers[0].replace(".", "")}'
    assert tool['cibuildwheel']['build'] == [
        f'cp{version.replace(".", "")}-manylinux_{{x86_64,aarch64}}' for version in classifiers
    ]


@released
@needs_readelf
def test_auditwheel_leaves_alone_what_is_in_the_wheel():
    # The program finds its libraries where it is installed only, and auditwheel looks in the wheel.
    command = PROJECT['tool']['cibuildwheel']['linux']['repair-wheel-command']
    paths = binaries()
    needed = {name for path in paths for name in dynamic(path, 'NEEDED')}
    assert set(re.findall(r'--exclude (\S+)', command)) == needed & {path.name for path in paths}
