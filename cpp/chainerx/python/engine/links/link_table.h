// What types of calls of links have in common: a row of a table, which is found by its name, and
// the functions of chainer that it calls.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "chainerx/core/error.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/engine/call.h"
#include "chainerx/python/engine/links/link_cells.h"

namespace chainerx::python::engine {

// A function that the row does not call is null. Owned.
class CellFunctions {
 public:
    // From the arguments behind the first ones, of which there are `n_before`.
    template <typename Row>
    void Take(const char* type, const Row& row, PyObject* args, Py_ssize_t n_before) {
        const Py_ssize_t n = PyTuple_GET_SIZE(args) - n_before;
        if (n != static_cast<Py_ssize_t>(row.functions.size())) {
            throw TypeError{
                type,     ": there are ", n,  " functions, expected ", row.functions.size(),
                " for '", row.name,       "'"};
        }
        for (Py_ssize_t i = 0; i < n; ++i) {
            PyObject* function = PyTuple_GET_ITEM(args, n_before + i);
            entries_[static_cast<size_t>(row.functions[static_cast<size_t>(i)])] =
                ToEntry(function);
            Py_INCREF(function);
        }
    }
    void Clear() {
        for (EntryObject* entry : entries_) Py_XDECREF(reinterpret_cast<PyObject*>(entry));
    }
    EntryObject* const* data() const { return entries_; }

 private:
    EntryObject* entries_[static_cast<size_t>(CellFunction::kCount)];
};

template <typename Row>
const Row& FindRow(const char* type, const char* what, std::span<const Row> rows, PyObject* name) {
    const char* wanted = PyUnicode_AsUTF8(name);
    if (wanted == nullptr) throw PythonError{};
    const auto row = std::ranges::find(rows, std::string_view{wanted},
                                       [](const Row& r) { return std::string_view{r.name}; });
    if (row == rows.end()) throw ValueError{type, ": there is no ", what, " '", wanted, "'"};
    return *row;
}

}  // namespace chainerx::python::engine
