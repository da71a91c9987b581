"""Names of Chainer v7 that are not here, by module and reason.

Written by tools/gen_pending.py from tests/conformance/pending.txt: do not edit.
"""

import typing as tp

PENDING: tp.Final[dict[str, dict[str, str]]] = {
    'chainer.dataset': {
        'not written yet': (
            'ConcatWithAsyncTransfer TabularDataset cache_or_load_file cached_download '
            'get_dataset_directory get_dataset_root set_dataset_root download tabular'
        ),
    },
    'chainer.dataset.tabular': {
        'not written yet': 'DelegateDataset delegate_dataset from_data tabular_dataset',
    },
    'chainer.datasets': {
        'not written yet': (
            'get_cifar10 get_cifar100 get_fashion_mnist get_fashion_mnist_labels '
            'get_kuzushiji_mnist get_kuzushiji_mnist_labels get_mnist get_ptb_words '
            'get_ptb_words_vocabulary get_svhn cifar fashion_mnist kuzushiji_mnist mnist ptb '
            'svhn'
        ),
    },
    'chainer': {
        'not planned, for it writes files for Caffe, which is no longer developed': 'exporters',
    },
    'chainer.functions.pooling': {
        'not planned, for they are texts of CUDA kernels': (
            'average_pooling_nd_kernel max_pooling_nd_kernel pooling_nd_kernel'
        ),
    },
}
