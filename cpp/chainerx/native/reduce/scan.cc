// cumsum, cumprod, and the linear recurrence of their gradients.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <type_traits>

#include "chainerx/kernels/reduce/reduction.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/reduce/reduce_policies.h"
#include "chainerx/native/reduce/scan_order.h"
#include "chainerx/native/strided/strided_iterator.h"

namespace chainerx::native {
namespace {

// Lines that are scanned side by side.
constexpr int64_t kColumns = 256;
constexpr int64_t kGrain = 1 << 16;

// Checks for interrupts in a line that may be long, after step i.
void CheckAfterSteps(int64_t i) {
    constexpr int64_t kSteps = 1 << 14;
    if (i % kSteps == kSteps - 1) internal::CheckInterrupt();
}

// N arrays of one shape without one axis: iterates over lines along that axis.
template <int N>
struct Lines {
    StridedIterator<N> iter;
    int64_t length;
    int64_t steps[N];

    Lines(const std::array<const Array*, N>& arrays, int8_t axis, bool reverse) {
        const Shape& shape = arrays[0]->shape();
        length = shape.empty() ? 1 : shape[axis];
        for (int k = 0; k < N; ++k) {
            iter.data[k] = arrays[k]->raw_data();
            steps[k] = shape.empty() ? 0 : arrays[k]->strides()[axis];
            if (reverse) {
                iter.data[k] += steps[k] * (length - 1);
                steps[k] = -steps[k];
            }
        }
        for (int8_t i = 0; i < shape.ndim(); ++i) {
            if (i == axis) continue;
            int64_t s[N];
            for (int k = 0; k < N; ++k) s[k] = arrays[k]->strides()[i];
            iter.Add(shape[i], s);
        }
        iter.CollapseDims(AxisOrder::kByStride);
        iter.EnsureAxis();
    }

    // Calls f(pointers, strides between lines, number of lines) for groups of at most kColumns
    // lines, from several threads.
    void ForEachGroup(const auto& f) const {
        const int64_t inner = iter.run_length();
        const int64_t n_tiles = CeilDiv(inner, kColumns);
        StridedIterator<N> outer = iter;
        --outer.ndim;
        const int64_t n_blocks = iter.total / inner * n_tiles;
        const int64_t group = std::max<int64_t>(1, kGrain / (length * std::min(inner, kColumns)));
        ParallelFor(CeilDiv(n_blocks, group), [&](int64_t g) {
            const int64_t end = std::min(n_blocks, (g + 1) * group);
            for (int64_t b = g * group; b < end; ++b) {
                const int64_t begin = b % n_tiles * kColumns;
                const StridedCursor<N> at{outer, b / n_tiles};
                std::array<char*, N> p;
                std::array<int64_t, N> s;
                for (int k = 0; k < N; ++k) {
                    s[k] = iter.run_stride(k);
                    p[k] = at.p[k] + begin * s[k];
                }
                f(p, s, std::min(kColumns, inner - begin));
            }
        });
    }
};

template <typename P>
inline constexpr bool kIsFloatSum =
    kIsInexactType<typename P::Item> && std::is_same_v<P, SumPolicy<typename P::Item>>;

// Calls f(first element, number) for the groups of a line (scan_order.h); the number of whole
// groups is a constant.
void ForGroups(int64_t length, const auto& f) {
    int64_t i = 0;
    for (; i + kScanGroup <= length; i += kScanGroup) {
        CheckAfterSteps(i + kScanGroup - 1);
        f(i, std::integral_constant<int64_t, kScanGroup>{});
    }
    if (i < length) f(i, length - i);
}

// Scans `width` lines at once: acc = step(acc, x), which is stored.
template <typename P, typename Out>
void ScanLines(const std::array<char*, 2>& p, const std::array<int64_t, 2>& s, const int64_t* steps,
               int64_t length, int64_t width) {
    using Acc = typename P::Acc;
    using Item = typename P::Item;
    Acc acc[kColumns];
    const auto begin = [&] {
        for (int64_t j = 0; j < width; ++j) acc[j] = P::Identity();
    };
    // store(acc, j) is what is stored.
    const auto scan = [&](int64_t i, const auto& store) {
        char* out = p[0] + i * steps[0];
        const char* x = p[1] + i * steps[1];
        if (s[0] == sizeof(Out) && s[1] == sizeof(Item)) {
            for (int64_t j = 0; j < width; ++j) {
                acc[j] =
                    P::Combine(acc[j], P::Load(reinterpret_cast<const Item*>(x)[j], NoCenter{}));
                reinterpret_cast<Out*>(out)[j] = Cast<Out>(store(acc[j], j));
            }
        } else {
            for (int64_t j = 0; j < width; ++j) {
                acc[j] = P::Combine(
                    acc[j], P::Load(*reinterpret_cast<const Item*>(x + j * s[1]), NoCenter{}));
                *reinterpret_cast<Out*>(out + j * s[0]) = Cast<Out>(store(acc[j], j));
            }
        }
    };
    if constexpr (kIsFloatSum<P>) {
        if (length > kShortScan) {
            ScanCarry<Acc, kColumns> carry{P::Identity()};
            Acc before[kColumns];
            for (int64_t j = 0; j < width; ++j) before[j] = P::Identity();
            ForGroups(length, [&](int64_t first, int64_t n) {
                begin();
                for (int64_t i = first; i < first + n; ++i) {
                    scan(i, [&](Acc a, int64_t j) { return P::Combine(before[j], a); });
                }
                carry.Take(acc, width, before, [](Acc a, Acc b) { return P::Combine(a, b); });
            });
            return;
        }
    }
    begin();
    for (int64_t i = 0; i < length; ++i) {
        CheckAfterSteps(i);
        scan(i, [](Acc a, int64_t) { return a; });
    }
}

// Scans a line; x(i) and out(i) are its elements.
template <typename P, typename Out>
void ScanLine(int64_t length, const auto& x, const auto& out) {
    const auto load = [&](int64_t i) { return P::Load(x(i), NoCenter{}); };
    auto acc = P::Identity();
    if constexpr (kIsFloatSum<P>) {
        if (length > kShortScan) {
            using Acc = typename P::Acc;
            ScanCarry<Acc, 1> carry{P::Identity()};
            Acc before = P::Identity();
            ForGroups(length, [&](int64_t first, auto size) {
                const int64_t n = size;
                Acc sums[kScanGroup];
                acc = P::Identity();
#pragma GCC unroll 16
                for (int64_t i = 0; i < n; ++i) sums[i] = acc = P::Combine(acc, load(first + i));
                for (int64_t i = 0; i < n; ++i) {
                    out(first + i) = Cast<Out>(P::Combine(before, sums[i]));
                }
                if (n == kScanGroup) {
                    carry.Take(&acc, 1, &before, [](Acc a, Acc b) { return P::Combine(a, b); });
                }
            });
            return;
        }
    }
    // An integer addition takes one cycle, so the loop must be short.
    constexpr int64_t kBlock = 1024;
    for (int64_t begin = 0; begin < length; begin += kBlock) {
        const int64_t end = std::min(length, begin + kBlock);
#pragma GCC unroll 8
        for (int64_t i = begin; i < end; ++i) {
            acc = P::Combine(acc, load(i));
            out(i) = Cast<Out>(acc);
        }
        CheckAfterSteps(end - 1);
    }
}

// Contiguous lines are scanned one by one, otherwise cache lines would be read in pieces.
template <typename P, typename Out>
void Scan(const Array& x, int8_t axis, bool reverse, const Array& out) {
    using Item = typename P::Item;
    const Lines<2> lines{{&out, &x}, axis, reverse};
    const bool one_by_one = std::abs(lines.steps[1]) <= int64_t{sizeof(Item)} && lines.length > 16;
    lines.ForEachGroup([&](auto& p, auto& s, int64_t width) {
        if (!one_by_one) {
            ScanLines<P, Out>(p, s, lines.steps, lines.length, width);
            return;
        }
        for (int64_t j = 0; j < width; ++j) {
            char* const to = p[0] + j * s[0];
            const char* const from = p[1] + j * s[1];
            if (lines.steps[0] == sizeof(Out) && lines.steps[1] == sizeof(Item)) {
                ScanLine<P, Out>(
                    lines.length, [=](int64_t i) { return reinterpret_cast<const Item*>(from)[i]; },
                    [=](int64_t i) -> Out& { return reinterpret_cast<Out*>(to)[i]; });
            } else {
                const int64_t steps[] = {lines.steps[0], lines.steps[1]};
                ScanLine<P, Out>(
                    lines.length,
                    [&](int64_t i) { return *reinterpret_cast<const Item*>(from + i * steps[1]); },
                    [&](int64_t i) -> Out& { return *reinterpret_cast<Out*>(to + i * steps[0]); });
            }
        }
    });
}

void CumSum(const Array& x, int8_t axis, bool reverse, const Array& out) {
    if (x.GetTotalSize() == 0) return;
    VisitDtype(x.dtype(),
               [&]<typename T>() { Scan<SumPolicy<T>, TotalOut<T>>(x, axis, reverse, out); });
}
CX_NATIVE_KERNEL(CumSum)

void CumProd(const Array& x, int8_t axis, bool reverse, const Array& out) {
    if (x.GetTotalSize() == 0) return;
    VisitDtype(x.dtype(),
               [&]<typename T>() { Scan<ProdPolicy<T>, TotalOut<T>>(x, axis, reverse, out); });
}
CX_NATIVE_KERNEL(CumProd)

void LinearScan(const Array& a, const Array& x, int8_t axis, bool reverse, const Array& out) {
    if (x.GetTotalSize() == 0) return;
    VisitDtype(x.dtype(), [&]<typename T>() {
        if constexpr (kIsInexactType<T>) {
            using C = ComputeType<T>;
            const Lines<3> lines{{&out, &a, &x}, axis, reverse};
            lines.ForEachGroup([&](auto& p, auto& s, int64_t width) {
                for (int64_t j = 0; j < width; ++j) {
                    const auto at = [&](int k, int64_t i) {
                        return reinterpret_cast<T*>(p[k] + j * s[k] + i * lines.steps[k]);
                    };
                    C acc = Cast<C>(*at(2, 0));
                    *at(0, 0) = Cast<T>(acc);
                    for (int64_t i = 1; i < lines.length; ++i) {
                        CheckAfterSteps(i);
                        acc = Cast<C>(*at(2, i)) + Times(Cast<C>(*at(1, i)), acc);
                        *at(0, i) = Cast<T>(acc);
                    }
                }
            });
        } else {
            ThrowUnexpectedDtype(x.dtype(), "a floating point or complex dtype");
        }
    });
}
CX_NATIVE_KERNEL(LinearScan)

}  // namespace
}  // namespace chainerx::native
