#include "chainerx/native/gemm_blocks.h"

#include <algorithm>

#include "chainerx/core/interrupt.h"
#include "chainerx/core/thread_pool.h"
#include "chainerx/native/blas_library.h"
#include "chainerx/native/cache_sets.h"
#include "chainerx/native/gemm_loops.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/parts.h"
#include "chainerx/native/scratch.h"

namespace chainerx::native {
namespace {

// A block of a of this many rows stays in the second-level cache, and one of b of this many columns
// in the third.
constexpr int64_t kBlockRows = 336;
constexpr int64_t kBlockColumns = 4096;

// A matrix that is read: element (i, j) at data[i * row + j * column].
struct Operand2d {
    const float* data;
    int64_t row;
    int64_t column;

    const float* at(int64_t i, int64_t j) const { return data + i * row + j * column; }
};

// Whether panels of b are read where they are: with few rows of a to share it among, packing takes
// longer than it saves. Not where rows of b share a set of the caches.
bool IsPackedAlready(const Operand2d& b, int64_t m) {
    constexpr int64_t kFew = 128;
    return b.column == 1 && m <= kFew && !SharesSets<float>(b.row);
}

void Run(const Operand2d& a, const Operand2d& b, int64_t m, int64_t n, int64_t k, float* c,
         int64_t ldc, bool accumulate) {
    const GemmLoops<float>& loops = gemm_loops().f32;
    const int64_t columns = loops.columns;
    const int64_t n_depths = CeilDiv(k, kPanelDepth);
    const int64_t depth = CeilDiv(k, n_depths);
    const int64_t width = std::min(kBlockColumns, CeilDiv(n, columns) * columns);
    const int64_t n_row_blocks = CeilDiv(m, kBlockRows);
    const int64_t most_panels = CeilDiv(CeilDiv(m, n_row_blocks), loops.rows);
    const bool packs_b = !IsPackedAlready(b, m);
    const Scratch<float> packed_b{packs_b ? width * depth : columns * depth};
    const Scratch<float> packed_a{most_panels * loops.rows * depth};
    for (int64_t j = 0; j < n; j += width) {
        const int64_t block_width = std::min(width, n - j);
        for (int64_t i_depth = 0; i_depth < n_depths; ++i_depth) {
            const Part q{k, n_depths, i_depth};
            const auto pack_b = [&](int64_t jj, float* to) {
                loops.pack_b(b.at(q.begin, j + jj), b.row, b.column,
                             std::min(columns, block_width - jj), q.size(), to);
            };
            for (int64_t jj = 0; packs_b && jj < block_width; jj += columns) {
                pack_b(jj, packed_b.data() + jj * q.size());
            }
            for (int64_t i_block = 0; i_block < n_row_blocks; ++i_block) {
                if (i_block + i_depth + j != 0) internal::CheckInterrupt();
                const Part rows{m, n_row_blocks, i_block};
                const int64_t n_panels = CeilDiv(rows.size(), loops.rows);
                const int64_t panel_size = loops.rows * q.size();
                for (int64_t p = 0; p < n_panels; ++p) {
                    const Part i{rows.size(), n_panels, p};
                    loops.pack_a(a.at(rows.begin + i.begin, q.begin), a.row, a.column, i.size(),
                                 q.size(), packed_a.data() + p * panel_size);
                }
                for (int64_t jj = 0; jj < block_width; jj += columns) {
                    TileRun<float> run{0, q.size(), packed_b.data() + jj * q.size(), columns};
                    if (!packs_b) {
                        if (block_width - jj >= columns) {
                            run.b = b.at(q.begin, j + jj);
                            run.b_step = b.row;
                        } else {
                            pack_b(jj, packed_b.data());
                            run.b = packed_b.data();
                        }
                    }
                    for (int64_t p = 0; p < n_panels; ++p) {
                        const Part i{rows.size(), n_panels, p};
                        loops.tile(packed_a.data() + p * panel_size, &run, 1,
                                   c + (rows.begin + i.begin) * ldc + j + jj, ldc, i.size(),
                                   std::min(columns, block_width - jj), accumulate || i_depth != 0,
                                   nullptr);
                    }
                }
            }
        }
    }
}

// For all threads; several for each of them where it costs little, since they are never equally
// fast.
int64_t CountParts(int64_t m, int64_t n, int64_t k) {
    const int64_t n_threads = GetNumThreads();
    if (n_threads == 1) return 1;
    const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    constexpr double kLeast = 0x1p19;  // 10 us
    const auto most = static_cast<int64_t>(std::min(work / kLeast, 0x1p20));
    return std::clamp<int64_t>(most, 1, n_threads * (work < 0x1p23 ? 1 : work < 0x1p27 ? 2 : 4));
}

}  // namespace

bool IsForGemmBlocks(int64_t m, int64_t n, int64_t k) {
    constexpr double kWork = 0x1p20;
    if (static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) < kWork) {
        return false;
    }
    const BlasEngine engine = GetBlasEngine();
    return engine == BlasEngine::kOwn || (engine == BlasEngine::kAuto && gemm_loops().beats_blas);
}

void GemmBlocks(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, const float* a,
                int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc, bool accumulate) {
    const Operand2d x{a, trans_a ? 1 : lda, trans_a ? lda : 1};
    const Operand2d y{b, trans_b ? 1 : ldb, trans_b ? ldb : 1};
    // The longer side is shared out; each part packs the other operand for itself.
    const bool by_columns = n > m;
    const int64_t length = by_columns ? n : m;
    const int64_t unit = by_columns ? gemm_loops().f32.columns : gemm_loops().f32.rows;
    const int64_t n_units = CeilDiv(length, unit);
    const int64_t count = std::min(n_units, CountParts(m, n, k));
    ParallelFor(count, [&](int64_t i) {
        const Part units{n_units, count, i};
        const int64_t begin = units.begin * unit;
        const int64_t size = std::min(length, units.end * unit) - begin;
        if (by_columns) {
            Run(x, {y.at(0, begin), y.row, y.column}, m, size, k, c + begin, ldc, accumulate);
        } else {
            Run({x.at(begin, 0), x.row, x.column}, y, size, n, k, c + begin * ldc, ldc, accumulate);
        }
    });
}

}  // namespace chainerx::native
