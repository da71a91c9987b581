// The environment variables CHAINERX_CUDA_TEST_*; tests/cuda/README.md lists them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace chainerx::cuda::test {

struct Settings {
    enum Order { kForward, kReverse, kRandom };

    int devices = 2;
    bool peers = true;  // whether devices can access each other's memory
    int arch = 90;
    int version = 13000;
    std::size_t memory = std::size_t{2} << 30;  // bytes of each device
    Order order = kForward;
    std::uint64_t seed = 0;
    int delay = -1;  // microseconds before each task of a stream; -1: at random, 0: none
    bool empty = false;
};

const Settings& GetSettings();
// Reads the environment anew; nothing may run meanwhile.
void ReloadSettings();

std::uint64_t NextRandom();

}  // namespace chainerx::cuda::test
