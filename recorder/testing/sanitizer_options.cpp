// The tests fork processes that have threads, and start threads in them: legal on Linux, and what jobs do.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }
