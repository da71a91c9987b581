"""Reading JPEGs in processes, cropping squares of 224 x 224, and batching them.

The peer is PyTorch's DataLoader with as many workers, on the same files and with the same code.
Both use their defaults, and prefetch the same number of minibatches. A run is one epoch with
processes that are already running. All converted arrays arrive in this process; nothing is computed
with them.
"""

import pathlib
import random
import tempfile

import chainer
import numpy as np
import torch
from harness import main
from PIL import Image

SIZE, CROP, BATCH, N = (500, 375), 224, 32, 256
WORKERS = 2


def make_files(folder):
    """Writes pictures of ImageNet's size, smooth with some noise, of 30 to 40 KB each."""
    rng = np.random.default_rng(0)
    paths = []
    for i in range(N):
        coarse = rng.integers(0, 256, (12, 16, 3), dtype=np.uint8)
        pixels = np.asarray(Image.fromarray(coarse).resize(SIZE, Image.Resampling.BICUBIC))
        noisy = np.clip(pixels + rng.normal(0, 6, pixels.shape), 0, 255).astype(np.uint8)
        paths.append(pathlib.Path(folder) / f'{i}.jpg')
        Image.fromarray(noisy).save(paths[-1], quality=85)
    return paths


class Crops:
    """Random crops of pictures, half of them flipped, with the index of the picture."""

    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        with Image.open(self.paths[i]) as image:
            left, top = (random.randrange(length - CROP) for length in image.size)
            square = image.convert('RGB').crop((left, top, left + CROP, top + CROP))
        array = np.asarray(square, np.float32).transpose(2, 0, 1)
        if random.random() < 0.5:
            array = array[:, :, ::-1]
        return np.ascontiguousarray(array), i


def ours(crops):
    iterator = chainer.iterators.MultiprocessIterator(
        crops, BATCH, repeat=False, n_processes=WORKERS, n_prefetch=3
    )

    def epoch():
        iterator.reset()
        for batch in iterator:
            x, _ = chainer.dataset.concat_examples(batch)
        return x

    return epoch, iterator.finalize


def theirs(crops):
    loader = torch.utils.data.DataLoader(
        crops, BATCH, shuffle=True, num_workers=WORKERS, persistent_workers=True
    )

    def epoch():
        for batch in loader:
            x, _ = batch
        return x

    return epoch, lambda: None


def rows(bench):
    """Minibatches of cropped JPEGs, read by worker processes."""
    with tempfile.TemporaryDirectory() as folder:
        crops = Crops(make_files(folder))
        peers = {'chainerx': ours(crops), 'torch': theirs(crops)}
        shapes = {peer: tuple(epoch().shape) for peer, (epoch, _) in peers.items()}
        if len(set(shapes.values())) != 1:
            raise RuntimeError(f'the peers do not make the same: {shapes}')
        bench.row(
            f'{N} JPEGs, {WORKERS} workers',
            dict.fromkeys(peers, 'epoch()'),
            {peer: {'epoch': epoch} for peer, (epoch, _) in peers.items()},
        )
        for _, end in peers.values():
            end()


if __name__ == '__main__':
    main(rows, 'loader', rounds=8)
