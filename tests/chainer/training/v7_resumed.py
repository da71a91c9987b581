"""A training with many extensions, which Chainer v7 saved halfway, and which resumes here."""

import chainer
from chainer import training
from chainer.training import extensions, triggers
from v7_programs import make_evaluator, make_trainer, model_of

WHERE = 5
END = 12


def make(out):
    trainer = make_trainer(out, (END, 'iteration'), optimizer=chainer.optimizers.Adam(0.1))
    trainer.extend(make_evaluator(model_of(trainer)))
    trainer.extend(extensions.LogReport(trigger=(2, 'iteration')))
    trainer.extend(extensions.PrintReport(['epoch', 'main/loss']), trigger=(END, 'iteration'))
    trainer.extend(extensions.observe_lr(), trigger=(1, 'iteration'))
    trainer.extend(extensions.ExponentialShift('alpha', 0.9))
    trainer.extend(extensions.StepShift('beta1', 0.9, 2))
    trainer.extend(extensions.MultistepShift('eta', 0.5, [3, 8], 1.0))
    trainer.extend(extensions.LinearShift('beta2', (0.9, 0.99), (2, 9)))
    trainer.extend(extensions.MicroAverage('lr', 'lr', 'one', (3, 'iteration')))
    best = triggers.MaxValueTrigger('validation/main/accuracy')
    trainer.extend(lambda trainer: None, name='best', trigger=best)
    schedule = triggers.ManualScheduleTrigger([3, 7], 'iteration')
    trainer.extend(lambda trainer: None, name='schedule', trigger=schedule)
    trainer.extend(lambda trainer: None, name='once', trigger=triggers.OnceTrigger())
    trainer.extend(lambda trainer: None, name='time', trigger=triggers.TimeTrigger(1000))
    trainer.extend(training.make_extension()(lambda trainer: None), name='function')
    trainer.extend(extensions.snapshot(), trigger=(WHERE, 'iteration'))
    return trainer


def result_of(trainer):
    log = trainer.get_extension('LogReport').log
    link = model_of(trainer).predictor
    return {
        'log': [{k: v for k, v in entry.items() if k != 'elapsed_time'} for entry in log],
        'W': chainer.cuda.to_cpu(link.W.array).tolist(),
        'b': chainer.cuda.to_cpu(link.b.array).tolist(),
    }


def run_whole(out):
    trainer = make(out)
    trainer.run()
    return result_of(trainer)
