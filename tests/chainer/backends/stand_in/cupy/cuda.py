"""Devices of the stand-in: two of them, the current one in a variable."""

_current = [0]


class Device:
    def __init__(self, device=None):
        self.id = _current[-1] if device is None else int(device)
        assert 0 <= self.id < 2

    def __eq__(self, other):
        return isinstance(other, Device) and other.id == self.id

    __hash__ = None

    def __enter__(self):
        _current.append(self.id)
        return self

    def __exit__(self, *args):
        _current.pop()

    def use(self):
        _current[-1] = self.id


class Stream:
    pass


class Event:
    pass


class runtime:
    @staticmethod
    def getDeviceCount():
        return 2
