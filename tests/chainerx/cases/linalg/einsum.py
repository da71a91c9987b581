"""Einstein summation."""

import numpy as np
from cases._table import ALL, Case, call, f


def _ref(*args, **kw):
    kw.pop('dtype', None)
    return np.einsum(*args, **kw)


def _case(calls, ref=_ref, dtypes=ALL, **kw):
    return Case(
        'einsum',
        ref,
        calls=calls,
        dtypes=dtypes,
        unchecked=tuple(d for d in ALL if d not in dtypes),
        bools='yes',
        tol=20,
        **kw,
        sums='product',
    )


_ONE = [
    call('ij->ji', f(2, 3)),
    call('ij', f(2, 3)),
    call('ji', f(2, 3)),
    call('ij->', f(2, 3)),
    call('ij->j', f(2, 3)),
    call('ii', f(3, 3)),
    call('ii->i', f(3, 3)),
    call('iji->j', f(2, 3, 2)),
    call('iii->i', f(2, 2, 2)),
    call('ijij->ij', f(2, 3, 2, 3)),
    call('...', f(2, 3)),
    call('...ii->...i', f(2, 3, 3)),
    call('i...->...', f(2, 3, 2)),
    call('i...j', f(2, 3, 2)),
    call('->', f()),
    call('', f()),
    call('ij->ji', f(0, 3)),
    call('ij->j', f(0, 3)),
    call(' i j -> j i ', f(2, 3)),
    call('Aa->aA', f(2, 3)),
    call('bA', f(2, 3)),
]
_TWO = [
    call('ij,jk->ik', f(2, 3), f(3, 4)),
    call('ij,jk', f(2, 3), f(3, 4)),
    call('ij,jk->ki', f(2, 3), f(3, 4)),
    call('ij,kj->ik', f(2, 3), f(4, 3)),
    call('ji,jk->ik', f(3, 2), f(3, 4)),
    call('ij,jk->i', f(2, 3), f(3, 4)),
    call('ij,jk->', f(2, 3), f(3, 4)),
    call('ij,kl->', f(2, 3), f(3, 2)),
    call('i,i', f(3), f(3)),
    call('i,i->i', f(3), f(3)),
    call('i,j', f(3), f(2)),
    call('i,j->ji', f(3), f(2)),
    call('i,->i', f(3), f()),
    call(',', f(), f()),
    call('ij,ij->', f(2, 3), f(2, 3)),
    call('ij,ji->', f(2, 3), f(3, 2)),
    call('ij,ij->i', f(2, 3), f(2, 3)),
    call('ij,ij->j', f(2, 3), f(2, 3)),
    call('ijk,ijk->i', f(2, 3, 4), f(2, 3, 4)),
    call('ijk,ikj->j', f(2, 3, 4), f(2, 4, 3)),
    call('ij,ij->i', f(2, 3), f(1, 3)),
    call('ij,ij->ji', f(2, 3), f(2, 3)),
    call('ij,j->i', f(2, 3), f(3)),
    call('i,ij->j', f(2), f(2, 3)),
    call('bij,bjk->bik', f(2, 3, 2), f(2, 2, 3)),
    call('bij,bjk->kbi', f(2, 3, 2), f(2, 2, 3)),
    call('bij,jk->bik', f(2, 3, 2), f(2, 3)),
    call('ij,bjk->bik', f(3, 2), f(2, 2, 3)),
    call('abij,abjk->abik', f(2, 1, 2, 3), f(2, 1, 3, 2)),
    call('abij,bajk->ikab', f(2, 3, 2, 2), f(3, 2, 2, 2)),
    call('ijkl,klm->ijm', f(2, 1, 2, 3), f(2, 3, 2)),
    call('ijkl,lkm->mji', f(2, 1, 2, 3), f(3, 2, 2)),
    call('ikjl,kml->ijm', f(2, 3, 2, 2), f(3, 2, 2)),
    call('ii,ij->j', f(3, 3), f(3, 2)),
    call('ijj,jk->ik', f(2, 3, 3), f(3, 2)),
    call('...ij,...jk->...ik', f(2, 2, 3), f(3, 2)),
    call('...ij,...jk', f(2, 1, 2, 3), f(3, 3, 2)),
    call('i...,i...->...', f(2, 3), f(2, 1)),
    call('...,...', f(2, 3), f(3)),
    call('ij,jk->ik', f(2, 3), f(1, 4)),
    call('ij,ij->ij', f(1, 3), f(2, 3)),
    call('ij,jk->ik', f(2, 0), f(0, 3)),
    call('ij,jk->ik', f(0, 2), f(2, 3)),
    call('bij,bjk->bik', f(0, 3, 2), f(0, 2, 3)),
    call(f(2, 3), [0, 1], f(3, 4), [1, 2], [0, 2]),
    call(f(2, 3), (0, 1), f(3, 4), (1, 2)),
    call(f(2, 2, 3), [Ellipsis, 0, 1], f(3, 4), [1, 51], [Ellipsis, 51, 0]),
    call(f(2, 3), [26, 1]),
]
_MANY = [
    call('ij,jk,kl->il', f(2, 3), f(3, 4), f(4, 2)),
    call('ij,jk,kl', f(2, 3), f(3, 4), f(4, 2)),
    call('i,ij,j', f(2), f(2, 3), f(3)),
    call('bi,bj,bk->bijk', f(2, 3), f(2, 2), f(2, 2)),
    call('ij,kl,jk->il', f(2, 3), f(4, 2), f(3, 4)),
    call('i,j,k->kji', f(2), f(3), f(2)),
    call('ijk,ia,jb,kc->abc', f(2, 3, 2), f(2, 2), f(3, 2), f(2, 2)),
    call('a,ab,abc,ac->c', f(2), f(2, 2), f(2, 2, 3), f(2, 3)),
    call('i,i,i,i', f(3), f(3), f(3), f(3)),
    call('ij,jk,kl->il', f(2, 0), f(0, 4), f(4, 2)),
    call('...i,...i,i->...', f(2, 3), f(2, 3), f(3)),
]
_PATHS = [True, 'greedy', 'optimal', ('greedy', 3), ('optimal', 3)]
_PATHS += [['einsum_path', (0, 2), (0, 1)], ['einsum_path', (0, 1, 2)], False]


def _with_path(case_calls, optimize):
    return [call(*c.args, optimize=optimize) for c in case_calls]


_MALFORMED = [
    (call('i$', f(2)), 'ValueError', r"'\$' in 'i\$' is not a letter"),
    (call('i->i->i', f(2)), 'ValueError', 'not a letter'),
    (call('i..', f(2)), 'ValueError', r"'\.' in"),
    (call('......', f(2)), 'ValueError', 'several ellipses'),
    (call('i,j', f(2)), 'ValueError', '1 operands, but subscripts of 2'),
    (call('i', f(2), f(2)), 'ValueError', '2 operands, but subscripts of 1'),
    (call('i->', f(2), f(2)), 'ValueError'),
    (call('i->j', f(2)), 'ValueError', "label 'j' of the output is in no operand"),
    (call('i->ii', f(2)), 'ValueError', "label 'i' 2 times, expected once"),
    (call('...->', f(2)), 'ValueError', 'no ellipsis, but the operands have 1 axes'),
    (call('i', f(2, 3)), 'DimensionError', 'operand 0 has 2 axes, but its subscripts name 1'),
    (call('ij', f(2)), 'DimensionError', 'name 2'),
    (call('i...j', f(2)), 'DimensionError', 'name 2 and an ellipsis'),
    (call('ii', f(2, 3)), 'DimensionError', "label 'i' has length 3 in operand 0, expected 2"),
    (call('ii', f(3, 1)), 'DimensionError', 'length 1 in operand 0, expected 3'),
    (call('i,i', f(2), f(3)), 'DimensionError', "label 'i' has length 3 in operand 1, expected 2"),
    (call('...,...', f(2), f(3)), 'DimensionError', 'has length 3 in operand 1'),
    (call(f(2), [52]), 'ValueError', 'a subscript is 52, expected 0 to 51'),
    (call(f(2), [-1]), 'ValueError', 'a subscript is -1'),
    (call(f(2), 0), 'TypeError', 'subscripts are a int'),
    (call('i', None), 'TypeError', 'operands'),
    (call('é', f(2)), 'ValueError', "'é' in 'é' is not a letter"),
    (
        call('i,i->i', f(2, dtype='complex64'), f(2), dtype='float32'),
        'DtypeError',
        'operands.*comp',
    ),
    (call('i->', f(2, dtype='float64'), dtype='int32'), 'DtypeError', 'operands has dtype float64'),
    (call('i', f(2), optimize='best'), 'ValueError', "optimize is 'best', expected greedy or"),
    (call('i', f(2), optimize=['path', (0,)]), 'ValueError', "optimize is 'path'"),
    (call('i', f(2), optimize=[(0,)]), 'ValueError', "expected a path that begins with 'einsum_p"),
    (call('i', f(2), optimize=3), 'TypeError', 'optimize is a int'),
    (call('i,i', f(2), f(2), optimize=['einsum_path', (0, 2)]), 'ValueError', r'is \(0, 2\), exp'),
    (call('i,i', f(2), f(2), optimize=['einsum_path', (0, 0)]), 'ValueError', 'different numbers'),
    (call('i,i', f(2), f(2), optimize=['einsum_path', (-1,)]), 'ValueError', r'is \(-1\)'),
    (call('i,i', f(2), f(2), optimize=['einsum_path', 'ab']), 'TypeError', 'a step of the path'),
]


def _check_paths(xp, device):
    """Paths equal NumPy's where the costs alone determine them, and have the least work."""
    x, y, z = (xp.ones(s, device=device) for s in ((2, 30), (30, 40), (40, 3)))
    a, b, c = (np.ones(s) for s in ((2, 30), (30, 40), (40, 3)))
    for optimize in (True, 'greedy', 'optimal', ('greedy', 10**9)):
        path, report = xp.einsum_path('ij,jk,kl->il', x, y, z, optimize=optimize)
        assert path == np.einsum_path('ij,jk,kl->il', a, b, c, optimize=optimize)[0]
        assert 'ij,jk,kl->il' in report
        assert 'steps:\n' in report
    assert xp.einsum_path('ij,jk,kl', x, y, z, optimize=False)[0] == ['einsum_path', (0, 1, 2)]
    assert xp.einsum_path('ij,jk,kl', x, y, z, optimize=('greedy', 1))[0][1:] == [(0, 1, 2)]
    assert xp.einsum_path('ij,jk,kl', x, y, z, optimize=('optimal', 1))[0][1:] == [(0, 1, 2)]
    given = ['einsum_path', (1, 2), (0, 1)]
    assert xp.einsum_path(x, [0, 1], y, [1, 2], z, [2, 3], optimize=given)[0] == given
    assert xp.einsum_path('ij->i', x)[0] == ['einsum_path', (0,)]


CASES = [
    _case(_ONE, errors=_MALFORMED),
    # NumPy has no such partial path.
    _case(
        _with_path(_MANY[:1], ['einsum_path', (1, 2)]),
        ref=lambda *args, optimize: np.einsum(*args),
        dtypes=('float64',),
    ),
    _case(_TWO, binary=True, big=call('bij,bjk->bik', f(3, 130, 60), f(3, 60, 140))),
    _case(_MANY, dtypes=('float32', 'float64')),
    *(_case(_with_path(_MANY[:1] + _MANY[4:5], p), dtypes=('float64',)) for p in _PATHS),
    _case(_with_path(_MANY[1:], True), dtypes=('float64',)),
    _case(_with_path(_MANY[1:], 'optimal'), dtypes=('float64',)),
    _case(
        [call('ij,ij->i', f(2, 3), f(2, 3), dtype='float64')],
        ref=lambda *a, dtype: np.einsum(*a),
        dtypes=('float32', 'float64'),
        order=0,
        diff=(),
    ),
    Case('einsum_path', check=_check_paths, dtypes=(), order=0),
]
