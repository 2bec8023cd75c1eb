// Prints how close the judgement of a run was to its bounds, for the tables: of what is right the largest deviation
// over its bound, as {"optimizer": {"0": 0.93, …}, "loss": {"20": 0.01, …}, "collective_results": {"3": 0.5, …}}, by
// the ordinal of the optimizer, and by step.
//
//   margins RUN
#include <cstdio>
#include <nlohmann/json.hpp>

#include "checks/collective_results.hpp"
#include "checks/loss.hpp"
#include "checks/optimizer.hpp"
#include "checks/subject.hpp"
#include "reader/run.hpp"

namespace {

nlohmann::json as_json(const std::map<std::int64_t, double>& margins) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [place, margin] : margins) object[std::to_string(place)] = margin;
  return object;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  plumbline::reader::Result<plumbline::reader::Run> run = plumbline::reader::Run::open(arguments[1]);
  if (!run.ok()) {
    std::fprintf(stderr, "%s\n", run.status().message().c_str());
    return 2;
  }
  const plumbline::checks::Subject subject(*run);
  plumbline::checks::OptimizerMargins optimizer;
  plumbline::checks::LossMargins loss;
  plumbline::checks::CollectiveMargins collectives;
  plumbline::checks::check_optimizer(subject, optimizer);
  plumbline::checks::check_loss(subject, loss);
  plumbline::checks::check_collective_results(subject, collectives);
  const nlohmann::json all = {{"optimizer", as_json(optimizer.agreeing)},
                              {"loss", as_json(loss.agreeing)},
                              {"collective_results", as_json(collectives)}};
  std::puts(all.dump().c_str());
  return 0;
}
