// Recurrent layers: products of the states with weights that are packed once; the elementwise part
// follows each block of columns.
#include "chainerx/kernels/rnn/recurrent.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "chainerx/kernels/kept_weights.h"
#include "chainerx/native/gemm/blas.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/rnn/recurrent_loops.h"
#include "chainerx/native/rnn/recurrent_pack.h"
#include "chainerx/native/upcast.h"

namespace chainerx::native {

CX_DISPATCH(recurrent, RecurrentUnit)

namespace {

using Step = RecurrentSteps::Step;

// Absent arrays stay absent.
template <typename T>
T* Behind(T* x, int64_t n) {
    return x == nullptr ? nullptr : x + n;
}

// Number of parts of a step; blocks are the same for any number of parts.
int64_t CountParts(int64_t n_blocks, int64_t rows, int64_t size, int64_t gates) {
    const int64_t n_threads = GetNumThreads();
    if (n_threads == 1) return 1;
    constexpr double kMin = 0x1p19;  // 10 us
    const double work = static_cast<double>(rows) * static_cast<double>(size) *
                        static_cast<double>(size) * static_cast<double>(gates);
    const auto most = static_cast<int64_t>(std::min(work / kMin, 0x1p20));
    return std::clamp<int64_t>(most, 1, std::min(n_blocks, n_threads));
}

// Calls f(block, part) for all blocks of units.
void ForBlocks(int64_t n_blocks, int64_t n_parts, const auto& f) {
    ParallelFor(n_parts, [&](int64_t i) {
        const Range blocks{n_blocks, n_parts, i};
        for (int64_t block = blocks.begin; block < blocks.end; ++block) {
            internal::CheckInterrupt();
            f(block, i);
        }
    });
}

// Panels of rows per group: their products stay in L1.
constexpr int64_t kGroup = 4;

template <typename T>
class ForwardPass {
 public:
    ForwardPass(RecurrentCell cell, const RecurrentSteps& steps, const T* u,
                const KeptWeights* kept, const RecurrentStep<T>& arrays, int64_t most_rows)
        : cell_{cell},
          gates_{CountGates(cell)},
          saved_{CountSaved(cell)},
          steps_{steps},
          arrays_{arrays},
          depth_{arrays.size, 1, loops_.columns},
          n_parts_{CountParts(depth_.n_blocks, most_rows, arrays.size, gates_)},
          states_{{loops_, depth_, most_rows}, {loops_, depth_, most_rows}},
          weights_{PackedBefore(u, kept)},
          products_{n_parts_ * ProductSize()} {}

    void Run() const {
        Step step = steps_.first();
        for (int64_t block = 0; block < depth_.n_blocks; ++block) {
            states_[0].Pack(arrays_.h, step.rows, block);
        }
        for (int64_t k = 0; k < steps_.count; ++k) {
            const Step next = steps_.next(k, step);
            ForBlocks(depth_.n_blocks, n_parts_, [&](int64_t block, int64_t part) {
                T* product = products_.data() + part * ProductSize();
                const int64_t n_panels = CeilDiv(step.rows, loops_.rows);
                for (int64_t p = 0; p < n_panels; p += kGroup) {
                    RunGroup(step, block, n_panels, {p, std::min(n_panels, p + kGroup)},
                             states_[k % 2], product);
                }
                states_[(k + 1) % 2].Pack(arrays_.h, next.rows, block);
            });
            step = next;
        }
    }

 private:
    using Weights = std::shared_ptr<const PackedColumns<T>>;

    Weights Packed(const T* u) const {
        auto packed = std::make_shared<PackedColumns<T>>(loops_, depth_, depth_.n_blocks * gates_);
        ForBlocks(depth_.n_blocks, n_parts_, [&](int64_t block, int64_t) {
            for (int64_t gate = 0; gate < gates_; ++gate) {
                packed->Pack(u + (gate * depth_.size + block * depth_.columns) * depth_.size, 1,
                             depth_.size, depth_.units(block), block * gates_ + gate);
            }
        });
        return packed;
    }
    Weights PackedBefore(const T* u, const KeptWeights* kept) const {
        if (kept == nullptr) return Packed(u);
        return std::static_pointer_cast<const PackedColumns<T>>(
            kept->Get(sizeof(T), [&] { return Packed(u); }));
    }

    int64_t ProductSize() const { return kGroup * loops_.rows * gates_ * loops_.columns; }

    void RunGroup(const Step& step, int64_t block, int64_t n_panels, const Range& panels,
                  const PackedRows<T>& states, T* product) const {
        const int64_t units = depth_.units(block);
        const int64_t row = Range{step.rows, n_panels, panels.begin}.begin;
        const int64_t width = depth_.columns;
        for (int64_t chunk = 0; step.rows == 1 && chunk < depth_.n_chunks; ++chunk) {
            const TileRun<T> run = weights_->run(chunk, block * gates_);
            recurrent_loops().Of<T>().row({states.panel(1, chunk, 0), loops_.rows, run.k, run.b,
                                           gates_, depth_.total() * width, width, product,
                                           chunk != 0});
        }
        for (int64_t gate = 0; step.rows > 1 && gate < gates_; ++gate) {
            for (int64_t chunk = 0; chunk < depth_.n_chunks; ++chunk) {
                TileRun<T> run = weights_->run(chunk, block * gates_ + gate);
                for (int64_t p = panels.begin; p < panels.end; ++p) {
                    const Range i{step.rows, n_panels, p};
                    // Prefetches what is added to this product: rows are too far apart for the
                    // hardware prefetcher.
                    run.next = arrays_.z + ((step.begin + i.begin) * gates_ + gate) * depth_.size +
                               block * width;
                    run.next_row = gates_ * depth_.size;
                    run.n_next = chunk == 0 ? i.size() : 0;
                    loops_.tile(states.panel(step.rows, chunk, p), &run, 1,
                                product + ((i.begin - row) * gates_ + gate) * width, gates_ * width,
                                i.size(), units, chunk != 0, nullptr);
                }
            }
        }
        const int64_t rows = Range{step.rows, n_panels, panels.end - 1}.end - row;
        const int64_t unit = block * width;
        const auto at = [&](T* x, int64_t row, int64_t numbers) {
            return Behind(x, row * numbers * depth_.size + unit);
        };
        const int64_t first = step.begin + row;
        recurrent_loops().Of<T>().forward[static_cast<int>(cell_)](
            {rows, units, depth_.size, arrays_.z + first * gates_ * depth_.size + unit, product,
             width, Behind(arrays_.bias, unit), at(arrays_.h, row, 1), at(arrays_.c, row, 1),
             at(arrays_.ys, first, 1), at(arrays_.cs, first, 1), at(arrays_.saved, first, saved_)});
    }

    const GemmLoops<T>& loops_{GemmLoopsOf<T>()};
    const RecurrentCell cell_;
    const int64_t gates_;
    const int64_t saved_;
    const RecurrentSteps steps_;
    const RecurrentStep<T> arrays_;
    const RecurrentDepth depth_;
    const int64_t n_parts_;
    const PackedRows<T> states_[2];
    const Weights weights_;
    const Scratch<T> products_;
};

template <typename T>
class BackwardPass {
 public:
    // `arrays` has the initial states as h and c.
    BackwardPass(RecurrentCell cell, const RecurrentSteps& steps, const T* u,
                 const RecurrentGradStep<T>& arrays, int64_t most_rows)
        : cell_{cell},
          gates_{CountGates(cell)},
          saved_{CountSaved(cell)},
          steps_{steps},
          arrays_{arrays},
          depth_{arrays.size, gates_, loops_.columns},
          n_parts_{CountParts(depth_.n_blocks, most_rows, arrays.size, gates_)},
          grads_{{loops_, depth_, most_rows}, {loops_, depth_, most_rows}},
          weights_{loops_, depth_, depth_.n_blocks} {
        ForBlocks(depth_.n_blocks, n_parts_, [&](int64_t block, int64_t) {
            weights_.Pack(u + block * depth_.columns, depth_.size, 1, depth_.units(block), block);
        });
    }

    void Run() const {
        Step done{0, 0};  // the gradient of its product is packed
        Step step = steps_.first();
        for (int64_t k = 0; k < steps_.count; ++k) {
            const Step before = steps_.next(k, step);
            ForBlocks(depth_.n_blocks, n_parts_, [&](int64_t block, int64_t) {
                AddProduct(done, block, grads_[(k + 1) % 2]);
                const int64_t n = std::min(step.rows, before.rows);
                RunRows(step, {0, n}, block, arrays_.ys + before.begin * depth_.size,
                        Behind(arrays_.cs, before.begin * depth_.size));
                RunRows(step, {n, step.rows}, block, arrays_.h + n * depth_.size,
                        Behind(arrays_.c, n * depth_.size));
                const T* from = arrays_.gp != nullptr ? arrays_.gp : arrays_.gz;
                grads_[k % 2].Pack(from + step.begin * depth_.total(), step.rows, block);
            });
            done = step;
            step = before;
        }
        ForBlocks(depth_.n_blocks, n_parts_, [&](int64_t block, int64_t) {
            AddProduct(done, block, grads_[(steps_.count + 1) % 2]);
        });
    }

 private:
    void AddProduct(const Step& step, int64_t block, const PackedRows<T>& grads) const {
        const int64_t n_panels = CeilDiv(step.rows, loops_.rows);
        for (int64_t chunk = 0; chunk < depth_.n_chunks; ++chunk) {
            const TileRun<T> run = weights_.run(chunk, block);
            for (int64_t p = 0; p < n_panels; ++p) {
                const Range i{step.rows, n_panels, p};
                loops_.tile(grads.panel(step.rows, chunk, p), &run, 1,
                            arrays_.gh + i.begin * depth_.size + block * depth_.columns,
                            depth_.size, i.size(), depth_.units(block), true, nullptr);
            }
        }
    }

    // Handles some rows of a step, given their previous states.
    void RunRows(const Step& step, const Range& rows, int64_t block, const T* h, const T* c) const {
        if (rows.size() == 0) return;
        const int64_t unit = block * depth_.columns;
        const int64_t first = step.begin + rows.begin;
        const auto at = [&](auto* x, int64_t row, int64_t numbers) {
            return Behind(x, row * numbers * depth_.size + unit);
        };
        recurrent_loops().Of<T>().backward[static_cast<int>(cell_)](
            {rows.size(), depth_.units(block), depth_.size, at(arrays_.gys, first, 1),
             at(arrays_.ys, first, 1), at(arrays_.cs, first, 1), at(arrays_.saved, first, saved_),
             h + unit, Behind(c, unit), at(arrays_.gh, rows.begin, 1),
             at(arrays_.gc, rows.begin, 1), at(arrays_.gz, first, gates_),
             at(arrays_.gp, first, gates_)});
    }

    const GemmLoops<T>& loops_{GemmLoopsOf<T>()};
    const RecurrentCell cell_;
    const int64_t gates_;
    const int64_t saved_;
    const RecurrentSteps steps_;
    const RecurrentGradStep<T> arrays_;
    const RecurrentDepth depth_;
    const int64_t n_parts_;
    const PackedRows<T> grads_[2];
    const PackedColumns<T> weights_;
};

// The states before all steps, as operand of the product with the weights.
template <typename T>
void FillStates(RecurrentSteps steps, const T* h0, const T* ys, int64_t size, T* to) {
    Step step = steps.first();
    for (int64_t k = 0; k < steps.count; ++k) {
        const Step before = steps.next(k, step);
        const int64_t n = std::min(step.rows, before.rows) * size;
        const int64_t all = step.rows * size;
        T* rows = to + step.begin * size;
        if (n != 0) std::memcpy(rows, ys + before.begin * size, n * sizeof(T));
        if (n != all) std::memcpy(rows + n, h0 + n, (all - n) * sizeof(T));
        step = before;
    }
}

RecurrentSteps StepsOf(const Array& sizes, const Array& ys, bool from_end) {
    return {reinterpret_cast<const int64_t*>(sizes.raw_data()), sizes.GetTotalSize(), ys.shape()[0],
            from_end};
}

int64_t MaxRows(const RecurrentSteps& steps) { return steps.count == 0 ? 0 : steps.sizes[0]; }

void Recurrence(const Array& z, const Array& u, const Array& b, const Array& sizes,
                const Array& kept, RecurrentCell cell, bool reverse, const Array& h, const Array& c,
                const Array& ys, const Array& cs, const Array& saved) {
    VisitUpcast(ys, [&]<typename T>(T) {
        const RecurrentSteps steps = StepsOf(sizes, ys, reverse);
        const RecurrentStep<T> arrays{0,
                                      0,
                                      ys.shape()[1],
                                      DataOrNull<const T>(z),
                                      nullptr,
                                      0,
                                      DataOrNull<const T>(b),
                                      DataOrNull<T>(h),
                                      DataOrNull<T>(c),
                                      DataOrNull<T>(ys),
                                      DataOrNull<T>(cs),
                                      DataOrNull<T>(saved)};
        ForwardPass<T>{cell,   steps,         DataOrNull<const T>(u), KeptWeights::In(kept),
                       arrays, MaxRows(steps)}
            .Run();
    });
}
CX_NATIVE_KERNEL(Recurrence)

template <typename T>
void SumOf(const T* grads, int64_t rows, int64_t step, int64_t size, T* sums) {
    const Scratch<T> ones{rows};
    std::fill_n(ones.data(), rows, T{1});
    Gemm<T>(false, false, 1, size, rows, ones.data(), rows, grads, step, sums, size, false);
}

void RecurrenceGrad(const Array& u, const Array& sizes, RecurrentCell cell, bool reverse,
                    const Array& h0, const Array& c0, const Array& ys, const Array& cs,
                    const Array& saved, const Array& gys, const Array& gh, const Array& gc,
                    const Array& gz, const Array& gu, const Array& gb) {
    VisitUpcast(ys, [&]<typename T>(T) {
        const RecurrentSteps steps = StepsOf(sizes, ys, !reverse);
        const int64_t size = ys.shape()[1];
        const int64_t wide = CountGates(cell) * size;
        const bool is_gru = cell == RecurrentCell::kGru;
        const Scratch<T> gp{is_gru ? gz.GetTotalSize() : 0};
        const RecurrentGradStep<T> arrays{0,
                                          0,
                                          size,
                                          DataOrNull<const T>(gys),
                                          DataOrNull<const T>(ys),
                                          DataOrNull<const T>(cs),
                                          DataOrNull<const T>(saved),
                                          DataOrNull<const T>(h0),
                                          DataOrNull<const T>(c0),
                                          DataOrNull<T>(gh),
                                          DataOrNull<T>(gc),
                                          DataOrNull<T>(gz),
                                          is_gru ? gp.data() : nullptr};
        BackwardPass<T>{cell, steps, DataOrNull<const T>(u), arrays, MaxRows(steps)}.Run();
        const T* grads = is_gru ? gp.data() : arrays.gz;
        if (gu.GetTotalSize() != 0) {
            const Scratch<T> states{steps.total * size};
            FillStates(steps, arrays.h, arrays.ys, size, states.data());
            Gemm<T>(true, false, wide, size, steps.total, grads, wide, states.data(), size,
                    DataOrNull<T>(gu), size, false);
        }
        if (gb.GetTotalSize() != 0)
            SumOf(grads + 2 * size, steps.total, wide, size, DataOrNull<T>(gb));
    });
}
CX_NATIVE_KERNEL(RecurrenceGrad)

}  // namespace
}  // namespace chainerx::native
