"""Computes the first iteration's losses of each program with NumPy in float64.

A function has the name of its program. It gets the values that the program passed to `start`:
arrays, and the values of links under `<name>/<path>`.
"""

from . import agents, generative, pictures, rest, sequences

ROWS = {
    name: function
    for module in (agents, generative, pictures, rest, sequences)
    for name, function in vars(module).items()
    if getattr(function, '__module__', None) == module.__name__ and not name.startswith('_')
}
