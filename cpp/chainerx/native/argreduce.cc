// Positions of extremes.
#include <algorithm>
#include <memory>

#include "chainerx/core/interrupt.h"
#include "chainerx/core/thread_pool.h"
#include "chainerx/kernels/reduction.h"
#include "chainerx/native/copy_block.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/parts.h"
#include "chainerx/native/reduce.h"
#include "chainerx/native/reduce_isa.h"
#include "chainerx/native/reduce_policies.h"

namespace chainerx::native {
namespace {

constexpr int64_t kPiece = 1 << 16;
constexpr int64_t kColumns = 512;

// What is looked for: the largest or the smallest, with NaN above all or ignored.
template <typename T, bool kLargest, bool kIgnoresNan>
struct Extreme {
    static constexpr bool kFindsLargest = kLargest;
    static constexpr bool kSkipsNan = kIgnoresNan;
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

// The place of the first of n elements that `matches`, n if there is none.
template <typename Item, typename F>
int64_t FindFirst(const Item* x, int64_t n, const F& matches) {
    constexpr int64_t kStep = 64;  // a loop without an exit, which the compiler vectorizes
    int64_t i = 0;
    for (; i + kStep <= n; i += kStep) {
        uint32_t found = 0;
        for (int64_t j = 0; j < kStep; ++j) found |= static_cast<uint32_t>(matches(x[i + j]));
        if (found != 0) break;
    }
    while (i < n && !matches(x[i])) ++i;
    return i;
}

template <typename E>
int64_t FindValue(const typename E::Item* x, int64_t n, typename E::Acc value) {
    using Acc = typename E::Acc;
    using Item = typename E::Item;
    if (IsNan(value)) return FindFirst(x, n, [](const Item& v) { return IsNan(Cast<Acc>(v)); });
    return FindFirst(x, n, [value](const Item& v) { return Cast<Acc>(v) == value; });
}

// The extreme of n <= kReduceBlock adjacent elements.
template <typename E>
typename E::Acc ExtremeOf(const typename E::Item* x, int64_t n) {
    using Item = typename E::Item;
    constexpr bool kIsSingle = std::is_same_v<Item, float>;
    if constexpr (!E::kSkipsNan && (kIsSingle || std::is_same_v<Item, double>)) {
        const ReduceIsaOp& op = E::kFindsLargest ? reduce_loops().max : reduce_loops().min;
        const Nest nest = Line(n, sizeof(Item));
        Item value;
        (kIsSingle ? op.float32 : op.float64)
            .run(reinterpret_cast<const char*>(x), nest, 0, n, nullptr, &value);
        return value;
    } else {
        return Loops<E>::FoldedBlock(x, n, NoCenter{});
    }
}

// Among elements [begin, begin + n). Only the block whose extreme wins is searched, at the end;
// where NaNs are ignored, a block may have no extreme, so each one that seems to win is.
template <typename E>
Best<E> FindInRun(const char* data, const Nest& nest, int64_t begin, int64_t n) {
    using Item = typename E::Item;
    alignas(64) char buffer[kReduceBlock * sizeof(Item)];
    const int64_t end = begin + n;
    const auto fetch = [&](int64_t at) {
        return reinterpret_cast<const Item*>(
            FetchBlock(data, nest, sizeof(Item), at, std::min(kReduceBlock, end - at), buffer));
    };
    Best<E> best{E::Identity()};
    for (int64_t at = begin; at < end; at += kReduceBlock) {
        const int64_t k = std::min(kReduceBlock, end - at);
        const Item* x = fetch(at);
        const auto value = ExtremeOf<E>(x, k);
        if (!E::Replaces(value, best.value, best.index >= 0)) continue;
        const int64_t place = E::kSkipsNan ? FindValue<E>(x, k, value) : 0;
        if (place < k) best = {value, at + place};
    }
    if (!E::kSkipsNan) {
        const int64_t at = best.index;
        best.index += FindValue<E>(fetch(at), std::min(kReduceBlock, end - at), best.value);
    }
    return best;
}

void Store(char* out, int64_t index) {
    *reinterpret_cast<int64_t*>(out) = std::max<int64_t>(index, 0);
}

template <typename E>
void FindByRuns(const ReducePlan& plan) {
    const int64_t n = plan.n_reduced;
    const int64_t n_pieces = CeilDiv(n, kPiece);
    if (n_pieces == 1) {
        const int64_t group = std::max<int64_t>(1, kPiece / n);
        ParallelFor(CeilDiv(plan.n_out, group), [&](int64_t g) {
            const int64_t end = std::min(plan.n_out, (g + 1) * group);
            for (int64_t i = g * group; i < end; ++i) {
                const Cursor<2> at{plan.kept, i};
                Store(at.p[1], FindInRun<E>(at.p[0], plan.reduced, 0, n).index);
            }
        });
        return;
    }
    const std::unique_ptr<Best<E>[]> parts{new Best<E>[static_cast<size_t>(plan.n_out * n_pieces)]};
    ParallelFor(plan.n_out * n_pieces, [&](int64_t k) {
        const int64_t begin = k % n_pieces * kPiece;
        parts[k] = FindInRun<E>(Cursor<2>{plan.kept, k / n_pieces}.p[0], plan.reduced, begin,
                                std::min(kPiece, n - begin));
    });
    for (int64_t i = 0; i < plan.n_out; ++i) {
        Best<E> best{E::Identity()};
        for (int64_t p = 0; p < n_pieces; ++p) {
            const Best<E>& part = parts[i * n_pieces + p];
            best.Take(part.value, part.index);
        }
        Store(Cursor<2>{plan.kept, i}.p[1], best.index);
    }
}

// A row of up to kColumns outputs.
template <typename E>
void FindInRows(const char* data, const Nest& nest, int64_t n, int64_t stride, int64_t width,
                char* out, int64_t out_stride) {
    using Acc = typename E::Acc;
    using Index = typename E::Index;
    using Item = typename E::Item;
    constexpr int64_t kRows = 16;  // that are fetched at a time
    alignas(64) char buffer[kRows * kColumns * sizeof(Item)];
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
        const char* rows[kRows];
        for (int64_t r = 0; r < n_part; ++r) {
            if (r % 4096 == 4095) internal::CheckInterrupt();
            if (r % kRows == 0) {
                const int64_t n_rows = std::min(kRows, n_part - r);
                FetchRows(data, nest, begin + r, n_rows, rows);
                for (int64_t i = 0; i < n_rows && stride != sizeof(Item); ++i) {
                    char* to = buffer + i * kColumns * int64_t{sizeof(Item)};
                    CopyStrided(to, sizeof(Item), rows[i], stride, width, sizeof(Item));
                    rows[i] = to;
                }
            }
            const Item* row = reinterpret_cast<const Item*>(rows[r % kRows]);
            const auto at = static_cast<Index>(r);
            for (int64_t j = 0; j < width; ++j) {
                const Acc v = Cast<Acc>(row[j]);
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
    const int64_t n_columns = plan.kept.run_length();
    const int64_t stride = plan.kept.run_stride(0);
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
            const Cursor<2> at{plan.kept, k / n_tiles * n_columns + begin};
            const int64_t width = std::min(tile, n_columns - begin);
            FindInRows<E>(at.p[0], plan.reduced, plan.n_reduced, stride, width, at.p[1],
                          plan.kept.run_stride(1));
        }
    });
}

template <bool kLargest, bool kIgnoresNan>
void Find(const Array& x, const Axes& axes, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    const ReducePlan plan{x, axes, out, AxisOrder::kGiven};
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
