"""Links that are made, loaded and looked at as programs for v7 do."""

import io
import pickle

import chainer
import numpy as np
import pytest
from chainer import initializers
from chainer import links as L

DEVICES = ['@numpy', 'native:0']


def numpy(x):
    return chainer.get_device('@numpy').send(x)


class Recorder:
    """An initializer that is a function of the user's, and counts up."""

    def __init__(self):
        self.shapes = []

    def __call__(self, array):
        self.shapes.append(array.shape)
        array[...] = np.arange(array.size, dtype=array.dtype).reshape(array.shape)


def test_functions_initialize_maxout_by_output_and_layer():
    init = Recorder()
    link = L.Maxout(4, 3, 2, initialW=init, initial_bias=init)
    assert init.shapes == [(3, 2, 4), (3, 2)]
    np.testing.assert_array_equal(link.linear.W.array, np.arange(24).reshape(6, 4))
    np.testing.assert_array_equal(link.linear.b.array, np.arange(6))
    late = pickle.loads(pickle.dumps(L.Maxout(None, 3, 2, initialW=Recorder())))
    late(np.ones((1, 5), 'f'))
    np.testing.assert_array_equal(late.linear.W.array, np.arange(30).reshape(6, 5))
    # The fans of those of chainer are of all layers together.
    shapes = []

    class Init(initializers.Constant):
        def __call__(self, array):
            shapes.append(array.shape)
            super().__call__(array)

    L.Maxout(4, 3, 2, Init(1), Init(2))
    assert shapes == [(6, 4), (6,)]


@pytest.mark.parametrize(('name', 'shape'), [('initialW', (6, 4)), ('initial_bias', (6,))])
def test_arrays_for_maxout_have_axes_of_outputs_and_layers(name, shape):
    with pytest.raises(ValueError, match=rf'Maxout: {name} has shape \({shape[0]},.*expected'):
        L.Maxout(4, 3, 2, **{name: np.ones(shape, 'f')})


@pytest.mark.parametrize('device', DEVICES)
def test_snapshots_of_decorrelation_with_statistics_of_one_group(device):
    old = {
        'avg_mean': np.array([1.0, 2.0]),
        'avg_projection': np.array([[1.0, 0.5], [0.5, 2.0]]),
        'N': np.array(3),
    }
    file = io.BytesIO()
    np.savez(file, **old)
    link = L.DecorrelatedBatchNormalization(6, 3).to_device(device)
    with pytest.warns(UserWarning, match='avg_(mean|projection) is that of one group'):
        chainer.serializers.load_npz(file, link)
    assert link.device.is_array_supported(link.avg_mean)
    assert link.avg_mean.dtype == np.float32
    assert link.N == 3
    np.testing.assert_array_equal(numpy(link.avg_mean), [[1, 2]] * 3)
    np.testing.assert_array_equal(numpy(link.avg_projection), [old['avg_projection']] * 3)
    # With one group nothing has changed but the shape.
    file.seek(0)
    one = L.DecorrelatedBatchNormalization(2, 1)
    chainer.serializers.load_npz(file, one)
    np.testing.assert_array_equal(one.avg_mean, [[1, 2]])
    # What does not fit at all is an error, and nothing is changed.
    with pytest.raises(ValueError, match='avg_mean'):
        chainer.serializers.load_npz(file, L.DecorrelatedBatchNormalization(6, 2))
