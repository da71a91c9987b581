"""What programs of v7 do in a step, captured and not: the same bits after each iteration."""

import chainer
import chainer.functions as F
import chainer.links as L
import chainerx as chx
import numpy as np
import pytest
from capture.training_steps import numpy
from chainer import distributions as D

N = 9


class Encoder(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.first = L.Linear(4, 6)
            self.second = L.Linear(6, 4)

    def forward(self, x):
        return self.second(F.tanh(self.first(x)))


class Words(chainer.Chain):
    def __init__(self, loss):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(5, 4)
            self.loss = loss

    def forward(self, x, t):
        return self.loss(self.embed(x), t)


class Translator(chainer.Chain):
    """Sequences of several lengths; the first word of each output is made of a number."""

    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(6, 4)
            self.encoder = L.NStepLSTM(2, 4, 4, 0.3)
            self.decoder = L.NStepGRU(3, 4, 4, 0.3)
            self.words = L.Linear(4, 6)

    def forward(self, xs, ys):
        eos = self.xp.array([0], np.int32)
        before = [F.concat([eos, y], axis=0) for y in ys]
        after = [F.concat([y, eos], axis=0) for y in ys]
        h, _, _ = self.encoder(None, None, [self.embed(x[::-1]) for x in xs])
        _, outputs = self.decoder(F.concat([h, h[:1]], axis=0), [self.embed(y) for y in before])
        loss = F.softmax_cross_entropy(self.words(F.concat(outputs, 0)), F.concat(after, 0))
        return loss / len(xs)


def floats(rng):
    return (chx.array(rng.normal(size=(5, 4)).astype('f')),)


def words(rng):
    return tuple(chx.array(rng.randint(0, 5, 7).astype('i')) for _ in range(2))


def sequences(rng):
    def draw():
        return [chx.array(rng.randint(1, 6, n).astype('i')) for n in (3, 2)]

    return draw(), draw()


def of_normal(model):
    def loss(x):
        mean, log_scale = F.split_axis(model(x), 2, 1)
        q = D.Normal(mean, log_scale=log_scale)
        prior = D.Normal(chx.zeros(mean.shape), chx.ones(mean.shape))
        z = q.sample()
        return F.sum(q.log_prob(z) - prior.log_prob(z)) + F.sum(chainer.kl_divergence(q, prior))

    return loss


def of_categories(model):
    def loss(x):
        policy = D.Categorical(logit=model(x))
        action = policy.sample()
        return F.sum(policy.log_prob(action.array)) + F.sum(policy.entropy)

    return loss


def of_bernoulli(model):
    def loss(x):
        d = D.Bernoulli(logit=model(x))
        return F.sum(d.log_prob(d.sample(2)))

    return loss


def of_two_samples(model):
    def loss(x):
        d = D.Laplace(model(x), chx.ones((5, 4)))
        return F.sum(d.sample() * d.sample(3))

    return loss


def forgotten(model):
    def part(x):
        return F.dropout(model.first(x))

    # Parameters of the part have no gradients before backward, those of the other one never.
    return lambda x: F.sum(F.forget(part, chainer.Variable(x)) ** 2)


def pieces(model):
    """Arrays that functions make of lists and of numbers that they compute."""

    def loss(x):
        y = model(x)
        image = F.resize_images(F.reshape(y, (1, 1, 5, 4)), (3, 7))
        times = F.transpose_sequence([y, y[:3]])
        scattered = F.scatter_add(y, ([0, 1], [1, 0]), chx.ones(2))
        parts = [image, *times, scattered, y[:, [0, 2]], F.get_item(y, [0, 1])]
        return sum(F.sum(part**2) for part in parts)

    return loss


def of_gumbel(model):
    return lambda x: F.sum(F.gumbel_softmax(model(x)) * F.gumbel_softmax(model(x)) ** 2)


PROGRAMS = {
    'pieces': (Encoder, pieces, floats),
    'Gumbel': (Encoder, of_gumbel, floats),
    'Normal': (Encoder, of_normal, floats),
    'Categorical': (Encoder, of_categories, floats),
    'Bernoulli': (Encoder, of_bernoulli, floats),
    'two samples': (Encoder, of_two_samples, floats),
    'forget': (Encoder, forgotten, floats),
    'unchained': (
        Encoder,
        lambda m: lambda x: F.sum(m.second(chainer.Variable(F.tanh(m.first(x)).array))),
        floats,
    ),
    'negative sampling': (
        lambda: Words(L.NegativeSampling(4, [5, 4, 3, 2, 1], 3)),
        lambda m: lambda x, t: m(x, t) + m(t, x),
        words,
    ),
    'black out': (lambda: Words(L.BlackOut(4, [5, 4, 3, 2, 1], 3)), lambda m: m, words),
    'hierarchical softmax': (
        lambda: Words(L.BinaryHierarchicalSoftmax(4, ((0, 1), ((2, 3), 4)))),
        lambda m: m,
        words,
    ),
    'sequences': (Translator, lambda m: m, sequences),
}


def run(name, capture):
    make, loss_of, data = PROGRAMS[name]
    np.random.seed(0)
    model = make().to_chx()
    optimizer = chainer.optimizers.Adam().setup(model)
    loss_func = loss_of(model)

    def update(*args):
        optimizer.update(loss_func, *args)

    step = chx.capture(update) if capture else update
    rng = np.random.RandomState(0)
    states = []
    for _ in range(N):
        step(*data(rng))
        states.append(
            [optimizer.t, np.random.get_state()[2]]
            + [numpy(p.array) for p in model.params()]
            + [None if p.grad is None else numpy(p.grad) for p in model.params()]
        )
    return step, states


@pytest.mark.parametrize('name', PROGRAMS)
def test_the_same_bits(name):
    step, states = run(name, True)
    _, expected = run(name, False)
    for i in range(N):
        for x, y in zip(states[i], expected[i], strict=True):
            np.testing.assert_array_equal(x, y, f'iteration {i}')
    assert step.info()[0].replays == N - 3


BAD = {
    'Normal': (lambda x: D.Normal(x, x).sample(), r'Normal: scale\[1\] is -1.0, expected finite'),
    'Categorical': (
        lambda x: D.Categorical(logit=chx.ones((2, 3))).log_prob(x),
        r'Categorical.log_prob: x has -1.0, expected integers from 0 to 2',
    ),
}


@pytest.mark.parametrize('name', BAD)
def test_values_out_of_their_domain_in_a_replay(name):
    f, text = BAD[name]
    step = chx.capture(f)
    for _ in range(5):
        step(chx.array([1, 2], 'float32'))
    bad = chx.array([1, -1], 'float32')
    with pytest.raises((ValueError, IndexError), match=text):
        step(bad)
    step(chx.array([1, 2], 'float32'))
    assert step.info()[0].replays == 3


class Square(chainer.FunctionNode):
    def forward(self, inputs):
        return (inputs[0] ** 2,)


class Cube(chainer.Function):
    def forward(self, inputs):
        return (inputs[0] ** 3,)


class Native(chainer.FunctionNode):
    def forward_chainerx(self, inputs):
        return (inputs[0] * 4,)


@pytest.mark.parametrize('kind', [np, chx])
@pytest.mark.parametrize('call', [lambda x: Square().apply((x,))[0], lambda x: Cube()(x)])
def test_functions_of_the_program_are_refused_by_name(call, kind):
    step = chx.capture(call)
    x = chainer.Variable(kind.ones(2, 'float32'))
    step(x)
    with pytest.raises(chx.CaptureError, match=r'forward of (Square|Cube) computes outside'):
        step(x)


def test_functions_of_the_program_that_chainerx_computes():
    step = chx.capture(lambda x: Native().apply((x,))[0] + 1)
    for i in range(6):
        assert step(chx.full((2,), i, 'float32')).array.tolist() == [4 * i + 1] * 2
    assert step.info()[0].replays == 3
