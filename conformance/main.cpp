// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon-conformance: the command line.
int main() { return 0; }
