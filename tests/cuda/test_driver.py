"""The test driver itself, through ctypes: it runs kernels rightly, and finds what is planted."""

import ctypes
import importlib.util
import os
import pathlib
import struct
import textwrap

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent

OUT_OF_MEMORY, NOT_INITIALIZED, INVALID_VALUE = 2, 3, 1
INVALID_CONTEXT, NO_BINARY, INVALID_HANDLE, NOT_READY = 201, 209, 400, 600
ILLEGAL_ADDRESS, LAUNCH_FAILED, NOT_PERMITTED = 700, 719, 800
CAPTURE_UNSUPPORTED, CAPTURE_INVALIDATED, UNJOINED = 900, 901, 904


class DriverError(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


class Statistics(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_uint64)
        for name in [
            'live',
            'live_bytes',
            'peak_bytes',
            'pinned_bytes',
            'launches',
            'copies',
            'longest_queue',
        ]
    ]


class Config(ctypes.Structure):
    _fields_ = [
        ('dims', ctypes.c_uint * 6),
        ('shared', ctypes.c_uint),
        ('stream', ctypes.c_void_p),
        ('attributes', ctypes.c_void_p),
        ('count', ctypes.c_uint),
    ]


class Driver:
    """The two libraries; a call that fails raises DriverError."""

    def __init__(self, folder):
        self.cuda = ctypes.CDLL(str(folder / 'libcuda.so.1'))
        self.nvrtc = ctypes.CDLL(str(folder / 'libnvrtc.so.13'))

    def __getattr__(self, name):
        function = getattr(self.cuda, name)

        def call(*args):
            result = function(*[ctypes.c_uint64(a) if isinstance(a, int) else a for a in args])
            if result != 0:
                raise DriverError(result)

        return call

    def get(self, name, *args, type=ctypes.c_uint64):
        value = type()
        getattr(self, name)(ctypes.byref(value), *args)
        return value.value

    def compile(self, source, *options, headers=(), arch='sm_90'):
        """Returns the cubin; raises RuntimeError with the log."""
        program = ctypes.c_void_p()
        names, texts = zip(*headers, strict=True) if headers else ((), ())
        array = ctypes.c_char_p * len(names)
        self.nvrtc.nvrtcCreateProgram(
            ctypes.byref(program),
            textwrap.dedent(source).encode(),
            b'kernel.cu',
            len(names),
            array(*[text.encode() for text in texts]),
            array(*[name.encode() for name in names]),
        )
        options = [f'--gpu-architecture={arch}', *options]
        array = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
        code = self.nvrtc.nvrtcCompileProgram(program, len(options), array)
        try:
            kind = 'ProgramLog' if code else 'CUBIN'
            size = ctypes.c_size_t()
            getattr(self.nvrtc, f'nvrtcGet{kind}Size')(program, ctypes.byref(size))
            data = ctypes.create_string_buffer(size.value)
            getattr(self.nvrtc, f'nvrtcGet{kind}')(program, data)
        finally:
            self.nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
        if code:
            raise RuntimeError(f'{code}: {data.value.decode()}')
        return data.raw

    def function(self, source, name='Kernel', **kwargs):
        module = self.get('cuModuleLoadData', self.compile(source, **kwargs))
        return self.get('cuModuleGetFunction', module, name.encode())

    def launch(
        self, function, params, grid=1, block=32, *, shared=0, stream=0, pdl=False, size=None
    ):
        """Runs a kernel whose parameters are these bytes; with a size, as one buffer."""
        dims = [*np.resize(1, 6)]
        for first, given in [(0, grid), (3, block)]:
            given = given if isinstance(given, tuple) else (given,)
            dims[first : first + len(given)] = given
        attribute = ctypes.create_string_buffer(struct.pack('=iii60x', 6, 0, 1))
        config = Config((ctypes.c_uint * 6)(*map(int, dims)), shared, stream)
        if pdl:
            config.attributes, config.count = ctypes.addressof(attribute), 1
        data = ctypes.create_string_buffer(params)
        if size is None:
            pointers = (ctypes.c_void_p * 1)(ctypes.addressof(data))
            return self.cuLaunchKernelEx(ctypes.byref(config), function, pointers, None)
        nbytes = ctypes.c_size_t(size)
        extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(data), 2, ctypes.addressof(nbytes), 0)
        return self.cuLaunchKernelEx(ctypes.byref(config), function, None, extra)

    def array(self, values, stream=0):
        """Returns the address of a copy on the device."""
        values = np.ascontiguousarray(values)
        p = self.get('cuMemAlloc_v2', values.nbytes)
        self.cuMemcpyHtoDAsync_v2(p, values.ctypes.data_as(ctypes.c_void_p), values.nbytes, stream)
        return p

    def read(self, p, shape, dtype=np.float32, stream=0):
        out = np.empty(shape, dtype)
        self.cuMemcpyDtoHAsync_v2(out.ctypes.data_as(ctypes.c_void_p), p, out.nbytes, stream)
        return out

    def stats(self):
        statistics = Statistics()
        self.cuda.cx_test_stats(ctypes.byref(statistics))
        return statistics


@pytest.fixture(scope='module')
def library(tmp_path_factory):
    spec = importlib.util.spec_from_file_location('build_driver', HERE / 'build_driver.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder = os.environ.get('CHAINERX_CUDA_TEST_DRIVER') or tmp_path_factory.mktemp('driver')
    return module.build(folder)


@pytest.fixture
def driver(library):
    """The driver with a current context that is new."""
    driver = Driver(library)
    driver.cuInit(0)
    driver.cuCtxSetCurrent(driver.get('cuDevicePrimaryCtxRetain', 0))
    yield driver
    driver.cuda.cx_test_fail(None)
    driver.cuDevicePrimaryCtxRelease_v2(0)
    driver.cuCtxSetCurrent(None)


PRELUDE = '#include "chainerx/cuda/device/language.h"\nusing namespace chainerx::cuda;\n'
LANGUAGE = (HERE.parents[1] / 'cpp/chainerx/cuda/device/language.h').read_text()
HEADERS = [('chainerx/cuda/device/language.h', LANGUAGE), ('cstdint', 'typedef int x;')]

ADD = """
    struct P { Ptr<const float> x1, x2; Ptr<float> y; long n; };
    CX_KERNEL(Kernel, P) {
        CX_BEGIN();
        const long i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < p.n) p.y[i] = p.x1[i] + p.x2[i];
    }
"""
BLOCK_SUM = """
    struct P { Ptr<const float> x; Ptr<float> y; int n; };
    CX_KERNEL(Kernel, P) {
        CX_BEGIN();
        CX_SHARED(float, part, 8);
        float sum = 0;
        for (int i = blockIdx.x * 256 + threadIdx.x; i < p.n; i += gridDim.x * 256) sum += p.x[i];
        for (int k = 16; k > 0; k /= 2) sum += __shfl_down_sync(0xffffffff, sum, k);
        if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
        BARRIER;
        if (threadIdx.x < 32) {
            sum = threadIdx.x < 8 ? part[threadIdx.x] : 0.0f;
            for (int k = 4; k > 0; k /= 2) sum += __shfl_xor_sync(0xffffffff, sum, k);
            if (threadIdx.x == 0) atomicAdd(&p.y[0], sum);
        }
    }
"""


def kernel(driver, text, **kwargs):
    return driver.function(PRELUDE + textwrap.dedent(text), headers=HEADERS, **kwargs)


def test_add(driver):
    n = 1000
    x1, x2 = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    y = driver.get('cuMemAlloc_v2', 4 * n)
    params = struct.pack('QQQq', driver.array(x1), driver.array(x2), y, n)
    driver.launch(kernel(driver, ADD), params, grid=4, block=256, pdl=True)
    np.testing.assert_array_equal(driver.read(y, n), x1 + x2)


@pytest.mark.parametrize('order', ['forward', 'reverse', 'random:3'])
def test_block_sum(driver, monkeypatch, order):
    monkeypatch.setenv('CHAINERX_CUDA_TEST_ORDER', order)
    driver.cuda.cx_test_reload()
    x = np.arange(1500, dtype=np.float32)
    y = driver.array(np.zeros(1, np.float32))
    function = kernel(driver, BLOCK_SUM.replace('BARRIER', '__syncthreads()'))
    driver.launch(function, struct.pack('QQi4x', driver.array(x), y, 1500), grid=3, block=256)
    assert driver.read(y, 1)[0] == x.sum()
