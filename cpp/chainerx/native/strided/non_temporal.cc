#include "chainerx/native/strided/non_temporal.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "chainerx/core/fork_mutex.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#include <unistd.h>
#endif

namespace chainerx::native {

#if defined(__SSE2__)

namespace {

constexpr int64_t kCombined = 64;  // bytes: the write-combining unit

int64_t FindThreshold() {
    const char* given = std::getenv("CHAINERX_TEST_STREAM_BYTES");
    if (given != nullptr && *given != 0) return std::atoll(given);
    int64_t cache = 0;
#if defined(_SC_LEVEL3_CACHE_SIZE)
    cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    // Some virtual machines report nothing, others the cache of the whole host.
    return std::clamp<int64_t>(cache / 4 * 3, int64_t{8} << 20, int64_t{24} << 20);
}

}  // namespace

int64_t NonTemporalThreshold() {
    static constinit internal::Lazy<const int64_t> threshold;
    return threshold.Get([] { return new int64_t{FindThreshold()}; });
}

void CopyNonTemporal(char* dst, const char* src, int64_t nbytes) {
    const int64_t head = std::min<int64_t>(
        nbytes, -static_cast<int64_t>(reinterpret_cast<uintptr_t>(dst)) & (kCombined - 1));
    std::memcpy(dst, src, static_cast<size_t>(head));
    int64_t i = head;
    for (; i + kCombined <= nbytes; i += kCombined) {
        __m128i v[4];
        std::memcpy(v, src + i, sizeof(v));
        auto* to = reinterpret_cast<__m128i*>(dst + i);
        for (int k = 0; k < 4; ++k) _mm_stream_si128(to + k, v[k]);
    }
    std::memcpy(dst + i, src + i, static_cast<size_t>(nbytes - i));
}

void FenceNonTemporal() { _mm_sfence(); }

#else

int64_t NonTemporalThreshold() { return INT64_MAX; }
void CopyNonTemporal(char* dst, const char* src, int64_t nbytes) {
    std::memcpy(dst, src, static_cast<size_t>(nbytes));
}
void FenceNonTemporal() {}

#endif

}  // namespace chainerx::native
