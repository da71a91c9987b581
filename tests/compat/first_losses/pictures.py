"""Programs for images."""

import numpy as np

from . import _layers as nn


def resnet(s):
    def block(name, x, stride):
        h = nn.conv(s, f'{name}/conv1', x, stride, 1)
        h = np.maximum(nn.batch_norm(s, f'{name}/bn1', h), 0)
        h = nn.batch_norm(s, f'{name}/bn2', nn.conv(s, f'{name}/conv2', h, 1, 1))
        if stride != 1:
            x = nn.conv(s, f'{name}/shortcut', x, stride)
        return np.maximum(h + x, 0)

    name = 'model/predictor'
    h = nn.batch_norm(s, f'{name}/bn1', nn.conv(s, f'{name}/conv1', s['x'], 1, 1))
    h = block(f'{name}/blocks/0', np.maximum(h, 0), 1)
    h = block(f'{name}/blocks/1', h, 2).mean(axis=(2, 3))
    logit = nn.linear(s, f'{name}/fc', h)
    return [nn.cross_entropies(logit, s['t']).mean(), (logit.argmax(axis=1) == s['t']).mean()]


def pix2pix(s):
    def halve(name, x):
        return nn.conv(s, f'{name}/conv', x, 2, 1)

    def judge(image):
        h = [halve('judge/see_labels', s['x']), halve('judge/see_image', image)]
        return nn.conv(s, 'judge/verdict', nn.leaky_relu(np.concatenate(h, axis=1)), 1, 1)

    large = nn.leaky_relu(halve('colorist/large', s['x']))
    h = nn.batch_norm(s, 'colorist/small/norm', halve('colorist/small', large))
    h = nn.deconv(s, 'colorist/back/conv', nn.leaky_relu(h), 2, 1)
    h = nn.leaky_relu(nn.batch_norm(s, 'colorist/back/norm', h))
    made = np.tanh(nn.deconv(s, 'colorist/paint', np.concatenate([h, large], axis=1), 2, 1))
    of_made, of_image = judge(made), judge(s['t'])
    deceive = 10 * abs(made - s['t']).mean() + nn.softplus(-of_made).mean()
    return [deceive, nn.softplus(-of_image).mean() + nn.softplus(of_made).mean()]


def ssd(s):
    def boxes(kind):
        parts = [nn.conv(s, f'model/detector/{kind}/{i}', h, pad=1) for i, h in enumerate(hs)]
        return np.concatenate(
            [h.transpose(0, 2, 3, 1).reshape(len(h), -1, h.shape[1]) for h in parts], axis=1
        )

    h = np.maximum(nn.conv(s, 'model/detector/conv1', s['x'], 2, 1), 0)
    first = nn.unit(h) * s['model/detector/norm/W'][:, None, None]
    pooled = h.reshape(len(h), 4, 2, 2, 2, 2).max(axis=(3, 5))
    second = nn.conv(s, 'model/detector/conv2', pooled, pad=2, dilate=2)
    hs = first, np.maximum(second, 0)
    labels = s['labels']
    d = abs(boxes('loc') - s['locs'])
    loc = np.where(d < 1, d**2 / 2, d - 0.5)[labels > 0].sum()
    losses = nn.cross_entropies(boxes('conf').reshape(-1, 3), labels.reshape(-1))
    conf = 0
    for row, t in zip(losses.reshape(labels.shape), labels, strict=True):
        negatives = np.sort(row[t == 0])[::-1]
        conf += row[t > 0].sum() + negatives[: 3 * (t > 0).sum()].sum()
    n = (labels > 0).sum()
    return [(loc + conf) / n, loc / n, conf / n]


def style(s):
    def eye(x):
        near = np.maximum(nn.conv(s, 'eye/0', x, pad=1), 0)
        near = np.maximum(nn.conv(s, 'eye/1', near, pad=1), 0)
        return near, np.maximum(nn.conv(s, 'eye/2', nn.average_pool(near), pad=1), 0)

    def texture(y):
        y = y.reshape(y.shape[1], -1)
        return y @ y.T / y.size

    paint = s['canvas/paint']
    seen = eye(paint)
    loss = ((seen[1] - eye(s['scene'])[1]) ** 2).mean()
    for y, t in zip(seen, eye(s['style']), strict=True):
        loss += 5 * ((texture(y) - texture(t)) ** 2).mean()
    return [loss + 1e-2 * sum((np.diff(paint, axis=axis) ** 2).sum() for axis in (2, 3))]


def capsules(s):
    def shorten(v):
        length = np.linalg.norm(v, axis=-1, keepdims=True)
        return v * length / (1 + length**2)

    x, t = s['x'], s['t']
    h = nn.conv(s, 'model/parts', np.maximum(nn.conv(s, 'model/edges', x), 0), stride=2)
    parts = shorten(h.reshape(len(x), 3, 2, -1).transpose(0, 1, 3, 2))
    votes = np.tensordot(parts, s['model/routing/transform'][0], 1)
    for i in range(3):
        votes[:, i] = np.tensordot(parts[:, i], s['model/routing/transform'][i], 1)
    votes = votes.reshape(len(x), -1, 3, 4)
    agreement = np.zeros(votes.shape[:3])
    for _ in range(3):
        wholes = shorten((nn.softmax(agreement, 2)[..., None] * votes).sum(axis=1))
        agreement = agreement + (votes * wholes[:, None]).sum(axis=3)
    length = np.linalg.norm(wholes, axis=2)
    here = t[:, None] == np.arange(3)
    margin = np.where(here, np.maximum(0.9 - length, 0), np.maximum(length - 0.1, 0) * 0.5**0.5)
    painted = nn.sigmoid(nn.linear(s, 'model/repaint', wholes[here]))
    error = ((painted - x.reshape(len(x), -1)) ** 2).mean()
    return [(margin**2).sum() / len(x) + 0.05 * error]
