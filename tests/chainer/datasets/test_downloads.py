"""Downloaded datasets, from a server in this process: complete, truncated and wrong files."""

import contextlib
import gzip
import hashlib
import http.server
import importlib
import io
import os
import struct
import tarfile
import threading

import chainer
import numpy as np
import pytest
from chainer import dataset, datasets
from chainer.dataset import download

# The modules `chainer.datasets.mnist` and so on; functions of other names do not hide them.
mnist, fashion, kuzushiji, cifar, svhn, ptb = (
    importlib.import_module(f'chainer.datasets.{name}')
    for name in ('mnist', 'fashion_mnist', 'kuzushiji_mnist', 'cifar', 'svhn', 'ptb')
)


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(download, '_root', str(tmp_path / 'root'))
    monkeypatch.delenv('CHAINER_DATASET_MIRROR', raising=False)
    return tmp_path / 'root'


class Server(http.server.ThreadingHTTPServer):
    """A server of files by path; the first `broken` downloads are truncated."""

    def __init__(self):
        super().__init__(('127.0.0.1', 0), Handler)
        self.files, self.asked, self.broken, self.tag = {}, [], set(), 'one'
        self.url = f'http://127.0.0.1:{self.server_address[1]}'


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        server.asked.append((self.path, self.headers.get('Range')))
        data = server.files.get(self.path)
        if data is None:
            self.send_error(404)
            return
        tag = f'"{server.tag}"'
        begin = 0
        if self.headers.get('Range') and self.headers.get('If-Range') == tag:
            begin = int(self.headers['Range'].removeprefix('bytes=').removesuffix('-'))
        self.send_response(206 if begin else 200)
        self.send_header('ETag', tag)
        self.send_header('Content-Length', str(len(data) - begin))
        self.end_headers()
        end = len(data)
        if self.path in server.broken:
            server.broken.remove(self.path)
            end = (begin + end) // 2
        with contextlib.suppress(ConnectionError):
            self.wfile.write(data[begin:end])

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def read(path):
    with open(path, 'rb') as file:
        return file.read()


# ---- one file ----


def test_downloaded_once(root, server, capsys):
    server.files['/a'] = b'content'
    path = dataset.cached_download(server.url + '/a')
    assert read(path) == b'content'
    # The path that v7 uses.
    assert path == str(root / '_dl_cache' / hashlib.md5(f'{server.url}/a'.encode()).hexdigest())
    assert server.url in capsys.readouterr().err
    assert dataset.cached_download(server.url + '/a') == path
    assert len(server.asked) == 1
    assert [name for name in os.listdir(root / '_dl_cache') if name.endswith('.part')] == []


def test_resumes_a_broken_download(root, server):
    server.files['/a'] = content = bytes(range(256)) * 4000
    server.broken.add('/a')
    with pytest.raises(OSError, match='the connection ended after 512000 of 1024000 bytes'):
        dataset.cached_download(server.url + '/a')
    assert read(dataset.cached_download(server.url + '/a')) == content
    assert server.asked == [('/a', None), ('/a', 'bytes=512000-')]


def test_restarts_if_the_file_has_changed(root, server):
    server.files['/a'] = b'old' * 1000
    server.broken.add('/a')
    with pytest.raises(OSError, match='connection ended'):
        dataset.cached_download(server.url + '/a')
    server.files['/a'], server.tag = b'new' * 1200, 'two'
    assert read(dataset.cached_download(server.url + '/a')) == b'new' * 1200


def test_what_cannot_be_had(root, server):
    with pytest.raises(OSError, match='404') as caught:
        download.fetch('some/set', 'file.gz', [server.url + '/x', server.url + '/y'])
    message = str(caught.value)
    assert f'{server.url}/x: ' in message
    assert f'{server.url}/y: ' in message
    assert f'by hand: {root}/some/set/file.gz' in message


def test_wrong_content_is_never_kept(root, server):
    server.files['/a'] = b'wrong'
    wrong, right = (hashlib.md5(x).hexdigest() for x in (b'wrong', b'right'))
    with pytest.raises(OSError, match=f'MD5 sum is {wrong}, not {right}'):
        download.fetch('set', 'a', [server.url + '/a'], right)
    server.files['/a'] = b'right'
    assert read(download.fetch('set', 'a', [server.url + '/a'], right)) == b'right'


def test_all_sums_count(root, server):
    server.files['/a'] = b'right'
    md5, sha256 = (hash_(b'right').hexdigest() for hash_ in (hashlib.md5, hashlib.sha256))
    other = hashlib.sha256(b'wrong').hexdigest()
    with pytest.raises(OSError, match=f'SHA-256 sum is {sha256}, not {other}'):
        download.fetch('set', 'a', [server.url + '/a'], md5, other)
    assert read(download.fetch('set', 'a', [server.url + '/a'], md5, sha256)) == b'right'


def test_mirrors_come_first(root, server, monkeypatch):
    server.files['/mirror/some/set/a'] = b'right'
    monkeypatch.setenv('CHAINER_DATASET_MIRROR', server.url + '/mirror/')
    md5 = hashlib.md5(b'right').hexdigest()
    assert read(download.fetch('some/set', 'a', [server.url + '/a'], md5)) == b'right'
    assert [path for path, _ in server.asked] == ['/mirror/some/set/a']


def test_several_at_once_download_it_once(root, server):
    server.files['/a'] = b'x' * 1_000_000
    paths = []
    threads = [
        threading.Thread(target=lambda: paths.append(dataset.cached_download(server.url + '/a')))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(paths)) == 1
    assert len(paths) == 4
    assert len(server.asked) == 1


def test_folders(root):
    assert dataset.get_dataset_root() == str(root)
    path = dataset.get_dataset_directory('a/b', create_directory=False)
    assert path == str(root / 'a' / 'b')
    assert not root.exists()
    assert os.path.isdir(dataset.get_dataset_directory('a/b'))
    dataset.set_dataset_root(root / 'other')
    assert dataset.get_dataset_directory('c') == str(root / 'other' / 'c')
    elsewhere = str(root / 'elsewhere')
    assert dataset.get_dataset_directory(elsewhere, create_directory=False) == elsewhere


def test_made_once(root):
    calls = []

    def create(path):
        calls.append(path)
        np.savez(path, x=[1, 2])  # which would add .npz to other names
        return 'made'

    path = str(root / 'folder' / 'a.npz')
    assert dataset.cache_or_load_file(path, create, np.load) == 'made'
    assert dataset.cache_or_load_file(path, create, lambda p: np.load(p)['x'].tolist()) == [1, 2]
    assert len(calls) == 1
    assert os.listdir(root / 'folder') == ['a.npz']

    def fail(path):
        with open(path, 'w') as file:
            file.write('half')
        raise KeyError('stop')

    with pytest.raises(KeyError):
        dataset.cache_or_load_file(str(root / 'folder' / 'b'), fail, np.load)
    assert os.listdir(root / 'folder') == ['a.npz']


# ---- datasets whose files the user has placed ----


@pytest.fixture
def any_sums(monkeypatch):
    """Disables checksums, for files made by the tests."""
    monkeypatch.setattr(download, '_find_wrong_sum', lambda path, sums: None)


def idx(*shape, values):
    header = struct.pack(f'>4B{len(shape)}i', 0, 0, 8, len(shape), *shape)
    return gzip.compress(header + bytes(values))


def put(root, name, **files):
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    for file, data in files.items():
        (folder / file).write_bytes(data)


def test_files_placed_by_the_user_are_checked(root):
    md5, sha256 = (hash_(b'right').hexdigest() for hash_ in (hashlib.md5, hashlib.sha256))
    put(root, 'set', a=b'right', b=b'rig')
    assert download.fetch('set', 'a', ['nowhere://'], md5, sha256) == str(root / 'set' / 'a')
    with pytest.raises(OSError, match=rf'set/b: the MD5 sum is .*, not {md5}.*another one'):
        download.fetch('set', 'b', ['nowhere://'], md5, sha256)
    assert read(root / 'set' / 'b') == b'rig'  # it is the user's


@pytest.mark.parametrize(
    ('get', 'name', 'file'),
    [
        (datasets.get_mnist, mnist.MNIST.name, 'train-images-idx3-ubyte.gz'),
        (datasets.get_cifar10, cifar.NAME, cifar.KINDS['cifar-10'].archive),
        (datasets.get_svhn, svhn.NAME, svhn.file_name('train')),
        (datasets.get_ptb_words, ptb.NAME, ptb.file_name('train')),
    ],
)
def test_every_dataset_checks_its_files(get, name, file, root):
    put(root, name, **{file: b'half of it'})
    with pytest.raises(OSError, match=f'{file}: the MD5 sum is'):
        get()


def test_damaged_files_of_v7_are_downloaded_again(root, server):
    server.files['/a'] = b'right'
    url, sums = server.url + '/a', (hashlib.md5(b'right').hexdigest(),)
    path = dataset.cached_download(url)  # which has no checksums
    with open(path, 'wb') as file:
        file.write(b'rig')
    assert read(dataset.cached_download(url)) == b'rig'
    assert read(download.fetch('set', 'a', [url], *sums)) == b'right'
    assert len(server.asked) == 2


def mnist_files():
    files = {}
    for names, n in (('train', 6), ('t10k', 3)):
        files[f'{names}-images-idx3-ubyte.gz'] = idx(
            n, 28, 28, values=(i % 251 for i in range(n * 784))
        )
        files[f'{names}-labels-idx1-ubyte.gz'] = idx(n, values=range(n))
    return files


FORMS = {
    'pfnet/chainer/mnist': datasets.get_mnist,
    'pfnet/chainer/fashion-mnist': datasets.get_fashion_mnist,
    'pfnet/chainer/kuzushiji_mnist': datasets.get_kuzushiji_mnist,
}


@pytest.mark.usefixtures('any_sums')
@pytest.mark.parametrize('name', FORMS)
def test_mnist(name, root):
    put(root, name, **mnist_files())
    get = FORMS[name]
    pixels = (np.arange(6 * 784) % 251).reshape(6, 784)
    train, test = get()
    assert (len(train), len(test)) == (6, 3)
    x, t = train[4]
    assert (x.shape, x.dtype, t, t.dtype) == ((784,), np.float32, 4, np.int32)
    np.testing.assert_allclose(x, pixels[4] / 255, rtol=1e-6)
    np.testing.assert_array_equal(test[2][0], train[2][0])
    with np.load(root / name / 'train.npz') as data:  # as v7 keeps them
        assert data['x'].dtype == data['y'].dtype == np.uint8
        assert data['x'].shape == (6, 784)
    for file in os.listdir(root / name):
        if file.endswith('.gz'):
            os.remove(root / name / file)
    for options, shape in (
        ({'ndim': 2}, (28, 28)),
        ({'ndim': 3}, (1, 28, 28)),
        ({'ndim': 3, 'rgb_format': True}, (3, 28, 28)),
        ({'ndim': 2, 'rgb_format': True}, (28, 28)),
    ):
        x, _ = get(**options)[0][1]
        assert x.shape == shape
        np.testing.assert_allclose(x[..., :, :].reshape(-1, 784)[-1], pixels[1] / 255, rtol=1e-6)
    images, _ = get(withlabel=False, scale=255, dtype=np.uint8)
    np.testing.assert_array_equal(images, pixels)
    assert get(label_dtype=np.int64)[0][0][1].dtype == np.int64
    with chainer.using_config('dtype', np.float16):
        assert get()[0][0][0].dtype == np.float16
    with pytest.raises(ValueError, match='ndim of images must be 1, 2 or 3, not 4'):
        get(ndim=4)


def test_names_of_labels():
    assert datasets.get_fashion_mnist_labels()[9] == 'Ankle boot'
    assert datasets.get_kuzushiji_mnist_labels()[9] == ('wo', 'を')


@pytest.mark.usefixtures('any_sums')
@pytest.mark.parametrize(
    ('data', 'message'),
    [
        (b'no gzip', 'no whole gzip file'),
        (mnist_files()['train-images-idx3-ubyte.gz'][:-20], 'no whole gzip file'),
        (idx(6, values=range(6)), 'no IDX file of bytes with 3 axes'),
        (idx(6, 28, 28, values=range(9)), 'no IDX file'),
        (idx(2, 28, 28, values=[0] * 1568), '2 images, but 6 labels'),
    ],
    ids=['no gzip', 'short gzip', 'labels', 'short', 'fewer than labels'],
)
def test_broken_mnist(data, message, root):
    put(root, mnist.MNIST.name, **{**mnist_files(), 'train-images-idx3-ubyte.gz': data})
    with pytest.raises(ValueError, match=message):
        datasets.get_mnist()
    assert not (root / mnist.MNIST.name / 'train.npz').exists()


def cifar_archive(kind, drop=None):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode='w:gz') as tar:
        for k, name in enumerate([*kind.train, kind.test]):
            if name == drop:
                continue
            rows = [bytes([9] * (kind.n_labels - 1) + [k]) + bytes([k + 20]) * 3072] * 2
            info = tarfile.TarInfo(f'../../evil/{name}')
            info.size = len(b''.join(rows))
            tar.addfile(info, io.BytesIO(b''.join(rows)))
    return buffer.getvalue()


@pytest.mark.usefixtures('any_sums')
@pytest.mark.parametrize('name', ['cifar-10', 'cifar-100'])
def test_cifar(name, root):
    kind = cifar.KINDS[name]
    put(root, cifar.NAME, **{kind.archive: cifar_archive(kind)})
    get = {'cifar-10': datasets.get_cifar10, 'cifar-100': datasets.get_cifar100}[name]
    train, test = get()
    assert (len(train), len(test)) == (2 * len(kind.train), 2)
    x, t = test[1]
    assert (x.shape, t, t.dtype) == ((3, 32, 32), len(kind.train), np.int32)
    np.testing.assert_allclose(x, (len(kind.train) + 20) / 255, rtol=1e-6)
    assert sorted(os.listdir(root.parent)) == ['root']  # nothing else
    os.remove(root / cifar.NAME / kind.archive)
    assert get(withlabel=False, ndim=1)[0].shape == (2 * len(kind.train), 3072)
    with pytest.raises(ValueError, match='1 or 3, not 2'):
        get(ndim=2)


@pytest.mark.usefixtures('any_sums')
def test_broken_cifar(root):
    kind = cifar.KINDS['cifar-10']
    put(root, cifar.NAME, **{kind.archive: cifar_archive(kind, drop='data_batch_3.bin')})
    with pytest.raises(ValueError, match=r"'data_batch_3\.bin' is missing"):
        datasets.get_cifar10()


@pytest.mark.usefixtures('any_sums')
def test_svhn(root):
    scipy_io = pytest.importorskip('scipy.io')
    for part, n in (('train', 4), ('test', 2), ('extra', 3)):
        buffer = io.BytesIO()
        images = np.broadcast_to(np.arange(n, dtype='u1'), (32, 32, 3, n))
        labels = np.array([10, 1, 2, 3][:n])[:, None]
        scipy_io.savemat(buffer, {'X': images, 'y': labels})
        put(root, svhn.NAME, **{f'{part}_32x32.mat': buffer.getvalue()})
    train, test = datasets.get_svhn(scale=255.0)
    assert (len(train), len(test)) == (4, 2)
    x, t = train[3]
    assert (x.shape, x.max(), t) == ((3, 32, 32), 3, 3)
    assert train[0][1] == 0
    assert [len(part) for part in datasets.get_svhn(add_extra=True)] == [4, 2, 3]


@pytest.mark.usefixtures('any_sums')
def test_ptb(root):
    texts = {'train': ' a b <unk> a \n c a \n', 'valid': ' b \n', 'test': ' c c \n'}
    put(root, ptb.NAME, **{f'ptb.{k}.txt': v.encode() for k, v in texts.items()})
    for _ in range(2):
        train, valid, test = datasets.get_ptb_words()
        assert train.tolist() == [0, 1, 2, 0, 3, 4, 0, 3]
        assert valid.tolist() == [1, 3]
        assert test.tolist() == [4, 4, 3]
        assert train.dtype == np.int32
        words = datasets.get_ptb_words_vocabulary()
        assert list(words) == ['a', 'b', '<unk>', '<eos>', 'c']
        for part in texts:
            with contextlib.suppress(FileNotFoundError):
                os.remove(root / ptb.NAME / f'ptb.{part}.txt')


def test_digits():
    pytest.importorskip('sklearn')
    train, test = datasets.get_digits()
    assert (len(train), len(test)) == (1437, 360)
    x, t = train[0]
    assert (x.shape, x.dtype, t.dtype) == ((1, 8, 8), np.float32, np.int32)
    images, _ = datasets.get_digits(withlabel=False, ndim=1, scale=16, dtype=np.int64)
    assert set(np.unique(images)) == set(range(17))
    assert datasets.get_digits(ndim=2)[1][0][0].shape == (8, 8)
    with pytest.raises(ValueError, match='not 4'):
        datasets.get_digits(ndim=4)
