# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs core and plugins of BUILD into WORK/prefix, and builds SOURCE in C by what pkg-config says: it finds its
# plugins there.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
foreach(component core plugins)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix --component ${component}
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(GLOB_RECURSE files ${WORK}/prefix/*/tenon-c.pc)
get_filename_component(folder ${files} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${folder})
execute_process(COMMAND ${PKG_CONFIG} --cflags --libs tenon-c OUTPUT_VARIABLE words
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(words UNIX_COMMAND "${words}")
execute_process(COMMAND ${CC} -std=c11 -Wall -Wextra -Wpedantic -Werror ${SOURCE} ${words} -Wl,-rpath,${folder}/.. -o fit
  WORKING_DIRECTORY ${WORK} COMMAND_ERROR_IS_FATAL ANY)
set(ENV{TENON_DEVICES} cpu)
execute_process(COMMAND ${WORK}/fit OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output STREQUAL "w = 3.0000\n")
  message(FATAL_ERROR "expected w = 3.0000, got ${output}")
endif()
