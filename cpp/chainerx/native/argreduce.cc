// Positions of extremes.
#include <algorithm>

#include "chainerx/core/interrupt.h"
#include "chainerx/core/thread_pool.h"
#include "chainerx/kernels/reduction.h"
#include "chainerx/native/arg_extreme.h"
#include "chainerx/native/copy_block.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/parts.h"
#include "chainerx/native/reduce.h"
#include "chainerx/native/reduce_isa.h"

namespace chainerx::native {
namespace {

constexpr int64_t kPiece = 1 << 16;
constexpr int64_t kMaxParts = 1024;  // whose extremes are kept at a time
constexpr int64_t kColumns = 1024;

template <typename E>
struct Best {
    typename E::Acc value;
    int64_t index{-1};

    void Take(typename E::Acc v, int64_t i) {
        if (i >= 0 && E::Replaces(v, value, index >= 0)) *this = {v, i};
    }
};

// Adjacent elements of which the extreme is found first, and its place among the last ones in the
// end.
constexpr int64_t kArgBlock = 4 * kReduceBlock;

template <typename E>
const ArgBlockLoops& BlockLoopsOf() {
    return reduce_whole_loops()
        .arg[static_cast<int>(kDtypeOf<typename E::Item>)][E::kFindsLargest][E::kSkipsNan];
}

// Of 0 < n <= kArgBlock elements.
template <typename E>
typename E::Acc ExtremeOf(const typename E::Item* x, int64_t n) {
    typename E::Acc value;
    if constexpr (E::kIsIsa) {
        const ReduceIsaLoops& loops = reduce_loops();
        const FoldTable& table = E::kSkipsNan ? (E::kFindsLargest ? loops.nan_max : loops.nan_min)
                                              : (E::kFindsLargest ? loops.max : loops.min);
        table.of[static_cast<int>(kDtypeOf<typename E::Item>)].runs(
            reinterpret_cast<const char*>(x), 0, 1, n, nullptr, &value);
    } else {
        BlockLoopsOf<E>().fold(x, n, &value);
    }
    return value;
}

template <typename E>
int64_t FindValue(const typename E::Item* x, int64_t n, typename E::Acc value) {
    if constexpr (E::kIsIsa) {
        return E::isa_loops().find(x, n, value);
    } else {
        return BlockLoopsOf<E>().find(x, n, &value);
    }
}

// Among elements [begin, begin + n), n <= kPiece.
template <typename E>
Best<E> FindInRun(const char* data, const Nest& nest, int64_t begin, int64_t n) {
    using Item = typename E::Item;
    const bool adjacent = nest.ndim == 1 && nest.strides[0][0] == sizeof(Item);
    if constexpr (E::kIsIsa && !E::kSkipsNan) {
        if (adjacent && n <= kArgBlock) {
            const Item* x = reinterpret_cast<const Item*>(data) + begin;
            const int64_t place = E::isa_loops().extreme[E::kFindsLargest](x, n);
            return {x[place], begin + place};
        }
    }
    alignas(64) char buffer[kReduceBlock * sizeof(Item)];
    const int64_t end = begin + n;
    const int64_t most = adjacent ? kArgBlock : kReduceBlock;
    const auto fetch = [&](int64_t at) {
        return reinterpret_cast<const Item*>(
            FetchBlock(data, nest, sizeof(Item), at, std::min(most, end - at), buffer));
    };
    Best<E> best{E::Identity()};
    for (int64_t at = begin; at < end; at += most) {
        const int64_t k = std::min(most, end - at);
        const Item* x = fetch(at);
        const auto value = ExtremeOf<E>(x, k);
        if (!E::Replaces(value, best.value, best.index >= 0)) continue;
        // Where NaNs are ignored, a block may have no extreme, so each one that seems to win is
        // searched; else the last winner, at the end.
        const int64_t place = E::kSkipsNan ? FindValue<E>(x, k, value) : 0;
        if (place < k) best = {value, at + place};
    }
    if constexpr (!E::kSkipsNan) {
        const int64_t at = best.index;
        best.index += FindValue<E>(fetch(at), std::min(most, end - at), best.value);
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
            Cursor<2> at{plan.kept, g * group};
            for (int64_t i = g * group; i < end; ++i) {
                Store(at.p[1], FindInRun<E>(at.p[0], plan.reduced, 0, n).index);
                at.Advance(1);
            }
        });
        return;
    }
    // The pieces of some outputs at once: parts of `step` elements.
    const int64_t step = CeilDiv(n_pieces, kMaxParts) * kPiece;
    const int64_t n_parts = CeilDiv(n, step);
    const int64_t group = kMaxParts / n_parts;
    Best<E> parts[kMaxParts];
    for (int64_t first = 0; first < plan.n_out; first += group) {
        const int64_t n_group = std::min(group, plan.n_out - first);
        ParallelFor(n_group * n_parts, [&](int64_t k) {
            const char* x = Cursor<2>{plan.kept, first + k / n_parts}.p[0];
            const int64_t begin = k % n_parts * step;
            const int64_t end = std::min(begin + step, n);
            Best<E> best{E::Identity()};
            for (int64_t i = begin; i < end; i += kPiece) {
                if (i != begin) internal::CheckInterrupt();
                const auto found = FindInRun<E>(x, plan.reduced, i, std::min(kPiece, end - i));
                best.Take(found.value, found.index);
            }
            parts[k] = best;
        });
        for (int64_t i = 0; i < n_group; ++i) {
            Best<E> best{E::Identity()};
            for (int64_t p = 0; p < n_parts; ++p) {
                const Best<E>& part = parts[i * n_parts + p];
                best.Take(part.value, part.index);
            }
            Store(Cursor<2>{plan.kept, first + i}.p[1], best.index);
        }
    }
}

// Row number `at`, of n elements, joins the extremes of the rows before it.
template <typename E>
void TakeRow(const typename E::Item* row, int64_t n, typename E::Index at, typename E::Acc* best,
             typename E::Index* index) {
    if constexpr (E::kIsIsa) {
        E::isa_loops().take_row[E::kFindsLargest][E::kSkipsNan](row, n, at, best, index);
    } else {
        BlockLoopsOf<E>().take_row(row, n, at, best, index);
    }
}

// A row of up to kColumns outputs.
template <typename E>
void FindInRows(const char* data, const Nest& nest, int64_t n, int64_t stride, int64_t width,
                char* out, int64_t out_stride) {
    using Acc = typename E::Acc;
    using Index = typename E::Index;
    using Item = typename E::Item;
    constexpr int64_t kRows = 2;  // that are fetched at a time
    alignas(64) char buffer[kRows * kColumns * sizeof(Item)];
    alignas(64) Acc best[kColumns];
    alignas(64) Index index[kColumns];
    Best<E> total[kColumns];
    // An index of 32 bits counts within a part only.
    constexpr int64_t kPart = int64_t{1} << 30;
    for (int64_t j = 0; j < width; ++j) total[j].value = E::Identity();
    for (int64_t begin = 0; begin < n; begin += kPart) {
        const int64_t n_part = std::min(kPart, n - begin);
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
            if (r == 0) {
                for (int64_t j = 0; j < width; ++j) best[j] = Cast<Acc>(row[j]);
                std::fill_n(index, width, Index{0});
            } else {
                TakeRow<E>(row, width, static_cast<Index>(r), best, index);
            }
        }
        for (int64_t j = 0; j < width; ++j) total[j].Take(best[j], begin + index[j]);
    }
    for (int64_t j = 0; j < width; ++j) Store(out + j * out_stride, total[j].index);
}

template <typename E>
void FindByRows(const ReducePlan& plan) {
    const int64_t n_columns = plan.kept.run_length();
    const int64_t stride = plan.kept.run_stride(0);
    // Narrow enough for several threads, wide enough for whole cache lines.
    const int64_t tile = std::clamp<int64_t>(CeilDiv(n_columns, GetNumThreads()), 64, kColumns);
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
            using E = Extreme<ExtremeItem<T>, kLargest, kIgnoresNan && kIsFloatingType<T>>;
            // Many rows of few elements are quicker gathered column by column, but for halves,
            // which are converted twice then.
            constexpr int64_t kNarrow = kIsHalf<T> ? 0 : sizeof(T) == 1 ? 64 : 16;
            const auto is_narrow = [&] {
                return plan.kept.run_length() < kNarrow && plan.n_reduced >= kReduceBlock;
            };
            if (plan.by_rows && !is_narrow()) {
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
