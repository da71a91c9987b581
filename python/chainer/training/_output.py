"""Texts for people, on streams that may not take them."""

from __future__ import annotations

import typing as tp
import warnings


def show(stream: tp.TextIO | None, text: str) -> None:
    """Writes a text to a stream and flushes it. An output error does not end a training.

    The other end of a pipe may have gone (``train.py | tee log`` and Ctrl-C, which ends ``tee``),
    the disk of a log may be full: then there is a warning. Characters that the stream's encoding
    lacks are written as escapes.

    Args:
        stream: Has ``write``, maybe ``flush``; None shows nothing.
        text (str): The text.
    """
    if stream is None:
        return
    try:
        try:
            stream.write(text)
        except UnicodeEncodeError as error:
            stream.write(text.encode(error.encoding, 'backslashreplace').decode(error.encoding))
        flush = getattr(stream, 'flush', None)
        if flush is not None:
            flush()
    except OSError as error:
        warnings.warn(
            f'output cannot be written, and the training goes on without it: {error}', stacklevel=2
        )
