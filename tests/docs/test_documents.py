"""The Python blocks of each document, in order, form a program that checks itself."""

import operator
import pathlib
import re

import chainer
import chainerx
import pytest

DOCS = pathlib.Path(__file__).parents[2] / 'docs'


@pytest.mark.parametrize(
    ('name', 'asserts'),
    [
        ('autograd.md', 5),
        ('coming_from.md', 6),
        ('configuration.md', 1),
        ('data.md', 4),
        ('debugging.md', 5),
        ('elementwise.md', 8),
        ('indexing.md', 1),
        ('random.md', 7),
        ('training.md', 6),
        ('transforms.md', 9),
    ],
)
def test_code_blocks_run(name, asserts):
    text = (DOCS / name).read_text(encoding='utf-8')
    # Blank lines in front keep the document's line numbers in a traceback.
    source = ''
    for block in re.finditer(r'^```python\n(.*?)^```', text, re.M | re.S):
        line = text.count('\n', 0, block.start(1))
        source += '\n' * (line - source.count('\n')) + block[1]
    assert source.count('assert') >= asserts
    exec(compile(source, str(DOCS / name), 'exec'), {'__name__': name})


def test_replacements_exist():
    """The last column of the tables of coming_from.md names what is here."""
    modules = {
        'chx': chainerx,
        'chainer': chainer,
        'F': chainer.functions,
        'L': chainer.links,
        'optimizers': chainer.optimizers,
        'iterators': chainer.iterators,
    }
    text = (DOCS / 'coming_from.md').read_text(encoding='utf-8')
    here = '\n'.join(row.strip('| ').split(' | ')[-1] for row in re.findall(r'^\|.*', text, re.M))
    names = re.findall(rf'\b({"|".join(modules)})((?:\.\w+)+)', here)
    assert len(names) > 40
    for module, path in names:
        operator.attrgetter(path[1:])(modules[module])


@pytest.mark.parametrize(
    'name',
    ['ARCHITECTURE.md', *sorted(str(p.relative_to(DOCS.parent)) for p in DOCS.rglob('*.md'))],
)
def test_files_named_in_it_exist(name):
    root = DOCS.parent
    text = (root / name).read_text(encoding='utf-8')
    text = re.sub(r'^```.*?^```', '', text, flags=re.M | re.S)
    named = set(re.findall(r'`((?:[\w.]+/)+[\w.*]+\.(?:cc|h|def|py|md|toml|cmake))`', text))
    named |= {p.split('#')[0] for p in re.findall(r'\]\((?!http|#)([^)]+)\)', text)}
    places = [root, (root / name).parent, root / 'cpp/chainerx']
    missing = [n for n in named if not any(list(p.glob(n)) or (p / n).exists() for p in places)]
    assert not missing
    assert named or name not in ('ARCHITECTURE.md', 'docs/README.md')  # else the pattern is wrong


@pytest.mark.parametrize(
    'folder',
    sorted(
        str(p.parent.relative_to(DOCS.parent))
        for top in ('cpp', 'python', 'tests', 'tools', 'benchmarks', 'examples', 'cmake')
        for p in (DOCS.parent / top).rglob('README.md')
    ),
)
def test_sources_named_in_a_readme_exist(folder):
    """A README names sources by the last parts of their paths."""
    root = DOCS.parent
    text = (root / folder / 'README.md').read_text(encoding='utf-8')
    text = re.sub(r'^```.*?^```', '', text, flags=re.M | re.S)
    named = re.findall(r'`((?:[\w.]+/)*[\w*]+\.(?:cc|h|def|py|toml|cmake|\*))`', text)
    top = root / folder.partition('/')[0]
    missing = [n for n in named if not any(top.rglob(n)) and not any(root.glob(n))]
    assert not [name for name in missing if name != 'Python.h']


def test_the_map_fits_on_a_few_screens():
    lines = (DOCS.parent / 'ARCHITECTURE.md').read_text(encoding='utf-8').splitlines()
    assert len(lines) <= 150
    assert max(map(len, lines)) <= 100


def test_few_terms_are_our_own():
    rows = re.findall(r'^\| (?!term|---)', (DOCS / 'glossary.md').read_text('utf-8'), re.M)
    assert len(rows) <= 40


def quoted_blocks(text):
    """Blocks that start with the path of the quoted file: (path, [chunk, ...])."""
    for block in re.findall(r'^```\w+\n(.*?)^```', text, re.M | re.S):
        head, _, code = block.partition('\n')
        if match := re.fullmatch(r'(?://|#) ([\w./]+\.\w+)', head):
            yield match[1], [c for c in re.split(r'^ *(?://|#)? *\.\.\.\n', code, flags=re.M) if c]


@pytest.mark.parametrize(
    ('name', 'quotes'),
    [
        ('adding_an_op.md', 6),
        ('adding_a_backend.md', 3),
        ('adding_a_function.md', 5),
        ('cpp.md', 1),
    ],
)
def test_quoted_code_is_in_its_file(name, quotes):
    def normal(code):
        return ' '.join(code.split())

    blocks = list(quoted_blocks((DOCS / name).read_text(encoding='utf-8')))
    assert len(blocks) >= quotes
    for path, chunks in blocks:
        source = normal((DOCS.parent / path).read_text(encoding='utf-8'))
        for chunk in chunks:
            assert normal(chunk) in source, f'{name} quotes of {path} what is not there:\n{chunk}'
