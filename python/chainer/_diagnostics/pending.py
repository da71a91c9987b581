"""Names of Chainer v7 that are not here, by module and reason.

Written by tools/gen_pending.py from tests/conformance/pending.txt: do not edit.
"""

import typing as tp

PENDING: tp.Final[dict[str, dict[str, str]]] = {
    'chainer': {
        'not written yet': 'training datasets dataset iterators exporters graph_optimizations',
        'not planned, for the host costs little': 'static_code static_graph',
    },
    'chainer.function_node': {
        'not planned, for the host costs little': 'static_forward_optimizations',
    },
    'chainer.links': {
        'not written yet': 'TheanoFunction theano',
    },
    'chainer.testing.condition': {
        'not written yet': 'QuietTestRunner',
    },
    'chainer.functions.pooling': {
        'not planned, for they are texts of CUDA kernels': (
            'average_pooling_nd_kernel max_pooling_nd_kernel pooling_nd_kernel'
        ),
    },
    'chainer.functions': {
        'not written yet': 'theano',
    },
}
