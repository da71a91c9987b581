// Gives out ranges of an address space, and those that were given back as late as possible.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace chainerx::cuda::test {

class RangeAllocator {
 public:
    RangeAllocator(std::uint64_t begin, std::uint64_t nbytes) { free_.emplace(begin, nbytes); }

    // Takes the first one behind the last; `alignment` is a power of two.
    std::optional<std::uint64_t> Take(std::uint64_t nbytes, std::uint64_t alignment) {
        for (const std::uint64_t from : {last_, std::uint64_t{0}}) {
            auto it = free_.upper_bound(from);
            if (it != free_.begin()) --it;
            for (; it != free_.end(); ++it) {
                const auto [begin, size] = *it;
                const std::uint64_t p = (std::max(begin, from) + alignment - 1) & ~(alignment - 1);
                if (p + nbytes > begin + size) continue;
                free_.erase(it);
                last_ = p + nbytes;
                if (p > begin) free_.emplace(begin, p - begin);
                if (last_ < begin + size) free_.emplace(last_, begin + size - last_);
                return p;
            }
        }
        return std::nullopt;
    }

    void Give(std::uint64_t begin, std::uint64_t nbytes) {
        auto it = free_.emplace(begin, nbytes).first;
        if (const auto next = std::next(it); next != free_.end() && begin + nbytes == next->first) {
            it->second += next->second;
            free_.erase(next);
        }
        if (it == free_.begin()) return;
        if (const auto last = std::prev(it); last->first + last->second == begin) {
            last->second += it->second;
            free_.erase(it);
        }
    }

 private:
    std::uint64_t last_ = 0;  // the end of what was given last
    std::map<std::uint64_t, std::uint64_t> free_;
};

}  // namespace chainerx::cuda::test
