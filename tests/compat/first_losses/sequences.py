"""Programs for sequences of words and signals."""

import itertools

import numpy as np

from . import _layers as nn


def transformer(s):
    def attend(name, x, z, mask):
        query = x @ s[f'{name}/query/W'].T
        key, value = np.split(z @ s[f'{name}/key_value/W'].T, 2, axis=2)
        heads = []
        for part in (slice(0, 4), slice(4, 8)):
            score = query[..., part] @ key[..., part].transpose(0, 2, 1) / 2
            heads.append(nn.softmax(np.where(mask, score, -1e9), axis=2) @ value[..., part])
        return np.concatenate(heads, axis=2) @ s[f'{name}/out/W'].T

    def feed_forward(name, x):
        h = nn.linear(s, f'{name}/w2', nn.leaky_relu(nn.linear(s, f'{name}/w1', x), 0.1))
        return nn.layer_norm(s, f'{name}/ln3', x + h)

    def embed(ids):
        angle = np.arange(ids.shape[1])[:, None] * 1e4 ** (-np.arange(4) / 3)
        h = np.where(ids[:, :, None] < 0, 0, s['model/embed/W'][ids])
        return h * 8**0.5 + np.concatenate([np.sin(angle), np.cos(angle)], axis=1)

    source, target_in, target_out = s['source'], s['target_in'], s['target_out'].reshape(-1)
    keys = (source >= 0)[:, None]
    x = embed(source)
    mask = (source >= 0)[:, :, None] & keys
    name = 'model/encoder'
    x = nn.layer_norm(s, f'{name}/ln1', x + attend(f'{name}/self_attention', x, x, mask))
    memory = feed_forward(name, x)
    seen = target_in >= 0
    x = embed(target_in)
    mask = seen[:, :, None] & seen[:, None] & np.tri(target_in.shape[1], dtype=bool)
    name = 'model/decoder'
    x = nn.layer_norm(s, f'{name}/ln1', x + attend(f'{name}/self_attention', x, x, mask))
    h = attend(f'{name}/source_attention', x, memory, seen[:, :, None] & keys)
    x = feed_forward(name, nn.layer_norm(s, f'{name}/ln2', x + h))
    logit = x.reshape(-1, 8) @ s['model/embed/W'].T + s['model/bias']
    words = target_out >= 0
    right = logit.argmax(axis=1)[words] == target_out[words]
    return [nn.cross_entropies(logit[words], target_out[words]).mean(), right.mean()]


def seq2seq(s):
    losses = []
    for x, y in zip(s['xs'], s['ys'], strict=True):
        source = s['model/heard/W'][x[::-1]]
        target = s['model/said/W'][np.r_[1, y]]
        for layer in range(2):
            zeros = np.zeros(6)
            c, h, source = nn.n_step_lstm(s, f'model/listen/{layer}', zeros, zeros, source)
            _, _, target = nn.n_step_lstm(s, f'model/speak/{layer}', c, h, target)
        context = nn.softmax(target @ source.T) @ source
        h = np.concatenate([context, target], axis=1)
        h = np.tanh(nn.linear(s, 'model/focus/mix', h))
        losses.append(nn.cross_entropies(nn.linear(s, 'model/word', h), np.r_[y, 1]))
    return [np.concatenate(losses).sum() / len(losses), np.exp(np.concatenate(losses).mean())]


def language_model(s):
    words = s['words']
    states = [(np.zeros((4, 5)), np.zeros((4, 5)))] * 2
    places = np.arange(4) * 10
    for t in range(3):
        h = s['model/predictor/words/W'][words[places + t]]
        for i, state in enumerate(states):
            states[i] = nn.lstm(s, f'model/predictor/layers/{i}', *state, h)
            h = states[i][1]
        logit = nn.linear(s, 'model/predictor/out', h)
        loss = nn.cross_entropies(logit, words[places + t + 1]).mean()
    return [loss]  # the reported loss is that of the last step


def bert_classifier(s):
    encoder = 'model/predictor/0'

    def linear(name, x):
        return nn.linear(s, f'{encoder}/{name}', x)

    def norm(i, x):
        return nn.layer_norm(s, f'{encoder}/norms/{i}', x)

    h = norm(0, s[f'{encoder}/words/W'][s['ids']] + s[f'{encoder}/places'])
    heads = []
    for query, key, value in (
        linear('mixer/look', h).reshape(4, 5, 3, 2, 3).transpose(3, 2, 0, 1, 4)
    ):
        score = np.where(s['mask'][:, None] > 0, query @ key.transpose(0, 2, 1) / 3**0.5, -np.inf)
        heads.append(nn.softmax(score, axis=2) @ value)
    h = norm(1, h + linear('mixer/join', np.concatenate(heads, axis=2)))
    wide = linear('wide', h)
    h = norm(2, h + linear('narrow', wide * nn.sigmoid(1.702 * wide)))
    logit = nn.linear(s, 'model/predictor/1', np.tanh(h[:, 0]))
    return [nn.cross_entropies(logit, s['labels']).mean()]


def word_vectors(s):
    offsets = np.array([-2, -1, 1, 2])
    around = {name: s['words'][place[:, None] + offsets] for name, place in s['places'].items()}

    center = s['words'][s['places']['skipgram']].repeat(4)
    samples = np.random.RandomState(0).randint(0, 7, (20, 3))
    samples[:, 0] = center
    x = s['skipgram/vectors/W'][around['skipgram'].reshape(-1)]
    score = np.einsum('nd,nkd->nk', x, s['skipgram/guess/W'][samples])
    skipgram = nn.softplus(score * [-1, 1, 1]).sum()

    paths, rows = {}, itertools.count()

    def walk(node, path):
        if isinstance(node, tuple):
            row = next(rows)
            walk(node[0], [*path, (row, 1)])
            walk(node[1], [*path, (row, -1)])
        else:
            paths[node] = path

    walk(s['tree'], [])
    x = s['bow/vectors/W'][around['bow']].mean(axis=1)
    bow = 0
    for h, word in zip(x, s['words'][s['places']['bow']], strict=True):
        for row, sign in paths[word]:
            bow += nn.softplus(-sign * (s['bow/guess/W'][row] @ h))
    return [skipgram, bow]


def recognizer(s):
    losses = []
    for x, t in zip(s['xs'], s['ts'], strict=True):
        W = s['model/conv/W']
        padded = np.pad(x, ((1, 1), (0, 0)))
        h = sum(padded[k : k + len(x)] @ W[:, :, k].T for k in range(3)) + s['model/conv/b']
        h = np.tanh(h)
        forth = nn.n_step_gru(s, 'model/rnn/0', np.zeros(4), h)
        back = nn.n_step_gru(s, 'model/rnn/1', np.zeros(4), h[::-1])[::-1]
        p = nn.softmax(nn.linear(s, 'model/out', np.concatenate([forth, back], axis=1)))
        total = 0.0
        for path in itertools.product(range(4), repeat=len(x)):
            symbols = [a for a, _ in itertools.groupby(path) if a != 0]
            if symbols == t.tolist():
                total += p[np.arange(len(x)), path].prod()
        losses.append(-np.log(total))
    return [np.mean(losses)]


def tagger(s):
    losses = []
    cost = s['model/crf/cost']
    for x, t in zip(s['xs'], s['ts'], strict=True):
        e = s['model/embed/W'][x]
        zeros = np.zeros(4)
        forth = nn.n_step_lstm(s, 'model/rnn/0', zeros, zeros, e)[2]
        back = nn.n_step_lstm(s, 'model/rnn/1', zeros, zeros, e[::-1])[2][::-1]
        y = nn.linear(s, 'model/feature', np.concatenate([forth, back], axis=1))
        scores = {
            path: y[np.arange(len(x)), path].sum() + cost[path[:-1], path[1:]].sum()
            for path in itertools.product(range(3), repeat=len(x))
        }
        losses.append(np.log(np.exp(list(scores.values())).sum()) - scores[tuple(t)])
    return [np.mean(losses)]
