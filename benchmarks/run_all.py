"""Runs every benchmark; writes benchmarks/results/<vendor>.md for this make of processor.

python benchmarks/run_all.py            # takes minutes; needs an otherwise idle machine
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
RESULTS = HERE / 'results'
# Bottlenecks differ between makes of processors, so each has tables of its own.
DOCUMENTS = {'GenuineIntel': 'intel.md'}
OTHERS = 'amd.md'

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
    ('capture', 'Captured steps of training, replayed', 'the step as it is'),
    ('capture_fusion', 'Chains of elementwise operations, captured', 'the chain as it is'),
    ('onnx_models', 'Models of ONNX, float32', 'onnxruntime'),
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

# Tables that are also measured with AVX-512 disabled.
BY_AVX2 = ['products', 'attention', 'routines', 'sorting', 'ops', 'functions']
SECTIONS = [
    section
    for file, heading, peer in SECTIONS
    for section in [(file, heading, peer), (f'{file}:avx2', f'{heading}, by AVX2', peer)]
    if file in BY_AVX2 or ':' not in section[0]
]
# Tables of all their rows would be as long as all other tables together.
MISSES_ONLY = ['routines', 'routines:avx2']

INTRODUCTION = """\
# Benchmark results

Written by `{command}`; do not edit by hand. Needs `pip install torch=={torch}` beside
chainerx. Machine: {machine}. Python {python}, NumPy {numpy}, PyTorch {torch} (CPU).

Each figure is the best of many short rounds; the libraries run in one process and take turns, so
that a slow moment of the machine hits all of them. A **ratio** is the time of chainerx divided by
the time of the library named in the heading: below 1, chainerx is faster. The ceilings are those of
[budgets.toml](../budgets.toml); a row over its ceiling says **missed**, and
[docs/benchmarks.md](../../docs/benchmarks.md) says why. NumPy's own BLAS
is kept to one thread (`OPENBLAS_NUM_THREADS=1`).

How the other side is written: PyTorch runs under `torch.no_grad()` where no graph is wanted; in the
training rows it is the fastest of `nn.Sequential` with `torch.optim.SGD` (`foreach`, `fused` or
plain) and a functional step whose update is one `torch._foreach_add_` under `no_grad`, chosen by a
trial before the row; the choice is noted. All peers are first checked to reach the same loss.

Tables were not all made on one machine: those that name no family of processors are of {unnamed}.
The same on another make of processor: {elsewhere}.
"""

# The processors of tables that were written before tables named them.
UNNAMED = {OTHERS: 'an AMD EPYC of family 26 (Zen 5)', 'intel.md': 'an Intel Xeon'}


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


# Rows against NumPy run on one thread.
NUMPY = {'OPENBLAS_NUM_THREADS': '1'}
# Environment variables that limit the instruction set of chainerx, its BLAS, NumPy and the parts of
# PyTorch.
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
    """The system's description of the first core: vendor_id, model name, flags and so on."""
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
    """Distinguishes processor generations of one name; empty if the system does not."""
    info = cpu_info()
    if 'cpu family' not in info or 'model' not in info:
        return ''
    return f' On a processor of family {info["cpu family"]}, model {info["model"]}.'


def elsewhere(document):
    """Links to the tables for other makes of processors."""
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
    """Heading -> text of the previous results, which begins with a blank line."""
    parts = document.read_text().split('\n## ')[1:]
    return {part.split('\n', 1)[0]: f'\n## {part.rstrip()}\n' for part in parts}


def stop(name, code):
    """Fails, as a table without rows would replace one with rows."""
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
        default=RESULTS / DOCUMENTS.get(cpu_info().get('vendor_id'), OTHERS),
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
            args.out.write_text(text)
            print(f'wrote {args.out}')
            return

        text += '\n## Limits\n\n| what | measured | at most |\n| --- | --- | --- |\n'
        for name, what, unit, *options in [
            ('import_time', '`import chainerx`, on top of `import numpy`', 'ms'),
            ('import_time', '`import chainer`, the same', 'ms', '--module', 'chainer'),
            ('runner_start', '`chainerx-run` to the first result of LeNet', 'ms'),
            ('runner_start', 'its memory above the weights', 'MB', '--what', 'memory'),
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
    args.out.write_text(text)
    print(f'wrote {args.out}')


if __name__ == '__main__':
    main()
