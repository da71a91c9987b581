// argmin, argmax and their variants.
#include <algorithm>
#include <bit>
#include <cstring>

#include "chainerx/kernels/reduce/reduction.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/reduce/argminmax.h"
#include "chainerx/native/reduce/reduce.h"
#include "chainerx/native/reduce/reduce_isa.h"
#include "chainerx/native/strided/copy_block.h"

namespace chainerx::native {
namespace {

constexpr int64_t kChunk = 1 << 16;
constexpr int64_t kMaxParts = 1024;  // partial results kept at a time
constexpr int64_t kColumns = 1024;

template <typename E>
struct Best {
    typename E::Acc value;
    int64_t index;  // -1 if there is none

    static Best None() { return {E::Identity(), -1}; }

    void Take(typename E::Acc v, int64_t i) {
        if (i >= 0 && E::Replaces(v, value, index >= 0)) *this = {v, i};
    }
};

// Adjacent elements whose extreme and position are found in one pass.
constexpr int64_t kArgBlock = 4 * kReduceBlock;
// Adjacent elements whose extreme is found first; its position is searched in the last block that
// improved it.
constexpr int64_t kLongArgBlock = 8 * kArgBlock;

template <typename E>
const ArgBlockLoops& BlockLoopsOf() {
    return reduce_auto_loops()
        .arg[static_cast<int>(kDtypeOf<typename E::Item>)][E::kFindsLargest][E::kSkipsNan];
}

// Handles 0 < n <= kLongArgBlock elements.
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

// Position of the first of n bools that is `kValue`, n if none is; faster to start than the SIMD
// loops.
constexpr int64_t kShortTruth = 256;

template <bool kValue>
int64_t FindTruth(const char* x, int64_t n) {
    int64_t i = 0;
    const auto find = [&]<typename Word>(Word) {
        constexpr Word kOnes = static_cast<Word>(0x0101010101010101);
        for (; i + int64_t{sizeof(Word)} <= n; i += sizeof(Word)) {
            Word word;
            std::memcpy(&word, x + i, sizeof(Word));
            if (!kValue) word ^= kOnes;
            if (word == 0) continue;
            if constexpr (std::endian::native == std::endian::little) {
                i += std::countr_zero(word) / 8;
            } else {
                i += std::countl_zero(word) / 8;
            }
            return true;
        }
        return false;
    };
    if (find(uint64_t{}) || find(uint32_t{})) return i;
    while (i < n && (x[i] != 0) != kValue) ++i;
    return i;
}

template <typename E>
bool IsFoundAtOnce(int64_t n) {
    return n <= kArgBlock ||
           (std::is_integral_v<typename E::Item> && n <= reduce_loops().longest_extreme);
}

// Handles elements [begin, begin + n), n <= kChunk.
template <typename E>
Best<E> FindInRun(const char* data, const Nest& nest, int64_t begin, int64_t n) {
    using Item = typename E::Item;
    const bool adjacent = nest.ndim == 1 && nest.strides[0][0] == sizeof(Item);
    if (adjacent && IsFoundAtOnce<E>(n)) {
        if (const auto extreme = E::extreme_loop()) {
            const Item* x = reinterpret_cast<const Item*>(data) + begin;
            const int64_t place = extreme(x, n);
            return {Cast<typename E::Acc>(x[place]), begin + place};
        }
    }
    if constexpr (E::kIsTruth) {
        if (adjacent && n <= kShortTruth) {
            const int64_t place = FindTruth<E::kFindsLargest>(data + begin, n);
            return place < n ? Best<E>{E::kFindsLargest, begin + place}
                             : Best<E>{!E::kFindsLargest, begin};
        }
    }
    alignas(64) char buffer[kReduceBlock * sizeof(Item)];
    const int64_t end = begin + n;
    const int64_t most = adjacent ? kLongArgBlock : kReduceBlock;
    const auto fetch = [&](int64_t at) {
        return reinterpret_cast<const Item*>(
            FetchBlock(data, nest, sizeof(Item), at, std::min(most, end - at), buffer));
    };
    if constexpr (E::kIsTruth) {
        for (int64_t at = begin; at < end; at += most) {
            const int64_t k = std::min(most, end - at);
            const int64_t place = FindValue<E>(fetch(at), k, E::kFindsLargest);
            if (place < k) return {E::kFindsLargest, at + place};
        }
        return {!E::kFindsLargest, begin};
    }
    Best<E> best = Best<E>::None();
    for (int64_t at = begin; at < end; at += most) {
        const int64_t k = std::min(most, end - at);
        const Item* x = fetch(at);
        const auto value = ExtremeOf<E>(x, k);
        if (!E::Replaces(value, best.value, best.index >= 0)) continue;
        // If NaNs are ignored, a block may have no extreme, so each winning block is searched at
        // once; otherwise only the last winner, at the end.
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

// Finds the extremes of k runs of n elements, `step` bytes apart.
template <typename E>
void FindInRuns(const char* x, int64_t step, const Nest& nest, int64_t n, char* out,
                int64_t out_step, int64_t k) {
    for (int64_t j = 0; j < k; ++j) {
        Store(out + j * out_step, FindInRun<E>(x + j * step, nest, 0, n).index);
    }
}

// Folds row number `at`, of n elements, into the extremes of the rows before it.
template <typename E>
void TakeRow(const typename E::Item* row, int64_t n, typename E::Index at, typename E::Acc* best,
             typename E::Index* index) {
    if constexpr (E::kIsIsa) {
        E::isa_loops().take_row[E::kFindsLargest][E::kSkipsNan](row, n, at, best, index);
    } else {
        BlockLoopsOf<E>().take_row(row, n, at, best, index);
    }
}

// The extremes and positions of up to kColumns outputs over n rows from row `begin` on.
template <typename E>
struct RowExtremes {
    using Acc = typename E::Acc;
    using Index = typename E::Index;
    using Item = typename E::Item;

    alignas(64) Acc best[kColumns];
    alignas(64) Index index[kColumns];

    void Find(const char* data, const Nest& nest, int64_t begin, int64_t n, int64_t stride,
              int64_t width) {
        constexpr int64_t kRows = 2;  // addresses computed at a time
        alignas(64) char buffer[kRows * kColumns * sizeof(Item)];
        const char* rows[kRows];
        for (int64_t r = 0; r < n; ++r) {
            if (r % 4096 == 4095) internal::CheckInterrupt();
            if (r % kRows == 0) {
                const int64_t n_rows = std::min(kRows, n - r);
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
    }
};

// A 32-bit index is relative to its part.
constexpr int64_t kRowsOfPart = int64_t{1} << 30;

template <typename E>
void FindInManyRows(const char* data, const Nest& nest, int64_t n, int64_t stride, int64_t width,
                    char* out, int64_t out_stride) {
    RowExtremes<E> part;
    Best<E> total[kColumns];
    for (int64_t j = 0; j < width; ++j) total[j] = Best<E>::None();
    for (int64_t begin = 0; begin < n; begin += kRowsOfPart) {
        part.Find(data, nest, begin, std::min(kRowsOfPart, n - begin), stride, width);
        for (int64_t j = 0; j < width; ++j) total[j].Take(part.best[j], begin + part.index[j]);
    }
    for (int64_t j = 0; j < width; ++j) Store(out + j * out_stride, total[j].index);
}

// Reduces a row of up to kColumns outputs.
template <typename E>
void FindInRows(const char* data, const Nest& nest, int64_t n, int64_t stride, int64_t width,
                char* out, int64_t out_stride) {
    if (n > kRowsOfPart) {
        FindInManyRows<E>(data, nest, n, stride, width, out, out_stride);
        return;
    }
    RowExtremes<E> all;
    all.Find(data, nest, 0, n, stride, width);
    for (int64_t j = 0; j < width; ++j) Store(out + j * out_stride, all.index[j]);
}

// An extreme of any dtype.
struct AnyBest {
    alignas(8) char value[8];
    int64_t index{-1};
};

template <typename E>
AnyBest ToAny(const Best<E>& best) {
    static_assert(sizeof best.value <= sizeof AnyBest::value);
    AnyBest any;
    std::memcpy(any.value, &best.value, sizeof best.value);
    any.index = best.index;
    return any;
}

template <typename E>
Best<E> FromAny(const AnyBest& any) {
    Best<E> best = Best<E>::None();
    if (any.index >= 0) std::memcpy(&best.value, any.value, sizeof best.value);
    best.index = any.index;
    return best;
}

// Below this many outputs, starting a row costs more than comparing it.
constexpr int64_t kShortRow = 32;
constexpr int64_t kShortRowOfBytes = 64;

// What depends on the dtype. All else is said once, for any dtype.
struct ArgLoops {
    int64_t item_size;
    bool is_truth;
    bool finds_largest;
    AnyBest (*in_run)(const char* x, const Nest& nest, int64_t begin, int64_t n);
    void (*take)(AnyBest& best, const AnyBest& found, int64_t offset);
    void (*in_runs)(const char* x, int64_t step, const Nest& nest, int64_t n, char* out,
                    int64_t out_step, int64_t k);
    void (*in_rows)(const char* data, const Nest& nest, int64_t n, int64_t stride, int64_t width,
                    char* out, int64_t out_stride);

    int64_t short_row() const { return item_size == 1 ? kShortRowOfBytes : kShortRow; }
};

template <typename E>
constexpr ArgLoops kArgLoops{
    sizeof(typename E::Item),
    E::kIsTruth,
    E::kFindsLargest,
    [](const char* x, const Nest& nest, int64_t begin, int64_t n) {
        return ToAny(FindInRun<E>(x, nest, begin, n));
    },
    [](AnyBest& best, const AnyBest& found, int64_t offset) {
        if (found.index < 0) return;
        Best<E> b = FromAny<E>(best);
        b.Take(FromAny<E>(found).value, offset + found.index);
        best = ToAny(b);
    },
    &FindInRuns<E>,
    &FindInRows<E>,
};

void FindByRuns(const ReducePlan& plan, const ArgLoops& loops) {
    const int64_t n = plan.n_reduced;
    const int64_t n_chunks = CeilDiv(n, kChunk);
    if (n_chunks == 1) {
        const int64_t group = std::max<int64_t>(1, kChunk / n);
        const bool has_axis = plan.kept.ndim > 0;
        const int64_t step = has_axis ? plan.kept.run_stride(0) : 0;
        const int64_t out_step = has_axis ? plan.kept.run_stride(1) : 0;
        ParallelFor(CeilDiv(plan.n_out, group), [&](int64_t g) {
            const int64_t end = std::min(plan.n_out, (g + 1) * group);
            StridedCursor<2> at{plan.kept, g * group};
            for (int64_t i = g * group; i < end;) {
                const int64_t k = std::min(end - i, at.left());
                loops.in_runs(at.p[0], step, plan.reduced, n, at.p[1], out_step, k);
                at.Advance(k);
                i += k;
            }
        });
        return;
    }
    // Partial results of a few outputs at once, each of `step` elements.
    const int64_t step = CeilDiv(n_chunks, kMaxParts) * kChunk;
    const int64_t n_parts = CeilDiv(n, step);
    const int64_t group = kMaxParts / n_parts;
    AnyBest parts[kMaxParts];
    for (int64_t first = 0; first < plan.n_out; first += group) {
        const int64_t n_group = std::min(group, plan.n_out - first);
        ParallelFor(n_group * n_parts, [&](int64_t k) {
            const char* x = StridedCursor<2>{plan.kept, first + k / n_parts}.p[0];
            const int64_t begin = k % n_parts * step;
            const int64_t end = std::min(begin + step, n);
            AnyBest best;
            for (int64_t i = begin; i < end; i += kChunk) {
                if (i != begin) internal::CheckInterrupt();
                loops.take(best, loops.in_run(x, plan.reduced, i, std::min(kChunk, end - i)), 0);
            }
            parts[k] = best;
        });
        for (int64_t i = 0; i < n_group; ++i) {
            AnyBest best;
            for (int64_t p = 0; p < n_parts; ++p) loops.take(best, parts[i * n_parts + p], 0);
            Store(StridedCursor<2>{plan.kept, first + i}.p[1], best.index);
        }
    }
}

// Transposes rows [begin, begin + n) of `width` outputs into columns, each a contiguous run.
void FindInColumns(const ArgLoops& loops, const char* data, int64_t step, int64_t stride,
                   int64_t begin, int64_t n, int64_t width, AnyBest* best) {
    const int64_t size = loops.item_size;
    constexpr int64_t kTileBytes = 1 << 14;  // bytes: half of L1
    constexpr int64_t kGap = 64;             // avoids cache-set conflicts between columns
    alignas(64) char transposed[kTileBytes + kShortRowOfBytes * kGap];
    // bools are most often decided by the first elements.
    constexpr int64_t kFirst = 32;
    int64_t most = loops.is_truth ? kFirst : std::min(kTileBytes / size / width, kArgBlock);
    std::fill_n(best, width, AnyBest{});
    for (int64_t at = begin; at < begin + n;) {
        const int64_t k = std::min(most, begin + n - at);
        const int64_t column = k * size + kGap;
        CopyBlock(transposed, data + at * step, {width, k, column, size, stride, step}, size);
        const Nest run = Line(k, size);
        bool is_final = loops.is_truth;
        for (int64_t j = 0; j < width; ++j) {
            loops.take(best[j], loops.in_run(transposed + j * column, run, 0, k), at);
            is_final = is_final && (best[j].value[0] != 0) == loops.finds_largest;
        }
        if (is_final) return;
        if ((at + k) / kChunk != at / kChunk) internal::CheckInterrupt();
        at += k;
        most = std::min(kTileBytes / size / width, kArgBlock);
    }
}

void FindByColumns(const ReducePlan& plan, const ArgLoops& loops) {
    const int64_t n = plan.n_reduced;
    const int64_t width = plan.kept.run_length();
    const int64_t stride = plan.kept.run_stride(0);
    const int64_t step = plan.reduced.run_stride(0);
    StridedIterator<2> outer = plan.kept;
    --outer.ndim;
    const int64_t n_outer = plan.n_out / width;
    const auto find = [&](int64_t i, int64_t begin, int64_t end, AnyBest* best) {
        FindInColumns(loops, StridedCursor<2>{outer, i}.p[0], step, stride, begin, end - begin,
                      width, best);
    };
    const auto store = [&](int64_t i, const AnyBest* best) {
        char* out = StridedCursor<2>{outer, i}.p[1];
        for (int64_t j = 0; j < width; ++j) {
            Store(out + j * plan.kept.run_stride(1), best[j].index);
        }
    };
    const int64_t n_parts = std::min(CeilDiv(n * width, kChunk), kMaxParts / loops.short_row());
    if (n_parts == 1 || n_outer > kMaxParts) {
        const int64_t group = std::max<int64_t>(1, kChunk / (n * width));
        ParallelFor(CeilDiv(n_outer, group), [&](int64_t g) {
            for (int64_t i = g * group; i < std::min(n_outer, (g + 1) * group); ++i) {
                AnyBest best[kShortRowOfBytes];
                find(i, 0, n, best);
                store(i, best);
            }
        });
        return;
    }
    for (int64_t i = 0; i < n_outer; ++i) {
        AnyBest parts[kMaxParts];
        ParallelFor(n_parts, [&](int64_t k) {
            const Range part{n, n_parts, k};
            find(i, part.begin, part.end, parts + k * loops.short_row());
        });
        for (int64_t k = 1; k < n_parts; ++k) {
            for (int64_t j = 0; j < width; ++j) {
                loops.take(parts[j], parts[k * loops.short_row() + j], 0);
            }
        }
        store(i, parts);
    }
}

// Returns whether rows are short and another axis, `longest`, is long: then rows along that axis
// are gathered instead.
bool HasShortRows(const ReducePlan& plan, int* longest) {
    const StridedIterator<2>& kept = plan.kept;
    *longest = static_cast<int>(std::max_element(kept.dims, kept.dims + kept.ndim) - kept.dims);
    return kept.run_length() < kShortRow && kept.dims[*longest] > 2 * kept.run_length() &&
           plan.n_reduced < kShortRow;
}

void FindByRows(ReducePlan plan, const ArgLoops& loops) {
    int longest;
    const bool turns = HasShortRows(plan, &longest);
    if (turns) plan.kept.MoveInwards(longest, plan.kept.ndim - 1);
    const int64_t n_columns = plan.kept.run_length();
    const int64_t stride = plan.kept.run_stride(0);
    // Narrow enough for several threads, wide enough for whole cache lines.
    const int64_t tile = std::clamp<int64_t>(CeilDiv(n_columns, GetNumThreads()), 64, kColumns);
    const int64_t n_tiles = CeilDiv(n_columns, tile);
    const int64_t n_outer = plan.n_out / n_columns;
    const int64_t n_blocks = n_outer * n_tiles;
    const int64_t work = plan.n_reduced * std::min(tile, n_columns);
    const int64_t group = std::max<int64_t>(1, kChunk / work);
    ParallelFor(CeilDiv(n_blocks, group), [&](int64_t g) {
        const int64_t end = std::min(n_blocks, (g + 1) * group);
        for (int64_t k = g * group; k < end; ++k) {
            // Elements between those of a run are handled right after it, while they are in cache.
            const int64_t row = turns ? k % n_outer : k / n_tiles;
            const int64_t begin = (turns ? k / n_outer : k % n_tiles) * tile;
            const StridedCursor<2> at{plan.kept, row * n_columns + begin};
            const int64_t width = std::min(tile, n_columns - begin);
            loops.in_rows(at.p[0], plan.reduced, plan.n_reduced, stride, width, at.p[1],
                          plan.kept.run_stride(1));
        }
    });
}

template <bool kLargest, bool kIgnoresNan>
void Find(const Array& x, const Axes& axes, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    const ReducePlan plan{x, axes, out, AxisOrder::kGiven};
    const ArgLoops* loops = nullptr;
    VisitDtype(x.dtype(), [&]<typename T>() {
        if constexpr (!kIsComplexType<T>) {
            using E = std::conditional_t<
                std::is_same_v<T, bool>, ExtremeTruth<kLargest>,
                Extreme<ExtremeItem<T>, kLargest, kIgnoresNan && kIsFloatingType<T>>>;
            loops = &kArgLoops<E>;
        } else {
            ThrowUnexpectedDtype(x.dtype(), "a real dtype");
        }
    });
    // Many short rows are faster transposed into columns, except for 16-bit floats, which would be
    // upcast twice.
    const int64_t fewest = loops->is_truth ? 16 : 32;
    const bool is_half = x.dtype() == Dtype::kFloat16 || x.dtype() == Dtype::kBFloat16;
    const bool is_narrow = !is_half && plan.by_rows && plan.reduced.ndim == 1 &&
                           plan.kept.run_length() < loops->short_row() && plan.n_reduced >= fewest;
    // Adjacent bools are compared a word at a time.
    const bool is_word = loops->is_truth && plan.n_reduced > 8 && plan.reduced.ndim == 1 &&
                         plan.reduced.run_stride(0) == 1;
    if (is_word || (!is_narrow && !plan.by_rows)) {
        FindByRuns(plan, *loops);
    } else if (is_narrow) {
        FindByColumns(plan, *loops);
    } else {
        FindByRows(plan, *loops);
    }
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
