// The captures of one step of a training that never was: two rows of six tokens in each of two micro-batches, of a
// causal model of seven tokens, in float32.
//
//   const ToyLoss toy{.ranks = 2, .factor = 1};
//   const Verdict verdict = toy.judged();
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "checks/testing/capture_job.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks::testing {

struct ToyLoss {
  int ranks = 1;
  int shift = 1;
  std::vector<std::int64_t> unsupervised{};   // places of a row without a label
  double factor = 0.5;                        // on each micro-batch's loss, before backward
  bool token_mean = false;                    // divide by the tokens of both micro-batches rather than average
  double divisor = 0;                         // of the gradient between backward and the step; 0: none was captured
  bool weighted = false;                      // backward() was given what to multiply the loss by
  bool lone_step = false;                     // a step more, of whose loss nothing but the backward() is known
  bool one_pass = false;                      // both losses are of the same tokens
  bool evaluates = false;                     // a third batch, through which no gradient goes
  std::int64_t end = -1;                      // the last two tokens of a row, the second of them padding; -1: none
  std::vector<std::vector<float>> weights{};  // of a micro-batch: what backward() gives its loss; empty: not captured
  bool tokens_apart = false;                  // the function gives a loss for each token
  bool hooked = false;                        // what backward() was called on has a hook
  bool no_ids = false;                        // no token ids were captured
  bool decoder = false;                       // it reads the labels, each a place later
  bool one_backward = false;                  // of the sum of both losses: they are one micro-batch
  bool short_last = false;                    // two steps more, the last of one micro-batch

  void write(const std::string& directory) const;
  // By the check, of a run with nothing else.
  Verdict judged() const;
  std::string title() const;  // of its first finding, else the reason

 private:
  void write_losses(CaptureJob& job, int rank, std::int64_t step, std::uint32_t micros) const;
  std::vector<std::int64_t> tokens(int rank, int micro) const;
  std::vector<std::int64_t> labels(const std::vector<std::int64_t>& ids, int micro) const;
  double supervised(int rank) const;
};

}  // namespace plumbline::checks::testing
