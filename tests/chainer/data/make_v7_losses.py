"""Weights and results of links of Chainer v7.8.1, for `test_links_losses.py`.

Run it where Chainer 7.8.1 with numpy < 1.24 is installed:

    python tests/chainer/data/make_v7_losses.py       # writes v7_losses.npz here
"""

import pathlib
import sys

import chainer
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

from links.links_losses import LINKS, run  # noqa: E402


def main():
    assert chainer.__version__ == '7.8.1'
    found = {}
    for name in LINKS:
        for key, value in run(name).items():
            found[f'{name}{key}'] = value
    np.savez_compressed(HERE / 'v7_losses.npz', **found)


if __name__ == '__main__':
    main()
