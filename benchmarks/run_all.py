"""Runs every benchmark; writes docs/benchmarks.md, or what the make of processor has instead.

python benchmarks/run_all.py            # some minutes; on a machine that does nothing else
"""

import argparse
import json
import os
import pathlib
import platform
import shlex
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).parent
DOCS = HERE.parent / 'docs'
# What bounds a kernel on one make of processor does not on another, so each has its tables.
DOCUMENTS = {'GenuineIntel': 'benchmarks_intel.md'}
OTHERS = 'benchmarks.md'

SECTIONS = [  # file, heading, what the ratio means
    ('overhead', 'Host cost of an op, arrays of shape (2, 3) or (3, 3)', 'PyTorch'),
    ('cpp_overhead', 'The same add from C++ and from Python', 'Python'),
    ('transforms', 'Functions of functions: gradients, vmap, Jacobians', 'torch.func'),
    ('indexing', 'Indexing and joining', 'NumPy'),
    ('layouts', 'Layouts: arrays of 2000 x 2000', 'NumPy'),
    ('train', 'One training step: forward, softmax cross entropy, backward, SGD', 'PyTorch'),
    ('chainer_overhead', 'Chainer: functions, Chains, functions of the user', 'PyTorch'),
    ('chainer_train', 'Training steps of Chains; updates of optimizers alone', 'PyTorch'),
    ('chainer_cnn', 'Training steps of convolutional networks', 'PyTorch'),
    ('chainer_transformer', 'Training steps of a transformer, by Adam', 'PyTorch'),
    ('loader', 'Minibatches of JPEGs, read by processes', "PyTorch's DataLoader"),
    ('trainer', 'Iterations by a Trainer, with log, progress bar and evaluation', 'the bare loop'),
    ('announcement', 'The announcement of ChainerX, made anew', 'PyTorch'),
    ('products', 'Products of float32 matrices', 'PyTorch'),
    ('conv', 'Convolutions of ResNet-50 and MobileNet', 'PyTorch'),
    ('normalization', 'Normalizations, float32', 'PyTorch'),
    ('rnn', 'Recurrent networks over 50 steps, float32', 'PyTorch'),
    ('attention', 'Attention, batch 4, 8 heads of 64, float32', 'PyTorch'),
    ('linalg', 'Factored matrices, Fourier transforms', 'NumPy'),
    ('random_numbers', 'A million random numbers, float32', 'NumPy or PyTorch'),
    ('routines', 'Every routine that NumPy has, rows that miss', 'NumPy'),
    ('sorting', 'Sorting, selection, sets, histograms, float32', 'NumPy'),
    ('language_model', 'Training steps of a language model, with Adam', 'PyTorch'),
    ('ops', 'Kernels on 1M elements, float32', 'PyTorch'),
    ('functions', 'Functions of networks, forward and backward, float32', 'PyTorch'),
    ('pooling', 'Poolings, float32', 'PyTorch'),
    ('elementwise', 'Elementwise functions of several passes, and statistics, float32', 'NumPy'),
    ('ops_fresh', 'Kernels on 16M elements, result freshly made each time', 'PyTorch'),
]

# Tables that are also made as on a processor without AVX-512.
BY_AVX2 = ['products', 'attention', 'routines', 'sorting', 'ops', 'functions']
SECTIONS = [
    section
    for file, heading, peer in SECTIONS
    for section in [(file, heading, peer), (f'{file}:avx2', f'{heading}, by AVX2', peer)]
    if file in BY_AVX2 or ':' not in section[0]
]
# A table of all their rows would be as long as all other tables.
MISSES_ONLY = ['routines', 'routines:avx2']

INTRODUCTION = """\
# Benchmarks

Written by `{command}`; do not edit by hand. Needs `pip install torch=={torch}` beside
chainerx. Machine: {machine}. Python {python}, NumPy {numpy}, PyTorch {torch} (CPU).

Each figure is the best of many short rounds; the libraries run in one process and take turns, so
that a slow moment of the machine hits all of them. A **ratio** is the time of chainerx divided by
the time of the library named in the heading: below 1, chainerx is faster. The ceilings are those of
[budgets.toml](../benchmarks/budgets.toml); a row over its ceiling says **missed**. NumPy's own BLAS
is kept to one thread (`OPENBLAS_NUM_THREADS=1`).

How the other side is written: PyTorch runs under `torch.no_grad()` where no graph is wanted; in the
training rows it is the fastest of `nn.Sequential` with `torch.optim.SGD` (`foreach`, `fused` or
plain) and a functional step whose update is one `torch._foreach_add_` under `no_grad`, chosen by a
trial before the row; the choice is noted. All peers are first checked to reach the same loss.

Tables were not all made on one machine: those that name no family of processors are of {unnamed}.
The same on another make of processor: {elsewhere}.
"""

# Of the tables from before they named it.
UNNAMED = {OTHERS: 'an AMD EPYC of family 26 (Zen 5)', 'benchmarks_intel.md': 'an Intel Xeon'}


ANNOUNCEMENT = """
Forward, backward and SGD update of two networks, one thread; in brackets the ratio to PyTorch, then
and now. The announcement of 2018 names neither its network nor its machine, so only the order of
its rows compares. `python benchmarks/chainer_train.py --announcement`

"""


BUSY = """
**The machine was busy** while this was written (load average {load:.1f} on {cores} cores). The
best of many rounds stands that with one thread. With two threads it does not: OpenMP waits at
barriers for threads that do not run, so the rows with two threads flatter chainerx. Run it again on
an idle machine.
"""


HEADING = '## Why some rows miss'
MISSED = f"""
{HEADING}

- **C++ against Python**: the bindings add so little to the add itself (the difference of the two
  figures) that C++ cannot take half of the whole.
- **784-1000-1000-10**, also as a Chain: the column `matmuls` is the matrix products of the step
  alone. It is most of the step, and no code around it can bring the ratio below `matmuls / torch`.
- **ResNet-18**: nine tenths of it are convolutions, some of which miss as well, and copies of small
  images to lie side by side and back (`AsType` in `chainerx.profile()`).
- **Products on two threads**: the threads pack the shorter operand together, and wait for each
  other before they go on.
- **Convolutions of one image, gradient of the data**: the weights, which are larger than what they
  are multiplied with, are packed for one use of each.
- **7x7 with stride 2, one image, forward**: three channels and 49 taps, so that what a panel of
  positions sees of a tap is found anew for every three rows of it; a sixth of the time. Of more
  images it takes half of PyTorch's time.
- **Depthwise, stride 2, gradient of the data of one image**: computed on gradients with zeros
  between them.
- **Depthwise, 14 x 14**: rows of 14 are nine tenths of a vector of AVX-512, and windows of three
  taps load across two lines of the cache.
- **sum over 1M elements**: both sides read 4 MB from the third-level cache, at some 85 GB/s.
- **global average of 7 x 7, forward alone**: PyTorch calls one reduction for all planes; ours folds
  lanes plane by plane. Backward, where PyTorch divides an expanded view, is ahead by more.
- **sum and mean over 16M elements**: the result is small, so there are no fresh pages to save; both
  sides read 64 MB at the speed of memory.
- **Layouts, around 1**: both sides wait for memory, and which is ahead changes from run to run. Six
  ways to write the loop of `x > y` took the same 1.22 ms.
- **float64 at every third column** (copies, comparisons, sums, extremes, argmax): both sides read
  the same lines of memory, and NumPy's loop, which takes one element after the other, keeps a few
  more of them on their way than packing does; in the cache the two differ by a tenth at most.
- **add ... at ...**: all places are looked at before the first value is written, so that one out of
  range leaves everything as it was. That is a pass more.
- **einsum ijk,kl->ijl, against PyTorch**: the product of 2048 rows of 64 alone takes as
  long as its.
- **Routines of a million elements, up to 1.1, of int16 and indices 1.2**: both sides wait for
  memory, and which is ahead changes from run to run.
- **log of float64**: FDLIBM's series, with a division, where NumPy has Intel's SVML.
- **x[:, i] of 100000 rows of 4**: a load and a store for each element; not looked into further.
- **tile and repeat of 3000 rows of 100**: rows of 400 bytes, which begin at any place of a line of
  the cache; by `memcpy` or by registers of 16 bytes, they take as long.
- **argmax along short rows, einsum and products of stacks of tiny matrices**: a call for each row
  or matrix.
- **interp in few points or of ascending numbers, in float64**: NumPy guesses the place from the one
  before.
- **log10, tanh, arcsinh of float32, up to 1.1 on some processors**: NumPy's on AVX-512 allow
  themselves 4 units in the last place; the bounds of ours are in
  tests/chainerx/elementwise/test_elementwise_accuracy.py.
- **One query and 4096 keys, forward**: what follows the scores is computed in whole registers, of
  which one query fills one lane.
- **complex64 to bool; by AVX2, powers of int64, histograms, isin**: not looked into further.
- **place**: a composition of other routines, which shows in arrays of 1000 elements.
- **svdvals, qr of 8 x 8**: LAPACK alone takes as long, for both sides.
- **x[0], x.T and the smallest Chains**: what is left are the view, its node in the graph, and the
  call from Python; how many instructions that takes is listed above.
- **value_and_grad against backward()**: the function is called with new leaves, and the results
  are taken apart and put together again as the arguments are nested, in Python.
- **x[i] in a loop, against NumPy**: an array on a device, where NumPy has a number.
- **sqrt(x[:, ::2])**: gathered into a buffer in the first-level cache, and then computed, which
  takes as long as all that NumPy does: its loop, one element after the other, reads while it
  computes. Smaller buffers, asking ahead for memory and writing past the caches did not help.
- **take of 1000 rows of 64**: 256 KB that are scattered over 2.5 MB; ours takes 7 µs, NumPy's 6.5
  or 9 from process to process.
- **sort by AVX2**: why NumPy's, which parts keys in place, takes less time has not been found; of
  64-bit keys a register has four.
- **sort, partition and unique on processors of family 25**: far below 1, for NumPy 2.4.6 chooses
  none of its sorts by vectors there. With its AVX-512 switched off, as in the table by AVX2, it
  takes one.
- **rfft of 100 x 1024 in float64**: two rows at a time, as NumPy, for with more of them the row and
  the library's own memory leave the first-level cache; eight take a tenth longer.
- **Functions of 100,000 elements on two threads**: passes of some 30 µs each, of which waking the
  other thread is a part.
- **vmap of grad**: a product of a matrix per example with one row, where torch.func has one product
  for all.
"""

MISSED_INTEL = f"""
{HEADING}

What bounds a row on any processor stands in [benchmarks.md]({OTHERS}#why-some-rows-miss). Besides:

- **Products, convolutions, recurrent layers, and what is made of them**: MKL and oneDNN, which are
  Intel's own, compute at more than nine tenths of what the two units for products can do. Our tile
  alone does, too (180 of 190 GFLOP/s); what is left is packing, and waiting for a third-level cache
  that is some 70 ns away. Steps of a tile ask ahead for what comes next (`LinesAhead`,
  native/isa/gemm.cc).
- **1x1 convolutions of few channels, gradient of the weights**: sums over all positions of an image
  that are packed for 32 or 64 rows only.
- **add, mul, relu, exp, log, sum over 1M elements**: both sides wait for memory; relu, which
  computes next to nothing, takes 270 µs, log and exp 290.
- **tanh over 1M elements**: a division of 16 floats takes ten cycles, as much as all else. MKL
  looks coefficients up in tables, which AVX2 has no quick way for, and both are to give the same
  bits.
- **Encoder of 2 layers, one thread**: of 82 ms, products take 61, as long as MKL's of the same
  shapes, attention 13 and Adam 2. What is left are passes over arrays of 1 to 4 MB, for which the
  second-level cache is too small, at some 17 GB/s: layer normalization and the sums around it 2.8
  ms, the gradient of rectification 1.2 and those of biases 1.0. Tried: to ask for the rows of the
  next head in the tiles of attention.
- **Language model of 10,000 words, one thread**: of 140 ms, the products with all words take 78,
  the two LSTMs 36 with their products, softmax cross entropy and its gradient 9, Adam 8 (it passes
  over 174 MB), the gradient of the last bias 2, and zeros for that of the embedding 2.
- **LSTM of 512 units, forward**: of 51 ms, the products of all inputs take 21 and the recurrence
  25, of which 19 are products of 32 rows; to join weights takes 1.7. Tried: to pass by the weights
  in turn from either end, and to ask for those of the next gate ahead of time.
- **LSTM of 512 units, one step of 1**: reads 8 MB of weights once, at 27 GB/s.
- **Fourier transforms of many short rows, where PyTorch's column is ahead**: MKL's. Ours are
  pocketfft's, as NumPy's and SciPy's are, of several rows at a time in the lanes of registers.
- **784-1000-1000-10**: the products of the step alone take 0.9 of PyTorch's step.
- **LeNet, batch 1**: of 640 µs, 280 are passes over the 400,000 weights of one layer, for which the
  second-level cache is too small, at some 48 GB/s: the optimizer 140 (weights, gradients and
  momentum), the two products of one row 90, the gradient 50. Convolutions, pooling and what packs
  for them take 280, Python 65.
- **sum and mean over 16M elements**: both sides read 64 MB at the speed of memory.
"""


# Rows against NumPy are on one thread.
NUMPY = {'OPENBLAS_NUM_THREADS': '1'}
# What keeps chainerx, its BLAS, NumPy and the parts of PyTorch from using more than an instruction
# set.
LIMITS = {
    'avx2': {
        'CHAINERX_ISA': 'avx2',
        'ATEN_CPU_CAPABILITY': 'avx2',
        'ONEDNN_MAX_CPU_ISA': 'AVX2',
        'MKL_ENABLE_INSTRUCTIONS': 'AVX2',
        'OPENBLAS_CORETYPE': 'Haswell',
        'NPY_DISABLE_CPU_FEATURES': 'X86_V4 AVX512_ICL AVX512_SPR',
    },
}


def cpu_info():
    """What the system says of the first core: vendor_id, model name, flags and so on."""
    try:
        text = pathlib.Path('/proc/cpuinfo').read_text().split('\n\n')[0]
    except OSError:
        return {}
    pairs = (line.partition(':') for line in text.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def cpu_name():
    info = cpu_info()
    if 'model name' not in info:
        return platform.processor() or platform.machine()
    flags = info.get('flags', '')
    isa = 'AVX-512' if 'avx512f' in flags else 'AVX2' if 'avx2' in flags else 'no AVX2'
    return f'{info["model name"]}, {os.cpu_count()} cores, {isa}'


def cpu_family():
    """What tells generations of processors of one name apart; nothing where the system has none."""
    info = cpu_info()
    if 'cpu family' not in info or 'model' not in info:
        return ''
    return f' On a processor of family {info["cpu family"]}, model {info["model"]}.'


def elsewhere(document):
    """Links to the tables of other makes of processors."""
    names = [n for n in (OTHERS, *DOCUMENTS.values()) if n != document.name]
    return ', '.join(f'[{name}]({name})' for name in names)


def seconds(t):
    units = [('s', 1), ('ms', 1e-3), ('µs', 1e-6), ('ns', 1e-9)]
    unit, size = next(((u, s) for u, s in units if t >= s), units[-1])
    return f'{t / size:.3g} {unit}'


def ratio_of(result):
    return result['best']['chainerx'] / result['best'][result['against']]


def is_kept(result):
    return result['ceiling'] is None or ratio_of(result) <= result['ceiling']


def table(results):
    peers = list(dict.fromkeys(peer for r in results for peer in r['best']))
    threads = len({r['threads'] for r in results}) > 1
    head = [
        'what',
        *(['threads'] if threads else []),
        *peers,
        'ratio',
        'ratio of medians',
        'at most',
    ]
    lines = ['| ' + ' | '.join(head) + ' |', '|' + ' --- |' * len(head)]
    for r in results:
        peer = r['against']
        ratio = ratio_of(r)
        median = r['median']['chainerx'] / r['median'][peer]
        verdict = '' if r['ceiling'] is None else f'{r["ceiling"]:g}'
        if not is_kept(r):
            verdict += ' **missed**'
        cells = [r['name'], *([str(r['threads'])] if threads else [])]
        cells += [seconds(r['best'][p]) if p in r['best'] else '' for p in peers]
        cells += [f'{ratio:.3f}', f'{median:.3f}', verdict]
        lines.append('| ' + ' | '.join(cells) + ' |')
    notes = [f'{r["name"]}, {r["threads"]} thread(s): {r["note"]}.' for r in results if r['note']]
    return '\n'.join(lines) + ''.join(f'\n\n{n}' for n in notes) + '\n'


def run(name, folder, *arguments):
    name, _, isa = name.partition(':')
    out = pathlib.Path(folder) / f'{name}{isa}.json'
    command = [sys.executable, str(HERE / f'{name}.py'), '--json', str(out), *arguments]
    code = subprocess.run(command, env={**os.environ, **NUMPY, **LIMITS.get(isa, {})}).returncode
    if not out.exists():
        stop(name, code)
    return json.loads(out.read_text())


def sections_of(document):
    """Heading -> text of what was written before; a blank line comes first."""
    body = document.read_text().split(HEADING)[0].rstrip('\n') + '\n'
    parts = body.split('\n## ')[1:]
    return {part.split('\n', 1)[0]: f'\n## {part.rstrip()}\n' for part in parts}


def stop(name, code):
    """A table without rows would take the place of one that has them."""
    sys.exit(
        f'{name} failed (exit status {code}); nothing is written. --skip {name} leaves it out.'
    )


def announcement():
    command = [sys.executable, str(HERE / 'chainer_train.py'), '--announcement']
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    rows = [line + '\n' for line in done.stdout.splitlines() if line.startswith('|')]
    if done.returncode or not rows:
        stop('announcement', done.returncode)
    return ''.join(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument(
        '--out',
        type=pathlib.Path,
        default=DOCS / DOCUMENTS.get(cpu_info().get('vendor_id'), OTHERS),
    )
    parser.add_argument('--skip', action='append', default=[], help='name of a file to leave out')
    parser.add_argument(
        '--only',
        action='append',
        default=[],
        help='a file to run; the other tables stay as they are',
    )
    parser.add_argument('--prefix', help='of the C++ library, where chainerx is a build in place')
    args = parser.parse_args()

    import numpy as np
    import torch

    missed = MISSED if args.out.name == OTHERS else MISSED_INTEL
    original = tomllib.loads((HERE / 'budgets.toml').read_text())['original']
    text = INTRODUCTION.format(
        command='python benchmarks/run_all.py',
        machine=cpu_name(),
        python=platform.python_version(),
        numpy=np.__version__,
        torch=torch.__version__.split('+')[0],
        elsewhere=elsewhere(args.out),
        unnamed=UNNAMED.get(args.out.name, 'the machine above'),
    )
    if (load := os.getloadavg()[0]) > 0.5:
        text += BUSY.format(load=load, cores=os.cpu_count())
    kept = sections_of(args.out) if args.only else {}
    with tempfile.TemporaryDirectory() as folder:
        for name, heading, peer in SECTIONS:
            if name in args.skip:
                continue
            if args.only and name not in args.only:
                text += kept.get(heading, '')
                continue
            if name == 'announcement':
                text += f'\n## {heading}\n{ANNOUNCEMENT}{announcement()}'
                continue
            options = ['--prefix', args.prefix] if args.prefix and name == 'cpp_overhead' else []
            results = run(name, folder, *options)
            file, _, isa = name.partition(':')
            limits = ''.join(f'{k}={shlex.quote(v)} ' for k, v in LIMITS.get(isa, {}).items())
            text += f'\n## {heading}\n\nRatios to {peer}. `{limits}python benchmarks/{file}.py`'
            text += f'{cpu_family()}\n\n'
            if name in MISSES_ONLY:
                missed_rows = [r for r in results if not is_kept(r)]
                text += f'{len(results) - len(missed_rows)} of {len(results)} rows keep to it.\n\n'
                results = missed_rows
            text += table(results)
            if name in original:
                text += f'\nOriginal ChainerX 7.8.1, measured elsewhere: {original[name]}.\n'

        if args.only:
            text += kept.get('Limits', '') + kept.get('Instructions', '')
            args.out.write_text(text + missed)
            print(f'wrote {args.out}')
            return

        text += '\n## Limits\n\n| what | measured | at most |\n| --- | --- | --- |\n'
        for name, what, unit, *options in [
            ('import_time', '`import chainerx`, on top of `import numpy`', 'ms'),
            ('import_time', '`import chainer`, the same', 'ms', '--module', 'chainer'),
            ('memory_flat', 'growth of resident memory over 100,000 training steps', 'MB'),
        ]:
            if name not in args.skip:
                r = run(name, folder, *options)
                verdict = ' **missed**' if r['value'] > r['ceiling'] else ''
                text += f'| {what} | {r["value"]:.1f} {unit} | {r["ceiling"]} {unit}{verdict} |\n'

        if 'instructions' not in args.skip:
            counts = run('instructions', folder)
            text += '\n## Instructions\n\n`python benchmarks/instructions.py`, under valgrind.\n\n'
            text += '| what | instructions | with Python itself |\n| --- | --- | --- |\n'
            text += ''.join(f'| {k} | {own} | {all_} |\n' for k, (own, all_) in counts.items())
    args.out.write_text(text + missed)
    print(f'wrote {args.out}')


if __name__ == '__main__':
    main()
