
#include "chainerx/autograd/record.h"
#include "chainerx/autograd/unique_owner.h"
#include "chainerx/kernels/elementwise/activation.h"
#include "chainerx/kernels/linalg/linalg.h"
#include "chainerx/ops/elementwise/tables/activation.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/linalg/linear_grad.h"

namespace chainerx {
namespace {

constexpr OpInfo kRectifiedLinear{"rectified_linear", &kernels::RectifiedLinear::kInfo};

// Returns gy where y is not 0, else 0; in the memory of gy if nobody else reads it.
Array Masked(const Array& y, const Array& gy) {
    if (!internal::HasUniqueOwner(gy) || !gy.IsContiguous() || gy.dtype() != y.dtype() ||
        internal::IsBackpropRequiredAny(y)) {
        return RectifyGrad(y, gy);
    }
    CallOn<kernels::RectifyGrad>(gy.device(), Operand{y}, Operand{gy}, gy);
    return gy;
}

struct SavedLinear {
    Saved x;
    Saved w;
    Saved y;

    void operator()(GradContext& context) const {
        const Array g = Masked(y(), context.output_grad());
        if (context.IsInputGradRequired(0)) context.SetInputGrad(0, Matmul(g, w()));
        internal::SetParamGrads(context, g, x);
    }
};

void Keep(Record&& rec, const Array& x, const Array& w, const Array& y) {
    if (!rec) return;
    rec.GradAll(SavedLinear{rec.IsInputGradRequired(1) ? rec.Save(x) : Saved{},
                            rec.IsInputGradRequired(0) ? rec.Save(w) : Saved{}, rec.SaveOutput(y)});
}

}  // namespace

Array internal::RectifiedLinear(const Array& x, const Array& w, const std::optional<Array>& b) {
    Array y = ComputeLinear(x, w, b, 1, true);
    if (b.has_value()) {
        Keep(Record{kRectifiedLinear, {x, w, *b}, y}, x, w, y);
    } else {
        Keep(Record{kRectifiedLinear, {x, w}, y}, x, w, y);
    }
    return y;
}

}  // namespace chainerx
