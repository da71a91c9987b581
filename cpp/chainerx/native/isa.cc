#include "chainerx/native/isa.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

#include "chainerx/core/cpu_info.h"
#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"

namespace chainerx {
namespace native {
namespace {

#define CX_NAME(isa, ...) #isa,
constexpr const char* kNames[] = {CX_EACH_ISA(CX_NAME)};
constexpr int kCount = static_cast<int>(std::size(kNames));

#if defined(CX_HAVE_SSE4)
bool HasIsa_sse4() { return __builtin_cpu_supports("sse4.2"); }
#endif
#if defined(CX_HAVE_AVX2)
bool HasIsa_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("f16c");
}
#endif
#if defined(CX_HAVE_AVX512)
bool HasIsa_avx512() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512cd");
}
#endif
#if defined(CX_HAVE_NEON)
bool HasIsa_neon() { return true; }
#endif

struct Choice {
    int isa{-1};
    bool is_wrong{false};  // $CHAINERX_ISA
};

// The built instruction sets that this processor has.
struct Abilities {
    bool has[kCount];

    Abilities() {
        int i = 0;
#define CX_ASK(isa, ...) has[i++] = HasIsa_##isa();
        CX_EACH_ISA(CX_ASK)
    }
};

Choice Choose() {
    const auto [has] = Abilities{};
    Choice choice;
    for (int k = 0; k < kCount; ++k) {
        if (has[k]) choice.isa = k;  // in ascending order of capability
    }
    const char* wanted = std::getenv("CHAINERX_ISA");
    if (wanted == nullptr || *wanted == 0) return choice;
    for (int k = 0; k < kCount; ++k) {
        if (std::strcmp(wanted, kNames[k]) == 0 && has[k]) return {k, false};
    }
    choice.is_wrong = true;
    return choice;
}

const Choice& Chosen() {
    static constinit internal::Lazy<const Choice> choice;
    return choice.Get([] { return new Choice{Choose()}; });
}

}  // namespace

constinit std::atomic<int> chosen_isa{-1};

// If the processor has none of them, the first one's tables are returned; CheckIsa throws before
// they are used.
int ChooseIsa() {
    const int isa = std::max(Chosen().isa, 0);
    chosen_isa.store(isa, std::memory_order_relaxed);
    return isa;
}

const char* IsaName() { return Chosen().isa >= 0 ? kNames[Chosen().isa] : "none"; }

}  // namespace native

IsaInfo GetIsaInfo() {
    IsaInfo info;
    info.used = native::IsaName();
    const native::Abilities abilities;
    for (int k = 0; k < native::kCount; ++k) {
        info.built.emplace_back(native::kNames[k]);
        if (abilities.has[k]) info.available.emplace_back(native::kNames[k]);
    }
    return info;
}

namespace native {

void CheckIsa() {
    std::string built;
    for (const char* name : kNames) built += std::string{built.empty() ? "" : ", "} + name;
    if (Chosen().is_wrong) {
        throw ChainerxError{"CHAINERX_ISA is '", std::getenv("CHAINERX_ISA"),
                            "', expected one that this processor has of: ", built};
    }
    if (Chosen().isa < 0) {
        throw ChainerxError{"this processor has none of the instruction sets that were built: ",
                            built};
    }
}

}  // namespace native
}  // namespace chainerx
