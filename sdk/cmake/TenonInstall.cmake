# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What `cmake --install` lays out, in the components sdk, core and plugins; and the same package in
# the build folder, so that a backend builds against either.
#   include/tenon/{plugin.h,program.h,*.def,ext/}, include/tenon/sdk/<module>/*.hpp   for backends
#   include/tenon/*.hpp                                                            for applications
#   share/tenon/{docs,examples,tests,sdk}                                          to read and to copy
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Tenon)
set(build_package ${CMAKE_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/cmake/Tenon)
set(cmake_folder ${CMAKE_CURRENT_LIST_DIR})

function(tenon_export set component)
  install(EXPORT Tenon${set} NAMESPACE Tenon:: FILE Tenon${set}.cmake
    DESTINATION ${package_folder} COMPONENT ${component})
  export(EXPORT Tenon${set} NAMESPACE Tenon:: FILE ${build_package}/Tenon${set}.cmake)
endfunction()

function(tenon_headers folder component)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenon/${ARGN} COMPONENT ${component}
    FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def" PATTERN "CMakeFiles" EXCLUDE)
endfunction()

function(tenon_pkg_config name component)
  configure_file(${cmake_folder}/${name}.pc.in ${CMAKE_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT ${component})
endfunction()

# The sdk: it needs nothing of the rest, and Tenon::spirv in it shaderc.
set_target_properties(tenon_abi PROPERTIES EXPORT_NAME abi)
set_target_properties(tenon_sdk PROPERTIES EXPORT_NAME sdk)
install(TARGETS tenon_abi tenon_sdk EXPORT TenonSdk
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT sdk)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/sdk/include/tenon DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT sdk)
tenon_headers(sdk/support sdk sdk)
tenon_headers(sdk/program sdk sdk)
tenon_headers(sdk/backend sdk sdk)
tenon_headers(sdk/walk sdk sdk)
tenon_headers(sdk/render sdk sdk)
tenon_headers(sdk/stream sdk sdk)
tenon_headers(sdk/shader sdk sdk)
tenon_export(Sdk sdk)
if(TARGET tenon_spirv)
  set_target_properties(tenon_spirv PROPERTIES EXPORT_NAME spirv)
  install(TARGETS tenon_spirv EXPORT TenonSpirv
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT sdk)
  tenon_headers(sdk/spirv sdk sdk)
  tenon_export(Spirv sdk)
endif()
tenon_pkg_config(tenon-sdk sdk)

# What a backend's author reads and copies, in the folders that the docs name.
set(shared ${CMAKE_INSTALL_DATADIR}/tenon)
foreach(folder docs examples/90_null_backend examples/91_opencl examples/92_gccjit tests/golden/in)
  get_filename_component(parent ${folder} DIRECTORY)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${shared}/${parent} COMPONENT sdk)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/93_c_api DESTINATION ${shared}/examples COMPONENT sdk)
file(GLOB examples ${PROJECT_SOURCE_DIR}/examples/*.cpp ${PROJECT_SOURCE_DIR}/examples/*.hpp
  ${PROJECT_SOURCE_DIR}/examples/*.tn)
install(FILES ${examples} DESTINATION ${shared}/examples COMPONENT sdk)
# To where the docs link; backends include them from include/.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/sdk/include/tenon DESTINATION ${shared}/sdk/include COMPONENT sdk)
install(FILES ${PROJECT_SOURCE_DIR}/tests/abi/v1/plugin.c DESTINATION ${shared}/tests/abi/v1 COMPONENT sdk)
foreach(file c_dialect.cpp c_prelude.cpp)
  install(FILES ${PROJECT_SOURCE_DIR}/sdk/render/${file} DESTINATION ${shared}/sdk/render COMPONENT sdk)
endforeach()

configure_package_config_file(${cmake_folder}/TenonConfig.cmake.in
  ${build_package}/TenonConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${build_package}/TenonConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
foreach(file TenonBackend.cmake TenonShaderc.cmake exports.map)
  configure_file(${cmake_folder}/${file} ${build_package}/${file} COPYONLY)
endforeach()
install(FILES ${build_package}/TenonConfig.cmake ${build_package}/TenonConfigVersion.cmake
  ${build_package}/TenonBackend.cmake ${build_package}/TenonShaderc.cmake ${build_package}/exports.map
  DESTINATION ${package_folder} COMPONENT sdk)

if(TARGET tenon)
  set_target_properties(tenon PROPERTIES EXPORT_NAME core)
  install(TARGETS tenon EXPORT TenonCore
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT core)
  target_include_directories(tenon PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(tenon PUBLIC cxx_std_20)
  foreach(folder core/include/tenon frontend/tensor/include/tenon)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT core)
  endforeach()
  install(FILES ${PROJECT_SOURCE_DIR}/sdk/include/tenon/dtypes.def # which dtype.hpp is made from
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenon COMPONENT core)
  tenon_export(Core core)
  tenon_pkg_config(tenon core)
  tenon_pkg_config(tenon-c core)
endif()

foreach(backend cpu disk cuda hip wgsl vulkan)
  if(TARGET tenon_${backend})
    install(TARGETS tenon_${backend}
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tenon COMPONENT plugins)
  endif()
endforeach()
