// What kernels report if they find an error in values (cuda/device/errors.h).
#pragma once

#include <cstdint>

#include "chainerx/core/kernel_error.h"
#include "chainerx/cuda/device/error_log.h"

namespace chainerx::cuda {

// Different for different sites, but for one case in 2^64.
inline uint64_t KeyOf(const ErrorSite& site) {
    uint64_t key = 1;
    for (const uint64_t part : {site.op, site.argument, site.thread}) {
        key = (key ^ part) * 0x9e3779b97f4a7c15u;
        key ^= key >> 29;
    }
    return key != 0 ? key : 1;
}

// The site of an error whose position and value the kernel fills in.
inline ErrorSite MakeErrorSite(const KernelError& error) {
    ErrorSite site{};
    site.kind = static_cast<int32_t>(error.kind);
    site.may_ignore = error.may_ignore ? 1 : 0;
    site.op = reinterpret_cast<uint64_t>(error.op);
    site.argument = reinterpret_cast<uint64_t>(error.argument);
    site.thread = internal::GetThreadToken();
    site.bound = error.bound;
    site.ignored = error.ignored;
    if (error.kind == KernelError::Kind::kDomain) {  // it has a text in place of a bound
        site.bound = reinterpret_cast<int64_t>(error.expected);
    }
    site.key = KeyOf(site);
    return site;
}

}  // namespace chainerx::cuda
