# Warnings are errors in our own targets, except under sanitizers, where g++ takes its own instrumentation for
# overflows. Sanitizers apply to every target that asks for plumbline_options.
add_library(plumbline_options INTERFACE)
target_compile_options(plumbline_options INTERFACE -Wall -Wextra)
target_include_directories(plumbline_options INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
if(NOT PLUMBLINE_SANITIZE)
  target_compile_options(plumbline_options INTERFACE -Werror)
else()
  target_compile_options(plumbline_options INTERFACE -fsanitize=${PLUMBLINE_SANITIZE} -fno-omit-frame-pointer
                                                     -fno-sanitize-recover=all)
  target_link_options(plumbline_options INTERFACE -fsanitize=${PLUMBLINE_SANITIZE})
endif()

# Without it libFuzzer is blind to what an input reaches.
if(PLUMBLINE_FUZZ)
  target_compile_options(plumbline_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
