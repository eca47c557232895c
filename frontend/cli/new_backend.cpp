// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon new-backend: writes a renamed copy of a template, examples/90_null_backend or 92_gccjit,
// that builds and passes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/support/error.hpp"
#include "core/support/file_io.hpp"
#include "core/support/output.hpp"
#include "core/support/shell.hpp"
#include "frontend/cli/cli.hpp"
#include "frontend/cli/template_files.hpp"

namespace tenon::cli {
namespace {

namespace fs = std::filesystem;

/// Names become those of a namespace: keywords, and what is in scope where it stands.
constexpr std::string_view kTaken =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t "
    "char16_t char32_t class co_await co_return co_yield compl concept const const_cast "
    "consteval constexpr constinit continue decltype default delete do double dynamic_cast "
    "else enum explicit export extern false float for friend goto if inline int long mutable "
    "namespace new noexcept not not_eq nullptr operator or or_eq private protected public "
    "register reinterpret_cast requires return sdk short signed sizeof static static_assert "
    "static_cast std struct switch template this thread_local throw true try typedef typeid "
    "typename union unsigned using virtual void volatile wchar_t while xor xor_eq ";

void check_name(const std::string& name) {
  bool legal =
      !name.empty() && name.size() <= 32 && std::islower(static_cast<unsigned char>(name[0])) != 0;
  for (const char c : name) {
    legal = legal && (std::islower(static_cast<unsigned char>(c)) != 0 ||
                      std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '_');
  }
  TN_REQUIRE(legal, "[new-backend] expected a name of lower case letters, digits and _, got '{}'",
             name);
  TN_REQUIRE(kTaken.find(" " + name + " ") == kTaken.npos,
             "[new-backend] expected a name that C++ and its library leave free, got '{}'", name);
}

std::string camel_case(const std::string& name) {
  std::string result;
  bool upper = true;
  for (const char c : name) {
    if (c == '_') {
      upper = true;
    } else {
      result += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
      upper = false;
    }
  }
  return result;
}

/// The template's name, "null" or "Null", becomes ours where it is a word or a part of an
/// identifier, not in "nullptr".
std::string renamed(std::string_view text, std::string_view from, const std::string& name) {
  const std::string camel = camel_case(name), from_camel = camel_case(std::string(from));
  const size_t size = from.size();
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool starts_word = i == 0 || !is_letter(text[i - 1]);
    const char next = i + size < text.size() ? text[i + size] : ' ';
    if (starts_word && text.substr(i, size) == from && !is_letter(next)) {
      result += name;
      i += size - 1;
    } else if (starts_word && text.substr(i, size) == from_camel &&
               std::islower(static_cast<unsigned char>(next)) == 0) {
      result += camel;
      i += size - 1;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::vector<std::string> write_template(const std::string& name, const std::string& from,
                                        const fs::path& folder) {
  check_name(name);
  TN_REQUIRE(!fs::exists(folder) || (fs::is_directory(folder) && fs::is_empty(folder)),
             "[new-backend] expected {} to be a new or empty folder, got one with files",
             folder.string());
  fs::create_directories(folder);
  std::vector<std::string> written;
  for (const TemplateFile& file : template_files()) {
    if (file.backend != from) continue;
    const fs::path path = folder / renamed(file.name, from, name);
    write_file(path, renamed(file.text, from, name));
    written.push_back(path.string());
  }
  return written;
}

/// Where find_package(Tenon) finds the tree that this program is of: the build folder or the
/// install prefix.
std::string package_prefix() {
  return fs::canonical("/proc/self/exe").parent_path().parent_path().string();
}

}  // namespace

void add_new_backend(CLI::App& app, int& exit_code) {
  struct Options {
    std::string name, folder, from = "null";
    bool json = false;
  };
  CLI::App* command =
      app.add_subcommand("new-backend", "Write a new backend that builds and passes");
  auto options = std::make_shared<Options>();
  command->add_option("name", options->name, "Name: lower case letters, digits and _")->required();
  command->add_option("folder", options->folder, "A new or empty folder")->required();
  command
      ->add_option("--template", options->from,
                   "What it begins as: null, an interpreter, or gccjit, an IR builder")
      ->check(CLI::IsMember({"null", "gccjit"}));
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &exit_code] {
    const std::vector<std::string> files =
        write_template(options->name, options->from, options->folder);
    const std::string build = fmt::format(
        "cmake -S {0} -B {0}/build -DCMAKE_PREFIX_PATH={1} && cmake --build {0}/build && "
        "tenon-conformance run --plugin {0}/build/lib/tenon/libtenon_{2}.so",
        shell_word(options->folder), shell_word(package_prefix()), options->name);
    if (options->json) {
      say("{}\n", Lines{json_text(nlohmann::json{{"files", files}, {"next", build}})});
    } else {
      for (const std::string& file : files) say("wrote {}\n", file);
      say("next: {}\n", build);
    }
    exit_code = kOk;
  });
}

}  // namespace tenon::cli
