# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the bindings of tenon.nn and tenon.optim from the headers of frontend/nn.

A struct with TENON_FIELDS is a class: its constructor without a key, whose options become arguments by name, and `key`; its
calls; its fields. A declaration is a function, as in generate.py.

    python3 generate_layers.py FRONTEND OUT.cpp
"""
import pathlib
import re
import sys

import generate
from generate import Parameter, declarations, default_text, example_of, read_examples, read_words, split

HEADERS = ["linear", "conv", "pool", "norm", "attention", "recurrent", "resize", "graph", "losses", "sequential", "initialisers",
           "optimizers/schedules", "optimizers/optimizers", "optimizers/averages", "optimizers/optimizer", "precision", "mode"]
OPTIM = ("optimizers/", "precision")
LEFT_OUT = {"check_pool", "relu", "gelu", "tanh", "sigmoid", "zeros_slot", "count_slot", "scales_loss", "loss_scale", "ema",
            # Initialisers are of layers of C++.
            "constant", "zeros", "ones", "uniform", "normal", "truncated_normal", "xavier_uniform", "xavier_normal",
            "kaiming_uniform", "kaiming_normal", "orthogonal"}
# Structs that Python has another way, or has no use for.
STRUCTS_LEFT_OUT = {"Parameter", "Buffer", "Fixed", "OptimizerState", "Sequential", "Residual", "Activation", "Recurrent", "KeyValueCache"}
DIMENSIONS = {"Conv": (1, 2, 3), "ConvTranspose": (1, 2, 3), "MaxPool": (1, 2, 3), "AvgPool": (1, 2, 3),
              "FractionalMaxPool": (2, 3)}

generate.READ.update({
    "Rate": "float | Rate | Callable[[Tensor], Tensor]", "Which": "Callable[[str, Tensor], bool] | None", "Mode": "Mode",
    "Optimizer": "Optimizer", "std::vector<Optimizer>": "Sequence[Optimizer]",
})


class Options:
    """struct XOptions { type name = default, other = default; }"""

    def __init__(self, name, body):
        self.name = name.split("<")[0]
        self.fields = []
        for line in re.sub(r"//.*", "", body).split(";"):
            match = re.match(r"\s*([\w:]+(?:<[^=]*?>)?)\s+(.*)", line.strip(), re.S)
            if not match:
                continue
            for field in split(match[2]):
                field_name, _, default = field.partition(" = ")
                self.fields.append((match[1], field_name.strip(), default.strip()))


class Call:
    """The arguments of a constructor, a call or a function, with options expanded."""

    def __init__(self, function, parameters, options, types, n):
        self.types, self.function = types, function
        self.flags, self.signature, self.handles, self.lines, self.arguments = [], [], [], [], []
        by_name = False
        for text in parameters:
            match = re.match(r"(?:const )?(\w+Options)(?:<N>)?& (\w+)(?: = (.*))?$", text)
            if not match:
                self.add(text, n)
                continue
            option, default = options[match[1]], match[3] or "{}"
            kind = option.name + (f"<{n}>" if n and option.name in ("ConvOptions", "ConvTransposeOptions") else "")
            overridden = dict(re.findall(r"\.(\w+) = ([^,}]+)", default))
            self.lines.append(f"nn::{kind} options{f' = nn::{kind}' + default if overridden else ''};")
            for type_, name, own in option.fields:
                if not by_name:
                    by_name = True
                    self.flags.append("nb::kw_only()")
                    self.signature.append("*")
                self.option(type_, name, overridden.get(name, own), n)
            self.arguments.append("options")
        self.by_name = by_name

    def value(self, type_, name, n):
        place = f'{{"{self.function}", "{name}"}}'
        if type_ == "PerAxis<N>":
            return f"from_per_axis<{n}>({place}, {name}_)", "int | Sequence[int]"
        optional = re.fullmatch(r"std::optional<(.*)>", type_)
        inner = optional[1] if optional else type_
        if inner in self.types.enums:
            number, annotation = read_words(place, f"{name}_", self.types.enums[inner])
            return f"static_cast<nn::{inner}>({number})", annotation
        if inner not in generate.READ:
            raise SystemExit(f"generate_layers.py: {self.function}: expected a type of READ, got '{type_}'")
        scope = "nn::" if inner in ("Rate", "Which", "Mode", "Optimizer") else ""
        inner_cpp = inner.replace("<Optimizer>", "<nn::Optimizer>")
        return (f"from<{scope}{inner_cpp}>({place}, {name}_)",
                generate.READ[inner] + (" | None" if optional else ""))

    def option(self, type_, name, default, n):
        value, annotation = self.value(type_, name, n)
        self.handles.append(name)
        self.flags.append(f'nb::arg("{name}") = nb::none()')
        text = default_text(default)
        self.signature.append(f"{name}: {annotation}{' | None' if text == 'None' and 'None' not in annotation else ''} = {text}")
        self.lines.append(f"if (!{name}_.is_none()) options.{name} = {value};")

    def add(self, text, n):
        p = Parameter(text, self.function)
        value, annotation = self.value(p.type, p.name, n)
        self.handles.append(p.name)
        if p.default is None:
            self.flags.append(f'nb::arg("{p.name}").none()')
            self.signature.append(f"{p.name}: {annotation}")
            self.arguments.append(value)
            return
        self.flags.append(f'nb::arg("{p.name}") = nb::none()')
        text = default_text(p.default)
        self.signature.append(f"{p.name}: {annotation}{' | None' if text == 'None' and 'None' not in annotation else ''} = {text}")
        scope = "nn::" if p.type in self.types.enums or p.type in ("Rate", "Which", "Mode", "Optimizer") else ""
        default = f"{scope}{p.default}" if "::" in p.default else p.default
        self.arguments.append(f"{p.name}_.is_none() ? {scope}{p.type.replace('PerAxis<N>', f'nn::PerAxis<{n}>')}({default}) : {value}"
                              if p.default != "{}" else f"{p.name}_.is_none() ? {scope}{p.type}{{}} : {value}")


def result(kind, call):
    if kind == "Tensor" or kind == "std::vector<Tensor>":
        return f"return to_python({call});"
    if kind == "RecurrentResult":
        return f"const auto out = {call};\n  return nb::make_tuple(out.output, to_python(out.state));"
    if kind in ("Optimizer", "Rate"):
        return f"return nb::cast({call});"
    raise SystemExit(f"generate_layers.py: expected a result that Python has, got '{kind}'")


def in_parentheses(text, begin):
    """What stands from there to the parenthesis that ends it."""
    depth, at = 1, begin
    while depth:
        depth += (text[at] == "(") - (text[at] == ")")
        at += 1
    return text[begin:at - 1]


class Struct:
    def __init__(self, name, n, base, comment, body):
        self.cpp = f"nn::{name}" + (f"<{n}>" if n else "")
        self.name = name + (f"{n}d" if n else "")
        self.n, self.base, self.doc = n, base, " ".join(line.strip().removeprefix("///").strip() for line in comment.splitlines())
        flat = re.sub(r"\s*///<? ?.*", "", body)
        constructors = [in_parentheses(flat, m.end()) for m in re.finditer(rf"^  {name}\(", flat, re.M)]
        self.constructor = next((" ".join(c.split()) for c in constructors if "Key&" not in c), "")
        self.has_key = any("Key&" in c for c in constructors)
        self.calls = [(r, " ".join(p.split())) for r, p in
                      re.findall(r"([\w:<>]+) operator\(\)\(((?:[^(){}]|\{\})*)\)", flat)]
        self.fields = []
        for type_, names in re.findall(r"^  (Parameter|Buffer|std::optional<Parameter>|Linear|Fixed|int64_t|bool|std::vector<int64_t>)"
                                       r" ([\w, ]+);", flat, re.M):
            self.fields += [(type_, f.strip()) for f in names.split(",")]

    def bind(self, options, types, inherited, examples):
        out = []
        parent = inherited.get(self.base)
        fields = self.fields + (parent.fields if parent else [])
        calls = self.calls or (parent.calls if parent else [])
        call = Call(self.name, split(self.constructor), options, types, self.n)
        flags, signature, handles = list(call.flags), list(call.signature), list(call.handles)
        if self.has_key:
            if not call.by_name:
                flags.append("nb::kw_only()")
                signature.append("*")
            flags.append('nb::arg("key") = nb::none()')
            signature.append("key: Key | None = None")
            handles.append("key")
        lines = call.lines + [f"new (self) {self.cpp}({', '.join(call.arguments)});"]
        if self.has_key:
            lines.append("if (!key_.is_none())\n      nn::fields::initialise(nn::tensors(*self), "
                         f'from<Key>({{"{self.name}", "key"}}, key_));')
        doc = generate.documented(self.doc, example_of(f"nn.{self.name}", examples, "examples_nn.txt"))
        out.append(f'  auto c_{self.name} = nb::class_<{self.cpp}>(nn, "{self.name}",\n    "{doc}");\n  add_struct(c_{self.name});\n')
        out.append(f'  c_{self.name}.def("__init__", []({", ".join([self.cpp + "* self"] + ["nb::handle " + h + "_" for h in handles])}) {{\n'
                   "    " + "\n    ".join(lines) + "\n  }" + "".join(", " + f for f in flags)
                   + f',\n    nb::sig("def __init__({", ".join(["self"] + signature)}) -> None"));\n')
        for kind, parameters in calls:
            call = Call(self.name, split(parameters), options, types, self.n)
            names = [self.cpp + "& self"] + ["nb::handle " + h + "_" for h in call.handles]
            body = "\n    ".join(call.lines + [result(kind, f"self({', '.join(call.arguments)})")])
            out.append(f'  c_{self.name}.def("__call__", []({", ".join(names)}) -> nb::object {{\n    {body}\n  }}'
                       + "".join(", " + f for f in call.flags) + ");\n")
        for type_, name in fields:
            member = f"self.{name}"
            if type_ in ("Parameter", "Buffer"):
                get, put = f"return nb::cast(Tensor({member}));", f"{member} = from<Tensor>({{\"{self.name}\", \"{name}\"}}, value);"
            elif type_ == "std::optional<Parameter>":
                get = f"return {member} ? nb::cast(Tensor(*{member})) : nb::none();"
                put = (f"if (!{member}) raise(Raised::kInvalid, \"[{self.name}] expected a layer with {name}, got one without\");\n"
                       f"    *{member} = from<Tensor>({{\"{self.name}\", \"{name}\"}}, value);")
            elif type_ == "Linear":
                out.append(f'  c_{self.name}.def_ro("{name}", &{self.cpp}::{name});\n')
                continue
            elif type_ == "Fixed":
                get, put = f"return to_python({member});", None
            elif type_ == "std::vector<int64_t>":
                get, put = f"nb::list out;\n    for (const int64_t each : {member}) out.append(each);\n    return nb::tuple(out);", None
            else:
                get, put = f"return nb::cast({member});", None
            setter = f",\n    []({self.cpp}& self, nb::handle value) {{\n    {put}\n  }}" if put else ""
            out.append(f'  c_{self.name}.def_prop_{"rw" if put else "ro"}("{name}", []({self.cpp}& self) -> nb::object {{\n    {get}\n  }}{setter});\n')
        return out


def structs(text):
    """In the order of the headers; templates once for each number of axes."""
    pattern = r"((?:^///[^\n]*\n)*)^(template <[^\n]*>\n)?struct (?:TENON_API )?(\w+)(?: : (\w+))? {\n(.*?)^};"
    for comment, _, name, base, body in re.findall(pattern, text, re.M | re.S):
        if ("TENON_FIELDS" not in body and not base) or name in STRUCTS_LEFT_OUT - {"Recurrent"}:
            continue
        for n in DIMENSIONS.get(name, (None,)):
            yield Struct(name, n, base, comment, body)


def main(frontend, out):
    frontend = pathlib.Path(frontend).resolve()
    texts = {h: (frontend / f"nn/include/tenon/nn/{h}.hpp").read_text() for h in HEADERS}
    whole = "\n".join(texts.values())
    types = generate.Types(whole)
    options = {o.name: o for o in (Options(*m) for m in re.findall(r"struct (\w+Options) {\n(.*?)^};", whole, re.M | re.S))}
    examples = read_examples((pathlib.Path(__file__).parent / "examples_nn.txt").read_text())
    functions, lines, known = [], [], {}
    for header, text in texts.items():
        for struct in structs(text):
            known[struct.name] = struct
            if struct.name in STRUCTS_LEFT_OUT:
                continue
            lines += struct.bind(options, types, known, examples)
        module = "optim" if header.startswith(OPTIM) else "nn"
        for function in declarations(text):
            if function.name in LEFT_OUT or function.name.startswith("operator") or "fields::" in function.result:
                continue
            parameters = split(function.text)
            if any(re.search(r"Named|KeyValueCache|Slot|Initialiser", p) for p in parameters):
                continue
            call = Call(function.name, parameters, options, types, None)
            own = f"f{len(functions)}_{function.name}"
            handles = ", ".join(f"nb::handle {h}_" for h in call.handles)
            body = "\n  ".join(call.lines + [result(function.result, f"nn::{function.name}({', '.join(call.arguments)})")])
            functions.append(f"nb::object {own}({handles}) {{\n  {body}\n}}\n")
            example = example_of(f"{module}.{function.name}", examples, "examples_nn.txt")
            lines.append(f'  {module}.def("{function.name}", &{own}{"".join(", " + f for f in call.flags)},\n'
                         f'    nb::sig("def {function.name}({", ".join(call.signature)}) -> {function.result}"),\n'
                         f'    "{generate.documented(function.doc, example)}");\n')
    includes = "".join(f'#include "tenon/nn/{h}.hpp"\n' for h in HEADERS)
    generate.write(out, "generate_layers.py", '#include <fmt/format.h>\n#include "frontend/python/binding/errors.hpp"\n'
                   '#include "frontend/python/binding/nn.hpp"\n#include "frontend/python/binding/structs.hpp"\n' + includes,
                   functions, "add_layers(nb::module_& nn, nb::module_& optim)", lines, examples)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
