"""User objects that only have the right methods, such as mocks; names that are not str."""

import gc
import json
import os
import weakref
from unittest import mock

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from chainer import iterators, optimizers, reporter, serializers, testing, training
from chainer.training import extensions, triggers, updaters

X = np.ones((1, 2), np.float32)


def run(link, optimizer, rounds=1):
    for _ in range(rounds):
        optimizer.update(lambda: F.sum(link(X)))


def make_trainer(tmp_path, iterations=3):
    trainer = testing.get_trainer_with_mock_updater((iterations, 'iteration'), iter_per_epoch=2)
    trainer.out = str(tmp_path)
    return trainer


def mock_trainer(tmp_path, **attributes):
    """A mock of a trainer in the second of four iterations of an epoch."""
    trainer = mock.MagicMock(out=str(tmp_path), elapsed_time=1.0, **attributes)
    trainer.updater.configure_mock(
        iteration=2, epoch=0, epoch_detail=0.5, previous_epoch_detail=0.25, is_new_epoch=False
    )
    return trainer


# Optimizers


@pytest.mark.parametrize('name', ['SGD', 'Adam', 'MomentumSGD'])
def test_update_rules(name):
    link, optimizer = L.Linear(2, 2), getattr(optimizers, name)()
    optimizer.setup(link)
    rule = link.W.update_rule = mock.MagicMock()
    before, bias = link.W.array.copy(), link.b.array.copy()
    run(link, optimizer, 2)
    assert [call.args[0] for call in rule.update.call_args_list] == [link.W, link.W]
    np.testing.assert_array_equal(link.W.array, before)
    assert (link.b.array < bias).all()  # whose rule is not a mock
    assert optimizer.t == 2
    optimizer.serialize(serializers.DictionarySerializer())
    rule.serialize.assert_called_once()


def test_update_rules_with_update_alone():
    class Rule:
        count = 0

        def update(self, param):
            self.count += 1

    for order in ('Wb', 'bW'):
        link = L.Linear(2, 2)
        optimizer = optimizers.SGD().setup(link)
        rule = Rule()
        getattr(link, order[0]).update_rule = rule
        run(link, optimizer, 2)
        assert rule.count == 2


def test_create_update_rule():
    link, optimizer = L.Linear(2, 2), optimizers.SGD()
    optimizer.create_update_rule = mock.MagicMock()
    optimizer.setup(link)
    optimizer.use_fp32_update()
    run(link, optimizer)
    assert optimizer.create_update_rule.return_value.update.call_count == 2


def test_a_loss_that_only_has_backward():
    optimizer = optimizers.SGD().setup(L.Linear(2, 2))
    lossfun = mock.MagicMock()
    optimizer.update(lossfun, 1, key=2)
    lossfun.assert_called_once_with(1, key=2)
    lossfun.return_value.backward.assert_called_once_with()
    optimizer.set_loss_scale(2.0)
    optimizer.update(lossfun)
    lossfun.return_value.backward.assert_called_with(loss_scale=2.0)


def test_hooks_keep_their_names():
    link = L.Linear(2, 2)
    optimizer = optimizers.SGD().setup(link)
    for owner in (optimizer, link.W.update_rule):
        hooks = [mock.MagicMock(timing='pre') for _ in range(3)]
        for hook, name in zip(hooks, (3, ('a', 1), None), strict=True):
            owner.add_hook(hook, name)
        with pytest.raises(KeyError):
            owner.add_hook(hooks[0], 3)
        owner.add_hook(mock.MagicMock(timing='pre'), '3')
        run(link, optimizer)
        for name in (3, ('a', 1), hooks[2].name, '3'):
            owner.remove_hook(name)
        assert all(hook.called for hook in hooks)


def test_serializers_that_are_no_serializers():
    """Serializers may be of any class; only their results matter."""
    link = L.Linear(2, 2)
    optimizer = optimizers.MomentumSGD().setup(link)
    run(link, optimizer)
    values = {'t': 7, 'epoch': 3, 'v': np.full((2, 2), 5, 'f')}
    serializer = mock.MagicMock(side_effect=lambda key, value: values[key])
    link.W.update_rule.serialize(serializer)
    assert link.W.update_rule.t == 7
    assert link.W.update_rule.state['v'].tolist() == [[5, 5], [5, 5]]
    serializer.side_effect = lambda key, value: values.get(key, value)
    serializer.__getitem__.return_value.side_effect = lambda key, value: value
    optimizer.serialize(serializer)
    assert (optimizer.t, optimizer.epoch) == (7, 3)


# Trainers and extensions


def test_extensions(tmp_path):
    trainer = make_trainer(tmp_path)
    bare, named = mock.MagicMock(), mock.MagicMock()
    trainer.extend(bare, trigger=(1, 'iteration'), priority=1)
    trainer.extend(named, 'named', trigger=(2, 'iteration'), priority=400)
    trainer.extend(extensions.snapshot(filename='snapshot'), trigger=(1, 'iteration'))
    trainer.run()
    assert (bare.call_count, named.call_count) == (3, 1)
    for extension in (bare, named):
        extension.initialize.assert_called_once_with(trainer)
        extension.finalize.assert_called_once_with()
        assert extension.serialize.call_count == 3
    assert trainer.get_extension('named') is named
    assert (tmp_path / 'snapshot').exists()


def test_an_extension_that_is_all_mock(tmp_path):
    """An extension may be a mock, including its trigger and priority."""
    trainer, extension = make_trainer(tmp_path), mock.MagicMock()
    trainer.extend(extension)
    trainer.run()
    assert extension.call_count == 3
    assert trainer.get_extension(extension.name) is extension


def test_an_extension_that_is_mock_with_an_html_report(tmp_path):
    trainer, extension = make_trainer(tmp_path), mock.MagicMock()
    trainer.extend(extension, 'mock', trigger=(1, 'iteration'), priority=1)
    trainer.extend(extensions.LogReport(trigger=(1, 'iteration')))
    trainer.extend(extensions.HTMLReport(), trigger=(3, 'iteration'))
    trainer.run()
    assert extension.call_count == 3


@pytest.mark.parametrize('name', [7, ('a', 1), None.__class__])
def test_names_of_extensions(tmp_path, name):
    trainer = make_trainer(tmp_path)
    log = extensions.LogReport(trigger=(1, 'iteration'))
    trainer.extend(log, name=name)
    trainer.extend(lambda _: None, name=name)
    assert trainer.get_extension(name) is log
    assert trainer.get_extension(f'{name}_1') is not log
    with pytest.raises(ValueError, match='there are: '):
        trainer.get_extension('else')
    trainer.run()
    target = serializers.DictionarySerializer()
    trainer.serialize(target)
    assert f'extensions/{name}/_log' in target.target
    other = make_trainer(tmp_path)
    again = extensions.LogReport(trigger=(1, 'iteration'))
    other.extend(again, name=name)
    serializers.NpzDeserializer(target.target).load(other)
    assert again.log == log.log


def test_triggers(tmp_path):
    trainer = make_trainer(tmp_path)
    trigger = mock.MagicMock(return_value=True, finished=False)
    extension = mock.MagicMock()
    trainer.extend(extension, 'x', trigger=trigger, priority=1)
    trainer.run()
    assert trigger.call_args_list == [mock.call(trainer)] * 3
    assert extension.call_count == 3
    best = triggers.MinValueTrigger('loss', trigger=trigger)
    assert best(mock_trainer(tmp_path, observation={'loss': 1.0}))


def test_a_serializer_that_is_a_mock(tmp_path):
    trainer = make_trainer(tmp_path)
    trainer.extend(extensions.ExponentialShift('x', 0.5), 'shift')
    state = np.random.get_state()[1].tolist()
    serializer = mock.MagicMock()
    serializer.__getitem__.return_value = serializer
    trainer.serialize(serializer)
    keys = {call.args[0] for call in serializer.call_args_list}
    assert {'_t', '_last_value', '_snapshot_elapsed_time'} <= keys
    assert np.random.get_state()[1].tolist() == state


def test_extensions_called_by_a_mock(tmp_path):
    trainer = mock_trainer(tmp_path, observation={'a': 1.0, 'b': 4.0})
    extensions.MicroAverage('a', 'b', 'ratio', trigger=(1, 'iteration'))(trainer)
    assert trainer.observation['ratio'] == 0.25
    trainer.updater.get_optimizer.return_value.lr = 0.5
    extensions.observe_lr()(trainer)
    assert trainer.observation['lr'] == 0.5
    shift = extensions.ExponentialShift('x', 0.5, init=4.0)
    shift.initialize(trainer)
    shift(trainer)
    assert trainer.updater.get_optimizer.return_value.x == 2.0
    writer = mock.MagicMock()
    extensions.snapshot(filename='{.updater.iteration}', writer=writer)(trainer)
    assert writer.call_args.args[:2] == ('2', str(tmp_path))


def test_names_of_observations(tmp_path):
    log = extensions.LogReport(trigger=(1, 'iteration'), filename='log_{iteration}')
    log(mock_trainer(tmp_path, observation={1: 2.0, ('a', 2): 3.0, 'b': mock.MagicMock()}))
    (written,) = json.loads((tmp_path / 'log_2').read_text())
    assert written['1'] == 2.0
    assert written["('a', 2)"] == 3.0


def test_evaluators(tmp_path):
    class Batches:
        def reset(self):
            self.rest = iter([[1], [2]])

        def __iter__(self):
            return self.rest

    iterator, target = Batches(), mock.MagicMock()
    converter = mock.MagicMock(return_value=(X,))
    hook = mock.MagicMock()
    evaluator = extensions.Evaluator(iterator, target, converter, device=-1, eval_hook=hook)
    assert evaluator(mock_trainer(tmp_path)) == {}
    assert target.call_args_list == [mock.call(X)] * 2
    hook.assert_called_once_with(evaluator)
    assert evaluator.get_target('main') is target


# Updaters, iterators


def test_updaters():
    iterator, optimizer = mock.MagicMock(is_new_epoch=True, epoch=3), mock.MagicMock()
    converter = mock.MagicMock(return_value=(1, 2))
    updater = updaters.StandardUpdater(iterator, optimizer, converter, device=-1, loss_scale=2.0)
    optimizer.set_loss_scale.assert_called_once_with(2.0)
    updater.update()
    assert converter.call_args.args[0] is iterator.next.return_value
    optimizer.update.assert_called_once_with(optimizer.target, 1, 2)
    optimizer.new_epoch.assert_called_once_with(auto=True)
    assert updater.epoch == 3
    updater.connect_trainer(mock.MagicMock())
    serializer = mock.MagicMock()
    updater.serialize(serializer)
    iterator.serialize.assert_called_once_with(serializer['iterator:main'])
    updater.finalize()
    iterator.finalize.assert_called_once_with()


def test_trainers_of_an_updater_that_is_a_mock(tmp_path):
    updater = mock.MagicMock(iteration=0)
    updater.update.side_effect = lambda: updater.configure_mock(iteration=updater.iteration + 1)
    trainer = training.Trainer(updater, (3, 'iteration'), out=str(tmp_path))
    updater.connect_trainer.assert_called_once_with(trainer)
    trainer.run()
    assert updater.iteration == 3
    updater.finalize.assert_called_once_with()


def test_iterators():
    dataset = mock.MagicMock()
    dataset.__len__.return_value = 4
    dataset.__getitem__.side_effect = lambda i: i
    order = mock.MagicMock(return_value=np.array([3, 2, 1, 0]))
    assert iterators.SerialIterator(dataset, 2, order_sampler=order).next() == [3, 2]
    with iterators.MultithreadIterator(dataset, 2, shuffle=False, n_threads=1) as iterator:
        assert iterator.next() == [0, 1]
    serializer = mock.MagicMock(side_effect=lambda key, value: value)
    iterators.SerialIterator(dataset, 2).serialize(serializer)
    assert {'current_position', 'epoch', 'order'} <= {c.args[0] for c in serializer.mock_calls}


# Reporters, hooks, variables


def test_observers():
    here, observer, observation = chainer.Reporter(), mock.MagicMock(), {}
    here.add_observer(3, observer)
    value = mock.MagicMock()
    with here.scope(observation):
        reporter.report({'a': value, 1: 2}, observer)
    assert observation == {'3/a': value, '3/1': 2}
    with here.scope(observation), pytest.raises(KeyError):
        reporter.report({'a': value}, mock.MagicMock())


def test_function_and_link_hooks():
    link = L.Linear(2, 2)
    for owner, spec in ((link, chainer.LinkHook), (F.exp(X).creator, chainer.FunctionHook)):
        hook = mock.MagicMock(spec=spec)
        hook.name = 5
        owner.add_hook(hook)
        hook.added.assert_called_once_with(owner)
        owner.delete_hook(5)
        hook.deleted.assert_called_once_with(owner)
    hook = mock.MagicMock()
    chainer.get_function_hooks()[1] = hook
    try:
        link(X)
    finally:
        del chainer.get_function_hooks()[1]
    hook.forward_preprocess.assert_called_once()
    hook.forward_postprocess.assert_called_once()


@pytest.mark.parametrize('make', [chainer.Variable, chainer.Parameter])
def test_names_of_variables(make):
    class Name:
        def __str__(self):
            return 'a name'

    name = Name()
    for x in (make(X, name=name), make(X)):
        x.name = name
        assert x.name is x.node.name is name
        assert repr(x).startswith('variable a name([[')
        assert 'a name' in str(x)
        graph = chainer.computational_graph.build_computational_graph([F.exp(x)])
        assert 'a name: ' in graph.dump()
    x.name = None
    assert x.name is None
    x.name = name
    # A name that refers back to the variable is collected.
    name.variable = x
    gone = weakref.ref(name)
    del name, x, graph
    gc.collect()
    assert gone() is None


def test_objects_to_save(tmp_path):
    path = os.path.join(tmp_path, 'x.npz')
    saved = mock.MagicMock()
    serializers.save_npz(path, saved)
    saved.serialize.assert_called_once()
    serializers.save_npz(path, L.Linear(2, 2))
    loaded = mock.MagicMock()
    serializers.load_npz(path, loaded)
    loaded.serialize.assert_called_once()
