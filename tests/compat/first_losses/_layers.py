"""Layers in NumPy; `s` has the values of links under their paths."""

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.logaddexp(0, x)


def leaky_relu(x, slope=0.2):
    return np.where(x < 0, slope * x, x)


def log_softmax(x, axis=1):
    x = x - x.max(axis=axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=axis, keepdims=True))


def softmax(x, axis=1):
    return np.exp(log_softmax(x, axis))


def cross_entropies(x, t):
    """The cross entropy of each row."""
    return -log_softmax(x)[np.arange(len(t)), t]


def linear(s, name, x):
    return x @ s[f'{name}/W'].T + s.get(f'{name}/b', 0)


def convolve(x, W, b=None, stride=1, pad=0, dilate=1):
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    reach = dilate * (np.array(W.shape[2:]) - 1)
    h, w = (np.array(x.shape[2:]) - reach - 1) // stride * stride + 1
    y = 0
    for i, j in np.ndindex(*W.shape[2:]):
        part = x[:, :, i * dilate :, j * dilate :][:, :, :h:stride, :w:stride]
        y = y + np.einsum('bihw,oi->bohw', part, W[:, :, i, j])
    return y if b is None else y + b[:, None, None]


def conv(s, name, x, stride=1, pad=0, dilate=1):
    return convolve(x, s[f'{name}/W'], s.get(f'{name}/b'), stride, pad, dilate)


def deconv(s, name, x, stride, pad):
    W = s[f'{name}/W']
    (batch, _, h, w), (kh, kw) = x.shape, W.shape[2:]
    y = np.zeros((batch, W.shape[1], (h - 1) * stride + kh, (w - 1) * stride + kw))
    for i, j in np.ndindex(kh, kw):
        part = np.einsum('bihw,io->bohw', x, W[:, :, i, j])
        y[:, :, i : i + h * stride : stride, j : j + w * stride : stride] += part
    y = y[:, :, pad : y.shape[2] - pad, pad : y.shape[3] - pad]
    return y if (b := s.get(f'{name}/b')) is None else y + b[:, None, None]


def standardize(x, axis, eps):
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + eps)


def batch_norm(s, name, x):
    axes = (0, *range(2, x.ndim))
    shape = (-1,) + (1,) * (x.ndim - 2)
    scale, offset = (np.reshape(s.get(f'{name}/{key}', z), shape) for key, z in _AFFINE)
    return standardize(x, axes, 2e-5) * scale + offset


_AFFINE = ('gamma', 1.0), ('beta', 0.0)


def layer_norm(s, name, x, eps=1e-6):
    return standardize(x, -1, eps) * s[f'{name}/gamma'] + s[f'{name}/beta']


def unit(x, axis=1, eps=1e-5):
    return x / (np.sqrt((x**2).sum(axis, keepdims=True)) + eps)


def average_pool(x):
    return (x[:, :, ::2, ::2] + x[:, :, 1::2, ::2] + x[:, :, ::2, 1::2] + x[:, :, 1::2, 1::2]) / 4


def lstm(s, name, c, h, x):
    """A step of links.LSTM, where the four gates of a unit are adjacent."""
    gates = linear(s, f'{name}/upward', x) + h @ s[f'{name}/lateral/W'].T
    a, i, f, o = np.moveaxis(gates.reshape(len(x), -1, 4), 2, 0)
    c = np.tanh(a) * sigmoid(i) + sigmoid(f) * c
    return c, sigmoid(o) * np.tanh(c)


def n_step_lstm(s, name, c, h, xs):
    """A layer of links.NStepLSTM over one sequence."""
    W, b = ([s[f'{name}/{key}{i}'] for i in range(8)] for key in 'wb')
    out = []
    for x in xs:
        i, f, a, o = (W[k] @ x + b[k] + W[k + 4] @ h + b[k + 4] for k in range(4))
        c = sigmoid(i) * np.tanh(a) + sigmoid(f) * c
        h = sigmoid(o) * np.tanh(c)
        out.append(h)
    return c, h, np.array(out)


def n_step_gru(s, name, h, xs):
    W, b = ([s[f'{name}/{key}{i}'] for i in range(6)] for key in 'wb')
    out = []
    for x in xs:
        r, z = (sigmoid(W[k] @ x + b[k] + W[k + 3] @ h + b[k + 3]) for k in range(2))
        h = (1 - z) * np.tanh(W[2] @ x + b[2] + r * (W[5] @ h + b[5])) + z * h
        out.append(h)
    return np.array(out)


def slope(f, x, eps=1e-5):
    """The gradient of f at x, by finite differences."""
    g = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        step = np.zeros_like(x)
        step[i] = eps
        g[i] = (f(x + step) - f(x - step)) / (2 * eps)
    return g
