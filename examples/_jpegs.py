"""The data of imagenet*.py: folders of JPEGs, one per class; small ones can be generated."""

import pathlib

import chainer
import numpy as np
from _pictures import SHAPES, draw
from PIL import Image


def make_jpegs(root, n, seed):
    """Draws n pictures of each shape, about 64 pixels wide and high, into one folder per shape."""
    rng = np.random.RandomState(seed)
    pictures, labels = draw(n, rng)
    for i, (picture, label) in enumerate(zip(pictures, labels, strict=True)):
        folder = pathlib.Path(root) / f'shape{label}'
        folder.mkdir(parents=True, exist_ok=True)
        pixels = np.clip(picture.transpose(1, 2, 0) * 85 + 128, 0, 255).astype(np.uint8)
        size = [int(length) for length in rng.randint(56, 81, 2)]
        Image.fromarray(pixels).resize(size).save(folder / f'{i}.jpg', quality=90)
    return len(SHAPES)


class Folders(chainer.dataset.DatasetMixin):
    """Pictures as (3, size, size) and the number of their folder.

    The shorter side is resized to a little more than `size`, and a square is cropped: at random and
    flipped half of the time for training, in the center otherwise.
    """

    def __init__(self, root, size, train, classes=None):
        folders = sorted(path for path in pathlib.Path(root).iterdir() if path.is_dir())
        self.classes = classes or [folder.name for folder in folders]
        self.pairs = [
            (path, self.classes.index(folder.name))
            for folder in folders
            for path in sorted(folder.iterdir())
            if path.suffix.lower() in ('.jpg', '.jpeg')
        ]
        if not self.pairs:
            raise FileNotFoundError(f'{root} has no folder with JPEGs')
        self.size = size
        self.train = train
        self.mean = np.zeros((3, 1, 1), np.float32)
        self.deviation = np.full((3, 1, 1), 255, np.float32)

    def __len__(self):
        return len(self.pairs)

    def get_example(self, i):
        path, label = self.pairs[i]
        picture = (cut(path, self.size, self.train) - self.mean) / self.deviation
        return picture, np.int32(label)

    def measure(self, n=200):
        """Computes the mean and the standard deviation of each color from some of the pictures."""
        some = self.pairs[:: max(1, len(self.pairs) // n)]
        pictures = np.stack([cut(path, self.size, False) for path, _ in some])
        self.mean = pictures.mean(axis=(0, 2, 3), dtype=np.float64)[:, None, None].astype('f')
        self.deviation = pictures.std(axis=(0, 2, 3), dtype=np.float64)[:, None, None].astype('f')


def cut(path, size, anywhere):
    """A square of a JPEG, as float32 from 0 to 255."""
    shorter = size * 8 // 7
    with Image.open(path) as image:
        image.draft('RGB', (shorter, shorter))  # decodes at half size, if that suffices
        image = image.convert('RGB')
    scale = shorter / min(image.size)
    image = image.resize([max(shorter, round(length * scale)) for length in image.size])
    spaces = [length - size for length in image.size]
    if anywhere:
        left, top = (np.random.randint(space + 1) for space in spaces)
    else:
        left, top = (space // 2 for space in spaces)
    array = np.asarray(image.crop((left, top, left + size, top + size)), np.float32)
    if anywhere and np.random.rand() < 0.5:
        array = array[:, ::-1]
    return np.ascontiguousarray(array.transpose(2, 0, 1))


def load_folders(args):
    """The training and test pictures; without given folders they are drawn into `args.out`."""
    folders, n = (args.train, args.val), args.pictures
    if args.train is None:
        folders = args.out / 'train', args.out / 'val'
        for seed, (folder, count) in enumerate(zip(folders, (n, max(1, n // 6)), strict=True)):
            if not folder.exists():
                make_jpegs(folder, count, seed)
    train = Folders(folders[0], args.size, True)
    val = Folders(folders[1], args.size, False, train.classes)
    train.measure()
    val.mean, val.deviation = train.mean, train.deviation
    return train, val


def save_picture(path, dataset, predict):
    """Saves some of the pictures with the model's predictions."""
    import matplotlib

    matplotlib.use('Agg')
    import matplotlib.pyplot as plt

    some = [dataset[i] for i in np.linspace(0, len(dataset) - 1, 12).astype(int)]
    y = predict(np.stack([x for x, _ in some]))
    guesses = chainer.backend.CpuDevice().send(y).argmax(axis=1)
    fig, axes = plt.subplots(3, 4, figsize=(8, 6.5), layout='constrained')
    for ax, (x, t), guess in zip(axes.flat, some, guesses, strict=True):
        ax.imshow(np.clip(x * dataset.deviation + dataset.mean, 0, 255).transpose(1, 2, 0) / 255)
        said = dataset.classes[guess] if guess < len(dataset.classes) else f'class {guess}'
        ax.set_title(said, color='k' if guess == t else 'r', fontsize=9)
        ax.axis('off')
    fig.savefig(path, dpi=100)
    print(f'Picture: {path}')
