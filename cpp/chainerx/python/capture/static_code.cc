#include "chainerx/python/capture/static_code.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "chainerx/capture/recorder.h"
#include "chainerx/capture/recording.h"
#include "chainerx/core/error.h"
#include "chainerx/core/overlap.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/python/capture/results.h"
#include "chainerx/python/capture/state.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/errors.h"

namespace chainerx::python {
namespace {

std::string Describe(const Array& x) { return StrCat(x.dtype(), " of shape ", x.shape()); }

void CopyTo(const Array& x, const Array& to) {
    if (x.GetTotalSize() != 0) CallOn<kernels::AsType>(to.device(), x, to);
}

// Where an array that code returns comes from.
struct Origin {
    int base{-1};  // the index of the input that it is a view of; behind these, of an earlier one
                   // that it returns; -1 if it is new
    int64_t offset{0};
    Shape shape{};
    Strides strides{};

    bool operator==(const Origin&) const = default;

    // Returns whether x is this view of the base.
    bool IsOf(const Array& to, const Array& x) const {
        return x.raw_data() - to.raw_data() == offset && x.dtype() == to.dtype() &&
               x.shape() == shape && x.strides() == strides;
    }
    Array In(const Array& to) const {
        return internal::MakeView(to, shape, strides, to.raw_data() + offset);
    }
};

// A call of a function with the arguments of one form, and a result of another one.
class StaticCode : public internal::HostCode, public Traversable {
 public:
    StaticCode(PyObject* function, PyObject* name, ResultForm given, ShownPlaces shown)
        : function_{Py_NewRef(function)}, given_{std::move(given)}, shown_{std::move(shown)} {
        const char* text = PyUnicode_AsUTF8(name);
        if (text == nullptr) throw PythonError{};
        name_ = StrCat("static_code ", text);
    }

    // The function gets arrays of its own, so that it shows which of them it keeps.
    Ref Call(std::span<const Array> inputs) const {
        std::vector<Array> own;
        for (const Array& x : inputs) own.push_back(internal::Detached(x));
        const Ref given{given_.Fill(own)};
        Ref result = Check(PyObject_Call(function_.get(), PyTuple_GET_ITEM(given.get(), 0),
                                         PyTuple_GET_ITEM(given.get(), 1)));
        std::vector<Array> now;
        const ResultForm form = ResultForm::OfCall(given.get(), now);
        if (form.text() != given_.text() ||
            !std::ranges::equal(now, std::span{own}.first(now.size()), internal::IsSamePlace)) {
            throw CaptureError{
                name_,         ": changed what holds the arrays that it was given, from ",
                given_.text(), " to ",
                form.text(),   ", which the step does not see; return what is new"};
        }
        return result;
    }

    // Returns false if an array lies partly in another one.
    bool Return(ResultForm form, const std::vector<Array>& arrays, std::span<const Array> inputs) {
        returned_ = std::make_unique<ResultForm>(std::move(form));
        std::vector<Array> bases{inputs.begin(), inputs.end()};
        for (const Array& x : arrays) {
            const std::optional<Origin> origin = Find(x, bases, inputs.size());
            if (!origin) return false;
            origins_.push_back(*origin);
            bases.push_back(x);
        }
        return true;
    }
    // By array that it returns.
    const std::vector<Origin>& origins() const { return origins_; }
    const ResultForm& returned() const { return *returned_; }

    std::string name() const override { return name_; }

    void Run(std::span<const Array> inputs, std::span<const Array> outputs) override {
        std::vector<Array> arrays;
        shown_.Set({inputs.begin(), inputs.end()});
        const Ref result = Call(inputs);
        const ResultForm form{result.get(), arrays};
        if (form.text() != returned_->text()) {
            throw CaptureError{name_,         ": returned ",     form.text(),
                               ", expected ", returned_->text(), " as when it was recorded"};
        }
        size_t next = 0;
        for (size_t i = 0; i < arrays.size(); ++i) {
            const Origin& origin = origins_[i];
            const auto base = static_cast<size_t>(std::max(origin.base, 0));
            const bool is_new = origin.base < 0;
            const Array& to = is_new                 ? outputs[next++]
                              : base < inputs.size() ? inputs[base]
                                                     : arrays[base - inputs.size()];
            const Array& x = arrays[i];
            if (!is_new && origin.IsOf(to, x)) continue;
            if (!is_new || x.dtype() != to.dtype() || x.shape() != to.shape() ||
                &x.device() != &to.device()) {
                throw CaptureError{name_,
                                   ": returned an array of ",
                                   Describe(x),
                                   " on ",
                                   x.device().name(),
                                   ", expected ",
                                   is_new                 ? Describe(to)
                                   : base < inputs.size() ? "the one that it was given"
                                                          : "an array that it returns twice",
                                   " on ",
                                   to.device().name(),
                                   " as when it was recorded"};
            }
            CopyTo(x, to);
        }
    }

    bool IsSame(const HostCode& o) const override {
        const auto* other = dynamic_cast<const StaticCode*>(&o);
        return other != nullptr && other->function_.get() == function_.get() &&
               other->given_.text() == given_.text() && other->shown_.IsSame(shown_) &&
               other->returned_->text() == returned_->text() && other->origins_ == origins_;
    }

    int Traverse(visitproc visit, void* arg) const override {
        Py_VISIT(function_.get());
        if (const int r = given_.Traverse(visit, arg); r != 0) return r;
        if (const int r = shown_.Traverse(visit, arg); r != 0) return r;
        return returned_ != nullptr ? returned_->Traverse(visit, arg) : 0;
    }

 private:
    // Later kernels see new arrays as contiguous ones.
    static std::optional<Origin> Find(const Array& x, std::span<const Array> bases,
                                      size_t n_inputs) {
        for (size_t i = 0; i < bases.size(); ++i) {
            const Array& base = bases[i];
            const bool is_same = internal::IsSamePlace(base, x);
            if (!is_same && (x.GetTotalSize() == 0 || !internal::MayShareMemory(base, x))) continue;
            const internal::Extent inner = internal::RangeOf(x);
            const internal::Extent outer = internal::RangeOf(base);
            const bool is_in = outer.begin <= inner.begin && inner.end <= outer.end;
            if (x.dtype() != base.dtype() || &x.device() != &base.device() || !is_in) {
                return std::nullopt;
            }
            if (i < n_inputs || base.IsContiguous()) {
                return Origin{static_cast<int>(i), x.raw_data() - base.raw_data(), x.shape(),
                              x.strides()};
            }
            return std::nullopt;
        }
        return Origin{};
    }

    Ref function_;
    std::string name_;
    ResultForm given_;
    ShownPlaces shown_;
    std::unique_ptr<ResultForm> returned_;
    std::vector<Origin> origins_;
};

// What the step goes on with, in the place of arrays that the code has returned: those that it was
// given, and new ones, which are outputs of the call.
std::vector<Array> TakeResults(const StaticCode& code, const std::vector<Array>& inputs,
                               const std::vector<Array>& arrays, std::vector<Array>& outputs) {
    std::vector<Array> results;
    for (size_t i = 0; i < arrays.size(); ++i) {
        const Origin& origin = code.origins()[i];
        if (origin.base >= 0) {
            const auto base = static_cast<size_t>(origin.base);
            const Array& to = base < inputs.size() ? inputs[base] : results[base - inputs.size()];
            results.push_back(origin.IsOf(to, to) ? to : origin.In(to));
            continue;
        }
        const Array& x = arrays[i];
        results.push_back(outputs.emplace_back(EmptyUnchecked(x.shape(), x.dtype(), x.device())));
        const internal::Unobserved by_ourselves;
        CopyTo(x, outputs.back());
    }
    return results;
}

bool NeedsGradient(PyObject* given) {
    std::vector<Array> arrays;
    CollectArrays(given, arrays);
    return std::ranges::any_of(arrays,
                               [](const Array& x) { return x.IsBackpropRequired(AnyGraph{}); });
}

// static_call(function, name, args, kwargs): what function(*args, **kwargs) returns, which replays
// call in its place.
PyObject* StaticCall(PyObject*, PyObject* const* args, Py_ssize_t n) try {
    if (n != 4 || !PyTuple_CheckExact(args[2]) || !PyDict_CheckExact(args[3])) {
        throw TypeError{"static_call: expected a function, its name, a tuple and a dict"};
    }
    auto* recorder = static_cast<internal::Recorder*>(internal::CurrentCapture());
    NotedPlaces* const noted = NotedPlaces::Current();
    if (recorder == nullptr || noted == nullptr) return PyObject_Call(args[0], args[2], args[3]);
    const Ref given = Check(PyTuple_Pack(2, args[2], args[3]));
    std::vector<Array> inputs;
    std::vector<Array> arrays;
    std::vector<uint32_t> n_kept;
    std::shared_ptr<StaticCode> code;
    {
        const internal::Unobserved by_the_program;
        ResultForm form_of_given = ResultForm::OfCall(given.get(), inputs);
        ShownPlaces shown{*noted, inputs};
        code = std::make_shared<StaticCode>(args[0], args[1], std::move(form_of_given),
                                            std::move(shown));
        const bool needs_gradient = NeedsGradient(given.get());
        for (const Array& x : inputs) n_kept.push_back(x.buffer()->use_count());
        Ref result =
            needs_gradient ? Check(PyObject_Call(args[0], args[2], args[3])) : code->Call(inputs);
        ResultForm form{result.get(), arrays};
        if (needs_gradient && !arrays.empty()) {
            recorder->Refuse(StrCat(code->name(),
                                    " returns arrays, and is given one that needs a gradient, "
                                    "which it would not get")
                                 .c_str());
            return result.Release();
        }
        if (!code->Return(std::move(form), arrays, inputs)) {
            recorder->Refuse(StrCat(code->name(), " returns arrays that overlap in part").c_str());
            return result.Release();
        }
        result = Ref{};
        for (size_t i = 0; i < inputs.size(); ++i) {
            uint32_t now = inputs[i].buffer()->use_count();
            for (const Array& y : arrays) now -= y.buffer() == inputs[i].buffer() ? 1 : 0;
            n_kept[i] = now > n_kept[i] ? now - n_kept[i] : 0;
            const auto same = [&](const Array& x) { return x.buffer() == inputs[i].buffer(); };
            if (std::ranges::any_of(inputs.begin(), inputs.begin() + static_cast<ptrdiff_t>(i),
                                    same)) {
                n_kept[i] = 0;
            }
        }
    }
    std::vector<Array> outputs;
    const std::vector<Array> results = TakeResults(*code, inputs, arrays, outputs);
    NotedPlaces::held()->push_back(code);
    recorder->CallHost(code, inputs, n_kept, outputs);
    const internal::Unobserved by_ourselves;  // NumPy arrays are handed out as such
    return code->returned().Fill(results);
} catch (...) {
    return Failed("static_code");
}

PyMethodDef g_static_code_functions[] = {
    {"static_call", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&StaticCall)),
     METH_FASTCALL,
     "Calls a function in the step that is recorded; each replay calls it, too, in its place."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void InitStaticCode(PyObject* engine) {
    if (PyModule_AddFunctions(engine, g_static_code_functions) < 0) throw PythonError{};
}

}  // namespace chainerx::python
