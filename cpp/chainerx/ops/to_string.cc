// Array::ToString, which is also Python's repr: values as NumPy prints them, then shape, dtype,
// device, and the graphs the array is in.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "chainerx/autograd/graph.h"
#include "chainerx/core/array.h"
#include "chainerx/core/context.h"
#include "chainerx/ops/creation.h"

namespace chainerx {
namespace {

constexpr int64_t kSummarizeAbove = 1000;  // elements
constexpr int64_t kEdgeItems = 3;          // shown at either end of a summarized axis
constexpr int kPrecision = 8;              // most digits after the point

// Prints numbers of one column: same width, points aligned.
class Formatter {
 public:
    // Collects what decides the format.
    void See(double v) {
        if (!std::isfinite(v)) return;
        const double a = std::abs(v);
        largest_ = std::max(largest_, a);
        if (a != 0) smallest_ = std::min(smallest_, a);
    }

    std::string Number(double v, bool single) const {
        if (std::isnan(v)) return "nan";
        if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
        const bool scientific = largest_ >= 1e8 || smallest_ < 1e-4;
        char buffer[512];
        const auto format = scientific ? std::chars_format::scientific : std::chars_format::fixed;
        std::to_chars_result r =
            single ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(v), format)
                   : std::to_chars(buffer, buffer + sizeof buffer, v, format);
        std::string s{buffer, r.ptr};
        const size_t e = std::min(s.find('e'), s.size());
        const std::string exponent = s.substr(e);
        s.resize(e);
        size_t point = s.find('.');
        if (point != std::string::npos && s.size() - point - 1 > kPrecision) {
            r = std::to_chars(buffer, buffer + sizeof buffer, v, format, kPrecision);
            s.assign(buffer, r.ptr);
            s.resize(std::min(s.find('e'), s.size()));
            while (s.back() == '0') s.pop_back();
            point = s.find('.');
        }
        if (point == std::string::npos) s += '.';
        return s + exponent;
    }

 private:
    double largest_{0};
    double smallest_{1};
};

class Printer {
 public:
    // `x` is contiguous, on the host, in no graph.
    explicit Printer(const Array& x) : x_{x}, summarize_{x.GetTotalSize() > kSummarizeAbove} {
        Visit(0, 0, [this](int64_t i) { See(i); });
        Visit(0, 0, [this](int64_t i) {
            const std::string s = Item(i);
            const size_t point = std::min(s.find('.'), s.size());
            left_ = std::max(left_, point);
            right_ = std::max(right_, s.size() - point);
        });
    }

    std::string Print(size_t indent) const { return Block(0, 0, indent); }

 private:
    // Calls f on the flat index of each element that is shown.
    template <typename F>
    void Visit(int8_t axis, int64_t base, F&& f) const {
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

    void See(int64_t i) {
        VisitDtype(x_.dtype(), [&]<typename T>() {
            const T v = reinterpret_cast<const T*>(x_.raw_data())[i];
            if constexpr (kIsComplexType<T>) {
                real_.See(v.real());
                imag_.See(v.imag());
            } else {
                real_.See(Cast<double>(v));
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
                const bool single = sizeof(T) == 8;
                const std::string im = imag_.Number(v.imag(), single);
                return real_.Number(v.real(), single) + (im[0] == '-' ? "" : "+") + im + "j";
            } else {
                return real_.Number(Cast<double>(v), sizeof(T) <= 4);
            }
        });
    }

    std::string Padded(int64_t i) const {
        const std::string s = Item(i);
        const size_t point = s.find('.');
        if (x_.ndim() == 0) return s;
        // Integers, nan and inf stand at the right.
        if (point == std::string::npos) return std::string(left_ + right_ - s.size(), ' ') + s;
        return std::string(left_ - point, ' ') + s + std::string(right_ - (s.size() - point), ' ');
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
                } else if (column + item.size() + 2 > 75) {
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
    Formatter real_;
    Formatter imag_;
    size_t left_{0};
    size_t right_{0};
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
    const Array host = AsContiguous(internal::Detached(*this).ToNative());
    const std::string values = GetTotalSize() == 0 ? "[]" : Printer{host}.Print(kIndent);
    return StrCat("array(", values, ", shape=", shape(), ", dtype=", dtype(), ", device='",
                  device().name(), "'", BackpropNames(*this), ")");
}

std::ostream& operator<<(std::ostream& out, const Array& x) { return out << x.ToString(); }
std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.ToString(); }
std::ostream& operator<<(std::ostream& out, Dtype dtype) { return out << ToString(dtype); }

}  // namespace chainerx
