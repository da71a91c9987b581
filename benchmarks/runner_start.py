"""From nothing to the first result of a LeNet: `chainerx-run`, and onnxruntime from Python.

Time of whole processes, which take turns, and their peaks of resident memory above the weights.
Needs the packages onnx and onnxruntime.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
import tomllib

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx
import numpy as np
import onnx_chainer

BUDGETS = pathlib.Path(__file__).with_name('budgets.toml')
KEYS = {'start': 'runner_start_ms', 'memory': 'runner_memory_mb'}
ORT = """
import sys
import numpy as np
import onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1], providers=['CPUExecutionProvider'])
print(session.run(None, {session.get_inputs()[0].name: np.load(sys.argv[2])}))
"""
OURS = """
import sys
import numpy as np
from chainerx import onnx
print(onnx.load(sys.argv[1])(np.load(sys.argv[2])))
"""
# A process that is started counts the peak of its parent, too; this parent is small.
PEAK = """
import os, sys
out = [(os.POSIX_SPAWN_OPEN, 1, '/dev/null', os.O_WRONLY, 0)]
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=out)
_, status, usage = os.wait4(pid, 0)
print(usage.ru_maxrss if status == 0 else -1)
"""


class LeNet(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(1, 20, 5)
            self.conv2 = L.Convolution2D(20, 50, 5)
            self.linear1 = L.Linear(800, 500)
            self.linear2 = L.Linear(500, 10)

    def forward(self, x):
        for conv in (self.conv1, self.conv2):
            x = F.max_pooling_2d(F.relu(conv(x)), 2)
        return self.linear2(F.relu(self.linear1(x)))


def find_runner():
    inside = pathlib.Path(chainerx.__file__).parent / 'bin' / 'chainerx-run'
    return inside if inside.exists() else pathlib.Path(sysconfig.get_path('scripts'), inside.name)


def environment():
    """A build in place does not lie beside the package with OpenBLAS, which wheels find."""
    import scipy_openblas32

    library = pathlib.Path(scipy_openblas32.get_lib_dir(), 'libscipy_openblas.so')
    return {**os.environ, 'CHAINERX_OPENBLAS': str(library)}


def run(command):
    return subprocess.run(
        command, check=True, capture_output=True, text=True, env=environment()
    ).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--runs', type=int, default=20)
    parser.add_argument('--what', choices=KEYS, default='start', help='what goes to --json')
    parser.add_argument('--json', type=pathlib.Path)
    args = parser.parse_args()
    limits = tomllib.loads(BUDGETS.read_text())['limits']
    with tempfile.TemporaryDirectory() as folder:
        model, x = pathlib.Path(folder, 'lenet.onnx'), pathlib.Path(folder, 'x.npy')
        net, image = LeNet(), np.random.RandomState(0).rand(1, 1, 28, 28).astype('f')
        onnx_chainer.export(net, image, model)
        np.save(x, image)
        commands = {
            'chainerx-run': [str(find_runner()), str(model), '--input', str(x)],
            'chainerx.onnx from Python': [sys.executable, '-c', OURS, str(model), str(x)],
            'onnxruntime from Python': [sys.executable, '-c', ORT, str(model), str(x)],
        }
        weights = sum(p.array.nbytes for p in net.params()) / 1e6
        times = {name: [] for name in commands}
        for _ in range(args.runs):
            for name, command in commands.items():
                start = time.perf_counter()
                run(command)
                times[name].append((time.perf_counter() - start) * 1e3)
        peaks = {
            name: int(run([sys.executable, '-I', '-S', '-c', PEAK, *command])) * 1.024e-3 - weights
            for name, command in commands.items()
        }
    ours, peer = times['chainerx-run'], times['onnxruntime from Python']
    print(f'LeNet, {weights:.1f} MB of weights, best and median of {args.runs} processes')
    for name, values in times.items():
        print(
            f'{name}: {min(values):.1f} ms, {statistics.median(values):.1f} ms; '
            f'{peaks[name]:.1f} MB above the weights'
        )
    print(f'ratio of time: {min(ours) / min(peer):.3f}')
    values = dict(zip(KEYS.values(), (min(ours), peaks['chainerx-run']), strict=True))
    for key, value in values.items():
        print(f'{key}: {value:.1f} (at most {limits[key]})')
    if args.json:
        key = KEYS[args.what]
        args.json.write_text(json.dumps({'value': values[key], 'ceiling': limits[key]}))
    return any(value > limits[key] for key, value in values.items())


if __name__ == '__main__':
    sys.exit(main())
