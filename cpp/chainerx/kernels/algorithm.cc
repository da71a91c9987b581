#include "chainerx/kernels/algorithm.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "chainerx/core/error.h"

namespace chainerx {
namespace {

constexpr int kMaxChoices = 12;
constinit const AlgorithmChoice* g_choices[kMaxChoices]{};
constinit int g_count = 0;

// For each choice 1 + the forced row, or 0.
constinit thread_local int8_t t_forced[kMaxChoices]{};

std::string Join(const auto& names) {
    std::string text;
    for (const std::string_view name : names) {
        if (!text.empty()) text += ", ";
        text += name;
    }
    return text;
}

}  // namespace

constinit thread_local const char* internal::t_algorithm = nullptr;

AlgorithmChoice::AlgorithmChoice(const char* kernel, const char* variable,
                                 std::span<const char* const> names)
    : kernel_{kernel}, variable_{variable}, names_{names}, id_{g_count} {
    if (g_count == kMaxChoices) std::abort();  // raise the limit
    g_choices[g_count++] = this;
}

AlgorithmChoice::Forced AlgorithmChoice::forced() const {
    if (const int row = t_forced[id_]; row != 0) return {row - 1, true};
    const int row = environment_.load(std::memory_order_relaxed);
    return {row == kUnread ? ReadEnvironment() : row, false};
}

int AlgorithmChoice::FindRow(std::string_view name) const {
    const auto* const it = std::ranges::find(names_.data(), names_.data() + names_.size(), name,
                                             [](const char* s) { return std::string_view{s}; });
    const auto row = static_cast<size_t>(it - names_.data());
    return row == names_.size() ? -1 : static_cast<int>(row);
}

int AlgorithmChoice::ReadEnvironment() const {
    const char* const value = std::getenv(variable_);
    int row = -1;
    if (value != nullptr && *value != 0) {
        row = FindRow(value);
        if (row < 0) {
            throw ValueError{variable_, " is '", value, "', expected one of: ", Join(names_)};
        }
    }
    // Several threads may read it; one counts.
    int before = kUnread;
    if (environment_.compare_exchange_strong(before, row) && row < 0) --reasons_;
    return row;
}

std::optional<std::string> AlgorithmChoice::Force(const std::optional<std::string>& name) const {
    int row = -1;
    if (name) {
        row = FindRow(*name);
        if (row < 0) {
            throw ValueError{"force_algorithm: ",    kernel_,     " has no algorithm '", *name,
                             "', expected one of: ", Join(names_)};
        }
    }
    const int before = t_forced[id_] - 1;
    t_forced[id_] = static_cast<int8_t>(row + 1);
    reasons_ += (row >= 0) - (before >= 0);
    if (before < 0) return std::nullopt;
    return names_[before];
}

std::span<const AlgorithmChoice* const> AlgorithmChoice::All() {
    return {g_choices, static_cast<size_t>(g_count)};
}

const AlgorithmChoice& AlgorithmChoice::Find(std::string_view kernel) {
    std::string names;
    for (const AlgorithmChoice* choice : All()) {
        if (kernel == choice->kernel()) return *choice;
        names += (names.empty() ? "" : ", ") + std::string{choice->kernel()};
    }
    throw ValueError{"force_algorithm: '", std::string{kernel},
                     "' has no table of algorithms, expected one of: ", names};
}

}  // namespace chainerx
