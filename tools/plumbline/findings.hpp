// What the doctor found: sentences with a grade.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumbline::tools {

enum class Grade : std::uint8_t {
  kFine,
  kNote,     // worth knowing, nothing to do
  kProblem,  // something is not recorded that should be
};

struct Finding {
  Grade grade;
  std::string subject;  // one word or two
  std::string sentence;
};

class Findings {
 public:
  void fine(std::string subject, std::string sentence) { add(Grade::kFine, subject, sentence); }
  void note(std::string subject, std::string sentence) { add(Grade::kNote, subject, sentence); }
  void problem(std::string subject, std::string sentence) { add(Grade::kProblem, subject, sentence); }

  const std::vector<Finding>& all() const { return all_; }
  bool any_problem() const;
  // One line each: "ok    torch: 2.11.0 in /venv/…".
  std::string text() const;

 private:
  void add(Grade grade, std::string& subject, std::string& sentence) {
    all_.push_back({grade, std::move(subject), std::move(sentence)});
  }
  std::vector<Finding> all_;
};

}  // namespace plumbline::tools
