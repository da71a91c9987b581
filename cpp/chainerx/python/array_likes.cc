#include "chainerx/python/array_likes.h"

#include "chainerx/core/context.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/batching.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/device.h"

namespace chainerx::python {
namespace {

bool IsList(PyObject* o) { return PyList_Check(o) || PyTuple_Check(o); }
bool IsNumpyScalar(PyObject* o) { return PyObject_TypeCheck(o, Numpy().generic); }

// Calls f on "int" and "Sequence[int | str]" of "int | Sequence[int | str]".
void ForEachAlternative(std::string_view annotation, auto f) {
    int depth = 0;
    size_t begin = 0;
    for (size_t i = 0; i <= annotation.size(); ++i) {
        const char c = i < annotation.size() ? annotation[i] : '|';
        depth += c == '[' ? 1 : c == ']' ? -1 : 0;
        if (c != '|' || depth != 0) continue;
        std::string_view one = annotation.substr(begin, i - begin);
        while (one.starts_with(' ')) one.remove_prefix(1);
        while (one.ends_with(' ')) one.remove_suffix(1);
        f(one);
        begin = i + 1;
    }
}

// The annotation of a list's items; empty if it is not that of a list.
std::string_view ItemsOf(std::string_view alternative) {
    for (std::string_view head : {"Sequence[", "list["}) {
        if (!alternative.starts_with(head)) continue;
        alternative.remove_prefix(head.size());
        alternative.remove_suffix(1);
        return alternative;
    }
    return {};
}

Dtype DefaultDtype(const Scalar& number) {
    const Dtype dtype = number.dtype();
    if (!IsInt(dtype) || number.Fits(dtype)) return dtype;
    return number.Fits(Dtype::kInt64) ? Dtype::kInt64 : Dtype::kUInt64;
}

// The binding of chainerx.array().
Entry ArrayEntry() {
    for (const Binding* b = Binding::first; b != nullptr; b = b->next) {
        if (b->kind == Binding::kRoutine && std::string_view{b->spec.name()} == "array") {
            return b->entry;
        }
    }
    Py_UNREACHABLE();
}

}  // namespace

void ArraysBeside::See(PyObject* o) {
    const auto see = [&](Dtype dtype, Device& device) {
        dtype_ = dtype_ ? PromoteTypes(*dtype_, dtype) : dtype;
        if (device_ == nullptr) device_ = &device;
    };
    if (IsNdArray(o)) {
        see(Self(o).dtype(), Self(o).device());
    } else if (IsBatch(o)) {
        const Ref dtype = Check(PyObject_GetAttrString(o, "dtype"));
        const Ref device = Check(PyObject_GetAttrString(o, "device"));
        see(ToDtype(dtype.get()), ToDevice(device.get()));
    }
}

Device& ArraysBeside::device() const { return device_ != nullptr ? *device_ : GetDefaultDevice(); }

Ref ArraysBeside::TryArray(PyObject* o) const {
    const Ref on = Check(FromDevice(device()));
    PyObject* const args[] = {o, Py_None, Py_True, on.get()};
    Ref array{ArrayEntry()(nullptr, args, 4, nullptr)};
    if (!array) {
        if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw PythonError{};
        PyErr_Clear();
    }
    return array;
}

// In the default dtype, digits would be lost before the computation in a wider one.
Dtype ArraysBeside::DtypeAlone(const Scalar& number) const {
    if (Given(given_dtype_)) {
        const Dtype dtype = ToDtype(given_dtype_);
        if (GetCategory(number.kind()) <= GetCategory(dtype)) return dtype;
    }
    return DefaultDtype(number);
}

Ref ArraysBeside::OfNumber(const char* op, const Scalar& number) const {
    const bool is_integer = number.kind() == DtypeKind::kInt || number.kind() == DtypeKind::kUInt;
    const Dtype dtype = !dtype_                           ? DtypeAlone(number)
                        : (is_integer && IsBool(*dtype_)) ? DefaultDtype(number)
                                                          : ResultType(*dtype_, number);
    internal::CheckIntFits(op, dtype, number);
    return Ref{Wrap(Full(Shape{}, number, dtype, device()))};
}

Array ArraysBeside::Make(const char* op, const char* name, PyObject* o) const {
    Ref array;
    if (IsList(o)) {
        array = TryArray(o);
    } else if (const std::optional<Scalar> number = TryScalar(o)) {
        array = !has_any() && IsNumpyScalar(o) ? TryArray(o) : OfNumber(op, *number);
    }
    if (!array || !IsNdArray(array.get())) ThrowNotArray(op, name, o);
    return Self(array.get());
}

ArrayLikes::ArrayLikes(const ArgSpec& spec, PyObject* self, PyObject* const* args, Py_ssize_t n,
                       PyObject* keywords)
    : spec_{spec} {
    const Py_ssize_t n_keywords = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
    args_.assign(args, args + n + n_keywords);
    if (self != nullptr) beside_.See(self);
    for (size_t i = 0; i < args_.size(); ++i) {
        const auto k = static_cast<Py_ssize_t>(i);
        const int place = k < n ? spec.PlaceOf(k) : spec.PlaceOf(PyTuple_GET_ITEM(keywords, k - n));
        const std::string_view name = place == spec.count() ? "" : spec.ParameterAt(place);
        if (name.empty() || name == "out") {
            beside_.See(args_[i]);
        } else if (name == "dtype") {
            beside_.SeeDtype(args_[i]);
        } else {
            AddPlaces(spec.AnnotationOf(place), i);
        }
    }
}

ArrayLikes::Kind ArrayLikes::KindOf(std::string_view annotation) {
    bool is_array = false;
    Kind kind = Kind::kArray;
    ForEachAlternative(annotation, [&](std::string_view one) {
        if (one == "ndarray") {
            is_array = true;
        } else if (one == "Scalar") {
            kind = Kind::kOperand;
        } else if (one == "int" || one == "float" || one == "complex") {
            kind = Kind::kParameter;
        } else if (one != "None") {
            kind = Kind::kOther;  // the routine parses it itself
        }
    });
    return is_array ? kind : Kind::kOther;
}

void ArrayLikes::AddPlaces(std::string_view annotation, size_t argument) {
    PyObject* const o = args_[argument];
    std::string_view items;
    ForEachAlternative(annotation, [&](std::string_view one) {
        if (const std::string_view inner = ItemsOf(one); !inner.empty()) items = inner;
    });
    if (const Kind kind = KindOf(items); kind != Kind::kOther && IsList(o)) {
        held_.push_back(Check(PySequence_List(o)));
        PyObject* const list = args_[argument] = held_.back().get();
        for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
            places_.push_back({kind, list, i});
            beside_.See(PyList_GET_ITEM(list, i));
        }
        return;
    }
    beside_.See(o);
    places_.push_back({KindOf(annotation), nullptr, static_cast<Py_ssize_t>(argument)});
}

PyObject* ArrayLikes::At(const Place& place) const {
    return place.list == nullptr ? args_[static_cast<size_t>(place.index)]
                                 : PyList_GET_ITEM(place.list, place.index);
}

void ArrayLikes::Put(const Place& place, Ref array) {
    is_changed_ = true;
    if (place.list != nullptr) {
        PyList_SetItem(place.list, place.index, array.Release());
        return;
    }
    args_[static_cast<size_t>(place.index)] = array.get();
    held_.push_back(std::move(array));
}

void ArrayLikes::ConvertLists() {
    for (const Place& place : places_) {
        if (place.kind == Kind::kOther || !IsList(At(place))) continue;
        Ref array = beside_.TryArray(At(place));
        if (!array) continue;
        beside_.See(array.get());
        Put(place, std::move(array));
    }
}

void ArrayLikes::ConvertNumbers() {
    const auto for_each = [&](Kind kind, auto f) {
        for (const Place& place : places_) {
            if (place.kind != kind) continue;
            if (const std::optional<Scalar> number = TryScalar(At(place))) f(place, *number);
        }
    };
    if (!beside_.has_any()) {
        // Noted after all have been made, since they do not affect each other's dtype.
        std::vector<Ref> arrays;
        const auto convert = [&](const Place& place, const Scalar&) {
            if (!IsNumpyScalar(At(place))) return;
            Ref array = beside_.TryArray(At(place));
            if (!array) return;
            arrays.emplace_back(Py_NewRef(array.get()));
            Put(place, std::move(array));
        };
        for_each(Kind::kArray, convert);
        for_each(Kind::kOperand, convert);
        for (const Ref& array : arrays) beside_.See(array.get());
    }
    bool has_array = beside_.has_any();
    const auto convert = [&](const Place& place, const Scalar& number) {
        Put(place, beside_.OfNumber(spec_.name(), number));
        has_array = true;
    };
    for_each(Kind::kArray, convert);
    if (!has_array) for_each(Kind::kOperand, convert);
}

bool ArrayLikes::Convert() {
    ConvertLists();
    ConvertNumbers();
    return is_changed_;
}

}  // namespace chainerx::python
