"""Records normalizing links and functions in Chainer v7.8.1 over some training steps.

Run it where Chainer 7.8.1 with numpy < 1.24 is installed:

    python tests/chainer/data/make_v7_normalization.py       # writes v7_normalization.npz here

`test_links_normalization.py` imports this module, computes the same here, and compares.
"""

import pathlib

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np

PATH = pathlib.Path(__file__).with_name('v7_normalization.npz')
IMAGES, ROWS = (7, 6, 2, 3), (7, 6)

LINKS = {
    'batch': (lambda: L.BatchNormalization(6, decay=0.8), IMAGES),
    'batch of rows': (lambda: L.BatchNormalization(6), ROWS),
    'batch by axis': (lambda: L.BatchNormalization(axis=(0, 1)), IMAGES),
    'batch without gamma': (lambda: L.BatchNormalization(6, use_gamma=False, eps=1e-3), IMAGES),
    'renormalization': (lambda: L.BatchRenormalization(6, 1.3, 0.4), IMAGES),
    'renormalization without bounds': (lambda: L.BatchRenormalization(6), IMAGES),
    'decorrelated': (lambda: L.DecorrelatedBatchNormalization(6, 3), IMAGES),
    'decorrelated rows': (lambda: L.DecorrelatedBatchNormalization(6, 2, eps=1e-2), ROWS),
    'group': (lambda: L.GroupNormalization(3), IMAGES),
    'group of rows': (lambda: L.GroupNormalization(2, 6), ROWS),
    'layer': (lambda: L.LayerNormalization(), ROWS),
}
RESPONSES = [(5, 1.5, 0.1, 0.6), (4, 2, 0.5, 0.75), (1, 1, 1, 1.5), (0, 1, 1, 1)]


def random(seed, shape):
    return np.random.RandomState(seed).standard_normal(shape).astype('f')


def steps_of(name):
    """Outputs, gradients and persistent values of a link, by name."""
    make, shape = LINKS[name]
    link, result = make(), {}
    for step in range(4):
        x = chainer.Variable(random(step, shape) * (1 + step) + step)
        kwargs = {}
        if step >= 2 and hasattr(link, 'start_finetuning'):
            if step == 2:
                link.start_finetuning()
            kwargs = {'finetune': True}
        y = link(x, **kwargs)
        link.cleargrads()
        y.grad = random(step + 10, shape)
        y.backward()
        result[f'{step}/y'], result[f'{step}/gx'] = y.array, x.grad
        for param in link.params():
            result[f'{step}/g{param.name}'] = param.grad.copy()
            param.array[...] -= 0.01 * param.grad
        for key in sorted(link._persistent):
            result[f'{step}/{key}'] = np.array(getattr(link, key))
        with chainer.using_config('train', False):
            result[f'{step}/evaluated'] = link(x.array).array
    return result


def responses():
    """Outputs and gradients of local response normalization."""
    result = {}
    for n, *others in RESPONSES:
        x = chainer.Variable(random(n, IMAGES))
        y = F.local_response_normalization(x, n, *others)
        y.grad = random(n + 10, IMAGES)
        y.backward()
        result[f'{n}/y'], result[f'{n}/gx'] = y.array, x.grad
    return result


if __name__ == '__main__':
    assert chainer.__version__ == '7.8.1'
    found = {f'{name}/{key}': value for name in LINKS for key, value in steps_of(name).items()}
    found.update({f'responses/{key}': value for key, value in responses().items()})
    np.savez_compressed(str(PATH), **found)
    print(f'{len(found)} arrays in {PATH.name}')
