"""Records the results of ../training/v7_programs.py in Chainer 7.8.1, and a snapshot.

Run it where Chainer 7.8.1 is installed:

    python tests/chainer/data/make_v7_training.py       # writes v7_training.* here
"""

import json
import pathlib
import shutil
import sys
import tempfile

import chainer

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'training'))

import v7_programs  # noqa: E402
import v7_resumed  # noqa: E402


def main():
    assert chainer.__version__ == '7.8.1'
    results = {}
    for program in v7_programs.PROGRAMS:
        with tempfile.TemporaryDirectory() as out:
            results[program.__name__] = program(out)
    with tempfile.TemporaryDirectory() as out:
        results['resumed'] = v7_resumed.run_whole(out)
        snapshot = pathlib.Path(out) / f'snapshot_iter_{v7_resumed.WHERE}'
        shutil.copy(snapshot, HERE / 'v7_training.npz')
    lines = [f'{json.dumps(k)}: {json.dumps(v)}' for k, v in results.items()]
    (HERE / 'v7_training.json').write_text('{\n' + ',\n'.join(lines) + '\n}\n')


if __name__ == '__main__':
    main()
