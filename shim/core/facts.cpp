#include "shim/core/facts.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "recorder/identity.hpp"
#include "recorder/recorder.hpp"
#include "recorder/reported_variables.hpp"
#include "shim/build_id.hpp"
#include "shim/core/activation.hpp"
#include "shim/core/launcher_facts.hpp"
#include "shim/core/process_files.hpp"

namespace plumbline::shim {
namespace {

using recorder::fact;

void report_environment() noexcept {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || !recorder::is_reported_variable(text.substr(0, equals))) continue;
    fact("env." + std::string(text.substr(0, equals)), text.substr(equals + 1));
  }
}

void report_pairs(const std::string& key, const std::vector<std::pair<std::string, std::string>>& pairs) noexcept {
  for (std::size_t i = 0; i < pairs.size(); ++i) fact(key + std::to_string(i), pairs[i].first + "\t" + pairs[i].second);
}

// What checks need of it: a pattern and what it stands for.
void report_template(const std::string& path, const recorder::ProbeTemplate& words) noexcept {
  fact("template.path", path);
  report_pairs("template.replicas.", words.replicas);
  report_pairs("template.names.", words.names);
}

void report_settings() noexcept {
  const recorder::Settings& settings = settings_in_force();
  fact("settings.level", recorder::level_name(settings.level));
  fact("settings.config", settings.config_file);
  fact("settings.ring_bytes", std::to_string(settings.ring_bytes));
  fact("settings.memory_bytes", std::to_string(settings.memory_bytes));
  fact("settings.max_trace_bytes", std::to_string(settings.max_trace_bytes));
  fact("settings.flush_ms", std::to_string(settings.flush_ms));
  if (!settings.probe_template.empty()) report_template(settings.probe_template, settings.probes);
  for (std::size_t i = 0; i < settings.complaints.size(); ++i) {
    fact("settings.complaint." + std::to_string(i), settings.complaints[i]);
  }
}

// Load addresses of the libraries reported so far. A process that loads more than fit reports the rest twice.
constinit std::array<ElfW(Addr), 1024> reported_libraries{};

bool is_new_library(ElfW(Addr) address) noexcept {
  for (ElfW(Addr) & known : reported_libraries) {
    if (known == address) return false;
    if (known != 0) continue;
    known = address;
    return true;
  }
  return true;
}

int report_library(dl_phdr_info* library, std::size_t /*size*/, void* /*argument*/) noexcept {
  const std::string_view path = library->dlpi_name != nullptr ? library->dlpi_name : "";
  if (path.find('/') == std::string_view::npos) return 0;  // the program itself, and the vdso
  if (!is_new_library(library->dlpi_addr)) return 0;
  std::string build_id;
  for (int i = 0; i < library->dlpi_phnum && build_id.empty(); ++i) {
    const auto& segment = library->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    build_id = build_id_in_notes(reinterpret_cast<const void*>(library->dlpi_addr + segment.p_vaddr), segment.p_filesz);
  }
  fact("library." + std::string(path.substr(path.rfind('/') + 1)), std::string(path) + " " + build_id);
  return 0;
}

}  // namespace

void report_identity() noexcept {
  fact("process.command", command_of("self"));
  fact("process.executable", link_of("self", "exe"));
  fact("process.directory", link_of("self", "cwd"));
  fact("process.parent", std::to_string(getppid()));
  fact("process.began", std::to_string(recorder::process_start_ticks()));
  report_settings();
  report_environment();
  report_launcher();
}

void report_torch(const std::string& libtorch, const TorchBuild& torch) noexcept {
  fact("torch.library", libtorch);
  fact("torch.identity", torch.identity);
  fact("torch.version", torch.version);
}

void report_libraries() noexcept {
  static constinit std::atomic_flag busy{};
  if (busy.test_and_set(std::memory_order_acquire)) return;
  dl_iterate_phdr(report_library, nullptr);
  busy.clear(std::memory_order_release);
}

void forget_reported_libraries() noexcept { reported_libraries.fill(0); }

}  // namespace plumbline::shim
