"""The program chainerx-run: what users do with it, and what they do wrong."""

import os
import pathlib
import re
import subprocess
import sys

import chainerx
import numpy as np
import pytest
from chainerx import onnx
from onnx import helper
from onnx_models import TensorProto, branches, digits, info, make, node
from runner import call, fail, find, identity, run


@pytest.fixture
def model(tmp_path):
    path = tmp_path / 'digits.onnx'
    path.write_bytes(digits())
    return path


@pytest.fixture
def x(tmp_path):
    path = tmp_path / 'x.npy'
    np.save(path, np.random.default_rng(0).standard_normal((5, 2, 3)).astype('f'))
    return path


def test_signature(tmp_path, model):
    assert run(model) == (
        'inputs\n  x: float32 (batch, 2, 3)\n'
        'outputs\n  y: float32 (batch, 3)\n'
        'parameters\n  3 arrays of 40 elements, 160 bytes\n'
    )
    default = make(
        [node('Add', ['x', 'b'], ['y'])],
        [info('x', [2]), info('b', [2])],
        [info('y', [2])],
        {'b': np.ones(2, 'f')},
    )
    (tmp_path / 'default.onnx').write_bytes(default)
    assert '  b: float32 (2,), optional\n' in run(tmp_path / 'default.onnx')


@pytest.mark.parametrize('end', ['npy', 'npz', 'safetensors'])
def test_computes_what_python_computes(tmp_path, model, x, end):
    expected = chainerx.to_numpy(onnx.load(model)(np.load(x)))
    path = tmp_path / f'y.{end}'
    assert run(model, '--input', x, '--output', path) == f'y: float32 (5, 3) in {path}\n'
    if end == 'safetensors':
        found = pytest.importorskip('safetensors.numpy').load_file(path)['y']
    else:
        found = np.load(path) if end == 'npy' else np.load(path)['y']
    np.testing.assert_array_equal(found, expected)


def test_shows_outputs(model, x):
    y = onnx.load(model)(np.load(x))
    assert run(model, f'--input=x={x}', '--threads', 1) == f'y: float32 (5, 3)\n{y!r}\n'


def test_needs_no_python(model):
    linked = subprocess.run(['ldd', find()], capture_output=True, text=True, check=True).stdout
    names = {line.split()[0].split('/')[-1] for line in linked.splitlines()}
    ours = {name for name in names if 'chainerx' in name}
    assert ours == {'libchainerx.so', 'libchainerx_onnx.so'}
    assert not [name for name in names if 'python' in name]
    done = subprocess.run(
        [find(), model], capture_output=True, text=True, check=False, env={'PATH': '/nowhere'}
    )
    assert done.returncode == 0 or 'libasan' in os.environ.get('LD_PRELOAD', ''), done.stderr


def several(tmp_path):
    path = tmp_path / 'several.onnx'
    path.write_bytes(branches())
    np.save(tmp_path / 'x.npy', np.array([1, 2], 'f'))
    np.save(tmp_path / 'flag.npy', np.array(True))
    np.save(tmp_path / 'n.npy', np.array(2))
    return path


def test_several_inputs(tmp_path):
    model = several(tmp_path)
    x, flag, n = (tmp_path / f'{name}.npy' for name in ('x', 'flag', 'n'))
    expected = run(model, '--input', x, '--input', flag, '--input', n)
    assert 'y: float32 (4,)\n' in expected
    assert 'steps: float32 (2, 2)\n' in expected
    # Those without names take the places that are left.
    assert run(model, '--input', x, '--input', n, '--input', f'flag={flag}') == expected
    assert run(model, '--input', f'n={n}', '--input', f'flag={flag}', '--input', x) == expected
    arrays = {name: np.load(tmp_path / f'{name}.npy') for name in ('n', 'x', 'flag')}
    np.savez(tmp_path / 'all.npz', **arrays)
    assert run(model, '--input', tmp_path / 'all.npz') == expected
    text = run(model, '--input', tmp_path / 'all.npz', '--output', tmp_path / 'out')
    assert f'steps: float32 (2, 2) in {tmp_path}/out/steps.npy\n' in text
    assert sorted(os.listdir(tmp_path / 'out')) == ['steps.npy', 'y.npy']
    assert np.load(tmp_path / 'out' / 'y.npy').shape == (4,)


def test_wrong_inputs(tmp_path):
    model = several(tmp_path)
    x, flag, n = (tmp_path / f'{name}.npy' for name in ('x', 'flag', 'n'))

    def error(*inputs):
        text = fail(model, *(word for i in inputs for word in ('--input', i)))
        assert text.startswith('chainerx-run: ')
        return text.removeprefix('chainerx-run: ').rstrip()

    names = 'the model has "x", "flag", "n"'
    assert error(f'z={x}') == f'there is no input "z": {names}'
    assert error(x, flag, n, n) == f'there is no input left for "{n}": {names}'
    assert error(f'x={x}', f'x={x}') == 'input "x" is given twice'
    assert error(x) == 'onnx: input "flag" is missing, expected bool ()'
    assert error(tmp_path / 'no.npy').endswith("can't be read: No such file or directory")
    assert error(n, flag, x) == 'onnx: input "x" must be float32 (2,), got dtype int64'
    np.save(x, np.ones((2, 3), 'f'))
    assert error(x, flag, n) == 'onnx: input "x" must be float32 (2,), got shape (2, 3)'
    np.savez(tmp_path / 'x.npz', x=np.ones(2, 'f'), y=np.ones(2, 'f'))
    assert error(tmp_path / 'x.npz') == (
        f'there is no input "y" for an array of "{tmp_path}/x.npz": {names}'
    )
    assert error(f'x={tmp_path}/x.npz') == (
        f'input "x" needs one array, but "{tmp_path}/x.npz" has 2'
    )


def test_names_and_paths_with_equals_signs(tmp_path):
    model = identity(tmp_path / 'model.onnx', {'a=b': np.dtype('f')})
    path = tmp_path / 'c=d.npy'
    np.save(path, np.ones(2, 'f'))
    assert 'a=b_out: float32 (2,)\n' in run(model, '--input', f'a=b={path}')
    assert 'a=b_out: float32 (2,)\n' in run(model, '--input', path)
    assert 'there is no input "a"' in fail(model, '--input', f'a={path}')


def test_outputs_in_a_folder(tmp_path):
    nodes = [node('Identity', ['x'], ['a/b']), node('Neg', ['x'], ['a_b'])]
    path = tmp_path / 'model.onnx'
    path.write_bytes(make(nodes, [info('x', [2])], [info('a/b', [2]), info('a_b', [2])]))
    np.save(tmp_path / 'x.npy', np.array([1, 2], 'f'))
    arguments = (path, '--input', tmp_path / 'x.npy', '--output')
    message = fail(*arguments, tmp_path / 'out')
    assert f'two outputs would be "{tmp_path}/out/a_b.npy"' in message
    message = fail(*arguments, tmp_path / 'y.npy')
    assert 'can have one output, but the model has 2' in message
    assert not (tmp_path / 'y.npy').exists()
    run(*arguments, tmp_path / 'y.npz')
    assert sorted(np.load(tmp_path / 'y.npz')) == ['a/b', 'a_b']
    assert "can't be made: No such file" in fail(*arguments, tmp_path / 'no' / 'out')


def test_sequences(tmp_path):
    nodes = [node('SplitToSequence', ['x'], ['s'])]
    sequence = helper.make_tensor_sequence_value_info('s', TensorProto.FLOAT, None)
    (tmp_path / 'm').write_bytes(make(nodes, [info('x', [2])], [sequence]))
    np.save(tmp_path / 'x.npy', np.array([1, 2], 'f'))
    text = run(tmp_path / 'm', '--input', tmp_path / 'x.npy')
    assert re.findall(r'(.*): float32 \(1,\)\n', text) == ['s[0]', 's[1]']


def test_times(model, x):
    text = run(model, '--input', x, '--repeat', 5, '--profile')
    match = re.search(
        r'load (\S+) ms, first run \S+ ms, 5 more: min (\S+) ms, median (\S+) ms', text
    )
    assert 0 < float(match[2]) <= float(match[3])
    assert re.search(r'operators, median of 5 runs, \S+ ms in all\n', text)
    rows = re.findall(r' (\S+) ms +(\S+) %  (\S+) +(.*)\n', text)
    operators = {name: (float(time), note) for time, _, name, note in rows if 'node' in note}
    nodes = {note: (float(time), name) for time, _, name, note in rows if 'node' not in note}
    assert {name: note for name, (_, note) in operators.items()} == {
        'Gemm': '2 nodes',
        'Relu': '1 node',
        'Reshape': '1 node',
        'Shape': '1 node',
        'Gather': '1 node',
        'Concat': '1 node',
    }
    # A node without a name has that of its output.
    assert nodes.keys() == {'layer1', 'layer2', 'relu', 'flatten', 'shape', 'batch', 'flat_shape'}
    both = nodes['layer1'][0] + nodes['layer2'][0]
    assert operators['Gemm'][0] == pytest.approx(both, abs=3e-4)
    assert sum(float(share) for _, share, _, note in rows if 'node' in note) == pytest.approx(
        100, abs=1
    )


def test_a_profile_counts_nodes_of_the_main_graph(tmp_path):
    model = several(tmp_path)
    inputs = [w for name in ('x', 'flag', 'n') for w in ('--input', tmp_path / f'{name}.npy')]
    text = run(model, *inputs, '--profile')
    assert 'median of 1 runs' in text
    found = re.findall(r'%  (\w+) +(\S+)\n', text.partition('nodes\n')[2])
    assert sorted(found) == [
        ('ConcatFromSequence', 'y'),
        ('If', 'choice'),
        ('Loop', 'loop'),
        ('SequenceConstruct', 'list'),
    ]


def test_help_and_version(model):
    text = run('--help')
    assert text.startswith('usage: chainerx-run MODEL ')
    for option in ('input', 'output', 'device', 'repeat', 'threads', 'profile', 'version', 'help'):
        assert f'  --{option} ' in text
    assert max(map(len, text.splitlines())) <= 95
    assert run('-h') == text == run(model, '--help')
    assert run('--version') == f'chainerx-run {chainerx.__version__}\n'


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ([], 'expected one model, got 0'),
        (['a', 'b'], 'expected one model, got 2'),
        (['a', '--inputs', 'b'], 'there is no option --inputs'),
        (['a', '-v'], 'there is no option -v'),
        (['a', '--input'], '--input needs a value'),
        (['a', '--output='], '--output is empty'),
        (['a', '--output=b', '--output=c'], '--output is there twice'),
        (['a', '--profile=1'], '--profile takes no value'),
        (['a', '--repeat', '0'], '--repeat is 0, expected a number from 1 on'),
        (['a', '--repeat', '2x'], '--repeat is 2x, expected a number from 1 on'),
        (['a', '--threads', '-1'], '--threads is -1, expected a number from 1 on'),
        (['a', '--threads', '99999999999'], '--threads is 99999999999, expected'),
    ],
)
def test_wrong_arguments(arguments, message):
    done = call(*arguments)
    assert (done.returncode, done.stdout) == (2, '')
    assert done.stderr.startswith('usage: chainerx-run MODEL ')
    assert f'\nchainerx-run: {message}' in done.stderr


def test_wrong_models_and_devices(tmp_path, model, x):
    assert fail(tmp_path / 'no.onnx').startswith('chainerx-run: onnx: "')
    assert 'chainerx-run: onnx: ' in fail(x)
    assert 'nowhere' in fail(model, '--device', 'nowhere')
    assert 'native:one' in fail(model, '--device', 'native:one')
    assert '1024' in fail(model, '--threads', 2000)
    unknown = make([node('Unheard', ['x'], ['y'])], [info('x', [2])], [info('y', [2])])
    (tmp_path / 'unknown.onnx').write_bytes(unknown)
    assert 'Unheard' in fail(tmp_path / 'unknown.onnx')


@pytest.mark.skipif(not pathlib.Path('/dev/full').exists(), reason='no /dev/full here')
def test_where_nothing_can_be_written(model, x):
    with open('/dev/full', 'w') as full:
        done = subprocess.run(
            [find(), model, '--input', x],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "stdout can't be written" in done.stderr


# A process that is started counts the peak of its parent, too; this parent is small.
PEAK = """
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
print(usage.ru_maxrss if status == 0 else -1)
"""


@pytest.mark.skipif('libasan' in os.environ.get('LD_PRELOAD', ''), reason='needs more memory')
def test_weights_are_in_memory_once(tmp_path):
    """While they are copied out of the file, its memory is given back."""
    weights = {f'w{i}': np.full((4, 1024, 1024), i + 1, 'f') for i in range(4)}
    names = list(weights)
    nodes = [node('Add', ['x', 'w0'], ['y0'])]
    nodes += [node('Add', [f'y{i}', names[i + 1]], [f'y{i + 1}']) for i in range(3)]
    nodes += [node('ReduceMean', ['y3'], ['y'], keepdims=0)]
    (tmp_path / 'm').write_bytes(make(nodes, [info('x', [1])], [info('y', [])], weights))
    np.save(tmp_path / 'x.npy', np.array([5], 'f'))
    arguments = [str(find()), str(tmp_path / 'm')]
    text = run(tmp_path / 'm', '--input', tmp_path / 'x.npy')
    assert 'array(15., ' in text  # what is given back was not read again
    done = subprocess.run(
        [sys.executable, '-I', '-S', '-c', PEAK, *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    assert 64 < int(done.stdout.splitlines()[-1]) / 1024 < 64 + 16 + 20
