// Damage to a file's contents, the same in every run for one seed.
#pragma once

#include <random>
#include <string>

namespace plumbline::fuzz {

// One to three changes: a bit, a byte, a stretch left out, repeated or overwritten with digits.
std::string damaged(std::string contents, std::mt19937& random);

}  // namespace plumbline::fuzz
