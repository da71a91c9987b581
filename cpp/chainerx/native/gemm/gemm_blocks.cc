#include "chainerx/native/gemm/gemm_blocks.h"

#include <algorithm>

#include "chainerx/native/gemm/blas_library.h"
#include "chainerx/native/gemm/gemm_loops.h"
#include "chainerx/native/gemm/gemm_panels.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/native_kernel.h"

namespace chainerx::native {

CX_DISPATCH(gemm, GemmUnit)

namespace gemm {
namespace {

// Accumulates depths [begin, end). Packs the panels of an operand that is not shared.
void Run(const Product& x, int64_t begin, int64_t end, const SharedPanels* shared_a,
         const SharedPanels* shared_b) {
    const GemmLoops<float>& loops = gemm_loops().f32;
    const int64_t most_panels = x.most_panels();
    PanelsOfB panels_of_b{x, shared_b};
    const Scratch<float> own_a{shared_a == nullptr ? most_panels * loops.rows * x.most_depth() : 0};
    for (int64_t j = 0; j < x.n; j += panels_of_b.width()) {
        const int64_t block_end = std::min(x.n, j + panels_of_b.width());
        for (int64_t i_depth = begin; i_depth < end; ++i_depth) {
            const Range q{x.k, x.n_depths(), i_depth};
            panels_of_b.StartBlock(j, block_end, q);
            for (int64_t i_block = 0; i_block < x.n_row_blocks(); ++i_block) {
                if (i_block + i_depth + j != 0) internal::CheckInterrupt();
                const RowBlock block{x, i_block};
                const auto panel_of_a = [&](int64_t p) {
                    return shared_a != nullptr ? shared_a->At(q, i_block * most_panels + p)
                                               : own_a.data() + p * loops.rows * q.size();
                };
                if (shared_a == nullptr) PackBlockOfA(x, block, q, own_a.data());
                if (shared_a == nullptr && x.sums != nullptr && j == 0) {
                    for (int64_t p = 0; p < block.n_panels; ++p) {
                        SumPanel(x, block, p, i_depth, panel_of_a(p));
                    }
                }
                for (int64_t jj = j; jj < block_end; jj += loops.columns) {
                    TileRun<float> run = panels_of_b.Panel(jj, q);
                    for (int64_t p = 0; p < block.n_panels; ++p) {
                        const Range i = block.Panel(p);
                        panels_of_b.PrefetchNext(jj, q, p, block.n_panels, &run);
                        float* c = x.c + (block.rows.begin + i.begin) * x.ldc + jj;
                        const int64_t n = std::min<int64_t>(loops.columns, x.n - jj);
                        const bool rectified = x.rectified && i_depth == x.n_depths() - 1;
                        const float* bias = i_depth == 0 ? x.bias : nullptr;
                        if (bias != nullptr || rectified) {
                            gemm_loops().tile_of_layer(panel_of_a(p), &run, 1, c, x.ldc, i.size(),
                                                       n, bias == nullptr ? nullptr : bias + jj,
                                                       rectified);
                            continue;
                        }
                        loops.tile(panel_of_a(p), &run, 1, c, x.ldc, i.size(), n,
                                   x.accumulate || i_depth != 0, nullptr);
                    }
                }
            }
        }
    }
}

// With so few parts, each packs shared panels for itself: that takes less time than waiting.
constexpr int64_t kMaxUnsharedParts = 2;

// Several parts for each thread where that is cheap, since threads are never equally fast.
int64_t CountParts(int64_t m, int64_t n, int64_t k) {
    const int64_t n_threads = GetNumThreads();
    if (n_threads == 1) return 1;
    const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    constexpr double kMin = 0x1p19;  // 10 us
    const auto most = static_cast<int64_t>(std::min(work / kMin, 0x1p20));
    return std::clamp<int64_t>(most, 1, n_threads * (work < 0x1p23 ? 1 : work < 0x1p27 ? 2 : 4));
}

}  // namespace
}  // namespace gemm

bool IsForGemmBlocks(int64_t m, int64_t n, int64_t k) {
    constexpr double kWork = 0x1p20;
    if (static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) < kWork) {
        return false;
    }
    const BlasEngine engine = GetBlasEngine();
    return engine == BlasEngine::kOwn || (engine == BlasEngine::kAuto && gemm_loops().beats_blas);
}

void GemmBlocks(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, const float* a,
                int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc, bool accumulate,
                const float* bias, bool rectified, float* row_sums) {
    using namespace gemm;
    const int64_t n_sums = row_sums == nullptr ? 0 : CeilDiv(k, kPanelDepth) * m;
    const Scratch<float> sums{n_sums};
    const Product x{{a, trans_a ? 1 : lda, trans_a ? lda : 1},
                    {b, trans_b ? 1 : ldb, trans_b ? ldb : 1},
                    m,
                    n,
                    k,
                    c,
                    ldc,
                    accumulate,
                    bias,
                    rectified,
                    row_sums == nullptr ? nullptr : sums.data(),
                    m};
    const GemmLoops<float>& loops = gemm_loops().f32;
    // Cuts the longer side.
    const bool by_columns = n > m;
    const int64_t length = by_columns ? n : m;
    const int64_t unit = by_columns ? loops.columns : loops.rows;
    const int64_t n_units = CeilDiv(length, unit);
    const int64_t count = std::min(n_units, CountParts(m, n, k));
    const auto run = [&](int64_t begin, int64_t end, const SharedPanels* shared_a,
                         const SharedPanels* shared_b) {
        ParallelFor(count, [&](int64_t i) {
            const Range units{n_units, count, i};
            const int64_t at = units.begin * unit;
            const int64_t size = std::min(length, units.end * unit) - at;
            Run(by_columns ? x.Columns(at, size) : x.Rows(at, size), begin, end, shared_a,
                shared_b);
        });
    };
    const int64_t n_depths = x.n_depths();
    const auto join_sums = [&] {
        if (row_sums == nullptr) return;
        for (int64_t i = 0; i < m; ++i) {
            double sum = 0;
            for (int64_t depth = 0; depth < n_depths; ++depth) {
                sum += static_cast<double>(sums.data()[depth * m + i]);
            }
            row_sums[i] = static_cast<float>(sum);
        }
    };
    // Each part needs all of the shorter side: few parts pack it for themselves, many share it.
    if (count <= kMaxUnsharedParts) {
        run(0, n_depths, nullptr, nullptr);
        join_sums();
        return;
    }
    const int64_t most_panels = x.most_panels();
    SharedPanels shared = by_columns ? SharedPanels{x, x.n_row_blocks() * most_panels, loops.rows}
                                     : SharedPanels{x, CeilDiv(n, loops.columns), loops.columns};
    for (int64_t begin = 0; begin < n_depths; begin += shared.most_depths()) {
        const int64_t end = std::min(n_depths, begin + shared.most_depths());
        shared.Pack(begin, end, [&](int64_t depth, const Range& q, int64_t panel, float* to) {
            if (!by_columns) {
                PackB(x, panel * loops.columns, (panel + 1) * loops.columns, q, to);
                return;
            }
            const RowBlock block{x, panel / most_panels};
            const int64_t p = panel % most_panels;
            if (p >= block.n_panels) return;
            PackA(x, block, p, q, to);
            if (x.sums != nullptr) SumPanel(x, block, p, depth, to);
        });
        run(begin, end, by_columns ? &shared : nullptr, by_columns ? nullptr : &shared);
    }
    join_sums();
}

}  // namespace chainerx::native
