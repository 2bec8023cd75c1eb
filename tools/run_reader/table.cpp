#include "tools/run_reader/table.hpp"

#include <algorithm>

#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 8;

std::string padded(const std::string& cell, std::size_t width, Align align) {
  const std::string text = shortened(cell, width);
  const std::string padding(width - std::min(width, width_of(text)), ' ');
  return align == Align::kRight ? padding + text : text + padding;
}

}  // namespace

Table::Table(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

void Table::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::telling_columns() const {
  std::vector<std::size_t> telling;
  for (std::size_t at = 0; at < columns_.size(); ++at) {
    if (std::any_of(rows_.begin(), rows_.end(), [&](const auto& row) { return row[at] != "-"; })) telling.push_back(at);
  }
  return telling;
}

std::vector<std::size_t> Table::fitted_widths(const std::vector<std::size_t>& shown, std::size_t room) const {
  std::vector<std::size_t> widths;
  for (const std::size_t at : shown) {
    std::size_t width = width_of(columns_[at].title);
    for (const auto& row : rows_) width = std::max(width, width_of(row[at]));
    widths.push_back(width);
  }
  for (;;) {
    std::size_t total = kGap * (widths.size() - 1);
    for (const std::size_t width : widths) total += width;
    if (total <= room) return widths;
    std::size_t widest = widths.size();
    for (std::size_t at = 0; at < widths.size(); ++at) {
      if (columns_[shown[at]].align != Align::kLeft || widths[at] <= kNarrowest) continue;
      if (widest == widths.size() || widths[at] > widths[widest]) widest = at;
    }
    if (widest == widths.size()) return widths;
    --widths[widest];
  }
}

std::string Table::text(std::size_t indent) const {
  const std::vector<std::size_t> shown = telling_columns();
  if (shown.empty()) return {};
  const std::vector<std::size_t> widths = fitted_widths(shown, kColumns - indent);
  std::string out;
  const auto line = [&](const auto& cell_of) {
    std::string one(indent, ' ');
    for (std::size_t at = 0; at < shown.size(); ++at) {
      if (at > 0) one.append(kGap, ' ');
      one += padded(cell_of(shown[at]), widths[at], columns_[shown[at]].align);
    }
    one.erase(one.find_last_not_of(' ') + 1);
    out += one + '\n';
  };
  line([&](std::size_t at) -> const std::string& { return columns_[at].title; });
  for (const auto& row : rows_) line([&](std::size_t at) -> const std::string& { return row[at]; });
  return out;
}

}  // namespace plumbline::tools
