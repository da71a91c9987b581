"""Files of datasets: where they are kept, and how they come there."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sys
import tempfile
import typing as tp
import urllib.parse

from chainerx._files import replaced

_root = os.environ.get(
    'CHAINER_DATASET_ROOT', os.path.join(os.path.expanduser('~'), '.chainer', 'dataset')
)
_MIRROR: tp.Final = 'CHAINER_DATASET_MIRROR'
_SECONDS: tp.Final = 60  # without a byte
_PIECE: tp.Final = 1 << 18


def get_dataset_root() -> str:
    """The folder of all datasets: ``$CHAINER_DATASET_ROOT``, else ``~/.chainer/dataset``.

    Returns:
        str: Its path.
    """
    return _root


def set_dataset_root(path: str) -> None:
    """Sets the folder of all datasets, for this process.

    Args:
        path (str): The path of the folder, which is made when it is needed.
    """
    global _root
    _root = os.fspath(path)


def get_dataset_directory(dataset_name: str, create_directory: bool = True) -> str:
    """The folder of a dataset.

    Args:
        dataset_name (str): Its name, such as ``'pfnet/chainer/mnist'``, or the path of a folder
            elsewhere.
        create_directory (bool): Whether the folder is made if it is not there.

    Returns:
        str: Its path.
    """
    path = os.path.join(_root, dataset_name)
    if create_directory:
        os.makedirs(path, exist_ok=True)
    return path


def cached_download(url: str) -> str:
    """Downloads a file, unless it was downloaded before.

    An interrupted download resumes where it ended, if the server allows it.

    Args:
        url (str): Where it is.

    Returns:
        str: The path of the file, which is not to be changed.

    Raises:
        OSError: If it can't be had.
    """
    return _download([url])


def cache_or_load_file(
    path: str, creator: tp.Callable[[str], tp.Any], loader: tp.Callable[[str], tp.Any]
) -> tp.Any:
    """Loads a file, or makes it if it is not there.

    Args:
        path (str): Of the file.
        creator (callable): Takes a path, writes the file there, and returns its content.
        loader (callable): Takes the path and returns the content of the file.

    Returns:
        The result of one of them. No other process sees half a file.
    """
    if os.path.exists(path):
        return loader(path)
    folder, name = os.path.split(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    # The name stays, because `numpy.savez` would add .npz to another one.
    with tempfile.TemporaryDirectory(prefix='.making-', dir=folder) as temporary:
        made = os.path.join(temporary, name)
        content = creator(made)
        with replaced(path) as target:
            os.replace(made, target)
        return content


def fetch(dataset: str, filename: str, urls: tp.Sequence[str], *sums: str) -> str:
    """The path of a file of a dataset: one that somebody put there, or a downloaded one.

    Args:
        dataset (str): The dataset's name.
        filename (str): Of the file.
        urls (sequence of str): Where it can be had, in the order in which they are tried; that of
            ``$CHAINER_DATASET_MIRROR`` comes before.
        *sums (str): Its expected MD5 and SHA-256 sums, as far as they are known.

    Returns:
        str: The path.

    Raises:
        OSError: If it can't be had; the message says where to put it by hand. If a file that
            somebody put there has another sum; it stays as it is.
    """
    place = os.path.join(get_dataset_directory(dataset, create_directory=False), filename)
    if os.path.exists(place):
        wrong = _find_wrong_sum(place, sums)
        if wrong:
            raise OSError(
                f'{place}: {wrong}; the file that was put there is damaged, or another one. '
                'Put the right one there, or remove it to have it downloaded'
            )
        return place
    mirror = os.environ.get(_MIRROR)
    if mirror:
        urls = [f'{mirror.rstrip("/")}/{dataset}/{filename}', *urls]
    return _download(urls, sums, place)


def _download(urls: tp.Sequence[str], sums: tp.Sequence[str] = (), place: str | None = None) -> str:
    # The name by which v7 keeps it: of the official address, which is the last but for mirrors.
    folder = os.path.join(_root, '_dl_cache')
    path = os.path.join(folder, hashlib.md5(urls[-1].encode(), usedforsecurity=False).hexdigest())
    # An existing file may come from v7, which compares no sums.
    if os.path.exists(path) and _find_wrong_sum(path, sums) is None:
        return path
    os.makedirs(folder, exist_ok=True)
    with _locked(path + '.lock'):
        if os.path.exists(path) and _find_wrong_sum(path, sums) is None:
            return path  # another process was faster
        failures = []
        for url in urls:
            part = f'{path}.{hashlib.md5(url.encode(), usedforsecurity=False).hexdigest()}.part'
            try:
                _transfer(url, part)
                wrong = _find_wrong_sum(part, sums)
                if wrong:
                    _remove(part)
                    raise ValueError(wrong)
            except (OSError, ValueError) as error:
                failures.append(f'{url}: {error}')
                continue
            os.replace(part, path)
            _remove(part + '.tag')
            return path
    hint = f'Put the file there by hand: {place}' if place else f'Set ${_MIRROR}, or try again.'
    text = '\n  '.join(failures)
    raise OSError(f'no file could be downloaded.\n  {text}\n{hint}')


def _transfer(url: str, part: str) -> None:
    """Downloads to a file, from where an earlier attempt ended."""
    import urllib.error  # with encryption, longer to import than all of chainer.dataset
    import urllib.request

    begin = os.path.getsize(part) if os.path.exists(part) and os.path.exists(part + '.tag') else 0
    headers = {'User-Agent': 'chainer'}
    if begin:
        with open(part + '.tag', encoding='latin-1') as file:
            headers |= {'Range': f'bytes={begin}-', 'If-Range': file.read()}
    request = urllib.request.Request(url, headers=headers)
    try:
        response = urllib.request.urlopen(request, timeout=_SECONDS)
    except urllib.error.HTTPError as error:
        if error.code == 416 and begin:  # nothing is left to ask for, or the file is another one
            _remove(part)
            _transfer(url, part)
            return
        raise
    with response:
        is_rest = getattr(response, 'status', None) == 206
        begin = begin if is_rest else 0
        length = response.headers.get('Content-Length')
        total = None if length is None else begin + int(length)
        tag = response.headers.get('ETag') or response.headers.get('Last-Modified')
        if tag and not tag.startswith('W/'):
            with open(part + '.tag', 'w', encoding='latin-1') as file:
                file.write(tag)
        else:
            _remove(part + '.tag')
        size = begin
        with open(part, 'ab' if is_rest else 'wb') as file, _progress(url, begin, total) as show:
            while piece := response.read(_PIECE):
                file.write(piece)
                size += len(piece)
                show(len(piece))
    if total is not None and size != total:
        raise OSError(f'the connection ended after {size} of {total} bytes')


def _find_wrong_sum(path: str, sums: tp.Sequence[str]) -> str | None:
    """Return a message about wrong sums of the file, or None."""
    for expected in sums:
        kind = {32: 'MD5', 64: 'SHA-256'}[len(expected)]
        name = kind.replace('-', '').lower()
        with open(path, 'rb') as file:
            digest = functools.partial(hashlib.new, name, usedforsecurity=False)
            found = hashlib.file_digest(file, digest).hexdigest()
        if found != expected:
            return f'the {kind} sum is {found}, not {expected}'
    return None


@contextlib.contextmanager
def _progress(url: str, begin: int, total: int | None) -> tp.Iterator[tp.Callable[[int], tp.Any]]:
    """A bar in a terminal, else a line."""
    bar = None
    if sys.stderr is not None and sys.stderr.isatty():
        with contextlib.suppress(ImportError):
            from tqdm import tqdm

            name = os.path.basename(urllib.parse.urlsplit(url).path)
            bar = tqdm(desc=name, initial=begin, total=total, unit='B', unit_scale=True)
    if bar is not None:
        with bar:
            yield bar.update
        return
    print(f'Downloading from {url}...', file=sys.stderr)
    yield lambda n: None


@contextlib.contextmanager
def _locked(path: str) -> tp.Iterator[None]:
    """Only one process at a time."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system; files are replaced whole in any case
        yield
        return
    with open(path, 'wb') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
