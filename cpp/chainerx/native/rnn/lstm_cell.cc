// LSTM cells whose gates are given.
#include <algorithm>
#include <cstring>
#include <vector>

#include "chainerx/kernels/rnn/recurrent.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/rnn/recurrent_loops.h"
#include "chainerx/native/upcast.h"

namespace chainerx::native {
namespace {

using ArrayRefs = std::span<const ConstArrayRef>;

// Addresses of the arrays of a list; usually on the stack.
template <typename T>
class Addresses {
 public:
    explicit Addresses(ArrayRefs arrays) {
        if (arrays.size() > kInlineSize) more_.resize(arrays.size());
        for (size_t i = 0; i < arrays.size(); ++i) data()[i] = DataOrNull<T>(arrays[i].get());
    }
    T** data() { return more_.empty() ? few_ : more_.data(); }

 private:
    static constexpr size_t kInlineSize = 8;
    T* few_[kInlineSize];
    std::vector<T*> more_;
};

// The layout of cells and gates for the loops.
struct Form {
    GateLayout layout;
    int64_t rows;
    int64_t size;
    int64_t n_gates;

    // For cells of `shape`, of which the first m rows have gates.
    Form(GateOrder order, const Shape& shape, int64_t m, int64_t n_cells) : n_gates{4} {
        int64_t inner = 1;
        for (int8_t i = 2; i < shape.ndim(); ++i) inner *= shape[i];
        if (order == GateOrder::kByGate) {
            layout = GateLayout::kRows;
            rows = m;
            size = shape[1] * inner;
            n_gates = 3 + n_cells;
        } else if (inner == 1) {
            layout = GateLayout::kAdjacent;
            rows = 1;
            size = m * shape[1];
        } else {
            layout = GateLayout::kGroups;
            rows = m * shape[1];
            size = inner;
        }
    }
};

// Splits `all` into chunks and calls f(part), a copy that is restricted to the chunk.
template <typename T, typename F>
void ForParts(const Form& form, LstmCells<T> all, const F& f) {
    constexpr int64_t kBlock = 4096;
    const int64_t columns = std::min(form.size, kBlock);
    const int64_t rows = std::max<int64_t>(1, kBlock / columns);
    const int64_t n_columns = CeilDiv(form.size, columns);
    const int64_t across = form.layout == GateLayout::kAdjacent ? 4 : 1;
    ParallelFor(CeilDiv(form.rows, rows) * n_columns, [&](int64_t block) {
        if (block != 0) internal::CheckInterrupt();
        const int64_t row = block / n_columns * rows;
        const int64_t column = block % n_columns * columns;
        LstmCells<T> part = all;
        part.rows = std::min(rows, form.rows - row);
        part.n = std::min(columns, form.size - column);
        part.size = form.size;
        part.cell_at = row * form.size + column;
        part.gate_at = row * form.size * form.n_gates + column * across;
        f(part);
    });
}

// Upcasts lists of 16-bit floats.
struct UpcastList {
    std::vector<Array> arrays;
    std::vector<ConstArrayRef> refs;

    explicit UpcastList(ArrayRefs from, bool is_output = false) {
        for (const ConstArrayRef& x : from) {
            arrays.push_back(
                is_output ? EmptyUnchecked(x.get().shape(), Dtype::kFloat32, x.get().device())
                          : ToFloat32(x));
        }
        refs.assign(arrays.begin(), arrays.end());
    }
    void CopyTo(ArrayRefs to) const {
        for (size_t i = 0; i < to.size(); ++i) {
            CallOn<kernels::AsType>(to[i].get().device(), arrays[i], to[i].get());
        }
    }
};

// Copies the rows without gates.
template <typename T>
void CopyRest(const T* from, int64_t begin, int64_t end, T* to) {
    if (to != nullptr && begin != end)
        std::memcpy(to + begin, from + begin, (end - begin) * sizeof(T));
}

void GatedCell(GateOrder order, ArrayRefs cs, ArrayRefs xs, const Array& c, const Array& h) {
    if (IsHalf(c)) {
        const UpcastList wide_cs{cs};
        const UpcastList wide_xs{xs};
        RunUpcast(c, [&](const Array& wide_c) {
            RunUpcast(h, [&](const Array& wide_h) {
                GatedCell(order, wide_cs.refs, wide_xs.refs, wide_c, wide_h);
            });
        });
        return;
    }
    VisitUpcast(c, [&]<typename T>(T) {
        Addresses<const T> cells{cs};
        Addresses<const T> gates{xs};
        const auto n_cells = static_cast<int64_t>(cs.size());
        const Form form{order, c.shape(), h.shape()[0], n_cells};
        const LstmCells<T> all{.n_cells = n_cells,
                               .cs = cells.data(),
                               .xs = gates.data(),
                               .c = Data<T>(c),
                               .h = Data<T>(h)};
        const auto loop = recurrent_loops().Of<T>().cells[static_cast<int>(form.layout)];
        ForParts(form, all, [loop](const LstmCells<T>& part) { loop(part); });
        CopyRest(cells.data()[0], h.GetTotalSize(), c.GetTotalSize(), Data<T>(c));
    });
}
CX_NATIVE_KERNEL(GatedCell)

void GatedCellGrad(GateOrder order, ArrayRefs cs, ArrayRefs xs, const Array& c, const Array& gc,
                   const Array& gh, ArrayRefs gcs, ArrayRefs gxs) {
    if (IsHalf(c)) {
        const UpcastList wide_cs{cs};
        const UpcastList wide_xs{xs};
        const UpcastList wide_gcs{gcs, true};
        const UpcastList wide_gxs{gxs, true};
        GatedCellGrad(order, wide_cs.refs, wide_xs.refs, ToFloat32(c), ToFloat32(gc), ToFloat32(gh),
                      wide_gcs.refs, wide_gxs.refs);
        wide_gcs.CopyTo(gcs);
        wide_gxs.CopyTo(gxs);
        return;
    }
    VisitUpcast(c, [&]<typename T>(T) {
        Addresses<const T> cells{cs};
        Addresses<const T> gates{xs};
        Addresses<T> cell_grads{gcs};
        Addresses<T> gate_grads{gxs};
        const auto n_cells = static_cast<int64_t>(cs.size());
        const Form form{order, c.shape(), xs[0].get().shape()[0], n_cells};
        const LstmCells<T> all{.n_cells = n_cells,
                               .cs = cells.data(),
                               .xs = gates.data(),
                               .c = Data<T>(c),
                               .gc = DataOrNull<const T>(gc),
                               .gh = DataOrNull<const T>(gh),
                               .gcs = cell_grads.data(),
                               .gxs = gate_grads.data()};
        const auto loop = recurrent_loops().Of<T>().cells_grad[static_cast<int>(form.layout)];
        ForParts(form, all, [loop](const LstmCells<T>& part) { loop(part); });
        const int64_t size = form.rows * form.size;
        if (all.gc != nullptr) {
            CopyRest(all.gc, size, c.GetTotalSize(), cell_grads.data()[0]);
        } else if (cell_grads.data()[0] != nullptr) {
            std::fill(cell_grads.data()[0] + size, cell_grads.data()[0] + c.GetTotalSize(), T{0});
        }
    });
}
CX_NATIVE_KERNEL(GatedCellGrad)

}  // namespace
}  // namespace chainerx::native
