"""A recurrent language model: truncated backpropagation through time, own iterator and updater."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import training
from chainer.training import extensions

N_VOCAB, N_UNITS, BPTT = 7, 5, 3


class ParallelSequentialIterator(chainer.dataset.Iterator):
    """Reads a text at several places at once; a minibatch has a word of each, and the next one."""

    def __init__(self, dataset, batch_size, repeat=True):
        self.dataset = dataset
        self.batch_size = batch_size
        self.repeat = repeat
        self.epoch, self.iteration = 0, 0
        self.is_new_epoch = False
        self.offsets = [i * len(dataset) // batch_size for i in range(batch_size)]

    def __next__(self):
        length = len(self.dataset)
        if not self.repeat and self.iteration * self.batch_size >= length:
            raise StopIteration
        words = self.get_words()
        self.iteration += 1
        epoch = self.iteration * self.batch_size // length
        self.is_new_epoch = self.epoch < epoch
        self.epoch = epoch
        return list(zip(words, self.get_words()))

    @property
    def epoch_detail(self):
        return self.iteration * self.batch_size / len(self.dataset)

    def get_words(self):
        return [self.dataset[(o + self.iteration) % len(self.dataset)] for o in self.offsets]

    def serialize(self, serializer):
        self.iteration = serializer('iteration', self.iteration)
        self.epoch = serializer('epoch', self.epoch)


class RNN(chainer.Chain):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = dropout
        with self.init_scope():
            self.embed = L.EmbedID(N_VOCAB, N_UNITS)
            self.l1 = L.LSTM(N_UNITS, N_UNITS)
            self.l2 = L.LSTM(N_UNITS, N_UNITS)
            self.l3 = L.Linear(N_UNITS, N_VOCAB)
        for param in self.params():
            param.array[...] = np.random.uniform(-0.3, 0.3, param.shape)

    def reset_state(self):
        self.l1.reset_state()
        self.l2.reset_state()

    def forward(self, x):
        h = self.embed(x)
        h = self.l1(F.dropout(h, self.dropout))
        h = self.l2(F.dropout(h, self.dropout))
        return self.l3(F.dropout(h, self.dropout))


class BPTTUpdater(training.updaters.StandardUpdater):
    def __init__(self, iterator, optimizer, device):
        super().__init__(iterator, optimizer, device=device)

    def update_core(self):
        loss = 0
        iterator = self.get_iterator('main')
        optimizer = self.get_optimizer('main')
        for _ in range(BPTT):
            x, t = self.converter(iterator.__next__(), self.device)
            loss += optimizer.target(chainer.Variable(x), chainer.Variable(t))
        optimizer.target.cleargrads()
        loss.backward()
        loss.unchain_backward()
        optimizer.update()


def compute_perplexity(result):
    result['perplexity'] = np.exp(result['main/loss'])
    if 'validation/main/loss' in result:
        result['val_perplexity'] = np.exp(result['validation/main/loss'])


def train(device, start, iterations=4):
    words = np.random.randint(N_VOCAB, size=40).astype(np.int32)
    iterator = ParallelSequentialIterator(words, 4)
    rnn = RNN()
    model = L.Classifier(rnn)
    model.compute_accuracy = False
    model.to_device(device)
    optimizer = chainer.optimizers.SGD(lr=1.0)
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(5))
    start(model=model, words=words)
    trainer = training.Trainer(
        BPTTUpdater(iterator, optimizer, device), (iterations, 'iteration'), chainer.config.out
    )
    eval_model = model.copy()
    eval_rnn = eval_model.predictor
    trainer.extend(
        extensions.Evaluator(
            ParallelSequentialIterator(words[:8], 1, repeat=False),
            eval_model,
            device=device,
            eval_hook=lambda _: eval_rnn.reset_state(),
        ),
        trigger=(2, 'iteration'),
    )
    trainer.extend(extensions.LogReport(postprocess=compute_perplexity, trigger=(2, 'iteration')))
    trainer.extend(extensions.snapshot_object(model, 'model_iter_{.updater.iteration}'))
    losses = []
    trainer.extend(
        lambda t: losses.append([float(t.observation['main/loss'].array)]),
        name='keep',
        trigger=(1, 'iteration'),
    )
    trainer.run()
    log = trainer.get_extension('LogReport').log
    return [*losses, *[[entry['perplexity'], entry['val_perplexity']] for entry in log]]
