// where: selects between two operands, element by element. It moves bits only, so there is one
// kernel per item size.
#include "chainerx/kernels/elementwise/where.h"

#include <bit>
#include <string>

#include "chainerx/cuda/elementwise/elementwise.h"
#include "chainerx/cuda/elementwise/operands.h"
#include "chainerx/cuda/runtime/cuda_backend.h"
#include "chainerx/cuda/runtime/cuda_device.h"
#include "chainerx/cuda/runtime/launch.h"
#include "chainerx/cuda/runtime/source.h"

namespace chainerx::cuda {
namespace {

// By item size and layout: the mask of scalars (2: x, 4: y), or strided.
constinit const FunctionTable<5, kElementwiseLayouts> kFunctions{};

DeviceSource WriteSource(int64_t item_size, int layout) {
    const bool is_strided = layout >= static_cast<int>(ElementwiseLayout::kStrided);
    const bool is_wide = layout == static_cast<int>(ElementwiseLayout::kStridedWide);
    const char* type = BytesTypeOf(item_size);
    return MakeSource(
        StrCat("Where_", item_size, "_", layout), "elementwise/device/where.h",
        is_strided ? "StridedParams<3>" : "ElementwiseParams<3>",
        is_strided ? StrCat("WhereStrided<", type, ", ", is_wide ? "uint64_t" : "uint32_t", ">(p);")
                   : StrCat("WhereContiguous<", type, ", ", layout, ">(p);"));
}

bool IsPlain(const Array& x, const Shape& shape, int64_t alignment) {
    return x.IsContiguous() && x.shape() == shape && IsAligned(x, alignment);
}

template <typename Params>
Params MakeParams(const Array& condition, const Operand* (&values)[2], const Array& out) {
    Params params{};
    params.size = out.GetTotalSize();
    params.out = out.raw_data();
    params.in[0] = condition.raw_data();
    for (int k = 0; k < 2; ++k) {
        if (values[k]->is_array()) {
            params.in[k + 1] = values[k]->array().raw_data();
        } else {
            StoreScalar(values[k]->scalar(), out.dtype(), params.scalars[k + 1]);
        }
    }
    return params;
}

void Where(const Array& condition, const Operand& x, const Operand& y, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    auto& device = static_cast<CudaDevice&>(out.device());
    CudaStream& stream = device.current_stream();
    device.Activate();
    device.RecordUse(out, stream);
    device.RecordUse(condition, stream);
    const int64_t size = out.GetItemSize();
    const int64_t width = 16 / size;
    bool is_plain = IsPlain(out, out.shape(), 16) && IsPlain(condition, out.shape(), width);
    int mask = 0;
    const Operand* values[2] = {&x, &y};
    const Array* arrays[4] = {&out, &condition};
    for (int k = 0; k < 2; ++k) {
        if (!values[k]->is_array()) {
            mask |= 2 << k;
            continue;
        }
        const Array& value = values[k]->array();
        device.RecordUse(value, stream);
        arrays[k + 2] = &value;
        is_plain = is_plain && IsPlain(value, out.shape(), 16);
    }
    const auto function = [&](int layout) {
        return kFunctions.Get(device, std::countr_zero(static_cast<uint64_t>(size)), layout,
                              [&] { return WriteSource(size, layout); });
    };
    if (is_plain) {
        const auto params = MakeParams<ElementwiseParams<3>>(condition, values, out);
        const int64_t chunk = kElementwiseThreads * width;
        Launch(stream, function(mask), {(params.size + chunk - 1) / chunk, kElementwiseThreads},
               params);
        return;
    }
    auto params = MakeParams<StridedParams<3>>(condition, values, out);
    params.scalar_mask = static_cast<unsigned>(mask);
    SetStrides(params, out.shape(), arrays);
    const auto layout =
        params.size > INT32_MAX ? ElementwiseLayout::kStridedWide : ElementwiseLayout::kStrided;
    constexpr int64_t kChunk = kElementwiseThreads * kStridedElements;
    Launch(stream, function(static_cast<int>(layout)),
           {(params.size + kChunk - 1) / kChunk, kElementwiseThreads}, params);
}
CX_CUDA_KERNEL(Where)

}  // namespace
}  // namespace chainerx::cuda
