# What `cmake --install` puts where, and the package that other projects find with find_package(hindsight).
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/hindsight)

set_target_properties(hindsight_core PROPERTIES EXPORT_NAME core)
set_target_properties(hindsight_rankers PROPERTIES EXPORT_NAME rankers)
install(TARGETS hindsight_core hindsight_rankers EXPORT hindsight-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET hindsight)
  install(TARGETS hindsight RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY include/hindsight DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT hindsight-targets NAMESPACE hindsight:: DESTINATION ${package_folder})
configure_package_config_file(cmake/hindsight-config.cmake.in ${PROJECT_BINARY_DIR}/hindsight-config.cmake
  INSTALL_DESTINATION ${package_folder})
# Before 1.0 a new minor version may break what was.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hindsight-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hindsight-config.cmake ${PROJECT_BINARY_DIR}/hindsight-config-version.cmake
  DESTINATION ${package_folder})
