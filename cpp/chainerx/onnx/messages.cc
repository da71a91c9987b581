#include "chainerx/onnx/messages.h"

#include "chainerx/core/error.h"
#include "chainerx/onnx/wire.h"

namespace chainerx::onnx {
namespace {

// Graphs within attributes of graphs, and types within types: no model comes near it.
constexpr int kMaxDepth = 64;

GraphMessage ReadGraph(std::string_view bytes, int depth);

std::pair<std::string, std::string> ReadEntry(std::string_view bytes) {
    std::pair<std::string, std::string> entry;
    for (WireReader r{"StringStringEntryProto", bytes}; r.Next();) {
        if (r.field() == 1) entry.first = r.Text("key");
        if (r.field() == 2) entry.second = r.Text("value");
    }
    return entry;
}

TensorMessage ReadTensor(std::string_view bytes) {
    TensorMessage t;
    for (WireReader r{"TensorProto", bytes}; r.Next();) {
        switch (r.field()) {
            case 1:
                r.AppendInts("dims", t.dims);
                break;
            case 2:
                t.data_type = r.Int("data_type");
                break;
            case 3:
                r.Fail("segment", "tensors in segments can't be read");
            case 4:
                r.AppendFloats("float_data", t.floats);
                break;
            case 5:
                r.AppendInts("int32_data", t.ints);
                break;
            case 6:
                r.Bytes("string_data");
                t.has_strings = true;
                break;
            case 7:
                r.AppendInts("int64_data", t.ints);
                break;
            case 8:
                t.name = r.Text("name");
                break;
            case 9:
                t.raw = r.Bytes("raw_data");
                t.has_raw = true;
                break;
            case 10:
                r.AppendDoubles("double_data", t.doubles);
                break;
            case 11:
                r.AppendInts("uint64_data", t.ints);
                break;
            case 13:
                t.external.push_back(ReadEntry(r.Bytes("external_data")));
                break;
            case 14:
                t.is_external = r.Int("data_location") == 1;
                break;
            default:
                break;
        }
    }
    return t;
}

AttributeMessage ReadAttribute(std::string_view bytes, int depth) {
    AttributeMessage a;
    for (WireReader r{"AttributeProto", bytes}; r.Next();) {
        switch (r.field()) {
            case 1:
                a.name = r.Text("name");
                break;
            case 2:
                a.f = r.Float("f");
                break;
            case 3:
                a.i = r.Int("i");
                break;
            case 4:
                a.s = r.Bytes("s");
                break;
            case 5:
                a.tensor = std::make_shared<TensorMessage>(ReadTensor(r.Bytes("t")));
                break;
            case 6:
                a.graph = std::make_shared<GraphMessage>(ReadGraph(r.Bytes("g"), depth + 1));
                break;
            case 7:
                r.AppendFloats("floats", a.floats);
                break;
            case 8:
                r.AppendInts("ints", a.ints);
                break;
            case 9:
                a.strings.emplace_back(r.Bytes("strings"));
                break;
            case 10:
                a.refused = "tensors";
                break;
            case 11:
                a.refused = "graphs";
                break;
            case 20:
                a.type = r.Int("type");
                break;
            case 21:
                a.reference = r.Text("ref_attr_name");
                break;
            case 22:
            case 23:
                a.refused = "a sparse tensor";
                break;
            default:
                break;
        }
    }
    return a;
}

NodeMessage ReadNode(std::string_view bytes, int depth) {
    NodeMessage n;
    for (WireReader r{"NodeProto", bytes}; r.Next();) {
        switch (r.field()) {
            case 1:
                n.inputs.push_back(r.Text("input"));
                break;
            case 2:
                n.outputs.push_back(r.Text("output"));
                break;
            case 3:
                n.name = r.Text("name");
                break;
            case 4:
                n.op_type = r.Text("op_type");
                break;
            case 5:
                n.attributes.push_back(ReadAttribute(r.Bytes("attribute"), depth));
                break;
            case 7:
                n.domain = r.Text("domain");
                break;
            case 8:
                n.overload = r.Text("overload");
                break;
            default:
                break;
        }
    }
    if (n.domain == "ai.onnx") n.domain.clear();
    return n;
}

DimMessage ReadDim(std::string_view bytes) {
    DimMessage d;
    for (WireReader r{"TensorShapeProto.Dimension", bytes}; r.Next();) {
        if (r.field() == 1) {
            d.length = r.Int("dim_value");
            if (d.length < 0) d.length = -1;
        }
        if (r.field() == 2) d.name = r.Text("dim_param");
    }
    return d;
}

void ReadType(std::string_view bytes, ValueMessage& v) {
    for (WireReader type{"TypeProto", bytes}; type.Next();) {
        if (type.field() != 1) continue;  // sequences, maps and optional values have any content
        for (WireReader r{"TypeProto.Tensor", type.Bytes("tensor_type")}; r.Next();) {
            if (r.field() == 1) v.elem_type = r.Int("elem_type");
            if (r.field() != 2) continue;
            v.has_shape = true;
            for (WireReader s{"TensorShapeProto", r.Bytes("shape")}; s.Next();) {
                if (s.field() == 1) v.dims.push_back(ReadDim(s.Bytes("dim")));
            }
        }
    }
}

ValueMessage ReadValue(std::string_view bytes) {
    ValueMessage v;
    for (WireReader r{"ValueInfoProto", bytes}; r.Next();) {
        if (r.field() == 1) v.name = r.Text("name");
        if (r.field() == 2) ReadType(r.Bytes("type"), v);
    }
    return v;
}

GraphMessage ReadGraph(std::string_view bytes, int depth) {
    GraphMessage g;
    WireReader r{"GraphProto", bytes};
    if (depth > kMaxDepth) r.Fail("node", "graphs are nested more than 64 deep");
    while (r.Next()) {
        switch (r.field()) {
            case 1:
                g.nodes.push_back(ReadNode(r.Bytes("node"), depth));
                break;
            case 2:
                g.name = r.Text("name");
                break;
            case 5:
                g.initializers.push_back(ReadTensor(r.Bytes("initializer")));
                break;
            case 11:
                g.inputs.push_back(ReadValue(r.Bytes("input")));
                break;
            case 12:
                g.outputs.push_back(ReadValue(r.Bytes("output")));
                break;
            case 15:
                g.has_sparse = true;
                break;
            default:
                break;
        }
    }
    return g;
}

OpsetMessage ReadOpset(std::string_view bytes) {
    OpsetMessage o;
    for (WireReader r{"OperatorSetIdProto", bytes}; r.Next();) {
        if (r.field() == 1) o.domain = r.Text("domain");
        if (r.field() == 2) o.version = r.Int("version");
    }
    if (o.domain == "ai.onnx") o.domain.clear();
    return o;
}

FunctionMessage ReadFunction(std::string_view bytes) {
    FunctionMessage f;
    for (WireReader r{"FunctionProto", bytes}; r.Next();) {
        switch (r.field()) {
            case 1:
                f.name = r.Text("name");
                break;
            case 4:
                f.inputs.push_back(r.Text("input"));
                break;
            case 5:
                f.outputs.push_back(r.Text("output"));
                break;
            case 6:
                f.attributes.push_back(r.Text("attribute"));
                break;
            case 7:
                f.nodes.push_back(ReadNode(r.Bytes("node"), 1));
                break;
            case 9:
                f.opsets.push_back(ReadOpset(r.Bytes("opset_import")));
                break;
            case 10:
                f.domain = r.Text("domain");
                break;
            case 11:
                f.defaults.push_back(ReadAttribute(r.Bytes("attribute_proto"), 1));
                break;
            case 13:
                f.overload = r.Text("overload");
                break;
            default:
                break;
        }
    }
    if (f.domain == "ai.onnx") f.domain.clear();
    return f;
}

}  // namespace

std::string NodeLabel::ToString() const {
    return StrCat("node ", has_name ? "" : "of ", "\"", name, "\" (", op, ")");
}

NodeLabel NodeMessage::Label() const {
    return {name.empty() && !outputs.empty() ? outputs[0] : name,
            StrCat(domain, domain.empty() ? "" : ".", op_type), !name.empty()};
}

ModelMessage ReadModel(std::string_view bytes) {
    ModelMessage m;
    for (WireReader r{"ModelProto", bytes}; r.Next();) {
        switch (r.field()) {
            case 1:
                m.ir_version = r.Int("ir_version");
                break;
            case 2:
                m.producer = r.Text("producer_name");
                break;
            case 7:
                if (m.has_graph) r.Fail("graph", "there are two");
                m.graph = ReadGraph(r.Bytes("graph"), 0);
                m.has_graph = true;
                break;
            case 8:
                m.opsets.push_back(ReadOpset(r.Bytes("opset_import")));
                break;
            case 25:
                m.functions.push_back(ReadFunction(r.Bytes("functions")));
                break;
            default:
                break;
        }
    }
    return m;
}

}  // namespace chainerx::onnx
