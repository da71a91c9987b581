#include "chainerx/ops/random/random_plan.h"

#include "chainerx/kernels/random/random.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/routine.h"

namespace chainerx::random {
namespace {

Dtype DefaultDtype(Kind kind, std::optional<Dtype> of_parameters) {
    if (kind == Kind::kTruths) return Dtype::kBool;
    if (kind == Kind::kCounts) return Dtype::kInt64;
    return of_parameters.value_or(Dtype::kFloat64);
}

void CheckDtype(const char* op, Dtype dtype, Kind kind) {
    if (kind == Kind::kFloats && !IsFloat(dtype)) {
        throw DtypeError{op, ": dtype is ", GetDtypeName(dtype), ", expected a real float dtype"};
    }
    if (IsComplex(dtype) || (kind == Kind::kCounts && IsBool(dtype))) {
        throw DtypeError{op, ": dtype is ", GetDtypeName(dtype), ", expected a real dtype"};
    }
}

}  // namespace

void CheckDomain(const char* op, const char* argument, const Array& x, const Domain& domain) {
    const Array wide = AsContiguous(AsType(internal::Detached(x), Dtype::kFloat64, false));
    CallOn<kernels::CheckDomain>(x.device(), wide, op, argument, domain);
}

void RefuseGradient(const char* op, const char* parameter, const Array& gy) {
    throw ChainerxError{
        op, ": ", parameter, " has no gradient, and one of shape ", gy.shape(), " is asked for"};
}

Array Spread(const Array& x, const Shape& shape) {
    if (x.GetTotalSize() == 1) return Reshape(internal::Detached(x), Shape{});
    return AsContiguous(BroadcastTo(internal::Detached(x), shape));
}

Plan::Plan(const char* op, std::initializer_list<Named> parameters, const Options& options,
           Kind kind)
    : op_{op}, parameters_{0, 0, 0, 0}, device_{options.device} {
    std::optional<Dtype> dtype;
    size_t n = 0;
    for (const Named& p : parameters) {
        parameters_[n++] = p.value;
        if (!p.value.is_array()) {
            if (!p.domain.Has(p.value.number())) {
                throw ValueError{
                    op, ": ", p.name, " is ", p.value.number(), ", expected ", p.domain.expected};
            }
            continue;
        }
        const Array& x = p.value.array();
        if (device_ == nullptr) device_ = &x.device();
        CheckSameDevice(op, *device_, x.device());
        CheckDtype(!IsComplex(x.dtype()), op, p.name, x.dtype(), "a real one");
        if (IsFloat(x.dtype())) dtype = dtype ? PromoteTypes(*dtype, x.dtype()) : x.dtype();
        shape_ = BroadcastShapes(op, shape_, x.shape());
    }
    if (device_ == nullptr) device_ = &GetDefaultDevice();
    if (options.size) {
        if (!IsBroadcastable(shape_, *options.size)) {
            throw DimensionError{
                op,     ": size is ",         *options.size, ", which parameters of shape ",
                shape_, " don't broadcast to"};
        }
        shape_ = *options.size;
    }
    dtype_ = options.dtype.value_or(DefaultDtype(kind, dtype));
    CheckDtype(op, dtype_, kind);
    CheckedNBytes(op, shape_, sizeof(double));
    for (const Named& p : parameters) {
        if (p.value.is_array()) CheckDomain(op, p.name, p.value.array(), p.domain);
    }
    state_ = options.source.StateOn(*device_);
}

Array Plan::Get(int i, Dtype compute) const {
    const Parameter& p = parameters_[static_cast<size_t>(i)];
    if (!p.is_array()) return Full(Shape{}, p.number(), compute, *device_);
    return AsType(p.array(), compute, false);
}

Array Plan::GetSpread(int i, Dtype compute) const { return Spread(Get(i, compute), shape_); }

bool Plan::Is(int i, double number) const {
    const Parameter& p = parameters_[static_cast<size_t>(i)];
    return !p.is_array() && p.number() == number;
}

Array Plan::Uniform(Dtype compute) const {
    Array u = EmptyUnchecked(shape_, compute, *device_);
    CallOn<kernels::RandomUniform>(*device_, state_, 0.0, 1.0, u);
    return u;
}

Array Plan::OpenUniform() const {
    Array u = EmptyUnchecked(shape_, Dtype::kFloat64, *device_);
    CallOn<kernels::RandomUniform>(*device_, state_, 0x1p-54, 1.0, u);
    return u;
}

Array Plan::Exponential() const { return Negative(Log1p(Negative(Uniform()))); }

Array Plan::Normal(Dtype compute) const {
    Array z = EmptyUnchecked(shape_, compute, *device_);
    CallOn<kernels::RandomNormal>(*device_, state_, 0.0, 1.0, z);
    return z;
}

Dtype Plan::compute_dtype() const {
    return dtype_ == Dtype::kFloat64 ? Dtype::kFloat64 : Dtype::kFloat32;
}

Array Plan::Finish(const Array& y) const { return AsType(y, dtype_, false); }

}  // namespace chainerx::random
