#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants one small bug at each place where a compiler plugin builds an LLVM instruction.

Copies of the sources are written in which `b.CreateFAdd(x, y)` reads `site(b, 17).CreateFAdd(x, y)`;
the generated site.hpp gives that class a CreateFAdd which, if mutant 17 is switched on by the
variable TENON_MUTANT, builds a subtraction. So all mutants are compiled once ("mutant schemata",
Untch, Offutt and Harrold, ISSTA 1993), and mutants.json names each one.

usage: make_mutants.py SOURCE_FOLDER OUTPUT_FOLDER FILE...
"""
import json
import os
import re
import sys

BUILDER = re.compile(r"\b(b|builder_)\.(Create\w+)\(")

# What may go wrong with an instruction: method -> (result, parameters, [(name, instead)]).
# Parameters beyond the named ones are passed on.
VALUE = "llvm::Value*"


def binary(*mutations):
    return VALUE, ["llvm::Value* x", "llvm::Value* y"], list(mutations)


def compare(method, *others):
    return binary(*[(f"to {other[6:]}", f"b_.{other}(x, y)") for other in others])


MUTATIONS = {
    "CreateFAdd": binary(("to sub", "b_.CreateFSub(x, y)"), ("drop", "x")),
    "CreateFSub": binary(("to add", "b_.CreateFAdd(x, y)"), ("swap", "b_.CreateFSub(y, x)")),
    "CreateFMul": binary(("to add", "b_.CreateFAdd(x, y)"), ("drop", "x")),
    "CreateFDiv": binary(("to mul", "b_.CreateFMul(x, y)"), ("swap", "b_.CreateFDiv(y, x)")),
    "CreateAdd": binary(("to sub", "b_.CreateSub(x, y)"), ("drop", "x")),
    "CreateSub": binary(("to add", "b_.CreateAdd(x, y)"), ("swap", "b_.CreateSub(y, x)")),
    "CreateMul": binary(("to add", "b_.CreateAdd(x, y)")),
    "CreateSDiv": binary(("to unsigned", "b_.CreateUDiv(x, y)")),
    "CreateUDiv": binary(("to signed", "b_.CreateSDiv(x, y)")),
    "CreateSRem": binary(("to unsigned", "b_.CreateURem(x, y)")),
    "CreateURem": binary(("to signed", "b_.CreateSRem(x, y)")),
    "CreateShl": binary(("to right", "b_.CreateLShr(x, y)")),
    "CreateLShr": binary(("to arithmetic", "b_.CreateAShr(x, y)")),
    "CreateAShr": binary(("to logical", "b_.CreateLShr(x, y)")),
    "CreateAnd": binary(("to or", "b_.CreateOr(x, y)"), ("drop", "x")),
    "CreateOr": binary(("to and", "b_.CreateAnd(x, y)"), ("drop", "x")),
    "CreateXor": binary(("to or", "b_.CreateOr(x, y)")),
    "CreateICmpEQ": compare("CreateICmpEQ", "CreateICmpNE"),
    "CreateICmpNE": compare("CreateICmpNE", "CreateICmpEQ"),
    "CreateICmpULT": compare("CreateICmpULT", "CreateICmpULE", "CreateICmpSLT"),
    "CreateICmpSLT": compare("CreateICmpSLT", "CreateICmpSLE", "CreateICmpULT"),
    "CreateICmpUGT": compare("CreateICmpUGT", "CreateICmpUGE"),
    "CreateFCmpOLT": compare("CreateFCmpOLT", "CreateFCmpOLE", "CreateFCmpULT"),
    "CreateFCmpOGT": compare("CreateFCmpOGT", "CreateFCmpOGE"),
    "CreateFCmpOLE": compare("CreateFCmpOLE", "CreateFCmpOLT"),
    "CreateFCmpOGE": compare("CreateFCmpOGE", "CreateFCmpOGT"),
    "CreateFCmpOEQ": compare("CreateFCmpOEQ", "CreateFCmpUEQ"),
    "CreateFCmpUNE": compare("CreateFCmpUNE", "CreateFCmpONE"),
    "CreateFCmpONE": compare("CreateFCmpONE", "CreateFCmpOEQ"),
    "CreateFCmpUNO": compare("CreateFCmpUNO", "CreateFCmpORD"),
    "CreateMaximum": binary(("to number", "b_.CreateMaxNum(x, y)"), ("to min", "b_.CreateMinimum(x, y)")),
    "CreateMinimum": binary(("to number", "b_.CreateMinNum(x, y)"), ("to max", "b_.CreateMaximum(x, y)")),
    "CreateSelect": (VALUE, ["llvm::Value* c", "llvm::Value* x", "llvm::Value* y"],
                     [("swap", "b_.CreateSelect(c, y, x)"), ("drop", "y")]),
    "CreateNeg": (VALUE, ["llvm::Value* x"], [("drop", "x")]),
    "CreateFNeg": (VALUE, ["llvm::Value* x"], [("drop", "x")]),
    "CreateNot": (VALUE, ["llvm::Value* x"], [("drop", "x")]),
    "CreateFPToSI": (VALUE, ["llvm::Value* x", "llvm::Type* t"], [("to unsigned", "b_.CreateFPToUI(x, t)")]),
    "CreateFPToUI": (VALUE, ["llvm::Value* x", "llvm::Type* t"], [("to signed", "b_.CreateFPToSI(x, t)")]),
    "CreateSIToFP": (VALUE, ["llvm::Value* x", "llvm::Type* t"], [("to unsigned", "b_.CreateUIToFP(x, t)")]),
    "CreateUIToFP": (VALUE, ["llvm::Value* x", "llvm::Type* t"], [("to signed", "b_.CreateSIToFP(x, t)")]),
    "CreateZExt": (VALUE, ["llvm::Value* x", "llvm::Type* t"], [("to sign", "b_.CreateSExt(x, t)")]),
    "CreateIntCast": (VALUE, ["llvm::Value* x", "llvm::Type* t", "bool is_signed"],
                      [("other sign", "b_.CreateIntCast(x, t, !is_signed)")]),
    "CreateUnaryIntrinsic": (VALUE, ["llvm::Intrinsic::ID id", "llvm::Value* x"],
                             [("other", "b_.CreateUnaryIntrinsic(other_unary(id), x)")]),
    "CreateBinaryIntrinsic": (VALUE, ["llvm::Intrinsic::ID id", "llvm::Value* x", "llvm::Value* y"],
                              [("other", "b_.CreateBinaryIntrinsic(other_binary(id), x, y)")]),
    "CreateMaskedLoad": (VALUE, ["llvm::Type* t", "llvm::Value* p", "llvm::Align a", "llvm::Value* m", "llvm::Value* f"],
                         [("drop mask", "b_.CreateMaskedLoad(t, p, a, all(m), f)"),
                          ("drop fill", "b_.CreateMaskedLoad(t, p, a, m, nothing(f))")]),
    "CreateMaskedGather": (VALUE, ["llvm::Type* t", "llvm::Value* p", "llvm::Align a", "llvm::Value* m", "llvm::Value* f"],
                           [("drop mask", "b_.CreateMaskedGather(t, p, a, all(m), f)"),
                            ("drop fill", "b_.CreateMaskedGather(t, p, a, m, nothing(f))")]),
    "CreateMaskedStore": ("llvm::CallInst*", ["llvm::Value* v", "llvm::Value* p", "llvm::Align a", "llvm::Value* m"],
                          [("drop mask", "b_.CreateMaskedStore(v, p, a, all(m))")]),
    "CreateMaskedScatter": ("llvm::CallInst*", ["llvm::Value* v", "llvm::Value* p", "llvm::Align a", "llvm::Value* m"],
                            [("drop mask", "b_.CreateMaskedScatter(v, p, a, nullptr)")]),
    "CreateCondBr": ("llvm::BranchInst*", ["llvm::Value* c", "llvm::BasicBlock* t", "llvm::BasicBlock* f"],
                     [("always", "b_.CreateCondBr(b_.getTrue(), t, f)"), ("swap", "b_.CreateCondBr(c, f, t)")]),
}

HEAD = """// Generated by make_mutants.py.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

#include <cstdlib>

namespace tenon::mutants {

inline int active() {
  static const int number = [] {
    const char* text = std::getenv("TENON_MUTANT");
    return text ? std::atoi(text) : 0;
  }();
  return number;
}

inline llvm::Intrinsic::ID other_unary(llvm::Intrinsic::ID id) {
  switch (id) {
    case llvm::Intrinsic::sqrt: return llvm::Intrinsic::fabs;
    case llvm::Intrinsic::trunc: return llvm::Intrinsic::floor;
    case llvm::Intrinsic::floor: return llvm::Intrinsic::ceil;
    default: return llvm::Intrinsic::trunc;
  }
}

inline llvm::Intrinsic::ID other_binary(llvm::Intrinsic::ID id) {
  switch (id) {
    case llvm::Intrinsic::umin: return llvm::Intrinsic::smin;
    case llvm::Intrinsic::smin: return llvm::Intrinsic::umin;
    case llvm::Intrinsic::umax: return llvm::Intrinsic::smax;
    case llvm::Intrinsic::smax: return llvm::Intrinsic::umax;
    default: return id;
  }
}

/// One place in the sources, which owns the mutants from `first` on.
class Site {
 public:
  Site(llvm::IRBuilderBase& builder, int first) : b_(builder), first_(first) {}

"""

TAIL = """ private:
  bool is(int mutation) const { return active() == first_ + mutation; }
  static llvm::Value* all(llvm::Value* mask) { return llvm::Constant::getAllOnesValue(mask->getType()); }
  static llvm::Value* nothing(llvm::Value* fill) { return llvm::Constant::getNullValue(fill->getType()); }

  llvm::IRBuilderBase& b_;
  int first_;
};

inline Site site(llvm::IRBuilderBase& builder, int first) { return {builder, first}; }

}  // namespace tenon::mutants
"""


def site_header():
    text = HEAD
    for method, (result, parameters, mutations) in MUTATIONS.items():
        names = ", ".join(p.split()[-1] for p in parameters)
        text += f"  template <class... More>\n  {result} {method}({', '.join(parameters)}, More... more) {{\n"
        for k, (_, instead) in enumerate(mutations):
            text += f"    if (is({k})) return {instead};\n"
        text += f"    return b_.{method}({names}, more...);\n  }}\n"
    return text + TAIL


def main():
    source, output, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(output, exist_ok=True)
    mutants, number = [], 1
    for name in names:
        with open(os.path.join(source, name), encoding="utf-8") as file:
            text = file.read()
        seen = {}

        def replace(match):
            nonlocal number
            builder, method = match.groups()
            if method not in MUTATIONS:
                return match.group(0)
            seen[method] = seen.get(method, 0) + 1
            line = text.count("\n", 0, match.start()) + 1
            first = number
            for kind, _ in MUTATIONS[method][2]:
                mutants.append({"number": number, "name": f"{name} {method} {seen[method]} {kind}", "line": line})
                number += 1
            return f"tenon::mutants::site({builder}, {first}).{method}("

        changed = BUILDER.sub(replace, text)
        with open(os.path.join(output, name), "w", encoding="utf-8") as file:
            file.write('#include "site.hpp"\n' + changed)
    for name, content in (("site.hpp", site_header()), ("mutants.json", json.dumps(mutants, indent=1) + "\n")):
        with open(os.path.join(output, name), "w", encoding="utf-8") as file:
            file.write(content)


if __name__ == "__main__":
    main()
