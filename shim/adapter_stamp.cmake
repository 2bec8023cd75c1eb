# cmake -DROOT=<source tree> -DFILES=<path,path,…> -DOUTPUT=<file.hpp> -P adapter_stamp.cmake
# Writes kAdapterStamp, a hash of the files' names and bytes.
string(REPLACE "," ";" files "${FILES}")
set(hashes "")
foreach(file IN LISTS files)
  file(SHA256 ${ROOT}/${file} hash)
  string(APPEND hashes "${file} ${hash}\n")
endforeach()
string(SHA256 stamp "${hashes}")
string(SUBSTRING ${stamp} 0 12 stamp)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "// Generated.
#pragma once

namespace plumbline::shim {

// Names the sources of the torch adapter that this program carries.
inline constexpr char kAdapterStamp[] = \"${stamp}\";

}  // namespace plumbline::shim
")
