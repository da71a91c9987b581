// Writes device sources of elementwise kernels. See cuda/elementwise/device/loops.h for what they
// include.
#include <algorithm>
#include <string_view>

#include "chainerx/core/error.h"
#include "chainerx/cuda/elementwise/elementwise.h"
#include "chainerx/cuda/runtime/kernel.h"

namespace chainerx::cuda {
namespace {

// As native: floats compute in batches, but for comparisons; integers and complex numbers have
// functions of their own.
struct Numbers {
    const char* includes;
    const char* name_space;  // of the functions math:: that the expression calls
    const char* numbers;
};
// Whether a row calls no functions but those of the short header: the others take as long to parse
// as the rest of a compilation.
bool IsBasic(std::string_view expression) {
    static constexpr std::string_view kPrefix = "math::";
    static constexpr const char* kShort[] = {"Abs(", "Max(", "Min(", "Sqrt(", "Where("};
    for (size_t at = 0; (at = expression.find(kPrefix, at)) != expression.npos;) {
        at += kPrefix.size();
        const std::string_view rest = expression.substr(at);
        if (std::ranges::none_of(kShort, [&](const char* f) { return rest.starts_with(f); })) {
            return false;
        }
    }
    return true;
}

// Functions whose texts take long to compile: only rows of them include these. Null for others.
const char* IncompleteOf(std::string_view expression) {
    const auto has = [&](const char* name) { return expression.find(name) != expression.npos; };
    if (has("Gammainc") || has("GammaDensity")) {
        return "#include \"chainerx/cuda/elementwise/device/batch_numbers.h\"\n"
               "#include \"chainerx/native/math/incomplete_gamma.cc\"\n"
               "#include \"chainerx/native/math/simd/math_incomplete.h\"\n";
    }
    if (has("Betainc") || has("BetaDensity")) {
        return "#include \"chainerx/cuda/elementwise/device/batch_numbers.h\"\n"
               "#include \"chainerx/native/math/incomplete_beta.cc\"\n"
               "#include \"chainerx/native/math/simd/math_incomplete.h\"\n";
    }
    return nullptr;
}

Numbers NumbersOf(const ElementwiseKernel& kernel, Dtype dtype) {
    if (std::string_view{kernel.family} == "memory") {
        return {"", "chainerx::cuda", "AsConverted"};
    }
    if (IsComplex(dtype)) {
        if (kernel.out_dtype == static_cast<int>(Dtype::kBool)) {
            return {"#include \"chainerx/native/elementwise/complex_math.h\"\n", "chainerx::native",
                    "AsNumbers"};
        }
        return {"#include \"chainerx/cuda/elementwise/device/complex_numbers.h\"\n",
                "chainerx::native::gpu", "AsComplexBatches"};
    }
    if (!IsFloat(dtype)) {
        return {
            "#include \"chainerx/cuda/elementwise/device/integer_power.h\"\n"
            "#include \"chainerx/native/elementwise/integer_math.h\"\n",
            "chainerx::native", "AsNumbers"};
    }
    const char* numbers = kernel.out_dtype == ElementwiseKernel::kSame ? "AsBatches" : "AsNumbers";
    if (IsBasic(kernel.expression)) {
        return {
            "#include \"chainerx/cuda/elementwise/device/batch_numbers.h\"\n"
            "#include \"chainerx/native/math/simd/math_basic.h\"\n",
            "chainerx::native::gpu", numbers};
    }
    if (std::string_view{kernel.family} != "special") {
        return {
            "#include \"chainerx/cuda/elementwise/device/batch_numbers.h\"\n"
            "#include \"chainerx/native/math/simd/math.h\"\n",
            "chainerx::native::gpu", numbers};
    }
    if (const char* includes = IncompleteOf(kernel.expression)) {
        return {includes, "chainerx::native::gpu", numbers};
    }
    return {
        "#include \"chainerx/cuda/elementwise/device/batch_numbers.h\"\n"
        "#include \"chainerx/native/math/simd/math.h\"\n"
        "#include \"chainerx/native/math/simd/math_bessel.h\"\n"
        "#include \"chainerx/native/math/simd/math_entropy.h\"\n"
        "#include \"chainerx/native/math/simd/math_gamma.h\"\n"
        "#include \"chainerx/native/math/simd/math_normal.h\"\n",
        "chainerx::native::gpu", numbers};
}

std::string LayoutName(const ElementwiseKernel& kernel, int layout) {
    if (layout == static_cast<int>(ElementwiseLayout::kStrided)) return "strided";
    if (layout == static_cast<int>(ElementwiseLayout::kStridedWide)) return "strided_wide";
    std::string name;  // v for an array, s for a scalar
    for (int k = 0; k < kernel.inputs; ++k) name += (layout >> k & 1) != 0 ? 's' : 'v';
    return name;
}

}  // namespace

ElementText WriteElement(const ElementwiseKernel& kernel, Dtype dtype,
                         const std::string& row_name) {
    const Numbers numbers = NumbersOf(kernel, dtype);
    const char* in = DeviceTypeOf(dtype);
    const char* out = DeviceTypeOf(kernel.OutDtype(dtype));
    const std::string_view family = kernel.family;
    const bool is_part = family == "complex" && kernel.OutDtype(dtype) != dtype;
    const bool is_truth = kernel.OutDtype(dtype) == Dtype::kBool && family != "memory";
    const char* result = is_truth ? "bool" : is_part ? "typename T::Part" : "T";
    return {numbers.includes,
            StrCat(numbers.name_space, "::", row_name),
            StrCat("namespace ", numbers.name_space,
                   " {\n"
                   "namespace {\n"
                   "struct ",
                   row_name,
                   " {\n"
                   "    template <typename T>\n"
                   "    static ",
                   result, " Apply(", kernel.parameters, ") {\n        return static_cast<", result,
                   ">(", kernel.expression, ");\n    }\n};\n}\n}\n"),
            numbers.numbers,
            in,
            out};
}

DeviceSource WriteElementwiseSource(const ElementwiseKernel& kernel, Dtype dtype, int layout) {
    const bool is_strided = layout >= static_cast<int>(ElementwiseLayout::kStrided);
    const bool is_wide = layout == static_cast<int>(ElementwiseLayout::kStridedWide);
    const std::string params =
        StrCat(is_strided ? "StridedParams<" : "ElementwiseParams<", kernel.inputs, ">");
    const std::string variant = is_wide      ? "uint64_t"
                                : is_strided ? "uint32_t"
                                             : std::to_string(layout);
    if (IsWhere(kernel)) {
        const ItemSize size{GetItemSize(dtype)};
        return MakeSource(StrCat("Where_", size.bytes, "_", layout), "elementwise/device/where.h",
                          params.c_str(),
                          StrCat(is_strided ? "WhereStrided<" : "WhereContiguous<",
                                 TemplateArgument<ItemSize>::TextOf(size), ", ", variant, ">(p);"));
    }
    const ElementText element = WriteElement(kernel, dtype, "Row");
    std::string name =
        StrCat(kernel.name, "_", GetDtypeName(dtype), "_", LayoutName(kernel, layout));
    std::string text =
        StrCat("#include \"chainerx/cuda/elementwise/device/loops.h\"\n", element.includes, "\n",
               element.row, "\nnamespace chainerx::cuda {\nusing Row = ", element.row_name,
               ";\n\nCX_KERNEL(", name, ", ", params, ") {\n    CX_BEGIN();\n    ",
               is_strided ? "ComputeStrided<Row, " : "ComputeContiguous<Row, ", element.numbers,
               ", ", element.in, ", ", element.out, ", ", variant, ">(p);\n}\n\n}\n");
    return {std::move(name), std::move(text)};
}

}  // namespace chainerx::cuda
