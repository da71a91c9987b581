"""`BackendConfig` and `inject_backend_tests`."""

import sys
import types
import unittest

import chainer
import numpy as np
import pytest
from chainer import testing
from chainer.testing import attr

NUMPY = 'use_chainerx_false__chainerx_device_None__use_cuda_false__cuda_device_None__'
REST = (
    'use_cudnn_never__cudnn_deterministic_false__autotune_false__'
    'cudnn_fast_batch_normalization_false__use_ideep_never'
)
CHAINERX = {'use_chainerx': True, 'chainerx_device': 'native:0'}


def marks_of(function):
    return [mark.name for mark in getattr(function, 'pytestmark', [])]


def test_defaults():
    config = testing.BackendConfig({})
    assert config.get_func_str() == NUMPY + REST
    assert repr(config) == (
        '<BackendConfig use_chainerx=False chainerx_device=None use_cuda=False cuda_device=None '
        "use_cudnn='never' cudnn_deterministic=False autotune=False "
        "cudnn_fast_batch_normalization=False use_ideep='never'>"
    )
    assert config.get_pytest_marks() == []
    assert config.xp is np
    assert config.device == chainer.get_device('@numpy')
    x = np.ones(3)
    assert config.get_array(x) is x
    assert config.get_array(None) is None
    assert testing.backend.BackendConfig is testing.BackendConfig


def test_chainerx():
    import chainerx

    config = testing.BackendConfig(CHAINERX)
    assert config.xp is chainerx
    assert config.device.device == chainerx.get_device('native:0')
    x = config.get_array(np.arange(3.0))
    assert isinstance(x, chainerx.ndarray)
    assert chainerx.to_numpy(x).tolist() == [0, 1, 2]
    with testing.BackendConfig({'use_chainerx': True, 'chainerx_device': 'native:1'}) as inside:
        assert chainerx.get_default_device().name == 'native:1'
        assert inside.device.device.name == 'native:1'
    assert chainerx.get_default_device().name == 'native:0'


def test_context_applies_and_restores_the_configuration():
    keys = ('use_cudnn', 'cudnn_deterministic', 'autotune', 'use_ideep')
    before = [getattr(chainer.config, key) for key in keys]
    config = testing.BackendConfig(
        {'use_cudnn': 'always', 'cudnn_deterministic': True, 'autotune': True}
    )

    def check(x):
        assert [getattr(chainer.config, key) for key in keys] == ['always', True, True, 'never']
        return x

    with config as inside, config:  # may be entered again
        assert check(inside) is config
    assert [getattr(chainer.config, key) for key in keys] == before

    with pytest.raises(KeyError), config:
        raise KeyError
    assert [getattr(chainer.config, key) for key in keys] == before


def test_context_of_a_missing_device_restores_the_configuration():
    if chainer.backends.cuda.available:
        pytest.skip('CuPy is there')
    before = chainer.config.use_cudnn
    config = testing.BackendConfig({'use_cuda': True, 'use_cudnn': 'always'})
    with pytest.raises(RuntimeError), config:
        pytest.fail('was entered')
    assert chainer.config.use_cudnn == before


def test_invalid():
    with pytest.raises(ValueError, match='Parameter foo is not defined'):
        testing.BackendConfig({'foo': 1})
    for params in ({'use_chainerx': True}, {'use_cuda': True, **CHAINERX}):
        with pytest.raises(AssertionError, match='chainerx'):
            testing.BackendConfig(params)


@pytest.mark.parametrize(
    ('params', 'names'),
    [
        (CHAINERX, ['chainerx']),
        ({'use_chainerx': True, 'chainerx_device': 'cuda:0'}, ['chainerx', 'gpu']),
        ({'use_cuda': True}, ['gpu']),
        ({'use_cuda': True, 'cuda_device': 1}, ['gpu', 'gpu']),
        ({'use_cuda': True, 'use_cudnn': 'always'}, ['gpu', 'cudnn']),
        ({'use_cudnn': 'always'}, []),
        ({'use_ideep': 'auto'}, ['ideep']),
    ],
)
def test_marks(params, names):
    def test():
        pass

    for mark in testing.BackendConfig(params).get_pytest_marks():
        test = mark(test)
    assert marks_of(test) == names


def test_gpu_limit(monkeypatch):
    def three():
        return 3

    monkeypatch.setattr(attr, '_gpu_limit', 1)
    assert attr.gpu(three)() == 3
    with pytest.raises(unittest.SkipTest, match='2 GPUs required'):
        attr.multi_gpu(2)(three)()


@pytest.fixture
def module(monkeypatch):
    module = types.ModuleType('module_of_generated_tests')
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def decorate(module, method_names, params):
    class TestA(unittest.TestCase):
        __module__ = module.__name__
        seen = []  # noqa: RUF012  # shared by the generated classes on purpose

        def test_x(self, backend_config):
            self.seen.append(backend_config)

        def test_y(self, *backend_configs):
            self.seen.append('y')

    return testing.inject_backend_tests(method_names, params)(TestA)


def run(klass):
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(klass).run(result)
    assert result.wasSuccessful(), result.errors + result.failures
    return result.testsRun


def test_inject_into_all_tests(module):
    bundle = decorate(module, None, [{}, CHAINERX, {'use_cuda': True}])
    assert [case.class_name for case in bundle.cases] == [
        f'TestA_{testing.BackendConfig(p).get_func_str()}'
        for p in ({}, CHAINERX, {'use_cuda': True})
    ]
    assert bundle.cases[0].class_name == f'TestA_{NUMPY}{REST}'
    assert all(vars(module)[case.class_name] is case.klass for case in bundle.cases)
    klass = bundle.cases[1].klass
    assert marks_of(klass.test_x) == marks_of(klass.test_y) == ['chainerx']
    assert marks_of(bundle.cases[0].klass.test_x) == []
    assert marks_of(bundle.cases[2].klass.test_x) == ['gpu']
    assert run(klass) == 2
    assert [type(x) for x in klass.seen] == [testing.BackendConfig, str]
    assert klass.seen[0].use_chainerx


def test_inject_into_some_tests(module):
    bundle = decorate(module, ['test_x'], [{}, CHAINERX])
    names = [case.class_name for case in bundle.cases]
    assert len(names) == 3
    # Tests without a backend argument run once.
    assert names[0] == 'TestA_without_backend'
    assert [run(case.klass) for case in bundle.cases] == [1, 1, 1]
    assert bundle.cases[0].klass.seen[0] == 'y'


def test_the_test_enters_the_context_itself(module):
    class TestA(unittest.TestCase):
        __module__ = module.__name__

        def test_x(self, backend_config):
            assert chainer.config.cudnn_deterministic is False
            with backend_config:
                assert chainer.config.cudnn_deterministic is True

    bundle = testing.inject_backend_tests(None, [{'cudnn_deterministic': True}])(TestA)
    assert run(bundle.cases[0].klass) == 1


def test_stacked(module):
    bundle = decorate(module, ['test_x'], [{}, CHAINERX])
    bundle = testing.parameterize({'a': 1}, {'a': 2})(bundle)
    names = [case.class_name for case in bundle.cases]
    assert names[0] == 'TestA_without_backend_param_0_{a=1}'
    assert len(names) == 6
    assert sum(run(case.klass) for case in bundle.cases) == 6
    assert sorted(n for n in vars(module) if n.startswith('TestA')) == sorted(names)


def test_invalid_arguments():
    with pytest.raises(TypeError, match='method_names'):
        testing.inject_backend_tests('test_x', [{}])
    for params in ({}, None, ({} for _ in range(1)), [1]):
        with pytest.raises(TypeError, match='list of dicts'):
            testing.inject_backend_tests(None, params)
