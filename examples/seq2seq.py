"""Translate dates as people write them to ISO 8601, letter by letter: seq2seq with attention.

The pairs are made with the standard library: "Friday, 13 March 2015" gives "2015-03-13". A
bidirectional encoder reads the letters; a decoder with attention writes one after the other.

    python examples/seq2seq.py
    python examples/seq2seq.py --device @numpy --out result
"""

import calendar
import datetime

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from _plots import save_attention
from _programs import finish, parse_args, run_batches, to_numpy

LETTERS = sorted({*'0123456789-, .', *''.join([*calendar.month_name, *calendar.day_name])})
END = len(LETTERS)  # marks the start and the end of the decoder's output
FORMS = ['{d} {month} {y}', '{month} {d}, {y}', '{day}, {d} {month} {y}', '{d}.{m}.{y}',
         '{day}, {abbr} {d}, {y}', '{d} {abbr} {y}']  # fmt: skip


def ids(text):
    return np.array([LETTERS.index(letter) for letter in text], np.int32)


def draw(n, rng):
    """Returns n dates in one of the forms, and their ISO 8601 form."""
    sources, targets = [], []
    for ordinal, k in zip(rng.randint(*CENTURIES, n), rng.randint(0, len(FORMS), n), strict=True):
        date = datetime.date.fromordinal(int(ordinal))
        names = {'day': calendar.day_name[date.weekday()], 'month': calendar.month_name[date.month]}
        abbr = calendar.month_abbr[date.month]
        sources.append(FORMS[k].format(d=date.day, m=date.month, y=date.year, abbr=abbr, **names))
        targets.append(date.isoformat())
    return sources, targets


CENTURIES = [datetime.date(year, 1, 1).toordinal() for year in (1900, 2100)]


class Seq2Seq(chainer.Chain):
    """Reads a text with a bidirectional LSTM, writes another with an LSTM and attention."""

    def __init__(self, n_units):
        super().__init__()
        with self.init_scope():
            self.embed_x = L.EmbedID(len(LETTERS), n_units)
            self.embed_y = L.EmbedID(len(LETTERS) + 1, n_units)
            self.encoder = L.NStepBiLSTM(1, n_units, n_units // 2, 0)
            self.decoder = L.NStepLSTM(1, n_units, n_units, 0)
            self.score = L.Linear(n_units, n_units, nobias=True)
            self.mix = L.Linear(2 * n_units, n_units)
            self.out = L.Linear(n_units, len(LETTERS) + 1)

    def encode(self, xs):
        hs, cs, memory = self.encoder(None, None, embed_all(self.embed_x, xs))
        n = len(xs)
        h, c = (F.reshape(F.transpose(s, (1, 0, 2)), (1, n, -1)) for s in (hs, cs))
        mask = F.pad_sequence([self.xp.ones(len(x), np.float32) for x in xs]).array
        return h, c, F.pad_sequence(memory), (1 - mask[:, None, :]) * -1e4

    def decode(self, h, c, memory, mask, ys):
        """Scores of the letters after ys, which all have the same length, and the new states."""
        h, c, states = self.decoder(h, c, embed_all(self.embed_y, ys))
        state = F.stack(states)
        keys = self.score(memory, n_batch_axes=2)
        attention = F.softmax(F.matmul(state, keys, transb=True) + mask, axis=2)
        seen = F.concat([F.matmul(attention, memory), state], axis=2)
        return h, c, self.out(F.tanh(self.mix(seen, n_batch_axes=2)), n_batch_axes=2), attention

    def forward(self, xs, ys):
        """The mean loss per letter."""
        end = self.xp.array([END], np.int32)
        *_, scores, _ = self.decode(*self.encode(xs), [F.concat([end, y], 0) for y in ys])
        targets = F.stack([F.concat([y, end], 0) for y in ys])
        return F.softmax_cross_entropy(F.reshape(scores, (-1, END + 1)), F.flatten(targets))

    def translate(self, xs, max_length=12):
        """Greedy decoding. Returns texts and attention weights."""
        with chainer.no_backprop_mode(), chainer.using_config('train', False):
            h, c, memory, mask = self.encode(xs)
            last = self.xp.full((len(xs), 1), END, np.int32)
            letters, looks = [], []
            for _ in range(max_length):
                h, c, scores, attention = self.decode(h, c, memory, mask, list(last))
                last = scores.array.argmax(axis=2).astype(np.int32)
                letters.append(to_numpy(last))
                looks.append(to_numpy(attention.array))
        rows = np.concatenate(letters, axis=1).tolist()
        texts = [''.join([*LETTERS, '\n'][k] for k in row).split('\n')[0] for row in rows]
        return texts, np.concatenate(looks, axis=1)


def embed_all(embed, xs):
    """One embedding lookup for all texts together."""
    ends = np.cumsum([len(x) for x in xs])[:-1]
    return F.split_axis(embed(F.concat(xs, 0)), ends, 0)


def main():
    args = parse_args(__doc__, epochs=4, batch_size=64)
    sources, targets = draw(3000, np.random.RandomState(1))
    model = Seq2Seq(64).to_device(args.device)
    optimizer = chainer.optimizers.Adam(3e-3).setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.GradientClipping(5))
    send = model.device.send
    xs, ys = [send(ids(x)) for x in sources], [send(ids(y)) for y in targets]

    def step(batch):
        loss = model([xs[i] for i in batch], [ys[i] for i in batch])
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss.array

    losses = run_batches(step, len(xs), args)
    sources, targets = draw(300, np.random.RandomState(2))
    guesses, looks = model.translate([send(ids(x)) for x in sources])
    for i in range(5):
        print(f'{sources[i]:>30} -> {guesses[i]}')
    score = np.mean([guess == target for guess, target in zip(guesses, targets, strict=True)])
    if not args.no_plots:
        save_attention(args.out, losses, looks[0], sources[0], guesses[0])
    finish(args, 'Right dates of 300 others', score, at_least=0.9)


if __name__ == '__main__':
    main()
