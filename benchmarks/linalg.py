"""Factorizations, decompositions, contractions, FFTs, against NumPy; PyTorch for information."""

import chainerx
import numpy as np
from harness import main, torch

# f: the module linalg. a: nonsingular matrices; s: positive definite ones.
LINALG = {
    'inv': 'f.inv(a)',
    'solve': 'f.solve(a, b)',
    'det': 'f.det(a)',
    'slogdet': 'f.slogdet(a)',
    'cholesky': 'f.cholesky(s)',
}
# Both libraries call LAPACK; float32.
DECOMPOSITIONS = {
    'svd': 'f.svd(a)',
    'svdvals': 'f.svdvals(a)',
    'eigh': 'f.eigh(s)',
    'eigvalsh': 'f.eigvalsh(s)',
    'qr': 'f.qr(a)',
    'pinv': 'f.pinv(a)',
    'eig': 'f.eig(a)',
}
SIZES = [(8,), (64,), (512,), (1000, 8), (32, 64)]  # number of matrices, if not one, and rows
COMPLEX = ('solve', 'inv', 'cholesky', 'eigh', 'svd')  # for a single complex matrix

# Compared with PyTorch; NumPy has no matrix product for the first ones.
EINSUM = [
    ('bij,bjk->bik', (32, 64, 64), (32, 64, 64)),
    ('bij,bjk->bik', (1000, 8, 8), (1000, 8, 8)),
    ('bij,bjk->bik', (8, 256, 256), (8, 256, 256)),
    ('bqhd,bkhd->bhqk', (4, 64, 8, 32), (4, 64, 8, 32)),
    ('ijk,kl->ijl', (32, 64, 64), (64, 64)),
    ('ij,ij->i', (1000, 64), (1000, 64)),
    ('i,j->ij', (1000,), (1000,)),
]

# f: the module fft.
FFT = [
    ('fft', (64,)),
    ('fft', (1024,)),
    ('fft', (65536,)),
    ('fft', (1000,)),
    ('fft', (1009,)),
    ('fft', (100, 1024)),
    ('fft', (1000, 64)),
    ('ifft', (1024,)),
    ('fft2', (512, 512)),
    ('rfft', (1024,)),
    ('rfft', (65536,)),
    ('rfft', (100, 1024)),
    ('irfft', (100, 513)),
    ('rfft2', (512, 512)),
]


def add(bench, name, statement, module, arrays):
    def of(convert, library):
        return {k: convert(x) for k, x in arrays.items()} | {'f': getattr(library, module)}

    variables = {'chainerx': of(chainerx.array, chainerx), 'numpy': of(np.asarray, np)}
    if torch is not None:
        variables['torch'] = of(torch.from_numpy, torch)
    bench.row(name, dict.fromkeys(variables, statement), variables, against='numpy')


def add_einsum(bench, subscripts, shapes, rng):
    """Two rows, as the peers' times differ much."""
    a, b = (rng.normal(size=shape).astype('float32') for shape in shapes)
    variables = {
        'chainerx': {'f': chainerx.einsum, 'a': chainerx.array(a), 'b': chainerx.array(b)},
        'numpy': {'f': np.einsum, 'a': a, 'b': b},
    }
    if torch is not None:
        variables['torch'] = {'f': torch.einsum, 'a': torch.from_numpy(a), 'b': torch.from_numpy(b)}
    title = f'einsum {subscripts}, {" x ".join(map(str, shapes[0]))}'
    for peer in variables:
        if peer == 'chainerx':
            continue
        pair = {name: variables[name] for name in ('chainerx', peer)}
        statement = f"f('{subscripts}', a, b)"
        bench.row(f'{title}, {peer}', dict.fromkeys(pair, statement), pair, against=peer)


def add_complex(bench, rng):
    statements = LINALG | DECOMPOSITIONS
    for n in (8, 64, 512):
        a = rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n)) + 2 * n**0.5 * np.eye(n)
        b = rng.normal(size=(n, 4)) + 1j * rng.normal(size=(n, 4))
        arrays = {'a': a, 'b': b, 's': a @ a.conj().T}
        for name in COMPLEX:
            title = f'{name}, {n} x {n}, complex128'
            if bench.wants(title):
                add(bench, title, statements[name], 'linalg', arrays)


def rows(bench):
    rng = np.random.default_rng(0)
    add_complex(bench, np.random.default_rng(1))
    for dtype in ('float32', 'float64'):
        for *batch, n in SIZES:
            a = (rng.normal(size=(*batch, n, n)) + 2 * n**0.5 * np.eye(n)).astype(dtype)
            b = rng.normal(size=(*batch, n, 4)).astype(dtype)
            s = (a @ np.swapaxes(a, -1, -2)).astype(dtype)
            shape = ' x '.join(map(str, (*batch, n, n)))
            statements = LINALG | (DECOMPOSITIONS if dtype == 'float32' else {})
            for name, statement in statements.items():
                title = f'{name}, {shape}, {dtype}'
                if bench.wants(title):
                    add(bench, title, statement, 'linalg', {'a': a, 'b': b, 's': s})
        if dtype == 'float32':
            for subscripts, *shapes in EINSUM:
                add_einsum(bench, subscripts, shapes, rng)
        pair = {name: rng.normal(size=(1000, 64)).astype(dtype) for name in 'ab'}
        add(bench, f'vecdot, 1000 x 64, {dtype}', 'f.vecdot(a, b)', 'linalg', pair)
        for name, shape in FFT:
            x = rng.normal(size=shape).astype(dtype)
            if not name.startswith('r'):
                x = (x + 1j * rng.normal(size=shape)).astype(np.result_type(dtype, np.complex64))
            title = f'{name}, {" x ".join(map(str, shape))}, {x.dtype}'
            add(bench, title, f'f.{name}(x)', 'fft', {'x': x})


if __name__ == '__main__':
    main(rows, 'linalg', rounds=20)
