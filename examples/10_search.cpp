// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A search over a folder of Markdown: hashed trigrams, TF-IDF and cosine similarity as tensors, the
// five best.
//   ./example_10_search FOLDER QUERY...
#include <tenon/tenon.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace tenon;

namespace {

constexpr int64_t kBuckets = 4096;

struct Section {
  std::string file, title, text;
};

/// A section runs from a heading to the next.
std::vector<Section> read_sections(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().extension() == ".md") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<Section> sections;
  for (const auto& path : files) {
    std::ifstream file(path);
    const std::string name = std::filesystem::relative(path, folder).string();
    sections.push_back({name, "", ""});
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("#"))
        sections.push_back(
            {name, line.substr(std::min(line.find_first_not_of("# "), line.size())), ""});
      sections.back().text += line + "\n";
    }
  }
  std::erase_if(sections, [](const Section& s) { return s.text.size() < 3; });
  return sections;
}

/// Counts of each trigram of lower-case text, hashed by 32-bit FNV-1a into buckets.
void count_trigrams(const std::string& text, float* counts) {
  for (size_t i = 0; i + 3 <= text.size(); ++i) {
    uint32_t hash = 2166136261u;
    for (size_t k = i; k < i + 3; ++k) {
      const auto byte = static_cast<unsigned char>(text[k]);
      hash = (hash ^ (byte < 128 ? static_cast<uint32_t>(std::tolower(byte)) : byte)) * 16777619u;
    }
    counts[hash % kBuckets] += 1;
  }
}

/// Rows of length 1; a row of zeros stays.
Tensor normalised(const Tensor& rows) {
  const Tensor length = rows.square().sum(1, /*keepdims=*/true).sqrt();
  return rows / length.maximum(Tensor(1e-12f));
}

int run(const std::filesystem::path& folder, const std::string& query) {
  const std::vector<Section> sections = read_sections(folder);
  if (sections.empty())
    throw Error(ErrorKind::kInvalid,
                "[" + folder.string() + "] expected Markdown files, found none");
  const auto count = static_cast<int64_t>(sections.size());
  std::vector<float> words(static_cast<size_t>(count * kBuckets)), asked(kBuckets);
  for (size_t i = 0; i < sections.size(); ++i)
    count_trigrams(sections[i].text, &words[i * kBuckets]);
  count_trigrams(query, asked.data());

  const Tensor counts = tensor<float>(std::span<const float>(words), {count, kBuckets});
  const Tensor question = tensor<float>(std::span<const float>(asked), {1, kBuckets});
  const Tensor documents_with = (counts > Tensor(0)).astype(DType::kF32).sum(0, /*keepdims=*/true);
  const Tensor idf = (Tensor(static_cast<float>(count) + 1) / (documents_with + 1.0f)).log();
  const Tensor scores =
      normalised(counts * idf).matmul(normalised(question * idf).matrix_transpose()).ravel();

  // The five best, one after the other: the best is taken out by its position.
  Tensor left = scores;
  std::vector<Tensor> best;
  const Tensor position = arange(count);
  for (int64_t i = 0; i < std::min<int64_t>(5, count); ++i) {
    best.push_back(left.argmax(0, /*keepdims=*/true));
    left = where(position == best.back(), Tensor(-1), left);
  }
  const Tensor order = concatenate(best);
  const std::vector<float> top = scores.take(order, 0).to_vector<float>();
  const std::vector<int64_t> ids = order.to_vector<int64_t>();
  for (size_t i = 0; i < ids.size(); ++i) {
    const Section& section = sections[static_cast<size_t>(ids[i])];
    std::printf("%.4f  %s  %s\n", static_cast<double>(top[i]), section.file.c_str(),
                section.title.c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3 || !std::filesystem::is_directory(argv[1])) {
    std::fprintf(stderr,
                 "usage: 10_search FOLDER QUERY...   (expected a folder of .md files and words)\n");
    return 2;
  }
  std::string query;
  for (int i = 2; i < argc; ++i) query += std::string(i > 2 ? " " : "") + argv[i];
  return run(argv[1], query);
} catch (const Error& error) {
  std::fprintf(stderr, "10_search: %s\n", error.what());
  return error.kind() == ErrorKind::kInvalid ? 2 : 3;
} catch (const std::exception& error) {  // of folders
  std::fprintf(stderr, "10_search: %s\n", error.what());
  return 3;
}
