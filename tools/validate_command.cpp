// validate_command.cpp: `stepsim validate`: measured tables beside what the catalog's systems predict.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "scenarios/catalog.h"
#include "scenarios/measured.h"
#include "scenarios/yaml_tree.h"
#include "tools/commands.h"
#include "tools/comparison.h"
#include "tools/format.h"
#include "tools/output_file.h"

namespace stepsim {

ExitCode validate_command(const ValidateArguments& arguments) {
  const std::vector<MeasuredRow> measured = read_measured(read_text(arguments.collectives), arguments.collectives);
  JsonOutput json(arguments.json);
  const std::vector<Comparison> rows = compare_with_measured(measured, default_catalog());
  if (json.wanted()) json.write(comparison_json(rows));
  if (json.owns_stdout()) return ExitCode::ok;
  print(arguments.markdown ? comparison_markdown(rows) : comparison_report(rows, colour_on_stdout()));
  return ExitCode::ok;
}

}  // namespace stepsim
