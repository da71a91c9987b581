// Gives out ranges of an address space, and those that were given back as late as possible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace chainerx::cuda::test {

class RangeAllocator {
 public:
    RangeAllocator(std::uint64_t begin, std::uint64_t nbytes) : next_{begin} {
        free_.emplace(begin, nbytes);
    }

    // First where the last one ended, then from the begin; `alignment` is a power of two.
    std::optional<std::uint64_t> Take(std::uint64_t nbytes, std::uint64_t alignment) {
        auto from = free_.upper_bound(next_);
        if (from != free_.begin()) --from;
        for (auto it = from; it != free_.end(); ++it) {
            if (const auto p = TakeFrom(it, nbytes, alignment)) return p;
        }
        for (auto it = free_.begin(); it != from; ++it) {
            if (const auto p = TakeFrom(it, nbytes, alignment)) return p;
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
    using Iterator = std::map<std::uint64_t, std::uint64_t>::iterator;

    std::optional<std::uint64_t> TakeFrom(Iterator it, std::uint64_t nbytes,
                                          std::uint64_t alignment) {
        const auto [begin, size] = *it;
        // Behind what was given last, not at the front of a range that grew downwards.
        std::uint64_t p = next_ > begin && next_ + nbytes <= begin + size ? next_ : begin;
        p = (p + alignment - 1) & ~(alignment - 1);
        if (p + nbytes > begin + size) p = (begin + alignment - 1) & ~(alignment - 1);
        if (p + nbytes > begin + size) return std::nullopt;
        free_.erase(it);
        if (p > begin) free_.emplace(begin, p - begin);
        if (p + nbytes < begin + size) free_.emplace(p + nbytes, begin + size - p - nbytes);
        next_ = p + nbytes;
        return p;
    }

    std::uint64_t next_;
    std::map<std::uint64_t, std::uint64_t> free_;
};

}  // namespace chainerx::cuda::test
