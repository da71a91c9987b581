#include "chainerx/core/dtype.h"

namespace chainerx {
namespace {

constexpr Dtype kSignedBySize[] = {Dtype::kInt8, Dtype::kInt16, Dtype::kInt32, Dtype::kInt64};

constexpr Dtype Wider(Dtype a, Dtype b) { return GetItemSize(a) >= GetItemSize(b) ? a : b; }

constexpr Dtype PromoteFloats(Dtype a, Dtype b) {
    // float16 and bfloat16 have the same size, and neither can represent the other.
    if (a != b && GetItemSize(a) == 2 && GetItemSize(b) == 2) return Dtype::kFloat32;
    return Wider(a, b);
}

// The category of `lo` is not higher than that of `hi`.
constexpr Dtype PromoteOrdered(Dtype lo, Dtype hi) {
    const DtypeKind kind = GetKind(lo);
    if (kind == GetKind(hi)) {
        return kind == DtypeKind::kFloat ? PromoteFloats(lo, hi) : Wider(lo, hi);
    }
    if (kind == DtypeKind::kBool) return hi;
    if (GetKind(hi) == DtypeKind::kUInt) {  // lo is signed
        if (GetItemSize(lo) > GetItemSize(hi)) return lo;
        for (Dtype s : kSignedBySize) {
            if (GetItemSize(s) > GetItemSize(hi)) return s;
        }
        return Dtype::kFloat64;  // uint64 and a signed type, as in NumPy
    }
    if (lo == Dtype::kFloat64 && hi == Dtype::kComplex64) return Dtype::kComplex128;
    return hi;
}

struct Table {
    Dtype at[kNumDtypes][kNumDtypes];
};

constexpr Table MakeTable() {
    Table t{};
    for (int i = 0; i < kNumDtypes; ++i) {
        for (int j = 0; j < kNumDtypes; ++j) {
            const auto a = static_cast<Dtype>(i);
            const auto b = static_cast<Dtype>(j);
            t.at[i][j] = GetKind(a) <= GetKind(b) ? PromoteOrdered(a, b) : PromoteOrdered(b, a);
        }
    }
    return t;
}

constexpr Table kPromotion = MakeTable();

}  // namespace

Dtype PromoteTypes(Dtype x1, Dtype x2) {
    return kPromotion.at[static_cast<int>(x1)][static_cast<int>(x2)];
}

Dtype GetDtype(std::string_view name) {
    for (int i = 0; i < kNumDtypes; ++i) {
        const auto d = static_cast<Dtype>(i);
        if (name == GetDtypeName(d) || (name.size() == 1 && name[0] == GetCharCode(d))) return d;
    }
    if (name == "bool_") return Dtype::kBool;
    if (name == "int") return Dtype::kInt64;
    if (name == "float") return Dtype::kFloat64;
    if (name == "complex") return Dtype::kComplex128;
    throw DtypeError{"unknown dtype name: '", name, "'"};
}

void ThrowUnexpectedDtype(Dtype dtype, const char* expected) {
    throw DtypeError{"dtype is ", dtype, ", expected ", expected};
}
void ThrowUnexpectedDtype(const char* op, const char* name, Dtype dtype, const char* expected) {
    throw DtypeError{op, ": ", name, " has dtype ", dtype, ", expected ", expected};
}

}  // namespace chainerx
