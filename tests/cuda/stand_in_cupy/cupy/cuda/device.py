"""Devices."""

from __future__ import annotations

from cupy import _driver


class Device:
    """A device, by default the current one."""

    def __init__(self, device=None):
        self.id = _driver.current_device() if device is None else int(device)
        self._outer = []

    def __int__(self):
        return self.id

    def __eq__(self, other):
        return isinstance(other, Device) and other.id == self.id

    def __hash__(self):
        return self.id

    def __repr__(self):
        return f'<CUDA Device {self.id}>'

    def use(self):
        _driver.set_device(self.id)

    def __enter__(self):
        self._outer.append(_driver.current_device())
        self.use()
        return self

    def __exit__(self, *args):
        _driver.set_device(self._outer.pop())

    def synchronize(self):
        with _driver.using(self.id):
            _driver.call('cuCtxSynchronize')
