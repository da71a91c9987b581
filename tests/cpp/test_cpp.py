"""Builds and runs the C++ tests, as a project of their own on the installed package."""

import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

import numpy as np
import pytest

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
ENVIRONMENT = {**os.environ, 'CMAKE_BUILD_PARALLEL_LEVEL': '2'}


def run(*command, **environment):
    done = subprocess.run(
        [str(c) for c in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**ENVIRONMENT, **environment},
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, f'{command}\n{done.stdout}'
    return done.stdout


@pytest.fixture(scope='session')
def build(tmp_path_factory, cmake_dir):
    folder = tmp_path_factory.mktemp('cpp') / 'build'
    run('cmake', '-G', 'Ninja', '-S', HERE, '-B', folder, f'-DCMAKE_PREFIX_PATH={cmake_dir}')
    run('cmake', '--build', folder)
    return folder


def test_all(build):
    text = run(build / 'chainerx_tests', CHAINERX_PATH=str(build))
    assert ' 0 failed' in text, text
    assert text.count('\nok ') > 40, text


def test_a_failing_test_fails(build):
    """A failing test is reported: without the toy backend its tests fail."""
    done = subprocess.run(
        [build / 'chainerx_tests', 'Toy'],
        env={**os.environ, 'CHAINERX_PATH': str(build / 'nowhere')},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert 'FAILED  ToyBackendComputes' in done.stdout


@pytest.mark.score
def test_examples_run_without_python(tmp_path, cmake_dir):
    source = ROOT / 'examples' / 'cpp'
    run('cmake', '-G', 'Ninja', '-S', source, '-B', tmp_path, f'-DCMAKE_PREFIX_PATH={cmake_dir}')
    run('cmake', '--build', tmp_path)
    tour = run(tmp_path / 'tour', '--out', tmp_path / 'tour.svg')
    assert '17 80 48.5 1\n' in tour
    assert 'array([ 0.,  3., 12.]' in tour
    w, b = map(float, re.search(r'w = (\S+), b = (\S+)\n', tour).groups())
    assert w == pytest.approx(2, abs=1e-3)
    assert b == pytest.approx(1, abs=1e-3)
    assert 'matmul' in tour
    assert '(2, 3)' in tour
    check_curves(tmp_path / 'tour.svg', 200, True)
    run(sys.executable, source / 'export_digits.py', tmp_path / 'digits.csv')
    for program, at_least in (('digits', 0.97), ('lenet', 0.975)):
        picture = tmp_path / f'{program}.svg'
        text = run(tmp_path / program, '--out', picture, tmp_path / 'digits.csv')
        accuracy = re.search(r'Final test accuracy: (\S+) on 360 digits', text)
        assert accuracy, text
        assert float(accuracy[1]) >= at_least
        check_picture(picture, n_epochs=20, n_digits=24)
    check_models(source, tmp_path)
    for program, libraries in (
        ('lenet', ['libchainerx.so']),
        ('run_onnx', ['libchainerx.so', 'libchainerx_onnx.so']),
    ):
        linked = run('ldd', tmp_path / program)
        names = re.findall(r'^\s*(\S+)', linked, re.M)
        assert sorted(name for name in names if 'chainerx' in name) == libraries
        assert not [name for name in names if 'python' in name]
    check_mistakes(tmp_path)


def check_models(source, folder):
    """A model of ONNX, in C++ as in Python; then its last layer learns the other digits."""
    pytest.importorskip('onnx.helper')
    import chainerx

    model = folder / 'digits.onnx'
    run(sys.executable, source / 'export_model.py', model)
    text = run(folder / 'run_onnx', model, folder / 'digits.npy')
    y = chainerx.onnx.load(model)(np.load(folder / 'digits.npy'))
    assert text.endswith("shape=(1, 10), dtype=float32, device='native:0')\n")
    # The last bits may differ, for only Python may know where OpenBLAS is.
    numbers = re.findall(r'-?\d+\.\d+', text)
    np.testing.assert_allclose([*map(float, numbers)], chainerx.to_numpy(y)[0], rtol=1e-4)
    weights = folder / 'weights.npz'
    text = run(folder / 'finetune_onnx', model, folder / 'digits.csv', '--out', weights)
    assert re.findall(r'trains (\S+)', text) == ['param_last_W', 'param_last_b']
    before, after = map(float, re.findall(r'Test accuracy \w+: (\S+)\n', text))
    assert before < 0.6
    assert after > 0.85
    old = chainerx.onnx.load(model).parameters
    new = np.load(weights)
    assert old.keys() == set(new)
    changed = {k for k in old if not np.array_equal(chainerx.to_numpy(old[k]), new[k])}
    assert changed == {'param_last_W', 'param_last_b'}
    done = subprocess.run(
        [folder / 'finetune_onnx', model, folder / 'digits.csv', '--layer', 'none'],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert 'no parameter with none' in done.stderr


SVG = '{http://www.w3.org/2000/svg}'


def check_curves(path, n_points, *go_down):
    """Checks that curves have n points inside the picture, and end lower or higher."""
    picture = xml.etree.ElementTree.parse(path).getroot()
    assert picture.tag == f'{SVG}svg'
    width, height = float(picture.get('width')), float(picture.get('height'))
    curves = picture.findall(f'{SVG}polyline')
    assert len(curves) == len(go_down)
    for curve, goes_down in zip(curves, go_down, strict=True):
        points = [tuple(map(float, p.split(','))) for p in curve.get('points').split()]
        assert len(points) == n_points
        assert all(0 <= x <= width and 0 <= y <= height for x, y in points)  # nor is there a NaN
        xs, ys = zip(*points, strict=True)
        assert list(xs) == sorted(set(xs))
        assert (ys[-1] > ys[0]) == goes_down  # y of SVG grows downwards
    return picture


def check_picture(path, n_epochs, n_digits):
    """Checks the curves of loss and accuracy, and the digits with their predictions."""
    picture = check_curves(path, n_epochs, True, False)
    assert (picture.get('width'), picture.get('height')) == ('720.00', '420.00')
    squares = picture.findall(f'{SVG}rect[@width="6.00"]')
    assert len(squares) == 64 * n_digits
    assert len({square.get('fill') for square in squares}) > 10
    words = picture.findall(f'{SVG}text')
    guesses = [w for w in words if float(w.get('x')) > 360 and w.text.isdigit()]
    assert len(guesses) == n_digits
    assert sum(w.get('fill') == 'black' for w in guesses) > 0.8 * n_digits


def check_mistakes(folder):
    def fails(code, *arguments):
        command = [folder / 'digits', *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == code, done
        return done.stderr

    digits = folder / 'digits.csv'
    help_text = run(folder / 'lenet', '--help')
    for option in ('usage: lenet', '--device', '--epochs', '--out', 'digits.csv'):
        assert option in help_text
    assert '--out' in run(folder / 'tour', '--help')
    assert 'usage: digits' in fails(2)
    assert 'there is no option --epoch' in fails(2, digits, '--epoch', 3)
    assert '--out needs a value' in fails(2, digits, '--out')
    for epochs in (0, -1, '2x', 'many', 10**20):
        assert f'--epochs is {epochs}, expected' in fails(2, digits, '--epochs', epochs)
    assert 'nowhere' in fails(1, digits, '--device', 'nowhere')
    assert 'cannot write' in fails(1, digits, '--epochs', 1, '--out', folder / 'no' / 'a.svg')
    out = folder / 'short.svg'
    assert 'below the 0.970' in fails(1, digits, '--epochs', 1, '--out', out)
    # A single point is drawn as a mark, as it is not a line yet.
    assert len(xml.etree.ElementTree.parse(out).findall(f'{SVG}circle')) == 2
    assert 'cannot read' in fails(1, folder / 'no.csv')
    for text in ('1,2,3\n', 'one,two\n', '77' + ',0' * 64 + '\n'):
        digits.write_text(text)
        assert 'export_digits.py' in fails(1, digits)


def test_folders(cmake_dir):
    """The folders that `python -m chainerx` prints exist, or it says why there are none."""
    for option, name in (
        ('--cmake-dir', 'chainerxConfig.cmake'),
        ('--include-dir', 'chainerx/chainerx.h'),
        ('--lib-dir', 'libchainerx.so'),
    ):
        command = [sys.executable, '-m', 'chainerx', option]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            assert (pathlib.Path(done.stdout.strip()) / name).is_file()
        else:
            assert 'cmake --install' in done.stderr


def test_cpp17_is_one_error(tmp_path, cmake_dir):
    compiler = os.environ.get('CXX', 'c++')
    include = next(p for p in pathlib.Path(cmake_dir).parents if (p / 'include/chainerx').is_dir())
    (tmp_path / 'a.cc').write_text('#include "chainerx/chainerx.h"\nint main() {}\n')
    done = subprocess.run(
        [compiler, '-std=c++17', f'-I{include}/include', '-fsyntax-only', tmp_path / 'a.cc'],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert done.stderr.count('error:') == 1, done.stderr
    assert 'chainerx needs C++20: compile with -std=c++20' in done.stderr


def test_headers_are_found_where_they_were(tmp_path, cmake_dir):
    """Headers are found under their old paths for one release."""
    prefix = next(p for p in pathlib.Path(cmake_dir).parents if (p / 'include/chainerx').is_dir())
    include = prefix / 'include'
    moved = (ROOT / 'cmake' / 'moved_headers.txt').read_text().split()
    assert [n for n in moved if not (include / 'chainerx' / n).is_file()] == []
    # Except headers that expand a table for their includer.
    old = [n for n in moved[::2] if re.match(r'(autograd|ops|kernels)/(?!\w*_family)\w+\.h', n)]
    assert len(old) > 100
    lines = [f'#include "chainerx/{name}"' for name in [*old, 'native/native_backend.h']]
    (tmp_path / 'a.cc').write_text('\n'.join([*lines, 'int main() {}', '']))
    compiler = os.environ.get('CXX', 'c++')
    run(compiler, '-std=c++20', f'-I{include}', '-fsyntax-only', tmp_path / 'a.cc')


def test_names_are_those_of_python():
    """C++ names follow Python's (broadcast_to is BroadcastTo), with the exceptions listed here."""
    import chainerx

    other_form = {
        # Array::FromHost, Array::AsContiguous, x.ToHost
        *('array', 'asarray', 'asanyarray', 'ascontiguousarray', 'to_numpy', 'from_dlpack'),
        'frombuffer',  # as 'array'
        'memory_stats',  # GetMemoryStats
        'histogram2d',  # HistogramDD of points, (n, 2)
        'einsum_path',  # PlanEinsum returns an EinsumPath, which Einsum takes
        *('n_step_bigru', 'n_step_bilstm', 'n_step_birnn'),  # NStepOptions::is_bidirectional
        # scopes are classes; memory is that of host_memory.h; the context has its backends
        *('backprop_scope', 'context_scope', 'force_backprop_mode', 'no_backprop_mode'),
        *('using_device', 'free_memory_cache', 'set_memory_cache_limit', 'get_backend'),
    }
    folder = ROOT / 'cpp' / 'chainerx'
    names = set()
    for header in folder.rglob('*.h'):
        text = header.read_text()
        names |= set(re.findall(r'^\s*(?:CX_API|inline) +[\w:<>, ]+&? +(\w+)\(', text, re.M))
        names |= set(re.findall(r'^CX_ALIAS\((\w+),', text, re.M))
    for table in (folder / 'ops').rglob('*.def'):
        names |= set(re.findall(r'^CX_\w+\((\w+),', table.read_text(), re.M))
    names = {name.lower() for name in names}
    functions = {
        name
        for name in dir(chainerx)
        if not name.startswith('_') and type(getattr(chainerx, name)).__name__ == type(len).__name__
    }
    assert len(functions) > 150
    missing = sorted(n for n in functions - other_form if n.replace('_', '') not in names)
    assert not missing
    assert other_form <= set(dir(chainerx))


def test_umbrella_header_is_complete():
    text = (ROOT / 'cpp' / 'chainerx' / 'chainerx.h').read_text()
    # These are helpers of routines, not routines.
    inner = {
        'concat_views.h',
        'along_axis.h',
        'det_gradient.h',
        'contraction.h',
        'einsum_problem.h',
        'matrices.h',
        'pad_values.h',
        'random_plan.h',
        'vecdot.h',
        'bool_bytes.h',
        'permuted_layout.h',
        'routine.h',
        'comparison.h',
        'composed_grad.h',
        'conv_columns.h',
        'conv_recorded.h',
        'declare_family.h',
        'define_family.h',
        'elementwise.h',
        'elementwise_call.h',
        'embed.h',
        'gradient_terms.h',
        'layout.h',
        'linear_grad.h',
        'normalization_check.h',
        'normalization_plan.h',
        'normalization_terms.h',
        'pooling_table.h',
        'real_operands.h',
        'compute_into.h',
        'out_argument.h',
        'power.h',
        'attention_recorded.h',
        'recurrent_recorded.h',
        'reduce_output.h',
        'special_gradients.h',
        'take.h',
        'ternary_forms.h',
    }
    sources = ROOT / 'cpp'
    ops = [p for p in sorted((sources / 'chainerx/ops').rglob('*.h')) if p.name not in inner]
    missing = [p.name for p in ops if str(p.relative_to(sources)) not in text]
    assert ops
    assert not missing, f'chainerx.h lacks {missing}'
