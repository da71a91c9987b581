"""ONNX's own tests of operators and models, through ``chainerx.onnx.backend``.

What is not supported stands in ``unsupported.txt``, a name or a pattern a line, with the reason.
"""

import fnmatch
import pathlib
import zlib

import numpy as np
import onnx
import pytest
from chainerx.onnx import backend
from onnx import numpy_helper
from onnx_models import light, suite

HERE = pathlib.Path(__file__).parent
PARTS = 48


def unsupported():
    """The patterns of the list, and their reasons."""
    lines = (HERE / 'unsupported.txt').read_text().splitlines()
    return dict(line.split(maxsplit=1) for line in lines if line and line[0] != '#')


def read(path, kind):
    """The value in a file of a case."""
    proto, convert = {
        'tensor_type': (onnx.TensorProto(), numpy_helper.to_array),
        'sequence_type': (onnx.SequenceProto(), numpy_helper.to_list),
        'optional_type': (onnx.OptionalProto(), numpy_helper.to_optional),
    }[kind.WhichOneof('value')]
    proto.ParseFromString(path.read_bytes())
    return convert(proto)


def plain(value):
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def data_of(case):
    """The model of a case, and pairs of inputs and outputs."""
    if case.model_dir is None:
        sets = [([plain(x) for x in xs], [plain(y) for y in ys]) for xs, ys in case.data_sets]
        return case.model, sets
    folder = pathlib.Path(case.model_dir)
    model = onnx.load(folder / 'model.onnx')
    sets = []
    for data in sorted(folder.glob('test_data_set*')):
        values = [
            [read(data / f'{role}_{i}.pb', infos[i].type) for i in range(len([*data.glob(files)]))]
            for role, files, infos in (
                ('input', 'input_*.pb', model.graph.input),
                ('output', 'output_*.pb', model.graph.output),
            )
        ]
        sets.append(tuple(values))
    return model, sets


def check_equal(found, expected, case):
    if isinstance(expected, (list, tuple)):
        assert isinstance(found, list)
        assert len(found) == len(expected)
        for y, e in zip(found, expected, strict=True):
            check_equal(y, e, case)
        return
    if expected is None:
        assert found is None
        return
    expected = np.asarray(expected)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    rtol, atol = max(case.rtol, 1e-3), case.atol
    if 'dft' in case.name or 'stft' in case.name:
        atol = 1e-4  # sums of a hundred numbers up to 100 in float32; the suite has float64
    if expected.dtype.itemsize == 2 and expected.dtype.kind not in 'iu':
        # Two units in the last place: intermediate results are rounded at other points.
        rtol = 2**-6 if expected.dtype.name == 'bfloat16' else 2**-9
        atol = max(atol, rtol / 16)
    if expected.dtype.kind not in 'bc':
        found, expected = found.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


def run(case):
    model, sets = data_of(case)
    prepared = backend.prepare(model, 'CPU')
    for inputs, outputs in sets:
        found = prepared.run(inputs)
        assert len(found) == len(outputs)
        for y, e in zip(found, outputs, strict=True):
            check_equal(y, e, case)


@pytest.mark.parametrize('part', range(PARTS))
def test_suite(part):
    patterns = unsupported()
    wrong = []
    for name, case in suite().items():
        if zlib.crc32(name.encode()) % PARTS != part:
            continue
        is_listed = any(fnmatch.fnmatch(name, p) for p in patterns)
        try:
            run(case)
        except Exception as e:  # whatever it is, the list tells whether it is expected
            if not is_listed:
                wrong.append(f'{name}: {type(e).__name__}: {e}')
        else:
            if is_listed:
                wrong.append(f'{name} passes, but unsupported.txt has it')
    assert not wrong, '\n'.join(wrong)


@pytest.mark.parametrize('name', light())
def test_real_network(name):
    case, path = light()[name]
    model = onnx.load(path)
    weights = {t.name for t in model.graph.initializer}
    (given,) = (i for i in model.graph.input if i.name not in weights)
    shape = [d.dim_value for d in given.type.tensor_type.shape.dim]
    n = np.prod(shape)
    (found,) = backend.run_model(model, [(np.arange(n).reshape(shape) / n).astype('f')])
    expected = onnx.TensorProto()
    expected.ParseFromString(path.with_name(f'{path.stem}_output_0.pb').read_bytes())
    check_equal(found, numpy_helper.to_array(expected), case)


def test_each_line_of_the_list_is_needed():
    names = [*suite()]
    for pattern, reason in unsupported().items():
        assert fnmatch.filter(names, pattern), pattern
        assert reason


def test_run_node():
    node = onnx.helper.make_node('Add', ['a', 'b'], ['y'])
    (y,) = backend.run_node(node, [np.ones((2, 3), 'f'), np.full(3, 2, 'f')])
    np.testing.assert_array_equal(y, np.full((2, 3), 3, 'f'))


def test_supports_device():
    assert backend.supports_device('CPU')
    assert not backend.supports_device('CUDA:99')
    assert not backend.supports_device('TPU')
