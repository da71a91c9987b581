// Array::ToString, which is also Python's repr: values as NumPy prints them, then shape, dtype,
// device, and the graphs of the array.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <ostream>
#include <string>

#include "chainerx/autograd/graph.h"
#include "chainerx/core/array.h"
#include "chainerx/core/capture_observer.h"
#include "chainerx/core/context.h"
#include "chainerx/ops/shape/creation.h"

namespace chainerx {
namespace {

constexpr int64_t kSummarizeAbove = 1000;  // elements
constexpr int64_t kEdgeItems = 3;          // shown at either end of a summarized axis
constexpr int kPrecision = 8;              // maximum number of digits after the point
constexpr size_t kLineWidth = 75;

struct Value {
    double exact;
    // The shortest number that rounds to this one in the dtype.
    double shortest;
};

template <typename T>
Value ToValue(T v) {
    const double exact = Cast<double>(v);
    if constexpr (sizeof(T) <= 4) {
        if (!std::isfinite(exact)) return {exact, exact};
        char buffer[32];
        for (int digits = 0; digits < 9; ++digits) {
            const char* end = std::to_chars(buffer, buffer + sizeof buffer, exact,
                                            std::chars_format::scientific, digits)
                                  .ptr;
            double d{};
            std::from_chars(buffer, end, d);
            if (Cast<double>(Cast<T>(d)) == exact) return {exact, d};
        }
    }
    return {exact, exact};
}

// Formats floating-point numbers to the same width, with points and exponents aligned.
class Formatter {
 public:
    // `plus` precedes numbers that are not negative. Numbers from `limit` on have exponents.
    Formatter(const char* plus, double limit) : plus_{plus}, limit_{limit} {}

    // Collects the statistics that decide whether to print exponents.
    void See(const Value& value) {
        const double v = value.shortest;
        if (!std::isfinite(v)) {
            widest_special_ = std::max(widest_special_, Special(v).size());
            return;
        }
        const double a = std::abs(v);
        largest_ = std::max(largest_, a);
        if (a != 0) smallest_ = std::min(smallest_, a);
    }

    // Collects the widths, after all numbers have been seen.
    void Measure(const Value& v) {
        if (!std::isfinite(v.exact)) return;
        const Parts parts = Split(v);
        whole_ = std::max(whole_, parts.whole.size());
        fraction_ = std::max(fraction_, parts.fraction.size());
        exponent_ = std::max(exponent_, parts.exponent.size());
    }

    std::string Number(const Value& v) const {
        const size_t width = std::max(whole_ + 1 + fraction_ + exponent_, widest_special_);
        if (!std::isfinite(v.exact)) {
            const std::string s = Special(v.exact);
            return std::string(width - s.size(), ' ') + s;
        }
        // All have as many digits as the longest, so that exponents are aligned.
        Parts parts = IsScientific() ? Round(v.exact, static_cast<int>(fraction_)) : Split(v);
        parts.fraction.resize(fraction_, IsScientific() ? '0' : ' ');
        // "e-05" beside "e-100" is "e-005".
        if (IsScientific()) parts.exponent.insert(2, exponent_ - parts.exponent.size(), '0');
        const std::string s = parts.whole + "." + parts.fraction + parts.exponent;
        return std::string(width - s.size(), ' ') + s;
    }

 private:
    struct Parts {
        std::string whole;     // with the sign
        std::string fraction;  // without trailing zeros
        std::string exponent;  // "e+05", or nothing
    };

    std::string Special(double v) const {
        return (v < 0 ? "-" : plus_) + std::string{std::isnan(v) ? "nan" : "inf"};
    }

    bool IsScientific() const {
        return largest_ >= limit_ || smallest_ < 1e-4 || largest_ > 1000 * smallest_;
    }

    std::chars_format Format() const {
        return IsScientific() ? std::chars_format::scientific : std::chars_format::fixed;
    }

    Parts Split(const Value& v) const {
        char buffer[512];
        Parts parts =
            Cut({buffer, std::to_chars(buffer, std::end(buffer), v.shortest, Format()).ptr});
        if (parts.fraction.size() > kPrecision) parts = Round(v.exact, kPrecision);
        while (parts.fraction.ends_with('0')) parts.fraction.pop_back();
        return parts;
    }

    Parts Round(double v, int precision) const {
        char buffer[512];
        return Cut({buffer, std::to_chars(buffer, std::end(buffer), v, Format(), precision).ptr});
    }

    Parts Cut(const std::string& digits) const {
        const std::string s = (digits[0] == '-' ? "" : plus_) + digits;
        const size_t e = std::min(s.find('e'), s.size());
        const size_t point = std::min(s.find('.'), e);
        return {s.substr(0, point), point == e ? "" : s.substr(point + 1, e - point - 1),
                s.substr(e)};
    }

    const char* plus_;
    double limit_;
    double largest_{0};
    double smallest_{std::numeric_limits<double>::infinity()};
    size_t widest_special_{0};
    size_t whole_{0};
    size_t fraction_{0};
    size_t exponent_{0};
};

// Returns the number from which on the digits before the point are no longer exact.
double Limit(Dtype dtype) {
    if (dtype == Dtype::kFloat16 || dtype == Dtype::kBFloat16) return 1e3;
    return dtype == Dtype::kFloat32 || dtype == Dtype::kComplex64 ? 1e6 : 1e8;
}

class Printer {
 public:
    // `x` must be contiguous, on the host, in no graph.
    explicit Printer(const Array& x) : x_{x}, summarize_{x.GetTotalSize() > kSummarizeAbove} {
        Visit(0, 0, [this](int64_t i) { Each(i, &Formatter::See); });
        Visit(0, 0, [this](int64_t i) { Each(i, &Formatter::Measure); });
        Visit(0, 0, [this](int64_t i) { width_ = std::max(width_, Item(i).size()); });
    }

    std::string Print(size_t indent) const { return Block(0, 0, indent); }

 private:
    // Calls f on the flat index of each element that is printed.
    void Visit(int8_t axis, int64_t base, auto&& f) const {
        if (axis == x_.ndim()) {
            f(base);
            return;
        }
        const int64_t n = x_.shape()[axis];
        for (int64_t i = 0; i < n; ++i) {
            if (Skips(n, i)) continue;
            Visit(axis + 1, base * n + i, f);
        }
    }

    bool Skips(int64_t n, int64_t i) const {
        return summarize_ && n > 2 * kEdgeItems && i >= kEdgeItems && i < n - kEdgeItems;
    }

    // Passes a floating-point element to the formatter, a complex one to those of its parts.
    void Each(int64_t i, void (Formatter::*f)(const Value&)) {
        VisitDtype(x_.dtype(), [&]<typename T>() {
            const T v = reinterpret_cast<const T*>(x_.raw_data())[i];
            if constexpr (kIsComplexType<T>) {
                (real_.*f)(ToValue(v.real()));
                (imag_.*f)(ToValue(v.imag()));
            } else if constexpr (!std::is_integral_v<T>) {
                (real_.*f)(ToValue(v));
            }
        });
    }

    std::string Item(int64_t i) const {
        return VisitDtype(x_.dtype(), [&]<typename T>() -> std::string {
            const T v = reinterpret_cast<const T*>(x_.raw_data())[i];
            if constexpr (std::is_same_v<T, bool>) {
                return v ? "True" : "False";
            } else if constexpr (std::is_integral_v<T>) {
                return std::to_string(v);
            } else if constexpr (kIsComplexType<T>) {
                return real_.Number(ToValue(v.real())) + Imaginary(ToValue(v.imag()));
            } else {
                return real_.Number(ToValue(v));
            }
        });
    }

    // The "j" precedes trailing spaces.
    std::string Imaginary(const Value& v) const {
        std::string s = imag_.Number(v);
        s.insert(s.find_last_not_of(' ') + 1, "j");
        return s;
    }

    std::string Padded(int64_t i) const {
        const std::string s = Item(i);
        return std::string(width_ - s.size(), ' ') + s;
    }

    std::string Block(int8_t axis, int64_t base, size_t indent) const {
        if (axis == x_.ndim()) return Padded(base);
        const int64_t n = x_.shape()[axis];
        const bool innermost = axis == x_.ndim() - 1;
        const std::string break_line =
            std::string(static_cast<size_t>(x_.ndim() - axis - 1), '\n') +
            std::string(indent + 1, ' ');
        std::string out = "[";
        size_t column = indent + 1;
        for (int64_t i = 0; i < n; ++i) {
            const bool gap = Skips(n, i);
            if (gap) i = n - kEdgeItems - 1;
            const std::string item = gap ? "..." : Block(axis + 1, base * n + i, indent + 1);
            if (i != 0) {
                out += ",";
                if (!innermost) {
                    out += break_line;
                } else if (column + item.size() + static_cast<size_t>(x_.ndim()) > kLineWidth) {
                    out += "\n" + std::string(indent + 1, ' ');
                    column = indent + 1;
                } else {
                    out += " ";
                }
            }
            column += item.size() + 2;
            out += item;
        }
        return out + "]";
    }

    const Array& x_;
    bool summarize_;
    Formatter real_{"", Limit(x_.dtype())};
    Formatter imag_{"+", Limit(x_.dtype())};
    size_t width_{0};
};

std::string BackpropNames(const Array& x) {
    internal::Slot* slot = x.body()->slot;
    if (slot == nullptr) return "";
    slot->DropExpired();
    std::string names;
    for (uint64_t ids = slot->live; ids != 0; ids &= ids - 1) {
        const BackpropId id = x.context().GetBackpropId(__builtin_ctzll(ids));
        names += (names.empty() ? "'" : ", '") + id.GetName() + "'";
    }
    return names.empty() ? "" : ", backprop_ids=[" + names + "]";
}

}  // namespace

std::string Array::ToString() const {
    if (body_ == nullptr) return "array(null)";
    static constexpr size_t kIndent = sizeof("array(") - 1;
    internal::CheckMayRead("values are read");
    const Array host = AsContiguous(internal::Detached(*this).ToNative());
    const std::string values = GetTotalSize() == 0 ? "[]" : Printer{host}.Print(kIndent);
    return StrCat("array(", values, ", shape=", shape(), ", dtype=", dtype(), ", device='",
                  device().name(), "'", BackpropNames(*this), ")");
}

std::ostream& operator<<(std::ostream& out, const Array& x) { return out << x.ToString(); }
std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.ToString(); }
std::ostream& operator<<(std::ostream& out, Dtype dtype) { return out << ToString(dtype); }

}  // namespace chainerx
