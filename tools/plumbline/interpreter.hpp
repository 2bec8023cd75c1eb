// Which Python a command runs.
#pragma once

#include <string>
#include <vector>

namespace plumbline::tools {

// The interpreter behind a command line such as `torchrun …`, `python train.py` or `srun python …`: the first word that
// is a Python or a script for one; else the `python3` or `python` of PATH. Empty when there is none.
std::string find_interpreter(const std::vector<std::string>& command);

// The interpreter in a script's first lines, empty when it is no Python script. Knows `#!/path/python`,
// `#!/usr/bin/env python`, and the shell detour that pip writes where the path is too long for a kernel.
std::string script_interpreter(const std::string& path);

}  // namespace plumbline::tools
