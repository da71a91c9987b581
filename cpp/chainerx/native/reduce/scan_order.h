// The order of running sums of floats, on every device. In a line of more than kShortScan elements,
// each kScanGroup elements are summed by themselves, and so are their totals, the totals of those,
// and so on: then what precedes a group is added to its sums. Shorter lines are summed one by one,
// as all running products are: a product of a group may overflow where that of the line does not.
#pragma once

#include <cstdint>

namespace chainerx::native {

inline constexpr int64_t kShortScan = 512;
inline constexpr int64_t kScanGroup = 16;

// What precedes the groups of adjacent lines.
template <typename Acc, int64_t kLines>
class ScanCarry {
 public:
    explicit ScanCarry(const Acc& identity) : identity_{identity} {}

    // Takes the totals of the next group; `before` becomes what precedes the group after it.
    template <typename F>
    void Take(const Acc* totals, int64_t n_lines, Acc* before, const F& add) {
        int64_t place = n_taken_++;
        int level = 0;
        for (;; ++level, place /= kScanGroup) {
            if (place % kScanGroup == 0) Begin(level, n_lines, place == 0);
            Acc* const sums = sums_[level];
            for (int64_t j = 0; j < n_lines; ++j) sums[j] = add(sums[j], totals[j]);
            if (place % kScanGroup != kScanGroup - 1) break;
            totals = sums;
        }
        for (int64_t j = 0; j < n_lines; ++j) before[j] = add(before_[level][j], sums_[level][j]);
        while (level-- > 0) {
            for (int64_t j = 0; j < n_lines; ++j) before_[level][j] = before[j];
        }
    }

 private:
    void Begin(int level, int64_t n_lines, bool is_first) {
        for (int64_t j = 0; j < n_lines; ++j) sums_[level][j] = identity_;
        if (!is_first) return;
        for (int64_t j = 0; j < n_lines; ++j) before_[level][j] = identity_;
    }

    static constexpr int kLevels = 10;  // beyond any memory

    Acc identity_;
    int64_t n_taken_ = 0;
    Acc sums_[kLevels][kLines];    // of totals within their group
    Acc before_[kLevels][kLines];  // what precedes that group
};

}  // namespace chainerx::native
