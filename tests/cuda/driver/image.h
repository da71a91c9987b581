// A "cubin" of the test driver: this in front of the bytes of a shared object.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace chainerx::cuda::test {

// Are kernels compiled with access hooks?
inline bool Checked() {
    const char* value = std::getenv("CHAINERX_CUDA_TEST_CHECKED");
    return value != nullptr && std::atoi(value) != 0;
}

struct ImageHeader {
    char magic[8] = {'C', 'X', 'C', 'U', 'B', 'I', 'N', '\n'};
    // Of what kernels include: one that was cached by an older test driver is invalid.
    std::uint64_t prelude = CX_PRELUDE_HASH;
    std::uint32_t arch = 0;
    std::uint32_t ptx = 0;  // runs on newer architectures, too
    std::uint64_t checked = 0;
    std::uint64_t nbytes = 0;

    bool Valid(bool checks) const {
        const ImageHeader mine;
        return std::memcmp(magic, mine.magic, sizeof magic) == 0 && prelude == mine.prelude &&
               checked == checks;
    }
    bool RunsOn(std::uint32_t device) const {
        return arch <= device && (ptx != 0 || arch / 10 == device / 10);
    }
};

}  // namespace chainerx::cuda::test
