"""Learn to write like Python's documentation: a model of characters with an LSTM.

python examples/char_lm.py
python examples/char_lm.py --device @numpy --iterations 1000 --units 256

The text is the language reference of `help()`, which Python ships (`pydoc_data.topics`). The score
is measured on unseen text, in bits per character; the program ends with an error above MOST_BITS.
Guessing from the frequencies of characters takes 4.7 bits.
"""

import sys
from pydoc_data import topics

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from _plots import save_surprise
from _programs import parse_args, to_numpy

MOST_BITS = 2.7
LENGTH = 50  # length of the training sequences
BATCH = 32


class CharLM(chainer.Chain):
    """Predicts the character after each one of some texts."""

    def __init__(self, n_chars, n_units):
        super().__init__()
        with self.init_scope():
            self.embed = L.EmbedID(n_chars, 64)
            self.lstm = L.NStepLSTM(1, 64, n_units, 0.0)
            self.out = L.Linear(n_units, n_chars)

    def forward(self, texts, hx=None, cx=None):
        """Scores of the next characters at all positions, text by text, and the states."""
        ends = np.cumsum([len(text) for text in texts[:-1]])
        embedded = F.split_axis(self.embed(F.concat(texts, axis=0)), ends, 0)
        hy, cy, ys = self.lstm(hx, cx, list(embedded))
        return self.out(F.concat(ys, axis=0)), hy, cy

    def loss(self, pieces, reduce='mean'):
        """Cross entropy of the characters of some texts, in nats."""
        scores, _, _ = self(chunks(pieces[:, :-1]))
        t = F.concat(chunks(pieces[:, 1:]), axis=0)
        return F.softmax_cross_entropy(scores, t, reduce=reduce)

    def sample(self, text, n, rng):
        """Continues `text` for n characters."""
        xp, state, text = self.xp, (None, None), list(text)
        x = xp.array(text, dtype=np.int32)
        with chainer.using_config('train', False), chainer.no_backprop_mode():
            for _ in range(n):
                scores, *state = self([x], *state)
                p = self.device.xp.exp(F.log_softmax(scores[-1:]).array[0])
                p = to_numpy(p).astype('d')
                text.append(rng.choice(len(p), p=p / p.sum()))
                x = xp.array(text[-1:], dtype=np.int32)
        return text


def chunks(pieces):
    return [pieces[i] for i in range(len(pieces))]


def load_text():
    """The text as integers, and the characters that they stand for."""
    text = '\n'.join(topics.topics[name] for name in sorted(topics.topics))
    characters = sorted(set(text))
    number = {character: i for i, character in enumerate(characters)}
    return np.array([number[character] for character in text], np.int32), characters


def main():
    args = parse_args(__doc__, iterations=200, units=128)
    rng = np.random.RandomState(args.seed)
    text, characters = load_text()
    n_train = len(text) * 9 // 10

    model = CharLM(len(characters), args.units)
    model.to_device(args.device)
    optimizer = chainer.optimizers.Adam(alpha=0.01)
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(5.0))
    learning = []
    for i in range(args.iterations):
        optimizer.alpha = 0.01 * (1 - i / args.iterations)
        begins = rng.randint(0, n_train - LENGTH, BATCH)
        pieces = np.stack([text[begin : begin + LENGTH + 1] for begin in begins])
        loss = model.loss(model.device.send(pieces))
        model.cleargrads()
        loss.backward()
        optimizer.update()
        learning.append(loss.array / np.log(2))  # on the device: no step waits for it
        if (i + 1) % 50 == 0:
            print(f'iteration {i + 1}: {float(learning[-1]):.3f} bits per character')

    n_pieces = min(100, (len(text) - n_train) // 201)
    unseen = text[n_train : n_train + n_pieces * 201].reshape(n_pieces, 201)
    with chainer.using_config('train', False), chainer.no_backprop_mode():
        surprise = to_numpy(model.loss(model.device.send(unseen), 'no').array) / np.log(2)
    bits = surprise.mean(dtype='d')
    start = text[n_train - LENGTH : n_train]
    print(''.join(characters[i] for i in model.sample(start, 200, rng)))
    if not args.no_plots:
        shown = [characters[i] for i in unseen[0, 1:51]]
        save_surprise(args.out, [float(x) for x in learning], shown, surprise[:50])
    print(f'Score: {bits:.3f} bits per character of unseen text (device {args.device})')
    if bits > MOST_BITS:
        sys.exit(f'The score is {bits:.3f}, above the {MOST_BITS} that it may be.')


if __name__ == '__main__':
    main()
