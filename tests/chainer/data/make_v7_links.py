"""Writes a snapshot and the results of each link with Chainer v7.8.1; checks that it loads ours.

Run it where Chainer 7.8.1 with numpy < 1.24 and scipy is installed:

    python tests/chainer/data/make_v7_links.py make             # writes v7_links*.npz here
    python tests/chainer/data/make_v7_links.py check FOLDER     # loads those in FOLDER

With our `chainer` on the path, ``write FOLDER`` makes the files to check. Results of a
link are under ``key/train/0`` and so on, gradients of their sum under ``key/:path``.
"""

import pathlib
import sys

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / 'chainerx'), str(HERE.parent)]

from links import cases as link_cases  # noqa: E402
from links.cases import GONE, MODELS, NEW  # noqa: E402
from links.cases._table import draw, make, run, values_of  # noqa: E402

ROWS = [row for row in link_cases.ROWS if row.name not in NEW]
SNAPSHOT, RESULTS = 'v7_links.npz', 'v7_links_results.npz'


def chain(filled=True):
    """A chain of all links: the model in the snapshot."""
    children = {row.key: make(row) for row in ROWS}
    if not filled:
        for link in children.values():
            for value in values_of(link).values():
                if isinstance(value, np.ndarray):
                    value[...] = -77
    return chainer.Chain(**children)


def results_of(row, link, variable=chainer.Variable, labels=lambda x: x):
    """The results of a link in both modes, and its gradients in training."""

    def convert(x):
        return variable(x) if x.dtype.kind == 'f' else labels(x)

    found = {}
    for mode in ('train', 'test'):
        if row.random and mode == 'train':
            continue
        with chainer.using_config('train', mode == 'train'):
            ys = run(row, link, draw(row, convert=convert))
        found.update({f'{row.key}/{mode}/{i}': y.array for i, y in enumerate(ys)})
        if mode == 'train':
            link.cleargrads()
            sum(F.sum(y) for y in ys).backward()
            grads = {path: p.grad for path, p in link.namedparams() if p.grad is not None}
            found.update({f'{row.key}/:{path}': grad for path, grad in grads.items()})
    return found


def all_links():
    """The names of the links that have a class here."""
    classes = {n: getattr(L, n) for n in dir(L) if isinstance(getattr(L, n), type)}
    return {n for n, cls in classes.items() if issubclass(cls, chainer.Link)}


def models():
    """Names, shapes and dtypes of the entries that models save, for models too large to store."""
    for name in sorted(MODELS):
        link = getattr(L, name)(None)
        for path, value in sorted(values_of(link).items()):
            yield f'{name}/{path}', f'{np.asarray(value).dtype} {np.shape(value)}'


def write(folder):
    chainer.serializers.save_npz(str(folder / SNAPSHOT), chain())
    found = {}
    link = chain()
    for row in ROWS:
        found.update(results_of(row, link[row.key]))
    text = '\n'.join(f'{path} {kind}' for path, kind in models())
    np.savez_compressed(folder / RESULTS, models=np.frombuffer(text.encode(), 'uint8'), **found)


def check(folder):
    expected, link = values_of(chain()), chain(filled=False)
    chainer.serializers.load_npz(str(folder / SNAPSHOT), link)
    actual = values_of(link)
    assert actual.keys() == expected.keys()
    for path, value in expected.items():
        a, b = np.asarray(value), np.asarray(actual[path])
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes()), path
    print(f'{len(expected)} values of {len(ROWS)} links are equal')
    with np.load(folder / RESULTS) as theirs:
        names = {row.key: row for row in ROWS}
        for key, row in names.items():
            for path, value in results_of(row, link[key]).items():
                np.testing.assert_allclose(value, theirs[path], 1e-4, 1e-5, err_msg=path)
        text = '\n'.join(f'{path} {kind}' for path, kind in models())
        assert theirs['models'].tobytes().decode() == text
    print('and what they give')


if __name__ == '__main__':
    if sys.argv[1] == 'make':
        assert chainer.__version__ == '7.8.1'
        missing = all_links() - {row.name for row in ROWS} - MODELS - GONE
        assert not missing, missing
        write(HERE)
    else:
        {'write': write, 'check': check}[sys.argv[1]](pathlib.Path(sys.argv[2]))
