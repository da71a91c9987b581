"""Trainings that run here and in Chainer v7; ../data/v7_training.json has v7's results.

A program takes an empty folder and returns what JSON can hold.
"""

import io
import itertools
import json
import os
import random
import types

import chainer
import chainer.links as L
import numpy as np
from chainer import training
from chainer.training import extensions, triggers

X = np.random.RandomState(0).rand(20, 4).astype(np.float32)
T = (X.sum(axis=1) > 2).astype(np.int32)


class Examples(list):
    """A dataset without `chainer.datasets`."""


DATA = Examples(zip(X, T, strict=True))


def make_model():
    W = np.linspace(-0.5, 0.5, 8, dtype=np.float32).reshape(2, 4)
    return L.Classifier(L.Linear(4, 2, initialW=W))


def make_trainer(out, stop=(3, 'epoch'), batch_size=6, optimizer=None, extensions=None, **kwargs):
    np.random.seed(0)
    model = make_model()
    optimizer = (optimizer or chainer.optimizers.MomentumSGD(0.1)).setup(model)
    iterator = chainer.iterators.SerialIterator(DATA, batch_size)
    updater = training.StandardUpdater(iterator, optimizer, **kwargs)
    return training.Trainer(updater, stop, out=str(out), extensions=extensions)


def make_evaluator(model, **kwargs):
    iterator = chainer.iterators.SerialIterator(DATA, 7, repeat=False, shuffle=False)
    return extensions.Evaluator(iterator, model, **kwargs)


def model_of(trainer):
    return trainer.updater.get_optimizer('main').target


# ---- triggers ----


def simulate(trigger, per_epoch, calls, values=None):
    """The iterations in which a trigger fires, if queried in the iterations ``calls``."""
    trainer = types.SimpleNamespace(updater=types.SimpleNamespace(), observation={})
    fired = []
    for i in range(1, 30):
        updater = trainer.updater
        updater.iteration = i
        updater.previous_epoch_detail, updater.epoch_detail = (i - 1) / per_epoch, i / per_epoch
        updater.epoch = int(i // per_epoch)
        updater.is_new_epoch = i // per_epoch != (i - 1) // per_epoch
        trainer.observation = {} if values is None else {'x/accuracy': values[i]}
        if i in calls and trigger(trainer):
            fired.append(i)
    return fired


def calls_of_triggers():
    rng = random.Random(1)
    return [list(range(1, 30)), sorted(rng.sample(range(1, 30), 9))]


def interval_triggers(out):
    specs = itertools.product((1, 2, 3, 2.5, 0.5, 0.3), ('epoch', 'iteration'))
    return [
        simulate(training.get_trigger(spec), per_epoch, calls)
        for spec in specs
        for per_epoch in (1, 3, 2.5, 4)
        for calls in calls_of_triggers()
    ]


def manual_schedule_triggers(out):
    specs = [([2, 5], 'iteration'), (3, 'epoch'), ([0.5, 2], 'epoch'), ([4.5, 1], 'iteration')]
    return [
        simulate(triggers.ManualScheduleTrigger(*spec), per_epoch, calls)
        for spec in specs
        for per_epoch in (1, 3, 2.5)
        for calls in calls_of_triggers()
    ]


def value_triggers(out):
    values = [random.Random(2).randint(0, 9) for _ in range(30)]
    results = []
    for cls in (triggers.MaxValueTrigger, triggers.MinValueTrigger):
        for spec in ((1, 'iteration'), (2, 'iteration'), (1, 'epoch')):
            results.append(simulate(cls('x/accuracy', spec), 3, range(1, 30), values))
    for mode, patience in itertools.product(('auto', 'min', 'max'), (1, 2, 4)):
        for spec in ((1, 'iteration'), (2, 'iteration')):
            trigger = triggers.EarlyStoppingTrigger(
                spec, 'x/accuracy', patience, mode, max_trigger=(20, 'iteration')
            )
            results.append([*simulate(trigger, 3, range(1, 30), values), trigger.count])
    return results


def once_trigger(out):
    return [simulate(triggers.OnceTrigger(resume), 3, range(1, 30)) for resume in (False, True)]


# ---- the loop ----


def order_of_calls(out):
    log = []

    class Extension(training.Extension):
        def __init__(self, label):
            self.label = label

        def initialize(self, trainer):
            log.append(f'{self.label} initialize')

        def finalize(self):
            log.append(f'{self.label} finalize')

        def on_error(self, trainer, exc, tb):
            log.append(f'{self.label} on_error {exc!r}')

        def __call__(self, trainer):
            log.append(f'{self.label} {trainer.updater.iteration} {trainer.is_before_training}')
            if self.label == 'e' and trainer.updater.iteration == 3:
                raise ValueError('three')

    trainer = make_trainer(out)
    trainer.extend(Extension('a'), priority=5, trigger=(2, 'iteration'))
    trainer.extend(Extension('b'), priority=7, call_before_training=True, trigger=(2, 'iteration'))
    trainer.extend(Extension('c'), trigger=triggers.OnceTrigger())
    trainer.extend(Extension('d'), trigger=None)
    trainer.extend(Extension('e'), priority=-5)
    try:
        trainer.run(show_loop_exception_msg=False)
    except ValueError as error:
        log.append(str(error))
    return log


def names_of_extensions(out):
    trainer = make_trainer(out)

    @training.make_extension(default_name='default')
    def function(trainer):
        pass

    trainer.extend(extensions.LogReport())
    for _ in range(3):
        trainer.extend(extensions.LogReport(), name='log')
    trainer.extend(function)
    trainer.extend(function, name='mine')
    trainer.extend(lambda trainer: None)
    trainer.extend(extensions.snapshot())
    trainer.extend(extensions.observe_lr())
    trainer.extend(extensions.dump_graph('main/loss'))
    trainer.extend(make_evaluator(model_of(trainer)))
    return list(trainer._extensions)


# ---- reports ----


def log_report(out):
    trainer = make_trainer(out)
    trainer.extend(make_evaluator(model_of(trainer)))
    trainer.extend(extensions.observe_lr())
    trainer.extend(extensions.LogReport())
    trainer.extend(
        extensions.LogReport(['lr', 'main/loss'], (2, 'iteration'), filename='some'), name='some'
    )
    trainer.extend(
        extensions.LogReport(postprocess=lambda s: s.update(more=1), filename='log_{iteration}'),
        name='each',
    )
    trainer.run()
    texts = {}
    for name in sorted(os.listdir(str(out))):
        with open(os.path.join(str(out), name)) as file:
            texts[name] = file.read()
    return {name: [layout(text), json.loads(text)] for name, text in texts.items()}


def layout(text):
    """The layout of a text: everything but the numbers."""
    lines = []
    for line in text.splitlines():
        key, colon, value = line.partition(': ')
        lines.append(key + colon + (',' if value.endswith(',') else ''))
    return '\n'.join(lines)


def print_report(out):
    trainer = make_trainer(out)
    stream = io.StringIO()
    trainer.extend(extensions.LogReport(trigger=(2, 'iteration')))
    entries = ['epoch', 'iteration', 'main/loss', 'validation/main/accuracy', 'lr', 'nothing']
    trainer.extend(extensions.observe_lr(), trigger=(1, 'iteration'))
    trainer.extend(make_evaluator(model_of(trainer)))
    trainer.extend(extensions.PrintReport(entries, out=stream))
    trainer.run()
    return stream.getvalue().replace('\033[J', '')


def evaluator(out):
    trainer = make_trainer(out)
    observed = []
    trainer.extend(make_evaluator(model_of(trainer)))
    trainer.extend(make_evaluator(model_of(trainer)), name='test')

    def look(trainer):
        keys = sorted(key for key in trainer.observation if 'main/' in key)
        observed.append([[key, float(trainer.observation[key])] for key in keys if key[0] != 'm'])

    trainer.extend(look)
    trainer.run()
    return [observed, sorted(make_evaluator(model_of(trainer))())]


def parameter_statistics(out):
    trainer = make_trainer(out, (2, 'epoch'))
    links = model_of(trainer).predictor
    trainer.extend(extensions.ParameterStatistics(links, prefix='p', trigger=(2, 'iteration')))
    trainer.extend(
        extensions.ParameterStatistics(
            [links], {'sum': lambda x: x.sum()}, report_grads=False, trigger=(1, 'epoch')
        )
    )
    trainer.extend(extensions.LogReport())
    trainer.run()
    log = trainer.get_extension('LogReport').log
    return [{k: v for k, v in entry.items() if k != 'elapsed_time'} for entry in log]


def micro_average(out):
    trainer = make_trainer(out, (2, 'epoch'))
    trainer.extend(
        extensions.observe_value('n', lambda t: float(t.updater.iteration)),
        trigger=(1, 'iteration'),
    )
    trainer.extend(
        extensions.observe_value('d', lambda t: 2.0 + t.updater.iteration),
        name='d',
        trigger=(1, 'iteration'),
    )
    trainer.extend(extensions.MicroAverage('n', 'd', 'average', (3, 'iteration')))
    observed = []
    trainer.extend(lambda t: observed.append(t.observation.get('average')), name='look')
    trainer.run()
    return observed


# ---- scheduled values ----


def shifts(out):
    rows = {
        'exponential': lambda: extensions.ExponentialShift('lr', 0.5),
        'exponential up': lambda: extensions.ExponentialShift('lr', 1.5, init=0.2, target=0.8),
        'exponential down': lambda: extensions.ExponentialShift('lr', 0.5, target=0.02),
        'inverse': lambda: extensions.InverseShift('lr', 0.5, 0.75),
        'inverse target': lambda: extensions.InverseShift('lr', 0.5, 0.75, 0.3, 0.2),
        'linear': lambda: extensions.LinearShift('lr', (1.0, 3.0), (2, 6)),
        'multistep': lambda: extensions.MultistepShift('lr', 0.1, [2, 3, 6], 0.5),
        'polynomial': lambda: extensions.PolynomialShift('lr', 0.5, 5),
        'polynomial init': lambda: extensions.PolynomialShift('lr', 2, 12, 0.3, 0.1),
        'step': lambda: extensions.StepShift('lr', 0.5, 3),
        'step target': lambda: extensions.StepShift('lr', 0.5, 2, 0.4, 0.1),
        'warmup': lambda: extensions.WarmupShift('lr', 0.01, 4, 0.2),
    }
    results = {}
    for name, make in rows.items():
        for spec in ((1, 'iteration'), (1, 'epoch')):
            trainer = make_trainer(out)
            values = []

            def look(trainer, values=values):
                values.append(trainer.updater.get_optimizer('main').lr)

            class First(training.Extension):
                priority = -10

                def initialize(self, trainer, look=look):
                    look(trainer)

                def __call__(self, trainer, look=look):
                    look(trainer)

            trainer.extend(make(), trigger=spec)
            trainer.extend(First())
            trainer.run()
            results[f'{name}, each {spec[1]}'] = values
    return results


PROGRAMS = [
    interval_triggers,
    manual_schedule_triggers,
    value_triggers,
    once_trigger,
    order_of_calls,
    names_of_extensions,
    log_report,
    print_report,
    evaluator,
    parameter_statistics,
    micro_average,
    shifts,
]
