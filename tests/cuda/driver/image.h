// A "cubin" of the test driver: this in front of the bytes of a shared object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace chainerx::cuda::test {

struct ImageHeader {
    char magic[8] = {'C', 'X', 'C', 'U', 'B', 'I', 'N', '\n'};
    std::uint32_t arch = 0;
    std::uint32_t ptx = 0;  // runs on newer architectures, too
    std::uint64_t nbytes = 0;

    bool valid() const { return std::memcmp(magic, ImageHeader{}.magic, sizeof magic) == 0; }
    bool RunsOn(std::uint32_t device) const {
        return arch <= device && (ptx != 0 || arch / 10 == device / 10);
    }
};

}  // namespace chainerx::cuda::test
