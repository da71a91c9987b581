// Packed operands of recurrent products, for the micro-kernel of gemm_loops.h: weights are packed
// once per sequence, states once per step.
//
// The depth (K) is units: all gates of a block of units (as many as a tile has columns), then those
// of the next block. So the task that computes a block can pack it for the next step.
#pragma once

#include <algorithm>
#include <cstdint>

#include "chainerx/native/gemm/gemm_loops.h"
#include "chainerx/native/ranges.h"
#include "chainerx/native/scratch.h"

namespace chainerx::native {

// Partitions units into blocks, and blocks into chunks no deeper than a panel.
struct RecurrentDepth {
    int64_t size;   // units
    int64_t gates;  // gates that are summed over
    int64_t columns;
    int64_t n_blocks;
    int64_t blocks_per_chunk;
    int64_t n_chunks;

    RecurrentDepth(int64_t size, int64_t gates, int64_t columns)
        : size{size}, gates{gates}, columns{columns}, n_blocks{CeilDiv(size, columns)} {
        const int64_t most = std::max<int64_t>(1, kPanelDepth / (gates * columns));
        blocks_per_chunk = CeilDiv(n_blocks, CeilDiv(n_blocks, most));
        n_chunks = CeilDiv(n_blocks, blocks_per_chunk);
    }
    int64_t total() const { return gates * size; }
    int64_t units(int64_t block) const { return std::min(columns, size - block * columns); }
    int64_t begin(int64_t chunk) const { return gates * chunk * blocks_per_chunk * columns; }
    int64_t length(int64_t chunk) const {
        return std::min(begin(chunk + 1), total()) - begin(chunk);
    }
    // Offset of a block's gate in its chunk.
    int64_t place(int64_t block, int64_t gate) const {
        return block % blocks_per_chunk * gates * columns + gate * units(block);
    }
};

// Packed rows of one step. Panels are partitioned anew for each step, since the number of rows
// changes.
template <typename T>
class PackedRows {
 public:
    PackedRows(const GemmLoops<T>& loops, const RecurrentDepth& depth, int64_t most_rows)
        : loops_{loops},
          depth_{depth},
          data_{CeilDiv(most_rows, loops.rows) * loops.rows * depth.total()} {}

    // Packs all gates of a block of the first rows of x, an array of gates.
    void Pack(const T* x, int64_t rows, int64_t block) const {
        const int64_t n_panels = CeilDiv(rows, loops_.rows);
        const int64_t units = depth_.units(block);
        for (int64_t p = 0; p < n_panels; ++p) {
            const Range i{rows, n_panels, p};
            T* to = panel(rows, block / depth_.blocks_per_chunk, p);
            for (int64_t gate = 0; gate < depth_.gates; ++gate) {
                loops_.pack_a(
                    x + i.begin * depth_.total() + gate * depth_.size + block * depth_.columns,
                    depth_.total(), 1, i.size(), units,
                    to + depth_.place(block, gate) * loops_.rows);
            }
        }
    }
    T* panel(int64_t rows, int64_t chunk, int64_t p) const {
        const int64_t n_panels = CeilDiv(rows, loops_.rows);
        return data_.data() +
               (n_panels * depth_.begin(chunk) + p * depth_.length(chunk)) * loops_.rows;
    }

 private:
    const GemmLoops<T>& loops_;
    const RecurrentDepth depth_;
    const Scratch<T> data_;
};

// Packed columns of a product.
template <typename T>
class PackedColumns {
 public:
    PackedColumns(const GemmLoops<T>& loops, const RecurrentDepth& depth, int64_t n_panels)
        : loops_{loops}, depth_{depth}, data_{n_panels * depth.total() * loops.columns} {}

    // Packs n columns: unit k of a gate of column j is at x + (gate * size + k) * row + j * column.
    void Pack(const T* x, int64_t row, int64_t column, int64_t n, int64_t i_panel) const {
        for (int64_t block = 0; block < depth_.n_blocks; ++block) {
            T* to = panel(block / depth_.blocks_per_chunk, i_panel);
            for (int64_t gate = 0; gate < depth_.gates; ++gate) {
                loops_.pack_b(x + (gate * depth_.size + block * depth_.columns) * row, row, column,
                              n, depth_.units(block),
                              to + depth_.place(block, gate) * loops_.columns);
            }
        }
    }
    TileRun<T> run(int64_t chunk, int64_t i_panel) const {
        return {0, depth_.length(chunk), panel(chunk, i_panel), loops_.columns};
    }

 private:
    T* panel(int64_t chunk, int64_t i_panel) const {
        return data_.data() + (i_panel * depth_.total() + depth_.begin(chunk)) * loops_.columns;
    }

    const GemmLoops<T>& loops_;
    const RecurrentDepth depth_;
    const Scratch<T> data_;
};

// The steps of a sequence, in the order of computation.
struct RecurrentSteps {
    struct Step {
        int64_t rows;
        int64_t begin;  // its first row
    };

    const int64_t* sizes;
    int64_t count;
    int64_t total;
    bool from_end;

    Step first() const {
        if (count == 0) return {0, 0};
        const int64_t rows = sizes[from_end ? count - 1 : 0];
        return {rows, from_end ? total - rows : 0};
    }
    // The step after step k; an empty one after the last.
    Step next(int64_t k, const Step& step) const {
        if (k + 1 >= count) return {0, 0};
        const int64_t rows = sizes[from_end ? count - 2 - k : k + 1];
        return {rows, from_end ? step.begin - rows : step.begin + step.rows};
    }
};

}  // namespace chainerx::native
