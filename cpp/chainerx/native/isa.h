// The instruction set of the kernels of this process, and how a room gets the loops of it.
#pragma once

#include <atomic>

namespace chainerx::native {

// The best one that is built and that this processor has; $CHAINERX_ISA overrides it. Chosen once,
// while the library loads.
const char* IsaName();

// Throws ChainerxError if $CHAINERX_ISA names one that is not built or that this processor lacks.
void CheckIsa();

// The place of the chosen one among those of CX_EACH_ISA; -1 before the first use.
extern std::atomic<int> chosen_isa;
int ChooseIsa();
inline int ChosenIsa() {
    const int isa = chosen_isa.load(std::memory_order_relaxed);
    return isa >= 0 ? isa : ChooseIsa();
}

}  // namespace chainerx::native

// Expands F(isa, ...) for each instruction set that is built (cmake/isa.cmake), from the least to
// the most able.
#if defined(CX_HAVE_SSE4)
#define CX_IF_SSE4(...) __VA_ARGS__
#else
#define CX_IF_SSE4(...)
#endif
#if defined(CX_HAVE_AVX2)
#define CX_IF_AVX2(...) __VA_ARGS__
#else
#define CX_IF_AVX2(...)
#endif
#if defined(CX_HAVE_AVX512)
#define CX_IF_AVX512(...) __VA_ARGS__
#else
#define CX_IF_AVX512(...)
#endif
#if defined(CX_HAVE_NEON)
#define CX_IF_NEON(...) __VA_ARGS__
#else
#define CX_IF_NEON(...)
#endif
#define CX_EACH_ISA(F, ...)              \
    CX_IF_SSE4(F(sse4, __VA_ARGS__))     \
    CX_IF_AVX2(F(avx2, __VA_ARGS__))     \
    CX_IF_AVX512(F(avx512, __VA_ARGS__)) \
    CX_IF_NEON(F(neon, __VA_ARGS__))

// Defines `const Type& <unit>_loops()`, which returns the table that the unit <room>/simd/<unit>.cc
// exports for the chosen instruction set. Each unit needs one, in a source of its room, in
// namespace chainerx::native.
#define CX_DISPATCH(unit, Type) CX_DISPATCH_OF(unit, Type)
#define CX_DISPATCH_OF(unit, Type)                                                           \
    CX_EACH_ISA(CX_UNIT_DECLARATION, unit, Type)                                             \
    const Type& unit##_loops() {                                                             \
        static constexpr const Type* kTables[] = {CX_EACH_ISA(CX_UNIT_ADDRESS, unit, Type)}; \
        return *kTables[ChosenIsa()];                                                        \
    }
#define CX_UNIT_DECLARATION(isa, unit, Type) extern "C" const Type cx_##unit##_##isa;
#define CX_UNIT_ADDRESS(isa, unit, Type) &cx_##unit##_##isa,
