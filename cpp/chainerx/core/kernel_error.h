// Errors that kernels find in the values of operands: an index or a label out of range, a matrix
// that can't be factored.
//
// A synchronous kernel throws them at once. An asynchronous one leaves the error in the memory of
// its device, is otherwise harmless (it accesses nothing out of bounds; its results are
// unspecified), and the thread that launched it gets the same exception at its next
// synchronization.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "chainerx/core/error.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Plain data that a device can store. `op` and `argument` are literals of the host.
struct KernelError {
    enum class Kind : int32_t {
        kNone,
        kIndex,
        kUnsignedIndex,
        kLabel,
        kLength,
        kFewSteps,
        kDomain,
        kSingular,  // from here on the error becomes a LinAlgError
        kIndefinite,
        kNotFinite,
        kNoConvergence,
        kNoLapack
    };

    Kind kind{Kind::kNone};
    bool may_ignore{false};   // kLabel: `ignored` marks rows that don't count
    const char* op{nullptr};  // name of the routine for users
    const char* argument{nullptr};
    int64_t position{0};  // of the value in the argument, in C order
    int64_t value{0};
    int64_t bound{0};  // exclusive upper bound of the value; inclusive for kLength and kFewSteps
    int64_t ignored{0};
    uint64_t thread{0};  // token of the thread that launched the kernel: internal::GetThreadToken()
    const char* expected{nullptr};  // for kDomain: also a literal

    static KernelError Index(const char* op, const char* argument, int64_t position, int64_t index,
                             int64_t length, bool is_unsigned = false) {
        const Kind kind = is_unsigned ? Kind::kUnsignedIndex : Kind::kIndex;
        return {kind, false, op, argument, position, index, length};
    }
    static KernelError Label(const char* op, const char* argument, int64_t position, int64_t label,
                             int64_t classes, const int64_t* ignored) {
        return {Kind::kLabel, ignored != nullptr,
                op,           argument,
                position,     label,
                classes,      ignored != nullptr ? *ignored : 0};
    }
    static KernelError Length(const char* op, const char* argument, int64_t position,
                              int64_t length, int64_t bound) {
        return {Kind::kLength, false, op, argument, position, length, bound};
    }
    // The values of `argument` for a row need `needed` steps, but it has `steps`.
    static KernelError FewSteps(const char* op, const char* argument, int64_t position,
                                int64_t needed, int64_t steps) {
        return {Kind::kFewSteps, false, op, argument, position, needed, steps};
    }

    // Matrix `position` of a batch of n x n has a zero pivot, number `pivot`.
    static KernelError Singular(const char* op, const char* argument, int64_t position,
                                int64_t pivot, int64_t n) {
        return {Kind::kSingular, false, op, argument, position, pivot, n};
    }
    // Its leading principal minor of order `rows` is positive definite, the next is not.
    static KernelError Indefinite(const char* op, const char* argument, int64_t position,
                                  int64_t rows, int64_t n) {
        return {Kind::kIndefinite, false, op, argument, position, rows, n};
    }

    // `value` has the bits of the number. A negative position means a single number.
    static KernelError Domain(const char* op, const char* argument, int64_t position, double number,
                              const char* expected) {
        KernelError error{Kind::kDomain, false, op, argument, position};
        error.value = std::bit_cast<int64_t>(number);
        error.expected = expected;
        return error;
    }

    // Matrix `position` has NaN or infinities, so that it has no decomposition.
    static KernelError NotFinite(const char* op, const char* argument, int64_t position) {
        return {Kind::kNotFinite, false, op, argument, position};
    }
    // The iteration of LAPACK ended without convergence, as its `info` says.
    static KernelError NoConvergence(const char* op, const char* argument, int64_t position,
                                     int64_t info) {
        return {Kind::kNoConvergence, false, op, argument, position, info};
    }
    // The library in use has no LAPACK.
    static KernelError NoLapack(const char* op) { return {Kind::kNoLapack, false, op}; }

    bool is_of_matrix() const { return kind >= Kind::kSingular; }
    CX_API std::string ToString() const;
};

// The exception of a KernelError. Its message names the operation already.
class CX_API KernelCheckError : public IndexError {
 public:
    explicit KernelCheckError(const KernelError& error)
        : IndexError{error.ToString()}, error_{error} {}
    const KernelError& error() const { return error_; }

 private:
    KernelError error_;
};

// Throws the error of a synchronous kernel.
[[noreturn]] CX_API CX_COLD void Fail(const KernelError& error);

namespace internal {

// Identifies this thread as long as it lives; tokens are never reused.
CX_API uint64_t GetThreadToken();
CX_API bool IsThreadAlive(uint64_t token);

}  // namespace internal
}  // namespace chainerx
