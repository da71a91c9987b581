#include "chainerx/python/engine/links/unrecorded.h"

#include "chainerx/core/device.h"
#include "chainerx/core/dtype.h"
#include "chainerx/python/ndarray/ndarray.h"

namespace chainerx::python::engine {
namespace {

// Those that NumPy knows as well.
bool IsUsualFloat(Dtype dtype) {
    return dtype == Dtype::kFloat32 || dtype == Dtype::kFloat64 || dtype == Dtype::kFloat16;
}

}  // namespace

bool UnrecordedCall::Take(PyObject* o, Array& x) {
    Kind kind;
    bool requires_grad = false;
    if (IsVariable(o)) {
        VariableObject* v = AsVariable(o);
        kind = v->cell->kind;
        if (v->cell->object == Py_None) return false;
        x = RecordOf(op_, v);
        requires_grad = v->requires_grad;
    } else {
        kind = KindOf(o);
        if (kind == Kind::kChainerx) {
            x = Self(o);
            if (x.body()->slot != nullptr && x.IsBackpropRequired(AnyGraph{})) return false;
        } else if (kind == Kind::kNumpy) {
            x = SideOf(op_, o);
        }
    }
    return kind != Kind::kNone && kind != Kind::kCupy && Add(kind, x, requires_grad);
}

bool UnrecordedCall::Add(Kind kind, const Array& x, bool requires_grad) {
    requires_grad_ |= requires_grad;
    if (kind_ != Kind::kNone) {
        return kind == kind_ && x.dtype() == dtype_ && &x.device() == device_;
    }
    if (!IsUsualFloat(x.dtype())) return false;
    kind_ = kind;
    dtype_ = x.dtype();
    device_ = &x.device();
    return true;
}

}  // namespace chainerx::python::engine
