// The small JSON files of a checkpoint directory as values: "config.hidden_size", "trainer_state.global_step".
#pragma once

#include <cstddef>
#include <string>

#include "reader/checkpoint/checkpoint.hpp"
#include "reader/import/plain_data.hpp"

namespace plumbline::reader {

// A JSON file of a checkpoint. A packed one, which may hold any amount, is refused: no loader unpacks it.
Result<imports::PlainData> read_plain_json(const std::string& path);

// Of to.files[file], under the name of the file without its ending. A vocabulary is no value: of tokenizer.json and
// vocab.json nothing is added, they are compared as files.
Status read_json_values(std::size_t file, Checkpoint& to);

}  // namespace plumbline::reader
