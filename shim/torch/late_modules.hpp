// Modules whose functions the glue watches, and which a job may import long after torch.
#pragma once

namespace plumbline::shim::adapter {

// Lets the glue have a look at those that have come, soon. Cheap, runs no Python code: called at every garbage
// collection, of which an import makes several. Needs the interpreter lock.
void notice_late_modules() noexcept;

}  // namespace plumbline::shim::adapter
