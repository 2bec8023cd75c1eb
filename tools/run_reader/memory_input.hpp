// The run's dimensions, as --config (a model's config.json) and --dims give them.
//
//   --dims batch=8,vocabulary=151936,length@12=10600,length@13/2=512
//
// name=value holds for the whole run; name@STEP=value for one logical step, name@STEP/RANK=value on one rank of it.
#pragma once

#include <string>
#include <string_view>

#include "checks/run_dimensions.hpp"
#include "reader/status.hpp"

namespace plumbline::tools {

// Of the text of a config.json as Hugging Face's models have it; `name` is what a complaint calls the file.
reader::Result<checks::RunDimensions> config_dimensions(std::string_view json, const std::string& name);
reader::Result<checks::RunDimensions> parse_dimensions(std::string_view text);
// Both together: what --dims says comes on top. Empty texts: not given.
reader::Result<checks::RunDimensions> run_dimensions(const std::string& config_path, const std::string& dims);

}  // namespace plumbline::tools
