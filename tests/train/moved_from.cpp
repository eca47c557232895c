// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every type of the public headers after it was moved from: it can be used, or says that it cannot,
// and takes a new value.
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>

#include "tenon/data/dataset.hpp"
#include "tenon/data/draws.hpp"
#include "tenon/data/loader.hpp"
#include "tenon/formats/csv.hpp"
#include "tenon/formats/metrics.hpp"
#include "tenon/formats/safetensors.hpp"
#include "tenon/formats/tensorboard.hpp"
#include "tenon/nn/nn.hpp"
#include "tenon/tenon.hpp"
#include "tenon/train/train.hpp"
#include "tests/tensor/devices.hpp"

namespace tenon::test {
namespace {

/// `use` of a value that was moved from ends, by an Error at most; of the new one it works.
template <class T>
void after_move(T value, const std::function<void(T&)>& use) {
  use(value);
  T taken = std::move(value);
  try {
    use(value);  // NOLINT(bugprone-use-after-move): what this is about
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("got ") != std::string::npos);
  }
  if constexpr (std::is_move_assignable_v<T>) {
    value = std::move(taken);
    use(value);
  } else {
    use(taken);
  }
}

template <class T>
void is_not_moved() {
  STATIC_CHECK(!std::is_move_constructible_v<T>);
}

/// A layer, which is called with x.
template <class M>
void layer(M model, const Tensor& x) {
  after_move<M>(std::move(model), [&](M& m) { m(x).to_array(); });
}

using Rows = std::map<std::string, std::function<void(Context&)>>;

Rows values() {
  return {
      {"Axes",
       [](Context&) {
         after_move<Axes>({0, 1}, [](Axes& a) { CHECK(a.size() <= 2); });
       }},
      {"Array",
       [](Context&) {
         after_move<Array>(Array::zeros(DType::kF32, {2}), [](Array& a) { a.at(1); });
       }},
      {"Scalar",
       [](Context&) {
         after_move<Scalar>(Scalar::of(DType::kF32, 1), [](Scalar& s) { s.as_double(); });
       }},
      {"Number", [](Context&) { after_move<Number>(1.5, [](Number& n) { n.text(); }); }},
      {"Error",
       [](Context&) {
         after_move<Error>({ErrorKind::kInvalid, "x"},
                           [](Error& e) { CHECK(e.what() != nullptr); });
       }},
      {"AxisError",
       [](Context&) {
         after_move<AxisError>(AxisError("x"), [](AxisError& e) { CHECK(e.what() != nullptr); });
       }},
      {"Literal", [](Context&) { is_not_moved<Literal>(); }},
      {"Context", [](Context&) { is_not_moved<Context>(); }},
      {"GradientTape", [](Context&) { is_not_moved<GradientTape>(); }},
      {"Size",
       [](Context&) {
         after_move<Size>(Size::symbol("n", 2, 9), [](Size& n) { CHECK((n + 1).maximum() == 10); });
       }},
      {"Tensor",
       [](Context& c) {
         after_move<Tensor>(ones({2}, DType::kF32, c), [](Tensor& x) { (x + 1).to_array(); });
       }},
      {"Index",
       [](Context& c) {
         const Tensor x = ones({2}, DType::kF32, c);
         after_move<Index>(arange(2, DType::kI64, c), [&](Index& i) { x[i].to_array(); });
       }},
      {"Key",
       [](Context& c) {
         after_move<Key>(Key(1, c), [](Key& key) { uniform(key.split()[0], {2}).to_array(); });
       }},
      {"Function",
       [](Context& c) {
         after_move<Function>(
             Function::parse("graph g(%x: f32[2]) { %y = neg %x : f32[2] return %y }", c),
             [&](Function& f) {
               CHECK(f.name() == "g");
               c.run(f, {Array::zeros(DType::kF32, {2})});
             });
       }},
      {"CompiledFunction",
       [](Context& c) {
         const Tensor x = ones({2}, DType::kF32, c);
         const auto twice = [](const std::vector<Tensor>& in, size_t) {
           return std::vector{in[0] * 2};
         };
         after_move<CompiledFunction>({twice, "twice"}, [&](CompiledFunction& f) {
           f.call({x});
           CHECK(f.traces() == 1);
         });
         auto compiled = compile([](Tensor v) { return v + 1; });
         after_move<decltype(compiled)>(compiled, [&](auto& f) { f(x).to_array(); });
       }},
      {"Mode",
       [](Context& c) {
         after_move<nn::Mode>(nn::Mode::training(Key(1, c)), [](nn::Mode& m) { m.key("layer"); });
       }},
      {"Rate",
       [](Context& c) {
         const Tensor step = zeros({}, DType::kF32, c);
         after_move<nn::Rate>(nn::linear(1, 0, 9), [&](nn::Rate& r) { r(step).to_array(); });
       }},
      {"Optimizer",
       [](Context& c) {
         nn::Linear model(2, 1, Key(1, c));
         after_move<nn::Optimizer>(nn::sgd(), [&](nn::Optimizer& o) {
           const std::vector<float> before = model.bias->to_vector<float>();
           nn::OptimizerState state = o.init(model);
           o.update(model, {ones({1, 2}, DType::kF32, c), ones({1}, DType::kF32, c)}, state);
           CHECK(std::abs(model.bias->to_vector<float>()[0] - before[0] + 1e-3F) < 1e-5F);
         });
       }},
      {"Parameter",
       [](Context& c) {
         after_move<nn::Parameter>(ones({2}, DType::kF32, c), [&](nn::Parameter& p) {
           CHECK(p.declared->shape.size() == 1);
           p = ones({2}, DType::kF32, c);
         });
       }},
      {"Buffer",
       [](Context& c) {
         after_move<nn::Buffer>(ones({2}, DType::kF32, c), [](nn::Buffer& p) { p.to_array(); });
       }},
  };
}

Rows layers() {
  const auto image = [](Context& c) { return ones({1, 2, 4, 4}, DType::kF32, c); };
  const auto row = [](Context& c) { return ones({1, 3, 2}, DType::kF32, c); };
  return {
      {"Linear", [=](Context& c) { layer(nn::Linear(2, 3, Key(1, c)), row(c)); }},
      {"Bilinear",
       [=](Context& c) {
         after_move<nn::Bilinear>(nn::Bilinear(2, 2, 1, Key(1, c)),
                                  [&](nn::Bilinear& m) { m(row(c), row(c)).to_array(); });
       }},
      {"Embedding",
       [](Context& c) { layer(nn::Embedding(4, 2, Key(1, c)), arange(3, DType::kI64, c)); }},
      {"Conv", [=](Context& c) { layer(nn::Conv2d(2, 1, 3, Key(1, c)), image(c)); }},
      {"ConvTranspose",
       [=](Context& c) { layer(nn::ConvTranspose2d(2, 1, 3, Key(1, c)), image(c)); }},
      {"LayerNorm", [=](Context& c) { layer(nn::LayerNorm({2}, Key(1, c)), row(c)); }},
      {"RMSNorm", [=](Context& c) { layer(nn::RMSNorm(2, Key(1, c)), row(c)); }},
      {"GroupNorm", [=](Context& c) { layer(nn::GroupNorm(1, 2, Key(1, c)), image(c)); }},
      {"InstanceNorm", [=](Context& c) { layer(nn::InstanceNorm(2), image(c)); }},
      {"BatchNorm",
       [=](Context& c) {
         after_move<nn::BatchNorm>(nn::BatchNorm(2, Key(1, c)), [&](nn::BatchNorm& m) {
           m(image(c), nn::Mode::training()).to_array();
         });
       }},
      {"Dropout", [=](Context& c) { layer(nn::Dropout(0.5), row(c)); }},
      {"Upsample", [=](Context& c) { layer(nn::Upsample(2), image(c)); }},
      {"PixelShuffle",
       [](Context& c) {
         layer(nn::PixelShuffle(2), ones({1, 4, 2, 2}, DType::kF32, c));
       }},
      {"PixelUnshuffle", [=](Context& c) { layer(nn::PixelUnshuffle(2), image(c)); }},
      {"MultiHeadAttention",
       [=](Context& c) { layer(nn::MultiHeadAttention(2, 1, Key(1, c)), row(c)); }},
      {"KeyValueCache",
       [](Context& c) {
         const Tensor k = ones({1, 1, 1, 2}, DType::kF32, c);
         after_move<nn::KeyValueCache>(nn::KeyValueCache(1, 1, 9, 2, DType::kF32, c),
                                       [&](nn::KeyValueCache& cache) { cache.append(k, k); });
       }},
      {"RecurrentCell",
       [](Context& c) {
         after_move<nn::RecurrentCell>({nn::Recurrence::kGru, 2, 3, Key(1, c)},
                                       [&](nn::RecurrentCell& m) {
                                         m(ones({1, 2}, DType::kF32, c))[0].to_array();
                                       });
       }},
      {"Recurrent",
       [=](Context& c) {
         after_move<nn::Recurrent>({nn::Recurrence::kLstm, 2, 3, Key(1, c)},
                                   [&](nn::Recurrent& m) { m(row(c)).output.to_array(); });
       }},
      {"GCNConv",
       [](Context& c) {
         after_move<nn::GCNConv>(nn::GCNConv(2, 1, Key(1, c)), [&](nn::GCNConv& m) {
           m(ones({3, 2}, DType::kF32, c), eye(3, {}, 0, DType::kF32, c)).to_array();
         });
       }},
      {"GATConv",
       [](Context& c) {
         after_move<nn::GATConv>(nn::GATConv(2, 1, Key(1, c)), [&](nn::GATConv& m) {
           m(ones({3, 2}, DType::kF32, c), eye(3, {}, 0, DType::kF32, c)).to_array();
         });
       }},
  };
}

Rows files(const std::filesystem::path& folder) {
  const auto path = [folder](const char* name) { return (folder / name).string(); };
  return {
      {"SafetensorsFile",
       [=](Context&) {
         formats::write_safetensors(path("x.safetensors"),
                                    formats::NamedArrays{{"x", Array::zeros(DType::kF32, {2})}});
         after_move<formats::SafetensorsFile>(formats::SafetensorsFile(path("x.safetensors")),
                                              [](formats::SafetensorsFile& file) {
                                                file.tensors();
                                                file.read("x");
                                              });
       }},
      {"MetricsWriter",
       [=](Context&) {
         after_move<formats::MetricsWriter>(formats::MetricsWriter(path("x.csv")),
                                            [](formats::MetricsWriter& writer) {
                                              writer.write({{"loss", 1}});
                                            });
       }},
      {"EventWriter", [](Context&) { is_not_moved<formats::EventWriter>(); }},
      {"CsvTable",
       [](Context&) {
         after_move<formats::CsvTable>(formats::parse_csv("a,b\n1,2\n", "x.csv"),
                                       [](formats::CsvTable& table) {
                                         table.text(0, 1);
                                         table.matrix(DType::kF32);
                                         table.column("b");
                                       });
       }},
      {"Loader", [](Context&) { is_not_moved<data::Loader>(); }},
      {"Draws",
       [](Context&) {
         after_move<data::Draws>({1, 2, 3}, [](data::Draws& d) { d.uniform(); });
       }},
      {"ImageFolder",
       [](Context&) {
         after_move<data::ImageFolder>({{"a"}, {"a/x.png"}, {0}}, [](data::ImageFolder& images) {
           CHECK(images.dataset().size == static_cast<int64_t>(images.files.size()));
         });
       }},
      {"Batches",
       [](Context& c) {
         const std::vector<Tensor> same{ones({2}, DType::kF32, c)};
         after_move<train::Batches>(same, [](train::Batches& batches) {
           if (batches.next) batches.next();
         });
       }},
  };
}

/// Names of the classes and structs that the headers export.
std::set<std::string> exported() {
  std::set<std::string> out;
  const std::filesystem::path source = TENON_SOURCE_DIR;
  const std::regex type(R"((class|struct) TENON_API (\w+))");
  for (const char* part :
       {"core/include", "frontend/tensor/include", "frontend/nn/include",
        "frontend/formats/include", "frontend/data/include", "frontend/train/include"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(source / part)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path());
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      for (std::sregex_iterator at(text.begin(), text.end(), type), end; at != end; ++at)
        out.insert((*at)[2]);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("every exported type can be used after it was moved from, or says that it cannot") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tenon-moved-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  Rows rows = values();
  rows.merge(layers());
  rows.merge(files(folder));
  std::set<std::string> named;
  for (const auto& [name, row] : rows) named.insert(name);
  CHECK(named == exported());
  on_each_device([&](Context& context) {
    for (const auto& [name, row] : rows) {
      CAPTURE(name);
      row(context);
    }
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  });
  std::filesystem::remove_all(folder);
}

TEST_CASE("a tensor made of nothing says so when it is used") {
  on_each_device([](Context& context) {
    Tensor x;
    CHECK_FALSE(x.has_value());
    for (const std::function<void()>& use :
         {std::function<void()>([&] { x + 1; }), std::function<void()>([&] { x.shape(); }),
          std::function<void()>([&] { x.sum(); }), std::function<void()>([&] { x[0]; }),
          std::function<void()>([&] { realize({x}); }), std::function<void()>([&] { x += 1; }),
          std::function<void()>([&] {
            concatenate({x, x});
          })}) {
      try {
        use();
        FAIL("expected an error");
      } catch (const Error& error) {
        CHECK(std::string(error.what()).find("expected a Tensor, got one without a value") !=
              std::string::npos);
      }
    }
    x = ones({2}, DType::kF32, context);
    CHECK(x.has_value());
    CHECK(x.sum().item<float>() == 2);
    std::vector<Tensor> many(3);
    many[1] = x;
    CHECK(many[1][0].item<float>() == 1);
    CHECK_FALSE(many[2].has_value());
  });
}

}  // namespace tenon::test
