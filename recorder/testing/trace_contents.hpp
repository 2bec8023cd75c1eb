// Reads a trace or a ring back through the schema alone, for tests: everything in memory, every failure an exception of
// the test. What it finds is a plain list of events.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "recorder/event.hpp"

namespace plumbline::recorder::testing {

struct Event {
  Kind kind = Kind::kNone;
  std::uint32_t ring = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t tag = 0;  // the record's tag, or the part of it that the kind stores
  std::uint64_t a = 0;    // address, id, name, handle, value: the first number of the record
  std::uint64_t b = 0;    // size, code, handle: the second
  bool operator==(const Event&) const = default;
};

struct ProcessRow {
  std::string host, ring_name, level;
  int rank = 0, world_size = 0, attempt = 0;
  unsigned pid = 0;
};

struct GroupRow {
  std::uint64_t id = 0;
  std::string name, description, backend;
  std::vector<int> ranks;
  int rank = 0, size = 0;
};

struct StackRow {
  std::string thread_name;
  unsigned tid = 0, reason = 0, flags = 0;
  std::uint64_t time_ns = 0, detail = 0;
  std::vector<std::string> python;    // "FILE:LINE FUNCTION"
  std::vector<std::uint64_t> native;  // program counters
};

struct ModuleRow {
  std::uint64_t begin = 0, end = 0, file_offset = 0;
  std::string path, build_id;
};

struct EvictedRow {
  std::uint64_t first_ns = 0, last_ns = 0, frames = 0, bytes = 0;
  std::vector<std::uint64_t> events;
};

struct TraceContents {
  std::vector<ProcessRow> processes;
  std::multimap<std::string, std::string> facts;
  std::map<std::uint64_t, std::string> texts;
  std::size_t text_messages = 0;
  std::vector<GroupRow> groups;
  std::map<std::uint32_t, std::string> threads;  // latest name of a ring's owner
  std::vector<Event> events;                     // in the order of the file
  std::vector<EvictedRow> evicted;
  std::map<std::string, std::uint64_t> hooks;  // the last Hooks message
  std::vector<StackRow> stacks;
  std::vector<ModuleRow> modules;
  std::map<std::uint32_t, std::uint64_t> heads;  // the last Progress
  std::vector<std::uint64_t> dropped;
  bool has_exit = false;
  int exit_status = 0, exit_signal = 0;
  std::string exception_class, exception_message;
  std::size_t frames = 0;
  bool has_seek_table = false;
  bool torn = false;           // the file ends within a frame
  bool undefined_use = false;  // an event referred to a text or group before its definition
};

TraceContents read_trace(const std::string& path);
// Of messages that are not in a file yet.
TraceContents read_messages(const std::vector<std::uint8_t>& messages);

// The events that a ring file holds beyond what the trace has. Definitions among them are added to `trace`.
std::vector<Event> read_ring(const std::string& path, TraceContents& trace);

// Events of the trace and of the ring together.
std::vector<Event> all_events(const std::string& trace_path, const std::string& ring_path);

// Files in a directory, hidden ones too, sorted.
std::vector<std::string> files_in(const std::string& directory);
// The one file with this ending; a failed test when there is not exactly one.
std::string only_file(const std::string& directory, const std::string& ending);

}  // namespace plumbline::recorder::testing
