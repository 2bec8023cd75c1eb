// The JSON object that a capture carries as its detail, without exceptions: what is not there, or not of the asked
// type, is empty.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::checks {

class Detail {
 public:
  explicit Detail(std::string_view json);
  ~Detail();
  Detail(Detail&&) noexcept;
  Detail& operator=(Detail&&) noexcept;

  bool has(std::string_view key) const;                      // and not null
  std::optional<double> number(std::string_view key) const;  // also of true and false
  bool flag(std::string_view key) const;
  std::string text(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key) const;
  // A number is null where the list has something else.
  std::vector<std::optional<double>> numbers(std::string_view key) const;
  Detail object(std::string_view key) const;
  std::vector<Detail> objects(std::string_view key) const;  // of a list

 private:
  struct Node;
  explicit Detail(std::unique_ptr<Node> node);
  std::unique_ptr<Node> node_;
};

}  // namespace plumbline::checks
