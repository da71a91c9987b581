"""What ends processes, and what is needed to start."""

import pathlib
import re
import subprocess
import sys

import pytest
from chainermn.communicators import _mpi

HERE = pathlib.Path(__file__).parent
pytestmark = pytest.mark.slow


HIDE_MPIEXEC = """
import os
for name in ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE"):
    os.environ.pop(name, None)
"""


@pytest.mark.parametrize('is_hooked_by', ['import', 'communicator', 'environment'])
def test_an_exception_ends_all(mpiexec, tmp_path, is_hooked_by):
    """The other rank waits for a message that nobody sends."""
    program = tmp_path / 'program.py'
    program.write_text(
        'import sys\n'
        'from mpi4py import MPI\n'
        f'{"" if is_hooked_by == "import" else HIDE_MPIEXEC}'
        'import chainermn\n'
        'if sys.argv[1] == "communicator":\n'
        '    assert sys.excepthook is sys.__excepthook__\n'
        '    chainermn.create_communicator("naive")\n'
        'assert sys.excepthook is not sys.__excepthook__\n'
        'if MPI.COMM_WORLD.rank == 1:\n'
        '    raise KeyError("the reason")\n'
        'MPI.COMM_WORLD.recv()\n'
    )
    env = {'CHAINERMN_FORCE_ABORT_ON_EXCEPTION': '1'} if is_hooked_by == 'environment' else {}
    done = mpiexec(2, program, is_hooked_by, env=env, timeout=60)
    assert done.returncode != 0
    assert "KeyError: 'the reason'" in done.stderr
    assert 'rank 1 of 2 raised KeyError, which ends all processes' in done.stderr


@pytest.mark.parametrize('others', ['make a communicator', 'do not'])
def test_an_exception_before_mpi(mpiexec, tmp_path, others):
    """One process fails when it has not started MPI; the others may wait for that, or need none."""
    program = tmp_path / 'program.py'
    program.write_text(
        'import os, sys, time, chainermn\n'
        'from chainermn import global_except_hook\n'
        'global_except_hook._SECONDS_TO_START = 1 if sys.argv[1] == "do not" else 100\n'
        'if int(os.environ.get("PMI_RANK") or os.environ["OMPI_COMM_WORLD_RANK"]) == 1:\n'
        '    raise KeyError("the reason")\n'
        'if sys.argv[1] == "do not":\n'
        '    time.sleep(1000)\n'
        'chainermn.create_communicator("naive")\n'
    )
    done = mpiexec(2, program, others, timeout=60)
    assert done.returncode != 0
    assert "KeyError: 'the reason'" in done.stderr


def test_hooks_of_programs(mpiexec, tmp_path):
    """What a program puts around the hook runs to its end, once, before all end."""
    program = tmp_path / 'program.py'
    program.write_text(
        'import subprocess, sys, chainermn\n'
        'before = sys.excepthook\n'
        'def hook(*error):\n'
        '    before(*error)\n'
        '    print("the hook has run", file=sys.stderr)\n'
        'sys.excepthook = hook\n'
        'comm = chainermn.create_communicator("naive")\n'
        'assert sys.excepthook is not hook\n'
        'if comm.rank == 1:\n'
        # A program that it starts is none of MPI.
        '    text = "import sys, chainermn; print(sys.excepthook is sys.__excepthook__)"\n'
        '    out = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)\n'
        '    assert out.stdout == "True\\n", out\n'
        '    raise KeyError("the reason")\n'
        'comm.recv_obj(1, 0)\n'
    )
    done = mpiexec(2, program, timeout=60)
    assert done.returncode != 0
    assert done.stderr.count("KeyError: 'the reason'") == 1
    assert done.stderr.count('the hook has run') == 1
    assert 'rank 1 of 2 raised KeyError, which ends all processes' in done.stderr


@pytest.mark.parametrize('leaves', ['late', 'by sys.exit', 'by finalize'])
def test_processes_that_leave(mpiexec, tmp_path, leaves):
    """Whoever calls more than another process, as with unequal parts of data, need not wait."""
    program = tmp_path / 'program.py'
    program.write_text(
        'import sys, time, numpy as np, chainermn\n'
        'comm = chainermn.create_communicator("flat")\n'
        'parts = [comm.split(0, comm.rank) for _ in range(3)]\n'
        'leaves = sys.argv[1]\n'
        'if comm.rank == 1:\n'
        '    if leaves == "late":\n'
        '        time.sleep(0.3)\n'
        '    if leaves == "by sys.exit":\n'
        '        sys.exit(3)\n'
        '    if leaves == "by finalize":\n'
        '        parts[1].finalize()\n'
        'else:\n'
        '    try:\n'
        '        parts[1].allreduce(np.ones(3))\n'
        '    except RuntimeError as error:\n'
        '        print(error, file=sys.stderr)\n'
        '    comm.allreduce_obj(1)\n'
    )
    done = mpiexec(2, program, leaves, timeout=60)
    assert done.returncode != 0
    message = 'and rank 1 has finalized the communicator, or ends'
    assert f'rank 0 calls allreduce, {message}' in done.stderr
    assert f'RuntimeError: rank 0 calls allreduce_obj, {message}' in done.stderr
    assert 'rank 0 of 2 raised RuntimeError' in done.stderr


@pytest.mark.parametrize('call', ['recv(1, 0)', 'recv_obj(-1, 0)', 'send(x, 1, 0)'])
def test_messages_of_processes_that_leave(mpiexec, tmp_path, call):
    """What they sent before arrives; what they will never send is not waited for."""
    program = tmp_path / 'program.py'
    program.write_text(
        'import sys, time, numpy as np, chainermn\n'
        'from mpi4py import MPI\n'
        'assert MPI.ANY_SOURCE < 0\n'
        'comm = chainermn.create_communicator("flat")\n'
        'x = np.ones(1 << 20)\n'
        'if comm.rank == 1:\n'
        '    comm.send_obj("before", 0, 3)\n'
        'else:\n'
        '    time.sleep(0.2)\n'
        '    print(comm.recv_obj(MPI.ANY_SOURCE, 3), file=sys.stderr)\n'
        f'    comm.{call.replace("-1", "MPI.ANY_SOURCE")}\n'
    )
    done = mpiexec(2, program, timeout=60)
    assert done.returncode != 0
    assert 'before' in done.stderr
    message = 'waits for rank 1, which has finalized the communicator, or ends'
    assert message in done.stderr, done.stderr


@pytest.mark.parametrize('call', ['recv(1, 0)', 'allreduce(x)', 'send(x, 1, 0)'])
def test_interrupts_end_waiting(mpiexec, tmp_path, call):
    """Ctrl-C says where processes wait, and ends them."""
    program = tmp_path / 'program.py'
    program.write_text(
        'import os, signal, threading, time, numpy as np, chainermn\n'
        'comm = chainermn.create_communicator("flat")\n'
        'x = np.ones(1 << 20)\n'
        'if comm.rank == 0:\n'
        '    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n'
        f'    comm.{call}\n'
        'else:\n'
        '    time.sleep(100)\n'
    )
    done = mpiexec(2, program, timeout=60)
    assert done.returncode != 0
    assert f'in {call.partition("(")[0]}\n' in done.stderr
    assert 'rank 0 of 2 raised KeyboardInterrupt' in done.stderr


def test_who_waits_long_says_where(mpiexec, tmp_path):
    """Each rank waits until the other one has reported, in a message and in an operation of all."""
    program = tmp_path / 'program.py'
    program.write_text(
        'import os, sys, time, chainermn\n'
        'comm = chainermn.create_communicator("naive")\n'
        'class Stderr:\n'
        '    def write(self, text):\n'
        '        sys.__stderr__.write(text)\n'
        '        if "has waited" in text:\n'
        '            open(f"reported {comm.rank}", "w")\n'
        '    def flush(self):\n'
        '        sys.__stderr__.flush()\n'
        'sys.stderr = Stderr()\n'
        'def wait_for_report(rank):\n'
        '    while not os.path.exists(f"reported {rank}"):\n'
        '        time.sleep(0.01)\n'
        'if comm.rank == 0:\n'
        '    comm.recv_obj(1, 3)\n'
        '    wait_for_report(1)\n'
        'else:\n'
        '    wait_for_report(0)\n'
        '    comm.send_obj("x", 0, 3)\n'
        'comm.allreduce_obj(1)\n'
    )
    done = mpiexec(2, program, env={'CHAINERMN_SECONDS_BEFORE_REPORT': '0.2'}, timeout=60)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    said = r'chainermn: rank {} of 2 has waited for \d+ s in {} \(.*program\.py:{}\)'
    for expected in (
        said.format(0, 'recv_obj for rank 1, tag 3', 15),
        said.format(1, 'allreduce_obj for all processes', 20),
    ):
        assert any(re.fullmatch(expected, line) for line in lines), done.stderr


def test_a_wrong_time_of_reports(monkeypatch):
    monkeypatch.setenv('CHAINERMN_SECONDS_BEFORE_REPORT', 'soon')
    with pytest.raises(ValueError, match=r"CHAINERMN_SECONDS_BEFORE_REPORT is 'soon', expected"):
        _mpi.seconds_before_report()


def test_a_wrong_name_in_one_process(mpiexec, tmp_path):
    program = tmp_path / 'program.py'
    program.write_text(
        'import chainermn\n'
        'from mpi4py import MPI\n'
        'chainermn.create_communicator("naive" if MPI.COMM_WORLD.rank == 0 else "hierarchical")\n'
    )
    done = mpiexec(2, program, timeout=60)
    assert done.returncode != 0
    assert 'rank 1 of 2 raised ValueError' in done.stderr


def test_forked_processes_end_alone(mpiexec, tmp_path):
    """What ends by an exception in them, as workers of iterators do, ends no process of MPI."""
    program = tmp_path / 'program.py'
    program.write_text(
        'import os, sys, chainermn\n'
        'comm = chainermn.create_communicator("naive")\n'
        'child = os.fork()\n'
        'if child == 0:\n'
        '    try:\n'
        '        raise KeyError("of a child")\n'
        '    except KeyError:\n'
        '        sys.excepthook(*sys.exc_info())\n'
        '        os._exit(7)\n'
        'assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\n'
        'assert comm.allreduce_obj(1) == 2\n'
    )
    done = mpiexec(2, program, timeout=60)
    assert done.returncode == 0, done.stderr


def test_stacks_are_printed_where_ranks_wait_for_ever(mpiexec, tmp_path):
    checks = tmp_path / 'checks.py'
    checks.write_text('def check_it(comm):\n    if comm.rank == 0:\n        comm.recv(1, 0)\n')
    done = mpiexec(2, HERE / 'ranks.py', '--timeout=1', checks, timeout=60)
    assert done.returncode != 0
    assert 'in check_it' in done.stderr
    assert 'in recv' in done.stderr


def test_import_needs_no_mpi():
    """mpi4py is needed by communicators only, and what is missing is said."""
    program = (
        'import sys\n'
        'sys.modules["mpi4py"] = None\n'
        'import chainermn\n'
        'try:\n'
        '    chainermn.create_communicator("naive")\n'
        'except ImportError as error:\n'
        '    assert \'pip install ".[mpi]"\' in str(error), error\n'
        'else:\n'
        '    raise AssertionError\n'
    )
    subprocess.run([sys.executable, '-c', program], check=True)


def test_versions_are_the_same():
    import chainer
    import chainermn

    assert chainermn.__version__ == chainer.__version__
