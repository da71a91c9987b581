"""Names of Chainer v7 that are not here, by module and reason.

Written by tools/gen_pending.py from tests/conformance/pending.txt: do not edit.
"""

import typing as tp

PENDING: tp.Final[dict[str, dict[str, str]]] = {
    'chainer': {
        'not written yet': (
            'training datasets dataset distributions iterators Distribution cross_entropy '
            'distribution kl_divergence register_kl exporters graph_optimizations'
        ),
        'not planned, for the host costs little': 'static_code static_graph',
    },
    'chainer.function_node': {
        'not planned, for the host costs little': 'static_forward_optimizations',
    },
    'chainer.functions': {
        'not written yet': (
            'as_strided batch_det batch_inv cholesky det fft ifft inv n_step_bigru '
            'n_step_bilstm n_step_birnn n_step_gru n_step_lstm n_step_rnn sparse_matmul '
            'theano'
        ),
    },
    'chainer.links': {
        'not written yet': (
            'ChildSumTreeLSTM GRU GoogLeNet NStepBiGRU NStepBiLSTM NStepBiRNNReLU '
            'NStepBiRNNTanh NStepGRU NStepLSTM NStepRNNReLU NStepRNNTanh NaryTreeLSTM '
            'ResNet101Layers ResNet152Layers ResNet50Layers StatefulGRU StatefulMGU '
            'StatefulPeepholeLSTM StatefulZoneoutLSTM StatelessGRU StatelessMGU '
            'TheanoFunction VGG16Layers VGG19Layers caffe theano'
        ),
    },
    'chainer.testing.distribution_unittest': {
        'not written yet': 'test_dummy',
    },
    'chainer.testing.condition': {
        'not written yet': 'QuietTestRunner',
    },
    'chainer.functions.array': {
        'not written yet': 'as_strided',
    },
    'chainer.functions.math': {
        'not written yet': 'cholesky det fft inv sparse_matmul',
    },
    'chainer.functions.pooling': {
        'not planned, for they are texts of CUDA kernels': (
            'average_pooling_nd_kernel max_pooling_nd_kernel pooling_nd_kernel'
        ),
    },
    'chainer.functions.rnn': {
        'not written yet': 'n_step_gru n_step_lstm n_step_rnn',
    },
    'chainer.links.model': {
        'not written yet': 'vision',
    },
    'chainer.links.rnn': {
        'not written yet': (
            'gru mgu n_step_gru n_step_lstm n_step_rnn peephole tree_lstm zoneoutlstm'
        ),
    },
}
