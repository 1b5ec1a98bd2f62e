# What `cmake --install` puts beside the programs, and the packages: `cpack -G TGZ`, `cpack -G DEB` in the build folder.
include(GNUInstallDirs)

# Reproducible: the date of the last change, never the time of the build.
set(KVPLAN_RELEASE_DATE "Tue, 01 Dec 2026 00:00:00 +0000")
set(package_dir ${CMAKE_BINARY_DIR}/package)
set(completions ${package_dir}/kvplan.bash ${package_dir}/_kvplan ${package_dir}/kvplan.fish)
add_custom_command(
  OUTPUT ${package_dir}/kvplan.1.gz ${completions}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${package_dir}
  COMMAND kvplan __manual > ${package_dir}/kvplan.1
  COMMAND gzip -9 -n -f -k ${package_dir}/kvplan.1
  COMMAND kvplan completion bash > ${package_dir}/kvplan.bash
  COMMAND kvplan completion zsh > ${package_dir}/_kvplan
  COMMAND kvplan completion fish > ${package_dir}/kvplan.fish
  DEPENDS kvplan
  VERBATIM)
add_custom_target(kvplan_package_files ALL DEPENDS ${package_dir}/kvplan.1.gz ${completions})

install(FILES ${package_dir}/kvplan.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${package_dir}/kvplan.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME kvplan)
install(FILES ${package_dir}/_kvplan DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${package_dir}/kvplan.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs FILES_MATCHING PATTERN "*.md" PATTERN "*.json" PATTERN "*.png")

# Debian's own two documents.
configure_file(cmake/package/changelog.in ${package_dir}/changelog @ONLY)
configure_file(cmake/package/copyright.in ${package_dir}/copyright @ONLY)
execute_process(COMMAND gzip -9 -n -f -k ${package_dir}/changelog)
install(FILES ${package_dir}/copyright ${package_dir}/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_PACKAGE_NAME kvplan)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR "kvplan")
set(CPACK_PACKAGE_CONTACT "kvplan maintainers <maintainers@kvplan.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "capacity planner for LLM serving")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "Tells, before a launch of SGLang or vLLM, how many KV tokens each GPU holds,
how many requests run at once, which throughput nothing can exceed, and how
much host RAM a hierarchical cache may take without killing the machine.")
include(CPack)
