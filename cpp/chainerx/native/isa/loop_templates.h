// Loops over contiguous memory around an expression, for one instruction set.
//
// The last, partial batch is loaded with a mask into a whole one: so a value never depends on the
// place where its element stands, and no scalar mathematics is needed.
#pragma once

#include <cstdint>

#include "chainerx/kernels/dtype_rule.h"
#include "chainerx/native/ask_ahead.h"
#include "chainerx/native/isa/batch.h"
#include "chainerx/native/isa/math.h"
#include "chainerx/native/loops.h"

namespace chainerx::native {
namespace CX_ISA {
namespace {

// By how many elements to ask ahead for memory: a kilobyte, or not at all. A long expression fills
// the window in which the processor looks ahead with two or three batches, so that from the
// third-level cache each would be waited for. Where loops don't ask ahead they ask for what they
// read next, which costs less than a branch: `-x` of a million floats by AVX2 takes a fifth less.
template <typename T>
inline int64_t ElementsAhead() {
    return asks_ahead ? int64_t{1024 / sizeof(T)} : 0;
}

template <typename Row, typename T>
void RunUnary(const void* x_data, void* out_data, int64_t n) {
    using B = Batch<T>;
    constexpr int64_t kWidth = B::size;
    const T* x = static_cast<const T*>(x_data);
    T* out = static_cast<T*>(out_data);
    const int64_t ahead = ElementsAhead<T>();
    int64_t i = 0;
    for (; i + kWidth <= n; i += kWidth) {
        __builtin_prefetch(x + i + ahead);
        Row::Apply(Load(x + i)).store_unaligned(out + i);
    }
    if (i < n) StorePart(out + i, Row::Apply(LoadPart(x + i, n - i)), n - i);
}

template <typename Row, typename T>
void RunBinary(const void* x1_data, int64_t step1, const void* x2_data, int64_t step2,
               void* out_data, int64_t n) {
    using B = Batch<T>;
    constexpr int64_t kWidth = B::size;
    const T* x1 = static_cast<const T*>(x1_data);
    const T* x2 = static_cast<const T*>(x2_data);
    T* out = static_cast<T*>(out_data);
    // One value becomes a batch in memory that is read again and again: one loop serves all cases.
    alignas(64) T value1[kWidth];
    alignas(64) T value2[kWidth];
    if (step1 == 0) {
        B(*x1).store_aligned(value1);
        x1 = value1;
    }
    if (step2 == 0) {
        B(*x2).store_aligned(value2);
        x2 = value2;
    }
    const int64_t ahead = ElementsAhead<T>();
    int64_t i = 0;
    for (; i + kWidth <= n; i += kWidth) {
        __builtin_prefetch(x1 + i * step1 + ahead);
        __builtin_prefetch(x2 + i * step2 + ahead);
        Row::Apply(Load(x1 + i * step1), Load(x2 + i * step2)).store_unaligned(out + i);
    }
    if (i < n) {
        const B y = Row::Apply(LoadPart(x1 + i * step1, n - i), LoadPart(x2 + i * step2, n - i));
        StorePart(out + i, y, n - i);
    }
}

template <typename Row, typename T>
void RunTernary(const void* x1_data, int64_t step1, const void* x2_data, int64_t step2,
                const void* x3_data, int64_t step3, void* out_data, int64_t n) {
    using B = Batch<T>;
    constexpr int64_t kWidth = B::size;
    const T* x[3] = {static_cast<const T*>(x1_data), static_cast<const T*>(x2_data),
                     static_cast<const T*>(x3_data)};
    const int64_t steps[3] = {step1, step2, step3};
    T* out = static_cast<T*>(out_data);
    alignas(64) T values[3][kWidth];  // as above
    for (int k = 0; k < 3; ++k) {
        if (steps[k] != 0) continue;
        B(*x[k]).store_aligned(values[k]);
        x[k] = values[k];
    }
    int64_t i = 0;
    for (; i + kWidth <= n; i += kWidth) {
        Row::Apply(Load(x[0] + i * step1), Load(x[1] + i * step2), Load(x[2] + i * step3))
            .store_unaligned(out + i);
    }
    if (i < n) {
        const B y = Row::Apply(LoadPart(x[0] + i * step1, n - i), LoadPart(x[1] + i * step2, n - i),
                               LoadPart(x[2] + i * step3, n - i));
        StorePart(out + i, y, n - i);
    }
}

// Comparisons are exact, so the compiler's own vectorization of the scalar expression serves.
template <typename Row, typename T>
void RunPredicate(const void* x_data, void* out_data, int64_t n) {
    const T* x = static_cast<const T*>(x_data);
    bool* __restrict out = static_cast<bool*>(out_data);
    for (int64_t i = 0; i < n; ++i) out[i] = Row::Apply(x[i]);
}

template <typename Row, typename T>
void RunCompare(const void* x1_data, int64_t step1, const void* x2_data, int64_t step2,
                void* out_data, int64_t n) {
    const T* x1 = static_cast<const T*>(x1_data);
    const T* x2 = static_cast<const T*>(x2_data);
    bool* __restrict out = static_cast<bool*>(out_data);
    if (step2 == 0) {
        const T value2 = *x2;
        for (int64_t i = 0; i < n; ++i) out[i] = Row::Apply(x1[i * step1], value2);
    } else if (step1 == 0) {
        const T value1 = *x1;
        for (int64_t i = 0; i < n; ++i) out[i] = Row::Apply(value1, x2[i]);
    } else {
        for (int64_t i = 0; i < n; ++i) out[i] = Row::Apply(x1[i], x2[i]);
    }
}

template <typename Row>
constexpr UnaryLoops UnaryRow() {
    if constexpr (ComputesIn(Row::kRule, Dtype::kFloat32)) {
        return {&RunUnary<Row, float>, &RunUnary<Row, double>};
    } else {
        return {nullptr, nullptr};
    }
}
template <typename Row>
constexpr UnaryLoops PredicateRow() {
    return {&RunPredicate<Row, float>, &RunPredicate<Row, double>};
}
template <typename Row>
constexpr BinaryLoops BinaryRow() {
    if constexpr (ComputesIn(Row::kRule, Dtype::kFloat32)) {
        return {&RunBinary<Row, float>, &RunBinary<Row, double>};
    } else {
        return {nullptr, nullptr};
    }
}
template <typename Row>
constexpr TernaryLoops TernaryRow() {
    if constexpr (ComputesIn(Row::kRule, Dtype::kFloat32)) {
        return {&RunTernary<Row, float>, &RunTernary<Row, double>};
    } else {
        return {nullptr, nullptr};
    }
}
template <typename Row>
constexpr BinaryLoops CompareRow() {
    return {&RunCompare<Row, float>, &RunCompare<Row, double>};
}

}  // namespace
}  // namespace CX_ISA
}  // namespace chainerx::native
