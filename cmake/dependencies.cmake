# Debian's packages. The static archives are used where the result must stand alone: the preload object and run-reader.
find_package(Threads REQUIRED)
find_program(PLUMBLINE_FLATC flatc REQUIRED)
find_path(FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h REQUIRED)
find_path(ZSTD_INCLUDE zstd.h REQUIRED)
find_library(ZSTD_STATIC libzstd.a REQUIRED)
find_path(XXHASH_INCLUDE xxhash.h REQUIRED)
find_path(ZLIB_INCLUDE zlib.h REQUIRED)
find_library(ZLIB_STATIC libz.a REQUIRED)

# trace.fbs → <build>/recorder/trace_generated.h
add_custom_command(
  OUTPUT ${PROJECT_BINARY_DIR}/recorder/trace_generated.h
  COMMAND ${PLUMBLINE_FLATC} --cpp --scoped-enums -o ${PROJECT_BINARY_DIR}/recorder
          ${PROJECT_SOURCE_DIR}/recorder/trace.fbs
  DEPENDS ${PROJECT_SOURCE_DIR}/recorder/trace.fbs
  VERBATIM)
add_custom_target(plumbline_schema DEPENDS ${PROJECT_BINARY_DIR}/recorder/trace_generated.h)
