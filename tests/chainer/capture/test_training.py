"""Captured steps of training: the same bits as without."""

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx as chx
import numpy as np
import pytest
from capture.training_steps import batch, compare, make, make_step, numpy
from chainer import optimizers

RULES = 'SGD', 'MomentumSGD', 'AdaGrad', 'RMSprop', 'Adam', 'AMSGrad', 'AdaBound', 'MSVAG'


@pytest.mark.parametrize('array', ['chainerx', 'numpy'])
@pytest.mark.parametrize('name', RULES)
def test_a_step_of_training(name, array):
    model, optimizer, step = make(name, array=array)
    other, other_optimizer, plain = make(name, array=array)
    captured = chx.capture(step)
    for i in range(10):
        x, t = batch(i, array=array)
        loss = captured(x, t)
        expected = plain(x, t)
        assert isinstance(loss, chainer.Variable)
        assert type(loss.array) is type(expected.array)
        np.testing.assert_array_equal(numpy(loss.array), numpy(expected.array))
        compare(model, other)
        assert optimizer.t == other_optimizer.t == i + 1
        for p in model.params():
            assert p.update_rule.t == i + 1
        if i == 6:
            for o in (optimizer, other_optimizer):
                name = 'alpha' if hasattr(o, 'alpha') else 'lr'
                setattr(o, name, getattr(o, name) * 0.5)
    (row,) = captured.info()
    assert row.replays == 7


class OfProgram(optimizers.Adam):
    def update(self, *args, **kwargs):
        super().update(*args, **kwargs)


class Halving(OfProgram):
    lr = property(lambda self: 0.01 / (1 + self.t // 6))


class RuleOfProgram(optimizers.sgd.SGDRule):
    pass


class WithRule(optimizers.SGD):
    def create_update_rule(self):
        return RuleOfProgram(self.hyperparam)


class Counting(OfProgram):
    calls = 0

    def update(self, *args, **kwargs):
        self.calls += 1
        super().update(*args, **kwargs)


@pytest.mark.parametrize('scale', [None, 'static', 'dynamic'])
@pytest.mark.parametrize('has_hook', [False, True])
@pytest.mark.parametrize('cls', [OfProgram, Halving, WithRule])
def test_optimizers_of_the_program(cls, has_hook, scale):
    def prepare():
        model, _, _ = make()
        optimizer = cls().setup(model)
        if has_hook:
            optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(0.1))
        if scale is not None:
            optimizer.loss_scaling(scale=2.0 if scale == 'static' else None)

        def step(x, t):
            optimizer.update(lambda: F.softmax_cross_entropy(model(x), t))
            return t + 0

        return model, optimizer, step

    model, optimizer, step = prepare()
    other, _, plain = prepare()
    captured = chx.capture(step)
    for i in range(8):
        captured(*batch(i))
        plain(*batch(i))
        compare(model, other)
        assert optimizer.t == i + 1
    assert sum(row.replays for row in captured.info()) >= 2


def test_what_an_optimizer_of_the_program_counts_by_itself():
    model, _, _ = make()
    captured = chx.capture(make_step(model, Counting().setup(model)))
    for i in range(3):
        captured(*batch(i))
    with pytest.raises(chx.CaptureError, match=r'Counting\.calls was 3 before the step'):
        captured(*batch(3))


def test_steps_without_capture_go_on():
    model, _, step = make('Adam')
    other, _, plain = make('Adam')
    captured = chx.capture(step)
    for i in range(12):
        (step if i in (5, 6, 9) else captured)(*batch(i))
        plain(*batch(i))
        compare(model, other)
    assert captured.info()[0].replays == 12 - 3 - 3


@pytest.mark.parametrize('array', ['chainerx', 'numpy'])
def test_dropout_draws_the_numbers_of_numpy(array):
    model, _, step = make(dropout=True, array=array)
    other, _, plain = make(dropout=True, array=array)
    captured = chx.capture(step)
    losses = []
    np.random.seed(3)
    for i in range(8):
        losses.append(numpy(captured(*batch(i, array=array)).array))
    np.random.seed(3)
    for i in range(8):
        np.testing.assert_array_equal(losses[i], numpy(plain(*batch(i, array=array)).array))
    compare(model, other)
    assert captured.info()[0].replays == 5


def test_each_layer_of_a_recurrent_link_draws_its_own_numbers():
    lstm = L.NStepLSTM(3, 4, 5, 0.5)
    lstm.to_chx()

    def f(x):
        return lstm(None, None, [x, x * 2])[2]

    captured = chx.capture(f)
    seen = []
    for g in (f, captured):
        np.random.seed(3)
        x = chx.ones((6, 4))
        seen.append([numpy(y.array) for _ in range(6) for y in g(x)])
    for a, b in zip(*seen, strict=True):
        np.testing.assert_array_equal(a, b)
    assert captured.info()[0].replays == 3


def test_settings_are_told_apart():
    model = chainer.Sequential(L.BatchNormalization(4), L.Linear(4, 2))
    model.to_chx()
    captured = chx.capture(lambda x: model(x))
    bn = model[0]
    for i in range(10):
        x, _ = batch(i)
        with chainer.using_config('train', i % 2 == 0), chainer.no_backprop_mode():
            before = numpy(bn.avg_mean), bn.N
            y = captured(x)
            after = numpy(bn.avg_mean)
            assert np.array_equal(before[0], after) == (i % 2 == 1)
            if i % 2:
                h = F.fixed_batch_normalization(x, bn.gamma, bn.beta, bn.avg_mean, bn.avg_var)
                np.testing.assert_allclose(
                    numpy(y.array), numpy(model[1](h).array), rtol=1e-5, atol=1e-6
                )
    assert [v.replays for v in captured.info()] == [2, 2]


def test_a_parameter_that_is_replaced():
    model, _, step = make(array='numpy')
    other, _, plain = make(array='numpy')
    captured = chx.capture(step)
    for i in range(12):
        if i == 6:
            for m in (model, other):
                m[0].W.array = np.full((8, 4), 0.5, 'f')
        captured(*batch(i, array='numpy'))
        plain(*batch(i, array='numpy'))
        compare(model, other)
    assert captured.info()[0].replays == 3 + 3


def test_a_replaced_parameter_that_somebody_keeps():
    model, _, step = make(array='numpy')
    other, _, plain = make(array='numpy')
    captured = chx.capture(step)
    kept = []
    for i in range(12):
        if i == 6:
            for m in (model, other):
                kept.append(m[0].W.array)
                m[0].W.array = np.full((8, 4), 0.5, 'f')
        captured(*batch(i, array='numpy'))
        plain(*batch(i, array='numpy'))
        compare(model, other)


def test_batches_of_several_sizes():
    model, _, step = make('Adam')
    other, _, plain = make('Adam')
    captured = chx.capture(step)
    for i in range(30):
        n = 5 if i % 5 != 4 else 2
        captured(*batch(i, n))
        plain(*batch(i, n))
        compare(model, other)
    assert [v.replays for v in captured.info()] == [21, 3]


def test_hooks_of_functions_see_each_call():
    _, _, step = make()
    captured = chx.capture(step)
    for i in range(5):
        captured(*batch(i))
    with chainer.function_hooks.TimerHook() as hook:
        captured(*batch(5))
    assert len(hook.call_history) > 4
    captured(*batch(6))
    assert captured.info()[0].replays == 3


class Classifier(chainer.Chain):
    def __init__(self, predictor):
        super().__init__()
        with self.init_scope():
            self.predictor = predictor

    def forward(self, x, t):
        y = self.predictor(x)
        loss = F.softmax_cross_entropy(y, t)
        chainer.report({'loss': loss, 'accuracy': F.accuracy(y, t), 'answer': 42}, self)
        return loss


class Log(chainer.training.Extension):
    trigger = 1, 'iteration'

    def __init__(self):
        self.rows = []

    def __call__(self, trainer):
        row = dict(trainer.observation)
        assert row.pop('main/answer') == 42
        self.rows.append({k: float(numpy(getattr(v, 'array', v))) for k, v in row.items()})


def train(capture, hooks=(), name='Adam'):
    np.random.seed(0)
    model, _, _ = make()
    classifier = Classifier(model).to_chx()
    optimizer = getattr(optimizers, name)().setup(classifier)
    for hook in hooks:
        optimizer.add_hook(hook)
    data = [tuple(np.squeeze(a, 0) for a in batch(i, 1, 'numpy')) for i in range(32)]
    iterator = chainer.iterators.SerialIterator(data, 4)
    updater = chainer.training.StandardUpdater(
        iterator, optimizer, device='native:0', capture=capture
    )
    trainer = chainer.training.Trainer(updater, (2, 'epoch'))
    log = Log()
    trainer.extend(log)
    test = chainer.iterators.SerialIterator(data[:8], 4, repeat=False, shuffle=False)
    evaluator = chainer.training.extensions.Evaluator(
        test, classifier, device='native:0', capture=capture
    )
    trainer.extend(evaluator, trigger=(4, 'iteration'))
    trainer.run()
    return log.rows, classifier, updater, evaluator


HOOKS = {
    'none': lambda: (),
    'decay': lambda: (chainer.optimizer_hooks.WeightDecay(0.01),),
    'lasso': lambda: (chainer.optimizer_hooks.Lasso(0.01),),
    'clip': lambda: (chainer.optimizer_hooks.GradientClipping(0.5),),
    'clip little': lambda: (chainer.optimizer_hooks.GradientClipping(50),),
    'hard': lambda: (chainer.optimizer_hooks.GradientHardClipping(-0.1, 0.1),),
    'two': lambda: (
        chainer.optimizer_hooks.GradientClipping(0.5),
        chainer.optimizer_hooks.WeightDecay(0.01),
    ),
}


@pytest.mark.parametrize('name', ['SGD', 'Adam'])
@pytest.mark.parametrize('hooks', HOOKS)
def test_a_trainer(hooks, name):
    rows, model, updater, evaluator = train(True, HOOKS[hooks](), name)
    expected, other, _, _ = train(False, HOOKS[hooks](), name)
    assert rows == expected
    compare(model, other)
    assert updater._captured.info()[0].replays == 16 - 3
    assert evaluator._captured.info()[0].replays == 8 - 3


def test_a_hook_that_changes():
    models = []
    for capture in (True, False):
        model, optimizer, step = make('Adam')
        hook = chainer.optimizer_hooks.WeightDecay(0.1)
        optimizer.add_hook(hook)
        if capture:
            step = chx.capture(step)
        for i in range(12):
            if i == 6:
                hook.rate = 0.01
            step(*batch(i))
        models.append(model)
        assert optimizer.t == 12
    compare(*models)


def test_hooks_of_the_program_are_refused():
    _, optimizer, step = make()

    def hook(optimizer):
        pass

    optimizer.add_hook(hook)
    captured = chx.capture(step)
    captured(*batch(0))
    with pytest.raises(chx.CaptureError, match=r'a hook of the program, .*hook, is called'):
        captured(*batch(0))


def test_two_optimizers():
    models = []
    for capture in (True, False):
        a, _, _ = make(seed=1)
        b, _, _ = make(seed=2)
        rules = [optimizers.Adam().setup(a), optimizers.SGD().setup(b)]

        def step(x, t, models=(a, b), rules=rules):
            losses = []
            for model, rule in zip(models, rules, strict=True):
                rule.update(lambda x, t, model=model: F.softmax_cross_entropy(model(x), t), x, t)
                losses.append(F.sum(model(x)))
            return losses

        if capture:
            step = chx.capture(step)
        for i in range(8):
            step(*batch(i))
        models.append((a, b))
    for a, b in zip(*models, strict=True):
        compare(a, b)


def test_a_loss_that_is_read():
    _, _, step = make()
    seen = []

    def f(x, t):
        loss = step(x, t)
        seen.append(float(loss.array))
        return loss

    captured = chx.capture(f)
    captured(*batch(0))
    with pytest.raises(chx.CaptureError, match=r'values are read \(test_training.py:\d+\)'):
        captured(*batch(0))
