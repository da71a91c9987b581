#include "chainerx/onnx/tensor.h"

#include <charconv>
#include <complex>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>
#include <system_error>
#include <vector>

#include "chainerx/core/context.h"
#include "chainerx/core/error.h"
#include "chainerx/core/float16.h"
#include "chainerx/onnx/dtypes.h"

namespace chainerx::onnx {
namespace {

namespace fs = std::filesystem;

Device& Host() { return GetDefaultContext().GetDevice("native", 0); }

Shape ShapeOf(const TensorMessage& t, const std::string& what) {
    if (t.dims.size() > static_cast<size_t>(kMaxNdim)) {
        throw DimensionError{what, " has ", t.dims.size(), " dimensions, expected at most ",
                             int64_t{kMaxNdim}};
    }
    int64_t n = 1;
    for (const int64_t d : t.dims) {
        if (d < 0 || __builtin_mul_overflow(n, d, &n) || n > int64_t{1} << 48) {
            throw ValueError{what, " has the impossible shape ",
                             Shape(t.dims.begin(), t.dims.end())};
        }
    }
    return {t.dims.begin(), t.dims.end()};
}

int64_t ToNumber(const std::string& text, const std::string& what, const char* key) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < 0) {
        throw ValueError{
            what, ": external_data ", key, " is \"", text, "\", expected a number from 0"};
    }
    return value;
}

// Opens external data at its first byte. The file must lie in the folder of the model, or below:
// one from elsewhere could send any file of this machine along.
std::ifstream OpenExternal(const TensorMessage& t, const std::string& folder,
                           const std::string& what, int64_t nbytes) {
    std::string location;
    int64_t offset = 0;
    int64_t length = nbytes;
    for (const auto& [key, value] : t.external) {
        if (key == "location") location = value;
        if (key == "offset") offset = ToNumber(value, what, "offset");
        if (key == "length") length = ToNumber(value, what, "length");
    }
    if (folder.empty()) {
        throw ValueError{what, " lies in another file, \"", location,
                         "\", but the model was not read from a file"};
    }
    std::error_code error;
    const fs::path root = fs::weakly_canonical(folder, error);
    const fs::path path = fs::weakly_canonical(root / location, error);
    const fs::path relative = path.lexically_relative(root);
    if (location.empty() || fs::path{location}.is_absolute() || error || relative.empty() ||
        *relative.begin() == ".." || !fs::is_regular_file(path, error)) {
        throw ValueError{what,   " lies in \"",  location, "\", expected a file in the folder ",
                         folder, " of the model"};
    }
    if (length != nbytes) {
        throw ValueError{what, " has ", length, " bytes of external data, expected ", nbytes};
    }
    const auto size = static_cast<int64_t>(fs::file_size(path, error));
    if (error || size - nbytes < offset) {
        throw ValueError{what,   ": \"",        location, "\" has ", size, " bytes, expected ",
                         nbytes, " from byte ", offset,   " on"};
    }
    std::ifstream file{path, std::ios::binary};
    file.seekg(offset);
    return file;
}

// The number of typed values that an element has.
int64_t PartsOf(Dtype dtype) { return IsComplex(dtype) ? 2 : 1; }

template <typename T>
void CheckCount(const std::vector<T>& values, int64_t n, const std::string& what) {
    if (static_cast<int64_t>(values.size()) != n) {
        throw ValueError{what, " has ", values.size(), " values, expected ", n};
    }
}

void CopyTyped(const TensorMessage& t, Dtype dtype, int64_t n, char* data,
               const std::string& what) {
    n *= PartsOf(dtype);
    const Dtype part = RealDtype(dtype);
    if (part == Dtype::kFloat32) {
        CheckCount(t.floats, n, what);
        if (n != 0) std::memcpy(data, t.floats.data(), static_cast<size_t>(n) * sizeof(float));
    } else if (part == Dtype::kFloat64) {
        CheckCount(t.doubles, n, what);
        if (n != 0) std::memcpy(data, t.doubles.data(), static_cast<size_t>(n) * sizeof(double));
    } else {
        CheckCount(t.ints, n, what);
        // 16-bit floats are there by their bits.
        const int64_t size = GetItemSize(part);
        for (const int64_t value : t.ints) {
            // The lowest bytes come first.
            std::memcpy(data, &value, static_cast<size_t>(size));
            data += size;
        }
    }
}

}  // namespace

Array ToArray(const TensorMessage& t, const std::string& folder, const std::string& what) {
    const Dtype dtype = ToDtype(t.data_type, what);
    if (t.has_strings) throw ValueError{what, " has strings, expected ", dtype};
    const Shape shape = ShapeOf(t, what);
    const int64_t n = shape.GetTotalSize();
    const int64_t nbytes = n * GetItemSize(dtype);
    // Before memory is taken: the shape is only what the file claims.
    std::ifstream file;
    if (t.is_external) {
        file = OpenExternal(t, folder, what, nbytes);
    } else {
        const size_t values = t.ints.size() + t.floats.size() + t.doubles.size();
        const auto found = static_cast<int64_t>(t.has_raw ? t.raw.size() : values);
        const int64_t expected = t.has_raw ? nbytes : n * PartsOf(dtype);
        if (found != expected) {
            throw ValueError{what,          " of shape ", shape,
                             " has ",       found,        t.has_raw ? " bytes" : " values",
                             ", expected ", expected};
        }
    }
    Array x = Empty(shape, dtype, Host());
    if (nbytes == 0) return x;
    if (t.is_external) {
        if (!file.read(x.raw_data(), nbytes)) throw ValueError{what, ": its file can't be read"};
    } else if (t.has_raw) {
        std::memcpy(x.raw_data(), t.raw.data(), static_cast<size_t>(nbytes));
    } else {
        CopyTyped(t, dtype, n, x.raw_data(), what);
    }
    if (IsBool(dtype)) {  // no other byte is a bool
        for (int64_t i = 0; i < n; ++i) x.raw_data()[i] = x.raw_data()[i] != 0;
    }
    return x;
}

}  // namespace chainerx::onnx
