// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What libtenon exports: nothing but what is marked so.
#pragma once

#define TENON_API __attribute__((visibility("default")))
