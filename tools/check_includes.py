"""Checks that includes point one way only, as ARCHITECTURE.md draws it.

    core <- autograd <- ops <- python        core <- kernels <- {native, cuda}        ops -> kernels
    {autograd, kernels} <- capture <- python
    {ops, capture} <- onnx <- python/onnx     ops <- io        {onnx, io} <- run

and that the rooms of a backend stand on each other, in the order of FLOORS.

Run it as ``python tools/check_includes.py [folder of the sources]``. Exit status 1 and one line per
wrong include if there is any.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

#: For each folder of cpp/chainerx, the other folders whose files it may include.
ALLOWED: dict[str, set[str]] = {
    'core': set(),
    'autograd': {'core'},
    'kernels': {'core'},
    'ops': {'core', 'autograd', 'kernels'},
    'native': {'core', 'kernels'},
    'cuda': {'core', 'kernels'},
    'chainerx.h': {'core', 'autograd', 'kernels', 'ops', 'native', 'capture'},  # for programs
    'onnx': {'core', 'autograd', 'kernels', 'ops', 'capture'},
    'io': {'core', 'ops'},
    'run': {'core', 'onnx', 'io'},
    'capture': {'core', 'autograd', 'kernels'},
    'python': {'core', 'autograd', 'kernels', 'ops', 'capture'},
}

#: Bindings that are a module of their own, and what they may include besides.
MODULES: dict[tuple[str, ...], str] = {('python', 'onnx'): 'onnx'}

#: The rooms that a room of a backend may include: those listed, all that are below these, and the
#: files in the folder of the backend itself.
NATIVE_FLOORS: dict[str, set[str]] = {
    'strided': set(),
    'fuse': set(),
    'shape': {'strided'},
    'pool': {'strided'},
    'signal': {'strided'},
    'math': {'strided'},
    'elementwise': {'math'},
    'random': {'elementwise'},
    'reduce': {'elementwise'},
    'sort': {'elementwise'},
    'norm': {'elementwise'},
    'gemm': {'elementwise'},
    'optim': {'elementwise'},
    'index': {'reduce', 'sort'},
    'linalg': {'gemm'},
    'conv': {'gemm'},
    'rnn': {'gemm'},
    'attention': {'gemm', 'random'},
    'loss': {'norm'},
}
CUDA_FLOORS: dict[str, set[str]] = {
    'device': set(),
    'driver': set(),
    'compile': {'driver'},
    'runtime': {'compile', 'device'},
    'custom': {'runtime'},
    'elementwise': {'runtime'},
    'strided': {'elementwise'},
    'shape': {'strided'},
    'index': {'strided'},
    'pool': {'strided'},
    'reduce': {'strided'},
    'gemm': {'strided'},
    'conv': {'gemm'},
    'random': {'strided'},
    'optim': {'strided'},
    'norm': {'strided'},
    'sort': {'strided'},
    'rnn': {'strided'},
    'loss': {'norm'},
    'attention': {'gemm', 'norm'},
    'signal': {'strided'},
    'linalg': {'gemm'},
    'fuse': {'reduce'},
}
FLOORS = {'native': NATIVE_FLOORS, 'cuda': CUDA_FLOORS}

#: Headers of native that say how arrays and work are laid out, and compute nothing: results have
#: the same bits on every device because these are shared.
GEOMETRY = {
    'chainerx/native/norm/row_order.h',
    'chainerx/native/pool/pooling_plan.h',
    'chainerx/native/reduce/reduce_plan.h',
    'chainerx/native/reduce/scan_order.h',
    'chainerx/native/strided/strided_iterator.h',
}

#: What a backend offers to programs beyond the kernels.
PUBLIC = {'chainerx/cuda/gpu.h'}

#: Sources for devices, which share texts with native (cmake/device_texts.cmake).
DEVICE_TEXT = re.compile(r'cuda/(\w+/)?device/\w+\.h')

#: External headers that only one folder may include.
OUTSIDE = {
    re.compile(r'Python\.h|structmember\.h|nanobind/.*|numpy/.*'): 'python',
    re.compile(r'xsimd/.*'): 'native',
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def below(backend: str, room: str) -> set[str]:
    floors = FLOORS[backend]
    return floors[room].union(*(below(backend, other) for other in floors[room]))


def room_of(name: tuple[str, ...]) -> str | None:
    """The room of a path within the sources of a backend; '' for the backend's own folder."""
    if name[0] not in FLOORS:
        return None
    return name[1] if len(name) > 2 else ''


def check_room(backend: str, room: str, target: tuple[str, ...]) -> bool:
    """Whether a file of the room may include the target."""
    other = room_of(target)
    return other in (None, '', room) or (room != '' and other in below(backend, room))


def check_file(path: Path, root: Path) -> Iterator[str]:
    """Yields a message for each include of ``path`` that breaks the rule."""
    parts = path.relative_to(root).parts
    folder = parts[0]
    if folder not in ALLOWED:
        yield f'{path}: folder {folder} has no place in the order; name it in {Path(__file__).name}'
        return
    room = room_of(parts)
    if room and room not in FLOORS[folder]:
        yield f'{path}: room {room} has no place in the order; name it in {Path(__file__).name}'
        return
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        match = INCLUDE.match(line)
        if match is None:
            continue
        quote, name = match.groups()
        place = f'{path}:{number}'
        if quote == '<':
            for pattern, owner in OUTSIDE.items():
                if pattern.fullmatch(name) and folder != owner:
                    yield f'{place}: <{name}> belongs to {owner}/, not {folder}/'
            continue
        if not name.startswith('chainerx/'):
            yield f'{place}: write "{name}" from the root, as in "chainerx/{folder}/{name}"'
            continue
        target = root.parent / name
        if not target.is_file():
            yield f'{place}: "{name}" does not exist'
        # Tables of ops are data: each backend expands the same rows.
        table = name.startswith('chainerx/ops/') and name.endswith('.def')
        owner = name.split('/')[1]
        shared = owner == 'native' and (name in GEOMETRY or DEVICE_TEXT.fullmatch('/'.join(parts)))
        public = folder == 'python' and name in PUBLIC
        own = MODULES.get(parts[:2]) == owner
        foreign = owner != folder and owner not in ALLOWED[folder] and not own
        if foreign and not (table or shared or public):
            yield f'{place}: {folder}/ may not include "{name}"'
        elif (
            room is not None
            and owner == folder
            and not check_room(folder, room, tuple(name.split('/')[1:]))
        ):
            yield f'{place}: {"/".join(parts[:-1])}/ may not include "{name}"'


def check(root: Path) -> list[str]:
    """Returns the messages for all sources below ``root``, the folder ``cpp/chainerx``."""
    files = sorted(p for ending in ('h', 'cc', 'def') for p in root.rglob(f'*.{ending}'))
    if not files:
        return [f'{root}: no sources']
    return [message for path in files for message in check_file(path, root)]


def main() -> int:
    parser = argparse.ArgumentParser(description='Check the direction of includes.')
    default = Path(__file__).resolve().parent.parent / 'cpp' / 'chainerx'
    parser.add_argument('root', type=Path, nargs='?', default=default)
    messages = check(parser.parse_args().root)
    print('\n'.join(messages) or 'includes: all point the right way')
    return 1 if messages else 0


if __name__ == '__main__':
    sys.exit(main())
