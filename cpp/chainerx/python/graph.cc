// chainerx.graph: the operations that made an array, and their inputs.
#include "chainerx/autograd/graph_view.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "chainerx/kernels/kernel.h"
#include "chainerx/python/caster.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/copies.h"
#include "chainerx/python/device.h"
#include "chainerx/python/ids.h"

namespace nb = nanobind;

namespace chainerx::python {
namespace {

const Array& ArrayArg(const char* op, nb::handle x) { return ToArray(op, "x", x.ptr()); }

CX_METHOD(_is_chained, "backprop_id: BackpropId | None = None) -> bool",
          "Whether the array is the output of a recorded operation.") {
    return PyBool_FromLong(IsChained(Self(self), ToId("_is_chained", a[0])));
}

CX_METHOD(_debug_dump_computational_graph, "backprop_id: BackpropId | None = None) -> str",
          "The operations that the array depends on, one line each.") {
    const std::string text = DumpGraph(Self(self), ToId("_debug_dump_computational_graph", a[0]));
    return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

nb::dict Attributes(const GraphNode& node) {
    nb::dict attributes;
    const std::vector<double> values = node.attributes();
    auto value = values.begin();
    if (value == values.end()) return attributes;
    for (const OperandInfo& operand : node.op().kernel->operands()) {
        if (operand.role == OperandRole::kAttr) attributes[operand.name] = *value++;
    }
    return attributes;
}

std::optional<Array> Forward(const GraphNode& node, const std::vector<Array>& x, const Array& y,
                             const std::vector<nb::object>& tangents) {
    if (node.op().forward == nullptr) {
        throw ChainerxError{node.name(), ": its forward derivative is not known"};
    }
    std::vector<Array> t;
    for (const nb::object& tangent : tangents) {
        t.push_back(tangent.is_none() ? Array{} : ArrayArg("forward_derivative", tangent));
    }
    Array ty = node.op().forward({x, y, t, node.attributes()});
    return ty.is_null() ? std::nullopt : std::optional{std::move(ty)};
}

}  // namespace

void InitGraph(PyObject* module) {
    auto core = nb::borrow<nb::module_>(module);
    nb::module_ m = core.def_submodule("graph", "The recorded graph as data.");
    nb::class_<GraphNode>(m, "Node", "A recorded operation; this object keeps it alive.")
        .def("__reduce__", &RefuseCopies)
        .def_prop_ro("name", &GraphNode::name, "The name of the operation.")
        .def_prop_ro("rank", &GraphNode::rank, "Length of the longest path to a leaf.")
        .def_prop_ro("sequence", &GraphNode::sequence,
                     "Greater than the rank of every node that it depends on.")
        .def_prop_ro("backprop_ids", &GraphNode::backprop_ids,
                     "The backprop ids whose backward has not run yet.")
        .def_prop_ro("inputs", &GraphNode::inputs,
                     "One Value per input; None where the input is in no graph, or released.")
        .def_prop_ro("outputs", &GraphNode::outputs, "One Value per output.")
        .def_prop_ro(
            "kernel",
            [](const GraphNode& n) {
                return n.op().kernel != nullptr ? std::optional{n.op().kernel->name} : std::nullopt;
            },
            "The name of the kernel that computes it; None for views and compositions.")
        .def_prop_ro("attributes", &Attributes,
                     nb::for_getter(nb::sig("def attributes(self) -> dict[str, float]")),
                     "The options of the call besides its inputs, by the kernel's names, where "
                     "they are recorded\n"
                     "and not released.")
        .def_prop_ro(
            "batching",
            [](const GraphNode& n) {
                constexpr const char* kNames[] = {"unknown", "elementwise", "axes", "shape"};
                return kNames[static_cast<int>(n.op().batching)];
            },
            "How the operation extends to a batch of inputs along axis 0.\n\n"
            "'elementwise': unchanged; 'axes': with axis arguments increased by one; 'shape': with "
            "the batch\n"
            "size prepended to its shape argument; or 'unknown'.")
        .def_prop_ro(
            "has_forward_derivative", [](const GraphNode& n) { return n.op().forward != nullptr; },
            "Whether forward_derivative() can be called.")
        .def("forward_derivative", &Forward, nb::arg("x"), nb::arg("y"), nb::arg("tangents"),
             "Forward-mode derivative: the tangent of y = op(*x).\n\n"
             "Args:\n"
             "    x (list of ndarray): The inputs.\n"
             "    y (ndarray): The output.\n"
             "    tangents (list of ndarray or None): The tangent of each input; None means "
             "zero.\n\n"
             "Returns:\n"
             "    ndarray or None: The tangent of y; None means zero.")
        .def("unchain", &GraphNode::Unchain, "Detaches the operation from its inputs.")
        .def("__eq__",
             [](const GraphNode& n, nb::handle o) {
                 return nb::isinstance<GraphNode>(o) && n == nb::cast<const GraphNode&>(o);
             })
        .def("__hash__", [](const GraphNode& n) { return reinterpret_cast<intptr_t>(n.id()) >> 6; })
        .def("__repr__", [](const GraphNode& n) {
            return nb::str("<{} #{}, rank {}>").format(n.name(), n.sequence(), n.rank());
        });
    nb::class_<GraphValue>(m, "Value",
                           "The entry of an array in the graphs; this object keeps it alive.")
        .def("__reduce__", &RefuseCopies)
        .def_prop_ro(
            "shape", [](const GraphValue& v) { return nb::steal(FromShape(v.shape())); },
            nb::for_getter(nb::sig("def shape(self) -> tuple[int, ...]")),
            "The shape of the array.")
        .def_prop_ro(
            "dtype", [](const GraphValue& v) { return nb::steal(FromDtype(v.dtype())); },
            nb::for_getter(nb::sig("def dtype(self) -> numpy.dtype")), "The dtype of the array.")
        .def_prop_ro(
            "device", [](const GraphValue& v) { return nb::steal(FromDevice(v.device())); },
            nb::for_getter(nb::sig("def device(self) -> Device")), "The device of the array.")
        .def_prop_ro("backprop_ids", &GraphValue::backprop_ids,
                     "The backprop ids of the graphs that it is part of.")
        .def_prop_ro("creator", &GraphValue::creator, "The Node that created it; None for a leaf.")
        .def_prop_ro("output_index", &GraphValue::output_index,
                     "Its index among the outputs of its creator.")
        .def_prop_ro("array", &GraphValue::array, "The ndarray; None if it is gone.")
        .def("__eq__",
             [](const GraphValue& v, nb::handle o) {
                 return nb::isinstance<GraphValue>(o) && v == nb::cast<const GraphValue&>(o);
             })
        .def("__hash__",
             [](const GraphValue& v) { return reinterpret_cast<intptr_t>(v.id()) >> 6; })
        .def("__repr__", [](const GraphValue& v) {
            return nb::str("<value of shape {} of {}>")
                .format(nb::steal(FromShape(v.shape())),
                        v.creator() ? nb::cast(v.creator()->name()) : nb::cast("a leaf"));
        });
    m.def(
        "value", [](nb::handle x) { return GetGraphValue(ArrayArg("graph.value", x)); },
        nb::arg("x"), nb::sig("def value(x: ndarray) -> Value | None"),
        "The entry of an array in the graphs.\n\n"
        "Args:\n"
        "    x (ndarray): The array.\n"
        "Returns:\n"
        "    Value: None if it is in no graph.");
    m.def(
        "creator",
        [](nb::handle x) -> std::optional<GraphNode> {
            const std::optional<GraphValue> v = GetGraphValue(ArrayArg("graph.creator", x));
            return v ? v->creator() : std::nullopt;
        },
        nb::arg("x"), nb::sig("def creator(x: ndarray) -> Node | None"),
        "The operation that created an array.\n\n"
        "Args:\n"
        "    x (ndarray): The array.\n"
        "Returns:\n"
        "    Node: None if it is a leaf or in no graph.");
    m.def(
        "unchain", [](nb::handle x) { Unchain(ArrayArg("graph.unchain", x)); }, nb::arg("x"),
        nb::sig("def unchain(x: ndarray) -> None"),
        "Makes the array a leaf, so that backward ends at it.\n\n"
        "Args:\n"
        "    x (ndarray): The array.");
    m.def(
        "dump",
        [](nb::handle x, nb::handle id) {
            const std::string text =
                DumpGraph(ArrayArg("graph.dump", x), ToId("graph.dump", id.ptr()));
            return nb::str(text.data(), text.size());
        },
        nb::arg("x"), nb::arg("backprop_id") = nb::none(),
        nb::sig("def dump(x: ndarray, backprop_id: BackpropId | None = None) -> str"),
        "The operations that an array depends on, as text.\n\n"
        "Args:\n"
        "    x (ndarray): The array.\n"
        "    backprop_id (BackpropId): The graph; None means the default one of the context.\n"
        "Returns:\n"
        "    str: One line each.");
}

}  // namespace chainerx::python
