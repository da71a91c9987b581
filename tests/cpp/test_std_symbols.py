"""No library exports symbols of std::, though libstdc++ may be linked into it."""

import ctypes
import os
import pathlib
import re
import subprocess

import chainerx
import pytest

ROOT = pathlib.Path(__file__).parents[2]

# As libchainerx and _core are linked, and plainly.
PROJECT = """
cmake_minimum_required(VERSION 3.26)
project(static_std LANGUAGES CXX)
include({flags})
add_library(objects OBJECT static_std.cc)
target_link_libraries(objects PUBLIC chainerx_flags)
foreach(name inside outside)
    add_library(${{name}} SHARED $<TARGET_OBJECTS:objects>)
    target_link_libraries(${{name}} PRIVATE chainerx_flags)
    target_link_options(${{name}} PRIVATE -static-libstdc++)
endforeach()
chainerx_keep_std_inside(inside)
"""
# Templates instantiated in this file, and number parsing by a facet.
SOURCE = """
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>

struct Key { std::string text; };
struct Hash { size_t operator()(const Key& k) const { return std::hash<std::string>{}(k.text); } };
struct Equal { bool operator()(const Key& a, const Key& b) const { return a.text == b.text; } };

extern "C" __attribute__((visibility("default"))) double Parse(const char* text) {
    const auto numbers = std::make_shared<std::unordered_map<Key, double, Hash, Equal>>();
    std::istringstream stream{text};
    stream >> (*numbers)[Key{text}];
    return numbers->at(Key{text});
}
"""


def exported(library):
    """Mangled names of all and of unique symbols, which libraries of a process share."""
    lines = subprocess.run(
        ['nm', '-D', '--defined-only', str(library)], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    symbols = [line.split()[1:3] for line in lines]
    return {name for _, name in symbols}, {name for kind, name in symbols if kind == 'u'}


def of_std(names):
    """Functions, data, type information and guards: in std::, std::string and the like."""
    return {n for n in names if re.match(r'_Z(T[A-Z]|GV|Z)*N?[KV]*(S[tabsiod]|9__gnu_cxx)', n)}


def test_binaries_keep_std_inside():
    package = pathlib.Path(chainerx.__file__).parent
    libraries = [*package.glob('lib/*.so'), *package.glob('*.so')]
    assert {'libchainerx.so', 'libchainerx_onnx.so'} <= {library.name for library in libraries}
    for library in libraries:
        names, unique = exported(library)
        assert names
        assert of_std(names) == set(), library
        assert of_std(unique) == set(), library


@pytest.mark.skipif(
    'libasan' in os.environ.get('LD_PRELOAD', ''), reason='the linker inherits it, and crashes'
)
def test_a_static_libstdcxx_stays_inside(tmp_path):
    (tmp_path / 'CMakeLists.txt').write_text(
        PROJECT.format(flags=(ROOT / 'cmake' / 'flags.cmake').as_posix())
    )
    (tmp_path / 'static_std.cc').write_text(SOURCE)
    for command in (['-S', '.', '-B', 'build'], ['--build', 'build']):
        subprocess.run(['cmake', *command], cwd=tmp_path, check=True, capture_output=True)
    plain, _ = exported(tmp_path / 'build' / 'liboutside.so')
    assert len(of_std(plain)) > 1000  # so that there is something to hide
    names, unique = exported(tmp_path / 'build' / 'libinside.so')
    assert 'Parse' in names
    assert of_std(names) == set()
    assert unique == set()
    # Beside the libstdc++ of this process.
    parse = ctypes.CDLL(str(tmp_path / 'build' / 'libinside.so')).Parse
    parse.restype, parse.argtypes = ctypes.c_double, [ctypes.c_char_p]
    assert parse(b'2.5') == 2.5
