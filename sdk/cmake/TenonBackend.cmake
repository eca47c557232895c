# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tenon_add_backend(NAME source...): a plugin libtenon_NAME.so that exports tn_plugin_query and nothing else.

function(tenon_add_backend name)
  add_library(tenon_${name} MODULE ${ARGN})
  if(TARGET Tenon::sdk)
    target_link_libraries(tenon_${name} PRIVATE Tenon::sdk)
  else()
    target_link_libraries(tenon_${name} PRIVATE tenon_sdk tenon_options)
    tenon_use_precompiled(tenon_${name})
  endif()
  set_target_properties(tenon_${name} PROPERTIES
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/exports.map
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/tenon)
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    target_link_options(tenon_${name} PRIVATE -Wl,--version-script=${CMAKE_CURRENT_FUNCTION_LIST_DIR}/exports.map -Wl,-z,nodelete)
    if(NOT TENON_SANITIZE)
      target_link_options(tenon_${name} PRIVATE -Wl,--no-undefined)
    endif()
  endif()
endfunction()
