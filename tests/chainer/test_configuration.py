"""Keys and defaults, threads, using_config, environment variables."""

from __future__ import annotations

import copy
import io
import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import chainer
import chainerx
import numpy as np
import pytest
from chainer import configuration

DEFAULTS = {
    '_will_recompute': False,
    'autotune': False,
    'chainerx_fallback': 'allow',
    'compute_mode': None,
    'cudnn_deterministic': False,
    'cudnn_fast_batch_normalization': False,
    'debug': False,
    'dtype': np.float32,
    'enable_backprop': True,
    'in_recomputing': False,
    'keep_graph_on_report': False,
    'lazy_grad_sum': False,
    'schedule_func': None,
    'train': True,
    'type_check': True,
    'use_cudnn': 'auto',
    'use_cudnn_tensor_core': 'auto',
    'use_ideep': 'never',
    'use_static_graph': True,
    'warn_nondeterministic': False,
}


@pytest.fixture
def config():
    """A pair of fresh configurations."""
    global_config = configuration.GlobalConfig()
    global_config.debug = False
    return configuration.LocalConfig(global_config)


def in_thread(func):
    """Runs in a new thread, which has set nothing."""
    results: list = []
    thread = threading.Thread(target=lambda: results.append(func()))
    thread.start()
    thread.join()
    return results[0]


def python(code: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, '-c', code],
        env={k: v for k, v in os.environ.items() if not k.startswith('CHAINER_')} | env,
        capture_output=True,
        text=True,
        check=False,
    )


def test_defaults():
    result = python(
        'import chainer, numpy, pprint; pprint.pp({**vars(chainer.global_config), '
        "'dtype': chainer.get_dtype().type.__name__}, width=1000)"
    )
    assert eval(result.stdout) == {**DEFAULTS, 'dtype': 'float32'}
    assert dir(chainer.config).count('_local') == 1


@pytest.mark.parametrize(
    ('variable', 'value', 'expression', 'expected'),
    [
        ('CHAINER_DEBUG', '1', 'debug', True),
        ('CHAINER_DEBUG', '2', 'debug', True),
        ('CHAINER_DEBUG', '0', 'debug', False),
        ('CHAINER_TYPE_CHECK', '0', 'type_check', False),
        ('CHAINER_KEEP_GRAPH_ON_REPORT', '1', 'keep_graph_on_report', True),
        ('CHAINER_LAZY_GRAD_SUM', '1', 'lazy_grad_sum', True),
        ('CHAINER_CUDNN_FAST_BATCH_NORMALIZATION', '1', 'cudnn_fast_batch_normalization', True),
        ('CHAINER_USE_CUDNN', 'never', 'use_cudnn', 'never'),
        ('CHAINER_USE_IDEEP', 'auto', 'use_ideep', 'auto'),
        ('CHAINER_DTYPE', 'float16', 'dtype', "dtype('float16')"),
        ('CHAINER_DTYPE', 'mixed16', 'dtype', "dtype('mixed16')"),
    ],
)
def test_environment(variable, value, expression, expected):
    result = python(
        f'import chainer; print(repr(chainer.config.{expression}))', **{variable: value}
    )
    assert result.stdout.strip() == (expected if expression == 'dtype' else repr(expected)), (
        result.stderr
    )


@pytest.mark.parametrize(
    ('variable', 'value', 'message'),
    [
        ('CHAINER_DTYPE', 'int32', 'TypeError: incorrect dtype name in CHAINER_DTYPE: "int32"'),
        ('CHAINER_DTYPE', '', 'TypeError: incorrect dtype name'),
        ('CHAINER_DEBUG', 'x', "ValueError: CHAINER_DEBUG: expected 0 or 1, got 'x'"),
    ],
)
def test_bad_environment(variable, value, message):
    result = python('import chainer', **{variable: value})
    assert result.returncode != 0
    assert message in result.stderr


def test_local_over_global(config):
    global_config = config._global
    global_config.key = 1
    assert config.key == 1
    config.key = 2
    assert (config.key, global_config.key) == (2, 1)
    assert in_thread(lambda: config.key) == 1
    del config.key
    assert config.key == 1
    global_config.key = 3
    assert in_thread(lambda: config.key) == 3
    del global_config.key
    with pytest.raises(AttributeError, match="'GlobalConfig' object has no attribute 'key'"):
        _ = config.key
    with pytest.raises(AttributeError):
        del config.key


def test_known_keys_without_value_are_none():
    assert configuration.GlobalConfig().train is None


def test_show(config):
    config._global.z_key = 'one'
    config.a = 2
    config.debug = True
    file = io.StringIO()
    config.show(file=file)
    assert file.getvalue() == 'a     2\ndebug True\nz_key one\n'
    file = io.StringIO()
    config._global.show(file)
    assert file.getvalue() == 'debug False\nz_key one\n'


def test_show_prints_to_the_standard_output_of_now(config, capsys):
    config.show()
    assert capsys.readouterr().out == 'debug False\n'


def test_using_config():
    assert not hasattr(chainer.config, 'test_key')
    with chainer.using_config('test_key', 5) as entered:
        assert entered is None
        assert chainer.config.test_key == 5
        assert not in_thread(lambda: hasattr(chainer.config, 'test_key'))
        with chainer.using_config('test_key', 6):
            assert chainer.config.test_key == 6
        assert chainer.config.test_key == 5
    assert not hasattr(chainer.config, 'test_key')


def test_using_config_after_an_error():
    with pytest.raises(ZeroDivisionError), chainer.using_config('train', False):
        raise ZeroDivisionError
    assert chainer.config.train is True
    assert 'train' not in chainer.config._local.__dict__


def test_using_config_again_inside_itself(config):
    using = chainer.using_config('debug', 1, config)
    with using:
        config.debug = 2
        with using:
            assert config.debug == 1
        assert config.debug == 2
    assert config.debug is False


def test_using_config_of_the_global_object(config):
    with chainer.using_config('debug', True, config._global):
        assert in_thread(lambda: config.debug) is True
    assert config.debug is False


def test_the_engine_follows():
    """Functions see each change of the settings that the engine mirrors."""

    def records():
        return chainer.functions.relu(chainer.Variable(np.ones(2, 'f'))).creator is not None

    for config in (chainer.config, chainer.global_config):
        for value in (False, True, False):
            config.enable_backprop = value
            assert records() is value
            assert in_thread(records) is (value or config is chainer.config)
            chainer.config.train = chainer.config.train  # another key makes no difference
            assert records() is value
            with chainer.using_config('enable_backprop', not value, config):
                assert records() is not value
            with chainer.force_backprop_mode(), chainer.no_backprop_mode():
                assert not records()
            with chainer.no_backprop_mode(), chainer.force_backprop_mode():
                assert records()
            assert records() is value
        if config is chainer.config:
            del config.enable_backprop
        else:
            config.enable_backprop = True
        assert records()
    del chainer.config.train
    with chainer.using_config('enable_backprop', 0):
        assert not records()
    assert 'enable_backprop' not in chainer.config._local.__dict__


def test_backprop_modes_are_those_of_chainerx():
    mode = chainer.no_backprop_mode()
    with mode as entered:
        assert entered is None
        assert not chainerx.is_backprop_required()
        with chainer.force_backprop_mode(), mode, mode:
            assert not chainerx.is_backprop_required()
            assert chainer.config.enable_backprop is False
        assert not chainerx.is_backprop_required()
    assert chainerx.is_backprop_required()
    assert chainer.config.enable_backprop is True
    with pytest.raises(ZeroDivisionError), mode:
        raise ZeroDivisionError
    assert chainerx.is_backprop_required()
    with pytest.raises(chainerx.ChainerxError, match='left but not entered'):
        mode.__exit__(None, None, None)


def test_one_context_in_several_threads(config):
    """Several threads may enter one context; each restores its own value."""
    using = chainer.using_config('debug', 1, config)
    other = threading.Event(), threading.Event()

    def work():
        config.debug = 3
        with using:
            other[0].set()
            assert other[1].wait(60)
        return config.debug

    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(work)
        assert other[0].wait(60)
        with pytest.raises(chainerx.ChainerxError, match='left but not entered'):
            using.__exit__(None, None, None)
        config.debug = 2
        with using:
            other[1].set()
            assert result.result() == 3
            assert config.debug == 1
        assert config.debug == 2


def test_context_as_a_decorator(config):
    @chainer.using_config('debug', 1, config)
    def read(*args, **kwargs):
        """Docstring."""
        return config.debug, args, kwargs

    assert read(5, a=6) == (1, (5,), {'a': 6})
    assert read.__doc__ == 'Docstring.'
    assert config.debug is False


def test_keys_named_like_methods(config):
    config.show = 5
    assert callable(config.show)
    assert config._local.show == 5


def test_keys_made_at_run_time(config):
    config._global.key = 1
    name = ''.join(['k', 'ey'])
    with chainer.using_config(name, 2, config):
        assert getattr(config, ''.join(['ke', 'y'])) == 2
    setattr(config, name, 3)
    assert config.key == 3
    delattr(config, name)
    assert config.key == 1
    with pytest.raises(AttributeError, match=r'config\.key is not set in this thread'):
        del config.key
    with pytest.raises(TypeError, match='using_config'):
        chainer.using_config(5, 1)


def test_errors_of_non_configurations():
    for other in (5, None):
        with pytest.raises((TypeError, AttributeError)), chainer.using_config('train', 1, other):
            pass
    with pytest.raises(AttributeError):
        _ = configuration.LocalConfig.__new__(configuration.LocalConfig).train
    with pytest.raises(TypeError, match='pickle'):
        copy.copy(chainer.config)


@pytest.mark.parametrize('value', ['float32', np.float16, np.dtype('d'), np.int32, chainer.mixed16])
def test_dtype(config, value):
    config.dtype = value
    assert config.dtype is value


@pytest.mark.parametrize('value', ['foo', 3, None, 'mixed16'])
def test_bad_dtype(config, value):
    with pytest.raises(TypeError, match=r'config.dtype: expected a dtype or chainer.mixed16'):
        config.dtype = value
    with pytest.raises(TypeError), chainer.using_config('dtype', value, config):
        pass
    assert config.dtype is None


@pytest.mark.parametrize(
    ('dtype', 'map_mixed16', 'expected'),
    [
        (None, None, 'f4'),
        (None, 'f8', 'f4'),
        ('e', None, 'f2'),
        (np.float64, np.float16, 'f8'),
        (int, None, 'i8'),
        (chainer.mixed16, None, 'f2'),
        (chainer.mixed16, np.float32, 'f4'),
    ],
)
def test_get_dtype(dtype, map_mixed16, expected):
    result = chainer.get_dtype(dtype, map_mixed16=map_mixed16)
    assert isinstance(result, np.dtype)
    assert result == expected


def test_get_dtype_of_mixed16_config():
    with chainer.using_config('dtype', chainer.mixed16):
        assert chainer.get_dtype() == np.float16
        assert chainer.get_dtype(map_mixed16='f') == np.float32
        assert chainer.get_dtype('d', map_mixed16='f') == np.float64


def test_get_dtype_of_nonsense():
    with pytest.raises(TypeError):
        chainer.get_dtype('foo')


def test_mixed16_is_one_object():
    assert repr(chainer.mixed16) == "dtype('mixed16')"
    assert np.dtype(chainer.mixed16) == np.float16
    assert chainer.mixed16 != np.float16
    assert type(chainer.mixed16)() is chainer.mixed16
    assert copy.deepcopy(chainer.mixed16) is chainer.mixed16
    assert pickle.loads(pickle.dumps(chainer.mixed16)) is chainer.mixed16


def test_debug():
    assert chainer.is_debug() is False
    chainer.set_debug(True)
    try:
        assert chainer.is_debug() is True
        assert chainer.global_config.debug is False
    finally:
        del chainer.config.debug
    with pytest.warns(DeprecationWarning, match='DebugMode is deprecated'):
        mode = chainer.DebugMode(True)
    with mode as entered:
        assert entered is None
        assert chainer.is_debug() is True
    assert chainer.is_debug() is False


def test_compute_mode():
    assert chainer.get_compute_mode() is None
    with chainer.using_config('compute_mode', 'cudnn_fast'):
        assert chainer.get_compute_mode() == 'cudnn_fast'


def test_runtime_info(capsys):
    chainer.print_runtime_info()
    out = capsys.readouterr().out
    file = io.StringIO()
    chainer.print_runtime_info(file)
    assert file.getvalue() == out
    assert [line.split(':')[0] for line in out.splitlines() if not line.startswith(' ')] == [
        'Platform',
        'Chainer',
        'ChainerX',
        'NumPy',
        'CuPy',
        'iDeep',
    ]
    assert f'Chainer: {chainer.__version__}\n' in out
    assert f'NumPy: {np.__version__}\n' in out


def test_import_is_light():
    """Importing chainer does not import slow modules that few programs need."""
    heavy = ['scipy', 'matplotlib', 'h5py', 'pytest', 'unittest', 'google', 'pkg_resources', 'PIL']
    result = python(f'import chainer, sys; print([m for m in {heavy} if m in sys.modules])')
    assert result.stdout == '[]\n', result.stderr


@pytest.mark.parametrize('xp', [np, chainerx], ids=lambda xp: xp.__name__)
def test_modes_of_chainerx(xp):
    """Variables that backward can't reach have no creator."""

    class Twice(chainer.FunctionNode):
        def forward(self, inputs):
            return (inputs[0] * 2,)

        def backward(self, indexes, grad_outputs):
            return (grad_outputs[0] * 2,)

    class Native(Twice):
        forward_chainerx = Twice.forward

    class Old(chainer.Function):
        def forward(self, inputs):
            return (inputs[0] * 2,)

        def backward(self, inputs, grad_outputs):
            return (grad_outputs[0] * 2,)

    x = chainer.Variable(xp.ones(2, 'float32'))
    for f in (
        chainer.functions.exp,
        lambda x: x * 2,
        lambda x: x[0],
        lambda x: Twice().apply((x,))[0],
        lambda x: Native().apply((x,))[0],
        Old(),
        chainer.functions.argmax,
    ):
        recorded = f(x).creator is not None
        assert recorded
        with chainerx.no_backprop_mode():
            assert f(x).creator is None
            with chainerx.force_backprop_mode():
                assert f(x).creator is not None
            with chainer.using_config('enable_backprop', False), chainerx.force_backprop_mode():
                assert f(x).creator is None
        with chainerx.no_backprop_mode(chainerx.Context()):  # of others
            assert f(x).creator is not None
    with chainerx.no_backprop_mode():
        y = chainer.functions.sum(chainer.functions.exp(x))
        y.backward()
    assert x.grad is None


def test_modules_that_v7_has_as_attributes():
    names = ('basic_math', 'computational_graph', 'cuda', 'functions', 'reporter', 'serializers')
    code = f'import chainer; print([hasattr(chainer, name) for name in {names}])'
    out = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == str([True] * len(names))


def test_configurations_over_one_another():
    """Deeply nested or cyclic configurations raise an error, and do not crash."""
    config = configuration.LocalConfig(chainer.global_config)
    config.__init__(config)
    with pytest.raises(RecursionError, match='configuration'):
        _ = config.nothing
    many = chainer.global_config
    for _ in range(100_000):
        many = configuration.LocalConfig(many)
    with pytest.raises(RecursionError, match='configuration'):
        _ = many.train
    few = configuration.LocalConfig(configuration.LocalConfig(chainer.global_config))
    assert few.train is True
