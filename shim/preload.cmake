# How code of the preload object is compiled: without exceptions or type information, hidden, and with thread-locals
# that need no call to reach.
add_library(plumbline_preload_options INTERFACE)
target_compile_options(plumbline_preload_options INTERFACE -fno-exceptions -fno-rtti -fvisibility=hidden
                                                           -fvisibility-inlines-hidden -ftls-model=initial-exec)
target_link_libraries(plumbline_preload_options INTERFACE plumbline_options)

# plumbline_hooks(<name> SOURCES <file>… [EXPORTS <file>…])
#
# A part of the preload object. An EXPORTS file names one interposed symbol a line (# begins a comment); it may be
# generated at build time.
function(plumbline_hooks name)
  cmake_parse_arguments(PARSE_ARGV 1 hooks "" "" "SOURCES;EXPORTS")
  add_library(${name} OBJECT ${hooks_SOURCES})
  target_link_libraries(${name} PRIVATE plumbline_preload_options)
  list(TRANSFORM hooks_EXPORTS REPLACE "^([^/].*)$" "${CMAKE_CURRENT_SOURCE_DIR}/\\1")
  set_property(GLOBAL APPEND PROPERTY PLUMBLINE_HOOK_LIBRARIES ${name})
  set_property(GLOBAL APPEND PROPERTY PLUMBLINE_EXPORT_LISTS ${hooks_EXPORTS})
endfunction()

# Links the parts. Only libc (with its loader) may be needed: a preloaded object that pulled in the system's libstdc++
# would fail the job's own extensions where its Python brings a newer one.
function(plumbline_link_preload_object)
  get_property(libraries GLOBAL PROPERTY PLUMBLINE_HOOK_LIBRARIES)
  get_property(exports GLOBAL PROPERTY PLUMBLINE_EXPORT_LISTS)
  set(script ${CMAKE_CURRENT_BINARY_DIR}/plumbline.map)
  string(REPLACE ";" "," export_lists "${exports}")
  add_custom_command(
    OUTPUT ${script}
    COMMAND ${CMAKE_COMMAND} -DLISTS=${export_lists} -DSCRIPT=${script}
            -P ${CMAKE_CURRENT_SOURCE_DIR}/exports/version_script.cmake
    DEPENDS ${exports} ${CMAKE_CURRENT_SOURCE_DIR}/exports/version_script.cmake
    VERBATIM)
  add_custom_target(plumbline_version_script DEPENDS ${script})

  add_library(plumbline SHARED)
  target_link_libraries(plumbline PRIVATE ${libraries} plumbline_recorder)
  add_dependencies(plumbline plumbline_version_script)
  set_target_properties(plumbline PROPERTIES LINKER_LANGUAGE CXX LINK_DEPENDS ${script})
  target_link_options(
    plumbline PRIVATE -static-libstdc++ -static-libgcc
    "LINKER:--version-script=${script}" LINKER:--exclude-libs,ALL LINKER:--gc-sections LINKER:--as-needed
    LINKER:-z,defs LINKER:-z,now LINKER:-z,relro LINKER:-z,nodelete)
  if(PLUMBLINE_SANITIZE)
    # A preload object cannot bring a sanitizer's runtime: its parts are tested in executables of their own.
    set_target_properties(plumbline PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()
