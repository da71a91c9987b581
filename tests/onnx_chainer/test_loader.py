"""Each function as `chainerx.onnx` computes it, with the gradients that its graph has."""

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
import numpy as np
import onnx_chainer
import pytest
from chainerx import onnx
from function_cases import CASES
from onnx import load_tensor
from onnx.numpy_helper import to_array


def as_list(ys):
    return list(ys) if isinstance(ys, (list, tuple)) else [ys]


def weights_of(y):
    """Different ones for all elements."""
    return np.linspace(0.5, 1.5, y.size).astype(y.dtype).reshape(y.shape)


@pytest.mark.parametrize('case', CASES, ids=str)
def test_function(case, tmp_path):
    path = str(tmp_path / 'model.onnx')
    onnx_chainer.export(case.function, case.inputs, path, opset_version=max(17, case.since))
    # Other numbers than those of the export show what has become a constant.
    arrays = [v[::-1].copy() if v.ndim else np.array(v + 0.5, v.dtype) for v in case.inputs]
    xs = [chainerx.array(v) for v in arrays]
    for x in xs:
        if x.dtype.kind == 'f':
            x.require_grad()
    vs = [chainer.Variable(v) for v in arrays]
    with chainer.using_config('train', False):
        expected = as_list(case.function(*vs))
    total, expected_total = None, None
    for y, v in zip(as_list(onnx.load(path)(*xs)), expected, strict=True):
        assert (y.dtype, y.shape) == (v.dtype, v.shape)
        tolerance = {'rtol': case.tolerance, 'atol': case.tolerance}
        np.testing.assert_allclose(chainerx.to_numpy(y), v.array, **tolerance)
        if v.creator is None or v.dtype.kind != 'f' or not case.has_gradient:
            continue
        y, v = (y * chainerx.array(weights_of(v))).sum(), F.sum(v * weights_of(v))
        total = y if total is None else total + y
        expected_total = v if expected_total is None else expected_total + v
    if total is None:
        return
    if total.is_backprop_required():
        total.backward()
    expected_total.backward()
    for x, v in zip(xs, vs, strict=True):
        # Some functions of Chainer have gradients in fewer inputs.
        if v.grad is not None and x.dtype.kind == 'f':
            gx = np.zeros(x.shape) if x.grad is None else chainerx.to_numpy(x.grad)
            np.testing.assert_allclose(gx, v.grad, rtol=1e-4, atol=1e-5)


class Branches(chainer.Chain):
    """Convolutions, a recurrent layer, a layer that is not used."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(3, 4, 3)
            self.norm = L.BatchNormalization(4)
            self.rnn = L.NStepBiGRU(2, 4, 3, 0.0)
            self.unused = L.Linear(2, 2)

    def forward(self, x):
        y = F.max_pooling_2d(F.relu(self.norm(self.conv(x))), 2)
        rows = F.separate(F.transpose(F.reshape(y, (*y.shape[:2], -1)), (0, 2, 1)))
        h, ys = self.rnn(None, rows)
        return (h, *ys)


TESTCASES = {
    'branches': (Branches, np.random.default_rng(0).standard_normal((2, 3, 8, 6)).astype('f')),
    'words': (
        lambda: chainer.Sequential(L.EmbedID(7, 4), F.tanh, L.LayerNormalization(4)),
        np.array([1, 2, 1, 5], 'i'),
    ),
    'half precision': (
        lambda: chainer.Sequential(L.Linear(4, 3), L.Maxout(3, 2, 2), F.softmax),
        np.random.default_rng(0).standard_normal((5, 4)).astype('e'),
    ),
}


def tensors(folder, kind):
    """The tensors of a data set, by name; None for an empty one."""
    paths = sorted(folder.glob(f'{kind}_*.pb'), key=lambda p: int(p.stem.split('_')[1]))
    found = [load_tensor(path) for path in paths]
    return {t.name: to_array(t) if t.data_type else None for t in found}


@pytest.mark.parametrize('train', [False, True])
@pytest.mark.parametrize('name', TESTCASES)
def test_gradients_in_files(name, train, tmp_path):
    make, x = TESTCASES[name]
    with chainer.using_config('dtype', x.dtype if x.dtype.kind == 'f' else np.dtype('f')):
        model = make()
        onnx_chainer.export_testcase(model, x, tmp_path, output_grad=True, train=train)
    loaded = onnx.load(str(tmp_path / 'model.onnx'))
    folder = tmp_path / 'test_data_set_0'
    for param in loaded.parameters.values():
        param.require_grad()
    found = as_list(loaded(*map(chainerx.array, tensors(folder, 'input').values())))
    tolerance = {'rtol': 1e-2, 'atol': 1e-2} if x.dtype == 'e' else {'rtol': 1e-3, 'atol': 1e-4}
    for y, expected in zip(found, tensors(folder, 'output').values(), strict=True):
        np.testing.assert_allclose(chainerx.to_numpy(y), expected, **tolerance)
    sum((y.sum() for y in found[1:]), found[0].sum()).backward()
    gradients = tensors(folder, 'gradient')
    assert set(gradients) == {'param' + path.replace('/', '_') for path, _ in model.namedparams()}
    for key, expected in gradients.items():
        if expected is None:
            assert key not in loaded.parameters
        else:
            gradient = chainerx.to_numpy(loaded.parameters[key].grad)
            np.testing.assert_allclose(gradient, expected, **tolerance)
