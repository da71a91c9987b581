// One call of a link over sequences.
#pragma once

#include "chainerx/python/bind.h"
#include "chainerx/python/engine/attributes.h"
#include "chainerx/python/engine/call.h"
#include "chainerx/python/engine/links/link_members.h"

namespace chainerx::python::engine {

// How links of one class are called, and of classes below it that change none of these methods.
struct SequencesObject {
    PyObject_HEAD vectorcallfunc vectorcall;
    EntryObject* entry;  // owned, as the names: tuples of str
    PyObject* weights;
    PyObject* biases;
    LinkMembers* members;
    Py_ssize_t n_states;
    PyObject* usual[4];  // what the class has under the names that CallSequences looks at
    ClassVersion known;  // of the class of links that was last found to have them
};

constexpr Py_ssize_t kMostSequenceStates = 2;
constexpr Py_ssize_t kSequencesParams = 3;  // n_layers, dropout, key

// Takes note of the methods that a class has now.
void KeepUsualMethods(SequencesObject* self, PyTypeObject* cls);
// Whether nobody has put another method in the place of the class's, but for init_hx.
bool HasUsualMethods(SequencesObject* self, PyObject* link, PyObject* dict);

// With a link, its first states and the sequences. New reference; None where the link has to do it
// in Python.
PyObject* CallSequences(SequencesObject* self, PyObject* const* args, Py_ssize_t n_args);

void InitSequencesCall();

}  // namespace chainerx::python::engine
