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

// c = a b, or c += a b: all of a product, or what one part computes of it.
struct Product {
    Operand2d a;
    Operand2d b;
    int64_t m;
    int64_t n;
    int64_t k;
    float* c;
    int64_t ldc;
    bool accumulate;

    int64_t n_depths() const { return CeilDiv(k, kPanelDepth); }
    int64_t most_depth() const { return CeilDiv(k, n_depths()); }
    int64_t n_row_blocks() const { return CeilDiv(m, kBlockRows); }
    int64_t most_panels() const {  // of a block of rows
        return CeilDiv(CeilDiv(m, n_row_blocks()), gemm_loops().f32.rows);
    }
    Product Columns(int64_t begin, int64_t size) const {
        return {a, {b.at(0, begin), b.row, b.column}, m, size, k, c + begin, ldc, accumulate};
    }
    Product Rows(int64_t begin, int64_t size) const {
        return {{a.at(begin, 0), a.row, a.column}, b, size, n, k, c + begin * ldc, ldc, accumulate};
    }
};

// The panels of a block of rows: as many rows each, nearly.
struct RowBlock {
    Part rows;
    int64_t n_panels;

    RowBlock(const Product& x, int64_t i)
        : rows{x.m, x.n_row_blocks(), i}, n_panels{CeilDiv(rows.size(), gemm_loops().f32.rows)} {}
    Part Panel(int64_t p) const { return {rows.size(), n_panels, p}; }
};

void PackA(const Product& x, const RowBlock& block, int64_t p, const Part& q, float* to) {
    const Part i = block.Panel(p);
    gemm_loops().f32.pack_a(x.a.at(block.rows.begin + i.begin, q.begin), x.a.row, x.a.column,
                            i.size(), q.size(), to);
}

void PackB(const Product& x, int64_t j, const Part& q, float* to) {
    const GemmLoops<float>& loops = gemm_loops().f32;
    loops.pack_b(x.b.at(q.begin, j), x.b.row, x.b.column, std::min<int64_t>(loops.columns, x.n - j),
                 q.size(), to);
}

// All panels of an operand for some of the depths: what the threads share of it.
class SharedPanels {
 public:
    SharedPanels(const Product& x, int64_t n_panels, int64_t unit)
        : k_{x.k},
          n_depths_{x.n_depths()},
          n_panels_{n_panels},
          unit_{unit},
          most_depths_{
              std::clamp<int64_t>(kMost / (n_panels * unit * x.most_depth()), 1, n_depths_)},
          panels_{most_depths_ * n_panels * unit * x.most_depth()} {}

    int64_t most_depths() const { return most_depths_; }
    float* At(const Part& q, int64_t panel) const {
        return panels_.data() + ((q.begin - begin_) * n_panels_ + panel * q.size()) * unit_;
    }
    // Calls pack(q, panel, to) for all panels of depths [begin, end), on all threads.
    template <typename F>
    void Pack(int64_t begin, int64_t end, const F& pack) {
        begin_ = Part{k_, n_depths_, begin}.begin;
        const int64_t n = (end - begin) * n_panels_;
        const int64_t count = std::min<int64_t>(n, 2 * GetNumThreads());
        ParallelFor(count, [&](int64_t i) {
            const Part part{n, count, i};
            for (int64_t p = part.begin; p < part.end; ++p) {
                const Part q{k_, n_depths_, begin + p / n_panels_};
                pack(q, p % n_panels_, At(q, p % n_panels_));
            }
        });
    }

 private:
    static constexpr int64_t kMost = 1 << 21;  // elements, unless one depth has more

    int64_t k_;
    int64_t n_depths_;
    int64_t n_panels_;
    int64_t unit_;
    int64_t most_depths_;
    Scratch<float> panels_;
    int64_t begin_ = 0;
};

// Adds up depths [begin, end). Where panels of an operand are not shared, it packs its own.
void Run(const Product& x, int64_t begin, int64_t end, const SharedPanels* shared_a,
         const SharedPanels* shared_b) {
    const GemmLoops<float>& loops = gemm_loops().f32;
    const int64_t columns = loops.columns;
    const int64_t depth = x.most_depth();
    const int64_t width = std::min(kBlockColumns, CeilDiv(x.n, columns) * columns);
    const int64_t most_panels = x.most_panels();
    const bool in_place = shared_b == nullptr && IsPackedAlready(x.b, x.m);
    const bool packs_b = shared_b == nullptr && !in_place;
    const Scratch<float> own_b{packs_b ? width * depth : in_place ? columns * depth : 0};
    const Scratch<float> own_a{shared_a == nullptr ? most_panels * loops.rows * depth : 0};
    for (int64_t j = 0; j < x.n; j += width) {
        const int64_t block_end = std::min(x.n, j + width);
        for (int64_t i_depth = begin; i_depth < end; ++i_depth) {
            const Part q{x.k, x.n_depths(), i_depth};
            const auto panel_of_b = [&](int64_t jj) {
                return shared_b != nullptr ? shared_b->At(q, jj / columns)
                                           : own_b.data() + (in_place ? 0 : (jj - j) * q.size());
            };
            for (int64_t jj = j; packs_b && jj < block_end; jj += columns) {
                PackB(x, jj, q, panel_of_b(jj));
            }
            for (int64_t i_block = 0; i_block < x.n_row_blocks(); ++i_block) {
                if (i_block + i_depth + j != 0) internal::CheckInterrupt();
                const RowBlock block{x, i_block};
                const auto panel_of_a = [&](int64_t p) {
                    return shared_a != nullptr ? shared_a->At(q, i_block * most_panels + p)
                                               : own_a.data() + p * loops.rows * q.size();
                };
                for (int64_t p = 0; shared_a == nullptr && p < block.n_panels; ++p) {
                    PackA(x, block, p, q, panel_of_a(p));
                }
                for (int64_t jj = j; jj < block_end; jj += columns) {
                    TileRun<float> run{0, q.size(), panel_of_b(jj), columns};
                    if (in_place && x.n - jj >= columns) {
                        run.b = x.b.at(q.begin, jj);
                        run.b_step = x.b.row;
                    } else if (in_place) {
                        PackB(x, jj, q, panel_of_b(jj));
                    }
                    for (int64_t p = 0; p < block.n_panels; ++p) {
                        const Part i = block.Panel(p);
                        loops.tile(panel_of_a(p), &run, 1,
                                   x.c + (block.rows.begin + i.begin) * x.ldc + jj, x.ldc, i.size(),
                                   std::min(columns, x.n - jj), x.accumulate || i_depth != 0,
                                   nullptr);
                    }
                }
            }
        }
    }
}

// So many parts pack what they share for themselves: that takes less than to wait for each other.
constexpr int64_t kFewParts = 2;

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
    const Product x{{a, trans_a ? 1 : lda, trans_a ? lda : 1},
                    {b, trans_b ? 1 : ldb, trans_b ? ldb : 1},
                    m,
                    n,
                    k,
                    c,
                    ldc,
                    accumulate};
    const GemmLoops<float>& loops = gemm_loops().f32;
    // The longer side is cut.
    const bool by_columns = n > m;
    const int64_t length = by_columns ? n : m;
    const int64_t unit = by_columns ? loops.columns : loops.rows;
    const int64_t n_units = CeilDiv(length, unit);
    const int64_t count = std::min(n_units, CountParts(m, n, k));
    const auto run = [&](int64_t begin, int64_t end, const SharedPanels* shared_a,
                         const SharedPanels* shared_b) {
        ParallelFor(count, [&](int64_t i) {
            const Part units{n_units, count, i};
            const int64_t at = units.begin * unit;
            const int64_t size = std::min(length, units.end * unit) - at;
            Run(by_columns ? x.Columns(at, size) : x.Rows(at, size), begin, end, shared_a,
                shared_b);
        });
    };
    const int64_t n_depths = x.n_depths();
    // Each part needs all of the shorter side: few of them pack it for themselves, many share it.
    if (count <= kFewParts) {
        run(0, n_depths, nullptr, nullptr);
        return;
    }
    const int64_t most_panels = x.most_panels();
    SharedPanels shared = by_columns ? SharedPanels{x, x.n_row_blocks() * most_panels, loops.rows}
                                     : SharedPanels{x, CeilDiv(n, loops.columns), loops.columns};
    for (int64_t begin = 0; begin < n_depths; begin += shared.most_depths()) {
        const int64_t end = std::min(n_depths, begin + shared.most_depths());
        shared.Pack(begin, end, [&](const Part& q, int64_t panel, float* to) {
            if (!by_columns) {
                PackB(x, panel * loops.columns, q, to);
                return;
            }
            const RowBlock block{x, panel / most_panels};
            if (panel % most_panels < block.n_panels) PackA(x, block, panel % most_panels, q, to);
        });
        run(begin, end, by_columns ? &shared : nullptr, by_columns ? nullptr : &shared);
    }
}

}  // namespace chainerx::native
