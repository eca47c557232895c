// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Claims of a plugin about its matrix atoms are accepted if they are consistent.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/plugin/properties.hpp"
#include "sdk/render/cuda_dialect.hpp"
#include "sdk/render/hip_dialect.hpp"

using namespace tenon;

namespace {

std::vector<MatrixAtom> read(std::span<const tn_matrix_atom> atoms,
                             uint32_t flags = TN_DEVICE_SUBGROUP_BARRIER) {
  static const tn_memory_space space = [] {
    tn_memory_space s = TN_INIT(tn_memory_space);
    s.flags = TN_MEMORY_DEVICE;
    s.alignment = 256;
    return s;
  }();
  tn_properties p = TN_INIT(tn_properties);
  p.flags = TN_DEVICE_COMPUTE | flags;
  p.memory_spaces = &space;
  p.memory_space_count = 1, p.memory_space_stride = sizeof space;
  p.matrix_atoms = atoms.data();
  p.matrix_atom_count = static_cast<uint32_t>(atoms.size());
  p.matrix_atom_stride = sizeof(tn_matrix_atom);
  return read_properties(&p, "test").capabilities.atoms;
}

const tn_matrix_atom& halves() { return sdk::cuda_atoms(80, false)[0]; }

/// Whether the layout of the sums is taken once an atom was changed.
template <class Change>
bool is_told(Change change) {
  tn_matrix_atom atom = halves();
  change(atom);
  const std::vector<MatrixAtom> atoms = read(std::span(&atom, 1));
  return !atoms.empty() && atoms[0].layouts[2].has_value();
}

}  // namespace

TEST_CASE("all layouts of CUDA and HIP are read but those of wgmma") {
  for (const auto atoms :
       {sdk::cuda_atoms(80, false), sdk::cuda_atoms(90, true), sdk::hip_atoms("gfx90a"),
        sdk::hip_atoms("gfx942"), sdk::hip_atoms("gfx1100")})
    for (const MatrixAtom& atom : read(atoms)) {
      INFO(atom.id);
      CHECK(atom.layouts[0].has_value() == !atom.tiles);
      CHECK(atom.layouts[1].has_value() == !atom.tiles);
      CHECK(atom.layouts[2].has_value() == !atom.tiles);  // rows of wgmma are in three digits
    }
}

TEST_CASE("a layout that is not of its fragment is not told") {
  CHECK(is_told([](tn_matrix_atom&) {}));
  CHECK(!is_told([](tn_matrix_atom& a) { a.c_layout[3] = 0; }));                     // 8 of 16 rows
  CHECK(!is_told([](tn_matrix_atom& a) { a.c_layout[3] = TN_BIT_OF_LANE | 9; }));    // of 4 lanes
  CHECK(!is_told([](tn_matrix_atom& a) { a.c_layout[3] = TN_BIT_OF_THREAD | 5; }));  // of 32
  CHECK(!is_told([](tn_matrix_atom& a) { a.c_layout[3] = a.c_layout[8]; }));         // twice
  CHECK(!is_told([](tn_matrix_atom& a) { a.c_layout[3] |= 32; }));
  CHECK(!is_told([](tn_matrix_atom& a) { a.c_layout[3] |= TN_BIT_OF_THREAD; }));
  CHECK(!is_told([](tn_matrix_atom& a) { a.c_layout[3] = 1; }));
  CHECK(!is_told([](tn_matrix_atom& a) { a.c_layout[5] = TN_BIT_OF_LANE; }));  // after a 0
  CHECK(!is_told([](tn_matrix_atom& a) { a.c_lanes = 8; }));
  CHECK(!is_told([](tn_matrix_atom& a) { a.m = 24; }));
}

TEST_CASE("a device with atoms of several threads says that it has barriers of a subgroup") {
  CHECK_THROWS_WITH(
      read(std::span(&halves(), 1), 0),
      Catch::Matchers::ContainsSubstring("expected TN_DEVICE_SUBGROUP_BARRIER, as matrix atom"));
}

TEST_CASE("an atom without a size, or with lanes beyond a value's, is none") {
  for (uint32_t tn_matrix_atom::*size : {&tn_matrix_atom::m, &tn_matrix_atom::n, &tn_matrix_atom::k,
                                         &tn_matrix_atom::c_lanes, &tn_matrix_atom::subgroup})
    for (const uint32_t wrong : {0u, 1025u, ~0u}) {
      tn_matrix_atom atom = halves();
      atom.*size = wrong;
      CHECK(read(std::span(&atom, 1)).empty());
    }
}
