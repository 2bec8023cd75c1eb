// One lane a rank over the incident: optimizer steps and outermost ranges above, collectives below.
#pragma once

#include <string>

#include "tools/run_reader/context.hpp"
#include "tools/run_reader/report/incident.hpp"

namespace plumbline::tools {

std::string lanes_svg(const Context& context, const Incident& incident);

}  // namespace plumbline::tools
