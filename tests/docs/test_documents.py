"""The Python blocks of these documents, in order, are programs that check themselves."""

import pathlib
import re

import pytest

DOCS = pathlib.Path(__file__).parents[2] / 'docs'


@pytest.mark.parametrize('name', ['autograd.md'])
def test_code_blocks_run(name):
    text = (DOCS / name).read_text(encoding='utf-8')
    # Lines in front keep the line numbers of the document in a traceback.
    source = ''
    for block in re.finditer(r'^```python\n(.*?)^```', text, re.M | re.S):
        line = text.count('\n', 0, block.start(1))
        source += '\n' * (line - source.count('\n')) + block[1]
    assert source.count('assert') >= 5
    exec(compile(source, str(DOCS / name), 'exec'), {'__name__': name})
