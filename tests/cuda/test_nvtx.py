"""Ranges for NVIDIA's profilers, which a stand-in for one writes down, and hooks that use them."""

import json
import os
import subprocess
import sys

import pytest

# A profiler: it asks for the tables as Nsight Systems does, and writes a line for each call.
PROFILER = r"""
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {
thread_local int depth = 0;
void Write(const char* what, const char* name) {
    std::FILE* file = std::fopen(std::getenv("NVTX_LOG"), "a");
    std::fprintf(file, "%s %d %s\n", what, depth, name);
    std::fclose(file);
}
void Mark(const char* name) { Write("mark", name); }
int Push(const char* name) { Write("push", name); return depth++; }
int Pop() { --depth; Write("pop", ""); return depth; }

struct Callbacks {
    std::size_t size;
    int (*get_table)(int module, void**** table, unsigned* count);
};
struct VersionInfo {
    std::size_t size;
    std::uint32_t version, reserved;
    void (*set_version)(std::uint32_t);
};
}  // namespace

extern "C" int InitializeInjectionNvtx2(const void* (*get_export_table)(std::uint32_t)) {
    if (std::getenv("NVTX_REFUSES") != nullptr) return 0;
    if (get_export_table(2) != nullptr || get_export_table(77) != nullptr) std::abort();
    const auto* info = static_cast<const VersionInfo*>(get_export_table(3));
    if (info->size != sizeof(VersionInfo) || info->version != 3) std::abort();
    info->set_version(3);
    const auto* callbacks = static_cast<const Callbacks*>(get_export_table(1));
    if (callbacks->size != sizeof(Callbacks)) std::abort();
    const unsigned counts[] = {0, 16, 9, 15, 7, 16, 7};
    for (int module = 1; module < 7; ++module) {
        void*** table = nullptr;
        unsigned count = 0;
        if (callbacks->get_table(module, &table, &count) == 0) std::abort();
        if (count != counts[module] || table[0] != nullptr || table[count] != nullptr) std::abort();
        for (unsigned i = 1; i < count; ++i) *table[i] = nullptr;
    }
    void*** table = nullptr;
    if (callbacks->get_table(9, &table, nullptr) != 0) std::abort();
    callbacks->get_table(1, &table, nullptr);
    *table[2] = reinterpret_cast<void*>(&Mark);
    *table[9] = reinterpret_cast<void*>(&Push);
    *table[11] = reinterpret_cast<void*>(&Pop);
    return 1;
}
"""


@pytest.fixture(scope='module')
def profiler(tmp_path_factory):
    folder = tmp_path_factory.mktemp('profiler')
    source = folder / 'profiler.cc'
    source.write_text(PROFILER)
    library = folder / 'libprofiler.so'
    compiler = os.environ.get('CXX', 'c++')
    subprocess.run([compiler, '-shared', '-fPIC', '-O1', source, '-o', library], check=True)
    return library


@pytest.fixture
def record(profiler, tmp_path):
    """Runs a program with the profiler; returns what that wrote, and what the program printed."""

    def record(program, **variables):
        log = tmp_path / 'log'
        log.unlink(missing_ok=True)
        names = {'NVTX_INJECTION64_PATH': str(profiler), 'NVTX_LOG': str(log), **variables}
        done = subprocess.run(
            [sys.executable, '-c', program],
            env=os.environ | names,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return log.read_text().splitlines() if log.exists() else [], done.stdout

    return record


RANGES = """
from chainerx.cuda import nvtx
print(nvtx.range_push('outer'), nvtx.range_push('ä'), nvtx.range_pop())
nvtx.mark('moment')
print(nvtx.range_pop())

@nvtx.range('function')
def f():
    with nvtx.range('block'):
        raise KeyError

try:
    f()
except KeyError:
    pass
"""


def test_ranges(record):
    lines, printed = record(RANGES)
    assert lines == [
        *('push 0 outer', 'push 1 ä', 'pop 1 ', 'mark 1 moment', 'pop 0 '),
        *('push 0 function', 'push 1 block', 'pop 1 ', 'pop 0 '),
    ]
    assert printed.split() == ['0', '1', '1', '0']


@pytest.mark.parametrize(
    'variables',
    [{'NVTX_INJECTION64_PATH': ''}, {'NVTX_INJECTION64_PATH': './.'}, {'NVTX_REFUSES': '1'}],
)
def test_without_a_profiler(record, variables):
    program = 'import warnings; warnings.simplefilter("error")\n' + RANGES
    lines, printed = record(program + 'nvtx.enable(); nvtx.enable(); nvtx.disable()', **variables)
    assert lines == []
    assert printed.split() == ['-2', '-2', '-2', '-2']


def test_a_path_that_is_no_profiler(record):
    program = """
import warnings
from chainerx.cuda import nvtx
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter('always')
    for _ in range(2):
        assert nvtx.range_push('x') == -2
(one,) = caught
print(one.message)
"""
    _, printed = record(program, NVTX_INJECTION64_PATH='/nowhere/lib.so')
    assert "NVTX_INJECTION64_PATH is '/nowhere/lib.so', which is no profiler" in printed


TRAIN = """
import chainer, chainerx as chx, numpy as np
import chainer.functions as F, chainer.links as L
from chainerx.cuda import nvtx

class Net(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.first = L.Linear(3, 2)

    def forward(self, x):
        return F.tanh(self.first(x))

net = Net().to_device('native:0')
x = np.ones((4, 3), 'f')
def step():
    y = F.sum(net(net.device.send(x)))
    net.cleargrads()
    y.backward()
"""


def names_by_depth(lines):
    assert sum(one.startswith('push') for one in lines) == sum(
        one.startswith('pop') for one in lines
    )
    return [
        (int(depth), name)
        for what, depth, name in (one.split(' ', 2) for one in lines)
        if what == 'push'
    ]


def test_a_training_by_the_variable(record):
    lines, _ = record(TRAIN + 'step()', CHAINERX_NVTX='1')
    found = names_by_depth(lines)
    outline = [(d, n) for d, n in found if '.' in n or n.startswith(('Net', 'Linear first'))]
    assert outline == [
        (0, 'Net'),
        (1, 'Linear first'),
        (2, 'LinearFunction.forward'),
        (1, 'Tanh.forward'),
        (0, 'Sum.forward'),
        (0, 'Sum.backward'),
        (0, 'Tanh.backward'),
        (0, 'LinearFunction.backward'),
    ]
    assert found[found.index((2, 'LinearFunction.forward')) + 1] == (3, 'Linear')
    assert found[found.index((1, 'Tanh.forward')) + 1] == (2, 'Tanh')
    inside = found[found.index((0, 'LinearFunction.backward')) + 1 :]
    assert (1, 'LinearParamGrad') in inside


def test_enabled_for_a_while(record):
    lines, _ = record(
        TRAIN
        + """
step()
nvtx.enable()
assert nvtx.is_enabled()
nvtx.mark('begin')
F.exp(net.device.send(x))
try:
    F.linear(net.device.send(x), net.device.send(x[:, :2]))
except Exception:
    pass
try:
    net(net.device.send(x[:, :2]))
except Exception:
    pass
nvtx.disable()
assert not nvtx.is_enabled()
nvtx.mark('end')
step()
chx.exp(chx.ones(3))
"""
    )
    assert lines[0] == 'mark 0 begin'
    assert lines[-1].startswith('mark')
    found = names_by_depth(lines)
    assert found[:2] == [(0, 'exp.forward'), (1, 'Exp')]
    assert found[-2:] == [(0, 'Net'), (1, 'Linear first')]  # which have failed


def test_a_wrong_value_of_the_variable():
    done = subprocess.run(
        [sys.executable, '-c', 'import chainerx'],
        env=os.environ | {'CHAINERX_NVTX': 'yes'},
        capture_output=True,
        text=True,
    )
    assert "ValueError: CHAINERX_NVTX is 'yes', expected 0 or 1" in done.stderr


HOOKS = """
import io, json
from chainer import function_hooks, link_hooks
net.to_device('cuda:0')
hooks = [function_hooks.CUDAProfileHook(), function_hooks.CupyMemoryProfileHook(),
         function_hooks.TimerHook(), link_hooks.TimerHook()]
memory, timer, links = hooks[1:]
big = net.device.send(np.ones((1 << 18, 3), 'f'))
with hooks[0], memory, timer, links:
    y = F.exp(net(big))
    F.sum(y).backward()
assert timer.total_time() > 0 and links.total_time() > 0
assert all(seconds >= 0 for _, seconds in timer.call_history)
file = io.StringIO()
memory.print_report(file=file)
timer.print_report(file=file)
print(json.dumps([memory.call_history, memory.summary(), memory.total_used_bytes(),
                  memory.total_acquired_bytes(), file.getvalue(),
                  [name for name, _ in timer.call_history],
                  [name for name, _ in links.call_history]]))
"""


@pytest.mark.skipif('cupy' in sys.modules, reason='CuPy is there')
def test_hooks_of_v7_on_cuda(run, profiler, tmp_path):
    log = tmp_path / 'log'
    printed = run(TRAIN + HOOKS, environment={'NVTX_INJECTION64_PATH': profiler, 'NVTX_LOG': log})
    history, summary, used, acquired, report, functions, links = json.loads(printed)
    forward = ['LinearFunction', 'Tanh', 'Exp', 'Sum']
    assert functions == [*forward, *reversed(forward)]
    assert [name for name, _, _ in history] == functions
    assert links == ['Linear', 'Net']
    by_name = {name: used for name, used, _ in history[:3]}
    assert by_name == dict.fromkeys(forward[:3], 1 << 21)  # an output each
    assert summary['Tanh']['occurrence'] == 2
    assert used == sum(one[1] for one in history)
    assert acquired >= 3 << 21
    assert 'FunctionName' in report
    labels = ['LinearFunction', 'Tanh', 'exp', 'Sum']
    assert [name for _, name in names_by_depth(log.read_text().splitlines())] == [
        *(f'{name}.forward' for name in labels),
        *(f'{name}.backward' for name in reversed(labels)),
    ]


FAILING = """
import weakref
import chainer, numpy as np
from chainer._diagnostics.nvtx_ranges import FunctionRanges

class Failing(chainer.FunctionNode):
    def forward(self, inputs):
        raise MemoryError

began, ended, functions = [], [], []
with FunctionRanges('ranges', began.append, lambda: ended.append(1)):
    for _ in range(3):
        function = Failing()
        functions.append(weakref.ref(function))
        try:
            function.apply((np.ones(3, 'f'),))
        except MemoryError:
            pass
        del function
    assert [f() for f in functions] == [None] * 3
assert len(began) == len(ended) == 3
print('done')
"""


def test_functions_that_fail_are_not_kept(run):
    assert run(FAILING) == 'done\n'


def test_start_and_stop_of_profilers(run):
    printed = run("""
import ctypes
import chainerx as chx
driver = ctypes.CDLL(chx.cuda.describe()['driver']['path'])
driver.cx_test_calls.restype = ctypes.c_ulonglong
chx.cuda.profiler_start()
chx.cuda.profiler_start('cuda:1')
chx.cuda.profiler_stop()
print(driver.cx_test_calls(b'cuProfilerStart'), driver.cx_test_calls(b'cuProfilerStop'))
driver.cx_test_fail(b'cuProfilerStart:1')
try:
    chx.cuda.profiler_start()
except chx.BackendError as error:
    print(error)
""")
    counts, error = printed.splitlines()
    assert counts == '2 1'
    assert error.startswith('profiler_start: ')
    assert 'cuProfilerStart' in error
