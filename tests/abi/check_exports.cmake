# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A plugin exports tn_plugin_query and nothing else.
execute_process(COMMAND ${NM} -D --defined-only ${FILE} OUTPUT_VARIABLE symbols RESULT_VARIABLE status)
string(REGEX REPLACE "[0-9a-f]+ [A-Za-z] " "" symbols "${symbols}")
string(STRIP "${symbols}" symbols)
if(NOT status EQUAL 0 OR NOT symbols STREQUAL "tn_plugin_query")
  message(FATAL_ERROR "${FILE}: expected tn_plugin_query as its one symbol, got: ${symbols}")
endif()
