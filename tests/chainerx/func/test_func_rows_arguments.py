"""Every row of the table under vmap, with keyword arguments, and with explicit defaults."""

import inspect
import warnings

import chainerx as chx
import numpy as np
from cases._harness import as_list, call_text, each, to_numpy
from cases._table import call
from chainerx import func
from chainerx.func import _loop
from func.test_func_rows import WITH_RULES, N, batched_values


def ways(function, spec):
    """The same call in other spellings."""
    bound = inspect.signature(function).bind(*spec.args, **spec.kw)
    kinds = {p.kind for p in bound.signature.parameters.values()}
    if inspect.Parameter.VAR_POSITIONAL not in kinds:
        yield call(**bound.arguments)
    bound.apply_defaults()
    yield call(*bound.args, **bound.kwargs)


@each(c for c in WITH_RULES if c.name not in _loop.REASONS)
def test_arguments_by_name_and_by_place(case):
    function = case.resolve(chx)
    dtype = next((d for d in ('float64', 'float32', 'int32') if d in case.dtypes), case.dtypes[0])
    for spec in case.calls[:6]:
        if not list(spec.arrays()) or any(len(a.shape) > 7 for a in spec.arrays()):
            continue
        arrays = [chx.array(v) for v in batched_values(case, spec, dtype)]

        def one(*xs, spec):
            it = iter(xs)
            return as_list(spec.map(lambda a: next(it)).run(function))

        for way in ways(function, spec):
            try:
                rows = [one(*[x[i] for x in arrays], spec=way) for i in range(N)]
            except (TypeError, ValueError):
                continue  # can't be called so, for example if the default is no valid argument
            with warnings.catch_warnings():
                warnings.simplefilter('error', func.BatchingWarning)
                ys = func.vmap(lambda *xs, way=way: one(*xs, spec=way))(*arrays)
            for y, *expected in zip(ys, *rows, strict=True):
                np.testing.assert_allclose(
                    to_numpy(y).astype('c16'),
                    np.stack([to_numpy(e) for e in expected]).astype('c16'),
                    rtol=1e-5,
                    atol=1e-5,
                    err_msg=call_text(way),
                )
