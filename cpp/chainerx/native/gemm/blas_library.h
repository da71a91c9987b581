// The engine of matrix products: OpenBLAS or another library with CBLAS functions, opened at run
// time. chainerx links to no BLAS and builds without one.
#pragma once

#include <atomic>
#include <complex>
#include <cstdint>
#include <string>

#include "chainerx/core/openblas.h"

namespace chainerx {

namespace native {

// The value of $CHAINERX_BLAS; docs/configuration.md describes the values.
enum class BlasEngine : int {
    kAuto,      // unset: the fastest for each shape
    kOpenBlas,  // OpenBLAS wherever it can
    kOwn,       // our own products wherever they can, OpenBLAS for the rest
    kPlain,     // neither: plain loops
    kFile,      // the named library wherever it can
};

// Reads the variable once. Any other value is the name of a library, which GetBlasLibrary() rejects
// if there is none; so code that computes without the library must call GetBlasLibrary() first
// unless this is kAuto, kOwn or kPlain.
BlasEngine GetBlasEngine();

// CBLAS with 32-bit integers. Enumerators are passed as integers.
inline constexpr int kRowMajor = 101;
inline constexpr int kNoTrans = 111;
inline constexpr int kTrans = 112;

// CBLAS takes real alpha and beta by value, complex ones by address.
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
    void* handle;  // null if none was found or wanted: plain loops are used
    std::string path;
    std::string version;     // as the library reports it; may be empty
    const char* threads;     // number of threads of one product, in words
    const char* prefix;      // prefix of every symbol: "scipy_" in the build on PyPI
    std::string reason;      // why there is no library
    bool is_avoided{false};  // BlasEngine::kOwn: our own products go first
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

// Opens the library at the first call. Throws ChainerxError if $CHAINERX_BLAS or $CHAINERX_OPENBLAS
// names one that can't be used, OutOfMemoryError if there is no memory to load it.
const BlasLibrary& GetBlasLibrary();

// Guards every call of the library. OpenBLAS frees its memory when the process ends, so the end
// waits for running calls, and a thread that begins one afterwards never returns. OpenBLAS also
// ends the process if it finds no work memory. It takes that when it is loaded and for each
// concurrent call, and keeps it; so this class checks first if more may be needed, and throws
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

    // Called at the first call of the library.
    static void WatchTheEnd();

 private:
    static constexpr uint32_t kEnding = uint32_t{1} << 31;

    static void Begin(uint32_t others);
    static void Park();
    static void AwaitAll();

    static std::atomic<uint32_t> running_;  // number of running calls, and the flag kEnding
    static std::atomic<uint32_t> known_;    // number of concurrent calls that had memory
};

// Returns another symbol of the library, such as "dgesv_" for LAPACK, or null.
void* FindBlasSymbol(const char* name);

}  // namespace native
}  // namespace chainerx
