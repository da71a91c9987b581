#include <utility>

#include "chainerx/autograd/record.h"
#include "chainerx/kernels/linalg.h"
#include "chainerx/ops/activation.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/reduction.h"
#include "chainerx/ops/view.h"

namespace chainerx {
namespace {

constexpr OpInfo kRectifiedLinear{"rectified_linear", &kernels::RectifiedLinear::kInfo};

struct SavedLinear {
    Saved x;
    Saved w;
    Saved y;

    void operator()(GradContext& context) const {
        const Array g = RectifyGrad(y(), context.output_grad());
        if (context.IsInputGradRequired(0)) context.SetInputGrad(0, Matmul(g, w()));
        if (context.IsInputGradRequired(1)) context.SetInputGrad(1, Matmul(Transpose(g), x()));
        if (context.input_count() > 2 && context.IsInputGradRequired(2)) {
            context.SetInputGrad(2, Sum(g, Axes{0}));
        }
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
