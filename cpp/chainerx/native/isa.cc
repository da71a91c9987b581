#include "chainerx/native/isa.h"

#include <cstdlib>
#include <cstring>

#include "chainerx/core/cpu_info.h"
#include "chainerx/core/error.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/native/attention/attention_loops.h"
#include "chainerx/native/conv/tap_loops.h"
#include "chainerx/native/elementwise/bit_loops.h"
#include "chainerx/native/elementwise/complex_loops.h"
#include "chainerx/native/elementwise/divide_loops.h"
#include "chainerx/native/gemm/gemm_loops.h"
#include "chainerx/native/gemm/small_loops.h"
#include "chainerx/native/index/compress_loops.h"
#include "chainerx/native/linalg/factor_loops.h"
#include "chainerx/native/norm/normalization_loops.h"
#include "chainerx/native/optim/update_loops.h"
#include "chainerx/native/pool/pooling_loops.h"
#include "chainerx/native/reduce/reduce_isa.h"
#include "chainerx/native/rnn/recurrent_loops.h"
#include "chainerx/native/signal/fourier_loops.h"
#include "chainerx/native/sort/sorting_loops.h"
#include "chainerx/native/strided/ask_ahead.h"
#include "chainerx/native/strided/turn_loops.h"

#if !defined(CX_BUILT_ISAS)
#error "cmake/isa.cmake defines which instruction sets are built"
#endif

namespace chainerx {
namespace native {
namespace {

enum class Isa : int {
#define X(isa) k_##isa,
    CX_BUILT_ISAS
#undef X
        kCount
};

constexpr const char* kNames[] = {
#define X(isa) #isa,
    CX_BUILT_ISAS
#undef X
};

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

constexpr int kCount = static_cast<int>(Isa::kCount);

// The built instruction sets that this processor has.
struct Abilities {
    bool has[kCount];

    Abilities() {
        int i = 0;
#define X(isa) has[i++] = HasIsa_##isa();
        CX_BUILT_ISAS
#undef X
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
    return choice.Get([] {
#if defined(__x86_64__)
        asks_ahead = !__builtin_cpu_is("amd");
        // Zen to Zen 4
        if (__builtin_cpu_is("amdfam17h") || __builtin_cpu_is("amdfam19h")) later_bytes = {512, 0};
#endif
        return new Choice{Choose()};
    });
}

}  // namespace

bool asks_ahead = true;
LaterBytes later_bytes = {4096, 4096};

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

// All SIMD units, and the tables that they export: CX_UNIT(isa, unit, Type).
#define CX_UNITS(CX_UNIT, isa)                                    \
    CX_UNIT(isa, activation, struct FamilyLoops_activation)       \
    CX_UNIT(isa, arithmetic, struct FamilyLoops_arithmetic)       \
    CX_UNIT(isa, explog, struct FamilyLoops_explog)               \
    CX_UNIT(isa, hyperbolic, struct FamilyLoops_hyperbolic)       \
    CX_UNIT(isa, logic, struct FamilyLoops_logic)                 \
    CX_UNIT(isa, numeric, struct FamilyLoops_numeric)             \
    CX_UNIT(isa, rounding, struct FamilyLoops_rounding)           \
    CX_UNIT(isa, special, struct FamilyLoops_special)             \
    CX_UNIT(isa, trigonometric, struct FamilyLoops_trigonometric) \
    CX_UNIT(isa, whole_arithmetic, struct WholeLoops_arithmetic)  \
    CX_UNIT(isa, whole_bitwise, struct WholeLoops_bitwise)        \
    CX_UNIT(isa, whole_logic, struct WholeLoops_logic)            \
    CX_UNIT(isa, attention, AttentionUnit)                        \
    CX_UNIT(isa, bits, BitLoops)                                  \
    CX_UNIT(isa, cast, CastLoops)                                 \
    CX_UNIT(isa, complex, ComplexLoops)                           \
    CX_UNIT(isa, compress, CompressLoops)                         \
    CX_UNIT(isa, divide, DivideLoops)                             \
    CX_UNIT(isa, factor, FactorLoops)                             \
    CX_UNIT(isa, fourier, FourierUnit)                            \
    CX_UNIT(isa, gemm, GemmUnit)                                  \
    CX_UNIT(isa, normalization, NormalizationIsaLoops)            \
    CX_UNIT(isa, pooling, PoolLoops)                              \
    CX_UNIT(isa, recurrent, RecurrentUnit)                        \
    CX_UNIT(isa, reduce, ReduceIsaLoops)                          \
    CX_UNIT(isa, reduce_whole, ReduceWholeLoops)                  \
    CX_UNIT(isa, rows, RowLoops)                                  \
    CX_UNIT(isa, small, SmallLoops)                               \
    CX_UNIT(isa, sorting, SortLoops)                              \
    CX_UNIT(isa, taps, TapUnit)                                   \
    CX_UNIT(isa, turn, TurnLoops)                                 \
    CX_UNIT(isa, update, UpdateLoops)

#define CX_DECLARE(isa, unit, Type) extern "C" const Type cx_##unit##_##isa;
#define X(isa) CX_UNITS(CX_DECLARE, isa)
CX_BUILT_ISAS
#undef X

namespace {

struct Units {
#define CX_MEMBER(isa, unit, Type) const Type* unit;
    CX_UNITS(CX_MEMBER, )
};

constexpr Units kUnits[] = {
#define CX_ADDRESS(isa, unit, Type) &cx_##unit##_##isa,
#define X(isa) {CX_UNITS(CX_ADDRESS, isa)},
    CX_BUILT_ISAS
#undef X
};

// If the processor has none of them, the first one's tables are returned; CheckIsa throws before
// they are used.
const Units& ChosenUnits() { return kUnits[Chosen().isa < 0 ? 0 : Chosen().isa]; }

}  // namespace

#define CX_ACCESSOR(isa, unit, Type) \
    const Type& unit##_loops() { return *ChosenUnits().unit; }
CX_UNITS(CX_ACCESSOR, )

}  // namespace native
}  // namespace chainerx
