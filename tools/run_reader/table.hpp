// A table in plain text: columns as wide as they need, the whole never wider than kColumns.
//
//   Table table({{"rank", Align::kRight}, {"host", Align::kLeft}});
//   table.add({"0", "node-17"});
//   out << table.text(2);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumbline::tools {

enum class Align : std::uint8_t { kLeft, kRight };

struct TableColumn {
  std::string title;
  Align align = Align::kLeft;
};

class Table {
 public:
  explicit Table(std::vector<TableColumn> columns);

  // One cell a column. Cells are shown printable, and cut where the table would be too wide: the widest left-aligned
  // columns give way, numbers never.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  // Lines with their line ends, each `indent` spaces in. Nothing, not even titles, when there is no row. A column whose
  // cells all are "-", nothing to tell, is left out.
  std::string text(std::size_t indent) const;

 private:
  std::vector<std::size_t> telling_columns() const;
  std::vector<std::size_t> fitted_widths(const std::vector<std::size_t>& shown, std::size_t room) const;

  std::vector<TableColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace plumbline::tools
