# cmake -DROOT=<source tree> -DFILES=<path,path,…> -DNAME=<kThing> -DOUTPUT=<file.cpp> -P embed_sources.cmake
# Writes the definition of the array kThings and of kThingCount, with the files' bytes.
# A source of the adapter's Python becomes NAME.py.inc, a string literal for C++ to include.
string(REPLACE "," ";" files "${FILES}")
list(LENGTH files count)
set(arrays "")
set(rows "")
set(index 0)
foreach(file IN LISTS files)
  file(READ ${ROOT}/${file} bytes HEX)
  if(file MATCHES "/glue/.*\\.py$")
    string(APPEND file ".inc")
    string(HEX "R\"python(" literal_begin)
    string(HEX ")python\"" literal_end)
    string(PREPEND bytes ${literal_begin})
    string(APPEND bytes ${literal_end})
  endif()
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "const unsigned char file_${index}[] = {${bytes}};\n")
  string(APPEND rows "    {\"${file}\", {reinterpret_cast<const char*>(file_${index}), sizeof file_${index}}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUTPUT}.new
     "#include \"tools/plumbline/source_files.hpp\"\n\nnamespace plumbline::tools {\nnamespace {\n\n${arrays}\n"
     "}  // namespace\n\nconst SourceFile ${NAME}s[] = {\n${rows}};\n"
     "const std::size_t ${NAME}Count = ${count};\n\n}  // namespace plumbline::tools\n")
file(RENAME ${OUTPUT}.new ${OUTPUT})
