"""Sequence losses by enumeration of all paths, for the rows of loss.py."""

import itertools

import numpy as np
import scipy.special


def connectionist(x, t, blank_symbol, input_length=None, label_length=None, reduce='mean'):
    log_p = scipy.special.log_softmax(np.stack(x) if len(x) else x, 2)
    n_steps, rows = log_p.shape[:2]
    input_length = [n_steps] * rows if input_length is None else input_length
    label_length = [t.shape[1]] * rows if label_length is None else label_length
    losses = np.zeros(rows)
    for row in range(rows):
        wanted = states_of(t[row, : label_length[row]], blank_symbol)
        steps = input_length[row]
        found = [-np.inf]
        for way in itertools.product(range(len(wanted)), repeat=steps):
            if is_way(way, wanted):
                found.append(sum(log_p[i, row, wanted[s]] for i, s in enumerate(way)))
        losses[row] = -scipy.special.logsumexp(found)
    return losses if reduce == 'no' else losses.mean()


def states_of(labels, blank):
    states = [blank]
    for label in labels:
        states += [label, blank]
    return states


def is_way(way, states):
    """Whether a path starts and ends validly, and skips only blanks between two labels."""
    if not way:
        return len(states) == 1
    if way[0] > 1 or way[-1] < len(states) - 2:
        return False
    steps = itertools.pairwise(way)
    return all(b - a in (0, 1) or (b - a == 2 and states[b] != states[a]) for a, b in steps)


def score(cost, xs, labels):
    """The score of one sequence."""
    total = sum(x[label] for x, label in zip(xs, labels, strict=True))
    return total + sum(cost[a, b] for a, b in itertools.pairwise(labels))


def sequences(xs):
    """All sequences of adjacent elements."""
    return [[x[i] for x in xs if i < len(x)] for i in range(len(xs[0]))]


def all_scores(cost, xs):
    return [score(cost, xs, way) for way in itertools.product(range(len(cost)), repeat=len(xs))]


def crf1d(cost, xs, ys, reduce='mean'):
    losses = np.array([
        scipy.special.logsumexp(all_scores(cost, x)) - score(cost, x, y)
        for x, y in zip(sequences(xs), sequences(ys), strict=True)
    ])  # fmt: skip
    return losses if reduce == 'no' else losses.mean()


def argmax_crf1d_score(cost, xs):
    return np.array([max(all_scores(cost, x)) for x in sequences(xs)])
