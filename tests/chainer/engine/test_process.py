"""Exit of the process while other threads compute."""

import subprocess
import sys
import textwrap

import pytest

# Threads at interpreter shutdown: Python ends them where they try to reacquire the GIL, most
# often in code that the engine has called.
WORK = {
    'a step': 'step()',
    'a backward of the user': 'backward()',
    'a hook': """
    with TimerHook():
        step()
    """,
    'a collection': 'gc.collect()',
}
PROGRAM = """
import gc, threading, time
import chainer.functions as F, chainer.links as L
import numpy as np
from chainer import FunctionNode, Variable, optimizers
from chainer.function_hooks import TimerHook

class Double(FunctionNode):
    def forward(self, xs):
        return (xs[0] * 2,)

    def backward(self, indexes, gys):
        for _ in range(300):
            pass
        return (gys[0] * 2,)

def backward():
    y = Variable(np.ones(3, 'f'))
    for _ in range(5):
        (y,) = Double().apply((y,))
    F.sum(y).backward()

def run():
    link = L.Linear(3, 3)
    optimizer = optimizers.SGD().setup(link)
    def step():
        link.cleargrads()
        F.sum(F.relu(link(np.ones((4, 3), 'f')))).backward()
        optimizer.update()
    while True:
{work}

for _ in range(3):
    threading.Thread(target=run, daemon=True).start()
time.sleep(0.2)
"""


@pytest.mark.parametrize('work', WORK.values(), ids=WORK)
def test_exit_while_daemon_threads_run_code_of_the_engine(work):
    program = PROGRAM.format(work=textwrap.indent(textwrap.dedent(work), ' ' * 8))
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, '-c', program], capture_output=True, text=True, timeout=240
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, '', '')
