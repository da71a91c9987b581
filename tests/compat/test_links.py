"""Links that are created, loaded and inspected as in programs for v7."""

import io
import pickle

import chainer
import numpy as np
import pytest
from chainer import functions as F
from chainer import initializers, link_hook, link_hooks
from chainer import links as L
from chainer.backends import cuda

DEVICES = ['@numpy', 'native:0']


def numpy(x):
    return chainer.get_device('@numpy').send(x)


class Recorder:
    """A user's function as initializer, which counts up."""

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
    # The fans of chainer's initializers are those of all layers together.
    shapes = []

    class Init(initializers.Constant):
        def __call__(self, array):
            shapes.append(array.shape)
            super().__call__(array)

    L.Maxout(4, 3, 2, Init(1), Init(2))
    assert shapes == [(6, 4), (6,)]


def test_an_array_without_axes_fills_maxout():
    link = L.Maxout(4, 3, 2, initialW=np.array(0.5), initial_bias=np.array(0.25))
    assert {*link.linear.W.array.flat} == {0.5}
    assert {*link.linear.b.array.flat} == {0.25}


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
    # With one group, only the shape has changed.
    file.seek(0)
    one = L.DecorrelatedBatchNormalization(2, 1)
    chainer.serializers.load_npz(file, one)
    np.testing.assert_array_equal(one.avg_mean, [[1, 2]])
    # Values that do not fit are an error, without any change.
    with pytest.raises(ValueError, match='avg_mean'):
        chainer.serializers.load_npz(file, L.DecorrelatedBatchNormalization(6, 2))


@pytest.fixture(params=DEVICES)
def model(request):
    """A model with one weight replaced by a variable computed from it."""
    model = chainer.Sequential(L.Linear(2, 3), F.tanh, L.Linear(3, 1)).to_device(request.param)
    model.optimizer = chainer.optimizers.SGD(1).setup(model)
    first = model[0]
    # Bypasses the registration of parameters, as learned optimizers do.
    super(chainer.Link, first).__setattr__('W', first.W * 0.5)
    return model


def test_variables_instead_of_parameters_are_traversed(model):
    assert [path for path, _ in model.namedparams()] == ['/0/W', '/0/b', '/1/W', '/1/b']
    assert any(p is model[0].W for p in model.params())
    assert len(list(model.params(include_uninit=False))) == 4
    assert model.count_params() == 13
    assert model.update_enabled
    model.disable_update()
    assert not model.update_enabled


def test_variables_instead_of_parameters_get_gradients(model):
    loss = F.sum(model(model.xp.ones((1, 2), 'f')) ** 2)
    model.cleargrads()
    loss.backward(retain_grad=True)
    assert model[0].W.grad is not None
    model.cleargrads()
    assert model[0].W.grad is None
    assert model[2].W.grad is None
    model.addgrads(model)
    before = numpy(model[0].W.array).copy()
    model.optimizer.update()
    np.testing.assert_array_equal(numpy(model[0].W.array), before)


@pytest.mark.parametrize('mode', ['share', 'copy', 'init'])
def test_variables_instead_of_parameters_are_copied(model, mode):
    copied = model.copy(mode)
    np.testing.assert_array_equal(numpy(copied[0].W.array), numpy(model[0].W.array))
    assert copied[0].W is not model[0].W
    model[0].W.array[...] = 2
    copied.copyparams(model)
    np.testing.assert_array_equal(numpy(copied[0].W.array), 2)


def test_variables_instead_of_parameters_are_saved(model):
    file = io.BytesIO()
    chainer.serializers.save_npz(file, model)
    file.seek(0)
    other = chainer.Sequential(L.Linear(2, 3), F.tanh, L.Linear(3, 1))
    chainer.serializers.load_npz(file, other)
    np.testing.assert_array_equal(other[0].W.array, numpy(model[0].W.array))
    other[0].W.array[...] = 3
    file = io.BytesIO()
    chainer.serializers.save_npz(file, other)
    file.seek(0)
    chainer.serializers.load_npz(file, model)
    np.testing.assert_array_equal(numpy(model[0].W.array), 3)
    saved = chainer.serializers.DictionarySerializer()
    model.optimizer.serialize(saved)
    assert '0/b/t' in saved.target
    assert '0/W/t' not in saved.target


def test_zerograds_calls_that_of_each_parameter():
    class Quiet(chainer.Parameter):
        calls = 0

        def zerograd(self):
            self.calls += 1

    link = L.Linear(2, 3)
    with link.init_scope():
        link.scale = Quiet(1.0, (2,))
    with pytest.warns(DeprecationWarning, match='zerograds') as warned:
        link.zerograds()
    assert len(warned) == 1
    assert link.scale.calls == 1
    np.testing.assert_array_equal(link.W.grad, 0)


def test_link_hooks_that_are_put_in_by_hand():
    class Count(chainer.LinkHook):
        name = 'count'
        n = 0

        def forward_postprocess(self, args):
            self.n += 1

    model, x = chainer.Sequential(L.Linear(2, 3), F.tanh, L.Linear(3, 1)), np.ones((1, 2), 'f')
    hook, hooks = Count(), chainer._get_link_hooks()
    hooks['mine'] = hook
    try:
        hooks['mine'] = hook
        model(x)
        with pytest.raises(KeyError):
            del hooks['other']
        assert list(hooks.items()) == [('mine', hook)]
        with Count():
            assert list(hooks) == ['mine', 'count']
    finally:
        del hooks['mine']
    assert hook.n == 3
    hooks.update(a=hook, b=hook)
    assert hooks.pop('a') is hook
    model(x)
    assert hook.n == 6
    hooks.clear()
    model(x)
    assert hook.n == 6
    assert not hooks
    assert not link_hook._entered  # links do not search deeper


@pytest.mark.parametrize('options', [{}, {'minimize_cache_size': False, 'verbosity_level': 0}])
def test_chains_with_a_static_graph_have_a_schedule_manager(options):
    decorate = chainer.static_graph(**options) if options else chainer.static_graph

    class Net(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.l = L.Linear(2, 3)

        @decorate
        def forward(self, x):
            return F.relu(self.l(x))

    net = Net()
    assert not hasattr(net, 'schedule_manager')
    with chainer.using_config('use_static_graph', False):
        net(np.ones((1, 2), 'f'))
    assert not hasattr(net, 'schedule_manager')
    net(np.ones((1, 2), 'f'))
    manager = net.schedule_manager
    manager.end_forward()
    net(np.ones((1, 2), 'f'))
    assert net.schedule_manager is manager
    assert manager.minimize_cache_size is options.get('minimize_cache_size', True)


@pytest.mark.parametrize('device', DEVICES)
def test_spectral_normalization_shows_both_vectors(device):
    link = L.Linear(3, 4).to_device(device)
    hook = link_hooks.SpectralNormalization(n_power_iteration=50)
    link.add_hook(hook)
    for train in (False, True):
        with chainer.using_config('train', train):
            link(link.xp.ones((2, 3), 'f'))
        assert hook.original_weight is link.W
        assert link.device.is_array_supported(hook.v)
        _, sigma, rows = np.linalg.svd(numpy(link.W.array))
        np.testing.assert_allclose(abs(rows[0] @ numpy(hook.v)), 1, rtol=1e-4)
    np.testing.assert_allclose(
        numpy(link.W_u) @ numpy(link.W.array) @ numpy(hook.v), sigma[0], rtol=1e-4
    )


@pytest.mark.parametrize('device', DEVICES)
def test_the_number_of_a_device_as_noisy_networks_use_it(device):
    link = L.Linear(2, 3).to_device(device)
    with pytest.warns(DeprecationWarning, match='_device_id'):
        assert link._device_id is None
    with (
        pytest.warns(DeprecationWarning, match='_device_id'),
        cuda.get_device_from_id(link._device_id),
    ):
        y = link(link.xp.ones((1, 2), 'f'))
    assert y.device == link.device


@pytest.mark.parametrize('device', DEVICES)
def test_links_that_say_themselves_where_they_are(device):
    class Wrapper(chainer.Chain):
        """A wrapper whose device is that of the inner link."""

        def __init__(self, inner):
            super().__init__()
            self.__dict__['inner'] = inner

        @property
        def device(self):
            return chainer.get_device(self.inner.device)

    inner = L.Linear(2, 3).to_device(device)
    wrapper = Wrapper(inner)
    assert wrapper.device == inner.device
    assert wrapper.xp is inner.xp

    class ByArray(L.Linear):
        @property
        def device(self):
            return chainer.backend.get_device_from_array(self.W.array)

        @property
        def xp(self):
            return self.device.xp

    link = ByArray(2, 3)
    link.to_device(device)
    assert link.device == chainer.get_device(device)
    assert link(link.xp.ones((1, 2), 'f')).xp is link.xp
    link.to_chx()
    link.from_chx()
    assert link.xp is np

    class ByModule(L.Linear):
        """A user of `xp`, which is derived from the device."""

        @property
        def device(self):
            return chainer.get_device('@numpy' if super().xp is np else 'native:0')

    link = ByModule(2, 3).to_device(device)
    assert link.device == chainer.get_device(device)
    assert link.xp is link.W.xp


@pytest.mark.parametrize('module', ['resnet', 'vgg', 'googlenet'])
@pytest.mark.parametrize('dtype', [np.float16, np.float32, np.float64, chainer.mixed16])
def test_images_are_prepared_in_the_configured_dtype(module, dtype):
    pytest.importorskip('PIL')
    prepare = getattr(L.model.vision, module).prepare
    image = np.arange(60, dtype=np.uint8).reshape(3, 4, 5)
    with chainer.using_config('dtype', np.float64):
        exact = prepare(image, size=None)
    mean = {'resnet': 103.063, 'vgg': 103.939, 'googlenet': 104.0}[module]
    np.testing.assert_allclose(exact[0], image[2] - mean, rtol=1e-12)
    with chainer.using_config('dtype', dtype):
        x = prepare(image, size=None)
    assert x.dtype == (np.float16 if dtype is chainer.mixed16 else dtype)
    np.testing.assert_allclose(x, exact, rtol=2e-3)
