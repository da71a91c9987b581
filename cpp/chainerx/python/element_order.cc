#include "chainerx/python/element_order.h"

#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/rearrange.h"
#include "chainerx/python/convert.h"

namespace chainerx::python {

ElementOrder ToElementOrder(const char* op, PyObject* o) {
    if (o == nullptr) return ElementOrder::kC;
    const std::string_view order = ToString(op, "order", o);
    constexpr std::string_view kLetters = "CFAK";
    const size_t i = order.size() == 1 ? kLetters.find(order[0]) : kLetters.npos;
    if (i == kLetters.npos) {
        throw ValueError{op, ": order is '", order, "', expected 'C', 'F', 'A' or 'K'"};
    }
    return static_cast<ElementOrder>(i);
}

Array InOrder(const char* op, const Array& x, PyObject* order) {
    return Given(order) ? AsOrder(x, ToElementOrder(op, order)) : x;
}

Array CopyInOrder(const Array& x, PyObject* order) {
    if (!Given(order)) return Copy(x);
    const Array y = AsOrder(x, ToElementOrder("copy", order));
    return y.buffer() == x.buffer() ? AsType(x, x.dtype()) : y;
}

}  // namespace chainerx::python
