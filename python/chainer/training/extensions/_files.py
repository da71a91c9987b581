"""Files that extensions write."""

from __future__ import annotations

from chainerx._files import replaced


def write_text(path: str, text: str) -> None:
    """Replaces a text file atomically, without waiting for the disk (no fsync).

    A file that a snapshot can restore does not have to survive a power cut.

    Args:
        path (str): The file.
        text (str): All of it.
    """
    with (
        replaced(path, sync=False) as temporary,
        open(temporary, 'w', encoding='utf-8', newline='\n') as stream,
    ):
        stream.write(text)
