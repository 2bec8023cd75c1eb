// What keeps captures of several ranks from being held against each other: other versions of PyTorch, which may round
// otherwise, and steps that no two of them have in common.
#pragma once

#include <string>
#include <vector>

#include "checks/subject.hpp"

namespace plumbline::checks {

// Of one set of captures, a sentence each, with the remedy.
std::vector<std::string> capture_doubts(const Subject& subject, const reader::CaptureSet& set);

// What keeps the steps that two subjects look at from being compared bit for bit: another version, or another number of
// ranks.
std::vector<std::string> reference_doubts(const Subject& subject, const Subject& reference);

}  // namespace plumbline::checks
