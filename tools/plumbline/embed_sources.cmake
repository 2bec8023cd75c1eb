# cmake -DROOT=<source tree> -DFILES=<path,path,…> -DOUTPUT=<file.cpp> -P embed_sources.cmake
# Writes the definition of kAdapterSources with the files' bytes.
string(REPLACE "," ";" files "${FILES}")
list(LENGTH files count)
set(arrays "")
set(rows "")
set(index 0)
foreach(file IN LISTS files)
  file(READ ${ROOT}/${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "const unsigned char file_${index}[] = {${bytes}};\n")
  string(APPEND rows "    {\"${file}\", {reinterpret_cast<const char*>(file_${index}), sizeof file_${index}}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUTPUT}.new
     "#include \"tools/plumbline/adapter_sources.hpp\"\n\nnamespace plumbline::tools {\nnamespace {\n\n${arrays}\n"
     "}  // namespace\n\nconst SourceFile kAdapterSources[] = {\n${rows}};\n"
     "const std::size_t kAdapterSourceCount = ${count};\n\n}  // namespace plumbline::tools\n")
file(RENAME ${OUTPUT}.new ${OUTPUT})
