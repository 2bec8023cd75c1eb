# What the torch adapter is made of. The plumbline command carries these files and compiles them against a job's torch;
# their hash is part of the adapter's path, so that several versions of this program share one cache.
#
# PLUMBLINE_ADAPTER_FILES are relative to the source tree, PLUMBLINE_ADAPTER_PATHS absolute, PLUMBLINE_ADAPTER_LIST
# comma-separated for scripts. plumbline_adapter_stamp makes <build>/shim/adapter_stamp.hpp.
file(GLOB PLUMBLINE_ADAPTER_FILES CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     ${PROJECT_SOURCE_DIR}/shim/torch/*.cpp ${PROJECT_SOURCE_DIR}/shim/torch/*.hpp
     ${PROJECT_SOURCE_DIR}/shim/torch/glue/*.py)
list(FILTER PLUMBLINE_ADAPTER_FILES EXCLUDE REGEX "_test\\.cpp$")
list(APPEND PLUMBLINE_ADAPTER_FILES shim/adapter_api.hpp shim/hook_list.hpp recorder/capture.hpp
     recorder/capture_sample.hpp recorder/dtype_size.hpp recorder/event.hpp recorder/json_text.hpp recorder/level.hpp recorder/operations.hpp)
list(TRANSFORM PLUMBLINE_ADAPTER_FILES PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE PLUMBLINE_ADAPTER_PATHS)
list(JOIN PLUMBLINE_ADAPTER_FILES "," PLUMBLINE_ADAPTER_LIST)
add_custom_command(
  OUTPUT ${PROJECT_BINARY_DIR}/shim/adapter_stamp.hpp
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DFILES=${PLUMBLINE_ADAPTER_LIST}
          -DOUTPUT=${PROJECT_BINARY_DIR}/shim/adapter_stamp.hpp -P ${PROJECT_SOURCE_DIR}/shim/adapter_stamp.cmake
  DEPENDS ${PLUMBLINE_ADAPTER_PATHS} ${PROJECT_SOURCE_DIR}/shim/adapter_stamp.cmake
  VERBATIM)
add_custom_target(plumbline_adapter_stamp DEPENDS ${PROJECT_BINARY_DIR}/shim/adapter_stamp.hpp)
