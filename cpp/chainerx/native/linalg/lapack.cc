#include "chainerx/native/linalg/lapack.h"

#include <atomic>
#include <complex>
#include <memory>
#include <string>
#include <type_traits>

#include "chainerx/core/openblas.h"
#include "chainerx/native/gemm/blas_library.h"

namespace chainerx {
namespace native {
namespace {

template <typename T>
constexpr char Letter() {
    constexpr bool kIsSingle = std::is_same_v<RealOf<T>, float>;
    if (kIsComplexNumber<T>) return kIsSingle ? 'c' : 'z';
    return kIsSingle ? 's' : 'd';
}

template <typename T>
LapackRoutines<T> Look() {
    const auto find = [](auto* routine, const char* name) {
        const std::string symbol = Letter<T>() + std::string{name} + "_";
        using Routine = std::remove_pointer_t<decltype(routine)>;
        *routine = reinterpret_cast<Routine>(FindBlasSymbol(symbol.c_str()));
        return *routine != nullptr;
    };
    LapackRoutines<T> r{};
    constexpr bool kIsComplex = kIsComplexNumber<T>;
    const bool all = find(&r.gesdd, "gesdd") && find(&r.syevd, kIsComplex ? "heevd" : "syevd") &&
                     find(&r.geev, "geev") && find(&r.gelqf, "gelqf") &&
                     find(&r.orglq, kIsComplex ? "unglq" : "orglq");
    return all ? r : LapackRoutines<T>{};
}

template <typename T>
std::atomic<const LapackRoutines<T>*> g_routines{nullptr};

}  // namespace

template <typename T>
const LapackRoutines<T>* FindLapack() {
    const LapackRoutines<T>* found = g_routines<T>.load(std::memory_order_acquire);
    if (found == nullptr) {
        // As for the library itself: several threads may look them up, and one wins.
        auto looked = std::make_unique<LapackRoutines<T>>(Look<T>());
        if (g_routines<T>.compare_exchange_strong(found, looked.get(), std::memory_order_acq_rel)) {
            found = looked.release();
        }
    }
    return found->gesdd == nullptr ? nullptr : found;
}
template const LapackRoutines<float>* FindLapack<float>();
template const LapackRoutines<double>* FindLapack<double>();
template const LapackRoutines<std::complex<float>>* FindLapack<std::complex<float>>();
template const LapackRoutines<std::complex<double>>* FindLapack<std::complex<double>>();

}  // namespace native

bool IsLapackAvailable() {
    return native::FindLapack<float>() != nullptr && native::FindLapack<double>() != nullptr &&
           native::FindLapack<std::complex<float>>() != nullptr &&
           native::FindLapack<std::complex<double>>() != nullptr;
}

}  // namespace chainerx
