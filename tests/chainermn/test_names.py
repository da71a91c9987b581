"""Names and parameters of Chainer v7's package."""

import inspect

import chainermn
import pytest

COMMUNICATOR = 'chainermn.CommunicatorBase.'
# Defaults stand where programs leave arguments out; Classes are called.
SIGNATURES = {
    'chainermn.create_communicator': "communicator_name='pure_nccl', mpi_comm=None, *, "
    'allreduce_grad_dtype=None, batched_copy=',
    'chainermn.create_multi_node_optimizer': 'actual_optimizer, communicator, '
    'double_buffering=False, zero_fill=True',
    'chainermn.scatter_dataset': 'dataset, comm, root=0, shuffle=False, seed=None, '
    'max_buf_len=268435456, *, force_equal_length=True',
    'chainermn.scatter_index': 'n_total_samples, comm, root=0, *, force_equal_length=True',
    'chainermn.create_multi_node_evaluator': 'actual_evaluator, communicator',
    'chainermn.create_multi_node_checkpointer': 'name, comm, cp_interval=5, gc_interval=5, '
    'path=None',
    'chainermn.MultiNodeChainList': 'comm',
    'chainermn.MultiNodeChainList.add_link': 'self, link, rank_in=None, rank_out=None',
    COMMUNICATOR + 'split': 'self, color, key',
    COMMUNICATOR + 'alltoall': 'self, xs',
    COMMUNICATOR + 'send': 'self, data, dest, tag',
    COMMUNICATOR + 'recv': 'self, source, tag',
    COMMUNICATOR + 'bcast': 'self, data, max_buf_len=None, root=0',
    COMMUNICATOR + 'gather': 'self, data, root=0',
    COMMUNICATOR + 'allgather': 'self, x',
    COMMUNICATOR + 'allreduce': 'self, data',
    COMMUNICATOR + 'scatter': 'self, xs, root=0',
    COMMUNICATOR + 'finalize': 'self',
    COMMUNICATOR + 'send_obj': 'self, obj, dest, tag',
    COMMUNICATOR + 'recv_obj': 'self, source, tag',
    COMMUNICATOR + 'bcast_obj': 'self, obj, max_buf_len=None, root=0',
    COMMUNICATOR + 'gather_obj': 'self, obj, root=0',
    COMMUNICATOR + 'allreduce_obj': 'self, obj',
    COMMUNICATOR + 'bcast_data': 'self, model',
    COMMUNICATOR + 'broadcast_data': 'self, model',
    COMMUNICATOR + 'multi_node_mean_grad': 'self, model, zero_fill=False',
    COMMUNICATOR + 'allreduce_grad': 'self, model, zero_fill=False',
    COMMUNICATOR + 'set_config': 'self, name, **kwargs',
    COMMUNICATOR + 'get_config': 'self, name=None',
    COMMUNICATOR + 'config_scope': 'self',
    'chainermn.datasets.create_empty_dataset': 'dataset',
    'chainermn.extensions.AllreducePersistent': 'model, comm',
    'chainermn.extensions.GenericMultiNodeEvaluator': 'comm, iterator, target, device=None, '
    'converter=<callable>, root=0, *, progress_hook=None',
    'chainermn.extensions.MultiNodeEarlyStoppingTrigger': "comm, *, check_trigger=(1, 'epoch'), "
    "monitor='main/loss', patience=None, mode='auto', verbose=False, max_trigger=(100, 'epoch'), "
    "suffix='_aggregated'",
    'chainermn.extensions.ObservationAggregator': 'comm, original_key, aggregated_key=None, *, '
    "comm_trigger=(1, 'iteration'), aggregator=None",
    'chainermn.extensions.multi_node_snapshot': 'comm, snapshot, replica_sets',
    'chainermn.extensions.create_multi_node_evaluator': 'actual_evaluator, communicator',
    'chainermn.functions.send': 'x, communicator, rank, tag=0',
    'chainermn.functions.recv': 'communicator, rank, delegate_variable=None, tag=0, '
    'force_tuple=False',
    'chainermn.functions.pseudo_connect': 'delegate_variable, *actual_variables',
    'chainermn.functions.allgather': 'comm, x',
    'chainermn.functions.alltoall': 'comm, xs',
    'chainermn.functions.bcast': 'comm, x, root=0',
    'chainermn.functions.gather': 'comm, x, root=0',
    'chainermn.functions.scatter': 'comm, xs, root=0',
    'chainermn.iterators.create_multi_node_iterator': 'actual_iterator, communicator, '
    'rank_master=0',
    'chainermn.iterators.create_synchronized_iterator': 'actual_iterator, communicator',
    'chainermn.links.MultiNodeBatchNormalization': 'size, comm, decay=0.9, eps=2e-05, dtype=None, '
    'use_gamma=True, use_beta=True, initial_gamma=None, initial_beta=None, '
    "communication_backend='auto'",
    'chainermn.links.create_mnbn_model': "link, comm, communication_backend='auto'",
    'chainermn.links.create_multi_node_n_step_rnn': 'actual_link, communicator, rank_in=None, '
    'rank_out=None',
    'chainermn.global_except_hook.add_hook': '',
    'chainermn.testing.get_device': 'device_id=None, use_chainerx=False',
}


def find(name):
    value = chainermn
    for part in name.split('.')[1:]:
        value = getattr(value, part)
    return value


def text_of(parameter):
    if parameter.default is not parameter.empty and callable(parameter.default):
        return f'{parameter.name}=<callable>'
    return str(parameter.replace(annotation=parameter.empty))


def test_parameters():
    for name, expected in SIGNATURES.items():
        parameters = list(inspect.signature(find(name)).parameters.values())
        texts = [text_of(p) for p in parameters]
        keywords = [i for i, p in enumerate(parameters) if p.kind == p.KEYWORD_ONLY]
        if keywords and '*args' not in texts:
            texts.insert(keywords[0], '*')
        found = ', '.join(texts)
        assert found.startswith(expected) if expected.endswith('=') else found == expected, name


def test_communicators_override_what_they_must():
    base = chainermn.CommunicatorBase
    for name in ('rank', 'size', 'intra_rank', 'intra_size', 'inter_rank', 'inter_size'):
        assert isinstance(inspect.getattr_static(base, name), property)
        with pytest.raises(NotImplementedError):
            getattr(base(), name)
    assert isinstance(inspect.getattr_static(base, 'within_config_scope'), property)
    assert isinstance(chainermn.datasets.DataSizeError, type)


@pytest.mark.parametrize(
    'name',
    [
        'communicators.communicator_base',
        'communicators.mpi_communicator_base',
        'communicators.naive_communicator',
        'extensions.checkpoint',
        'functions.collective_communication',
        'functions.point_to_point_communication',
        'links.batch_normalization',
        'links.multi_node_chain_list',
        'optimizers',
    ],
)
def test_modules_have_the_names_of_v7(name):
    import importlib

    importlib.import_module(f'chainermn.{name}')
