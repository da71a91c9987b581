// Attributes of instances, of dataclasses above all, as the items of containers.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "chainerx/python/bind.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {

// Names and values: of slots in the order of fields, then of the instance's dict. nullopt for
// objects that are no instances of dataclasses, or that have more to them: a base that is not
// written in Python, or attributes besides fields while no two of them are equal.
using Attributes = std::vector<std::pair<Ref, Ref>>;
std::optional<Attributes> AttributesOf(PyObject* o);

// Those of the dict of an instance.
Attributes AttributesOfDict(PyObject* o);

// An instance with these attributes, made without its constructor. New reference.
PyObject* NewWithAttributes(PyTypeObject* type, const Attributes& attributes);
void SetAttributes(PyObject* o, const Attributes& attributes);

}  // namespace chainerx::python
