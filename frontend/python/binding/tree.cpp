// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/python/binding/tree.hpp"

#include <unordered_map>

#include "frontend/python/binding/arguments.hpp"
#include "frontend/python/binding/arrays.hpp"
#include "frontend/python/binding/errors.hpp"
#include "frontend/python/binding/structs.hpp"

namespace tenon::python {
namespace {

constexpr int kMostLevels = 200;

enum Kind : int64_t {
  kTensor,
  kList,
  kTuple,
  kNamedTuple,
  kDict,
  kFields,
  kKey,
  kFixed,
  kNumber,
  kParameter,
  kStruct
};

/// Where a key stood in a structure that holds none.
struct KeyPlace {};

struct Names {
  nb::object fields = nb::steal(PyUnicode_InternFromString("_fields"));
  nb::object dataclass = nb::steal(PyUnicode_InternFromString("__dataclass_fields__"));
  nb::object module = nb::steal(PyUnicode_InternFromString("__tenon_module__"));
  nb::object dict = nb::steal(PyUnicode_InternFromString("__dict__"));
};
const Names& names() {
  static const Names& out = *new Names();
  return out;
}

bool has_attribute(nb::handle object, const nb::object& name) {
  return PyObject_HasAttr(object.ptr(), name.ptr()) == 1;
}

/// A learned tensor, or a Buffer.
nn::Parameter* parameter_in(nb::handle value) {
  static const nb::handle type = nb::type<nn::Parameter>();
  return PyObject_TypeCheck(value.ptr(), reinterpret_cast<PyTypeObject*>(type.ptr()))
             ? nb::inst_ptr<nn::Parameter>(value)
             : nullptr;
}
bool is_buffer(nb::handle value) { return nb::isinstance<nn::Buffer>(value); }

Kind kind_of(nb::handle value, bool floats) {
  PyObject* const p = value.ptr();
  if (tensor_in(value)) return parameter_in(value) ? kParameter : kTensor;
  if (p == Py_None || PyBool_Check(p) || PyLong_Check(p) || PyUnicode_Check(p) || PyType_Check(p))
    return kFixed;
  if (PyFloat_Check(p)) return floats ? kNumber : kFixed;
  if (PyList_Check(p)) return kList;
  if (PyTuple_Check(p)) return has_attribute(value, names().fields) ? kNamedTuple : kTuple;
  if (PyDict_Check(p)) return kDict;
  if (nb::isinstance<Key>(value) || nb::isinstance<KeyPlace>(value)) return kKey;
  if (struct_kind(value)) return kStruct;
  if (has_attribute(value, names().module) || has_attribute(value, names().dataclass))
    return kFields;
  if (floats && PyObject_CheckBuffer(p) && !PyBytes_Check(p)) return kNumber;
  return kFixed;
}

/// The attributes of a module or dataclass, by names.
nb::dict attributes(nb::handle value) {
  if (has_attribute(value, names().dict)) return nb::borrow<nb::dict>(value.attr(names().dict));
  nb::dict out;  // of a dataclass with slots
  for (nb::handle name : nb::borrow<nb::dict>(value.attr(names().dataclass)).keys())
    out[name] = value.attr(name);
  return out;
}

Tensor words_of(nb::handle key) {
  return nb::isinstance<Key>(key) ? nb::cast<const Key&>(key).words() : Tensor();
}

class Reader {
 public:
  Reader(Leaves& out, bool floats, Interned* key) : out_(out), floats_(floats), key_(key) {}

  void read(nb::handle value, int level) {
    if (level > kMostLevels)
      raise(Raised::kInvalid,
            "[tree] expected a structure of at most {} levels, got more, or one that holds itself",
            kMostLevels);
    const Kind kind = kind_of(value, floats_);
    if (key_) out_.key.push_back(kind);
    switch (kind) {
      case kTensor:
        out_.tensors.push_back(*tensor_in(value));
        return;
      case kParameter:
        out_.tensors.push_back(*tensor_in(value));
        if (key_) out_.key.push_back(parameter_in(value)->frozen);
        return;
      case kStruct: {
        const StructKind& kind_of_struct = *struct_kind(value);
        for (const nn::Named& named : kind_of_struct.tensors(value))
          out_.tensors.push_back(*named.tensor);
        if (!key_) return;
        out_.key.push_back(key_->number(value.type()));
        kind_of_struct.fixed(value, [&](int64_t number) { out_.key.push_back(number); });
        return;
      }
      case kNumber:
        out_.tensors.push_back(from<Tensor>({"tree", "a leaf"}, value));
        return;
      case kKey:
        out_.tensors.push_back(words_of(value));
        return;
      case kFixed:
        if (key_) fixed(value);
        return;
      case kList:
      case kTuple:
      case kNamedTuple: {
        if (key_) {
          out_.key.push_back(static_cast<int64_t>(nb::len(value)));
          if (kind == kNamedTuple) out_.key.push_back(key_->number(value.type()));
        }
        for (nb::handle element : nb::borrow<nb::sequence>(value)) read(element, level + 1);
        return;
      }
      case kDict:
        fields(nb::borrow<nb::dict>(value), level);
        return;
      case kFields:
        if (key_) out_.key.push_back(key_->number(value.type()));
        fields(attributes(value), level);
        return;
    }
  }

 private:
  void fields(const nb::dict& values, int level) {
    if (key_) out_.key.push_back(static_cast<int64_t>(nb::len(values)));
    for (const auto [name, value] : values) {
      if (key_) out_.key.push_back(key_->number(name));
      read(value, level + 1);
    }
  }

  void fixed(nb::handle value) {
    PyObject* const p = value.ptr();
    if (PyBool_Check(p)) {
      out_.key.push_back(p == Py_True ? -1 : -2);
    } else if (PyLong_Check(p)) {
      int overflow = 0;
      const long long number = PyLong_AsLongLongAndOverflow(p, &overflow);
      out_.key.push_back(overflow == 0 ? number : key_->number(value));
      out_.key.push_back(overflow);
    } else {
      out_.key.push_back(key_->number(value));
    }
  }

  Leaves& out_;
  bool floats_;
  Interned* key_;
};

class Writer {
 public:
  Writer(bool floats, const std::function<nb::object(nb::handle)>& f) : floats_(floats), f_(f) {}

  nb::object write(nb::handle value, int level) const {
    switch (kind_of(value, floats_)) {
      case kTensor:
      case kNumber:
        return f_(value);
      case kParameter: {
        const nb::object new_value = f_(value);
        nb::object out = is_buffer(value) ? nb::cast(nn::Buffer(*nb::inst_ptr<nn::Buffer>(value)))
                                          : nb::cast(nn::Parameter(*parameter_in(value)));
        put(*parameter_in(out), new_value);
        return out;
      }
      case kStruct: {
        nb::object out = struct_kind(value)->copy(value);
        for (const nn::Named& named : struct_kind(value)->tensors(out)) {
          if (!named.parameter)
            put(*named.tensor, f_(nb::cast(*named.tensor)));
          else if (named.is_learned)
            put(*named.tensor, f_(nb::cast(*named.parameter)));
          else
            put(*named.tensor, f_(nb::cast(static_cast<const nn::Buffer&>(*named.parameter))));
        }
        return out;
      }
      case kKey: {
        nb::object words = f_(nb::cast(words_of(value)));
        const Tensor* const x = tensor_in(words);
        if (!x) return words;
        return x->has_value() ? nb::cast(Key(*x)) : nb::cast(KeyPlace());
      }
      case kFixed:
        return nb::borrow(value);
      case kList: {
        nb::list out;
        for (nb::handle element : nb::borrow<nb::list>(value))
          out.append(write(element, level + 1));
        return out;
      }
      case kTuple:
      case kNamedTuple: {
        nb::list out;
        for (nb::handle element : nb::borrow<nb::tuple>(value))
          out.append(write(element, level + 1));
        if (PyTuple_CheckExact(value.ptr())) return nb::tuple(out);
        if (has_attribute(value, names().fields)) return value.type().attr("_make")(out);
        return value.type()(out);
      }
      case kDict: {
        nb::dict out;
        for (const auto [name, each] : nb::borrow<nb::dict>(value))
          out[name] = write(each, level + 1);
        return out;
      }
      case kFields:
        break;
    }
    const nb::object type = nb::borrow(value.type());
    nb::object out = nb::module_::import_("builtins").attr("object").attr("__new__")(type);
    const nb::object set = nb::module_::import_("builtins").attr("object").attr("__setattr__");
    for (const auto [name, each] : attributes(value)) set(out, name, write(each, level + 1));
    return out;
  }

 private:
  /// None: no value.
  static void put(Tensor& to, nb::handle value) {
    const Tensor* const x = tensor_in(value);
    to = x ? *x : Tensor();
  }

  bool floats_;
  const std::function<nb::object(nb::handle)>& f_;
};

}  // namespace

int64_t Interned::number(nb::handle object) {
  // By type too: 1 and 1.0 are equal.
  const nb::object pair = nb::make_tuple(nb::borrow(object.type()), nb::borrow(object));
  const auto numbers = nb::borrow<nb::dict>(numbers_.get());
  PyObject* const found = PyDict_GetItemWithError(numbers.ptr(), pair.ptr());
  if (found) return PyLong_AsLongLong(found);
  if (PyErr_Occurred()) {
    PyErr_Clear();
    refuse({"compile", "an argument"},
           "tensors, numbers, or objects with a hash, by which calls are told apart", object);
  }
  const auto next = static_cast<int64_t>(nb::len(numbers));
  numbers[pair] = next;
  return next;
}

Leaves leaves_of(nb::handle tree, bool floats, Interned* key) {
  Leaves out;
  add_leaves(tree, floats, key, out);
  return out;
}

void add_leaves(nb::handle tree, bool floats, Interned* key, Leaves& out) {
  Reader(out, floats, key).read(tree, 0);
}

nb::object mapped(nb::handle tree, bool floats, const std::function<nb::object(nb::handle)>& f) {
  return Writer(floats, f).write(tree, 0);
}

namespace {

std::unordered_map<PyTypeObject*, StructKind>& struct_kinds() {
  static auto& kinds = *new std::unordered_map<PyTypeObject*, StructKind>();
  return kinds;
}

void add_named(nb::handle value, const std::string& name, int level, std::vector<nn::Named>& out) {
  if (level > kMostLevels)
    raise(Raised::kInvalid,
          "[model] expected a structure of at most {} levels, got more, or one that holds itself",
          kMostLevels);
  const auto add = [&](const std::string& own, nb::handle element) {
    add_named(element, nn::fields::joined(name, own), level + 1, out);
  };
  switch (kind_of(value, false)) {
    case kTensor:
      out.push_back({name, tensor_in(value), nullptr, false});
      return;
    case kParameter:
      out.push_back({name, parameter_in(value), parameter_in(value), !is_buffer(value)});
      return;
    case kStruct:
      for (nn::Named& named : struct_kind(value)->tensors(value)) {
        named.name = nn::fields::joined(name, named.name);
        out.push_back(std::move(named));
      }
      return;
    case kList:
    case kTuple:
    case kNamedTuple: {
      size_t i = 0;
      for (nb::handle element : nb::borrow<nb::sequence>(value)) add(std::to_string(i++), element);
      return;
    }
    case kDict:
    case kFields: {
      const bool is_dict = PyDict_Check(value.ptr());
      for (const auto [own, element] : is_dict ? nb::borrow<nb::dict>(value) : attributes(value))
        add(nb::cast<std::string>(nb::str(own)), element);
      return;
    }
    case kKey:
    case kFixed:
    case kNumber:
      return;
  }
}

}  // namespace

const StructKind* struct_kind(nb::handle value) {
  const auto found = struct_kinds().find(Py_TYPE(value.ptr()));
  return found == struct_kinds().end() ? nullptr : &found->second;
}

void add_struct_kind(nb::handle type, const StructKind& kind) {
  struct_kinds().insert_or_assign(reinterpret_cast<PyTypeObject*>(type.ptr()), kind);
}

std::vector<nn::Named> named_of(nb::handle tree) {
  std::vector<nn::Named> out;
  add_named(tree, "", 0, out);
  return out;
}

void add_trees(nb::module_& m) {
  const nb::class_<KeyPlace> key_place(m, "_KeyPlace");
  m.def(
      "tree_leaves",
      [](nb::handle tree) {
        nb::list out;
        for (Tensor& x : leaves_of(tree, false, nullptr).tensors)
          out.append(to_python(std::move(x)));
        return out;
      },
      nb::arg("tree").none(),
      "The tensors of a structure, in order.\n\n"
      ">>> [x.item() for x in tn.tree_leaves({'a': tn.ones(()), 'b': [tn.zeros(()), 'text']})]\n"
      "[1.0, 0.0]");
  m.def(
      "tree_map",
      [](nb::callable f, nb::handle tree) {
        static_cast<void>(leaves_of(tree, false, nullptr));  // it ends
        return mapped(tree, false, [&](nb::handle x) { return nb::object(f(x)); });
      },
      nb::arg("f"), nb::arg("tree").none(),
      "The same structure, with f(tensor) in place of each tensor. Modules are copied.\n\n"
      ">>> tn.tree_map(lambda x: x + 1, {'a': tn.ones(())})\n"
      "{'a': Tensor(2.0, dtype=float32, device='cpu:0')}");
}

}  // namespace tenon::python
