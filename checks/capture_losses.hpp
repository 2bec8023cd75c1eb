// What of the captured tensors was lost: files that cannot be read or are damaged, that belong to another run, that end
// before their process did, that are not there though the process trained under the same settings as others.
//
// A check of captures looks only at what is there; whoever shows its verdict adds these losses to it (check.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

struct CaptureLoss {
  std::string file;  // name in the run's folder of captures; empty: there is none
  std::int32_t rank = -1;
  std::string what;  // one sentence without the rank
};

// In the order of files. What a killed process had not written yet is no such loss: its trace tells that it was killed.
std::vector<CaptureLoss> capture_losses(const Subject& subject);

// "rank 0: …", or with the file's name where its rank is not known.
std::string loss_text(const CaptureLoss& loss);

// Adds what was lost to what is not known. What passed is then undecided.
void qualify(Verdict& verdict, const std::vector<CaptureLoss>& losses);
// The same with other sentences, and a clause that sums them up.
void leave_open(Verdict& verdict, std::string_view why, std::vector<std::string> unknown);

}  // namespace plumbline::checks
