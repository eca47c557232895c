# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The headers of other libraries that most files include, compiled once: half of the time of a clean build. Each file
# still names what it uses, as TENON_PRECOMPILED=OFF shows.
option(TENON_PRECOMPILED "Compile common headers once" ON)
set(precompiled_headers <algorithm> <array> <atomic> <cstdint> <cstring> <filesystem> <functional> <map> <memory>
  <mutex> <optional> <set> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)

function(tenon_precompiled_owner name)
  find_package(fmt REQUIRED)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${name}.cpp CONTENT "")
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE fmt::fmt tenon_options)
  target_precompile_headers(${name} PRIVATE ${precompiled_headers} ${ARGN})
endfunction()

if(TENON_PRECOMPILED)
  tenon_precompiled_owner(tenon_precompiled)
  set_target_properties(tenon_precompiled PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endif()

# For libraries and plugins of this repository, whose symbols are hidden.
function(tenon_use_precompiled target)
  if(TARGET tenon_precompiled)
    target_precompile_headers(${target} REUSE_FROM tenon_precompiled)
  endif()
endfunction()
