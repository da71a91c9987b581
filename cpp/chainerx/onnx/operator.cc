#include "chainerx/onnx/operator.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "chainerx/core/error.h"

namespace chainerx::onnx {
namespace {

using Rows = std::unordered_multimap<std::string, const Operator*>;

const Rows& AllRows() {
    static const Rows rows = [] {
        Rows all;
        const std::span<const Operator> families[] = {
#define CX_FAMILY(family) family##Operators(),
#include "chainerx/onnx/families.def"
#undef CX_FAMILY
        };
        for (const auto family : families) {
            for (const Operator& o : family) all.emplace(StrCat(o.domain, ".", o.name), &o);
        }
        return all;
    }();
    return rows;
}

auto RowsOf(const std::string& domain, const std::string& name) {
    return AllRows().equal_range(StrCat(domain, ".", name));
}

}  // namespace

const Operator* FindOperator(const std::string& domain, const std::string& name, int64_t opset) {
    const auto [first, last] = RowsOf(domain, name);
    for (auto i = first; i != last; ++i) {
        if (opset >= i->second->since && opset <= i->second->until) return i->second;
    }
    return nullptr;
}

std::string SupportedOpsets(const std::string& domain, const std::string& name) {
    const auto [first, last] = RowsOf(domain, name);
    if (first == last) return "no version of it is supported";
    int64_t least = INT16_MAX;
    int64_t most = 0;
    for (auto i = first; i != last; ++i) {
        least = std::min<int64_t>(least, i->second->since);
        most = std::max<int64_t>(most, i->second->until);
    }
    return StrCat("it is supported from version ", least, " to ", most);
}

}  // namespace chainerx::onnx
