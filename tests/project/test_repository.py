"""Properties of the whole repository: direction of includes, sealing, versions, READMEs."""

from __future__ import annotations

import collections
import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
import tomllib
import typing as tp
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / 'cpp' / 'chainerx'


def load_tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / 'tools' / f'{name}.py')
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_variables_start_with_values():
    assert load_tool('check_initialized').check(SOURCES) == []


def test_includes_point_one_way():
    assert load_tool('check_includes').check(SOURCES) == []


@pytest.mark.parametrize(
    ('file', 'line', 'message'),
    [
        ('core/a.h', '#include "chainerx/ops/b.h"', 'core/ may not include "chainerx/ops/b.h"'),
        ('native/a.cc', '#include "chainerx/ops/b.h"', 'native/ may not include'),
        ('ops/a.cc', '#include "b.h"', 'write "b.h" from the root'),
        ('ops/a.cc', '#  include <Python.h>', '<Python.h> belongs to python/'),
        ('ops/a.cc', '#include <xsimd/xsimd.hpp>', '<xsimd/xsimd.hpp> belongs to native/'),
        ('ops/a.cc', '#include "chainerx/ops/none.h"', '"chainerx/ops/none.h" does not exist'),
        ('other/a.cc', '', 'folder other has no place'),
        ('native/other/a.cc', '', 'room other has no place'),
        ('native/a.h', '#include "chainerx/native/gemm/b.h"', 'native/ may not include'),
        (
            'native/strided/a.cc',
            '#include "chainerx/native/gemm/b.h"',
            'native/strided/ may not include "chainerx/native/gemm/b.h"',
        ),
        (
            'native/reduce/simd/a.cc',
            '#include "chainerx/native/gemm/b.h"',
            'native/reduce/simd/ may not include',
        ),
    ],
)
def test_wrong_includes_are_found(tmp_path, file, line, message):
    root = tmp_path / 'chainerx'
    for name in ('ops/b.h', 'native/gemm/b.h', file):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    (root / file).write_text(f'{line}\n')
    messages = load_tool('check_includes').check(root)
    assert len(messages) == 1
    assert message in messages[0]


@pytest.mark.parametrize(
    ('file', 'included'),
    [
        ('native/a.cc', 'ops/room/table.def'),  # the tables of ops are data
        ('native/conv/simd/a.cc', 'native/gemm/a.h'),
        ('native/conv/a.cc', 'native/strided/simd/a.h'),  # nested below others
        ('native/gemm/a.h', 'native/a.h'),
        ('cuda/elementwise/device/a.h', 'native/gemm/a.h'),  # texts for devices share with native
    ],
)
def test_right_includes_are_let_through(tmp_path, file, included):
    root = tmp_path / 'chainerx'
    for name in (file, included):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / included).touch()
    (root / file).write_text(f'#include "chainerx/{included}"\n')
    assert load_tool('check_includes').check(root) == []


@pytest.fixture
def compiler():
    path = shutil.which('c++')
    if path is None or shutil.which('readelf') is None:
        pytest.skip('no C++ compiler here')
    return path


@pytest.mark.parametrize(
    ('source', 'fault'),
    [
        ('extern "C" int cx_unit_avx2; int cx_unit_avx2 = 1;', None),
        ('extern "C" int cx_unit_avx2; int cx_unit_avx2 = 1; int leak = 1;', 'leaks leak'),
        (
            'extern "C" int cx_unit_avx2; inline int Weak() { return 1; } '
            'int (*volatile use)() = Weak; int cx_unit_avx2 = 1;',
            'leaks _Z4Weakv',
        ),
        (
            'int F(); extern "C" int cx_unit_avx2; int cx_unit_avx2 = F();',
            'has a static initializer',
        ),
        ('static int nothing [[maybe_unused]] = 1;', 'does not define cx_unit_avx2'),
    ],
)
def test_unsealed_units_are_found(tmp_path, compiler, source, fault):
    folder = tmp_path / 'isa'
    folder.mkdir()
    (tmp_path / 'unit.cc').write_text(source)
    subprocess.run(
        [compiler, '-c', str(tmp_path / 'unit.cc'), '-o', str(folder / 'unit.avx2.o')], check=True
    )
    messages = load_tool('check_isa_symbols').check(folder)
    if fault is None:
        assert messages == []
    else:
        assert f'unit.avx2.o: {fault}' in messages


@pytest.mark.parametrize(
    ('source', 'found'),
    [
        ('int& Get() { static int& x = *new int; return x; }', 1),
        ('int F(); int Get() { static const int x = F(); return x; }', 1),
        ('int F(); int Get() { thread_local const int x = F(); return x; }', 0),
        ('int& Get() { static constinit int x = 3; return x; }', 0),
        ('int& x = *new int;', 0),
    ],
)
def test_guarded_statics_are_found(tmp_path, compiler, source, found):
    (tmp_path / 'unit.cc').write_text(source)
    command = [compiler, '-std=c++20', '-O1', '-c', str(tmp_path / 'unit.cc')]
    subprocess.run([*command, '-o', str(tmp_path / 'unit.o')], check=True)
    messages = load_tool('check_guards').check(tmp_path)
    assert len(messages) == found
    assert all('Get()::x' in message for message in messages)


STRUCTS = """
enum class Kind : int { kA };
using Run = void (*)(int);
struct Flags { bool on; };
struct Named { std::string name; int n{0}; };
struct Nested { Named named; std::vector<int> v; Flags flags; };
struct CX_API Holder : Named { Kind kind; };
struct Pointers { const char* p; };
struct Callback { Run run; };
struct Buffer { char bytes[8]; };
struct Given { explicit Given(int n) : n_{n} {} int n_; };
class Outer::Inner final : public Base<int> { int n; void F() {} };
"""


@pytest.mark.parametrize(
    ('code', 'member'),
    [
        ('void F() { Flags f; }', 'on'),
        ('void F() { if (true) { const Flags f; } }', 'on'),
        ('void F() { for (int i = 0; i < 3; ++i) { G([&] { Holder h; }); } }', 'kind'),
        ('struct S { void F() { Nested n; } };', 'flags.on'),
        ('void F() { Pointers p, q; }', 'p'),
        ('void F() { Callback c; }', 'run'),
        ('void F() { Outer::Inner i; }', 'n'),
        ('void F() { Flags f{}; Flags g{true}; Flags h = Make(); }', None),
        ('void F() { Named n; Buffer b; Flags f[3]; Given g; Unknown u; }', None),
        ('void F() { static Flags f; thread_local Flags g; }', None),
        ('Flags f; struct S { Flags f; };', None),
        ('void F() { /* Flags f; */ G("{ Flags f;"); }  // Flags f;', None),
        ('void F() { using Flags = std::vector<int>; Flags f; }', None),
        ('Flags F(Flags f); void G(Flags f) { return; }', None),
    ],
)
def test_variables_without_values_are_found(tmp_path, code, member):
    (tmp_path / 'structs.h').write_text(STRUCTS)
    (tmp_path / 'unit.cc').write_text(f'#include "chainerx/structs.h"\n{code}\n')
    messages = load_tool('check_initialized').check(tmp_path)
    assert bool(messages) == (member is not None)
    assert all('unit.cc:2: ' in m and f' without a value of {member};' in m for m in messages)


def test_structs_of_other_files_are_not_meant(tmp_path):
    (tmp_path / 'structs.h').write_text(STRUCTS)
    (tmp_path / 'unit.cc').write_text('void F() { Flags f; }\n')
    assert load_tool('check_initialized').check(tmp_path) == []


def test_no_object_is_a_fault(tmp_path):
    (message,) = load_tool('check_guards').check(tmp_path)
    assert 'no objects' in message


def test_no_sealed_unit_is_a_fault(tmp_path):
    (message,) = load_tool('check_isa_symbols').check(tmp_path)
    assert 'no sealed objects' in message


def test_version_stands_in_one_place():
    import chainerx

    project = tomllib.loads((ROOT / 'pyproject.toml').read_text())['project']
    assert chainerx.__version__ == project['version']
    try:
        installed = importlib.metadata.version('chainerx')
    except importlib.metadata.PackageNotFoundError:
        return  # run from the source tree
    assert installed == project['version']


def test_readme_has_exactly_two_commands():
    blocks = re.findall(r'```sh\n(.*?)```', (ROOT / 'README.md').read_text(), re.DOTALL)
    assert [block.count('\n') for block in blocks] == [1, 1]
    assert 'examples/train_digits.py' in blocks[0]
    assert 'pytest' in blocks[1]


def run_tour(index: int) -> dict[str, tp.Any]:
    tours = re.findall(r'```python\n(.*?)```', (ROOT / 'README.md').read_text(), re.DOTALL)
    names: dict[str, tp.Any] = {}
    exec(compile(tours[index], 'README.md', 'exec'), names)
    return names


def test_readme_tour_of_chainer_runs():
    names = run_tour(1)
    assert names['loss'].creator.label == 'SoftmaxCrossEntropy'
    assert names['model'].l1.W.grad.shape == (100, 784)
    assert str(names['model'].l1.W.array.device) == 'native:0'


@pytest.mark.score
def test_readme_tour_of_training_learns_digits(tmp_path, monkeypatch):
    chainerx = pytest.importorskip('chainerx')
    for name in ('sklearn', 'matplotlib'):
        pytest.importorskip(name, reason='needs pip install ".[examples]"')
    monkeypatch.chdir(tmp_path)
    np.random.seed(2)
    chainerx.random.seed(2)
    trainer = run_tour(2)['trainer']
    log = trainer.get_extension('LogReport').log
    assert log[-1]['validation/main/accuracy'] >= 0.985
    names = sorted(path.name for path in (tmp_path / 'result').iterdir())
    assert names == ['log', 'plot.png', 'snapshot_iter_629', 'snapshot_iter_674']
    # A second start resumes, and has nothing left to do.
    assert run_tour(2)['trainer'].get_extension('LogReport').log == log


def test_readme_tour_runs():
    names = run_tour(0)
    x, w, g, h = (names['chx'].to_numpy(names[name].as_grad_stopped()) for name in 'xwgh')
    before = w + 0.1 * g  # the update
    np.testing.assert_allclose(g, 3 * before * before, rtol=1e-4, atol=1e-6)
    assert names['y'].shape == ()
    np.testing.assert_allclose(h, 6 * before, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(names['chx'].to_numpy(names['z']), x @ w, rtol=1e-4, atol=1e-5)


@pytest.fixture
def files():
    """The paths that git tracks."""
    listed = subprocess.run(
        ['git', 'ls-files'], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.splitlines()
    if not listed:
        pytest.skip('not a git checkout')
    return listed


def test_no_folder_is_too_large_to_know(files):
    sizes = collections.Counter(name.rpartition('/')[0] for name in files)
    assert {folder: n for folder, n in sizes.items() if n > 60} == {}


@pytest.mark.parametrize('part', ['ops', 'native', 'cuda', 'python'])
def test_every_room_has_a_readme(files, part):
    pattern = rf'(cpp/chainerx/{part}(?:/\w+)+)/\w+\.(?:cc|h|def)'
    rooms = {match[1] for name in files if (match := re.fullmatch(pattern, name))}
    rooms = {room for room in rooms if not re.search(r'/bindings/|/simd$|/\w+/\w+/device$', room)}
    assert rooms
    assert [room for room in sorted(rooms) if f'{room}/README.md' not in files] == []


def test_every_folder_has_a_short_readme(files):
    tops = {'benchmarks', 'cmake', 'docs', 'examples', 'tests', 'tools'}
    folders = {f for f in tops if any(name.startswith(f + '/') for name in files)}
    folders |= {'/'.join(name.split('/')[:3]) for name in files if re.match(r'cpp/\w+/\w+/', name)}
    folders |= {name.rpartition('/')[0] for name in files if re.match(r'cpp/.*/README\.md', name)}
    folders |= {'/'.join(name.split('/')[:2]) for name in files if re.match(r'python/\w+/', name)}
    folders |= {
        name.rpartition('/')[0] for name in files if re.match(r'tests/.*/test_\w+\.py', name)
    }
    faults = []
    for folder in sorted(folders):
        readme = ROOT / folder / 'README.md'
        if not readme.is_file():
            faults.append(f'{folder}: no README.md')
        elif (lines := readme.read_text().count('\n')) > 30:
            faults.append(f'{folder}/README.md: {lines} lines, at most 30')
    assert faults == []
