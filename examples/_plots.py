"""Plots for the programs that use _programs.py: results beside the losses."""

import numpy as np


def _figure(n_columns):
    import matplotlib

    matplotlib.use('Agg')
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(1, n_columns, figsize=(5 * n_columns, 4.5), layout='constrained')
    return fig, np.atleast_1d(axes)


def _save(fig, out, name):
    out.mkdir(parents=True, exist_ok=True)
    fig.savefig(out / name, dpi=100)
    print(f'Picture: {out / name}')


def _draw_losses(ax, losses, labels=None, axes=('epoch', 'mean training loss')):
    ax.plot(range(1, len(losses) + 1), losses, marker='o', markersize=3, label=labels)
    ax.set(xlabel=axes[0], ylabel=axes[1])
    ax.grid(True, alpha=0.3)
    if labels:
        ax.legend()


def save_attention(out, losses, look, source, guess):
    """Saves attention weights (letters written, letters read) beside the losses."""
    fig, (left, right) = _figure(2)
    _draw_losses(left, losses)
    right.imshow(look[: len(guess), : len(source)], cmap='Blues')
    right.set_xticks(range(len(source)), source)
    right.set_yticks(range(len(guess)), guess)
    _save(fig, out, 'seq2seq.png')


def save_digits(out, name, losses, titled_rows, labels=None):
    """Saves rows of 8 x 8 images, each row with its title, beside the losses."""
    fig, (left, right) = _figure(2)
    _draw_losses(left, losses, labels)
    rows = [np.hstack([np.pad(x.reshape(8, 8), 1) for x in images]) for _, images in titled_rows]
    right.imshow(np.vstack(rows), cmap='gray_r')
    right.set_yticks([10 * i + 5 for i in range(len(rows))], [title for title, _ in titled_rows])
    right.set_xticks([])
    _save(fig, out, name)


def save_map(out, losses, words, places):
    """Saves words at their positions (n, 2) beside the losses."""
    fig, (left, right) = _figure(2)
    _draw_losses(left, losses)
    right.scatter(*places.T, s=2)
    for word, place in zip(words, places, strict=True):
        right.annotate(word, place, fontsize=6)
    _save(fig, out, 'word2vec.png')


def save_surprise(out, bits, text, surprise):
    """Saves the surprise of each character of an unseen text beside the bits of each step."""
    fig, (left, right) = _figure(2)
    _draw_losses(left, bits, axes=('iteration', 'bits per character'))
    right.bar(range(len(text)), surprise)
    right.set_xticks(range(len(text)), [repr(c)[1:-1] for c in text], fontsize=7)
    right.set(xlabel='unseen text', ylabel='bits of surprise')
    _save(fig, out, 'char_lm.png')


def save_confusion(out, name, losses, labels, truth, guess):
    """Saves the confusion matrix beside the losses."""
    fig, (left, right) = _figure(2)
    _draw_losses(left, losses)
    counts = np.zeros((len(labels), len(labels)), int)
    np.add.at(counts, (truth, guess), 1)
    right.imshow(counts, cmap='Blues', vmax=2 * counts.max())
    for (row, column), count in np.ndenumerate(counts):
        right.text(column, row, count, ha='center', va='center')
    right.set_xticks(range(len(labels)), labels)
    right.set_yticks(range(len(labels)), labels)
    right.set(xlabel='guess', ylabel='truth')
    _save(fig, out, name)


def save_guesses(out, name, losses, images, truth, guess):
    """Saves images (n, 3, height, width) with their predicted labels beside the losses."""
    fig, axes = _figure(2)
    _draw_losses(axes[0], losses)
    axes[1].axis('off')
    for i, (x, t, y) in enumerate(zip(images[:20], truth, guess, strict=False)):
        ax = axes[1].inset_axes([i % 5 / 5, 0.75 - i // 5 / 4, 0.18, 0.18])
        ax.imshow((x - x.min()).transpose(1, 2, 0) / max(np.ptp(x), 1e-9))
        ax.set_title(
            str(y) if y == t else f'{y}, not {t}', color='k' if y == t else 'r', fontsize=8
        )
        ax.axis('off')
    _save(fig, out, name)
