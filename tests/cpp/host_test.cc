// Arrays from and to host memory, printing, and features that C++ shares with Python.
#include <array>
#include <sstream>
#include <type_traits>

#include "test.h"

using namespace chainerx;

CX_TEST(ValuesGoToAnArrayAndBack) {
    const std::vector<float> values{1, 2, 3, 4, 5, 6};
    const Array x = Array::FromHost(values, {2, 3});
    CHECK_EQ(x.shape(), (Shape{2, 3}));
    CHECK_EQ(x.dtype(), Dtype::kFloat32);
    CHECK_EQ(x.ToHost<float>(), values);
    CHECK_EQ(Transpose(x).ToHost<float>(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
    CHECK_EQ(x.ToHost<int64_t>(), (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
    CHECK_EQ(Array::FromHost(values).shape(), (Shape{6}));
    CHECK_EQ(Array::FromHost(std::array<int8_t, 2>{1, 2}).dtype(), Dtype::kInt8);
    CHECK_EQ(Array::FromHost(std::vector<unsigned long long>{1}).dtype(), Dtype::kUInt64);
    CHECK_EQ(Array::FromHost(std::vector<double>{}, {0, 3}).shape(), (Shape{0, 3}));
    CHECK_EQ((Array::FromHost(std::vector<double>{}, {0, 3}).ToHost<double>().size()), 0u);
    CHECK_EQ(BroadcastTo(x, {2, 2, 3}).ToHost<double>().size(), 12u);
}

CX_TEST(BoolsAreVectorsOfBitsInCpp) {
    const Array x = Array::FromHost(std::vector<bool>{true, false, true}, {3});
    CHECK_EQ(x.dtype(), Dtype::kBool);
    CHECK_EQ(Sum(x).Item<int>(), 2);
    CHECK_EQ(x.ToHost<bool>(), (std::vector<bool>{true, false, true}));
    CHECK_EQ(x.ToHost<float>(), (std::vector<float>{1, 0, 1}));
}

CX_TEST(ItemIsTheOneElement) {
    CHECK_EQ(Full({1, 1}, 2.5, Dtype::kFloat16).Item<double>(), 2.5);
    CHECK_EQ(Full({}, true).Item<bool>(), true);
    const Array z = Full({}, Scalar{std::complex<double>{1, 2}}, Dtype::kComplex64);
    CHECK((z.Item<std::complex<float>>() == std::complex<float>{1, 2}));
    CHECK_THROWS(DtypeError, "item: an array of dtype complex64", z.Item<float>());
    CHECK_THROWS(DimensionError, "item: an array of shape (2,) has 2 elements, expected 1",
                 Zeros({2}).Item<float>());
    CHECK_THROWS(DimensionError, "has 0 elements", Zeros({0}).Item<float>());
}

CX_TEST(ItemOfAnArrayInAGraphLeavesTheGraph) {
    const Array x = Full({}, 3.0, Dtype::kFloat64).RequireGrad();
    const Array y = x * x;
    CHECK_EQ(y.Item<double>(), 9.0);
    Backward(y);
    CHECK_EQ(x.GetGrad()->Item<double>(), 6.0);
}

CX_TEST(TooManyOrTooFewValuesAreAnError) {
    const std::vector<float> values(5);
    CHECK_THROWS(DimensionError, "from_host: 5 values for an array of shape (2, 3), which has 6",
                 Array::FromHost(values, {2, 3}));
    CHECK_THROWS(DimensionError, "from_host", Array::FromHost(values, {-1, 5}));
    CHECK_THROWS(DimensionError, "from_host",
                 Array::FromHost(std::vector<float>{}, {0, int64_t{1} << 62, int64_t{1} << 62}));
}

CX_TEST(DefaultsAreThoseOfPython) {
    CHECK_EQ(Zeros({3}).dtype(), Dtype::kFloat32);
    CHECK_EQ(Ones({3}).ToHost<int>(), (std::vector<int>{1, 1, 1}));
    CHECK_EQ(Arange(3).dtype(), Dtype::kInt32);
    CHECK_EQ(Arange(3).ToHost<int>(), (std::vector<int>{0, 1, 2}));
    CHECK_EQ(Arange(1, 3).ToHost<int>(), (std::vector<int>{1, 2}));
    CHECK_EQ(Arange(0.5, 2.0, 0.5).ToHost<double>(), (std::vector<double>{0.5, 1, 1.5}));
    CHECK_EQ(Arange(3, Dtype::kInt64).dtype(), Dtype::kInt64);
    CHECK_EQ(Eye(2).ToHost<int>(), (std::vector<int>{1, 0, 0, 1}));
    CHECK_EQ(Tri(2).ToHost<int>(), (std::vector<int>{1, 0, 1, 1}));
    CHECK_EQ(Linspace(0, 1, 3).ToHost<float>(), (std::vector<float>{0, 0.5, 1}));
    CHECK_EQ(OnesLike(Zeros({2}, Dtype::kInt8)).dtype(), Dtype::kInt8);
}

CX_TEST(OneAxisNeedsNoBraces) {
    const Array x = Array::FromHost(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
    CHECK_EQ(Sum(x).Item<int>(), 21);
    CHECK_EQ(Sum(x, 1).ToHost<int>(), (std::vector<int>{6, 15}));
    CHECK_EQ(Max(x, -2).ToHost<int>(), (std::vector<int>{4, 5, 6}));
    CHECK_EQ(Sum(x, Axes{0, 1}).Item<int>(), 21);
    CHECK_EQ(x.Sum(0, true).shape(), (Shape{1, 3}));
    CHECK_THROWS(DimensionError, "sum", Sum(x, 1000));
    CHECK_EQ(Mod(x, 4).ToHost<int>(), (std::vector<int>{1, 2, 3, 0, 1, 2}));
}

CX_TEST(ArraysPrintThemselves) {
    std::ostringstream out;
    out << Arange(3) << " " << Arange(3).shape() << " " << Arange(3).dtype() << " " << Array{};
    CHECK_EQ(out.str(),
             "array([0, 1, 2], shape=(3,), dtype=int32, device='native:0') (3,) int32 array(null)");
}

CX_TEST(ComparisonsAreNoConditions) {
    // `if (a == b)` would be ambiguous for a reader.
    static_assert(!std::is_constructible_v<bool, Array>);
    CHECK(All(Arange(3) == Arange(3)).Item<bool>());
}

CX_TEST(UnsignedNumbersOfAnyNameKeepTheirSign) {
    CHECK_EQ(Full({}, 18446744073709551615ull, Dtype::kUInt64).Item<uint64_t>(), UINT64_MAX);
}

CX_TEST(ConvolutionsTakeANumberForAllAxesOrOneForEach) {
    const Array x = Ones({1, 4, 6, 7});
    const Array w = Ones({2, 4, 3, 2});
    const Array b = Ones({2});
    CHECK_EQ(Conv(x, w).shape(), (Shape{1, 2, 4, 6}));
    CHECK_EQ(Conv(x, w, b, 2, 1).shape(), (Shape{1, 2, 3, 4}));
    CHECK_EQ(Conv(x, w, b, {2, 1}, {1, 0}).shape(), (Shape{1, 2, 3, 6}));
    CHECK_EQ(Conv(x, w, b, 1, AxisPads{{0, 1}, {2, 3}}).shape(), (Shape{1, 2, 6, 10}));
    CHECK_EQ(Conv(x, w, std::nullopt, 3, 0, true, {1, 2}).shape(), (Shape{1, 2, 2, 3}));
    CHECK_EQ(Conv(x, Ones({2, 2, 3, 2}), b, 1, 0, false, 1, 2).At({0, 1, 0, 0}).Item<float>(), 13);
    CHECK_EQ(ConvTranspose(x, Ones({4, 2, 3, 2})).shape(), (Shape{1, 2, 8, 8}));
    CHECK_EQ(ConvTranspose(x, Ones({4, 2, 3, 2}), b, 2, 0, PerAxis{14, 14}).shape(),
             (Shape{1, 2, 14, 14}));
    CHECK_THROWS(DimensionError, "conv: stride is (2,), expected 2 numbers", Conv(x, w, b, {2}));
    CHECK_THROWS(DimensionError, "conv: pad[1] is -1, expected at least 0",
                 Conv(x, w, b, 1, {0, -1}));
}
