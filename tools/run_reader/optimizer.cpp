// `optimizer`: optimizers by class, the settings of each param group, and the logical steps.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <tuple>

#include "reader/steps.hpp"
#include "tools/run_reader/activity_rows.hpp"
#include "tools/run_reader/commands.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/run_facts.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

// A param group of one optimizer, as it was at its first and its last step.
struct GroupHistory {
  std::string name;
  std::uint64_t steps = 0;
  std::uint32_t depth = 0;
  reader::StepGroup first;
  reader::StepGroup last;
  double least_lr = INFINITY;
  double most_lr = -INFINITY;
};

using HistoryKey = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>;  // optimizer, name, index of the group

std::vector<GroupHistory> histories_of(const reader::Trace& trace) {
  std::map<HistoryKey, GroupHistory> by_key;
  reader::read_optimizer_steps(trace, {}, [&](const reader::OptimizerStep& step) {
    for (const reader::StepGroup& group : step.groups) {
      GroupHistory& history = by_key[{step.optimizer, step.name, group.index}];
      if (history.steps++ == 0) {
        history.name = trace.text(step.name);
        history.depth = step.depth;
        history.first = group;
      }
      history.last = group;
      if (group.lr < history.least_lr) history.least_lr = group.lr;
      if (group.lr > history.most_lr) history.most_lr = group.lr;
    }
    return true;
  });
  std::vector<GroupHistory> histories;
  histories.reserve(by_key.size());
  for (auto& [key, history] : by_key) histories.push_back(std::move(history));
  return histories;
}

std::string setting(double value) { return std::isnan(value) ? "-" : fmt::format("{:g}", value); }

std::string betas(const reader::StepGroup& group) {
  if (std::isnan(group.beta1) && std::isnan(group.beta2)) return "-";
  return fmt::format("{}, {}", setting(group.beta1), setting(group.beta2));
}

std::string learning_rates(const GroupHistory& history) {
  if (history.least_lr > history.most_lr) return "-";
  if (history.least_lr == history.most_lr) return setting(history.least_lr);
  return fmt::format("{}..{}", setting(history.first.lr), setting(history.last.lr));
}

// Which trace stands for the others: settings are the same on all ranks, or a check says so.
const reader::Trace* model_trace(const Context& context) {
  for (const reader::Trace& trace : context.run.traces()) {
    if (context.options.filter.takes_rank(trace.rank())) return &trace;
  }
  return nullptr;
}

Table settings_table(const std::vector<GroupHistory>& histories) {
  Table table({{"optimizer"},
               {"group", Align::kRight},
               {"lr"},
               {"weight decay"},
               {"betas"},
               {"eps"},
               {"momentum"},
               {"params", Align::kRight},
               {"with grad", Align::kRight},
               {"elements", Align::kRight}});
  for (const GroupHistory& history : histories) {
    table.add({std::string(2 * static_cast<std::size_t>(history.depth), ' ') + history.name,
               fmt::format("{}/{}", history.last.index, history.last.groups), learning_rates(history),
               setting(history.last.weight_decay), betas(history.last), setting(history.last.eps),
               setting(history.last.momentum), count_text(history.last.params),
               count_text(history.last.params_with_grad), count_text(history.last.elements)});
  }
  return table;
}

Json real(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json group_json(const reader::StepGroup& group) {
  return {{"lr", real(group.lr)},
          {"weight_decay", real(group.weight_decay)},
          {"beta1", real(group.beta1)},
          {"beta2", real(group.beta2)},
          {"eps", real(group.eps)},
          {"momentum", real(group.momentum)},
          {"optimizer_step", real(group.step)},
          {"params", group.params},
          {"params_with_grad", group.params_with_grad},
          {"elements", group.elements}};
}

Json settings_json(const Context& context) {
  Json json = Json::array();
  for (const reader::Trace& trace : context.run.traces()) {
    if (!context.options.filter.takes_rank(trace.rank())) continue;
    for (const GroupHistory& history : histories_of(trace)) {
      json.push_back({{"rank", trace.rank()},
                      {"attempt", trace.attempt()},
                      {"optimizer", history.name},
                      {"depth", history.depth},
                      {"group", history.last.index},
                      {"groups", history.last.groups},
                      {"steps", history.steps},
                      {"first", group_json(history.first)},
                      {"last", group_json(history.last)}});
    }
  }
  return json;
}

}  // namespace

int run_optimizer(const Context& context) {
  const auto rows = optimizer_rows(context);
  const RunFacts facts = run_facts(context);
  if (context.options.json) {
    Json json = {{"schema", "plumbline.optimizer.1"}, {"run", context.run.path()}};
    json["facts"] = run_facts_json(facts);
    json["optimizers"] = activity_json(rows);
    json["param_groups"] = settings_json(context);
    print_json(context.out, json);
    return kExitFine;
  }
  if (rows.empty()) {
    context.out << "no optimizer step was recorded\n";
    return kExitFine;
  }
  context.out << steps_text(facts.steps) << "\n\n" << optimizer_table(rows).text(0);
  if (const reader::Trace* trace = model_trace(context)) {
    const Table settings = settings_table(histories_of(*trace));
    if (!settings.empty()) context.out << fmt::format("\nsettings on rank {}\n", trace->rank()) << settings.text(0);
  }
  return kExitFine;
}

}  // namespace plumbline::tools
