"""A gated graph network with a set-to-set readout, and a graph convolution, on small molecules."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import reporter
from chainer.training import extensions

N_ELEMENTS, N_BONDS, N_UNITS, N_ROUNDS = 5, 2, 4, 2


class Neighbourhood(chainer.Chain):
    """Message passing with one weight per kind of bond, and a GRU update."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.say = chainer.ChainList(*(L.Linear(N_UNITS, N_UNITS) for _ in range(N_BONDS)))
            self.remember = L.GRU(2 * N_UNITS, N_UNITS)

    def forward(self, h, bonds):
        said = sum(
            F.matmul(bonds[:, kind], say(h, n_batch_axes=2)) for kind, say in enumerate(self.say)
        )
        both = F.concat([h, said], axis=2)
        return F.reshape(self.remember(F.reshape(both, (-1, 2 * N_UNITS))), h.shape)


class Readout(chainer.Chain):
    """A set-to-set readout: an LSTM makes queries for attention over the set."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.ask = L.LSTM(2 * N_UNITS, N_UNITS)
        self.found = None

    def reset_state(self):
        self.ask.reset_state()
        self.found = None

    def forward(self, h):
        if self.found is None:
            # A list of arrays, one per set.
            nothing = [self.xp.zeros((1, 2 * N_UNITS)).astype(h.dtype) for _ in range(len(h))]
            self.found = F.concat(nothing, axis=0)
        for _ in range(2):
            question = self.ask(self.found)
            weight = F.softmax(F.matmul(h, question[:, :, None]), axis=1)
            answer = F.sum(F.broadcast_to(weight, h.shape) * h, axis=1)
            self.found = F.concat([question, answer], axis=1)
        return self.found


class MeanOfNeighbours(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.linear = L.Linear(N_UNITS, N_UNITS)

    def forward(self, h, bonds):
        any_kind = bonds.sum(axis=1)
        count = self.xp.maximum(any_kind.sum(axis=2, keepdims=True), 1)
        return h + F.relu(self.linear(F.matmul(any_kind / count, h), n_batch_axes=2))


class Molecules(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.elements = L.EmbedID(N_ELEMENTS, N_UNITS, ignore_label=0)
            self.gated = Neighbourhood()
            self.mean = MeanOfNeighbours()
            self.readout = Readout()
            self.out = L.Linear(2 * N_UNITS, 1)

    def forward(self, atoms, bonds):
        self.gated.remember.reset_state()
        self.readout.reset_state()
        h = self.elements(atoms)
        for _ in range(N_ROUNDS):
            h = self.gated(h, bonds)
        return self.out(self.readout(self.mean(h, bonds)))


class Regression(chainer.Chain):
    def __init__(self, guess):
        super().__init__()
        with self.init_scope():
            self.guess = guess

    def forward(self, atoms, bonds, t):
        y = self.guess(atoms, bonds)
        loss = F.mean_squared_error(y, t)
        reporter.report({'loss': loss, 'abs': F.mean_absolute_error(y, t)}, self)
        return loss


def make_molecule(n_atoms):
    atoms = np.random.randint(1, N_ELEMENTS, n_atoms).astype(np.int32)
    bonds = np.zeros((N_BONDS, n_atoms, n_atoms), np.float32)
    for i in range(1, n_atoms):
        kind, j = np.random.randint(N_BONDS), np.random.randint(i)
        bonds[kind, i, j] = bonds[kind, j, i] = 1
    return atoms, bonds, np.array([bonds.sum() / 2], np.float32)


@chainer.dataset.converter()
def convert(batch, device):
    return chainer.dataset.concat_examples(batch, device, padding=0)


def train(device, start, iterations=3):
    data = [make_molecule(3 + i % 3) for i in range(12)]
    model = Regression(Molecules())
    model.to_device(device)
    atoms, bonds, t = convert(data[:4], device)
    start(model=model, atoms=atoms, bonds=bonds, t=t)
    optimizer = chainer.optimizers.Adam(0.01).setup(model)
    iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
    updater = chainer.training.StandardUpdater(
        iterator, optimizer, converter=convert, device=device
    )
    trainer = chainer.training.Trainer(updater, (iterations, 'iteration'), chainer.config.out)
    trainer.extend(
        extensions.Evaluator(
            {'main': chainer.iterators.SerialIterator(data, 4, repeat=False, shuffle=False)},
            {'main': model},
            converter=convert,
            device=device,
        ),
        trigger=(iterations, 'iteration'),
    )
    trainer.extend(extensions.LogReport(trigger=(1, 'iteration')))
    trainer.run()
    log = trainer.get_extension('LogReport').log
    return [
        *[[entry['main/loss'], entry['main/abs']] for entry in log],
        [log[-1]['validation/main/loss']],
    ]
