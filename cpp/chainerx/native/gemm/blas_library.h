// The engine of matrix products, and OpenBLAS or another library with CBLAS functions, opened at
// run time: chainerx links to no BLAS and builds without one.
#pragma once

#include <atomic>
#include <complex>
#include <cstdint>
#include <string>

#include "chainerx/core/openblas.h"

namespace chainerx {

namespace native {

// What $CHAINERX_BLAS asks for. docs/configuration.md describes the values.
enum class BlasEngine : int {
    kAuto,      // not set: whatever is fastest for the shape at hand
    kOpenBlas,  // OpenBLAS for all that it can do
    kOwn,       // products of our own for all that they can do, OpenBLAS for the rest
    kPlain,     // neither: simple loops
    kFile,      // the library that it names, for all that it can do
};

// Read once. A value that is none of the words counts as the name of a library, which
// GetBlasLibrary() refuses if there is none; so whoever computes without the library asks it first
// unless this is kAuto, kOwn or kPlain.
BlasEngine GetBlasEngine();

// CBLAS, with its 32-bit integers. Enumerators are passed as integers.
inline constexpr int kRowMajor = 101;
inline constexpr int kNoTrans = 111;
inline constexpr int kTrans = 112;

// How CBLAS passes alpha and beta: real ones by value, complex ones by address.
template <typename T>
struct CblasScalar {
    using Type = T;
    static Type Pass(const T& value) { return value; }
};
template <typename T>
struct CblasScalar<std::complex<T>> {
    using Type = const std::complex<T>*;
    static Type Pass(const std::complex<T>& value) { return &value; }
};

template <typename T>
struct BlasRoutines {
    using Scalar = typename CblasScalar<T>::Type;
    void (*gemm)(int order, int trans_a, int trans_b, int m, int n, int k, Scalar alpha, const T* a,
                 int lda, const T* b, int ldb, Scalar beta, T* c, int ldc);
    void (*gemv)(int order, int trans, int m, int n, Scalar alpha, const T* a, int lda, const T* x,
                 int incx, Scalar beta, T* y, int incy);
};

struct BlasLibrary {
    void* handle;  // null: the plain loops are used, since none was found or was wanted
    std::string path;
    std::string version;     // its own words; may be empty
    const char* threads;     // how many it computes a product with, in words
    const char* prefix;      // of every symbol: "scipy_" in the build on PyPI
    std::string reason;      // why there is none
    bool is_avoided{false};  // where products of our own do as well: BlasEngine::kOwn
    BlasRoutines<float> s;
    BlasRoutines<double> d;
    BlasRoutines<std::complex<float>> c;
    BlasRoutines<std::complex<double>> z;

    template <typename T>
    const BlasRoutines<T>& Routines() const {
        if constexpr (std::is_same_v<T, float>) {
            return s;
        } else if constexpr (std::is_same_v<T, double>) {
            return d;
        } else if constexpr (std::is_same_v<T, std::complex<float>>) {
            return c;
        } else {
            return z;
        }
    }
};

// Opens it at the first call. Throws ChainerxError if $CHAINERX_BLAS or $CHAINERX_OPENBLAS names
// what can't be used, OutOfMemoryError if there is no memory to load it.
const BlasLibrary& GetBlasLibrary();

// Stands around every call of it. OpenBLAS frees its memory when the process ends, so the end waits
// for the calls that run, and a thread that begins one then never comes back. It ends the process
// itself where it finds no memory to work in, which it takes when it is loaded and for each call
// that runs beside others, and then keeps; so whoever may need more looks first, and throws
// OutOfMemoryError.
class BlasCall {
 public:
    BlasCall() {
        const uint32_t others = running_.fetch_add(1, std::memory_order_seq_cst);
        if (others >= known_.load(std::memory_order_relaxed)) [[unlikely]]
            Begin(others);
    }
    ~BlasCall() { running_.fetch_sub(1, std::memory_order_seq_cst); }
    BlasCall(const BlasCall&) = delete;
    BlasCall& operator=(const BlasCall&) = delete;

    // At the first call of the library.
    static void WatchTheEnd();

 private:
    static constexpr uint32_t kEnding = uint32_t{1} << 31;

    static void Begin(uint32_t others);
    static void Park();
    static void AwaitAll();

    static std::atomic<uint32_t> running_;  // how many, and kEnding
    static std::atomic<uint32_t> known_;    // for how many there was memory
};

// A further symbol of it, as "dgesv_" for LAPACK, or null.
void* FindBlasSymbol(const char* name);

}  // namespace native
}  // namespace chainerx
