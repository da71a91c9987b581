"""Losses, norms and reductions in float16 and bfloat16 agree with float64 for all operands.

Operands are large (squares and sums overflow float16 above 65,504), tiny (squares underflow below
2e-4), or 10,000 in number, which a sum in half precision would lose. Only results beyond the range
of the dtype may be infinite.
"""

import dataclasses
import typing as tp

import chainer
import chainer.functions as F
import chainerx
import ml_dtypes
import numpy as np
import pytest

SCALES = {'large': 1e3, 'larger': 2e4, 'small': 1e-4, 'tiny': 1e-7, 'ones': 1.0}
DTYPES = {'float16': np.float16, 'bfloat16': ml_dtypes.bfloat16, 'float64': np.float64}


@dataclasses.dataclass
class Row:
    """A function of float arrays whose shapes depend on a number n of rows or columns.

    integers: arrays that are appended. without: scales at which only overflow is checked, or
    whose results depend on the last bit of a product.
    """

    name: str
    function: tp.Callable
    shapes: tp.Callable
    integers: tp.Callable = lambda n: ()
    without: tuple = ()

    def __str__(self):
        return self.name


def vectors(count):
    return lambda n: [(n,)] * count


def tall(count):
    return lambda n: [(n // 4, 4)] * count


def wide(count):
    return lambda n: [(4, n // 4)] * count


def square(n):
    return [(4, 8)] * 2


def ints(*shape, high, low=0):
    return np.random.RandomState(2).randint(low, high, shape).astype('i')


def labels(n):
    return (ints(n // 4, high=4),)


def filled(x, shape, value):
    """A constant of the dtype and on the device of ``x``."""
    return send(np.full(shape, value), x.dtype.name, x.device)


def like(x, value):
    return filled(x, x.shape, value)


def scaled(function):
    """A normalization of rows, with scale 1 and shift 0."""
    return lambda x: function(x, filled(x, x.shape[1], 1), filled(x, x.shape[1], 0))


def group_normalization(x):
    channels = F.expand_dims(F.transpose(x), 0)
    return scaled(lambda x, gamma, beta: F.group_normalization(x, 2, gamma, beta))(channels)


def renormalization(x, gamma, beta):
    mean, var = (send(np.full(4, value), 'float32', x.device) for value in (0, 1))
    return F.batch_renormalization(x, gamma, beta, 2.0, 0.5, running_mean=mean, running_var=var)


def negative_sampling(x, w, t):
    return F.negative_sampling(x, t, w, lambda shape: x.device.send(np.full(shape, 2, 'i')), 3)


def ctc(x0, x1, t):
    return F.connectionist_temporal_classification([x0, x1], t, 0)


def crf1d(cost, x0, x1, t0, t1):
    return F.crf1d(cost, [x0, x1], [t0, t1])


def discriminative(x, labels):
    x = F.reshape(x, (2, 2, -1, 2))
    return sum(F.discriminative_margin_based_clustering_loss(x, labels, 0.5, 1.5, 2)[:2])


ROWS = [
    Row('softmax_cross_entropy', F.softmax_cross_entropy, tall(1), labels),
    Row(
        'sigmoid_cross_entropy',
        F.sigmoid_cross_entropy,
        tall(1),
        lambda n: (ints(n // 4, 4, high=2),),
    ),
    Row('mean_squared_error', F.mean_squared_error, vectors(2)),
    Row('mean_absolute_error', F.mean_absolute_error, vectors(2)),
    Row('squared_error', F.squared_error, vectors(2)),
    Row('absolute_error', F.absolute_error, vectors(2)),
    Row('huber_loss', lambda x, t: F.huber_loss(x, t, 1.0), tall(2)),
    Row('gaussian_nll', lambda x, m: F.gaussian_nll(x, m, like(x, 0.125), 'mean'), vectors(2)),
    Row(
        'gaussian_nll of ln_var',
        lambda v: F.gaussian_nll(like(v, 1), like(v, 0), v),
        vectors(1),
        without=('large', 'larger', 'tiny'),
    ),
    Row(
        'gaussian_kl_divergence',
        lambda m: F.gaussian_kl_divergence(m, like(m, 0), 'mean'),
        vectors(1),
    ),
    Row(
        'gaussian_kl_divergence of ln_var',
        lambda v: F.gaussian_kl_divergence(like(v, 0), v),
        vectors(1),
        without=('large', 'larger', 'tiny'),
    ),
    Row('bernoulli_nll', lambda y: F.bernoulli_nll(like(y, 1), y, 'mean'), vectors(1)),
    Row('contrastive', F.contrastive, tall(2), lambda n: (ints(n // 4, high=2),)),
    Row('contrastive of many features', F.contrastive, wide(2), lambda n: (ints(4, high=2),)),
    Row('triplet', F.triplet, tall(3)),
    Row('triplet of many features', F.triplet, wide(3)),
    Row('hinge', F.hinge, tall(1), labels),
    Row('hinge L2', lambda x, t: F.hinge(x, t, 'L2'), tall(1), labels),
    Row('cross_covariance', F.cross_covariance, tall(2)),
    Row('decov', F.decov, tall(1)),
    Row('r2_score', F.r2_score, tall(2)),
    Row('ctc', ctc, lambda n: [(2, 4)] * 2, lambda n: (np.int32([[1], [2]]),)),
    Row(
        'crf1d',
        crf1d,
        lambda n: [(4, 4), (n // 4, 4), (n // 4, 4)],
        lambda n: labels(n) * 2,
    ),
    Row(
        'black_out',
        lambda x, w, t, samples: F.black_out(x, t, w, samples),
        square,
        lambda n: (ints(4, high=2), ints(4, 2, high=4, low=2)),
        without=('large', 'larger'),
    ),
    Row('negative_sampling', negative_sampling, square, lambda n: (ints(4, high=2),)),
    Row(
        'discriminative loss',
        discriminative,
        tall(1),
        lambda n: (ints(2, n // 8, 2, high=3),),
    ),
    Row('normalize', F.normalize, wide(1)),
    Row('layer_normalization', scaled(F.layer_normalization), wide(1)),
    Row('rms_norm', lambda x: F.rms_norm(x, filled(x, x.shape[1], 1)), wide(1)),
    Row('group_normalization', group_normalization, tall(1)),
    Row('batch_normalization', scaled(F.batch_normalization), tall(1)),
    Row('batch_renormalization', scaled(renormalization), tall(1)),
    Row(
        'decorrelated_batch_normalization',
        lambda x: F.decorrelated_batch_normalization(x, groups=2),
        tall(1),
    ),
    Row('local_response_normalization', F.local_response_normalization, tall(1)),
    Row('logsumexp', F.logsumexp, vectors(1)),
    Row('softmax', F.softmax, wide(1)),
    Row('log_softmax', F.log_softmax, tall(1)),
    Row('average', F.average, vectors(1)),
    Row('average with weights', lambda x, w: F.average(x, weights=abs(w)), vectors(2)),
    Row(
        'average of rows',
        lambda x, w: F.average(x, 0, weights=abs(w)),
        lambda n: [(n // 4, 4), (n // 4,)],
    ),
    Row('sum', F.sum, vectors(1)),
    Row('sum of rows', lambda x: F.sum(x, 0), tall(1)),
    Row('cumsum', F.cumsum, vectors(1)),
    Row('sum_to', lambda x: F.sum_to(x, (4, 1)), wide(1)),
    Row('batch_l2_norm_squared', F.batch_l2_norm_squared, wide(1)),
    Row('max', F.max, vectors(1)),
    Row('inv', F.inv, lambda n: [(3, 3)]),
    Row('det', F.det, lambda n: [(3, 3)]),
    Row('einsum', lambda x, w: F.einsum('ij,kj->ik', x, w), wide(2)),
    Row('matmul', lambda x, w: F.matmul(x, w, transb=True), wide(2)),
    Row('linear', F.linear, wide(2)),
    Row(
        'average_pooling_1d',
        lambda x: F.average_pooling_1d(F.expand_dims(x, 0), x.shape[1]),
        wide(1),
    ),
]


def send(x, dtype, device):
    x = np.asarray(x).astype(DTYPES.get(dtype, dtype))
    # NumPy's buffers know no bfloat16.
    return device.send(x) if dtype != 'bfloat16' else chainerx.array(x.astype('f')).astype(dtype)


def to_float64(x):
    return None if x is None else chainer.get_device('@numpy').send(x.astype('float64'))


def evaluate(row, arrays, dtype, n):
    """The value, and gradients, in float64."""
    device = chainer.get_device('native:0' if dtype == 'bfloat16' else '@numpy')
    xs = [chainer.Variable(send(x, dtype, device)) for x in arrays]
    y = row.function(*xs, *map(device.send, row.integers(n)))
    assert y.dtype == dtype
    y.grad = send(1 + 0.5 * np.cos(np.arange(y.size)).reshape(y.shape), dtype, device)
    y.backward()
    return [to_float64(y.array), *(to_float64(x.grad) for x in xs)]


@pytest.mark.parametrize('dtype', ['float16', 'bfloat16'])
@pytest.mark.parametrize('row', ROWS, ids=str)
def test_as_float64_says(row, dtype):
    # The type checks of v7's functions do not know bfloat16.
    with chainer.using_config('type_check', dtype != 'bfloat16'):
        for scale, n in [*((s, 40) for s in SCALES), ('large', 10000), ('small', 10000)]:
            if scale in row.without:
                continue
            random = np.random.RandomState(1)
            arrays = []
            for shape in row.shapes(n):
                x = random.uniform(0.5, 1.5, shape) * random.choice([-1, 1], shape) * SCALES[scale]
                arrays.append(x.astype(DTYPES[dtype]).astype('d'))
            found = evaluate(row, arrays, dtype, n)
            known = evaluate(row, arrays, 'float64', n)
            for place, (y, exact) in enumerate(zip(found, known, strict=True)):
                assert (y is None) == (exact is None)
                if y is not None:
                    check(y, exact, dtype, f'{place} of {scale} {n}')


def check(y, exact, dtype, message):
    limits = ml_dtypes.finfo(DTYPES[dtype])
    eps, most = float(limits.eps), float(limits.max)
    fits = np.abs(exact) < most * (1 - 4 * eps)
    # A difference has the absolute error of its operands.
    size = np.abs(exact).clip(max=most).max(initial=0)
    limit = 4 * eps * (np.abs(exact) + size) + 4 * float(limits.smallest_subnormal)
    with np.errstate(invalid='ignore'):
        bad = fits & ~(np.abs(y - exact) <= limit)
        bad |= ~fits & ~(np.abs(y) >= most * (1 - 8 * eps))
    assert not bad.any(), f'{message}: {y[bad][:3]}, expected {exact[bad][:3]}'
