// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All of tenon::nn.
#pragma once

#include "tenon/nn/attention.hpp"
#include "tenon/nn/checkpoint.hpp"
#include "tenon/nn/conv.hpp"
#include "tenon/nn/graph.hpp"
#include "tenon/nn/initialisers.hpp"
#include "tenon/nn/linear.hpp"
#include "tenon/nn/losses.hpp"
#include "tenon/nn/mode.hpp"
#include "tenon/nn/module.hpp"
#include "tenon/nn/norm.hpp"
#include "tenon/nn/optimizers/averages.hpp"
#include "tenon/nn/optimizers/optimizer.hpp"
#include "tenon/nn/optimizers/optimizers.hpp"
#include "tenon/nn/optimizers/schedules.hpp"
#include "tenon/nn/pool.hpp"
#include "tenon/nn/precision.hpp"
#include "tenon/nn/recurrent.hpp"
#include "tenon/nn/resize.hpp"
#include "tenon/nn/sequential.hpp"
#include "tenon/nn/summary.hpp"
