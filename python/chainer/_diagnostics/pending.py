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
            'ConcatenatedDataset DictDataset ImageDataset LabeledImageDataset '
            'LabeledZippedImageDataset MultiZippedImageDataset PickleDataset '
            'PickleDatasetWriter SubDataset TextDataset TransformDataset ZippedImageDataset '
            'get_cifar10 get_cifar100 get_cross_validation_datasets '
            'get_cross_validation_datasets_random get_fashion_mnist get_fashion_mnist_labels '
            'get_kuzushiji_mnist get_kuzushiji_mnist_labels get_mnist get_ptb_words '
            'get_ptb_words_vocabulary get_svhn open_pickle_dataset open_pickle_dataset_writer '
            'split_dataset split_dataset_n split_dataset_n_random split_dataset_random cifar '
            'concatenated_dataset dict_dataset fashion_mnist image_dataset kuzushiji_mnist '
            'mnist pickle_dataset ptb sub_dataset svhn text_dataset transform_dataset'
        ),
    },
    'chainer.iterators': {
        'not written yet': (
            'DaliIterator MultiprocessIterator MultithreadIterator dali_iterator '
            'multiprocess_iterator multithread_iterator'
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
