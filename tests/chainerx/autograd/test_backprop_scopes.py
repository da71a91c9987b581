"""Backprop modes, and several graphs by backprop id."""

import chainerx as chx
import pytest
from cases._arrays import check, leaf

# --- modes


def test_modes_nest_and_the_innermost_wins():
    x = leaf([1.0])
    assert chx.is_backprop_required()
    with chx.no_backprop_mode():
        assert not chx.is_backprop_required()
        assert not x.is_backprop_required()
        assert x.is_grad_required()
        with chx.force_backprop_mode():
            assert chx.is_backprop_required()
            assert (x * 2).is_backprop_required()
        assert not (x * 2).is_backprop_required()
    assert (x * 2).is_backprop_required()


def test_mode_ends_with_an_exception():
    with pytest.raises(KeyError), chx.no_backprop_mode():
        raise KeyError
    assert chx.is_backprop_required()


def test_modes_of_ids_and_contexts():
    x = chx.array([1.0], 'float32')
    with chx.backprop_scope('a') as a, chx.backprop_scope('b') as b:
        x.require_grad(a).require_grad(b)
        with chx.no_backprop_mode(a):
            y = x * 2
            assert not y.is_backprop_required(a)
            assert y.is_backprop_required(b)
            assert not chx.is_backprop_required(a)
            assert chx.is_backprop_required(b)
        with chx.no_backprop_mode([a, b]):
            assert not (x * 2).is_backprop_required(chx.anygraph)
        with chx.no_backprop_mode(chx.get_default_context()):
            assert not (x * 2).is_backprop_required(chx.anygraph)
            with chx.force_backprop_mode(b):
                assert (x * 2).is_backprop_required(b)
                assert not (x * 2).is_backprop_required(a)
    for bad in (1, 'a', x, [1]):
        with pytest.raises(TypeError):
            chx.no_backprop_mode(bad).__enter__()


def test_no_graph_is_recorded_in_no_backprop_mode():
    x = leaf([1.0])
    with chx.no_backprop_mode():
        y = x * 2
    assert not y.is_backprop_required()
    assert not y._is_chained()


# --- scopes


def test_scopes_have_own_gradients():
    x = chx.array([3.0], 'float32').require_grad()
    with chx.backprop_scope('inner') as inner:
        assert (inner.name, repr(inner)) == ('inner', 'inner')
        assert inner.context is chx.get_default_context()
        x.require_grad(inner)
        y = x * x
        y.backward(inner)
        check(x.get_grad(inner), [6])
        assert x.grad is None
        x.cleargrad(inner)
        assert x.get_grad(inner) is None
    with pytest.raises(chx.ChainerxError):
        x.get_grad(inner)


def test_scope_is_single_use_and_ends():
    scope = chx.backprop_scope('once')
    with scope as one:
        pass
    with pytest.raises(chx.ChainerxError):
        scope.__enter__()
    x = chx.array([1.0], 'float32')
    for use in (
        lambda: x.require_grad(one),
        lambda: x.is_grad_required(one),
        lambda: x.is_backprop_required(one),
        lambda: x.backward(one),
        lambda: chx.backward([x], one),
    ):
        with pytest.raises(chx.ChainerxError):
            use()


def test_nested_entry_of_one_scope_is_an_error():
    scope = chx.backprop_scope('nested')
    with scope, pytest.raises(chx.ChainerxError):
        scope.__enter__()


def test_arrays_of_an_ended_scope_keep_their_values():
    x = chx.array([3.0], 'float32')
    with chx.backprop_scope('gone') as gone:
        x.require_grad(gone)
        y = x * 2
    check(y, [6])
    check(x, [3])
    for use in (lambda: y.backward(gone), lambda: y.get_grad(gone)):
        with pytest.raises(chx.ChainerxError):
            use()


def test_more_than_63_live_ids_is_a_clear_error():
    context = chx.get_default_context()
    ids = []

    def make_many():
        for n in range(80):
            ids.append(context.make_backprop_id(f'id{n}'))

    try:
        with pytest.raises(chx.ChainerxError, match=r'6\d'):
            make_many()
        assert len(ids) >= 60
    finally:
        for one in ids:
            context.release_backprop_id(one)
    with chx.backprop_scope('after') as after:  # the bit of a closed scope is reused
        x = chx.array([2.0], 'float32').require_grad(after)
        (x * x).backward(after)
        check(x.get_grad(after), [4])


def test_default_id_is_not_released():
    context = chx.get_default_context()
    x = leaf([1.0])
    assert '<default>' in repr(x)
    with chx.backprop_scope('a') as a:
        context._check_valid_backprop_id(a)
    with pytest.raises(chx.ChainerxError):
        context._check_valid_backprop_id(a)
    with pytest.raises(chx.ChainerxError):
        context.release_backprop_id(a)


def test_edges_keep_the_ids_they_were_recorded_with():
    """A later require_grad(id) changes the array, not old edges."""
    with chx.backprop_scope('late') as late:
        x = leaf([2.0])
        y = x * x
        x.require_grad(late)
        assert not y.is_backprop_required(late)
        z = y + x
        z.backward(late)
        check(x.get_grad(late), [1])


def test_outer_graph_records_the_backward_of_an_inner_one():
    """Backward of an inner id keeps outer graphs, so that they can differentiate it."""
    w = leaf([3.0])
    with chx.backprop_scope('inner') as inner:
        x = chx.array([2.0], 'float32').require_grad(inner)
        y = x * x * w
        (gx,) = chx.grad([y], [x], inner)
        check(gx, [12])
        assert gx.is_backprop_required()
        assert not gx.is_backprop_required(inner)
        gx.backward()
        check(w.grad, [4])


def test_inner_after_outer_is_an_error():
    x = leaf([2.0])
    with chx.backprop_scope('inner') as inner:
        x.require_grad(inner)
        y = x * x
        y.backward()
        with pytest.raises(chx.ChainerxError):
            y.backward(inner)


def test_backward_of_one_id_leaves_the_other():
    with chx.backprop_scope('a') as a, chx.backprop_scope('b') as b:
        x = chx.array([2.0], 'float32').require_grad(a).require_grad(b)
        y = x * x
        y.backward(b)
        check(x.get_grad(b), [4])
        assert x.get_grad(a) is None
        y.backward(a)
        check(x.get_grad(a), [4])
        check(x.get_grad(b), [4])


def test_foreign_backprop_id():
    other = chx.Context()
    foreign = other.make_backprop_id('foreign')
    x = chx.array([1.0], 'float32')
    with pytest.raises(chx.ChainerxError):
        x.require_grad(foreign)
    other.release_backprop_id(foreign)
    with pytest.raises(chx.ChainerxError):
        other.release_backprop_id(foreign)
    for bad in (1, 'a', 1.5):
        with pytest.raises(TypeError):
            x.require_grad(bad)


def test_anygraph():
    x = chx.array([1.0], 'float32')
    assert not x.is_backprop_required(chx.anygraph)
    with chx.backprop_scope('a') as a:
        x.require_grad(a)
        assert x.is_backprop_required(chx.anygraph)
        assert not x.is_backprop_required()


def test_an_id_has_nothing_of_the_one_before():
    """Successive scopes get the same bit; arrays of the first are in no graph of the second."""
    with chx.backprop_scope('first') as first:
        x = chx.ones(2).require_grad(first)
        y = x * 2
        y.backward(first)
        kept = chx.ones(2).require_grad(first)
    for n in range(70):  # more scopes than can be open at once
        with chx.backprop_scope(f'scope {n}') as now:
            for old in (x, y, kept):
                assert not old.is_backprop_required(now)
                assert not old.is_grad_required(now)
                with pytest.raises(chx.ChainerxError):
                    old.get_grad(now)
                assert not (old * 3).is_backprop_required(now)
            other = chx.ones(2).require_grad(now)
            (other * kept.as_grad_stopped()).backward(now)
            assert other.get_grad(now).tolist() == [1, 1]
            kept.require_grad(now)
            assert (kept * 2).is_backprop_required(now)
            assert kept.get_grad(now) is None
