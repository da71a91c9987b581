#include "chainerx/cuda/fuse/source.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/cuda/runtime/kernel.h"

namespace chainerx::cuda {
namespace {

// Calls, and arrays, times elements of a thread.
constexpr size_t kMaxUnrolled = 64;

using Kind = FusedValue::Kind;

class Writer {
 public:
    Writer(const FusedProgram& program, const FusedFrame& frame, int width)
        : program_{program},
          frame_{frame},
          width_{width},
          index_{frame.size > INT32_MAX ? "uint64_t" : "uint32_t"} {}

    DeviceSource Write(const std::string& name) {
        const std::string body = frame_.has_rows    ? WriteRows()
                                 : IsPacked(frame_) ? WritePacks()
                                                    : WriteStrided();
        std::string text = "#include \"chainerx/cuda/fuse/device/fused.h\"\n";
        for (const std::string& include : includes_) text += include;
        for (const std::string& row : rows_) text += "\n" + row;
        text += StrCat("\nnamespace chainerx::cuda {\n\nusing ChainParams = FusedParams<",
                       program_.dtypes.size(), ", ", frame_.dims.size(), ", ",
                       std::max<size_t>(program_.scalars.size(), 1), ">;\n\nCX_KERNEL_OF(", name,
                       ", ChainParams, 256, 1) {\n    CX_BEGIN();\n", body, "}\n\n}\n");
        return {name, std::move(text)};
    }

 private:
    enum class Place : int8_t { kPack, kStrided, kRow };

    static std::string Name(size_t value) { return StrCat("v", value); }
    const char* TypeOf(size_t value) const { return DeviceTypeOf(program_.values[value].dtype); }
    const char* TypeOfArray(size_t array) const { return DeviceTypeOf(program_.dtypes[array]); }

    // Adds the values that one needs to those that are marked.
    void Mark(size_t value, std::vector<bool>& marked) const {
        if (marked[value]) return;
        marked[value] = true;
        for (const size_t x : program_.values[value].operands) Mark(x, marked);
    }

    void Include(std::string_view lines) {
        while (!lines.empty()) {
            const size_t n = lines.find('\n') + 1;
            const std::string line{lines.substr(0, n)};
            if (std::ranges::find(includes_, line) == includes_.end()) includes_.push_back(line);
            lines.remove_prefix(n);
        }
    }

    std::string Compute(const FusedValue& value) {
        std::string call;
        if (IsWhere(*value.element)) {
            call = "Select(";
        } else {
            const ElementText text =
                WriteElement(*value.element, value.in, StrCat(value.element->name, "Row"));
            Include(text.includes);
            if (std::ranges::find(rows_, text.row) == rows_.end()) rows_.push_back(text.row);
            call = StrCat("ComputeElement<", text.row_name, ", ", text.numbers, ", ", text.in, ", ",
                          text.out, ">(");
        }
        for (const size_t x : value.operands) {
            if (call.back() != '(') call += ", ";
            call += Name(x);
        }
        return call + ")";
    }

    // Where an element of an array is.
    std::string Address(size_t array, Place place, const char* constant) const {
        const FusedLayoutOf layout = frame_.layouts[array];
        const std::string type = StrCat(constant, TypeOfArray(array));
        const std::string row = place == Place::kRow ? StrCat("o", array) : "0";
        if (layout == FusedLayoutOf::kUniform) {
            return StrCat("*AtByte<", type, ">(p.data[", array, "], ", row, ")");
        }
        if (layout == FusedLayoutOf::kAdjacent) {
            return StrCat("AtByte<", type, ">(p.data[", array, "], ", row, ")[i]");
        }
        return StrCat("*AtByte<", type, ">(p.data[", array, "], ", row, " + OffsetAlong<0, ",
                      frame_.n_inner, ", ", index_, ">(p, ", array, ", static_cast<", index_,
                      ">(i)))");
    }

    std::string Define(size_t k, Place place) {
        const FusedValue& value = program_.values[k];
        std::string x;
        switch (value.kind) {
            case Kind::kLoad:
                x = place == Place::kPack && !value.is_uniform
                        ? StrCat("in", value.index, ".v[j]")
                        : Address(value.index, place, "const ");
                break;
            case Kind::kScalar:
                x = StrCat("ValueOf<", TypeOf(k), ">(p.scalars[", value.index, "])");
                break;
            case Kind::kElement:
                x = Compute(value);
                break;
            case Kind::kReduction:
                x = Reduce(value);
                break;
        }
        return StrCat("const ", TypeOf(k), " ", Name(k), " = ", x, ";\n");
    }

    // The definitions of what differs from element to element, as far as it is marked.
    std::string DefineElements(const std::vector<bool>& marked, Place place, const char* indent) {
        std::string text;
        for (size_t k = 0; k < marked.size(); ++k) {
            if (marked[k] && !program_.values[k].is_uniform) text += indent + Define(k, place);
        }
        return text;
    }
    std::string DefineUniform(const std::vector<bool>& marked, Place place) {
        std::string text;
        for (size_t k = 0; k < marked.size(); ++k) {
            if (marked[k] && program_.values[k].is_uniform) text += "    " + Define(k, place);
        }
        return text;
    }

    // Computes its elements from what was there before it.
    std::string Reduce(const FusedValue& value) {
        Include(StrCat("#include \"chainerx/cuda/", value.reduction->header, "\"\n"));
        const size_t x = value.operands[0];
        const char* in = DeviceTypeOf(value.in);
        const char* out = DeviceTypeOf(value.dtype);
        std::vector<bool> marked(program_.values.size());
        Mark(x, marked);
        std::string text = StrCat("ReduceRow<", value.reduction->policy, "<", in, ">, ",
                                  value.reduction->store, "<", out, ">, ", in, ", ", out,
                                  ">(\n        team, p.head.size,\n        "
                                  "[&]([[maybe_unused]] int64_t i) {\n",
                                  DefineElements(marked, Place::kRow, "            "),
                                  "            return ", Name(x), ";\n        }");
        if (value.operands.size() > 1) text += ", " + Name(value.operands[1]);
        return text + ")";
    }

    std::vector<bool> MarkStored() const {
        std::vector<bool> marked(program_.values.size());
        for (const FusedStore& store : program_.stores) Mark(store.value, marked);
        return marked;
    }
    // The same for what is stored element by element: what is needed again, perhaps.
    std::vector<bool> MarkStoredElements() const {
        std::vector<bool> marked(program_.values.size());
        const auto mark = [&](size_t k, const auto& self) -> void {
            if (marked[k] || program_.values[k].is_uniform) return;
            marked[k] = true;
            for (const size_t x : program_.values[k].operands) self(x, self);
        };
        for (const FusedStore& store : program_.stores) mark(store.value, mark);
        return marked;
    }

    std::string WritePacks() {
        const std::vector<bool> marked = MarkStored();
        std::string text = DefineUniform(marked, Place::kPack);
        text += StrCat("    const int64_t first = ThreadNumber() * ", width_,
                       ";\n    if (first >= p.head.size) return;\n"
                       "    const bool is_whole = first + ",
                       width_, " <= p.head.size;\n");
        for (size_t k = 0; k < marked.size(); ++k) {
            const FusedValue& value = program_.values[k];
            if (!marked[k] || value.kind != Kind::kLoad || value.is_uniform) continue;
            text +=
                StrCat("    const auto in", value.index, " = LoadPack<", width_, ">(At<const ",
                       TypeOf(k), ">(p.data[", value.index, "]), first, p.head.size, is_whole);\n");
        }
        for (const FusedStore& store : program_.stores) {
            text += StrCat("    Pack<", TypeOfArray(store.array), ", ", width_, "> out",
                           store.array, ";\n");
        }
        text += StrCat("#pragma unroll\n    for (int j = 0; j < ", width_, "; ++j) {\n",
                       DefineElements(marked, Place::kPack, "        "));
        for (const FusedStore& store : program_.stores) {
            text += StrCat("        out", store.array, ".v[j] = ", Name(store.value), ";\n");
        }
        text += "    }\n";
        for (const FusedStore& store : program_.stores) {
            text += StrCat("    StorePack(out", store.array, ", At<", TypeOfArray(store.array),
                           ">(p.data[", store.array, "]), first, p.head.size, is_whole);\n");
        }
        return text;
    }

    std::string WriteStores(bool uniform, Place place, const char* indent) const {
        std::string text;
        for (const FusedStore& store : program_.stores) {
            if ((frame_.layouts[store.array] == FusedLayoutOf::kUniform) != uniform) continue;
            text +=
                StrCat(indent, Address(store.array, place, ""), " = ", Name(store.value), ";\n");
        }
        return text;
    }

    std::string WriteStrided() {
        const std::vector<bool> marked = MarkStored();
        std::string text = DefineUniform(marked, Place::kStrided);
        text += StrCat("    const ", index_, " first = static_cast<", index_,
                       ">(blockIdx.x) * (kBlockThreads * kFusedElements) + threadIdx.x;\n",
                       "    for (int u = 0; u < kFusedElements; ++u) {\n        const ", index_,
                       " i = first + u * kBlockThreads;\n        if (i >= static_cast<", index_,
                       ">(p.head.size)) return;\n");
        text += DefineElements(marked, Place::kStrided, "        ");
        return text + WriteStores(false, Place::kStrided, "        ") + "    }\n";
    }

    std::string WriteRows() {
        std::string text =
            "    CX_SHARED(Bytes16, shared, kRowBytes / 16);\n"
            "    const Team team{p.head, shared};\n";
        const std::vector<bool> marked = MarkStored();
        for (size_t k = 0; k < program_.dtypes.size(); ++k) {
            text += StrCat("    [[maybe_unused]] const int64_t o", k, " = OffsetAlong<",
                           frame_.n_inner, ", ", frame_.dims.size(), ", ", index_, ">(p, ", k,
                           ", static_cast<", index_, ">(team.row));\n");
        }
        text += DefineUniform(marked, Place::kRow) + WriteRowElements();
        const std::string stores = WriteStores(true, Place::kRow, "        ");
        if (stores.empty()) return text;
        const bool is_updated = std::ranges::any_of(program_.stores, [&](const FusedStore& store) {
            return frame_.layouts[store.array] == FusedLayoutOf::kUniform &&
                   program_.IsUpdated(store.array);
        });
        if (is_updated) text += "    __syncthreads();\n";  // all have read what was there
        return text + "    if (team.is_first()) {\n" + stores + "    }\n";
    }

    // The last pass over the row. A thread loads several elements before it stores the first one.
    std::string WriteRowElements() {
        std::string declared;
        std::string kept;
        std::string stored;
        for (const FusedStore& store : program_.stores) {
            if (frame_.layouts[store.array] == FusedLayoutOf::kUniform) continue;
            declared += StrCat("        ", TypeOfArray(store.array), " out", store.array, "[",
                               width_, "];\n");
            kept += StrCat("            out", store.array, "[u] = ", Name(store.value), ";\n");
            stored += StrCat("            ", Address(store.array, Place::kRow, ""), " = out",
                             store.array, "[u];\n");
        }
        if (declared.empty()) return "";
        const std::string unrolled =
            StrCat("#pragma unroll\n        for (int u = 0; u < ", width_, "; ++u) {\n");
        return StrCat("    for (int64_t e = team.thread; e < team.size; e += ", width_,
                      " * team.threads) {\n", declared, unrolled,
                      "            const int64_t at = e + u * team.threads;\n"
                      "            const int64_t i = at < team.size ? at : e;\n",
                      DefineElements(MarkStoredElements(), Place::kRow, "            "), kept,
                      "        }\n", unrolled,
                      "            const int64_t i = e + u * team.threads;\n"
                      "            if (i >= team.size) break;\n",
                      stored, "        }\n    }\n");
    }

    const FusedProgram& program_;
    const FusedFrame& frame_;
    const int width_;
    const char* const index_;
    std::vector<std::string> includes_;
    std::vector<std::string> rows_;
};

}  // namespace

bool IsPacked(const FusedFrame& frame) {
    return !frame.has_rows &&
           std::ranges::find(frame.layouts, FusedLayoutOf::kStrided) == frame.layouts.end();
}

int FusedWidth(const FusedProgram& program, const FusedFrame& frame) {
    int64_t largest = 4;
    for (size_t k = 0; k < frame.layouts.size(); ++k) {
        if (frame.layouts[k] != FusedLayoutOf::kUniform) {
            largest = std::max(largest, frame.item_sizes[k]);
        }
    }
    int64_t width = 16 / largest;
    const auto n = static_cast<int64_t>(std::max(program.n_calls, 2 * program.dtypes.size()));
    while (width > 1 && n * width > static_cast<int64_t>(kMaxUnrolled)) width /= 2;
    return static_cast<int>(width);
}

DeviceSource WriteFusedSource(const std::string& name, const FusedProgram& program,
                              const FusedFrame& frame, int width) {
    return Writer{program, frame, width}.Write(name);
}

}  // namespace chainerx::cuda
