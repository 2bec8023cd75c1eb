// A whole JSON file as plain data, for the formats that are small: the same view as of a pickle.
#pragma once

#include "reader/import/byte_source.hpp"
#include "reader/import/plain_data.hpp"
#include "reader/status.hpp"

namespace plumbline::reader::imports {

Result<PlainData> read_json_document(ByteSource& source);

}  // namespace plumbline::reader::imports
