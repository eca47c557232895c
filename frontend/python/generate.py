# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the bindings of functions from the public C++ headers, which say it all once: names, types, defaults, meaning.

A function is a row of functions.def, or a declaration `TENON_API Result name(parameters);` with its comment. What is
bound by hand, and what Python calls otherwise, is said in the tables below; anything else that a header declares and
this cannot bind is an error here.

    python3 generate.py FRONTEND OUT.cpp
"""
import functools
import pathlib
import re
import sys

# Headers of frontend/, by the module that has their functions ("": tenon itself).
MODULES = {
    "": ["tensor/include/tenon/functions.def", "tensor/include/tenon/move.hpp", "tensor/include/tenon/make.hpp",
         "tensor/include/tenon/sort.hpp", "tensor/include/tenon/tensor.hpp"],
    "linalg": ["tensor/include/tenon/linalg.hpp"],
    "fft": ["tensor/include/tenon/fft.hpp"],
    "random": ["tensor/include/tenon/random.hpp"],
}
# Bound as they are under a name with an underscore, "_pad" and "_pad1" for its second form: the function of that name is
# written in Python, as NumPy's form or the standard's is another one.
RAW = {
    "take", "pad", "quantile", "clip", "rot90", "repeat", "split", "chunk", "meshgrid", "concatenate", "from_file", "full",
    "arange", "linspace", "logspace", "eye", "tri", "full_like", "bincount", "nonzero", "where", "var", "stddev", "unique",
    "permutation", "tensordot", "histogram", "sort", "argsort", "einsum", "fftfreq", "rfftfreq", "roll", "to", "choice",
    "squeeze", "flip", "searchsorted", "cholesky", "svd", "qr", "cumsum", "cumprod",
    "fft", "ifft", "rfft", "irfft",
}
# Not bound: what Python has no use for, or binds by hand.
LEFT_OUT = {"slice", "trace", "tensor", "from_size", "zeros", "ones", "zeros_like", "ones_like", "realize", "realize_detached"}
PYTHON_NAMES = {"bit_cast": "view", "stddev": "std"}
# Parameters that NumPy or the array API standard name otherwise.
PARAMETERS = {
    ("tril", "offset"): "k", ("triu", "offset"): "k", ("diag", "offset"): "k", ("matmul", "a"): "x1", ("matmul", "b"): "x2", ("tile", "counts"): "repetitions",
}
# Defaults that the standard has and C++ has not.
DEFAULTS = {("take_along_axis", "axis"): "-1"}
# From the first of these on, parameters are given by name.
BY_NAME = {"keepdims", "dtype", "precision", "descending", "equal_nan", "mode", "method", "combine", "norm", "largest"}
# What runs kernels and waits, and so lets other threads of Python run.
WAITS = {"contiguous", "copy", "masked_select", "unique", "nonzero"}

# Results whose fields NumPy names otherwise.
RESULTS = {"Eigen": ("EighResult", "eigenvalues eigenvectors"), "QR": ("QRResult", "Q R"), "SVD": ("SVDResult", "U S Vh"),
           "SignLogDet": ("SlogdetResult", "sign logabsdet")}

# C++ type: how an argument is read, and what a signature calls it.
READ = {
    "Tensor": "ArrayLike", "Axes": "int | Sequence[int]", "Sizes": "int | Sequence[int | Size]", "Size": "int | Size",
    "int": "int", "int64_t": "int", "uint64_t": "int", "bool": "bool", "double": "float", "DType": "DTypeLike", "std::string": "str",
    "Number": "float", "Key": "Key", "std::vector<Tensor>": "Sequence[ArrayLike]",
    "std::vector<int64_t>": "int | Sequence[int]", "std::vector<double>": "Sequence[float]",
    "ComplexPair": "tuple[ArrayLike, ArrayLike]", "PadWidths": "Sequence[tuple[int, int]]",
}


class Parameter:
    def __init__(self, text, function):
        text, _, default = text.partition(" = ")
        match = re.fullmatch(r"(?:const )?([\w:]+(?:<[^&]*>)?)\s*&?\s+(\w+)", text.strip())
        if not match:
            raise SystemExit(f"generate.py: {function}: expected a parameter, got '{text}'")
        self.type, name = match.groups()
        self.name = PARAMETERS.get((function, name), name)
        self.default = default.strip() or DEFAULTS.get((function, name))


def split(text, separator=","):
    """Cut at separators outside of all brackets."""
    out, depth, part = [], 0, ""
    for c in text:
        depth += (c in "({[<") - (c in ")}]>")
        if c == separator and depth == 0:
            out.append(part.strip())
            part = ""
        else:
            part += c
    return out + [part.strip()] if part.strip() else out


class Function:
    def __init__(self, name, result, parameters, doc):
        self.name, self.result, self.doc, self.text = name, result, doc, parameters

    @property
    def is_of_braces(self):
        return "std::initializer_list" in self.text

    @functools.cached_property
    def parameters(self):
        return [Parameter(p, self.name) for p in split(self.text) if not p.startswith("Context&")]


def rows(text):
    for match in re.finditer(r'^TENON_FUNCTION\((\w+), \((.*?)\), \((.*?)\), "(.*)"\)$', text, re.M):
        yield Function(match[1], "Tensor", match[2], match[4])


def declarations(text):
    """Functions at the begin of a line, with the comment before or behind them."""
    pattern = r"((?:^///.*\n)*)^TENON_API ([\w:<>]+) (\w+)\(([^;]*?)\);(?:\s*///< (.*))?$"
    for match in re.finditer(pattern, text, re.M):
        comment, result, name, parameters, behind = match.groups()
        doc = " ".join(line.removeprefix("///").strip() for line in comment.splitlines()) or behind or ""
        yield Function(name, result, " ".join(parameters.split()), doc)


class Types:
    """The enums and the structs of results of the headers."""

    def __init__(self, text):
        self.enums = {name: [words_of(word) for word in re.findall(r"\bk\w+", words)]
                      for name, words in re.findall(r"enum class (\w+)[^{]*{([^}]*)}", text)}
        self.results = {}
        for name, body in re.findall(r"^struct (\w+) {\n(.*?)^};", text, re.M | re.S):
            body = re.sub(r"//.*", "", body)
            fields = [f.strip() for line in re.findall(r"Tensor ([\w, ]+);", body) for f in line.split(",")]
            if fields and re.fullmatch(r"(\s*Tensor [\w, ]+;)+\s*", body):
                self.results[name] = fields


def words_of(name):
    """kNotEqual, or NotEqual, as a word of Python."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name.removeprefix("k")).lower()


def default_text(default):
    """A default of C++ in a signature."""
    if default in ("{}", "", "std::nullopt"):
        return "None"
    if default in ("true", "false"):
        return default.capitalize()
    if match := re.fullmatch(r"DType::k(\w+)", default):
        return repr({"F32": "float32", "I64": "int64"}[match[1]])
    if match := re.fullmatch(r"\w+::(k\w+)", default):
        return repr(words_of(match[1]))
    if re.fullmatch(r"0x1p-\d+", default):
        return repr(float.fromhex(default))
    return default


def read_words(place, value, words):
    """The number of one of the words of an enum, and its type in Python."""
    listed = ", ".join(f'"{w}"' for w in words)
    return (f"from_words({place}, {value}, {{{listed}}})",
            "Literal[" + ", ".join(repr(w) for w in words) + "]")


def read(parameter, function, types):
    """The C++ expression of an argument, and its type in Python."""
    place = f'{{"{function}", "{parameter.name}"}}'
    value, t = parameter.name + "_", parameter.type
    optional = re.fullmatch(r"std::optional<(.*)>", t)
    if optional:
        t = optional[1]
    if t in types.enums:
        number, annotation = read_words(place, value, types.enums[t])
        text = f"static_cast<{t}>({number})"
        return (f"{value}.is_none() ? {parameter.default} : {text}" if parameter.default else text), annotation
    if t not in READ:
        raise SystemExit(f"generate.py: {function}: expected a type of READ, got '{t}'")
    if optional:
        return f"from_optional<{t}>({place}, {value})", READ[t] + " | None"
    if parameter.default is None:
        return f"from<{t}>({place}, {value})", READ[t]
    # Left out, it is C++'s own default.
    otherwise = f"{t}{parameter.default}" if parameter.default == "{}" else f"{t}({parameter.default})"
    annotation = READ[t] + (" | None" if parameter.default == "{}" else "")
    return f"from_or<{t}>({place}, {value}, {otherwise})", annotation


def read_examples(text):
    out = {}
    for block in text.split("\n\n")[1:]:
        name, _, example = block.strip("\n").partition("\n")
        out[name] = example
    return out


def documented(text, example):
    text = text.replace("Throws kInvalid", "Raises InvalidError").replace("Throws kUnsupported", "Raises UnsupportedError")
    text = text.replace("Throws", "Raises InvalidError")
    if example:
        text += "\n\n" + example
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def bind(function, module, is_table, types, number, form, examples):
    name = PYTHON_NAMES.get(function.name, function.name)
    arguments = [read(p, name, types) for p in function.parameters]
    is_member = is_table and function.name not in RAW
    if function.name in RAW:
        name = f"_{name}{form or ''}"
    call = f"tenon::{function.name}({', '.join(a for a, _ in arguments)})"
    annotation = {"Tensor": "Tensor", "std::vector<Tensor>": "list[Tensor]"}.get(function.result, function.result)
    body = f"return to_python({call});"
    given = [p.name for p in function.parameters]
    if is_table and "axis" in given and "keepdims" in given:
        # Over no axes: an axis of size 1, over which is reduced, changes nothing.
        whole = call.replace(arguments[0][0], f"{arguments[0][0]}.expand_dims(0)", 1)
        whole = whole.replace(arguments[given.index("axis")][0], "Axes(0)").replace(arguments[given.index("keepdims")][0], "false")
        body = f"if (is_no_axis(axis_)) return to_python({whole});\n  {body}"
    if function.name in WAITS and function.result not in types.results:
        values = "".join(f"const auto a{i} = {a};\n  " for i, (a, _) in enumerate(arguments))
        given = ", ".join(f"a{i}" for i in range(len(arguments)))
        body = f"{values}return to_python(without_gil([&] {{ return tenon::{function.name}({given}); }}));"
    elif function.result in types.results and function.result != "ComplexPair":
        fields = types.results[function.result]
        kind, shown_fields = RESULTS.get(function.result, (function.result, " ".join(fields)))
        body = (f"const auto out = {call};\n  return named_tuple(\"{kind}\", \"{shown_fields}\", "
                f"{{{', '.join('out.' + f for f in fields)}}});")
    elif function.result not in ("Tensor", "std::vector<Tensor>", "ComplexPair"):
        raise SystemExit(f"generate.py: {name}: expected a result that Python has, got '{function.result}'")
    own = f"f{number}_{name}"
    full_name = f"{module}.{name}" if module else name
    example = None if name.startswith("_") else example_of(full_name, examples, "examples.txt")
    code = f"nb::object {own}({', '.join(f'nb::handle {p.name}_' for p in function.parameters)}) {{\n  {body}\n}}\n"

    def definition(target, first):
        flags, signature, by_name = [], [], False
        for p, (_, annotation_) in zip(function.parameters, arguments):
            shown = first if first and p is function.parameters[0] else p.name
            if not by_name and p.default is not None and p.name in BY_NAME:
                by_name = True
                flags.append("nb::kw_only()")
                signature.append("*")
            flags.append(f'nb::arg("{shown}")' + (" = nb::none()" if p.default is not None else ".none()"))
            if first and p is function.parameters[0]:
                signature.append("self")
            else:
                default = "" if p.default is None else f" = {default_text(p.default)}"
                signature.append(f"{shown}: {annotation_}{default}")
        if first:
            flags = flags[1:]
        text = f"def {name}({', '.join(signature)}) -> {annotation}"
        return (f'  {target}.def("{name}", &{own}{"".join(", " + f for f in flags)},\n    nb::sig("{text}"),\n'
                f'    "{documented(function.doc, example)}");\n')

    lines = definition(module or "m", None)
    if is_member:
        lines += definition("c", "self")
    return code, lines


def example_of(name, examples, file):
    if name not in examples:
        raise SystemExit(f"expected an example of {name} in {file}, got none")
    return examples.pop(name)


def write(out, script, includes, functions, signature, lines, examples):
    """The file, once each example has been used."""
    if examples:
        raise SystemExit(f"{script}: expected examples of what is bound, got {', '.join(examples)}")
    pathlib.Path(out).write_text(
        f"// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n// Made by frontend/python/{script}.\n"
        f"{includes}\nnamespace tenon::python {{\nnamespace {{\n\n{''.join(functions)}\n}}  // namespace\n\n"
        f"void {signature} {{\n{''.join(lines)}}}\n\n}}  // namespace tenon::python\n")


def main(frontend, out):
    frontend = pathlib.Path(frontend).resolve()
    texts = {h: (frontend / h).read_text() for headers in MODULES.values() for h in headers}
    types = Types("\n".join(texts.values()) + (frontend.parent / "core/include/tenon/precision.hpp").read_text())
    functions, lines, forms = [], [], {}
    examples = read_examples((pathlib.Path(__file__).parent / "examples.txt").read_text())
    for module, headers in MODULES.items():
        if module:
            lines.append(f'  nb::module_ {module} = m.def_submodule("_{module}");\n')
        for header in headers:
            is_table = header.endswith(".def")
            for function in (rows if is_table else declarations)(texts[header]):
                if function.name in LEFT_OUT or function.name.startswith("operator") or function.is_of_braces:
                    continue
                form = forms[function.name] = forms.get(function.name, -1) + 1
                code, definition = bind(function, module, is_table, types, len(functions), form, examples)
                functions.append(code)
                lines.append(definition)
    includes = "".join(f'#include "{h.split("include/")[1]}"\n' for h in texts if h.endswith(".hpp"))
    write(out, "generate.py", '#include "frontend/python/binding/arguments.hpp"\n'
          f'#include "frontend/python/binding/functions.hpp"\n{includes}',
          functions, "add_functions(nb::module_& m, nb::class_<Tensor>& c)", lines, examples)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
