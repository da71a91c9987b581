// LSTM cells whose gates are given.
#include <algorithm>
#include <vector>

#include "chainerx/cuda/rnn/params.h"
#include "chainerx/cuda/runtime/kernel.h"
#include "chainerx/kernels/rnn/recurrent.h"

namespace chainerx::cuda {
namespace {

using ArrayRefs = std::span<const ConstArrayRef>;

void* AddressOf(const Array& x) { return x.GetTotalSize() == 0 ? nullptr : x.raw_data(); }

// What the lists are in: keeps their memory until the launch.
class CellLists {
 public:
    CellLists(CellParams& params, CudaDevice& device, int64_t n)
        : params_{params}, device_{device} {
        params.n_cells = n;
        params.most_cells = std::max<int64_t>(n, kFewCells);
        if (n > kFewCells) many_.resize(static_cast<size_t>(4 * n));
    }
    void Set(int k, ArrayRefs arrays) {
        for (size_t i = 0; i < arrays.size(); ++i) {
            const Array& x = arrays[i];
            device_.RecordUse(x, device_.current_stream());
            const size_t at = static_cast<size_t>(k * params_.most_cells) + i;
            if (many_.empty()) {
                params_.few[at] = AddressOf(x);
            } else {
                many_[at] = reinterpret_cast<int64_t>(AddressOf(x));
            }
        }
    }
    void Upload() {
        if (many_.empty()) return;
        uploaded_ = Array::FromHost(many_, {static_cast<int64_t>(many_.size())}, device_);
        params_.many = uploaded_.raw_data();
    }

 private:
    CellParams& params_;
    CudaDevice& device_;
    std::vector<int64_t> many_;
    Array uploaded_;
};

using GateLayout = Choice<3>;
constexpr GateLayout kAdjacent{0, "GateLayout::kAdjacent"};
constexpr GateLayout kGroups{1, "GateLayout::kGroups"};
constexpr GateLayout kRows{2, "GateLayout::kRows"};

using CellKernel = Kernel<CellParams, Dtype, GateLayout>;
constexpr const char* kHeader = "rnn/device/cells.h";
CX_DEVICE_KERNEL(kCells, kHeader, CellParams, "GatedCells<T, U>", Dtype, GateLayout)
CX_DEVICE_KERNEL(kCellsGrad, kHeader, CellParams, "GatedCellsGrad<T, U>", Dtype, GateLayout)

// Sets the geometry of cells of `c`, of which the first m rows have gates, and launches.
void LaunchCells(const CellKernel& kernel, CellParams& params, CudaDevice& device, GateOrder order,
                 const Array& c, int64_t m) {
    const Shape& shape = c.shape();
    const int64_t inner = c.GetTotalSize() / (shape[0] * shape[1]);
    const bool by_gate = order == GateOrder::kByGate;
    const bool is_adjacent = !by_gate && inner == 1;
    params.n_gates = by_gate ? 3 + params.n_cells : 4;
    params.across = is_adjacent ? 4 : 1;
    params.size = by_gate ? shape[1] * inner : is_adjacent ? shape[1] : inner;
    params.n = m * shape[1] * inner;
    params.total = c.GetTotalSize();
    kernel.Launch(device, ThreadsFor(params.total), params, c.dtype(),
                  by_gate       ? kRows
                  : is_adjacent ? kAdjacent
                                : kGroups);
}

void GatedCell(GateOrder order, ArrayRefs cs, ArrayRefs xs, const Array& c, const Array& h) {
    CudaDevice& device = Prepare(c, h);
    CellParams params{};
    params.c = c.raw_data();
    params.h = h.raw_data();
    CellLists lists{params, device, static_cast<int64_t>(cs.size())};
    lists.Set(0, cs);
    lists.Set(1, xs);
    lists.Upload();
    LaunchCells(kCells, params, device, order, c, h.shape()[0]);
}
CX_CUDA_KERNEL(GatedCell)

void GatedCellGrad(GateOrder order, ArrayRefs cs, ArrayRefs xs, const Array& c, const Array& gc,
                   const Array& gh, ArrayRefs gcs, ArrayRefs gxs) {
    CudaDevice& device = Prepare(c, gc, gh);
    CellParams params{};
    params.c = c.raw_data();
    params.gc = AddressOf(gc);
    params.gh = AddressOf(gh);
    CellLists lists{params, device, static_cast<int64_t>(cs.size())};
    lists.Set(0, cs);
    lists.Set(1, xs);
    lists.Set(2, gcs);
    lists.Set(3, gxs);
    lists.Upload();
    LaunchCells(kCellsGrad, params, device, order, c, xs[0].get().shape()[0]);
}
CX_CUDA_KERNEL(GatedCellGrad)

}  // namespace
}  // namespace chainerx::cuda
