// The order in which terms of a row are added, on every device and for every instruction set. A row
// is cut into blocks; element i of a block belongs to lane i % kRowLanes. Lanes are added up within
// a block, then over the blocks, one by one; at last lane i and lane i + w are added, for w =
// kRowLanes / 2, ..., 2, 1. Narrow rows are added up one by one.
#pragma once

#include <cstdint>

namespace chainerx::native {

inline constexpr int64_t kNarrowRow = 32;
inline constexpr int64_t kRowLanes = 32;
inline constexpr int64_t kRowBlock = 512;

// Losses of labels: pieces of so many, in so many lanes, of which each kRowLanes are added up as
// above; then the sums of pieces in the same way.
inline constexpr int64_t kLabelledLanes = 256;
inline constexpr int64_t kLabelledPiece = 4096;

// Normalizations sum so many elements at most in T, as units, and join these in double, one by one:
// first those of a piece, then the pieces. A unit is a part of a run of adjacent elements, or a few
// short runs. Element i of each run belongs to lane i % NormLanes; lanes are added up as above.
template <typename T>
constexpr int64_t NormLanes() {
    return 128 / static_cast<int64_t>(sizeof(T));
}
inline constexpr int64_t kNormUnit = 4096;
// Short runs are merged up to about this many elements, but not from too many addresses.
inline constexpr int64_t kNormEnough = 1024;
inline constexpr int64_t kNormMaxRuns = 16;
constexpr int64_t NormRunsOfUnit(int64_t length) {
    const int64_t runs = kNormEnough / length;
    return runs < 1 ? 1 : runs > kNormMaxRuns ? kNormMaxRuns : runs;
}
// Rows of columns that are summed in T, one by one.
inline constexpr int64_t kNormRows = 64;
// Below, a run is no unit: its elements are columns of rows of images.
inline constexpr int64_t kNormLongRun = 16;
// Elements of a piece, which is worth a thread.
inline constexpr int64_t kNormPiece = 1 << 16;
// A channel of up to so many elements is one piece; of more, if there are enough channels.
inline constexpr int64_t kNormCached = 1 << 17;
constexpr bool IsOneNormPiece(int64_t elements, int64_t channels) {
    return elements <= kNormCached || (elements <= 8 * kNormCached && channels >= 64);
}

// The channels of an array (n, c, s) with short runs, as columns. A row has `images` images, and a
// piece `block` rows; the last images may be a part of a row.
struct NormColumns {
    int64_t images;
    int64_t period;  // columns
    int64_t rows;
    int64_t rest;  // columns of the last row, if it is a part
    int64_t block;
};
inline constexpr int64_t kNormTile = 128;  // columns
constexpr NormColumns ColumnsOf(int64_t n, int64_t c, int64_t s) {
    const int64_t image = c * s;
    const int64_t tile = c < kNormTile ? c : kNormTile;
    if (s == 1 && c >= kNormTile / 2 && IsOneNormPiece(n * tile, (c + kNormTile - 1) / kNormTile)) {
        return {1, c, n, 0, n};
    }
    int64_t images = kNormTile / 2 / image;
    images = images > n ? n : images;
    images = images < 1 ? 1 : images;
    const int64_t period = images * image;
    const int64_t least = (kNormPiece + period - 1) / period;
    return {images, period, n / images, n % images * image,
            (least + kNormRows - 1) / kNormRows * kNormRows};
}
// Gradients of longer rows are always summed in pieces.
inline constexpr int64_t kNormShortRow = 1 << 14;
// Images of a piece of the gradients of gamma and beta of rows of `length` elements, `image` of an
// image.
constexpr int64_t GammaBlock(int64_t n, int64_t image, int64_t length) {
    if (length > kNormShortRow) return n;
    const int64_t least = ((1 << 15) + image - 1) / image;
    const int64_t share = (n + 63) / 64;
    const int64_t few = n < 8 ? n : 8;
    const int64_t most = least > share ? least : share;
    return most > few ? most : few;
}

}  // namespace chainerx::native
