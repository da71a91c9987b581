"""Names of Chainer v7 that are not here, by module and reason.

Written by tools/gen_pending.py from tests/conformance/pending.txt: do not edit.
"""

import typing as tp

PENDING: tp.Final[dict[str, dict[str, str]]] = {
    'chainer': {
        'not planned, for it writes files for Caffe, which is no longer developed': 'exporters',
    },
    'chainer.functions.pooling': {
        'not planned, for they are texts of CUDA kernels': (
            'average_pooling_nd_kernel max_pooling_nd_kernel pooling_nd_kernel'
        ),
    },
}
