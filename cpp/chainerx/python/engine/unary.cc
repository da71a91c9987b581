// Calls a function of one array whose composition is in C++: half the cost of a call through Python
// objects, used for functions that are called as methods.
#include <algorithm>

#include "chainerx/core/thread_state.h"
#include "chainerx/python/engine/call.h"
#include "chainerx/python/engine/cupy.h"
#include "chainerx/python/engine/function.h"
#include "chainerx/python/engine/scopes.h"

namespace chainerx::python::engine {

using internal::Region;
using internal::Slot;

namespace {

PyObject* WrapOutput(VariableObject* x, Array y, bool requires_grad) {
    if (y.body() == x->body) return Py_NewRef(reinterpret_cast<PyObject*>(x));
    return NewVariable(std::move(y), x->storage->kind, requires_grad);
}

Ref PackParams(std::span<PyObject* const> params) {
    Ref tuple = Check(PyTuple_New(static_cast<Py_ssize_t>(params.size())));
    Py_ssize_t i = 0;
    for (PyObject* p : params) PyTuple_SET_ITEM(tuple.get(), i++, Py_NewRef(p));
    return tuple;
}

}  // namespace

PyObject* CallUnary(EntryObject* entry, VariableObject* x, std::span<PyObject* const> params,
                    const Composition& compose, PyObject* packed) {
    const State& state = GetState();
    if (IsObserved(state) || entry->is_patched) [[unlikely]] {
        PyObject* args[1 + Composition::kMaxParams] = {reinterpret_cast<PyObject*>(x)};
        std::ranges::copy(params, args + 1);
        return CallEntry(entry, args, 1 + params.size());
    }
    const char* name = entry->op->name;
    const Array record = RecordOf(name, x);
    const CupyScope cupy{x->storage->kind == Kind::kCupy};
    const bool requires_grad = x->requires_grad;
    if (!Records(state)) {
        const NoRecordScope no_record;
        return WrapOutput(x, compose.f(record, compose.data), requires_grad);
    }
    RegionHold hold;
    hold.Reset(new Region);
    Region* region = hold.get();
    region->type = entry;
    region->kind = static_cast<uint8_t>(x->storage->kind);
    Slot* slot = SlotOf(name, x);
    region->AddInput(slot);
    region->rank = std::max(region->rank, internal::VisibleRank(slot));
    Array y;
    {
        const internal::RegionScope scope{region};
        y = compose.f(record, compose.data);
    }
    if (!params.empty()) {
        region->payload = packed != nullptr ? Py_NewRef(packed) : PackParams(params).Release();
        region->release = &ReleasePayload;
    }
    if (y.body() != x->body && y.body()->slot == nullptr) {
        internal::AddOpaqueNode(*entry->op, region, std::span{&y, 1});
    }
    Ref wrapped{WrapOutput(x, std::move(y), requires_grad)};
    VariableObject* v = AsVariable(wrapped.get());
    if (Slot* place = CurrentSlot(v); place != nullptr) {
        if (place->variable == nullptr) place->variable = v;
        if (place->node != nullptr && place->node->region == region) region->AddOutput(place);
    }
    return wrapped.Release();
}

}  // namespace chainerx::python::engine
