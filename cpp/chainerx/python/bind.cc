#include "chainerx/python/bind.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chainerx/core/error.h"

namespace chainerx::python {

Binding* Binding::first = nullptr;
Alias* Alias::first = nullptr;

Binding::Binding(Kind kind, ArgSpec& spec, const char* doc, Entry entry, bool is_elementwise)
    : kind{kind}, spec{spec}, doc{doc}, entry{entry}, is_elementwise{is_elementwise}, next{first} {
    spec.kind_ = kind;
    spec.entry_ = entry;
    first = this;
}

namespace {

std::string_view Trim(std::string_view s) {
    while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
    while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
    return s;
}

// The parameters of "a: ndarray, axis: int | None = None) -> ndarray".
std::vector<std::string_view> SplitParameters(std::string_view text) {
    std::vector<std::string_view> out;
    int depth = 0;
    size_t begin = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '[' || c == '(') ++depth;
        const bool end = c == ')' && depth == 0;
        if (end || (c == ',' && depth == 0)) {
            const std::string_view p = Trim(text.substr(begin, i - begin));
            if (!p.empty()) out.push_back(p);
            begin = i + 1;
            if (end) break;
        }
        if (c == ']' || (c == ')' && !end)) --depth;
    }
    return out;
}

std::string_view NameOf(std::string_view parameter) {
    return Trim(parameter.substr(0, parameter.find_first_of(":=")));
}

}  // namespace

void ArgSpec::Init() {
    if (count_ != 0) return;
    bool keyword_only = false;
    for (std::string_view p : SplitParameters(signature_)) {
        if (p == "*") {
            keyword_only = true;
            continue;
        }
        std::string_view name = NameOf(p);
        if (name.front() == '*') {
            has_varargs_ = true;
            name.remove_prefix(1);
        }
        if (count_ == kMaxArgs) Py_FatalError("chainerx: too many parameters in a signature");
        const bool required = p.find('=') == std::string_view::npos && p.front() != '*';
        const std::string text{name};
        names_[count_] = PyUnicode_InternFromString(text.c_str());
        required_[count_] = required;
        if (required) n_required_ = count_ + 1;
        if (!keyword_only && p.front() != '*') ++n_positional_;
        ++count_;
        if (p.front() == '*') keyword_only = true;
    }
}

namespace {

struct Pair {
    const char* name;
    const char* other;
};

// NumPy's names of parameters that have another name here, which is the original's.
constexpr Pair kSynonyms[] = {
    {"tup", "arrays"}, {"val", "x"}, {"prototype", "a"}, {"a", "object"}, {"iter", "iterable"}};

// Reasons why parameters of NumPy are absent from all functions.
constexpr Pair kNotHere[] = {
    {"order", ": new arrays are in C order, others lie as their operands; there are no fields"},
    {"like", ": there is one type of array"},
    {"subok", ": there is one type of array"},
    {"casting", ": cast with astype(); docs/dtypes.md says which dtypes results have"},
    {"signature", ": dtype says in which dtype to compute"},
    {"sig", ": dtype says in which dtype to compute"},
    {"overwrite_input", ": operands are never written to"},
    {"axes", ": move axes with moveaxis()"},
    {"ndmax", ": lists are as deep as they are"},
    {"requires_grad", ": require_grad() of the array makes it a leaf of a graph"},
};

// Names of parameters in PyTorch, and plurals, that are errors here: what their users mean.
constexpr Pair kMeant[] = {
    {"dim", "axis"}, {"dims", "axis"}, {"axes", "axis"}, {"keepdim", "keepdims"}, {"other", "x2"}};

const char* Find(std::span<const Pair> pairs, PyObject* key) {
    for (const Pair& pair : pairs) {
        if (PyUnicode_CompareWithASCIIString(key, pair.name) == 0) return pair.other;
    }
    return nullptr;
}

// Levenshtein's.
size_t EditDistance(std::string_view a, std::string_view b) {
    std::vector<size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 0; i < a.size(); ++i) {
        size_t diagonal = std::exchange(row[0], i + 1);
        for (size_t j = 0; j < b.size(); ++j) {
            const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
        }
    }
    return row.back();
}

// What to say of a keyword that is no parameter: the one that was meant, or why there is none.
std::string Advice(std::span<PyObject* const> names, PyObject* keyword) {
    const auto is_parameter = [&](const char* name) {
        return std::ranges::any_of(names, [name](PyObject* other) {
            return PyUnicode_CompareWithASCIIString(other, name) == 0;
        });
    };
    const char* meant = Find(kMeant, keyword);
    if (meant != nullptr && !is_parameter(meant)) meant = nullptr;
    if (meant == nullptr) {
        if (const char* reason = Find(kNotHere, keyword)) return reason;
        const char* text = PyUnicode_AsUTF8(keyword);
        if (text == nullptr) PyErr_Clear();  // it has surrogates
        const std::string_view word = text != nullptr ? text : "";
        size_t limit = (word.size() + 1) / 3;
        for (PyObject* name : names) {
            const char* other = PyUnicode_AsUTF8(name);
            const size_t distance = EditDistance(word, other);
            if (distance > limit) continue;
            meant = other;
            if (distance == 0) break;
            limit = distance - 1;
        }
    }
    return meant != nullptr ? StrCat(". Did you mean '", meant, "'?") : "";
}

}  // namespace

int ArgSpec::PlaceOfOther(PyObject* keyword) const {
    int i = 0;
    while (i < count_ && PyUnicode_Compare(names_[i], keyword) != 0) ++i;
    if (const char* other = i == count_ ? Find(kSynonyms, keyword) : nullptr) {
        i = 0;
        while (i < count_ && PyUnicode_CompareWithASCIIString(names_[i], other) != 0) ++i;
    }
    return i;
}

int ArgSpec::PlaceOf(Py_ssize_t i) const {
    if (i < n_positional_) return static_cast<int>(i);
    return has_varargs_ ? n_positional_ : count_;
}

const char* ArgSpec::ParameterAt(int place) const { return PyUnicode_AsUTF8(names_[place]); }

std::string_view ArgSpec::AnnotationOf(int place) const {
    for (std::string_view p : SplitParameters(signature_)) {
        if (p == "*" || place-- > 0) continue;
        p = p.substr(0, p.find('='));
        const size_t colon = p.find(':');
        return colon == std::string_view::npos ? std::string_view{} : Trim(p.substr(colon + 1));
    }
    return {};
}

PyObject* ArgSpec::Bind(PyObject* const* args, Py_ssize_t n, PyObject* keywords,
                        PyObject** out) const {
    PyObject* rest = nullptr;
    const Py_ssize_t direct = n < n_positional_ ? n : n_positional_;
    for (Py_ssize_t i = 0; i < direct; ++i) out[i] = args[i];
    if (has_varargs_) {
        rest = PyTuple_New(n - direct);
        if (rest == nullptr) throw PythonError{};
        for (Py_ssize_t i = direct; i < n; ++i) {
            PyTuple_SET_ITEM(rest, i - direct, Py_NewRef(args[i]));
        }
        out[n_positional_] = rest;
    } else if (n > n_positional_) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional argument%s, got %zd%s",
                     name_, n_positional_, n_positional_ == 1 ? "" : "s", n,
                     n <= count_ ? "; give the others by their names" : "");
        throw PythonError{};
    }
    if (keywords == nullptr && n >= n_required_) return rest;
    const auto fail = [&] {
        Py_XDECREF(rest);
        throw PythonError{};
    };
    const Py_ssize_t n_keywords = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
    for (Py_ssize_t k = 0; k < n_keywords; ++k) {
        PyObject* key = PyTuple_GET_ITEM(keywords, k);
        const int i = PlaceOf(key);
        if (i == count_ || (has_varargs_ && i == n_positional_)) {
            PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'%s", name_,
                         key, Advice({names_, static_cast<size_t>(count_)}, key).c_str());
            fail();
        }
        if (out[i] != nullptr) {
            PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'", name_, key);
            fail();
        }
        out[i] = args[n + k];
    }
    for (int i = 0; i < count_; ++i) {
        if (required_[i] && out[i] == nullptr) {
            PyErr_Format(PyExc_TypeError, "%s() missing required argument: '%U'", name_, names_[i]);
            fail();
        }
    }
    return rest;
}

const char* ArgSpec::TextSignature(bool self) const {
    std::string s = self ? "($self" : "(";
    for (std::string_view p : SplitParameters(signature_)) {
        if (s.size() > 1) s += ", ";
        s += NameOf(p);
        if (const size_t eq = p.find('='); eq != std::string_view::npos) {
            s += "=";
            s += Trim(p.substr(eq + 1));
        }
    }
    s += ")";
    return strdup(s.c_str());  // owned by the type or function whose docstring it is, never freed
}

}  // namespace chainerx::python
