"""Links of losses and activations, and other single links."""

import pathlib

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import pytest
from chainer import Variable
from devices import DEVICES, assert_equal, to_numpy
from links import links_losses

V7 = pathlib.Path(__file__).parents[1] / 'data' / 'v7_losses.npz'


@pytest.fixture(scope='module')
def v7():
    with np.load(V7) as found:
        return dict(found)


@pytest.fixture(params=DEVICES)
def device(request):
    return chainer.get_device(request.param)


@pytest.mark.parametrize('name', links_losses.LINKS)
def test_as_in_v7(name, v7):
    """From the same seed, initial weights have the same bits as in v7."""
    expected = {k[len(name) :]: x for k, x in v7.items() if k.startswith(name + ':')}
    found = links_losses.run(name)
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert found[key].dtype == value.dtype
        assert found[key].shape == value.shape
        is_weight = key != ':y' and not key.endswith(':grad')
        if is_weight:
            assert found[key].tobytes() == value.tobytes(), key
        else:
            np.testing.assert_allclose(found[key], value, 2e-4, 2e-5, err_msg=key)


def on(device, array):
    return device.send(np.asarray(array))


def test_black_out_draws_and_moves_with_its_sampler(device):
    link = L.BlackOut(4, [1, 0, 3], 5)
    assert link.W.shape == (3, 4)
    assert np.isnan(link.W.array).all()  # as in v7: there is no initializer
    link.W.array[...] = np.arange(12).reshape(3, 4) / 10
    link.to_device(device)
    x = on(device, links_losses.X)
    seen = []
    draw = link.sampler.sample

    def sample(shape):
        seen.append(draw(shape))
        return seen[-1]

    link.sampler.sample = sample
    y = link(x, on(device, np.array([0, 1, 2], 'int32')))
    assert to_numpy(seen[0]).shape == (3, 5)
    assert set(to_numpy(seen[0]).ravel()) <= {0, 2}
    expected = F.black_out(x, on(device, np.array([0, 1, 2], 'int32')), link.W, seen[0])
    assert_equal(y.array, to_numpy(expected.array))


def test_negative_sampling_returns_its_samples(device):
    link = L.NegativeSampling(4, [1, 0, 3], 6, power=1.0)
    assert (link.W.array == 0).all()
    link.to_device(device)
    t = np.array([1, -1, 0], 'int32')
    y, samples = link(on(device, links_losses.X), on(device, t), 'no', return_samples=True)
    assert to_numpy(samples).shape == (3, 7)
    assert (to_numpy(samples)[:, 0] == t).all()
    assert set(to_numpy(samples)[:, 1:].ravel()) <= {0, 2}
    np.testing.assert_allclose(to_numpy(y.array), [7 * np.log(2), 0, 7 * np.log(2)], 1e-6)
    with pytest.raises(TypeError, match='unexpected'):
        link(on(device, links_losses.X), on(device, t), samples=samples)


def test_huffman_trees():
    make = L.BinaryHierarchicalSoftmax.create_huffman_tree
    assert make({0: 8, 1: 5, 2: 6, 3: 4}) == ((3, 1), (2, 0))
    # Among equally frequent subtrees, the one with the smallest word comes first.
    assert make({0: 4, 1: 4, 2: 8, 3: 2, 4: 4}) == (2, ((3, 0), (1, 4)))
    assert make({i: i * 7 % 5 + 1 for i in range(9)}) == (
        (2, 7),
        ((6, ((0, 5), 3)), (4, (8, 1))),
    )
    assert make({3: 1}) == 3
    with pytest.raises(ValueError, match='Empty vocabulary'):
        make({})


def test_probabilities_of_a_tree_sum_to_one(device):
    link = L.BinaryHierarchicalSoftmax(4, (0, ((1, 4), (2, 3))))
    link.to_device(device)
    x = links_losses.X[:1].repeat(5, 0)
    p = [np.exp(-float(link(on(device, x[:1]), on(device, np.array([i], 'int32'))).array))
         for i in range(5)]  # fmt: skip
    np.testing.assert_allclose(sum(p), 1, 1e-5)
    v = Variable(on(device, x))
    y = link(v, on(device, np.arange(5, dtype='int32')))
    np.testing.assert_allclose(float(y.array), -np.log(p).sum(), 1e-5)
    link.cleargrads()
    (gx,) = chainer.grad([y], [v], enable_double_backprop=True)
    F.sum(gx * gx).backward()
    assert np.isfinite(to_numpy(link.W.grad)).all()


@pytest.mark.parametrize('word', [5, -1, 99])
def test_words_outside_of_the_tree(word, device):
    link = L.BinaryHierarchicalSoftmax(4, (0, ((1, 4), (2, 3))))
    link.to_device(device)
    t = on(device, np.array([0, word, 1], 'int32'))
    with pytest.raises(IndexError, match=rf't has {word}, but the tree has words from 0 to 4'):
        link(on(device, links_losses.X), t)


def test_trees_that_are_none():
    with pytest.raises(ValueError, match='two child nodes; one has 3'):
        L.BinaryHierarchicalSoftmax(4, ((0, 1), 5, (2, 3)))
    deep = 0
    for i in range(1, 3000):
        deep = (deep, i)
    assert L.BinaryHierarchicalSoftmax(2, deep).W.shape == (2999, 2)


def test_argmax_of_a_crf_is_in_the_order_of_its_input(device):
    link = L.CRF1d(4, np.arange(16, dtype='float32').reshape(4, 4) % 5)
    link.to_device(device)
    xs = [on(device, x) for x in links_losses.XS]
    score, path = link.argmax(xs, transpose=True)
    assert [len(p) for p in path] == [2, 4, 1]
    for i, x in enumerate(xs):
        alone, (labels,) = link.argmax([x], transpose=True)
        assert_equal(path[i], to_numpy(labels))
        place = [1, 0, 2][i]  # by decreasing length, as in v7
        np.testing.assert_allclose(to_numpy(score.array)[place], to_numpy(alone.array)[0], 1e-5)


def test_a_parameter_is_a_link(device):
    array = on(device, np.arange(3, dtype='float32'))
    link = L.Parameter(array)
    link.cleargrads()
    y = link()
    assert_equal(y.array, to_numpy(array))
    y.grad = on(device, np.full(3, 2, 'float32'))
    y.backward()
    assert_equal(link.W.grad, np.full(3, 2, 'float32'))


def test_highway_and_maxout_know_their_sizes():
    assert [n for n, _ in L.Highway(3).namedparams()] == [
        '/plain/W', '/plain/b', '/transform/W', '/transform/b',
    ]  # fmt: skip
    link = L.Maxout(None, 3, 2)
    assert link.linear.W.array is None
    assert link(links_losses.X).shape == (3, 3)
    with pytest.raises(ValueError, match=r'reshape|size'):
        L.Maxout(4, 3, 2, initial_bias=np.arange(5))


def test_a_parameter_that_is_no_array():
    with pytest.raises(TypeError, match='array is a list'):
        L.Parameter([1, 2])


def test_samples_may_be_given_to_black_out():
    link = L.BlackOut(4, [1, 1, 1], 2)
    link.W.array[...] = np.arange(12).reshape(3, 4) / 10
    t = np.array([0, 1, 2], 'int32')
    link.sample_data = np.array([[1, 2], [0, 0], [2, 1]], 'int32')
    expected = F.black_out(links_losses.X, t, link.W, link.sample_data)
    assert link(links_losses.X, t).array == expected.array
