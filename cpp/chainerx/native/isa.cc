#include "chainerx/native/isa.h"

#include <cstdlib>
#include <cstring>

#include "chainerx/core/error.h"
#include "chainerx/native/divide_loops.h"
#include "chainerx/native/reduce_isa.h"
#include "chainerx/native/update_loops.h"

#if !defined(CX_BUILT_ISAS)
#error "cmake/isa.cmake defines which instruction sets are built"
#endif

namespace chainerx::native {
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

Choice Choose() {
    constexpr int kCount = static_cast<int>(Isa::kCount);
    bool has[kCount];
    int i = 0;
#define X(isa) has[i++] = HasIsa_##isa();
    CX_BUILT_ISAS
#undef X
    Choice choice;
    for (int k = 0; k < kCount; ++k) {
        if (has[k]) choice.isa = k;  // they stand in the order of ability
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
    static const Choice choice = Choose();
    return choice;
}

}  // namespace

const char* IsaName() { return Chosen().isa >= 0 ? kNames[Chosen().isa] : "none"; }

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

// A processor with none of them gets the first one's table; CheckIsa refuses before it is used.
#define CX_DEFINE(family)                                                 \
    CX_DECLARE_ENTRIES(family)                                            \
    const FamilyLoops& family##_loops() {                                 \
        static const FamilyLoops* const entries[] = {CX_ENTRIES(family)}; \
        return *entries[Chosen().isa < 0 ? 0 : Chosen().isa];             \
    }

#if defined(CX_HAVE_SSE4)
#define CX_SSE4(f) &cx_##f##_sse4,
#define CX_DECLARE_SSE4(f, Type) extern "C" const Type cx_##f##_sse4;
#else
#define CX_SSE4(f)
#define CX_DECLARE_SSE4(f, Type)
#endif
#if defined(CX_HAVE_AVX2)
#define CX_AVX2(f) &cx_##f##_avx2,
#define CX_DECLARE_AVX2(f, Type) extern "C" const Type cx_##f##_avx2;
#else
#define CX_AVX2(f)
#define CX_DECLARE_AVX2(f, Type)
#endif
#if defined(CX_HAVE_AVX512)
#define CX_AVX512(f) &cx_##f##_avx512,
#define CX_DECLARE_AVX512(f, Type) extern "C" const Type cx_##f##_avx512;
#else
#define CX_AVX512(f)
#define CX_DECLARE_AVX512(f, Type)
#endif
#if defined(CX_HAVE_NEON)
#define CX_NEON(f) &cx_##f##_neon,
#define CX_DECLARE_NEON(f, Type) extern "C" const Type cx_##f##_neon;
#else
#define CX_NEON(f)
#define CX_DECLARE_NEON(f, Type)
#endif

#define CX_ENTRIES(f) CX_SSE4(f) CX_AVX2(f) CX_AVX512(f) CX_NEON(f)
#define CX_DECLARE_OF(f, Type) \
    CX_DECLARE_SSE4(f, Type)   \
    CX_DECLARE_AVX2(f, Type) CX_DECLARE_AVX512(f, Type) CX_DECLARE_NEON(f, Type)
#define CX_DECLARE_ENTRIES(f) CX_DECLARE_OF(f, FamilyLoops)

CX_FAMILIES(CX_DEFINE)

CX_DECLARE_OF(cast, CastLoops)
const CastLoops& cast_loops() {
    static const CastLoops* const entries[] = {CX_ENTRIES(cast)};
    return *entries[Chosen().isa < 0 ? 0 : Chosen().isa];
}

CX_DECLARE_OF(rows, RowLoops)
const RowLoops& rows_loops() {
    static const RowLoops* const entries[] = {CX_ENTRIES(rows)};
    return *entries[Chosen().isa < 0 ? 0 : Chosen().isa];
}

CX_DECLARE_OF(reduce, ReduceIsaLoops)
const ReduceIsaLoops& reduce_loops() {
    static const ReduceIsaLoops* const entries[] = {CX_ENTRIES(reduce)};
    return *entries[Chosen().isa < 0 ? 0 : Chosen().isa];
}

CX_DECLARE_OF(divide, DivideLoops)
const DivideLoops& divide_loops() {
    static const DivideLoops* const entries[] = {CX_ENTRIES(divide)};
    return *entries[Chosen().isa < 0 ? 0 : Chosen().isa];
}

CX_DECLARE_OF(update, UpdateLoops)
const UpdateLoops& update_loops() {
    static const UpdateLoops* const entries[] = {CX_ENTRIES(update)};
    return *entries[Chosen().isa < 0 ? 0 : Chosen().isa];
}

}  // namespace chainerx::native
