// Files of arrays: what is written is read, and what is damaged is refused. The tests of
// chainerx-run (tests/chainerx/onnx) compare them with those of NumPy.
#include "chainerx/io/files.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "test.h"

using namespace chainerx;

namespace {

namespace fs = std::filesystem;

// A folder of its own, removed at the end.
class Folder {
 public:
    Folder() : path_{fs::temp_directory_path() / ("chainerx-io-" + std::to_string(getpid()))} {
        fs::create_directories(path_);
    }
    ~Folder() { fs::remove_all(path_); }
    std::string operator/(const std::string& name) const { return path_ / name; }

 private:
    fs::path path_;
};

std::string ReadBytes(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

void WriteBytes(const std::string& path, const std::string& bytes) {
    fs::remove(path);  // some file systems wait for the disk where a file is overwritten
    std::ofstream{path, std::ios::binary} << bytes;
}

io::NamedArrays Examples() {
    const Array x = Arange(6, Dtype::kFloat32).Reshape({2, 3});
    return {{"x", x},
            {"transposed", x.Transpose()},
            {"broadcast", BroadcastTo(Arange(3, Dtype::kInt64), {2, 3})},
            {"part", x.At({Slice{std::nullopt, std::nullopt, -2}})},
            {"empty", Zeros({0, 3}, Dtype::kBFloat16)},
            {"number", Full({}, 7, Dtype::kUInt8)}};
}

bool AreEqual(const io::NamedArrays& a, const io::NamedArrays& b) {
    if (a.size() != b.size()) return false;
    for (const auto& [name, x] : a) {
        bool is_found = false;
        for (const auto& [other, y] : b) {
            if (name != other) continue;
            is_found =
                x.dtype() == y.dtype() && x.shape() == y.shape() && (x == y).All().Item<bool>();
        }
        if (!is_found) return false;
    }
    return true;
}

// Whether it can be loaded; any error but ours ends the test, and a crash the program.
bool Loads(const std::string& path) {
    try {
        io::Load(path);
        return true;
    } catch (const ChainerxError& e) {
        CHECK(std::string{e.what()}.starts_with("io: \""));
        return false;
    }
}

// An .npz whose entries are streams of deflate, of stored blocks of up to 50 bytes.
std::string Deflated(std::string npz) {
    const auto number = [&npz](size_t at, int n) {
        uint32_t value = 0;
        for (int i = 0; i < n; ++i) {
            value |= static_cast<uint32_t>(static_cast<unsigned char>(npz[at + i])) << (8 * i);
        }
        return value;
    };
    const auto append = [](std::string& to, uint32_t value, int n) {
        for (int i = 0; i < n; ++i) to += static_cast<char>(value >> (8 * i));
    };
    std::string out;
    std::string directory;
    const size_t end = npz.size() - 22;
    size_t at = number(end + 16, 4);
    int n_entries = 0;
    for (; at < end; ++n_entries) {
        const size_t name_size = number(at + 28, 2);
        const size_t local = number(at + 42, 4);
        const size_t size = number(at + 24, 4);
        const std::string data = npz.substr(local + 30 + number(local + 26, 2), size);
        std::string stream;
        for (size_t i = 0; i < size; i += 50) {
            const size_t n = std::min<size_t>(50, size - i);
            stream += i + n == size ? '\1' : '\0';  // the last block
            append(stream, n, 2);
            append(stream, ~static_cast<uint32_t>(n), 2);
            stream += data.substr(i, n);
        }
        std::string header = npz.substr(at, 46 + name_size);
        header[10] = 8;
        std::string sizes;
        append(sizes, stream.size(), 4);
        header.replace(20, 4, sizes);
        std::string offset;
        append(offset, out.size(), 4);
        header.replace(42, 4, offset);
        out += "PK\3\4" + header.substr(6, 26) + header.substr(46) + stream;
        directory += header;
        at += 46 + name_size;
    }
    std::string last = "PK\5\6";
    append(last, 0, 4);
    append(last, n_entries, 2);
    append(last, n_entries, 2);
    append(last, directory.size(), 4);
    append(last, out.size(), 4);
    append(last, 0, 2);
    return out + directory + last;
}

std::vector<std::string> WriteAll(const Folder& folder) {
    std::vector<std::string> paths{folder / "a.npy", folder / "a.npz", folder / "a.safetensors"};
    io::SaveNpy(paths[0], Examples()[1].second);
    io::Save(paths[1], Examples());
    io::Save(paths[2], Examples());
    paths.push_back(folder / "deflated.npz");
    WriteBytes(paths.back(), Deflated(ReadBytes(paths[1])));
    return paths;
}

}  // namespace

CX_TEST(IoReadsWhatItWrote) {
    const Folder folder;
    const std::vector<std::string> paths = WriteAll(folder);
    CHECK(AreEqual(io::Load(paths[0]), {{"", Examples()[1].second}}));
    for (size_t i : {1, 2, 3}) CHECK(AreEqual(io::Load(paths[i]), Examples()));
    CHECK(AreEqual(io::LoadNpz(paths[1]), Examples()));
    CHECK(AreEqual(io::LoadSafetensors(paths[2]), Examples()));
}

CX_TEST(IoMovesArraysToDevices) {
    const Folder folder;
    Device& device = GetDevice("native:1");
    const std::string path = folder / "a.npy";
    io::SaveNpy(path, Arange(3, Dtype::kFloat32, device).RequireGrad());
    const Array x = io::LoadNpy(path, device);
    CHECK(&x.device() == &device);
    CHECK(!x.IsGradRequired());
    CHECK_EQ(cxtest::Values(x), (std::vector<double>{0, 1, 2}));
}

CX_TEST(IoRefusesWhatItCannotWrite) {
    const Folder folder;
    const Array x = Arange(3, Dtype::kComplex128);
    CHECK_THROWS(DtypeError, "array \"x\" has dtype complex128, which safetensors lacks",
                 io::Save(folder / "a.safetensors", {{"x", x}}));
    CHECK_THROWS(
        ValueError, "no array may have the name __metadata__",
        io::Save(folder / "a.safetensors", {{"__metadata__", x.AsType(Dtype::kComplex64)}}));
    for (const char* name : {"a.npz", "a.safetensors"}) {
        CHECK_THROWS(ValueError, "array \"x\" is there twice",
                     io::Save(folder / name, {{"x", x}, {"x", x}}));
    }
    CHECK_THROWS(ValueError, "can have one array, not 2",
                 io::Save(folder / "a.npy", {{"x", x}, {"y", x}}));
    CHECK_THROWS(ValueError, "must end in .npy, .npz or .safetensors",
                 io::Save(folder / "a.txt", {{"x", x}}));
    CHECK_THROWS(ValueError, "has 65536 bytes, at most 65535",
                 io::Save(folder / "a.npz", {{std::string(65532, 'x'), x}}));
    CHECK(fs::is_empty(folder / ""));
}

CX_TEST(IoRefusesFilesThatAreCutOff) {
    const Folder folder;
    for (const std::string& path : WriteAll(folder)) {
        const std::string whole = ReadBytes(path);
        for (size_t n = 0; n < whole.size(); ++n) {
            WriteBytes(folder / "b", whole.substr(0, n));
            CHECK(!Loads(folder / "b"));
        }
    }
}

CX_TEST(IoSurvivesChangedBytes) {
    const Folder folder;
    std::mt19937 random{0};
    for (const std::string& path : WriteAll(folder)) {
        const std::string whole = ReadBytes(path);
        int n_refused = 0;
        constexpr int kRuns = 1500;
        for (int i = 0; i < kRuns; ++i) {
            std::string changed = whole;
            const int n_changes = i % 3 == 0 ? 8 : 1;
            for (int k = 0; k < n_changes; ++k) {
                changed[random() % changed.size()] = static_cast<char>(random() % 256);
            }
            WriteBytes(folder / "b", changed);
            if (!Loads(folder / "b")) ++n_refused;
        }
        CHECK(n_refused > kRuns / 4 && n_refused < kRuns);
    }
}
