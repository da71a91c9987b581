"""The test driver itself, through ctypes: it runs kernels rightly, and finds what is planted."""

import concurrent.futures
import ctypes
import importlib.util
import os
import pathlib
import signal
import struct
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent

OUT_OF_MEMORY, NOT_INITIALIZED, INVALID_VALUE = 2, 3, 1
INVALID_CONTEXT, NO_BINARY, INVALID_HANDLE, NOT_READY = 201, 209, 400, 600
ILLEGAL_ADDRESS, LAUNCH_FAILED, NOT_PERMITTED = 700, 719, 800
CAPTURE_UNSUPPORTED, CAPTURE_INVALIDATED, UNJOINED, CAPTURE_IMPLICIT = 900, 901, 904, 906


class DriverError(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


class Statistics(ctypes.Structure):
    _fields_ = [('live', ctypes.c_uint64), ('live_bytes', ctypes.c_uint64)]


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

    def get(self, name, *args, type=ctypes.c_uint64, last=False):
        """Returns what is written through the first argument, or the last."""
        value = type()
        pointer = ctypes.byref(value)
        getattr(self, name)(*args, pointer) if last else getattr(self, name)(pointer, *args)
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
    # The processes of one run share it.
    base = tmp_path_factory.getbasetemp()
    base = base.parent if 'PYTEST_XDIST_WORKER' in os.environ else base
    return module.build(os.environ.get('CHAINERX_CUDA_TEST_DRIVER') or base / 'cuda_driver')


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


@pytest.mark.parametrize('checked', ['0', '1'])
@pytest.mark.parametrize('order', ['forward', 'reverse', 'random:3'])
def test_block_sum(driver, monkeypatch, order, checked):
    monkeypatch.setenv('CHAINERX_CUDA_TEST_CHECKED', checked)
    monkeypatch.setenv('CHAINERX_CUDA_TEST_ORDER', order)
    driver.cuda.cx_test_reload()
    x = np.arange(1500, dtype=np.float32)
    y = driver.array(np.zeros(1, np.float32))
    function = kernel(driver, BLOCK_SUM.replace('BARRIER', '__syncthreads()'))
    driver.launch(function, struct.pack('QQi4x', driver.array(x), y, 1500), grid=3, block=256)
    assert driver.read(y, 1)[0] == x.sum()


# Faults that are planted, and the line on stderr. Races are found in every order.
RACES = ['missing barrier', 'missing second barrier']
FAULTS = {
    'missing barrier': (
        BLOCK_SUM.replace('BARRIER', ''),
        'bytes of shared memory that thread',
    ),
    'missing second barrier': (
        """
        struct P { Ptr<float> x; };
        CX_KERNEL(Kernel, P) {
            CX_SHARED(float, a, 256);
            for (int k = 0; k < 2; ++k) {
                a[threadIdx.x] = p.x[threadIdx.x];
                __syncthreads();
                p.x[threadIdx.x] = a[255 - threadIdx.x];
            }
        }
        """,
        'bytes of shared memory that thread',
    ),
    'read outside': (
        'struct P { Ptr<float> x; }; CX_KERNEL(Kernel, P) { p.x[0] = p.x[threadIdx.x + 256]; }',
        'Kernel: block (0, 0, 0), thread (0, 0, 0): read of 4 bytes at 0x',
    ),
    'write outside': (
        'struct P { Ptr<float> x; }; CX_KERNEL(Kernel, P) { p.x[threadIdx.x + 1] = 1; }',
        'thread (255, 0, 0): write of 4 bytes at 0x',
    ),
    'shared outside': (
        """
        struct P { Ptr<float> x; };
        CX_KERNEL(Kernel, P) { CX_SHARED(float, a, 255); a[threadIdx.x] = p.x[threadIdx.x]; }
        """,
        'write of 4 bytes outside of the arrays in shared memory',
    ),
    'misaligned': (
        """
        struct alignas(16) V { float x[4]; };
        struct P { Ptr<float> x; };
        CX_KERNEL(Kernel, P) {
            const float* x = p.x + threadIdx.x % 200;
            const V v = *reinterpret_cast<const V*>(x);
            p.x[0] = v.x[1];
        }
        """,
        'thread (1, 0, 0): misaligned access to ',
    ),
    'diverged lanes': (
        """
        struct P { Ptr<float> x; };
        CX_KERNEL(Kernel, P) {
            if (threadIdx.x % 2) __syncwarp();
            else p.x[0] = __shfl_sync(0xffffffff, 1.0f, 0);
        }
        """,
        'lanes of a warp do different things',
    ),
    'lane outside of the mask': (
        'struct P { Ptr<float> x; }; CX_KERNEL(Kernel, P) { __syncwarp(0xffff); }',
        'mask without itself',
    ),
    'different barriers': (
        """
        struct P { Ptr<float> x; };
        CX_KERNEL(Kernel, P) {
            if (threadIdx.x < 32) __syncthreads();
            else
                __syncthreads();
        }
        """,
        'waits at the barrier in line',
    ),
    'deadlock': (
        """
        struct P { Ptr<float> x; };
        CX_KERNEL(Kernel, P) {
            if (threadIdx.x < 31) __syncwarp();
            else __syncthreads();
        }
        """,
        'deadlock',
    ),
    'host pointer': (
        'struct P { float* x; }; CX_KERNEL(Kernel, P) { p.x[0] = 1; }',
        'not a Ptr<T>',
    ),
    'stack': (
        """
        struct P { Ptr<float> x; };
        float f(volatile int* n) { volatile int a[1000]; a[0] = *n; return 1 + f(a) + f(a + 1); }
        CX_KERNEL(Kernel, P) { volatile int n = 0; p.x[0] = f(&n); }
        """,
        'stack of a thread is exhausted',
    ),
    'division by zero': (
        'struct P { Ptr<int> x; }; CX_KERNEL(Kernel, P) { p.x[0] = p.x[0] / (p.x[1] - p.x[0]); }',
        'division by zero',
    ),
    'no CX_BEGIN': ('struct P { Ptr<int> x; }; CX_KERNEL(Kernel, P) {}', 'CX_BEGIN'),
}


def new_stream(driver):
    return driver.get('cuStreamCreateWithPriority', 1, 0)


def code_of(call, *args, **kwargs):
    with pytest.raises(DriverError) as error:
        call(*args, **kwargs)
    return error.value.code


ORDERS = [(fault, 'forward') for fault in FAULTS]
ORDERS += [(fault, order) for fault in RACES for order in ['reverse', 'random:1']]


@pytest.mark.parametrize(('fault', 'order'), ORDERS)
def test_planted_fault(driver, monkeypatch, capfd, fault, order):
    monkeypatch.setenv('CHAINERX_CUDA_TEST_CHECKED', '1')
    monkeypatch.setenv('CHAINERX_CUDA_TEST_ORDER', order)
    driver.cuda.cx_test_reload()
    text, message = FAULTS[fault]
    p = driver.array(np.ones(256, np.float32))
    params = struct.pack('QQi4x', p, p, 256) if 'int n;' in text else struct.pack('Q', p)
    driver.launch(kernel(driver, text), params, block=256, pdl=fault == 'no CX_BEGIN')
    assert code_of(driver.cuCtxSynchronize) == ILLEGAL_ADDRESS
    assert code_of(driver.get, 'cuMemAlloc_v2', 4) == ILLEGAL_ADDRESS
    printed = capfd.readouterr().err
    assert message in printed
    assert printed.count('\n') == 1


FILL = 'struct P { Ptr<float> x; long i; }; CX_KERNEL(Kernel, P) { p.x[p.i + threadIdx.x] = 1; }'


@pytest.mark.parametrize('checked', ['0', '1'])
def test_use_after_free(driver, monkeypatch, capfd, checked):
    monkeypatch.setenv('CHAINERX_CUDA_TEST_CHECKED', checked)
    function = kernel(driver, FILL)
    p = driver.get('cuMemAlloc_v2', 1 << 20)
    driver.launch(function, struct.pack('Qq', p, 0))
    driver.cuMemFree_v2(p)
    driver.launch(function, struct.pack('Qq', p, 0))
    assert code_of(driver.cuStreamSynchronize, 0) == ILLEGAL_ADDRESS
    assert ', which was freed' in capfd.readouterr().err


def test_write_without_hooks(driver, capfd):
    # Just behind an allocation it is found when that is freed; far from it by the page.
    function = kernel(driver, FILL)
    p = driver.get('cuMemAlloc_v2', 128)
    driver.launch(function, struct.pack('Qq', p, 1))
    driver.cuStreamSynchronize(0)
    assert code_of(driver.cuMemFree_v2, p) == ILLEGAL_ADDRESS
    assert 'behind an allocation of 128 bytes, at its byte 128' in capfd.readouterr().err


def test_read_of_what_nobody_wrote(driver):
    p = driver.get('cuMemAlloc_v2', 64)
    assert set(driver.read(p, 64, np.uint8)) == {0xB6}
    driver.cuMemFree_v2(p)
    assert code_of(driver.read, p, 64) == INVALID_VALUE


def test_free(driver):
    live = driver.stats().live
    p = driver.get('cuMemAlloc_v2', 100)
    assert driver.stats().live == live + 1  # so a test finds what is leaked
    assert code_of(driver.cuMemFree_v2, p + 4) == INVALID_VALUE
    driver.cuMemFree_v2(p)
    assert code_of(driver.cuMemFree_v2, p) == INVALID_VALUE
    p = driver.get('cuMemAllocAsync', 100, 0)
    driver.cuMemFreeAsync(p, 0)
    assert code_of(driver.cuMemFreeAsync, p, 0) == INVALID_VALUE
    driver.cuStreamSynchronize(0)
    assert driver.stats().live == live


def test_memory_limit(driver):
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    driver.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
    assert free.value == total.value == 2 << 30
    assert code_of(driver.get, 'cuMemAlloc_v2', (2 << 30) + 1) == OUT_OF_MEMORY


def test_parameters_and_limits(driver):
    n = 256
    x = driver.array(np.ones(n, np.float32))
    params = struct.pack('QQQq', x, x, x, n)
    function = kernel(driver, ADD)
    driver.launch(function, params, block=256, size=32)
    assert driver.read(x, n).max() == 2
    for faults in [
        {'size': 24},
        {'block': 257},
        {'grid': 0},
        {'grid': (1, 65536)},
        {'shared': (48 << 10) + 1},
    ]:
        assert code_of(driver.launch, function, params, **faults) == INVALID_VALUE
    driver.cuFuncSetAttribute(function, 8, 227 << 10)
    driver.launch(function, params, shared=227 << 10)
    assert code_of(driver.cuFuncSetAttribute, function, 8, 228 << 10) == INVALID_VALUE


@pytest.mark.parametrize('checked', ['0', '1'])
def test_words(driver, monkeypatch, checked):
    monkeypatch.setenv('CHAINERX_CUDA_TEST_CHECKED', checked)
    # The results of warp operations, barriers that count, atomics, dynamic shared memory.
    text = """
    struct P { Ptr<unsigned> y; };
    CX_KERNEL(Kernel, P) {
        const unsigned t = threadIdx.x + blockDim.x * threadIdx.y, lane = t % 32;
        if (t >= 60) return;  // these lanes are not waited for
        CX_DYNAMIC_SHARED(unsigned, part);
        part[t] = t;
        Ptr<unsigned> y = p.y + 12 * t;
        y[0] = __ballot_sync(~0u, lane % 3 == 0);
        y[1] = __match_any_sync(~0u, t / 8);
        y[2] = __shfl_up_sync(~0u, t, 2, 8);
        y[3] = __shfl_sync(~0u, t, lane + 1, 16);
        y[4] = __any_sync(~0u, t == 5) + 2 * __all_sync(~0u, t < 32);
        y[5] = __syncthreads_count(t % 2 == 0);
        y[6] = __syncthreads_or(t == 7) + 2 * __syncthreads_or(t == 60);
        y[7] = part[59 - t];
        y[8] = atomicAdd(&p.y[12 * 60], 2u);
        y[9] = max(t, 40u) + __popc(t) + __clz(t) + __umulhi(t << 28, 16) + __ffs(t);
        if (lane < 4) y[10] = __shfl_down_sync(0xf, t, 1);
        else if (lane < 12) y[10] = __shfl_xor_sync(0xff0, t, 3);
        y[11] = (p.y == nullptr) + 2 * (static_cast<unsigned*>(p.y) != nullptr);
    }
    """
    y = driver.array(np.zeros(12 * 60 + 1, np.uint32))
    driver.launch(kernel(driver, text), struct.pack('Q', y), block=(16, 4), shared=240)
    y = driver.read(y, 12 * 60 + 1, np.uint32)
    assert y[-1] == 120
    y = y[:-1].reshape(60, 12)
    t = np.arange(60)
    lane, live = t % 32, np.where(t < 32, 2**32 - 1, 2**28 - 1)
    thirds = sum(1 << k for k in range(0, 32, 3))
    np.testing.assert_array_equal(y[:, 0], thirds & live)
    np.testing.assert_array_equal(y[:, 1], (0xFF << lane // 8 * 8) & live)
    np.testing.assert_array_equal(y[:, 2], np.where(t % 8 < 2, t, t - 2))
    source = t // 16 * 16 + (t + 1) % 16
    np.testing.assert_array_equal(y[:, 3], np.where(source < 60, source, 2**32 - 1))
    np.testing.assert_array_equal(y[:, 4], np.where(t < 32, 3, 0))
    np.testing.assert_array_equal(y[:, 5], 30)
    np.testing.assert_array_equal(y[:, 6], 1)
    np.testing.assert_array_equal(y[:, 7], 59 - t)
    assert sorted(y[:, 8]) == list(range(0, 120, 2))
    bits = [int(i).bit_length() for i in t]
    ffs = [(i & -i).bit_length() for i in map(int, t)]
    popcount = [int(i).bit_count() for i in t]
    expected = np.maximum(t, 40) + popcount + 32 - bits + ((t << 28) % 2**32 >> 28) + ffs
    np.testing.assert_array_equal(y[:, 9], expected)
    np.testing.assert_array_equal(y[:4, 10], [1, 2, 3, 2**32 - 1])
    np.testing.assert_array_equal(y[4:12, 10], t[4:12] ^ 3)
    np.testing.assert_array_equal(y[:, 11], 2)


def test_virtual_memory(driver):
    mb = 1 << 20
    location = struct.pack('=iiiiQQ', 1, 0, 1, 0, 0, 0)
    access = struct.pack('=iii', 1, 0, 3)
    assert driver.get('cuMemGetAllocationGranularity', location, 0) == 2 * mb
    p = driver.get('cuMemAddressReserve', 8 * mb, 0, 0, 0)
    handle = driver.get('cuMemCreate', 4 * mb, location, 0)
    assert code_of(driver.cuMemsetD8Async, p, 1, 4 * mb, 0) == INVALID_VALUE
    assert code_of(driver.cuMemMap, p + mb, 4 * mb, 0, handle, 0) == INVALID_VALUE
    assert code_of(driver.cuMemMap, p + 6 * mb, 4 * mb, 0, handle, 0) == INVALID_VALUE
    driver.cuMemMap(p + 2 * mb, 4 * mb, 0, handle, 0)
    assert code_of(driver.cuMemMap, p, 4 * mb, 0, handle, 0) == INVALID_VALUE
    assert code_of(driver.cuMemsetD8Async, p + 2 * mb, 1, 4 * mb, 0) == INVALID_VALUE
    driver.cuMemSetAccess(p + 2 * mb, 4 * mb, access, 1)
    assert set(driver.read(p + 2 * mb, 4 * mb, np.uint8)) == {0xB6}
    driver.cuMemsetD32Async(p + 2 * mb, 7, mb, 0)
    driver.cuMemRelease(handle)  # the mapping keeps it
    assert driver.stats().live_bytes == 4 * mb
    assert set(driver.read(p + 2 * mb, mb, np.uint32)) == {7}
    assert code_of(driver.cuMemAddressFree, p, 8 * mb) == INVALID_VALUE
    assert code_of(driver.cuMemUnmap, p + 2 * mb, 2 * mb) == INVALID_VALUE
    driver.cuMemUnmap(p + 2 * mb, 4 * mb)
    assert driver.stats().live_bytes == 0
    driver.cuMemAddressFree(p, 8 * mb)
    driver.launch(kernel(driver, FILL), struct.pack('Qq', p, 0))
    assert code_of(driver.cuStreamSynchronize, 0) == ILLEGAL_ADDRESS


def test_streams_and_events(driver):
    first, second = (
        driver.get('cuStreamCreateWithPriority', 1, 0),
        driver.get('cuStreamCreateWithPriority', 1, 0),
    )
    event, last = driver.get('cuEventCreate', 0), driver.get('cuEventCreate', 0)
    x, y = driver.array(np.zeros(4, np.float32)), driver.array(np.zeros(4, np.float32))
    driver.cuStreamSynchronize(0)
    gate, seen = threading.Event(), []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def wait(_):
        seen.append(driver.cuda.cuStreamQuery(None))
        gate.wait()

    driver.cuEventQuery(event)  # never recorded: complete
    driver.cuLaunchHostFunc(first, wait, None)
    driver.cuMemsetD32Async(x, 0x3F800000, 4, first)
    driver.cuEventRecord(event, first)
    assert code_of(driver.cuStreamQuery, first) == NOT_READY
    assert code_of(driver.cuEventQuery, event) == NOT_READY
    # Without the event the second stream sees old data; with it the new.
    driver.cuMemcpyDtoDAsync_v2(y, x, 16, second)
    assert list(driver.read(y, 4, stream=second)) == [0] * 4
    driver.cuStreamWaitEvent(second, event, 0)
    driver.cuMemcpyDtoDAsync_v2(y, x, 16, second)
    driver.cuEventRecord(last, second)
    gate.set()
    assert list(driver.read(y, 4, stream=second)) == [1] * 4
    assert seen == [NOT_PERMITTED]
    driver.cuEventSynchronize(last)
    assert 0 <= driver.get('cuEventElapsedTime', event, last, type=ctypes.c_float) < 10000
    driver.cuEventDestroy_v2(event)
    assert code_of(driver.cuEventRecord, event, first) == INVALID_HANDLE
    # What a stream has when it is destroyed still runs, and is waited for.
    append = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(seen.append)
    driver.cuLaunchHostFunc(first, append, None)
    driver.cuStreamDestroy_v2(first)
    driver.cuCtxSynchronize()
    assert seen == [NOT_PERMITTED, None]
    assert code_of(driver.cuStreamQuery, first) == INVALID_HANDLE


@pytest.mark.parametrize('checked', ['0', '1'])
def test_freed_while_another_stream_uses_it(driver, monkeypatch, capfd, checked):
    monkeypatch.setenv('CHAINERX_CUDA_TEST_CHECKED', checked)
    gate = threading.Event()
    wait = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: gate.wait())
    first, second = (
        driver.get('cuStreamCreateWithPriority', 1, 0),
        driver.get('cuStreamCreateWithPriority', 1, 0),
    )
    x = driver.get('cuMemAllocAsync', 128, first)
    function = kernel(driver, FILL)
    driver.cuLaunchHostFunc(second, wait, None)
    driver.launch(function, struct.pack('Qq', x, 0), stream=second)
    driver.cuMemFreeAsync(x, first)
    driver.cuStreamSynchronize(first)
    gate.set()
    assert code_of(driver.cuStreamSynchronize, second) == ILLEGAL_ADDRESS
    assert ', which was freed' in capfd.readouterr().err


def test_copies_of_host_memory(driver):
    # Pageable memory has been read when the call returns; pinned memory is read later.
    gate = threading.Event()
    wait = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: gate.wait())
    pageable = (ctypes.c_float * 4)(1, 1, 1, 1)
    pinned = (ctypes.c_float * 4).from_address(driver.get('cuMemHostAlloc', 16, 0))
    pinned[:] = [1] * 4
    x, y = driver.array(np.zeros(4, np.float32)), driver.array(np.zeros(4, np.float32))
    driver.cuLaunchHostFunc(0, wait, None)
    driver.cuMemcpyHtoDAsync_v2(x, pageable, 16, 0)
    driver.cuMemcpyHtoDAsync_v2(y, pinned, 16, 0)
    pageable[:] = pinned[:] = [2] * 4
    gate.set()
    assert list(driver.read(x, 4)) == [1] * 4
    assert list(driver.read(y, 4)) == [2] * 4
    driver.launch(kernel(driver, FILL), struct.pack('Qq', ctypes.addressof(pinned), 0), block=4)
    driver.cuStreamSynchronize(0)
    assert list(pinned) == [1] * 4
    assert driver.get('cuPointerGetAttribute', 2, x, type=ctypes.c_uint) == 2
    driver.cuMemFreeHost(pinned)


def status(driver, stream):
    return driver.get('cuStreamIsCapturing', stream, type=ctypes.c_int, last=True)


def test_capture(driver):
    stream, other = (
        driver.get('cuStreamCreateWithPriority', 1, 0),
        driver.get('cuStreamCreateWithPriority', 1, 0),
    )
    event, back = driver.get('cuEventCreate', 2), driver.get('cuEventCreate', 2)
    function = kernel(driver, ADD)
    x = driver.array(np.ones(4, np.float32))
    params = struct.pack('QQQq', x, x, x, 4)
    driver.cuStreamSynchronize(0)
    driver.cuStreamBeginCapture_v2(stream, 1)
    driver.launch(function, params, stream=stream)
    driver.cuEventRecord(event, stream)
    driver.cuStreamWaitEvent(other, event, 0)
    assert status(driver, other) == 1
    driver.launch(function, params, stream=other)
    driver.cuEventRecord(back, other)
    driver.cuStreamWaitEvent(stream, back, 0)
    graph = driver.get('cuStreamEndCapture', stream, last=True)
    assert status(driver, other) == 0
    assert list(driver.read(x, 4)) == [1] * 4
    count = ctypes.c_size_t()
    driver.cuGraphGetNodes(graph, None, ctypes.byref(count))
    assert count.value == 2
    replay = driver.get('cuGraphInstantiateWithFlags', graph, 0)
    driver.cuGraphDestroy(graph)
    for _ in range(3):
        driver.cuGraphLaunch(replay, stream)
    driver.cuGraphExecDestroy(replay)
    assert list(driver.read(x, 4, stream=stream)) == [64] * 4


def test_capture_is_invalidated(driver):
    stream, other = (
        driver.get('cuStreamCreateWithPriority', 1, 0),
        driver.get('cuStreamCreateWithPriority', 1, 0),
    )
    event = driver.get('cuEventCreate', 2)
    x = driver.array(np.ones(4, np.float32))
    query = driver.get('cuEventCreate', 2)
    for forbidden in [
        lambda: driver.cuStreamSynchronize(stream),
        lambda: driver.get('cuMemAlloc_v2', 4),
        lambda: driver.get('cuMemAllocAsync', 4, stream),
        lambda: driver.cuEventQuery(query),
        lambda: driver.cuCtxSynchronize(),
        lambda: driver.read(x, 4, stream=stream),
    ]:
        driver.cuStreamBeginCapture_v2(stream, 1)
        assert code_of(forbidden) == CAPTURE_UNSUPPORTED
        assert status(driver, stream) == 2
        assert code_of(driver.cuMemsetD8Async, x, 0, 4, stream) == CAPTURE_INVALIDATED
        assert code_of(driver.get, 'cuStreamEndCapture', stream, last=True) == CAPTURE_INVALIDATED
    driver.cuStreamBeginCapture_v2(stream, 1)
    driver.cuEventRecord(event, stream)
    driver.cuStreamWaitEvent(other, event, 0)
    driver.cuMemsetD8Async(x, 0, 4, other)
    assert code_of(driver.get, 'cuStreamEndCapture', stream, last=True) == UNJOINED
    driver.read(x, 4, stream=stream)


def test_capture_without_restrictions(driver):
    """Of its thread; the context is another matter, for all threads."""
    stream = driver.get('cuStreamCreateWithPriority', 1, 0)
    event = driver.get('cuEventCreate', 2)
    x = driver.array(np.ones(4, np.float32))
    driver.cuStreamBeginCapture_v2(stream, 2)
    driver.cuEventQuery(event)
    driver.cuMemFree_v2(driver.get('cuMemAlloc_v2', 4))
    driver.cuMemsetD8Async(x, 0, 4, stream)
    assert status(driver, stream) == 1
    driver.cuGraphDestroy(driver.get('cuStreamEndCapture', stream, last=True))
    context = driver.get('cuCtxGetCurrent')

    def synchronize():
        driver.cuCtxSetCurrent(context)
        return code_of(driver.cuCtxSynchronize)

    driver.cuStreamBeginCapture_v2(stream, 2)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        assert pool.submit(synchronize).result() == CAPTURE_UNSUPPORTED
    assert code_of(driver.get, 'cuStreamEndCapture', stream, last=True) == CAPTURE_INVALIDATED
    driver.cuCtxSynchronize()


@pytest.mark.parametrize('blocks', [True, False])
def test_capture_and_the_legacy_stream(driver, blocks):
    stream = driver.get('cuStreamCreateWithPriority', 0 if blocks else 1, 0)
    x = driver.array(np.ones(4, np.float32))
    driver.cuStreamBeginCapture_v2(stream, 2)
    if blocks:
        assert code_of(driver.cuMemsetD8Async, x, 0, 4, None) == CAPTURE_IMPLICIT
        assert code_of(driver.get, 'cuStreamEndCapture', stream, last=True) == CAPTURE_INVALIDATED
    else:
        driver.cuMemsetD8Async(x, 0, 4, None)
        driver.cuGraphDestroy(driver.get('cuStreamEndCapture', stream, last=True))


def test_launches_of_a_graph_run_one_after_another(driver):
    streams = [driver.get('cuStreamCreateWithPriority', 1, 0) for _ in range(4)]
    function = kernel(driver, ADD)
    x = driver.array(np.ones(1000, np.float32))
    driver.cuStreamSynchronize(0)
    driver.cuStreamBeginCapture_v2(streams[0], 2)
    for _ in range(3):
        driver.launch(function, struct.pack('QQQq', x, x, x, 1000), 32, stream=streams[0])
    graph = driver.get('cuStreamEndCapture', streams[0], last=True)
    replay = driver.get('cuGraphInstantiateWithFlags', graph, 0)
    for stream in streams:
        driver.cuGraphLaunch(replay, stream)
    driver.cuCtxSynchronize()
    assert list(driver.read(x, 1000)) == [2**12] * 1000
    driver.cuGraphExecDestroy(replay)
    driver.cuGraphDestroy(graph)


def test_injected_failures(driver):
    driver.cuda.cx_test_fail(b'cuMemAlloc_v2:2,cuMemCreate:1,cuStreamCreateWithPriority:1+:304')
    p = driver.get('cuMemAlloc_v2', 4)
    assert code_of(driver.get, 'cuMemAlloc_v2', 4) == OUT_OF_MEMORY
    driver.get('cuMemAlloc_v2', 4)
    assert (
        code_of(driver.get, 'cuStreamCreateWithPriority', 0, 0)
        == code_of(driver.get, 'cuStreamCreateWithPriority', 0, 0)
        == 304
    )
    driver.cuda.cx_test_fail(b'cuLaunchKernelEx:1')
    function = kernel(driver, FILL)
    assert code_of(driver.launch, function, struct.pack('Qq', p, 0), block=1) == LAUNCH_FAILED
    driver.launch(function, struct.pack('Qq', p, 0), block=1)
    assert driver.read(p, 1)[0] == 1


def test_compile(driver):
    first, second = (driver.compile(PRELUDE + ADD, headers=HEADERS) for _ in range(2))
    assert first == second
    with pytest.raises(RuntimeError, match=r'6: .*kernel\.cu:2:.*.y. was not declared'):
        driver.compile('int x;\nint z = y;\n')
    with pytest.raises(RuntimeError, match=r'5: .*--nonsense'):
        driver.compile('', '--nonsense')
    with pytest.raises(RuntimeError, match=r'5: .*sm_42'):
        driver.compile('', arch='sm_42')
    driver.compile('#if N != 3\n#error\n#endif', '-DN=3', '--fmad=false', '-default-device')
    assert code_of(driver.function, '', arch='sm_80') == NO_BINARY


def test_image_of_another_driver(driver, monkeypatch):
    # The version of the compiler says so, too, so that caches do not mix them.
    versions = set()
    for checked in '01':
        monkeypatch.setenv('CHAINERX_CUDA_TEST_CHECKED', checked)
        major, minor = ctypes.c_int(), ctypes.c_int()
        driver.nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        versions.add((major.value, minor.value))
    assert len(versions) == 2
    monkeypatch.setenv('CHAINERX_CUDA_TEST_CHECKED', '0')
    cubin = driver.compile('')
    driver.get('cuModuleLoadData', cubin)
    assert code_of(driver.get, 'cuModuleLoadData', cubin[:8] + bytes(8) + cubin[16:]) == 200
    monkeypatch.setenv('CHAINERX_CUDA_TEST_CHECKED', '1')
    assert code_of(driver.get, 'cuModuleLoadData', cubin) == 200


def test_two_devices(driver, monkeypatch, capfd):
    peer = driver.get('cuDevicePrimaryCtxRetain', 1)
    mine = driver.get('cuCtxGetCurrent')
    x = driver.array(np.ones(4, np.float32))
    driver.cuStreamSynchronize(0)
    driver.cuCtxSetCurrent(peer)
    y = driver.get('cuMemAlloc_v2', 16)
    assert driver.get('cuPointerGetAttribute', 9, y, type=ctypes.c_int) == 1
    driver.cuMemcpyPeerAsync(y, peer, x, mine, 16, 0)
    assert list(driver.read(y, 4)) == [1] * 4
    # Only mapped memory is shared, and only where devices can.
    assert driver.get('cuDeviceCanAccessPeer', 0, 1, type=ctypes.c_int) == 1
    assert driver.get('cuDeviceCanAccessPeer', 1, 1, type=ctypes.c_int) == 0
    nbytes = 2 << 20
    prop = ctypes.create_string_buffer(struct.pack('=iiiiQQ', 1, 0, 1, 1, 0, 0))
    z = driver.get('cuMemAddressReserve', nbytes, 0, 0, 0)
    driver.cuMemMap(z, nbytes, 0, driver.get('cuMemCreate', nbytes, prop, 0), 0)
    own, other = (ctypes.create_string_buffer(struct.pack('=iii', 1, i, 3)) for i in (1, 0))
    driver.cuMemSetAccess(z, nbytes, own, 1)
    monkeypatch.setenv('CHAINERX_CUDA_TEST_PEERS', '0')
    driver.cuda.cx_test_reload()
    assert driver.get('cuDeviceCanAccessPeer', 0, 1, type=ctypes.c_int) == 0
    assert code_of(driver.cuMemSetAccess, z, nbytes, other, 1) == INVALID_VALUE
    monkeypatch.delenv('CHAINERX_CUDA_TEST_PEERS')
    driver.cuda.cx_test_reload()
    driver.cuMemSetAccess(z, nbytes, other, 1)
    driver.cuCtxSetCurrent(mine)
    driver.cuMemcpyDtoDAsync_v2(z, x, 16, 0)
    assert list(driver.read(z, 4)) == [1] * 4
    assert code_of(driver.cuMemcpyDtoDAsync_v2, y, x, 16, 0) == ILLEGAL_ADDRESS
    assert 'memory of a device that this one may not access' in capfd.readouterr().err
    driver.cuDevicePrimaryCtxRelease_v2(1)
    driver.cuCtxSetCurrent(peer)
    assert code_of(driver.get, 'cuMemAlloc_v2', 4) == 709
    driver.cuCtxSetCurrent(mine)


def test_many_threads(driver):
    function = kernel(driver, FILL)
    context = driver.get('cuCtxGetCurrent')

    def work():
        driver.cuCtxSetCurrent(context)
        stream = new_stream(driver)
        for _ in range(50):
            p = driver.get('cuMemAllocAsync', 256, stream)
            driver.launch(function, struct.pack('Qq', p, 0), block=64, stream=stream)
            assert driver.read(p, 64, stream=stream).sum() == 64
            driver.cuMemFreeAsync(p, stream)
        driver.cuStreamDestroy_v2(stream)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(work) for _ in range(4)]:
            future.result()


def run(library, body, **env):
    """Runs statements in a process of its own, where `cuda` is the library."""
    text = f'import ctypes, os\ncuda = ctypes.CDLL({str(library / "libcuda.so.1")!r})\n'
    env = {f'CHAINERX_CUDA_TEST_{name}': value for name, value in env.items()}
    command = [sys.executable, '-c', text + textwrap.dedent(body)]
    return subprocess.run(command, env=os.environ | env, capture_output=True, text=True)


RETAIN = 'p = ctypes.c_uint64(); q = ctypes.byref(p); cuda.cuDevicePrimaryCtxRetain(q, 0)'


def test_no_context(library):
    body = f"""
    assert cuda.cuDeviceGetCount(ctypes.byref(ctypes.c_int())) == {NOT_INITIALIZED}
    assert cuda.cuInit(0) == 0
    {RETAIN}
    assert cuda.cuMemAlloc_v2(q, ctypes.c_size_t(4)) == {INVALID_CONTEXT}
    """
    assert run(library, body).stderr == ''
    assert run(library, 'assert cuda.cuInit(0) == 100', DEVICES='0').stderr == ''


def test_empty_kernels(library):
    # Without threads: a host function runs at once.
    body = f"""
    {RETAIN.replace('cuda.cu', 'cuda.cuInit(0); cuda.cu', 1)}
    cuda.cuCtxSetCurrent(p)
    seen = []
    cuda.cuLaunchHostFunc(None, ctypes.CFUNCTYPE(None, ctypes.c_void_p)(seen.append), None)
    assert seen == [None]
    """
    assert run(library, body, EMPTY='1').stderr == ''


def test_fork(library):
    body = f"""
    assert cuda.cuInit(0) == 0
    {RETAIN}
    if os.fork() == 0:
        os._exit(cuda.cuCtxSetCurrent(p))
    assert os.waitstatus_to_exitcode(os.wait()[1]) == {NOT_INITIALIZED}
    assert cuda.cuCtxSetCurrent(p) == 0
    """
    assert run(library, body).stderr == ''


def test_host_cannot_access_the_device(library):
    body = f"""
    assert cuda.cuInit(0) == 0
    {RETAIN}
    cuda.cuCtxSetCurrent(p)
    assert cuda.cuMemAlloc_v2(q, ctypes.c_size_t(4)) == 0
    ctypes.string_at(p.value, 4)
    """
    result = run(library, body)
    assert (result.returncode, result.stderr) == (-signal.SIGSEGV, '')
