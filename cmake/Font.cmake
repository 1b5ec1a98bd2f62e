# DejaVu Sans becomes part of the program, and stb draws it.
find_path(KVPLAN_STB_INCLUDE_DIR stb_truetype.h PATH_SUFFIXES stb REQUIRED)
find_library(KVPLAN_STB_LIBRARY stb REQUIRED)
find_path(KVPLAN_FONT_DIR DejaVuSans.ttf PATHS /usr/share/fonts/truetype/dejavu /usr/share/fonts/TTF /usr/share/fonts/dejavu-sans-fonts NO_DEFAULT_PATH REQUIRED)


# kvplan_fonts(<target> <space> <face>...): the faces as kvplan::<space>::embedded_font(name) of <space>/embedded_font.hpp.
function(kvplan_fonts target space)
  list(TRANSFORM ARGN PREPEND ${KVPLAN_FONT_DIR}/ OUTPUT_VARIABLE files)
  list(JOIN files "|" joined)
  set(output ${CMAKE_BINARY_DIR}/embedded/${space}_font.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DSPACE=${space} "-DFILES=${joined}" -DOUTPUT=${output} -P ${CMAKE_SOURCE_DIR}/cmake/EmbedFont.cmake
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/EmbedFont.cmake
    COMMENT "Generating embedded/${space}_font.cpp"
    VERBATIM)
  set_source_files_properties(${output} PROPERTIES COMPILE_OPTIONS "-Wno-overlength-strings;-O0")
  target_sources(${target} PRIVATE ${output})
  target_include_directories(${target} SYSTEM PRIVATE ${KVPLAN_STB_INCLUDE_DIR})
  target_link_libraries(${target} PRIVATE ${KVPLAN_STB_LIBRARY})
endfunction()
