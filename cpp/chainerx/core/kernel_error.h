// What kernels find wrong in the values of their operands: an index or a label out of range, a
// matrix that can't be factored.
//
// Where kernels are synchronous, it is thrown at once. Elsewhere the kernel leaves it in the memory
// of its device, is otherwise harmless (it touches nothing out of bounds; what it writes is
// unspecified), and the thread that launched it gets the same exception at its next
// synchronization.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "chainerx/core/error.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Plain data, so that a device can hold one. `op` and `argument` are literals of the host.
struct KernelError {
    enum class Kind : int32_t {
        kNone,
        kIndex,
        kUnsignedIndex,
        kLabel,
        kLength,
        kFewSteps,
        kDomain,
        kSingular,  // from here on: what becomes a LinAlgError
        kIndefinite,
        kNotFinite,
        kNoConvergence,
        kNoLapack
    };

    Kind kind{Kind::kNone};
    bool may_ignore{false};   // kLabel: `ignored` marks rows that don't count
    const char* op{nullptr};  // the routine, as users know it
    const char* argument{nullptr};
    int64_t position{0};  // of the value in the argument, in C order
    int64_t value{0};
    int64_t bound{0};  // expected were values below; of kLength and kFewSteps, up to it
    int64_t ignored{0};
    uint64_t thread{0};             // which launched the kernel: internal::GetThreadToken()
    const char* expected{nullptr};  // of kDomain: a literal, too

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
    // What `argument` says of a row needs `needed` steps, but it has `steps`.
    static KernelError FewSteps(const char* op, const char* argument, int64_t position,
                                int64_t needed, int64_t steps) {
        return {Kind::kFewSteps, false, op, argument, position, needed, steps};
    }

    // Matrix `position` of a batch of n x n has no pivot number `pivot`.
    static KernelError Singular(const char* op, const char* argument, int64_t position,
                                int64_t pivot, int64_t n) {
        return {Kind::kSingular, false, op, argument, position, pivot, n};
    }
    // Its first `rows` rows and columns are positive definite, one more are not.
    static KernelError Indefinite(const char* op, const char* argument, int64_t position,
                                  int64_t rows, int64_t n) {
        return {Kind::kIndefinite, false, op, argument, position, rows, n};
    }

    // `value` has the bits of the number. The position is below 0 for the only one.
    static KernelError Domain(const char* op, const char* argument, int64_t position, double number,
                              const char* expected) {
        KernelError error{Kind::kDomain, false, op, argument, position};
        error.value = std::bit_cast<int64_t>(number);
        error.expected = expected;
        return error;
    }

    // Matrix `position` has NaN or an infinity, of which there is no decomposition.
    static KernelError NotFinite(const char* op, const char* argument, int64_t position) {
        return {Kind::kNotFinite, false, op, argument, position};
    }
    // The iteration of LAPACK ended without a result, as its `info` says.
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

// What a synchronous kernel does with it.
[[noreturn]] CX_API CX_COLD void Fail(const KernelError& error);

namespace internal {

// Names this thread for as long as it lives; no other thread ever has the same.
CX_API uint64_t GetThreadToken();
CX_API bool IsThreadAlive(uint64_t token);

}  // namespace internal
}  // namespace chainerx
