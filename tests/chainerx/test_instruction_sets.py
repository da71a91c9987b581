"""The op table under every instruction set that is built and that this processor has.

The process of the tests has the best one; each other gets a process of its own.
"""

import functools
import json
import os
import pathlib
import subprocess
import sys

import pytest
from cases import CASES

FOLDER = pathlib.Path(__file__).parent
SETS = ('sse4', 'avx2', 'avx512', 'neon')


def child(name, *arguments, timeout=3000):
    given = [p for p in os.environ.get('PYTHONPATH', '').split(os.pathsep) if p]
    path = os.pathsep.join(os.path.abspath(p) for p in (FOLDER, *given))
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, 'CHAINERX_ISA': name, 'PYTHONPATH': path},
        cwd=FOLDER,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


USE = 'import chainerx; chainerx.ones(1)'  # which checks the set


@functools.cache
def available():
    """The available sets, from the least to the most capable."""
    return [name for name in SETS if child(name, '-c', USE).returncode == 0]


def test_unknown_and_missing_sets_are_errors():
    assert available()
    for name in {'avx3', *SETS} - {*available()}:
        done = child(name, '-c', USE)
        assert done.returncode == 1, done.stderr
        assert f"CHAINERX_ISA is '{name}'" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize('name', SETS)
def test_table(name, request):
    if name not in available()[:-1]:
        pytest.skip('not here, or what all other tests run on')
    names = ['elementwise_accuracy', 'derivatives', 'integer_loops']
    files = [f'elementwise/test_{name}.py' for name in names]
    files += ['test_ops.py', 'linalg/test_linalg.py']
    options = ['-q', '-x', '-p', 'no:cacheprovider', '-p', 'no:randomly']
    # The units that are built for each set, which excludes loops over complex numbers.
    chosen = 'border or accuracy or derivatives or integer_loops or linalg'
    chosen = f'{chosen} or (forward and (float32 or float64))'
    runs = [['-k', chosen]]
    if request.config.getoption('--whole-table', default=False):
        runs.append(['-k', f'not ({chosen})', '--sample', '1'])
    for rows in runs:
        done = child(name, '-m', 'pytest', *options, *rows, *files)
        assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
        assert ' passed' in done.stdout


# Prints a digest of the results and of the gradients for each row of the table, dtype and call.
DIGESTS = """
import hashlib, json, sys
import chainerx as chx
from cases import CASES
from cases._harness import Prepared, as_list, to_numpy

found = {}
for case in CASES:
    if case.ref is None:
        continue
    for dtype in ('float16', 'float32', 'float64', 'int32', 'complex64'):
        if dtype not in case.dtypes:
            continue
        for spec in [*case.calls[:2], *([case.big] if case.big is not None else [])]:
            prepared = Prepared(case, spec, dtype, device=chx.get_default_device())
            targets = prepared.differentiable() if case.order and case.diff != () else []
            for n in targets:
                prepared.arrays[n].require_grad()
            ys = as_list(prepared.call.run(case.resolve(chx)))
            if targets:
                chx.backward(ys)
            ys += [prepared.arrays[n].grad for n in targets]
            digest = found.setdefault(case.name, hashlib.sha256())
            for y in ys:
                digest.update(to_numpy(y).tobytes())
json.dump({name: digest.hexdigest() for name, digest in found.items()}, sys.stdout)
"""


@functools.cache
def digests(name):
    done = child(name, '-W', 'ignore', '-c', DIGESTS)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def differing(name1, name2):
    one, other = digests(name1), digests(name2)
    assert one.keys() == other.keys()
    assert len(one) > 150
    return {name for name in one if one[name] != other[name]}


# Convolutions omit products with padding, depending on the width of a tile; transforms treat rows
# that fill lanes differently. All else is added in an order that follows from shapes.
BY_LANES = {case.name for case in CASES if case.sums == 'convolution'} | {'fft.rfft2', 'fft.rfftn'}
# Functions without polynomials need no fused multiply-add either.
PLAIN = """
    add subtract multiply divide true_divide floor_divide remainder negative square absolute
    sign sqrt maximum minimum fmod ceil floor rint trunc fix equal less sum nansum prod mean var
    std max min argmax cumsum cumprod where take transpose
    concatenate relu leaky_relu clip squared_error absolute_error
"""


def test_avx2_and_avx512_give_the_same_bits():
    if not {'avx2', 'avx512'} <= {*available()}:
        pytest.skip('one of them is not here')
    assert differing('avx2', 'avx512') <= BY_LANES


def test_sse4_differs_in_functions_only():
    if 'sse4' not in available()[:-1]:
        pytest.skip('there is nothing to compare')
    assert digests('sse4').keys() >= {*PLAIN.split()}
    assert not differing('sse4', available()[-1]) & {*PLAIN.split()}


# A number of rows that is not a multiple of any vector width.
SHORT_ROWS = """
import hashlib, sys
import chainerx as chx, numpy as np
rng = np.random.default_rng(0)
digest = hashlib.sha256()
for dtype in ('f2', 'f4', 'f8', 'i1', 'u4', 'i8'):
    odd = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -2.0] if dtype[0] == 'f' else range(5)
    for n in range(1, 34):
        x = chx.array(rng.choice(odd, (77, n)).astype(dtype))
        ys = [chx.sort(x, 1), chx.argsort(x, 1), chx.quantile(x, [0.1, 0.5, 0.8], 1)]
        for y in [*ys, chx.partition(x, n // 3, 1), chx.argpartition(x, n // 3, 1)]:
            digest.update(chx.to_numpy(y).tobytes())
sys.stdout.write(digest.hexdigest())
"""


def test_short_rows_are_sorted_alike_by_all():
    done = [child(name, '-W', 'ignore', '-c', SHORT_ROWS) for name in available()]
    assert all(d.returncode == 0 for d in done), done[0].stderr[-3000:]
    assert len({d.stdout for d in done}) == 1
