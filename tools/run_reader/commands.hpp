// The commands of run-reader. Each writes to context.out and returns an exit status.
#pragma once

#include "tools/run_reader/context.hpp"

namespace plumbline::tools {

int run_diagnose(const Context& context);
int run_summary(const Context& context);
int run_ranks(const Context& context);
int run_collectives(const Context& context);
int run_allocations(const Context& context);
int run_memory(const Context& context);
int run_optimizer(const Context& context);
int run_ranges(const Context& context);
int run_events(const Context& context);
int run_dump(const Context& context);
int run_stacks(const Context& context);
int run_export(const Context& context);
int run_report(const Context& context);
int run_stragglers(const Context& context);
int run_verify(const Context& context);

}  // namespace plumbline::tools
