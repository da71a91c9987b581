#include "settings.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>

namespace chainerx::cuda::test {

namespace {

std::atomic<std::uint64_t> random_state{0};

std::string Get(const char* name) {
    const char* value = std::getenv((std::string{"CHAINERX_CUDA_TEST_"} + name).c_str());
    return value == nullptr ? "" : value;
}

long long GetNumber(const char* name, long long otherwise) {
    const std::string text = Get(name);
    return text.empty() ? otherwise : std::atoll(text.c_str());
}

Settings Read() {
    Settings settings;
    settings.devices =
        static_cast<int>(std::clamp(GetNumber("DEVICES", settings.devices), 0LL, 8LL));
    settings.peers = GetNumber("PEERS", 1) != 0;
    settings.arch = static_cast<int>(GetNumber("ARCH", settings.arch));
    settings.version = static_cast<int>(GetNumber("VERSION", settings.version));
    settings.memory =
        static_cast<std::size_t>(GetNumber("MEMORY", static_cast<long long>(settings.memory)));
    settings.delay = static_cast<int>(GetNumber("DELAY", settings.delay));
    settings.empty = GetNumber("EMPTY", 0) != 0;
    const std::string order = Get("ORDER");
    if (order == "reverse") settings.order = Settings::kReverse;
    if (order.starts_with("random")) settings.order = Settings::kRandom;
    if (order.starts_with("random:")) settings.seed = std::strtoull(&order[7], nullptr, 10);
    random_state = settings.seed;
    return settings;
}

Settings& Stored() {
    static Settings settings = Read();
    return settings;
}

}  // namespace

const Settings& GetSettings() { return Stored(); }

void ReloadSettings() { Stored() = Read(); }

// Steele et al., Fast splittable pseudorandom number generators, OOPSLA 2014.
std::uint64_t NextRandom() {
    std::uint64_t z = random_state.fetch_add(0x9e3779b97f4a7c15) + 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

}  // namespace chainerx::cuda::test
