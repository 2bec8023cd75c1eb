#include "reader/import/flight_file.hpp"

#include "reader/import/byte_source.hpp"
#include "reader/import/flight_recorder.hpp"
#include "reader/import/flight_survey.hpp"
#include "reader/import/json_document.hpp"
#include "reader/import/pickle.hpp"

namespace plumbline::reader::imports {

Result<PlainData> read_plain_file(const std::string& path, bool pickle) {
  Result<ByteSource> source = ByteSource::open(path);
  if (!source.ok()) return source.status();
  if (!pickle) return read_json_document(*source);
  Result<std::vector<std::uint8_t>> bytes = read_whole(*source, kMostWhole);
  if (!bytes.ok()) return bytes.status();
  return read_pickle(path, std::move(*bytes));
}

Result<PlainData> read_flight_file(const std::string& path, FileKind kind) {
  Result<PlainData> data = read_plain_file(path, kind == FileKind::kFlightPickle);
  if (!data.ok()) return data;
  if (!is_flight_dump(*data))
    return Status(Code::kForeign, path + " looks like a flight recorder dump, but has neither calls nor groups.");
  if (const std::string problem = flight_version_problem(*data); !problem.empty())
    return Status(Code::kForeign, path + " is a flight recorder dump that cannot be read: " + problem + ".");
  return data;
}

}  // namespace plumbline::reader::imports
