"""im2col and col2im against loops over elements, and the source of the kernels against NumPy."""

from __future__ import annotations

import ctypes
import itertools
import shutil
import subprocess

import chainer
import chainerx
import numpy as np
import pytest
from chainer.backends import cuda
from chainer.utils import conv, conv_nd, conv_nd_kernel


@pytest.mark.parametrize(
    ('args', 'out', 'deconv_out'),
    [
        ((7, 3, 2, 1), 4, 13),
        ((7, 3, 2, 1, True), 4, 12),
        ((7, 3, 2, 0, False, 2), 2, 17),
        ((7, 3, 2, 0, True, 2), 2, 16),
        ((8, 3, 3, 0, True), 3, 22),
        ((8, 3, 3, 0), 2, 24),
        ((2, 3, 1, 0), 0, 4),
    ],
)
def test_outsize(args, out, deconv_out):
    assert conv.get_conv_outsize(*args) == out
    assert conv.get_deconv_outsize(*args) == deconv_out
    assert chainer.utils.get_conv_outsize is conv_nd.get_conv_outsize is conv.get_conv_outsize


CASES = [
    # shape, ksize, stride, pad, dilate, cover_all
    ((1, 1, 4), (2,), (1,), (0,), (1,), False),
    ((2, 3, 7), (3,), (2,), (1,), (2,), True),
    ((2, 3, 5, 6), (3, 2), (1, 1), (0, 0), (1, 1), False),
    ((2, 3, 5, 6), (3, 2), (2, 3), (1, 2), (1, 1), False),
    ((2, 3, 5, 6), (3, 2), (2, 3), (1, 2), (1, 1), True),
    ((1, 2, 8, 7), (3, 2), (3, 2), (2, 1), (2, 3), True),
    ((0, 2, 4, 4), (2, 2), (1, 1), (0, 0), (1, 1), False),
    ((2, 1, 4, 5, 6), (2, 3, 2), (1, 2, 1), (0, 1, 1), (1, 1, 2), False),
]


def places(shape, ksize, stride, pad, dilate, cover_all):
    """The output sizes, and pairs of indices into columns and into the image (or None)."""
    dims = shape[2:]
    outs = tuple(
        conv.get_conv_outsize(*args[:4], cover_all, args[4])
        for args in zip(dims, ksize, stride, pad, dilate, strict=True)
    )
    pairs = []
    for k in itertools.product(*map(range, ksize)):
        for o in itertools.product(*map(range, outs)):
            x = tuple(k[i] * dilate[i] + o[i] * stride[i] - pad[i] for i in range(len(dims)))
            inside = all(0 <= x[i] < dims[i] for i in range(len(dims)))
            pairs.append(((..., *k, *o), (..., *x) if inside else None))
    return outs, pairs


def expected_columns(img, pval, case):
    outs, pairs = places(*case)
    col = np.full((*img.shape[:2], *case[1], *outs), pval, img.dtype)
    for there, here in pairs:
        if here is not None:
            col[there] = img[here]
    return col


def expected_image(col, case):
    img = np.zeros(case[0], col.dtype)
    for there, here in places(*case)[1]:
        if here is not None:
            img[here] += col[there]
    return img


def images(case, dtype='f'):
    return np.random.RandomState(0).randint(1, 100, case[0]).astype(dtype)


@pytest.mark.parametrize('case', CASES)
@pytest.mark.parametrize(('dtype', 'pval'), [('f', 0), ('d', -1), ('i', 7)])
def test_im2col_nd_cpu(case, dtype, pval):
    img = images(case, dtype)
    _, ksize, stride, pad, dilate, cover_all = case
    col = conv_nd.im2col_nd_cpu(img, ksize, stride, pad, pval, cover_all, dilate)
    assert col.dtype == img.dtype
    assert col.flags.c_contiguous
    np.testing.assert_array_equal(col, expected_columns(img, pval, case))
    if len(ksize) == 2:
        args = (*ksize, *stride, *pad)
        same = conv.im2col_cpu(img, *args, pval, cover_all, *dilate)
        np.testing.assert_array_equal(same, col)


@pytest.mark.parametrize('case', CASES)
def test_col2im_nd_cpu(case):
    shape, ksize, stride, pad, dilate, _ = case
    col = expected_columns(images(case), 3, case)
    img = conv_nd.col2im_nd_cpu(col, stride, pad, shape[2:], dilate)
    assert (img.shape, img.dtype) == (shape, col.dtype)
    np.testing.assert_array_equal(img, expected_image(col, case))
    if len(ksize) == 2:
        same = conv.col2im_cpu(col, *stride, *pad, *shape[2:], *dilate)
        np.testing.assert_array_equal(same, img)


@pytest.mark.parametrize('layout', ['transposed', 'negative'])
def test_views(layout):
    img = np.arange(2 * 3 * 5 * 6.0).reshape(2, 3, 5, 6)
    img = img.transpose(1, 0, 3, 2) if layout == 'transposed' else img[:, ::-1, ::-1, ::2]
    args = (2, 2, 1, 1, 0, 0)
    col = conv.im2col_cpu(img, *args)
    np.testing.assert_array_equal(col, conv.im2col_cpu(img.copy(), *args))
    cut = col[:, ::-1, :, ::-1]
    sizes = (1, 1, 0, 0, *img.shape[2:])
    np.testing.assert_array_equal(conv.col2im_cpu(cut, *sizes), conv.col2im_cpu(cut.copy(), *sizes))


def test_given_sizes_of_the_output():
    img = np.arange(20.0).reshape(1, 1, 4, 5)
    all_of_it = conv.im2col_cpu(img, 3, 3, 2, 2, 1, 1)
    part = conv.im2col_cpu(img, 3, 3, 2, 2, 1, 1, out_h=1, out_w=2)
    np.testing.assert_array_equal(part, all_of_it[..., :1, :2])
    more = conv.im2col_cpu(img, 3, 3, 2, 2, 1, 1, out_h=4, out_w=3)
    np.testing.assert_array_equal(more[..., :2, :], all_of_it)
    assert not more[..., 3, :].any()


@pytest.mark.parametrize('xp', [np, chainerx])
def test_any_kind_of_array(xp):
    img = xp.array(np.arange(40, dtype='f').reshape(1, 2, 4, 5))
    device = chainer.backend.get_device_from_array(img)
    columns = [
        conv.im2col(img, 3, 2, 1, 1, 0, 1, cover_all=True, dy=1, dx=2),
        conv_nd.im2col_nd(img, (3, 2), (1, 1), (0, 1), cover_all=True, dilate=(1, 2)),
    ]
    back = [
        conv.col2im(columns[0], 1, 1, 0, 1, 4, 5, 1, 2),
        conv_nd.col2im_nd(columns[1], (1, 1), (0, 1), (4, 5), (1, 2)),
    ]
    assert all(device.is_array_supported(a) for a in columns + back)
    expected = conv.im2col_cpu(
        device.send(img) if xp is np else chainerx.to_numpy(img), 3, 2, 1, 1, 0, 1, 0, True, 1, 2
    )
    for col in columns:
        np.testing.assert_array_equal(cuda.to_cpu(col), expected)
    for image in back:
        np.testing.assert_array_equal(
            cuda.to_cpu(image), conv.col2im_cpu(expected, 1, 1, 0, 1, 4, 5, 1, 2)
        )


def test_errors():
    img = np.zeros((1, 1, 4, 5))
    with pytest.raises(AssertionError, match='Height in the output should be positive'):
        conv.im2col_cpu(img, 9, 1, 1, 1, 0, 0)
    with pytest.raises(AssertionError, match='Width in the output should be positive'):
        conv.im2col_cpu(img, 1, 9, 1, 1, 0, 0)
    with pytest.raises(AssertionError, match='Output sizes should be positive'):
        conv_nd.im2col_nd_cpu(img, (9, 9), (1, 1), (0, 0))
    with pytest.raises(AssertionError, match='numbers of dimensions differ'):
        conv_nd.im2col_nd_cpu(img, (2,), (1,), (0,))
    with pytest.raises(AssertionError, match='numbers of dimensions differ'):
        conv_nd.col2im_nd_cpu(np.zeros((1, 1, 2, 2, 2, 2)), (1,), (1, 1), (3, 3))


def test_as_tuple():
    assert conv_nd.as_tuple(3, 2) == (3, 3)
    assert conv_nd.as_tuple(np.int32(3), 2) == (3, 3)
    assert conv_nd.as_tuple([3, 4], 2) == (3, 4)
    with pytest.raises(AssertionError, match='expected 2 values'):
        conv_nd.as_tuple((3,), 2)


@pytest.mark.skipif(cuda.available, reason='CuPy is here')
def test_gpu_without_cupy():
    img, col = np.zeros((1, 1, 4, 4)), np.zeros((1, 1, 2, 2, 3, 3))
    for call in (
        lambda: conv.im2col_gpu(img, 2, 2, 1, 1, 0, 0),
        lambda: conv_nd.im2col_nd_gpu(img, (2, 2), (1, 1), (0, 0)),
        lambda: conv.col2im_gpu(col, 1, 1, 0, 0, 4, 4),
        lambda: conv_nd.col2im_nd_gpu(col, (1, 1), (0, 0), (4, 4)),
    ):
        with pytest.raises(RuntimeError, match='CUDA environment'):
            call()


@pytest.mark.parametrize(
    ('kernel', 'name', 'source', 'result'),
    [
        (conv_nd_kernel.Im2colNDKernel, 'im2col', 'img', 'col'),
        (conv_nd_kernel.Col2imNDKernel, 'col2im', 'col', 'img'),
    ],
)
def test_kernel_interface(kernel, name, source, result):
    in_params, out_params, _, kernel_name = kernel.generate(2)
    sizes = [f'int32 {p}_{i}' for p in ('d', 'out', 'k', 's', 'p', 'di') for i in (0, 1)]
    assert in_params == ', '.join([f'raw T {source}', *sizes])
    assert out_params == f'T {result}'
    assert kernel_name == f'{name}_2d'


def run_kernel(kernel, source, out_shape, numbers, folder):
    """Runs a kernel as CuPy would, element by element, in C."""
    compiler = shutil.which('cc')
    if compiler is None:
        pytest.skip('no C compiler here')
    in_params, out_params, operation, name = kernel.generate(len(numbers) // 6)
    (_, raw), (_, out) = in_params.split(', ')[0].rsplit(' ', 1), out_params.split()
    sizes = ''.join(f', int {p.split()[1]}' for p in in_params.split(', ')[1:])
    body = (
        operation.replace(f'{out} = ', 'out[i] = ')
        if out == 'col'
        else operation.replace(f'\n{out} = ', '\nout[i] = ')
    )
    text = (
        '#include <stdbool.h>\ntypedef float T;\n'
        f'void run(const T* {raw}, T* out, int n{sizes}) '
        f'{{ for (int i = 0; i < n; ++i) {{ {body} }} }}'
    )
    (folder / 'kernel.c').write_text(text)
    library = folder / f'{name}.so'
    subprocess.run(
        [compiler, '-shared', '-fPIC', '-o', str(library), str(folder / 'kernel.c')], check=True
    )
    result = np.empty(out_shape, 'f')
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (np.ascontiguousarray(source), result)]
    ctypes.CDLL(str(library)).run(*pointers, result.size, *map(int, numbers))
    return result


@pytest.mark.parametrize('case', [c for c in CASES if c[0][0]])
def test_kernels_compute(case, tmp_path):
    shape, ksize, stride, pad, dilate, _ = case
    img = images(case)
    col = expected_columns(img, 0, case)
    numbers = [*shape[2:], *col.shape[2 + len(ksize) :], *ksize, *stride, *pad, *dilate]
    made = run_kernel(conv_nd_kernel.Im2colNDKernel, img, col.shape, numbers, tmp_path)
    np.testing.assert_array_equal(made, col)
    made = run_kernel(conv_nd_kernel.Col2imNDKernel, col, img.shape, numbers, tmp_path)
    np.testing.assert_array_equal(made, expected_image(col, case))
