// Positions of extremes.
#include <algorithm>
#include <memory>

#include "chainerx/core/thread_pool.h"
#include "chainerx/kernels/reduction.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/reduce.h"
#include "chainerx/native/reduce_policies.h"

namespace chainerx::native {
namespace {

constexpr int64_t kPiece = 1 << 16;
constexpr int64_t kColumns = 512;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// What is looked for: the largest or the smallest, with NaN above all or ignored.
template <typename T, bool kLargest, bool kIgnoresNan>
struct Extreme {
    using Item = T;
    using Acc = std::conditional_t<std::is_same_v<T, bool>, uint32_t, ComputeType<T>>;
    using Center = NoCenter;
    // As wide as the value, so that a vector of both is regular.
    using Index = std::conditional_t<sizeof(Acc) == 8, int64_t, int32_t>;

    static Acc Identity() { return kLargest ? LowestOf<Acc>() : HighestOf<Acc>(); }
    static Acc Load(T x, NoCenter) {
        const Acc v = Cast<Acc>(x);
        return kIgnoresNan && IsNan(v) ? Identity() : v;
    }
    static bool Beats(Acc a, Acc b) { return kLargest ? a > b : a < b; }
    static Acc Combine(Acc a, Acc b) { return Beats(b, a) | IsNan(b) ? b : a; }
    // Whether `v` takes the place of `best`, which came first; `found` is whether there is one.
    static bool Replaces(Acc v, Acc best, bool found) {
        if constexpr (kIgnoresNan) {
            return Beats(v, best) | (!found & !IsNan(v));
        } else {
            return Beats(v, best) | (IsNan(v) & !IsNan(best)) | !found;
        }
    }
};

template <typename E>
struct Best {
    typename E::Acc value;
    int64_t index{-1};

    void Take(typename E::Acc v, int64_t i) {
        if (i >= 0 && E::Replaces(v, value, index >= 0)) *this = {v, i};
    }
};

// Among elements [begin, begin + n). A block is searched only if its extreme wins.
template <typename E>
Best<E> FindInRun(const char* data, const Nest& nest, int64_t begin, int64_t n) {
    using Acc = typename E::Acc;
    using Item = typename E::Item;
    using L = Loops<E>;
    alignas(64) char buffer[kReduceBlock * sizeof(Item)];
    Best<E> best{E::Identity()};
    for (const int64_t end = begin + n; begin < end; begin += kReduceBlock) {
        const int64_t k = std::min(kReduceBlock, end - begin);
        const auto* x =
            reinterpret_cast<const Item*>(FetchBlock(data, nest, sizeof(Item), begin, k, buffer));
        const Acc value = L::FoldedBlock(x, k, NoCenter{});
        if (!E::Replaces(value, best.value, best.index >= 0)) continue;
        for (int64_t i = 0; i < k; ++i) {
            const Acc v = Cast<Acc>(x[i]);
            if ((v == value) | (IsNan(v) & IsNan(value))) {
                best = {value, begin + i};
                break;
            }
        }
    }
    return best;
}

void Store(char* out, int64_t index) {
    *reinterpret_cast<int64_t*>(out) = std::max<int64_t>(index, 0);
}

// The address of output `i`, and of its first element.
struct Place {
    const char* x;
    char* out;
    Place(const ReducePlan& plan, int64_t i) : x{plan.x}, out{plan.out} {
        for (int8_t d = plan.kept.ndim - 1; d >= 0; --d) {
            const int64_t at = i % plan.kept.dims[d];
            i /= plan.kept.dims[d];
            x += at * plan.kept.strides[d];
            out += at * plan.out_strides[d];
        }
    }
};

template <typename E>
void FindByRuns(const ReducePlan& plan) {
    const int64_t n = plan.n_reduced;
    const int64_t n_pieces = CeilDiv(n, kPiece);
    if (n_pieces == 1) {
        const int64_t group = std::max<int64_t>(1, kPiece / n);
        ParallelFor(CeilDiv(plan.n_out, group), [&](int64_t g) {
            const int64_t end = std::min(plan.n_out, (g + 1) * group);
            for (int64_t i = g * group; i < end; ++i) {
                const Place at{plan, i};
                Store(at.out, FindInRun<E>(at.x, plan.reduced, 0, n).index);
            }
        });
        return;
    }
    const std::unique_ptr<Best<E>[]> parts{new Best<E>[static_cast<size_t>(plan.n_out * n_pieces)]};
    ParallelFor(plan.n_out * n_pieces, [&](int64_t k) {
        const int64_t begin = k % n_pieces * kPiece;
        parts[k] = FindInRun<E>(Place{plan, k / n_pieces}.x, plan.reduced, begin,
                                std::min(kPiece, n - begin));
    });
    for (int64_t i = 0; i < plan.n_out; ++i) {
        Best<E> best{E::Identity()};
        for (int64_t p = 0; p < n_pieces; ++p) {
            const Best<E>& part = parts[i * n_pieces + p];
            best.Take(part.value, part.index);
        }
        Store(Place{plan, i}.out, best.index);
    }
}

// A row of up to kColumns outputs.
template <typename E, bool kAdjacent>
void FindInRows(const char* data, const Nest& nest, int64_t n, int64_t stride, int64_t width,
                char* out, int64_t out_stride) {
    using Acc = typename E::Acc;
    using Index = typename E::Index;
    alignas(64) Acc best[kColumns];
    alignas(64) Index index[kColumns];
    Best<E> total[kColumns];
    // An index of 32 bits counts within a part only.
    constexpr int64_t kPart = int64_t{1} << 30;
    for (int64_t j = 0; j < width; ++j) total[j].value = E::Identity();
    for (int64_t begin = 0; begin < n; begin += kPart) {
        const int64_t n_part = std::min(kPart, n - begin);
        for (int64_t j = 0; j < width; ++j) best[j] = E::Identity();
        for (int64_t j = 0; j < width; ++j) index[j] = -1;
        const char* rows[16];
        for (int64_t r = 0; r < n_part; ++r) {
            if (r % 16 == 0) {
                FetchRows(data, nest, begin + r, std::min<int64_t>(16, n_part - r), rows);
            }
            const char* row = rows[r % 16];
            const auto at = static_cast<Index>(r);
            for (int64_t j = 0; j < width; ++j) {
                const Acc v = Cast<Acc>(*reinterpret_cast<const typename E::Item*>(
                    row + j * (kAdjacent ? int64_t{sizeof(typename E::Item)} : stride)));
                const bool replaces = E::Replaces(v, best[j], index[j] >= 0);
                best[j] = replaces ? v : best[j];
                index[j] = replaces ? at : index[j];
            }
        }
        for (int64_t j = 0; j < width; ++j) {
            total[j].Take(best[j], index[j] < 0 ? -1 : begin + index[j]);
        }
    }
    for (int64_t j = 0; j < width; ++j) Store(out + j * out_stride, total[j].index);
}

template <typename E>
void FindByRows(const ReducePlan& plan) {
    const int last = plan.kept.ndim - 1;
    const int64_t n_columns = plan.kept.dims[last];
    const int64_t stride = plan.kept.strides[last];
    // Narrow enough for several threads, wide enough for whole cache lines.
    const int64_t tile = std::clamp<int64_t>(CeilDiv(n_columns, 4), 64, kColumns);
    const int64_t n_tiles = CeilDiv(n_columns, tile);
    const int64_t n_blocks = plan.n_out / n_columns * n_tiles;
    const int64_t work = plan.n_reduced * std::min(tile, n_columns);
    const int64_t group = std::max<int64_t>(1, kPiece / work);
    ParallelFor(CeilDiv(n_blocks, group), [&](int64_t g) {
        const int64_t end = std::min(n_blocks, (g + 1) * group);
        for (int64_t k = g * group; k < end; ++k) {
            const int64_t begin = k % n_tiles * tile;
            const Place at{plan, k / n_tiles * n_columns + begin};
            const int64_t width = std::min(tile, n_columns - begin);
            if (stride == sizeof(typename E::Item)) {
                FindInRows<E, true>(at.x, plan.reduced, plan.n_reduced, stride, width, at.out,
                                    plan.out_strides[last]);
            } else {
                FindInRows<E, false>(at.x, plan.reduced, plan.n_reduced, stride, width, at.out,
                                     plan.out_strides[last]);
            }
        }
    });
}

template <bool kLargest, bool kIgnoresNan>
void Find(const Array& x, const Axes& axes, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    const ReducePlan plan{x, axes, out, true};
    VisitDtype(x.dtype(), [&]<typename T>() {
        if constexpr (!kIsComplexType<T>) {
            using E = Extreme<T, kLargest, kIgnoresNan && kIsFloatingType<T>>;
            if (plan.by_rows) {
                FindByRows<E>(plan);
            } else {
                FindByRuns<E>(plan);
            }
        } else {
            ThrowUnexpectedDtype(x.dtype(), "a real dtype");
        }
    });
}

void ArgMax(const Array& x, const Axes& axes, const Array& out) { Find<true, false>(x, axes, out); }
CX_NATIVE_KERNEL(ArgMax)
void ArgMin(const Array& x, const Axes& axes, const Array& out) {
    Find<false, false>(x, axes, out);
}
CX_NATIVE_KERNEL(ArgMin)
void NanArgMax(const Array& x, const Axes& axes, const Array& out) {
    Find<true, true>(x, axes, out);
}
CX_NATIVE_KERNEL(NanArgMax)
void NanArgMin(const Array& x, const Axes& axes, const Array& out) {
    Find<false, true>(x, axes, out);
}
CX_NATIVE_KERNEL(NanArgMin)

}  // namespace
}  // namespace chainerx::native
