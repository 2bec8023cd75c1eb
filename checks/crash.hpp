// Check `crash`: which process ended first by its own doing, and why; who was merely taken along.
//
// The first by aligned time is the cause, not the loudest: a rank whose connection broke, that gave up waiting, or that
// the launcher ended, failed because of another one. An abort inside a collective may itself follow from a mismatch;
// the finding says so.
#pragma once

#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

Verdict check_crash(const Subject& subject);

}  // namespace plumbline::checks
