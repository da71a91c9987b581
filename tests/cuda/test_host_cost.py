"""What an operation costs the host: kernels are empty."""

import json

import pytest

PROGRAM = """
import json, time
import chainerx as chx

def pair(device):
    x = [chx.ones(4, 'float32', device=device) for _ in range(2)]
    return [a.require_grad() for a in x] if GRAPH else x

pairs = {device: pair(device) for device in ('native:0', 'cuda:0')}
best = dict.fromkeys(pairs, float('inf'))
for _ in range(100):  # in turns, so that other work disturbs both; the best of each counts
    for device, (a, b) in pairs.items():
        start = time.perf_counter()
        for _ in range(2000):
            a + b
        best[device] = min(best[device], (time.perf_counter() - start) / 2000)
print(json.dumps(best))
"""


@pytest.mark.parametrize('graph', [False, True])
def test_an_addition_costs_at_most_twice_what_it_does_on_native(run, graph):
    best = json.loads(run(PROGRAM.replace('GRAPH', str(graph)), EMPTY=1))
    assert best['cuda:0'] <= 2 * best['native:0'], best
