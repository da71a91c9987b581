"""A program in C++ that uses streams, events and pinned memory through chainerx/cuda/gpu.h."""

import os
import pathlib
import subprocess

import chainerx

ROOT = pathlib.Path(__file__).parents[2]

PROGRAM = r"""
#include <cassert>
#include <cstdio>

#include "chainerx/chainerx.h"
#include "chainerx/cuda/gpu.h"

namespace chx = chainerx;

int main() {
    chx::Context context;
    chx::SetGlobalDefaultContext(&context);
    chx::Device& device = chx::GetDevice("cuda:0");
    chx::cuda::Gpu& gpu = chx::cuda::GpuOf(device);
    chx::Stream& stream = gpu.TakeStream(-1);
    assert(gpu.GetPriority(stream) == -1 && gpu.GetHandle(stream) != nullptr);
    const chx::Array pinned = gpu.EmptyPinned({1000}, chx::Dtype::kFloat32);
    assert(gpu.IsPinned(pinned));
    for (int i = 0; i < 1000; ++i) reinterpret_cast<float*>(pinned.raw_data())[i] = i;
    chx::cuda::Event start{device}, end{device};
    {
        const chx::StreamScope scope{stream};
        start.Record();
        const chx::Array x = chx::Empty({1000}, chx::Dtype::kFloat32, device);
        gpu.CopyAsync(pinned, x);
        gpu.CopyAsync(x + x, pinned);
        end.Record(stream);
    }
    end.Delay(*device.default_stream());
    end.Synchronize();
    assert(end.IsDone() && start.GetMillisecondsTo(end) > 0);
    device.Synchronize(stream);
    assert(gpu.IsIdle(stream));
    assert(reinterpret_cast<float*>(pinned.raw_data())[999] == 1998);
    gpu.GiveStreamBack(stream);
    gpu.SetMemoryLimit(1 << 20);
    assert(gpu.GetMemoryLimit() == 1 << 20);
    gpu.ReleaseCachedMemory();
    assert(gpu.GetFreeAndTotal().first <= gpu.GetFreeAndTotal().second);
    try {
        chx::cuda::GpuOf(chx::GetDevice("native:0"));
    } catch (const chx::DeviceError& error) {
        std::puts(error.what());
    }
}
"""


# Threads of which each frees what it has, before it asks for another size.
THREADS = r"""
#include <cstdio>
#include <thread>
#include <vector>

#include "chainerx/chainerx.h"
#include "chainerx/cuda/gpu.h"

namespace chx = chainerx;

int main() {
    chx::Context context;
    chx::SetGlobalDefaultContext(&context);
    chx::Device& device = chx::GetDevice("cuda:0");
    std::vector<std::thread> threads;
    for (int k = 0; k < 3; ++k) {
        threads.emplace_back([&, k] {
            const chx::StreamScope scope{chx::cuda::GpuOf(device).TakeStream(0)};
            for (int i = 0; i < 50; ++i) {
                const int64_t megabytes = 5 + (i * 7 + k * 5) % 4;
                chx::Empty({megabytes << 20}, chx::Dtype::kUInt8, device);
            }
        });
    }
    for (std::thread& t : threads) t.join();
    std::puts("done");
}
"""


def run(driver, tmp_path, source, **variables):
    """Compiles a program, and returns what it prints."""
    libraries = pathlib.Path(chainerx.__file__).parent / 'lib'
    command = [os.environ.get('CXX') or 'g++', '-std=c++20', '-x', 'c++', '-', '-x', 'none']
    command += [f'-I{ROOT / "cpp"}', f'-L{libraries}', f'-Wl,-rpath,{libraries}', '-lchainerx']
    subprocess.run([*command, '-o', tmp_path / 'program'], input=source, text=True, check=True)
    variables['CHAINERX_CUDA_TEST_DRIVER'] = driver
    variables['CHAINERX_CACHE_DIR'] = tmp_path / 'cache'
    environment = os.environ | {name: str(value) for name, value in variables.items()}
    done = subprocess.run(
        [tmp_path / 'program'], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_program(driver, tmp_path):
    printed = run(driver, tmp_path, PROGRAM)
    assert 'native:0 is no device of the backend cuda' in printed


def test_threads_share_what_is_free(driver, tmp_path):
    printed = run(driver, tmp_path, THREADS, CHAINERX_CUDA_TEST_MEMORY=28 << 20)
    assert printed == 'done\n'
