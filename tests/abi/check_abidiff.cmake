# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What abidiff finds between the frozen interface and another must be what growth.txt says, to the letter.
# Appending a field is growth: look at the new text, then copy it over growth.txt. All else breaks plugins that exist.
execute_process(COMMAND ${ABIDIFF} --no-show-locs ${FROZEN} ${OTHER}
  OUTPUT_VARIABLE found ERROR_VARIABLE trouble RESULT_VARIABLE code)
math(EXPR unusable "${code} & 3") # abidiff's own bits: an error, wrong usage
if(unusable)
  message(FATAL_ERROR "abidiff failed (${code}): ${trouble}")
endif()
if(NOT GROWTH)
  set(GROWTH ${CMAKE_CURRENT_LIST_DIR}/growth.txt)
endif()
file(READ ${GROWTH} expected)
if(NOT found STREQUAL expected)
  message(FATAL_ERROR "the interface changed. Expected:\n${expected}\nFound:\n${found}")
endif()
