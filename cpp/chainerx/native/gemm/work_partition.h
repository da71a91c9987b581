// M x N partition of a product's panels among threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "chainerx/core/thread_pool.h"
#include "chainerx/native/ranges.h"

namespace chainerx::native {

// One dimension (M or N), to be cut into at least `least` parts: the packed panels of each fit in a
// cache.
struct WorkDim {
    int64_t n_panels;
    int64_t min_parts;
};

// The number of parts of each dimension. A pair of parts is a task, which packs its own columns.
struct WorkPartition {
    int64_t columns;
    int64_t rows;
};

// Multiply-adds of a task that is worth a thread: 10 us.
inline constexpr double kMinWork = 0x1p19;

// Chooses the partition that keeps the threads busy with the least packing, for `n_products`
// products of one shape, of `work` in total. Tasks are worth a thread, unless the dimensions need
// more of them. It must not change bits, since it depends on the number of threads.
inline WorkPartition PartitionWork(int64_t n_products, const WorkDim& columns, const WorkDim& rows,
                                   double work) {
    const int64_t n_threads = GetNumThreads();
    WorkPartition best{columns.min_parts, rows.min_parts};
    if (n_threads == 1) return best;
    constexpr int64_t kItems = 4;  // tasks for each thread: beyond that it is busy anyway
    const double worth = std::min(work / kMinWork, static_cast<double>(kItems * n_threads));
    const int64_t most = static_cast<int64_t>(worth) / n_products;
    // cost of packing a panel of columns, relative to half of its product with one of rows
    constexpr int64_t kPack = 1;
    int64_t best_time = std::numeric_limits<int64_t>::max();
    const int64_t i_end = std::max(rows.min_parts, std::min(most, rows.n_panels));
    for (int64_t i = rows.min_parts; i <= i_end; ++i) {
        // A small number of tasks may divide badly among the threads, whatever `most` is.
        const int64_t j_end =
            std::min(std::max(2 * columns.min_parts - 1, most / i), columns.n_panels);
        for (int64_t j = columns.min_parts; j <= j_end; ++j) {
            // Assumes that all tasks are as large as the largest.
            const int64_t rounds = CeilDiv(n_products * i * j, n_threads);
            const int64_t time =
                rounds * CeilDiv(columns.n_panels, j) * (kPack + 2 * CeilDiv(rows.n_panels, i));
            if (time < best_time) {
                best = {j, i};
                best_time = time;
            }
        }
    }
    return best;
}

// Calls run(i) for all tasks, of `work` in total.
void RunItems(int64_t n_items, double work, const auto& run) {
    if (GetNumThreads() == 1 || work < 2 * kMinWork) {
        for (int64_t i = 0; i < n_items; ++i) run(i);
    } else {
        ParallelFor(n_items, run);
    }
}

}  // namespace chainerx::native
