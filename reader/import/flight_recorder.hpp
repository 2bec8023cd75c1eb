// PyTorch flight recorder dumps, pickle and JSON: the newest calls of one rank, what they carried, and how far the rank
// came in each group.
//
// Dumps give the time when a call was made, but rarely when it ran; reduce operations and roots are in none. In gloo's
// dumps sends and receives are missing, and a call that failed counts as completed once the failure was noticed.
#pragma once

#include <string>

#include "reader/import/flight_survey.hpp"
#include "reader/import/imported_process.hpp"
#include "reader/import/plain_data.hpp"

namespace plumbline::reader::imports {

// Empty when the version can be read, else what is wrong with it.
std::string flight_version_problem(const PlainData& data);

// Global rank from the dump itself, where its groups leave only one rank that can have written it; -1: not known.
int flight_rank(const PlainData& data);

ImportedProcess import_flight_dump(const PlainData& data, int rank, const FlightSurvey& survey);

}  // namespace plumbline::reader::imports
