#include "chainerx/io/npy.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/io/elements.h"
#include "chainerx/io/files.h"
#include "chainerx/io/output_file.h"

namespace chainerx::io {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they are");

// Version 1 can say no more; others could claim gigabytes.
constexpr uint64_t kMaxHeader = 65535;
constexpr size_t kAlignment = 64;
// Raw bytes of this size are bfloat16, for which NumPy's format has no name.
constexpr std::string_view kBFloat16Descr = "V2";

struct Header {
    std::string descr;
    bool is_fortran{false};
    std::vector<int64_t> shape;
};

// Reads the text of a header: a dict of three entries in any order, as Python's repr writes it.
class HeaderParser {
 public:
    HeaderParser(std::string_view text, const std::string& what) : text_{text}, what_{what} {}

    Header Parse() {
        Header header;
        bool has_descr = false;
        bool has_order = false;
        bool has_shape = false;
        Expect('{');
        while (!Take('}')) {
            const std::string key = String();
            Expect(':');
            if (key == "descr" && !has_descr) {
                if (Next() == '[') {
                    throw DtypeError{what_, ": descr is a list of fields, expected one dtype"};
                }
                header.descr = String();
                has_descr = true;
            } else if (key == "fortran_order" && !has_order) {
                header.is_fortran = Bool();
                has_order = true;
            } else if (key == "shape" && !has_shape) {
                header.shape = Tuple();
                has_shape = true;
            } else {
                Fail(StrCat("the entry '", key, "' is unknown, or is there twice"));
            }
            if (!Take(',') && Next() != '}') Fail("an entry has no end");
        }
        Next();
        if (!text_.empty()) Fail("something stands behind the dict");
        if (!has_descr) Fail("there is no descr");
        if (!has_order) Fail("there is no fortran_order");
        if (!has_shape) Fail("there is no shape");
        return header;
    }

 private:
    [[noreturn]] void Fail(const std::string& why) const {
        throw ValueError{what_, ": its header is not NumPy's: ", why};
    }

    // The next character that is no space; 0 at the end, which may also stand in the text.
    char Next() {
        while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n')) text_.remove_prefix(1);
        return text_.empty() ? '\0' : text_[0];
    }

    bool Take(char c) {
        if (text_.empty() || Next() != c) return false;
        text_.remove_prefix(1);
        return true;
    }

    void Expect(char c) {
        if (!Take(c)) Fail(StrCat("expected ", c));
    }

    std::string String() {
        const char quote = Next();
        if (quote != '\'' && quote != '"') Fail("expected a string");
        const size_t end = text_.find(quote, 1);
        if (end == std::string_view::npos) Fail("a string has no end");
        const std::string value{text_.substr(1, end - 1)};
        text_.remove_prefix(end + 1);
        return value;
    }

    bool Bool() {
        for (const std::string_view word : {"True", "False"}) {
            if (Next() == word[0] && text_.starts_with(word)) {
                text_.remove_prefix(word.size());
                return word[0] == 'T';
            }
        }
        Fail("fortran_order is neither True nor False");
    }

    std::vector<int64_t> Tuple() {
        std::vector<int64_t> values;
        Expect('(');
        while (!Take(')')) {
            Next();
            int64_t value = 0;
            const char* const end = text_.data() + text_.size();
            const auto [rest, error] = std::from_chars(text_.data(), end, value);
            if (error != std::errc{}) Fail("shape has something else than numbers of 64 bits");
            text_.remove_prefix(static_cast<size_t>(rest - text_.data()));
            Take('L');  // Python 2's
            values.push_back(value);
            if (!Take(',') && Next() != ')') Fail("shape has no end");
        }
        return values;
    }

    std::string_view text_;
    const std::string& what_;
};

struct Element {
    Dtype dtype;
    ByteOrder order;
};

constexpr Dtype kDtypes[] = {
#define CX_ENTRY(Enum, Type, name, code, kind) Dtype::Enum,
    CX_DTYPE_LIST(CX_ENTRY)
#undef CX_ENTRY
};

// As in "f4", without the order of bytes.
std::string DescrOf(Dtype dtype) {
    if (dtype == Dtype::kBFloat16) return std::string{kBFloat16Descr};
    constexpr char kLetters[] = {'b', 'i', 'u', 'f', 'c'};  // in the order of DtypeKind
    return StrCat(kLetters[static_cast<int>(GetKind(dtype))], GetItemSize(dtype));
}

Element ToElement(const std::string& descr, const std::string& what) {
    if (descr.find('O') != std::string::npos) {
        throw ValueError{what, " has Python objects, which are never unpickled"};
    }
    constexpr std::string_view kOrders = "<>=|";
    if (!descr.empty() && kOrders.find(descr[0]) != std::string_view::npos) {
        const std::string_view letters = std::string_view{descr}.substr(1);
        for (const Dtype dtype : kDtypes) {
            if (letters != DescrOf(dtype)) continue;
            return {dtype, descr[0] == '>' ? ByteOrder::kSwapped : ByteOrder::kNative};
        }
    }
    throw DtypeError{what, " has dtype '", descr, "', which no array has"};
}

}  // namespace

Array ReadNpy(Source& source, Device& device) {
    const std::string& what = source.what();
    std::array<unsigned char, kNpyMagicSize + 2> start{};
    if (source.left() < start.size()) {
        throw ValueError{what, " has ", source.left(), " bytes, which is no .npy"};
    }
    source.Read(start.data(), start.size());
    if (std::memcmp(start.data(), kNpyMagic, kNpyMagicSize) != 0) {
        throw ValueError{what, " is no .npy: its first bytes are others"};
    }
    const int version = start[kNpyMagicSize];
    if (version < 1 || version > 3 || start[kNpyMagicSize + 1] != 0) {
        throw ValueError{what,
                         " has version ",
                         version,
                         ".",
                         int{start[kNpyMagicSize + 1]},
                         " of NumPy's format, expected 1.0, 2.0 or 3.0"};
    }
    uint32_t length = 0;
    source.Read(&length, version == 1 ? 2 : 4);
    if (length > source.left() || length > kMaxHeader) {
        throw ValueError{what,          ": its header is said to have ",
                         length,        " bytes of ",
                         source.left(), ", at most ",
                         kMaxHeader,    " are allowed"};
    }
    std::string text(length, '\0');
    source.Read(text.data(), length);
    const Header header = HeaderParser{text, what}.Parse();
    const Element element = ToElement(header.descr, what);
    const Shape shape = CheckShape(header.shape, element.dtype, source.left(), what);
    const auto read = header.is_fortran ? ReadFortranElements : ReadElements;
    return read(source, shape, element.dtype, element.order, device);
}

std::string NpyHeader(Dtype dtype, const Shape& shape) {
    const bool is_ordered = GetItemSize(dtype) > 1;
    std::string text = StrCat("{'descr': '", is_ordered ? '<' : '|', DescrOf(dtype),
                              "', 'fortran_order': False, 'shape': ", shape, ", }");
    // NumPy leaves room for the first axis to grow.
    constexpr size_t kGrowingDigits = 21;
    if (shape.ndim() > 0) {
        text.append(kGrowingDigits - std::to_string(shape[0]).size(), ' ');
    }
    const size_t before = kNpyMagicSize + 4;
    const size_t padding = kAlignment - (before + text.size() + 1) % kAlignment;
    text.append(padding, ' ');
    text += '\n';
    const auto length = static_cast<uint16_t>(text.size());
    std::string header{kNpyMagic, kNpyMagicSize};
    header += {'\x01', '\x00', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
    return header + text;
}

Array LoadNpy(const std::string& path, Device& device) {
    const InputFile file{path};
    FileSource source{file, 0, file.size(), file.what()};
    return ReadNpy(source, device);
}

void SaveNpy(const std::string& path, const Array& x) {
    const Array host = ToHostElements(x);
    OutputFile file{path};
    file.Write(NpyHeader(host.dtype(), host.shape()));
    file.Write(host.raw_data(), static_cast<uint64_t>(host.GetNBytes()));
    file.Close();
}

}  // namespace chainerx::io
