"""A gated graph network with a set-to-set readout, and a graph convolution, on small molecules."""

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import reporter
from chainer.training import extensions

N_ATOM_TYPES, N_EDGE_TYPES, N_HIDDEN, N_STEPS = 5, 2, 4, 2


class GGNNUpdate(chainer.Chain):
    """Messages along each type of edge; a gated recurrent unit takes them in."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.messages = L.Linear(N_HIDDEN, N_EDGE_TYPES * N_HIDDEN)
            self.update_layer = L.GRU(2 * N_HIDDEN, N_HIDDEN)

    def reset_state(self):
        self.update_layer.reset_state()

    def forward(self, h, adj):
        batch, atoms, units = h.shape
        m = F.reshape(self.messages(h, n_batch_axes=2), (batch, atoms, units, N_EDGE_TYPES))
        m = F.transpose(m, (0, 3, 1, 2))
        m = F.reshape(m, (batch * N_EDGE_TYPES, atoms, units))
        m = F.matmul(F.reshape(adj, (batch * N_EDGE_TYPES, atoms, atoms)), m)
        m = F.sum(F.reshape(m, (batch, N_EDGE_TYPES, atoms, units)), axis=1)
        out = self.update_layer(F.reshape(F.concat((h, m), axis=2), (batch * atoms, -1)))
        return F.reshape(out, (batch, atoms, units))


class Set2Set(chainer.Chain):
    """Attention over the atoms, asked for by an LSTM."""

    def __init__(self, processing_steps=2):
        super().__init__()
        self.processing_steps = processing_steps
        with self.init_scope():
            self.lstm = L.LSTM(2 * N_HIDDEN, N_HIDDEN)
        self.q_star = None

    def reset_state(self):
        self.lstm.reset_state()
        self.q_star = None

    def forward(self, h):
        xp = self.xp
        batch, _, units = h.shape
        if self.q_star is None:
            self.q_star = [xp.zeros((1, 2 * units)).astype(h.dtype) for _ in range(batch)]
        self.q_star = F.concat(self.q_star, axis=0)
        for _ in range(self.processing_steps):
            q = self.lstm(self.q_star)
            energy = F.sum(h * F.broadcast_to(F.expand_dims(q, 1), h.shape), axis=2)
            attention = F.softmax(energy)
            r = F.sum(h * F.broadcast_to(F.expand_dims(attention, 2), h.shape), axis=1)
            self.q_star = F.concat((q, r), axis=1)
        return self.q_star


class GCN(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.linear = L.Linear(N_HIDDEN, N_HIDDEN)

    def forward(self, h, adj):
        adj = adj.sum(axis=1)
        degree = self.xp.maximum(adj.sum(axis=2, keepdims=True), 1)
        return F.relu(self.linear(F.matmul(adj / degree, h), n_batch_axes=2)) + h


class Model(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(N_ATOM_TYPES, N_HIDDEN, ignore_label=0)
            self.update_layer = GGNNUpdate()
            self.gcn = GCN()
            self.readout = Set2Set()
            self.mlp = L.Linear(2 * N_HIDDEN, 1)

    def forward(self, atoms, adj):
        self.update_layer.reset_state()
        self.readout.reset_state()
        h = self.embed(atoms)
        for _ in range(N_STEPS):
            h = self.update_layer(h, adj)
        return self.mlp(self.readout(self.gcn(h, adj)))


class Regressor(chainer.Chain):
    def __init__(self, predictor):
        super().__init__()
        with self.init_scope():
            self.predictor = predictor

    def forward(self, atoms, adj, t):
        y = self.predictor(atoms, adj)
        loss = F.mean_squared_error(y, t)
        reporter.report({'loss': loss, 'abs': F.mean_absolute_error(y, t)}, self)
        return loss


def make_molecule(n_atoms):
    atoms = np.random.randint(1, N_ATOM_TYPES, n_atoms).astype(np.int32)
    adj = np.zeros((N_EDGE_TYPES, n_atoms, n_atoms), np.float32)
    for i in range(1, n_atoms):
        kind, j = np.random.randint(N_EDGE_TYPES), np.random.randint(i)
        adj[kind, i, j] = adj[kind, j, i] = 1
    return atoms, adj, np.array([adj.sum() / 2], np.float32)


@chainer.dataset.converter()
def concat_molecules(batch, device):
    return chainer.dataset.concat_examples(batch, device, padding=0)


def train(device, start, iterations=3):
    data = [make_molecule(3 + i % 3) for i in range(12)]
    model = Regressor(Model())
    model.to_device(device)
    atoms, adj, t = concat_molecules(data[:4], device)
    start(model=model, atoms=atoms, adj=adj, t=t)
    optimizer = chainer.optimizers.Adam(0.01).setup(model)
    iterator = chainer.iterators.SerialIterator(data, 4, shuffle=False)
    updater = chainer.training.StandardUpdater(
        iterator, optimizer, converter=concat_molecules, device=device
    )
    trainer = chainer.training.Trainer(updater, (iterations, 'iteration'), chainer.config.out)
    trainer.extend(
        extensions.Evaluator(
            {'main': chainer.iterators.SerialIterator(data, 4, repeat=False, shuffle=False)},
            {'main': model},
            converter=concat_molecules,
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
