// Rows that begin with the token of a beginning twice, as when a chat template writes it and the tokenizer adds one.
//
// Which token that is, the job's model says in its settings (`bos_token_id`); else it may be the one that every row
// begins with.
#pragma once

#include <string>
#include <vector>

#include "checks/observations.hpp"
#include "checks/token_rows.hpp"

namespace plumbline::checks {

// Documents of one forward pass.
struct TokenBatch {
  const Capture* capture = nullptr;
  TokenRows rows;
  std::vector<Document> documents;
};

// Of one rank and one place in the model.
void examine_beginnings(const std::vector<TokenBatch>& batches, Observations& into);

}  // namespace plumbline::checks
