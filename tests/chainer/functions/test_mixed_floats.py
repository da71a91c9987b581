"""Inputs of several float dtypes over chainerx arrays: results are promoted, gradients are not."""

import chainer
import chainer.functions as F
import chainerx
import numpy as np
import pytest
from chainer import Variable
from chainer.utils.type_check import InvalidType
from functions.cases import CASES
from functions.cases._harness import Prepared, as_numpy

pytestmark = pytest.mark.filterwarnings('ignore:.* is deprecated')

# Parameters of another precision do not change the dtype of the data, the first input.
LIKE_THE_FIRST = {
    *('linear', 'rectified_linear', 'simplified_dropconnect', 'scatter_add', 'r2_score'),
    'transpose_sequence',
    *('convolution_nd', 'convolution_1d', 'convolution_2d', 'convolution_3d'),
    *('deconvolution_nd', 'deconvolution_1d', 'deconvolution_2d', 'deconvolution_3d'),
    *('depthwise_convolution_2d', 'dilated_convolution_2d', 'local_convolution_2d'),
    'deformable_convolution_2d_sampler',
    *('batch_normalization', 'fixed_batch_normalization', 'batch_renormalization'),
    *('fixed_batch_renormalization', 'fixed_decorrelated_batch_normalization'),
    *('layer_normalization', 'group_normalization', 'rms_norm'),
    *('roi_pooling_2d', 'roi_max_pooling_2d', 'roi_average_pooling_2d'),
    *('roi_max_align_2d', 'roi_average_align_2d'),
}
EACH_ITS_OWN = {'broadcast', 'identity'}


def varying(prepared):
    """The positions of inputs that get the requested dtype."""
    return [
        n
        for n, arg in enumerate(prepared.spec.arrays())
        if arg.dtype is None and prepared.values[n].dtype.kind == 'f' and not prepared.is_param(n)
    ]


MIXING = [
    case
    for case in CASES
    if case.calls
    and {'float32', 'float64'} <= set(case.dtypes)
    and len(varying(Prepared(case, case.calls[0], 'float64', 'native'))) > 1
]


def run(prepared, dtypes):
    """Outputs, and gradients of their sum in the inputs, for given dtypes."""
    np.random.seed(0)
    chainerx.random.seed(0)
    xs = prepared.variables()
    for n, dtype in dtypes.items():
        xs[n] = Variable(prepared.arrays[n].astype(dtype))
    ys = prepared.call(xs)
    if prepared.case.order:
        for y in ys:
            y.grad = chainerx.ones(y.shape, y.dtype)
        chainer.backward(list(ys))
    return ys, [xs[n].grad for n in dtypes]


def expected_dtypes(case, dtypes, n_outputs):
    some = list(dtypes.values())
    if case.name in EACH_ITS_OWN:
        return some
    return [some[0] if case.name in LIKE_THE_FIRST else 'float64'] * n_outputs


@pytest.mark.parametrize('case', MIXING, ids=[case.name for case in MIXING])
def test_one_input_of_another_float_dtype(case):
    prepared = Prepared(case, case.calls[0], 'float64', 'native')
    inputs = varying(prepared)
    expected, expected_grads = run(prepared, dict.fromkeys(inputs, 'float64'))
    for odd in inputs:
        for dtype, others in (('float64', 'float32'), ('float32', 'float64')):
            dtypes = {n: dtype if n == odd else others for n in inputs}
            ys, grads = run(prepared, dtypes)
            assert [y.dtype for y in ys] == expected_dtypes(case, dtypes, len(ys)), dtypes
            for y, e in zip(ys, expected, strict=True):
                np.testing.assert_allclose(as_numpy(y.array), as_numpy(e.array), 1e-4, 1e-4)
            for n, g, e in zip(inputs, grads, expected_grads, strict=True):
                assert (g is None) == (e is None)
                if g is not None:
                    assert g.dtype == dtypes[n]
                    np.testing.assert_allclose(as_numpy(g), as_numpy(e), 1e-3, 1e-3)


def test_the_table_has_native_functions():
    names = {case.name for case in MIXING}
    assert names >= {'concat', 'stack', 'absolute_error', 'lstm', 'slstm', 'tree_lstm', 'matmul'}
    assert names >= LIKE_THE_FIRST


@pytest.mark.parametrize('function', [F.concat, F.stack, F.hstack, F.vstack, F.dstack])
def test_shapes_are_checked_among_mixed_floats(function):
    xs = [chainerx.ones((2, 3), 'float32'), chainerx.ones((3, 2, 2), 'float64')]
    with pytest.raises(InvalidType, match=r'shape|ndim'):
        function(xs)
    with pytest.raises(InvalidType, match='dtype'):
        function([np.ones((2, 3), 'float32'), np.ones((2, 3), 'float64')])


@pytest.mark.parametrize('n', [2, 5])
def test_steps_of_the_dcgan_example(n):
    """Noise in float64 is added to images in float32, which a float32 convolution then takes."""
    images = Variable(chainerx.ones((2, 3, n, n), 'float32'))
    noise = chainerx.array(np.full((2, 3, n, n), 0.5))
    w, b = (Variable(chainerx.ones(shape, 'float32')) for shape in ((4, 3, 2, 2), 4))
    for x in (images + noise, images + Variable(noise)):
        y = F.leaky_relu(F.convolution_2d(x, w, b))
        assert y.dtype == x.dtype
        F.sum(y).backward()
        assert {v.grad.dtype for v in (images, w, b)} == {np.dtype('float32')}
        np.testing.assert_allclose(as_numpy(y.array), 19)


@pytest.mark.parametrize('function', [F.convolution_nd, F.deconvolution_nd])
def test_a_bias_of_another_float_dtype(make, function):
    x, w = (Variable(make(np.ones(shape, 'float32'))) for shape in ((2, 3, 4), (3, 3, 2)))
    b = Variable(make(np.arange(3, dtype='float64')))
    y = function(x, w, b)
    assert y.dtype == np.float32
    F.sum(y).backward()
    assert b.grad.dtype == np.float64
    assert as_numpy(b.grad).tolist() == [2 * y.shape[2]] * 3
