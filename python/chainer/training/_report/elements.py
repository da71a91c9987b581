"""Elements of HTML and SVG, which escape their text and attributes."""

from __future__ import annotations

import typing as tp
from xml.etree import ElementTree

Element: tp.TypeAlias = ElementTree.Element


def add(parent: Element, tag: str, text: object | None = None, **attributes: object) -> Element:
    """An element below another; ``class_`` is the attribute class, ``a_b`` is a-b."""
    names = {key.rstrip('_').replace('_', '-'): clean(value) for key, value in attributes.items()}
    element = ElementTree.SubElement(parent, tag, names)
    if text is not None:
        element.text = clean(text)
    return element


def clean(text: object) -> str:
    """Text that HTML may hold: without control characters, and halves of surrogates."""
    raw = str(text).encode('utf-8', 'replace').decode('utf-8')
    return ''.join(c if c in '\t\n' or (c >= ' ' and c != '\x7f') else '\ufffd' for c in raw)


def to_html(element: Element) -> str:
    """An element with all that is in it as a text."""
    return ElementTree.tostring(element, encoding='unicode', method='html')
