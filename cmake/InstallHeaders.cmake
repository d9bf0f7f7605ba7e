# Run at install time: installs the public headers, given as entry points, and whatever project headers
# they include, but no header that is only the library's own.
# Set before: SOURCE (the tree), HEADERS (room/header.h or room/*.h), DESTINATION (where rooms go).
cmake_policy(VERSION 3.25)
set(queue "")
foreach(pattern IN LISTS HEADERS)
  file(GLOB matches RELATIVE ${SOURCE} ${SOURCE}/${pattern})
  list(APPEND queue ${matches})
endforeach()

set(public "")
while(queue)
  list(POP_FRONT queue header)
  if(header IN_LIST public)
    continue()
  endif()
  list(APPEND public ${header})
  file(STRINGS ${SOURCE}/${header} lines REGEX "^#[ \t]*include \"intaglio/")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^.*\"intaglio/([^\"]*)\".*$" "\\1" included "${line}")
    list(APPEND queue ${included})
  endforeach()
endwhile()

list(SORT public)
foreach(header IN LISTS public)
  cmake_path(GET header PARENT_PATH room)
  file(INSTALL ${SOURCE}/${header} DESTINATION ${DESTINATION}/${room})
endforeach()
