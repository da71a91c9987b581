"""Links whose weights and results are compared with Chainer v7; it runs there and here."""

import chainer.links as L
import numpy as np

TREE = L.BinaryHierarchicalSoftmax.create_huffman_tree({0: 8, 1: 5, 2: 6, 3: 4, 4: 1})
X = np.random.RandomState(0).randn(3, 4).astype('float32')
IMAGES = np.random.RandomState(1).randn(2, 3, 5, 6).astype('float32')
T = np.array([0, 2, 4], 'int32')
XS = [np.random.RandomState(n).randn(n, 4).astype('float32') for n in (2, 4, 1)]
YS = [np.array([3, 1], 'int32'), np.array([0, 0, 2, 1], 'int32'), np.array([2], 'int32')]

# name: (link, its inputs)
LINKS = {
    'PReLU': (lambda: L.PReLU((4,)), (X,)),
    'PReLU0': (L.PReLU, (X,)),
    'Swish': (lambda: L.Swish(None, 1.5), (X,)),
    'Highway': (lambda: L.Highway(4), (X,)),
    'Highway0': (lambda: L.Highway(4, nobias=True, init_Wt=0.5), (X,)),
    'Maxout': (lambda: L.Maxout(4, 3, 2, initial_bias=np.arange(6.0).reshape(3, 2)), (X,)),
    'Maxout0': (lambda: L.Maxout(None, 3, 2, initial_bias=None), (X,)),
    'MaxoutW': (lambda: L.Maxout(4, 3, 2, np.arange(24.0).reshape(3, 2, 4)), (X,)),
    'SimplifiedDropconnect': (lambda: L.SimplifiedDropconnect(None, 3), (X, False)),
    'SimplifiedDropconnectM': (
        lambda: L.SimplifiedDropconnect(4, 3, nobias=True),
        (X, True, np.arange(36).reshape(3, 3, 4) % 3 == 0),
    ),
    'DeformableConvolution2D': (
        lambda: L.DeformableConvolution2D(None, 4, (2, 3), (2, 1), (1, 0), deform_initialW=0.1),
        (IMAGES,),
    ),
    'CRF1d': (
        lambda: L.CRF1d(4, np.arange(16, dtype='float32').reshape(4, 4)),
        (XS, YS, 'no', True),
    ),
    'BinaryHierarchicalSoftmax': (lambda: L.BinaryHierarchicalSoftmax(4, TREE), (X, T)),
    'NegativeSampling': (lambda: L.NegativeSampling(4, [5, 1, 2, 3, 4], 3), (X, T)),
}


def run(name):
    """The initial weights of the link, its results, and the gradients of their sum."""
    make, inputs = LINKS[name]
    np.random.seed(7)
    link = make()
    y = link(*inputs)
    link.cleargrads()
    y.grad = np.ones_like(y.array)
    y.backward()
    found = {f':{k}': p.array for k, p in link.namedparams()}
    found.update({f':{k}:grad': p.grad for k, p in link.namedparams()})
    return {**found, ':y': y.array}
