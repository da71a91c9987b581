#include "chainerx/ops/conv/per_axis.h"

#include "chainerx/core/error.h"

namespace chainerx {

void PerAxis::Throw(const char* op, const char* name, int8_t axes, int64_t least) const {
    if (!for_all_ && values_.ndim() != axes) {
        throw DimensionError{
            op,
            ": ",
            name,
            " is ",
            values_,
            ", expected ",
            int64_t{axes},
            axes == 1 ? " number, for the spatial axis" : " numbers, one for each spatial axis"};
    }
    int8_t i = 0;
    while (values_[i] >= least && values_[i] <= kMax) ++i;
    const std::string place = for_all_ ? "" : StrCat("[", int64_t{i}, "]");
    throw DimensionError{op,
                         ": ",
                         name,
                         place,
                         " is ",
                         values_[i],
                         ", expected ",
                         values_[i] < least ? "at least " : "at most ",
                         values_[i] < least ? least : kMax};
}

}  // namespace chainerx
