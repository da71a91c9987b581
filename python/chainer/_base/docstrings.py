"""Docstrings of twins: each says how it differs, one of them says the rest."""

from __future__ import annotations

import functools
import inspect
import re
import typing as tp

_T = tp.TypeVar('_T')

_HEADING: tp.Final = re.compile(r'^(Args|Attributes|Returns|Raises|Note|Source):', re.M)
# An entry of a section: the names before '(' or ':', and the lines that are indented more.
_ENTRY: tp.Final = re.compile(r'^    (\w[\w, ]*?)(?= \(|:).*(?:\n     .*)*', re.M)


def documented_like(twin: tp.Any) -> tp.Callable[[_T], _T]:
    """Decorator: the docstring takes from that of ``twin`` what it leaves out.

    That is whole sections, and under Args and Raises single entries. Args are those of the
    signature, in its order::

        @documented_like(convolution_nd)
        def convolution_1d(x, W, ...):
            '''Convolution over one axis; see `convolution_nd`.

            Args:
                W (Variable or array): (outs, ins, k).
            '''
    """

    def complete(target: _T) -> _T:
        if target.__doc__ and twin.__doc__:  # there are none under python -OO
            own, others = _sections(target.__doc__), _sections(twin.__doc__)
            merged = {**others, **own, 'Raises': _merged_raises(own, others)}
            merged['Args'] = _merged_args(target, own, others)
            target.__doc__ = '\n\n'.join(
                f'{heading}:{text}' if heading else text for heading, text in merged.items() if text
            )
        return target

    return complete


@functools.lru_cache
def _sections(text: str) -> dict[str, str]:
    """The text under each heading; '' is the heading of what comes before the first."""
    before, *rest = _HEADING.split(inspect.cleandoc(text))
    headings, texts = rest[::2], rest[1::2]
    return {'': before.rstrip()} | {
        heading: text.rstrip() for heading, text in zip(headings, texts, strict=True)
    }


def _entries(sections: dict[str, str], heading: str) -> dict[str, str]:
    """The entries of a section by their names, the first one where one has several."""
    found = _ENTRY.finditer(sections.get(heading, ''))
    return {match[1].split(',')[0]: match[0] for match in found}


def _merged_raises(own: dict[str, str], others: dict[str, str]) -> str:
    entries = {**_entries(others, 'Raises'), **_entries(own, 'Raises')}
    return ''.join(f'\n{entry}' for entry in entries.values())


def _merged_args(target: tp.Any, own: dict[str, str], others: dict[str, str]) -> str:
    entries = {**_entries(others, 'Args'), **_entries(own, 'Args')}
    # Not by inspect.signature, which would be a third of the time.
    function = target.__init__ if isinstance(target, type) else target  # type: ignore[misc]
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return ''.join(f'\n{entries[name]}' for name in names if name in entries)
