// Reads templates that are cut at every byte and damaged in thousands of ways. Nothing may crash, and a text that is no
// template any more has a sentence for it.
//
//   template_corruption FILE…
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "recorder/probe_template.hpp"

namespace {

using plumbline::recorder::ProbeTemplate;

constexpr int kDamaged = 2000;
int failures = 0;

void complain(const char* path, const std::string& what) {
  if (++failures <= 10) std::fprintf(stderr, "template_corruption: %s: %s\n", path, what.c_str());
}

ProbeTemplate parse(const std::string& text, std::vector<std::string>& complaints) {
  const ProbeTemplate description = plumbline::recorder::parse_template(text, complaints);
  plumbline::recorder::template_json(description);
  return description;
}

void check(const char* path, const std::string& text) {
  std::vector<std::string> complaints;
  parse(text, complaints);
  for (const std::string& sentence : complaints) {
    if (sentence.empty() || sentence.find('\n') != std::string::npos) complain(path, "a complaint is no sentence");
  }
}

std::string damaged(std::string text, std::mt19937& random) {
  for (unsigned i = 0; i < 1 + random() % 4 && !text.empty(); ++i) {
    const std::size_t at = random() % text.size();
    switch (random() % 4) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + random() % 9);
        break;
      case 2:
        text.insert(at, std::string(1 + random() % 300, "[{\"=.#\n"[random() % 7]));
        break;
      default:
        text.insert(at, text.substr(random() % text.size(), 1 + random() % 40));
    }
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  std::mt19937 random(1);
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    std::vector<std::string> complaints;
    if (parse(text, complaints).probes.empty() || !complaints.empty()) complain(argv[i], "is not read whole");
    for (std::size_t length = 0; length < text.size(); ++length) check(argv[i], text.substr(0, length));
    for (int n = 0; n < kDamaged; ++n) check(argv[i], damaged(text, random));
  }
  if (argc < 2) complain("no file", "give the templates");
  return failures == 0 ? 0 : 1;
}
