# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Tenon::shaderc, if its static libraries are there. Debian's -lshaderc lacks glslang's symbols, so
# all of the parts are named.
set(tenon_shaderc_parts shaderc_combined glslang HLSL MachineIndependent GenericCodeGen OSDependent
  OGLCompiler SPIRV SPIRV-Tools-opt SPIRV-Tools)
set(tenon_shaderc_libraries)
foreach(part ${tenon_shaderc_parts})
  find_library(TENON_SHADERC_${part} NAMES lib${part}.a)
  mark_as_advanced(TENON_SHADERC_${part})
  list(APPEND tenon_shaderc_libraries ${TENON_SHADERC_${part}})
endforeach()
find_path(TENON_SHADERC_INCLUDE shaderc/shaderc.h)
find_package(Threads)
if(NOT TARGET Tenon::shaderc AND NOT tenon_shaderc_libraries MATCHES "NOTFOUND"
    AND TENON_SHADERC_INCLUDE AND Threads_FOUND)
  add_library(Tenon::shaderc INTERFACE IMPORTED GLOBAL)
  target_include_directories(Tenon::shaderc SYSTEM INTERFACE ${TENON_SHADERC_INCLUDE})
  target_link_libraries(Tenon::shaderc INTERFACE
    -Wl,--start-group ${tenon_shaderc_libraries} -Wl,--end-group Threads::Threads)
endif()
