// Overloads of the random functions; Python's tests check the numbers.
#include "test.h"

using namespace chainerx;
using cxtest::Values;
using cxtest::Vector;

namespace {

bool AreSame(const Array& x, const Array& y) {
    return x.shape() == y.shape() && x.dtype() == y.dtype() && Values(x) == Values(y);
}

}  // namespace

CX_TEST(RandomNumbersOfAShape) {
    const Shape shape{2, 3};
    CHECK_EQ(random::Normal({3, 4}).shape(), (Shape{3, 4}));
    CHECK_EQ(random::Uniform({2}).shape(), (Shape{2}));
    CHECK_EQ(random::Normal(shape).shape(), shape);
    CHECK_EQ(random::Normal({}).shape(), (Shape{}));
    CHECK_EQ(static_cast<int>(random::Normal({2}).dtype()), static_cast<int>(Dtype::kFloat64));
    const random::Options options{.dtype = Dtype::kFloat32, .source = 7};
    const random::Options all{.size = shape, .dtype = Dtype::kFloat32, .source = 7};
    // Python's default parameters.
#define SAME(Name, ...)                                                            \
    CHECK(AreSame(random::Name({2, 3}, options), random::Name(__VA_ARGS__, all))); \
    CHECK(AreSame(random::Name(shape, options), random::Name(__VA_ARGS__, all)))
    SAME(Normal, 0, 1);
    SAME(Uniform, 0, 1);
    SAME(Laplace, 0, 1);
    SAME(Logistic, 0, 1);
    SAME(Gumbel, 0, 1);
    SAME(Cauchy, 0, 1);
    SAME(LogNormal, 0, 1);
    SAME(Exponential, 1);
    SAME(Rayleigh, 1);
#undef SAME
    // One number in braces is a shape, too.
    CHECK_EQ(random::Exponential({5}).shape(), (Shape{5}));
    CHECK_EQ(random::Poisson({4}).shape(), (Shape{4}));
    CHECK_EQ(random::Exponential(5).shape(), (Shape{}));
    CHECK(AreSame(random::Gamma(2, 1, all), random::StandardGamma(2, all)));
}

CX_TEST(RandomNumbersOfParameters) {
    const Array loc = Vector({1, 2, 3});
    const random::Options key{.source = 3};
    CHECK_EQ(random::Normal(loc, 0.5).shape(), (Shape{3}));
    CHECK_EQ(Values(random::Normal(loc, 0)), (std::vector<double>{1, 2, 3}));
    CHECK_EQ(random::Uniform(loc, 9, {.size = Shape{2, 3}}).shape(), (Shape{2, 3}));
    CHECK(AreSame(random::Uniform(-1, 1, key), random::Uniform(-1.0, 1.0, key)));
    CHECK_EQ(Values(random::Integers(4, 5, {.size = Shape{2}})), (std::vector<double>{4, 4}));
    CHECK_EQ(random::Integers(0, 9).shape(), (Shape{}));
    const Array last = random::IntegersUpTo(7, 7, {.dtype = Dtype::kUInt8});
    CHECK_EQ(static_cast<int>(last.dtype()), static_cast<int>(Dtype::kUInt8));
    CHECK_EQ(Values(last), (std::vector<double>{7}));
    CHECK_THROWS(ValueError, "normal: scale is -1", random::Normal(0, -1, {.size = Shape{2}}));
    CHECK_THROWS(ValueError, "uniform: high - low is inf", random::Uniform(-1.5e308, 1.5e308));
    CHECK_THROWS(DtypeError, "normal: dtype is int32",
                 random::Normal({2}, {.dtype = Dtype::kInt32}));
}
