"""Kernels of the user's own, in processes of their own: chainerx.cuda.elementwise and kin."""

import pytest

START = """
import copy
import numpy as np
import pytest
import chainerx as chx
from chainerx import cuda

def on(x, dtype=None):
    return chx.array(x, dtype, device='cuda:0')

def host(x):
    return chx.to_numpy(x)

values = np.arange(12, dtype='float32').reshape(3, 4) / 4
"""

ELEMENTWISE = """
x, row = on(values), on(values[0])
kernel = cuda.elementwise('T x, T y, T s', 'T z', 'z = x * y + s', 'product_sum')
assert kernel is cuda.elementwise('T x, T y, T s', 'T z', 'z = x * y + s', 'product_sum')
assert (host(kernel(x, row, 2.5)) == values * values[0] + np.float32(2.5)).all()
for view in ['[::-1, ::-2]', '.T', '[1:2, 1]', '[0, 0]', '[:, :0]', '[:, None]']:
    wanted = eval('values' + view) * np.float32(0.5) + 1
    result = kernel(eval('x' + view), 0.5, 1)
    assert result.shape == wanted.shape and (host(result) == wanted).all(), view

# Dtypes, to new arrays and to given ones with strides.
double = cuda.elementwise('T x', 'T y', 'y = x; y += x', 'twice')
for dtype in ['bool', 'int8', 'uint64', 'float16', 'bfloat16', 'float64', 'complex64']:
    a = chx.array(np.arange(6).reshape(2, 3) % 4).astype(dtype).to_device('cuda:0')
    wanted = (a.astype(dtype) | a if dtype == 'bool' else a + a).to_device('native')
    assert chx.array_equal(double(a).to_device('native'), wanted), dtype
    if dtype in ('int8', 'uint64', 'float64', 'bfloat16'):
        continue
    out = chx.zeros((3, 4), dtype, device='cuda:0')
    assert double(a, out.T[:2, :]) is not None
    assert chx.array_equal(out.to_device('native')[:, :2].T, wanted), dtype
    assert float(abs(out[:, 2:].astype('float32')).sum()) == 0

z = on(values + 1j * values[::-1])
both = cuda.elementwise('T z, T w', 'T y', 'y = conj(z); y *= w; y -= z / (w + T(1, 1))', 'both')
wanted = host(z).conj() * host(z.T[:1].T) - host(z) / (host(z.T[:1].T) + 1 + 1j)
assert np.allclose(host(both(z, z[:, :1])), wanted, 1e-6)

# Outputs over inputs: elements are read before they are written.
long = np.arange(3000, dtype='float32')
for read, write in [('[:-1]', '[1:]'), ('[1:]', '[:-1]'), ('[::-1]', '[:]'), ('[:]', '[:]')]:
    z = on(long)
    double(eval('z' + read), eval('z' + write))
    assert (host(eval('z' + write)) == 2 * eval('long' + read)).all(), (read, write)

# Several outputs, the position, raw arrays, what a kernel has around the loop.
two = cuda.elementwise(
    'raw T x, int32 shift', 'T y, int64 at',
    'if (i == 2) continue; y = same(x[n - 1 - i]) + shift; at = i',
    'two', preamble='template <typename U> U same(U x) { return x; }', return_tuple=True)
y, at = two(x, 3, chx.zeros(5, 'float32', device='cuda:0'), chx.zeros(5, 'int64', device='cuda:0'))
assert host(at).tolist() == [0, 1, 0, 3, 4]
assert host(y).tolist() == [4.0, 3.75, 0, 3.25, 3.0]
gather = cuda.elementwise('raw T x', 'T y', 'int at[] = {1, (int)i}; y = x[at]', 'gather')
assert (host(gather(x.T, size=3)) == values.T[1, :3]).all()
where = cuda.elementwise(
    'T x', 'int64 y', 'y = _ind.get()[0] * 10 + _ind.get()[_ind.size() > 4]', 'where')
assert host(where(x[:, ::2])).tolist() == [[0, 1], [10, 11], [20, 21]]
assert two.return_tuple and 'two' in repr(two)

# Letters of scalars follow from arrays, else from their values.
assert cuda.elementwise('T x', 'T y', 'y = x', 'a')(3).dtype == chx.int64
assert cuda.elementwise('T x, T y', 'T z', 'z = x + y', 'b')(3, 0.5).dtype == chx.float64
assert cuda.elementwise('T x, T y', 'T z', 'z = x + y', 'b')(np.float32(3), x).dtype == chx.float32
print('done')
"""

REDUCTION = """
dot = cuda.reduce('T x, T y', 'T z', 'x * y', 'a + b', 'z = a', '0', 'dot')
mean = cuda.reduce(
    'T x, int64 size', 'T y', 'x', 'a + b', 'y = a / size', '0', 'mean', reduce_type='double')
least = cuda.reduce('T x', 'T y', 'x', 'a < b ? a : b', 'y = a', None, 'least')
large = np.random.RandomState(0).rand(3, 700, 2).astype('float32')
x = on(large)
for axis in [None, 0, -1, (0, 2), ()]:
    for keepdims in [False, True]:
        wanted = large.min(axis=axis, keepdims=keepdims)
        result = least(x, axis=axis, keepdims=keepdims)
        assert result.shape == wanted.shape and (host(result) == wanted).all(), (axis, keepdims)
        assert np.allclose(host(dot(x, x[0], axis=axis, keepdims=keepdims)),
                           (large * large[0]).sum(axis=axis, keepdims=keepdims), 1e-5)
assert np.allclose(host(mean(x.T, x.size)), large.mean(), 1e-6)
loss = cuda.reduce(
    'S t, raw T y, int32 columns, raw T factor', 'T out', 'y[_j * columns + t]', 'a + b',
    'out = a * -factor[0] * columns', '0', 'loss')
assert float(loss(on([3, 0, 1], 'int32'), on(values), 4, on([2], 'float32'))) == -8 * (
    values[0, 3] + values[1, 0] + values[2, 1])
first = cuda.reduce('T x', 'int64 y', 'x < 2 ? _J : 9', 'min(a, b)', 'y = a', None, 'first')
assert host(first(on([[5, 1], [1, 1], [3, 4]], 'int32'), axis=1)).tolist() == [1, 0, 9]
out = chx.zeros((2, 3), 'float32', device='cuda:0')
assert least(x, axis=1, out=out.T) is not None
assert (host(out).T == large.min(1)).all()
both = on(large)
least(both, axis=1, out=both[:, 0])
assert (host(both)[:, 0] == large.min(1)).all() and (host(both)[:, 1:] == large[:, 1:]).all()
assert host(dot(x[:, :0], 1, axis=1)).tolist() == [[0, 0]] * 3
assert dot(x[:0], 1, axis=1).shape == (0, 2)
for width in [1, 2, 255, 256, 257]:  # of a block's 256 threads
    assert float(least(on(-values.repeat(30)[:width]))) == -values.repeat(30)[:width].max()
    assert float(dot(on(np.ones(width, 'float16')), 1)) == width
with pytest.raises(ValueError, match='least: a reduction of nothing'):
    least(x[:, :0], axis=1)
with pytest.raises(chx.DimensionError, match='axis 3 of 3'):
    least(x, axis=3)
with pytest.raises(chx.DimensionError, match='twice'):
    least(x, axis=(0, -3))
with pytest.raises(TypeError):
    least(x, axis=0.5)
print('done')
"""

RAW = r'''
code = r"""
extern "C" {
__global__ void reverse(const float* x, float* y, char unused, int n, double scale) {
    extern __shared__ float buffer[];
    __shared__ float tile[8][9];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    buffer[threadIdx.x] = i < n ? x[i] : 0;
    tile[threadIdx.x / 8][threadIdx.x % 8] = scale;
    __syncthreads();
    const int other = min(n, (blockIdx.x + 1) * blockDim.x) - 1 - threadIdx.x;
    if (i < n) y[other] = buffer[threadIdx.x] * tile[7][7];
}
__global__ void __launch_bounds__(32) add_one(float* x) { atomicAdd(x + threadIdx.y, FACTOR); }
}
"""
raw = cuda.raw(code, 'reverse', options=('-DFACTOR=1.0f',))
x, y = on(values), chx.zeros((3, 4), 'float32', device='cuda:0')
raw((1, 1), (64,), (x, y, np.int8(0), np.int32(12), 2.0), shared_mem=256)
assert (host(y).ravel() == values.ravel()[::-1] * 2).all()
one = cuda.RawKernel(code, 'add_one', options=('-DFACTOR=1.0f',))
one((1,), (8, 4), (y[1],))
one((0,), (8, 4), (y,))
assert (host(y)[1] == values.ravel()[::-1][4:8] * 2 + 8).all()
for wrong, message in [
    (lambda: raw((1,), (64,), ('x',)), 'argument 0 is a str'),
    (lambda: raw((1,), (64,), (values,)), 'argument 0 is a ndarray'),
    (lambda: cuda.raw(code, 'reverse', backend='nvcc'), 'only NVRTC'),
    (lambda: cuda.raw(code, 'reverse', jit=True), 'unexpected arguments jit'),
]:
    with pytest.raises((TypeError, NotImplementedError), match=message):
        wrong()
with pytest.raises(ValueError, match='grid is'):
    raw((1, 1, 1, 1), (64,), ())
with pytest.raises(chx.BackendError, match='(?s)the kernel bad does not compile.*bad.*Source'):
    cuda.raw('extern "C" __global__ void bad() { nonsense; }', 'bad')((1,), (1,), (x,))
with pytest.raises(chx.BackendError):  # too few parameters
    raw((1,), (64,), (x, y))
# The device goes on.
assert float(x.sum()) == values.sum()
print('done')
'''

ERRORS = """
x = on(values)
kernel = cuda.elementwise('T x, float32 y', 'T z', 'z = x + y', 'plus')
wrong = [
    (TypeError, 'plus: 1 arguments, expected 2, or 3', lambda: kernel(x)),
    (TypeError, r'x is a numpy.ndarray.*chainerx.array\\(x, device', lambda: kernel(values, x)),
    (TypeError, 'y is a builtins.list', lambda: kernel(x, [1])),
    (chx.DtypeError, 'y has dtype int32, expected float32', lambda: kernel(x, x.astype('int32'))),
    (chx.DimensionError, r'not broadcast: x \\(3, 4\\), y \\(3,\\)', lambda: kernel(x, x[:, 0])),
    (chx.DimensionError, r'z has shape \\(4,\\), expected \\(3, 4\\)', lambda: kernel(x, x, x[0])),
    (chx.DtypeError, 'z has dtype float64, but T is float32',
     lambda: kernel(x, x, x.astype('float64'))),
    (TypeError, 'z is a scalar', lambda: kernel(x, x, 1)),
    (chx.DeviceError, 'cuda:0 and of cuda:1', lambda: kernel(x, x.to_device('cuda:1'))),
    (chx.DeviceError, 'arrays of native:0', lambda: kernel(x.to_device('native'), 1)),
    (chx.DtypeError, 'what the type U', lambda: cuda.elementwise('T x', 'U y', 'y = x', 'u')(x)),
    (ValueError, 'size is 3', lambda: kernel(x, x, size=3)),
    (ValueError, 'size must be given',
     lambda: cuda.elementwise('raw T x', 'T y', 'y = x[i]', 'r')(x)),
    (TypeError, 'float33, expected a letter',
     lambda: cuda.elementwise('float33 x', 'T y', '', 'e')),
    (ValueError, "'T' is no parameter", lambda: cuda.elementwise('T', 'T y', '', 'e')),
    (ValueError, 'named x', lambda: cuda.elementwise('T x', 'T x', '', 'e')),
    (ValueError, 'named i', lambda: cuda.elementwise('T i', 'T x', '', 'e')),
    (ValueError, 'no output', lambda: cuda.elementwise('T x', '', '', 'e')),
    (ValueError, 'identifier', lambda: cuda.elementwise('T x', 'T y', '', 'a b')),
    (chx.BackendError, "(?s)'q' was not declared.*z = q",
     lambda: cuda.elementwise('T x', 'T z', 'z = q', 'e')(x)),
]
for error, message, call in wrong:
    with pytest.raises(error, match=message):
        call()
# Graphs: results are in none, and what is in one is not written.
x.require_grad()
assert not kernel(x, 1.0).is_backprop_required()
y = x * 2
with pytest.raises(chx.ChainerxError, match='z is part of a graph'):
    kernel(x, x, y)
w = on(values).require_grad()
data = on(values)
z = w * data
kernel(1.0, 2.0, data[0, 0])
with pytest.raises(chx.GradientError):
    chx.backward(z.sum())
with pytest.raises(ValueError, match='plus: an output is read-only'):
    kernel(x, 1.0, chx.broadcast_to(data[0], (3, 4)))
with pytest.raises(TypeError):
    copy.deepcopy(next(iter(kernel._compiled.values())))
# Streams: memory lives until the kernel has run.
slow = cuda.elementwise('T x', 'T y', 'y = x + 1', 'plus_one')
with cuda.Stream():
    z = on(values)
    for _ in range(50):
        z = slow(z)
    assert (host(z) == values + 50).all()
print('done')
"""

CHAINER = """
import chainer
from chainer import Variable
from chainer.backends import cuda as backend

class Square(chainer.FunctionNode):
    def forward_gpu(self, xs):
        assert type(xs[0]) is chx.ndarray and not xs[0].is_backprop_required()
        self.retain_inputs((0,))
        return backend.elementwise('T x', 'T y', 'y = x * x', 'square')(xs[0]),

    def backward(self, indexes, gs):
        x, = self.get_retained_inputs()
        return 2 * x * gs[0],

class Old(chainer.Function):
    def forward_gpu(self, xs):
        return backend.elementwise('T x', 'T y', 'y = x * x', 'square')(xs[0]),

    def backward_gpu(self, xs, gs):
        return backend.elementwise('T x, T g', 'T y', 'y = 2 * x * g', 'grad')(xs[0], gs[0]),

class ByModule(chainer.FunctionNode):
    def forward(self, xs):
        self.retain_inputs((0,))
        xp = chainer.backend.get_array_module(*xs)
        assert xp is chx
        return xp.square(xs[0]),

    backward = Square.backward

for function in [Square, Old, ByModule]:
    x = Variable(on([1, 2, 3], 'float32'))
    y = Old()(x) if function is Old else function().apply((x,))[0]
    y.grad = on([1, 1, 2], 'float32')
    y.backward()
    assert host(y.array).tolist() == [1, 4, 9] and host(x.grad).tolist() == [2, 4, 12], function

class Rule(chainer.optimizer.UpdateRule):
    def init_state(self, param):
        self.state['v'] = chainer.backend.get_array_module(param.data).zeros_like(param.data)

    def update_core_gpu(self, param):
        backend.elementwise('T grad', 'T p, T v', 'v = v / 2 + grad; p -= v', 'momentum')(
            param.grad, param.data, self.state['v'])

p = chainer.Parameter(on([1, 2], 'float32'))
p.grad = on([1, 1], 'float32')
rule = Rule()
rule.update(p)
rule.update(p)
assert host(p.array).tolist() == [-1.5, -0.5] and host(rule.state['v']).tolist() == [1.5, 1.5]

# Without a forward for GPUs the error says so.
class OnlyCpu(chainer.FunctionNode):
    def forward_cpu(self, xs):
        return xs

with pytest.raises(NotImplementedError, match='OnlyCpu has neither forward nor forward_gpu'):
    OnlyCpu().apply((on([1.0]),))
print('done')
"""


@pytest.mark.parametrize('program', ['ELEMENTWISE', 'REDUCTION', 'RAW', 'ERRORS', 'CHAINER'])
def test_kernels(run, program):
    assert run(START + globals()[program]).endswith('done\n')


def test_the_driver_finds_bad_addresses_of_raw_kernels(run):
    program = """
x = chx.zeros(64, 'float32', device='cuda:0')
code = 'extern "C" __global__ void beyond(float* x) { x[1LL << 28] = 0; }'
with pytest.raises(chx.BackendError, match='ILLEGAL_ADDRESS'):
    cuda.raw(code, 'beyond')((1,), (1,), (x,))
    cuda.synchronize()
print('done')
"""
    assert run(START + program, CHECKED=1).endswith('done\n')
