"""Datasets of images in files and archives."""

import pickle
import zipfile

import chainer
import numpy as np
import pytest
from chainer import datasets as D

Image = pytest.importorskip('PIL.Image')

COLOURS = np.arange(24, dtype='uint8').reshape(2, 4, 3)
GREY = np.arange(8, dtype='uint8').reshape(2, 4)
EXPECTED = [COLOURS.transpose(2, 0, 1), GREY[None]]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'd').mkdir()
    Image.fromarray(COLOURS).save(tmp_path / 'd' / 'colours.png')
    Image.fromarray(GREY).save(tmp_path / 'd' / 'a grey.png')
    (tmp_path / 'list').write_text('colours.png\n\na grey.png\n')
    (tmp_path / 'pairs').write_text('colours.png 3\na grey.png 1\n')
    (tmp_path / 'zip pairs').write_text('d/a grey.png 7\nd/colours.png 8\n')
    with zipfile.ZipFile('i.zip', 'w') as archive:
        archive.mkdir('d')
        for name in ('d/colours.png', 'd/a grey.png'):
            archive.write(name)
    return tmp_path


def same(x, y, dtype):
    assert x.dtype == dtype
    np.testing.assert_array_equal(x, y)


MADE = {
    'list in a file': lambda **k: D.ImageDataset('list', root='d', **k),
    'list': lambda **k: D.ImageDataset(['d/colours.png', 'd/a grey.png'], **k),
    'archive': lambda **k: D.ZippedImageDataset('i.zip', **k),
}


@pytest.mark.parametrize('name', MADE)
def test_images(name, folder):
    dataset = MADE[name]()
    for made in (dataset, pickle.loads(pickle.dumps(dataset))):
        assert len(made) == 2
        for i, expected in enumerate(EXPECTED):
            same(made[i], expected, 'float32')
            same(made[i - 2], expected, 'float32')
    same(MADE[name](dtype=np.uint8)[0], EXPECTED[0], 'uint8')
    with chainer.using_config('dtype', np.float64):
        same(MADE[name]()[1], EXPECTED[1], 'float64')
    with pytest.raises(IndexError):
        dataset[2]


def test_several_archives(folder):
    dataset = D.MultiZippedImageDataset(['i.zip', 'i.zip'])
    assert len(dataset) == 4
    for i in (-4, 0, 2):
        same(dataset[i], EXPECTED[0], 'float32')
    for i in (1, 3, -1):
        same(dataset[i], EXPECTED[1], 'float32')
    assert len(D.MultiZippedImageDataset([])) == 0
    with pytest.raises(IndexError, match='4 is out of range for 4'):
        dataset[4]


LABELLED = {
    'file': (lambda **k: D.LabeledImageDataset('pairs', root='d', **k), EXPECTED, [3, 1]),
    'pairs': (lambda **k: D.LabeledImageDataset([('d/a grey.png', 5)], **k), EXPECTED[1:], [5]),
    'archive': (
        lambda **k: D.LabeledZippedImageDataset('i.zip', 'zip pairs', **k),
        EXPECTED[::-1],
        [7, 8],
    ),
}


@pytest.mark.parametrize('name', LABELLED)
def test_labelled_images(name, folder):
    make, images, labels = LABELLED[name]
    dataset = make()
    assert len(dataset) == len(images)
    for (x, t), image, label in zip(dataset[:], images, labels, strict=True):
        same(x, image, 'float32')
        same(t, label, 'int32')
    x, t = make(dtype=np.uint8, label_dtype=np.int64)[0]
    same(x, images[0], 'uint8')
    same(t, labels[0], 'int64')


def test_errors_of_non_images(folder):
    (folder / 'd' / 'text.png').write_text('text')
    with pytest.raises(ValueError, match=r"'\.?/?d/text.png' is no image"):
        D.ImageDataset(['d/text.png'], root='')[0]
    with pytest.raises(FileNotFoundError, match='nowhere'):
        D.ImageDataset(['nowhere.png'])[0]
    with zipfile.ZipFile('bad.zip', 'w') as archive:
        archive.writestr('x.png', b'text')
    with pytest.raises(ValueError, match=r"'x.png' in 'bad.zip' is no image"):
        D.ZippedImageDataset('bad.zip')[0]
    (folder / 'labels').write_text('colours.png 1\ncolours.png\n')
    with pytest.raises(ValueError, match="line 2 of 'labels' is no path and label"):
        D.LabeledImageDataset('labels')
