"""chainerx.random.Generator: its own state, copies, children, threads, forks."""

import copy
import os
import pickle
import threading

import chainerx as chx
import numpy as np
import pytest
import scipy.stats
from cases.random.distributions import DRAWS


def numbers(rng, n=20):
    return rng.normal(size=n).tolist()


def test_it_is_the_default_generator_of_that_seed():
    state = chx.random.get_state()
    chx.random.seed(11)
    x = chx.random.normal(size=20).tolist(), chx.random.poisson(3.0, 20).tolist()
    chx.random.set_state(state)
    rng = chx.random.Generator(11)
    assert (rng.normal(size=20).tolist(), rng.poisson(3.0, 20).tolist()) == x
    assert chx.random.get_state() == state


def test_without_a_seed_no_two_are_alike():
    assert numbers(chx.random.Generator()) != numbers(chx.random.Generator())
    assert numbers(chx.random.default_rng()) != numbers(chx.random.default_rng(None))


def test_it_has_the_functions_of_the_module():
    legacy = {'seed', 'rand', 'randn', 'randint', 'random_sample', 'default_rng'}
    functions = {n for n in dir(chx.random) if not n.startswith('_') and n != 'Generator'}
    methods = {n for n in dir(chx.random.Generator) if not n.startswith('_')}
    assert methods - {'spawn', 'state', 'bit_generator'} == functions - legacy
    rng = chx.random.Generator(1)
    for draw in DRAWS:
        rng.state = (3, 4)
        x = getattr(rng, draw.name)(*draw.args[0], size=30)
        assert rng.state[1] > 4
        rng.state = (3, 4)
        assert (x == getattr(rng, draw.name)(*draw.args[0], size=30)).all(), draw.name


def test_state():
    rng = chx.random.Generator(2**64 - 1)
    assert rng.state == rng.get_state() == rng.bit_generator.state == (2**64 - 1, 0)
    first = numbers(rng)
    state = rng.bit_generator.state
    second = numbers(rng)
    rng.bit_generator.state = state
    assert numbers(rng) == second
    rng.set_state((2**64 - 1, 0))
    assert numbers(rng) == first
    assert repr(rng) == f'<chainerx.random.Generator: seed {2**64 - 1}, 1 draws>'
    for bad in [3, (1,), (1, 2, 3), [1, 2]]:
        with pytest.raises(TypeError, match='state'):
            rng.state = bad
    with pytest.raises(ValueError, match=r'state\[1\]'):
        rng.state = (1, 2**64)
    with pytest.raises(TypeError, match='state'):
        del rng.state
    for bad in (-1, 2**64):
        with pytest.raises(ValueError, match='seed'):
            chx.random.Generator(bad)
    with pytest.raises(TypeError, match='seed'):
        chx.random.default_rng('x')


@pytest.mark.parametrize(
    'copied', [copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))]
)
def test_copies_continue_independently(copied):
    rng = chx.random.Generator(5)
    numbers(rng)
    other = copied(rng)
    assert other.state == rng.state
    assert numbers(other) == numbers(rng)
    numbers(other)
    assert other.state != rng.state


def test_children():
    rng = chx.random.Generator(5)
    children = rng.spawn(50)
    assert len({c.state for c in children}) == 50
    assert rng.state == (5, 1)
    assert [c.state for c in chx.random.Generator(5).spawn(3)] == [c.state for c in children[:3]]
    x = np.array([numbers(c, 1000) for c in (rng, *children[:9])])
    assert abs(np.corrcoef(x) - np.eye(10)).max() < 0.15
    assert rng.spawn(0) == []
    with pytest.raises(ValueError, match='n is -1'):
        rng.spawn(-1)


def test_moves_between_devices():
    rng = chx.random.Generator(5)
    expected = [numbers(rng) for _ in range(4)]
    rng.state = (5, 0)
    found = [
        # Each draw moves the state to another device.
        rng.normal(size=20, device=f'native:{d}').tolist()
        for d in (0, 1, 0, 2)
    ]
    assert found == expected


def test_each_draw_counts_once_whatever_thread_it_is_of():
    rng = chx.random.Generator(5)
    drawn = []

    def work():
        for _ in range(200):
            drawn.append(rng.random(3).tolist())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert rng.state == (5, 1600)
    again = chx.random.Generator(5)
    assert sorted(drawn) == sorted(again.random(3).tolist() for _ in range(1600))


@pytest.mark.skipif(not hasattr(os, 'fork'), reason='needs fork')
def test_a_forked_child_has_a_copy():
    rng = chx.random.Generator(5)
    numbers(rng)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, pickle.dumps((rng.state, numbers(rng))))
        os._exit(0)
    os.close(write)
    with os.fdopen(read, 'rb') as f:
        state, drawn = pickle.load(f)
    assert os.waitpid(child, 0)[1] == 0
    assert state == rng.state
    assert drawn == numbers(rng)


GOLDEN = {
    'normal': (
        (-3, 0.5),
        [-2.4701964526165474, -2.866697619079805, -2.7371239735965482, -2.9056218369308837],
    ),
    'uniform': (
        (-2.0, 5.0),
        [1.8535218712226396, -1.7253884643494592, 3.9887820638304605, -1.6159871428114463],
    ),
    'laplace': (
        (2.0, 3.0),
        [2.319437586509767, -5.635482238305835, 5.724822460198358, -4.62952663956531],
    ),
    'logistic': (
        (2.0, 3.0),
        [2.6081111867151034, -7.5948623969251745, 7.33619774434638, -6.539704777194533],
    ),
    'gumbel': (
        (2.0, 3.0),
        [3.547903229700973, -1.5251528455883614, 7.573273117492537, -1.1972230944616227],
    ),
    'cauchy': (
        (2.0, 3.0),
        [2.4800153304809793, -22.218315055179694, 8.150163149144221, -15.234302267054215],
    ),
    'lognormal': (
        (1.0, 0.25),
        [3.5427447282816846, 2.905632778360939, 3.100111297300808, 2.8496297727230386],
    ),
    'exponential': (
        (3.0,),
        [2.398879128189603, 0.12006138306049675, 5.804264001878194, 0.1692634040506116],
    ),
    'weibull': (
        (1.5,),
        [0.7089441733832889, 2.188830316345317, 0.289817131127694, 2.034996341270508],
    ),
    'pareto': (
        (3.5,),
        [0.2566691373805563, 0.011500040266470427, 0.7380904147710194, 0.016250957628489705],
    ),
    'power': (
        (3.5,),
        [0.8432014953621927, 0.3964398958371947, 0.9564012477063035, 0.4362998506901406],
    ),
    'rayleigh': (
        (3.5,),
        [4.4261547887018615, 0.9902026534977861, 6.8848739529981176, 1.1757201196486609],
    ),
    'triangular': (
        (2.0, 2.0, 9.0),
        [4.306883029218053, 2.1386794820205193, 6.339450140819237, 2.194714554136608],
    ),
    'standard_gamma': (
        (100000.0,),
        [100335.11768770836, 100083.99804931886, 100166.01594213648, 100059.36843562407],
    ),
    'gamma': (
        (30.0, 0.5),
        [17.910193185327216, 15.571303728592897, 16.311706524982483, 15.353344987540707],
    ),
    'beta': (
        (40.0, 2.0),
        [0.9497986983397843, 0.9604550062148804, 0.9795954502016042, 0.9699855568845838],
    ),
    'chisquare': (
        (7.5,),
        [11.54672448488347, 7.867074743920668, 8.967058077856711, 7.555158449031277],
    ),
    'f': (
        (20.0, 7.5),
        [1.1074454145221488, 1.1371512729285511, 1.9011398925268699, 1.3626326295514704],
    ),
    'standard_t': (
        (7.5,),
        [0.9651009905189335, 0.2771913149448034, 0.6790905548086767, 0.2174708531250269],
    ),
    'truncated_normal': (
        (300.0, 300.5, 0.0, 1.0),
        [300.00198971345156, 300.0107940456408, 300.0005200673903, 300.00967636774794],
    ),
    'vonmises': (
        (-2.0, 10000000.0),
        [-2.000194643081511, -2.000154253354603, -1.9993616306129467, -2.000101735821571],
    ),
    'poisson': ((5000.0,), [5010, 5086, 4970, 4980]),
    'binomial': ((7, 1.0), [7, 7, 7, 7]),
    'negative_binomial': ((3.5, 0.2), [28, 17, 14, 13]),
    'geometric': ((1.0,), [1, 1, 1, 1]),
    'bernoulli': ((1.0,), [True, True, True, True]),
    'integers': ((0, 1000000000000), [550503124460, 39230219378, 855540294832, 54858979598]),
    'permutation': ((6,), [1, 2, 4, 5, 0, 3]),
}


@pytest.mark.parametrize('name', GOLDEN)
def test_first_numbers(name):
    """The third draw of seed 1: a change here changes the results of users' programs."""
    args, expected = GOLDEN[name]
    rng = chx.random.Generator(1)
    rng.state = (1, 2)
    x = getattr(rng, name)(*args, **({} if name == 'permutation' else {'size': 4}))
    np.testing.assert_allclose(x.tolist(), expected, rtol=1e-14)


@pytest.mark.parametrize(
    ('name', 'args', 'bad', 'text'),
    [(d.name, d.args[0], bad, text) for d in DRAWS for bad, text in d.bad],
)
def test_parameters_out_of_range(name, args, bad, text):
    """Errors name numbers and elements of arrays, with their value."""
    rng = chx.random.Generator(1)
    function = getattr(rng, name)
    with pytest.raises(ValueError, match=f'^{name}: {text}.* is .*, expected'):
        function(*bad, size=3)
    arrays = [chx.array([good, b, b], 'float64') for good, b in zip(args, bad, strict=False)]
    with pytest.raises(ValueError, match=rf'^{name}: {text}\[1\] is .*, expected'):
        function(*arrays, *args[len(arrays) :])


def test_arguments_that_do_not_fit():
    rng = chx.random.Generator(1)
    with pytest.raises(chx.DimensionError, match=r'size is \(4,\)'):
        rng.normal(chx.zeros(3), size=4)
    with pytest.raises(chx.DimensionError, match='gamma'):
        rng.gamma(chx.ones(3), chx.ones(4))
    with pytest.raises(chx.DtypeError, match='int32'):
        rng.gamma(1.0, dtype='int32')
    with pytest.raises(chx.DtypeError, match='bool'):
        rng.poisson(1.0, dtype='bool')
    with pytest.raises(chx.DtypeError, match='complex64'):
        rng.laplace(chx.ones(3, 'complex64'))
    with pytest.raises(chx.DeviceError):
        rng.normal(chx.ones(3, device='native:1'), device='native:0')
    with pytest.raises(chx.DeviceError):
        rng.normal(chx.ones(3, device='native:1'), chx.ones(3))
    with pytest.raises(TypeError, match='loc'):
        rng.normal(['a'])
    with pytest.raises(chx.DimensionError, match='0-dimensional'):
        rng.dirichlet(chx.array(1.0))
    with pytest.raises(chx.DimensionError, match=r'p has shape \(3, 0\)'):
        rng.categorical(chx.zeros((3, 0)))
    with pytest.raises(ValueError, match='sum of p'):
        rng.categorical(chx.zeros((3, 2)))
    with pytest.raises(chx.DimensionError, match='cov'):
        rng.multivariate_normal(chx.zeros(2), chx.eye(3, 3, 0, 'float32'))
    with pytest.raises(chx.LinAlgError):
        rng.multivariate_normal(chx.zeros(2), -chx.eye(2, 2, 0, 'float32'))
    with pytest.raises(ValueError, match='without replacement'):
        rng.choice(3, 4, replace=False)
    with pytest.raises(ValueError, match='number of p above 0 is 1'):
        rng.choice(3, 2, replace=False, p=chx.array([0.0, 1, 0]))
    with pytest.raises(ValueError, match='no element'):
        rng.choice(0, 2)
    with pytest.raises(chx.DimensionError, match='p has shape'):
        rng.choice(3, p=chx.ones(4))
    with pytest.raises(ValueError, match=r'high\[1\] is 3'):
        rng.integers(chx.array([1, 3]), 3)
    with pytest.raises(ValueError, match=r'high\[0\] is 300'):
        rng.integers(0, chx.array([300]), dtype='uint8')
    with pytest.raises(chx.DtypeError, match='low'):
        rng.integers(chx.array([1.0]), 3)
    x = chx.ones(3).require_grad()
    with pytest.raises(chx.ChainerxError, match='graph'):
        rng.shuffle(x * 2)
    with pytest.raises(chx.DimensionError):
        rng.shuffle(chx.array(1.0))


def test_integers_between_arrays():
    rng = chx.random.Generator(1)
    low, high = chx.array([[-5], [0], [10]]), chx.array([11, 2**62])
    x = chx.to_numpy(rng.integers(low, high, (5000, 3, 2)))
    assert (x >= chx.to_numpy(low)).all()
    assert (x < chx.to_numpy(high)).all()
    assert sorted(set(x[:, 0, 0].tolist())) == list(range(-5, 11))
    rng.state = (1, 0)
    y = rng.integers(chx.full((), -5, 'int64'), 11, 100)
    rng.state = (1, 0)
    assert (y == rng.integers(-5, 11, 100)).all()


def test_parameters_may_be_integers_of_any_length():
    g = chx.random.Generator(3)
    assert g.normal(2**70, 1.0).item() == 2.0**70
    assert 0 <= g.uniform(0, 10**30).item() <= 1e30
    with pytest.raises(OverflowError, match='normal: loc is an integer that no float holds'):
        g.normal(10**400)
    with pytest.raises(ValueError, match='poisson: lam is'):
        g.poisson(2**70)


def test_few_choices_of_many_need_no_permutation():
    n = 10**12
    x = chx.random.Generator(5).choice(n, (3, 4), replace=False)
    assert x.shape == (3, 4)
    assert x.dtype == 'int64'
    assert chx.min(x).item() >= 0
    assert chx.max(x).item() < n
    y = chx.random.Generator(5).choice(n, (3, 4), replace=False, device='native:1')
    assert y.device.name == 'native:1'
    assert y.tolist() == x.tolist()
    # Among that many, some are drawn twice and then drawn again.
    many = chx.random.Generator(5).choice(2**24, 2**18, replace=False)
    assert len(chx.unique(many)) == 2**18
    assert scipy.stats.kstest(chx.to_numpy(many) / 2**24, 'uniform').pvalue > 1e-5


@pytest.mark.parametrize('draw', ['permutation', 'choice'])
def test_arrays_stay_on_their_device(draw):
    x = chx.array([1.0, 2.0, 3.0], device='native:1')
    f = getattr(chx.random, draw)
    assert f(x).device.name == f(x, device='native:1').device.name == 'native:1'
    with pytest.raises(chx.DeviceError, match=draw):
        f(x, device='native:0')
    with pytest.raises(chx.BackendError):
        f(x, device='bogus')


def test_choices_of_a_length_need_no_array_of_it():
    g = chx.random.Generator(3)
    x = g.choice(2**62, (2, 3))
    assert x.dtype == 'int64'
    assert x.shape == (2, 3)
    assert int(x.min()) > 2**50
    few = chx.random.Generator(5).choice(7, 20)
    same = chx.random.Generator(5).choice(chx.arange(7), 20)
    assert few.tolist() == same.tolist()
    with pytest.raises(chx.DimensionError, match='axis 1 is out of range'):
        g.choice(7, axis=1)


def test_an_order_of_any_length():
    for n in (0, 1, 2, 3, 511, 512, 513, 1025, 100_000):
        x = chx.to_numpy(chx.random.permutation(n))
        assert (np.sort(x) == np.arange(n)).all()
    x = chx.arange(24).reshape(2, 3, 4)
    rng = chx.random.Generator(3)
    y = rng.permutation(x, axis=-1)
    assert (chx.to_numpy(y).sum(-1) == chx.to_numpy(x).sum(-1)).all()
    assert y.shape == x.shape
    assert rng.permutation(x, 1).shape == x.shape
    with pytest.raises(chx.DimensionError):
        rng.permutation(x, 3)


@pytest.mark.parametrize('dtype', ['float16', 'float32', 'float64'])
@pytest.mark.parametrize(
    ('name', 'args'),
    [
        ('random', ()),
        ('standard_normal', ()),
        ('standard_exponential', ()),
        ('standard_gamma', (2.5,)),
    ],
)
def test_draws_into_an_array(name, args, dtype, device):
    expected = getattr(chx.random.Generator(3), name)(*args, (3, 4), dtype, device)
    for out in (chx.zeros((3, 4), dtype, device=device), chx.zeros((4, 3), dtype, device=device).T):
        rng = chx.random.Generator(3)
        assert getattr(rng, name)(*args, out=out) is out
        assert out.tolist() == expected.tolist()
        assert getattr(rng, name)(*args, size=(3, 4), dtype=dtype, out=out) is out
        assert out.tolist() != expected.tolist()
    state = rng.state
    for given, error in (
        ({'size': (2,)}, chx.DimensionError),
        ({'dtype': 'bfloat16'}, chx.DtypeError),
        ({'device': 'native:2'}, chx.DeviceError),
    ):
        with pytest.raises(error, match=name):
            getattr(rng, name)(*args, out=out, **given)
    with pytest.raises(chx.ChainerxError, match='graph'):
        getattr(rng, name)(*args, out=chx.zeros(3, dtype, device=device).require_grad())
    with pytest.raises(TypeError, match='out'):
        getattr(rng, name)(*args, out=np.zeros(3))
    assert rng.state == state
    with pytest.raises(chx.DtypeError, match='int32'):
        getattr(rng, name)(*args, out=chx.zeros(3, 'int32', device=device))


def test_permutes_into_an_array(device):
    x = chx.arange(12, device=device).reshape(3, 4)
    expected = chx.random.Generator(3).permuted(x, axis=1)
    out = chx.zeros((3, 4), 'float64', device=device)
    assert chx.random.Generator(3).permuted(x, axis=1, out=out) is out
    assert out.tolist() == expected.tolist()
    assert chx.random.Generator(3).permuted(x, axis=1, out=x) is x
    assert x.tolist() == expected.tolist()
    with pytest.raises(chx.DimensionError, match='out'):
        chx.random.permuted(x, out=chx.zeros(12, device=device))
