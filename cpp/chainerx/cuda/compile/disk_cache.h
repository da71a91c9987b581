// Compiled kernels on disk: found by what went into them, safe for many processes and for network
// file systems. It never fails: where it can't write it says so once, and keeps nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace chainerx::cuda {

class DiskCache {
 public:
    struct Key {
        uint64_t high;
        uint64_t low;
    };
    static Key KeyOf(std::string_view circumstances, std::string_view text);

    // $CHAINERX_CACHE_DIR, else $XDG_CACHE_HOME/chainerx, else ~/.cache/chainerx.
    static std::string Folder();

    // Empty if there is none, or a damaged one, which is removed.
    static std::string Find(const Key& key);
    // The first of several processes wins. Where it exceeds the limit ($CHAINERX_CACHE_MB, 512),
    // what was written first goes.
    static void Put(const Key& key, std::string_view code);
};

}  // namespace chainerx::cuda
