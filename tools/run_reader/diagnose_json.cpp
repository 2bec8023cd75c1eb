#include "tools/run_reader/diagnose_json.hpp"

#include <vector>

#include "tools/run_reader/run_name.hpp"
#include "tools/run_reader/verdict_report.hpp"

namespace plumbline::tools {
namespace {

using checks::Diagnosis;
using checks::Finding;
using checks::FindingRef;

Json ref_json(const Diagnosis& diagnosis, FindingRef ref) {
  return {{"check", diagnosis.verdicts[ref.verdict].check},
          {"finding", ref.finding},
          {"status", name_of(diagnosis.finding(ref).status)},
          {"title", diagnosis.finding(ref).title}};
}

Json refs_json(const Diagnosis& diagnosis, const std::vector<FindingRef>& refs, std::size_t from) {
  Json json = Json::array();
  for (std::size_t index = from; index < refs.size(); ++index) json.push_back(ref_json(diagnosis, refs[index]));
  return json;
}

Json root_json(const Diagnosis& diagnosis) {
  if (diagnosis.causes.empty()) return nullptr;
  Json json = ref_json(diagnosis, diagnosis.causes.front());
  const Finding& root = *diagnosis.root();
  json["ranks"] = root.ranks;
  json["descent"] = {{"run", root.descent.run},
                     {"rank", root.descent.rank},
                     {"component", root.descent.component},
                     {"operation", root.descent.operation},
                     {"line", root.descent.line}};
  json["next"] = root.next;
  return json;
}

}  // namespace

Json diagnosis_json(const Context& context, const Diagnosis& diagnosis, int exit_status) {
  Json json;
  json["schema"] = "plumbline.diagnose.1";
  json["run"] = run_name(context);
  json["exit_status"] = exit_status;
  json["root"] = root_json(diagnosis);
  json["consequences"] = refs_json(diagnosis, diagnosis.consequences, 0);
  Json also = refs_json(diagnosis, diagnosis.causes, 1);
  for (const FindingRef ref : diagnosis.others) also.push_back(ref_json(diagnosis, ref));
  json["also"] = std::move(also);
  json["verdicts"] = verdicts_json(diagnosis.verdicts);
  return json;
}

}  // namespace plumbline::tools
