"""Links whose __init__ has not run: a subclass forgot to call that of its base."""

from __future__ import annotations


def without_init(cls: type) -> str:
    """The description of an object of this class in messages."""
    return (
        f'Link.__init__() has not been called. ({cls.__name__}.__init__ must start with '
        'super().__init__())'
    )


class MadeByInit:
    """Stands for an attribute of a link whose __init__ has not run; one of its own hides it."""

    def __get__(self, link: object, owner: type) -> MadeByInit:
        if link is None:
            return self
        raise AttributeError(without_init(owner))
