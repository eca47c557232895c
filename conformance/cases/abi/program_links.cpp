// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/cases/abi/program_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "conformance/cases/abi/programs.hpp"
#include "sdk/program/op_info.hpp"

namespace tenon::conformance::abi {
namespace {

using sdk::OpInfo;
using sdk::OpKind;

constexpr tn_opcode kReductions[] = {TN_OP_ADD, TN_OP_MUL, TN_OP_MAX};
constexpr uint16_t kLinkLanes[] = {2, 3, 4, 8, 16};
constexpr std::string_view kLinkPlaces[] = {"loop",         "while",        "then",
                                            "else",         "loop in loop", "loop in side",
                                            "side in loop", "side in side"};
constexpr std::string_view kLinkLaunches[] = {"again", "apart", "twin", "kept"};
constexpr std::string_view kLinkSpaces[] = {"global", "constant", "shared", "register", "scratch"};

bool is_index_type(tn_dtype dtype) { return dtype == TN_DTYPE_I32 || dtype == TN_DTYPE_I64; }
bool is_counted(tn_dtype dtype) {
  return is_index_type(dtype) || dtype == TN_DTYPE_U32 || dtype == TN_DTYPE_U64;
}
bool is_reduction(uint16_t op) { return op == TN_OP_LANE_REDUCE || op == TN_OP_SUBGROUP_REDUCE; }

/// "lane_reduce.max", "bits", "load.masked"
std::string kind_name(uint16_t op, uint64_t imm, bool is_masked) {
  if (op == TN_OP_CAST) return imm == TN_CAST_BITS ? "bits" : "cast";
  std::string name(sdk::op_text(op));
  if (is_reduction(op)) name += fmt::format(".{}", sdk::op_text(static_cast<uint16_t>(imm)));
  if (is_masked) name += ".masked";
  return name;
}

/// "" where an op makes no value that is looked at.
std::string source_name(const sdk::ProgramView& program, const tn_op& op) {
  switch (op.op) {
    case TN_OP_PARAM: {
      const bool is_scalar = program.param(static_cast<uint32_t>(op.imm)).kind == TN_PARAM_SCALAR;
      return is_scalar ? "scalar" : "";
    }
    case TN_OP_LOOP:
      return "index";
    case TN_OP_TAKE:
      return kind_name(op.op, 0, op.operand_count > 2);
    default:
      return op.lanes ? kind_name(op.op, op.imm, false) : "";
  }
}

std::string port_name(uint16_t op, uint64_t imm, uint32_t slot) {
  static constexpr std::string_view kAccess[] = {"", "index", "mask", "fill"};
  static constexpr std::string_view kStored[] = {"", "index", "value", "mask"};
  static constexpr std::string_view kExchanged[] = {"", "index", "value", "compare"};
  std::string name = kind_name(op, imm, false);
  const auto named = [&](const auto& slots) { return fmt::format("{}.{}", name, slots[slot & 3]); };
  switch (op) {
    case TN_OP_TAKE:
      return named(kAccess);
    case TN_OP_STORE:
      return named(kStored);
    case TN_OP_ATOMIC:
      return named(kExchanged);
    case TN_OP_LOOP:
      return slot == 1 ? "loop.end" : slot > 2 ? "carry.first" : "";
    case TN_OP_COMPOSE:
      return name;
    default:
      break;
  }
  const OpInfo* info = sdk::op_info(op);
  const bool has_slots = info && (info->arity > 1 || op == TN_OP_SUBGROUP_SHUFFLE);
  return has_slots ? fmt::format("{}.{}", name, slot) : name;
}

/// The table of links, and their numbers by name.
class Links {
 public:
  Links() {
    for (const LinkSource& source : link_sources())
      for (const LinkPort& port : link_ports())
        for (const tn_dtype dtype : link_dtypes())
          if (gives(source, dtype) && abi::takes(port, dtype) && can_feed(source, port))
            add(feeds_name(source.name, port.name, dtype), LinkKind::kFeeds);
    std::vector<LinkSource> ops = link_sources();
    for (const char* store : {"store", "store.masked"}) ops.push_back({store, TN_OP_STORE, 0});
    for (const LinkSource& op : ops)
      for (const tn_dtype dtype : link_dtypes()) {
        if (op.op != TN_OP_STORE && !gives(op, dtype)) continue;
        for (const uint16_t lanes : kLinkLanes)
          if (is_vector(op)) add(lanes_name(op.name, dtype, lanes), LinkKind::kLanes);
        for (const std::string_view place : kLinkPlaces)
          if (op.op != TN_OP_PARAM && (op.op != TN_OP_CARRY || !is_side(place)))
            add(place_name(op.name, dtype, place), LinkKind::kPlace);
        for (const std::string_view launch : kLinkLaunches)
          add(launch_name(op.name, dtype, launch), LinkKind::kLaunch);
      }
    const std::vector<std::string> effects = effect_names();
    for (const std::string& first : effects)
      for (const std::string& second : effects) add(order_name(first, second), LinkKind::kOrder);
  }

  static std::string feeds_name(const std::string& source, const std::string& port,
                                tn_dtype dtype) {
    return fmt::format("{} -> {} {}", source, port, sdk::dtype_text(static_cast<uint8_t>(dtype)));
  }
  static std::string lanes_name(const std::string& op, tn_dtype dtype, uint16_t lanes) {
    return fmt::format("{} {} x{}", op, sdk::dtype_text(static_cast<uint8_t>(dtype)), lanes);
  }
  static std::string place_name(const std::string& op, tn_dtype dtype, std::string_view place) {
    return fmt::format("{} {} in {}", op, sdk::dtype_text(static_cast<uint8_t>(dtype)), place);
  }
  static std::string launch_name(const std::string& op, tn_dtype dtype, std::string_view launch) {
    return fmt::format("{} {} {}", op, sdk::dtype_text(static_cast<uint8_t>(dtype)), launch);
  }
  static std::string order_name(const std::string& first, const std::string& second) {
    return fmt::format("{} then {}", first, second);
  }

  size_t size() const { return names_.size(); }
  const std::string& name(uint32_t link) const { return names_.at(link); }
  LinkKind kind(uint32_t link) const { return kinds_.at(link); }
  void find(const std::string& name, std::set<uint32_t>& into) const {
    if (const auto found = numbers_.find(name); found != numbers_.end()) into.insert(found->second);
  }

 private:
  void add(std::string name, LinkKind kind) {
    if (!numbers_.emplace(name, static_cast<uint32_t>(names_.size())).second) return;
    names_.push_back(std::move(name));
    kinds_.push_back(kind);
  }
  /// What must lie in a range takes what is made to; scalars and vectors are no vectors and
  /// scalars.
  static bool can_feed(const LinkSource& source, const LinkPort& port) {
    const tn_opcode op = source.op;
    const bool is_bound = port.name == "atomic.index" || port.name == "subgroup_shuffle.1";
    const bool is_of_vector = port.op == TN_OP_EXTRACT || port.op == TN_OP_LANE_REDUCE;
    const bool is_of_scalar = port.op == TN_OP_BROADCAST || port.op == TN_OP_COMPOSE ||
                              port.op == TN_OP_ATOMIC || port.op == TN_OP_IF ||
                              port.name == "while" || port.name == "loop.end" || is_bound;
    if (is_of_vector && !is_vector(source)) return false;
    if (is_of_scalar && (op == TN_OP_BROADCAST || op == TN_OP_COMPOSE)) return false;
    return !is_bound || op == TN_OP_AND || op == TN_OP_INDEX || op == TN_OP_CONST;
  }
  /// Carried values stand at the beginning of their loop.
  static bool is_side(std::string_view place) {
    return place == "then" || place == "else" || place.starts_with("side");
  }
  static bool is_vector(const LinkSource& op) {
    switch (op.op) {
      case TN_OP_PARAM:
      case TN_OP_ATOMIC:
      case TN_OP_EXTRACT:
      case TN_OP_LANE_REDUCE:
        return false;
      default:
        return true;
    }
  }
  static std::vector<std::string> effect_names() {
    std::vector<std::string> out;
    for (const std::string_view space : kLinkSpaces)
      for (const char* what : {"load", "load.masked", "store", "store.masked"})
        if (space != "constant" || what[0] == 'l') out.push_back(fmt::format("{} {}", what, space));
    for (const char* what :
         {"atomic global", "atomic shared", "barrier block", "barrier subgroup", "subgroup_shuffle",
          "subgroup_reduce", "subgroup_broadcast", "async_copy", "async_commit", "async_wait"})
      out.emplace_back(what);
    return out;
  }

  std::vector<std::string> names_;
  std::vector<LinkKind> kinds_;
  std::unordered_map<std::string, uint32_t> numbers_;
};

const Links& links() {
  static const Links all;
  return all;
}

/// Goes through a program once.
class LinkFinder {
 public:
  LinkFinder(const sdk::ProgramView& program, int64_t flags) : program_(program) {
    if (flags & kAgain) launches_.push_back("again");
    if (flags & kApart) launches_.push_back("apart");
    if (flags & kTwin) launches_.push_back("twin");
    if (flags & (kReloaded | kSaved | kTold)) launches_.push_back("kept");
  }

  std::set<uint32_t> find() {
    const std::vector<uint32_t> closes = sdk::region_closes(program_);
    for (uint32_t i = 0; i < program_.op_count(); ++i) {
      const tn_op& op = program_.op(i);
      if (op.op == TN_OP_END) close(op);
      if (op.op == TN_OP_ELSE) around_.back().side = "else";
      edges(op);
      contexts(op);
      order(op);
      if (op.op == TN_OP_IF) around_.push_back({i, "then"});
      if (op.op == TN_OP_LOOP) around_.push_back({i, op.flags & TN_OP_WHILE ? "while" : "loop"});
    }
    return std::move(found_);
  }

 private:
  struct Region {
    uint32_t opener;
    std::string_view side;
    bool is_loop() const { return side == "loop" || side == "while"; }
  };

  void feed(uint32_t value, const std::string& port) {
    const tn_op& from = program_.op(value);
    const std::string source = source_name(program_, from);
    if (source.empty() || port.empty()) return;
    links().find(Links::feeds_name(source, port, static_cast<tn_dtype>(from.dtype)), found_);
  }

  void edges(const tn_op& op) {
    if (op.op == TN_OP_END || op.op == TN_OP_CARRY) return;
    const auto operands = program_.operands(op);
    for (uint32_t k = 0; k < operands.size(); ++k)
      feed(operands[k],
           port_name(op.op, is_reduction(op.op) || op.op == TN_OP_CAST ? op.imm : uint64_t{0}, k));
  }

  void close(const tn_op& end) {
    const Region region = around_.back();
    around_.pop_back();
    if (!region.is_loop()) return;
    const auto operands = program_.operands(end);
    const size_t carries = program_.operands(program_.op(region.opener)).size() - 3;
    for (size_t k = 0; k < operands.size(); ++k)
      feed(operands[k], k < carries ? "carry.next" : "while");
  }

  std::string place() const {
    if (around_.empty()) return {};
    const Region& inner = around_.back();
    if (around_.size() == 1) return std::string(inner.side);
    const Region& outer = around_[around_.size() - 2];
    return fmt::format("{} in {}", inner.is_loop() ? "loop" : "side",
                       outer.is_loop() ? "loop" : "side");
  }

  void contexts(const tn_op& op) {
    const bool is_store = op.op == TN_OP_STORE;
    const std::string name =
        is_store ? kind_name(op.op, 0, op.operand_count > 3) : source_name(program_, op);
    if (name.empty()) return;
    const tn_op& value = is_store ? program_.op(program_.operands(op)[2]) : op;
    const bool compares = !is_store && sdk::op_info(op.op)->kind == OpKind::COMPARE;
    const auto dtype = compares ? TN_DTYPE_BOOL : static_cast<tn_dtype>(value.dtype);
    if (value.lanes > 1) links().find(Links::lanes_name(name, dtype, value.lanes), found_);
    if (const std::string at = place(); !at.empty())
      links().find(Links::place_name(name, dtype, at), found_);
    for (const std::string_view launch : launches_)
      links().find(Links::launch_name(name, dtype, launch), found_);
  }

  std::string effect(const tn_op& op) const {
    switch (op.op) {
      case TN_OP_TAKE:
      case TN_OP_STORE:
      case TN_OP_ATOMIC: {
        const tn_op& memory = program_.op(program_.operands(op)[0]);
        const uint32_t space = program_.param(static_cast<uint32_t>(memory.imm)).space;
        if (space < TN_SPACE_GLOBAL || space > TN_SPACE_SCRATCH) return {};
        const bool is_masked =
            op.op != TN_OP_ATOMIC && op.operand_count > (op.op == TN_OP_TAKE ? 2 : 3);
        return fmt::format("{} {}", kind_name(op.op, 0, is_masked), kLinkSpaces[space - 1]);
      }
      case TN_OP_BARRIER:
        return op.imm == TN_SCOPE_BLOCK ? "barrier block" : "barrier subgroup";
      case TN_OP_SUBGROUP_SHUFFLE:
      case TN_OP_SUBGROUP_REDUCE:
      case TN_OP_SUBGROUP_BROADCAST:
      case TN_OP_ASYNC_COPY:
      case TN_OP_ASYNC_COMMIT:
      case TN_OP_ASYNC_WAIT:
        return std::string(sdk::op_text(op.op));
      default:
        return {};
    }
  }

  void order(const tn_op& op) {
    std::string now = effect(op);
    if (now.empty()) return;
    if (!before_.empty()) links().find(Links::order_name(before_, now), found_);
    before_ = std::move(now);
  }

  const sdk::ProgramView& program_;
  std::vector<std::string_view> launches_;
  std::vector<Region> around_;
  std::string before_;
  std::set<uint32_t> found_;
};

}  // namespace

const std::vector<tn_dtype>& link_dtypes() {
  static const std::vector<tn_dtype> all = [] {
    std::vector<tn_dtype> out;
    for (const sdk::DTypeInfo& info : sdk::all_dtypes())
      if (!sdk::is_float(info.dtype) || sdk::dtype_bytes(info.dtype) > 1)
        out.push_back(static_cast<tn_dtype>(info.dtype));
    return out;
  }();
  return all;
}

const std::vector<LinkSource>& link_sources() {
  static const std::vector<LinkSource> all = [] {
    std::vector<LinkSource> out = {{"load", TN_OP_TAKE, 0},    {"load.masked", TN_OP_TAKE, 1},
                                   {"const", TN_OP_CONST, 0},  {"scalar", TN_OP_PARAM, 0},
                                   {"index", TN_OP_INDEX, 0},  {"carry", TN_OP_CARRY, 0},
                                   {"atomic", TN_OP_ATOMIC, 0}};
    const auto add = [&](tn_opcode op, uint64_t imm = 0) {
      out.push_back({kind_name(op, imm, false), op, imm});
    };
    for (const OpInfo& info : sdk::all_ops())
      if (sdk::is_elementwise(info) && info.level != sdk::OpLevel::GRAPH) {
        add(static_cast<tn_opcode>(info.op));
        if (info.op == TN_OP_CAST) add(TN_OP_CAST, TN_CAST_BITS);
      }
    for (const tn_opcode op : {TN_OP_BROADCAST, TN_OP_EXTRACT, TN_OP_COMPOSE,
                               TN_OP_SUBGROUP_SHUFFLE, TN_OP_SUBGROUP_BROADCAST})
      add(op);
    for (const tn_opcode op : {TN_OP_LANE_REDUCE, TN_OP_SUBGROUP_REDUCE})
      for (const tn_opcode by : kReductions) add(op, by);
    return out;
  }();
  return all;
}

const std::vector<LinkPort>& link_ports() {
  static const std::vector<LinkPort> all = [] {
    std::vector<LinkPort> out;
    const auto add = [&](tn_opcode op, uint32_t slot, uint64_t imm = 0) {
      out.push_back({port_name(op, imm, slot), op, imm, slot});
    };
    for (const LinkSource& source : link_sources()) {
      const OpInfo& info = *sdk::op_info(source.op);
      if (sdk::is_elementwise(info))
        for (int slot = 0; slot < info.arity; ++slot)
          add(source.op, static_cast<uint32_t>(slot), source.imm);
      else if (source.op >= TN_OP_BROADCAST && source.op != TN_OP_ATOMIC)
        add(source.op, 0, source.imm);
    }
    add(TN_OP_SUBGROUP_SHUFFLE, 1);
    for (const tn_opcode op : {TN_OP_TAKE, TN_OP_STORE, TN_OP_ATOMIC})
      for (const uint32_t slot : {1u, 2u, 3u}) add(op, slot);
    add(TN_OP_LOOP, 1);
    add(TN_OP_LOOP, 3);
    add(TN_OP_IF, 0);
    out.push_back({"carry.next", TN_OP_END, 0, 0});
    out.push_back({"while", TN_OP_END, 0, 1});
    return out;
  }();
  return all;
}

bool gives(const LinkSource& source, tn_dtype dtype) {
  const auto code = static_cast<uint8_t>(dtype);
  const OpInfo& info = *sdk::op_info(source.op);
  switch (source.op) {
    case TN_OP_INDEX:
      return is_index_type(dtype);
    case TN_OP_ATOMIC:
      return is_counted(dtype);
    case TN_OP_SUBGROUP_SHUFFLE:
    case TN_OP_SUBGROUP_BROADCAST:
    case TN_OP_SUBGROUP_REDUCE:
    case TN_OP_LANE_REDUCE:
      return dtype != TN_DTYPE_BOOL;
    default:
      break;
  }
  if (!sdk::is_elementwise(info) || source.op == TN_OP_CAST) return true;
  if (info.kind == OpKind::COMPARE) return dtype == TN_DTYPE_BOOL;
  return sdk::takes(info.types, code);
}

bool takes(const LinkPort& port, tn_dtype dtype) {
  const auto code = static_cast<uint8_t>(dtype);
  const bool is_bool = dtype == TN_DTYPE_BOOL;
  switch (port.op) {
    case TN_OP_TAKE:
      return port.slot == 1 ? is_index_type(dtype) : port.slot == 2 ? is_bool : true;
    case TN_OP_STORE:
      return port.slot == 1 ? is_index_type(dtype) : port.slot == 3 ? is_bool : true;
    case TN_OP_ATOMIC:
      return port.slot == 1 ? is_index_type(dtype) : is_counted(dtype);
    case TN_OP_LOOP:
      return port.slot == 1 ? is_index_type(dtype) : true;
    case TN_OP_IF:
      return is_bool;
    case TN_OP_END:
      return port.slot == 0 || is_bool;
    case TN_OP_SUBGROUP_SHUFFLE:
      return port.slot == 1 ? is_index_type(dtype) : !is_bool;
    case TN_OP_SUBGROUP_BROADCAST:
    case TN_OP_SUBGROUP_REDUCE:
    case TN_OP_LANE_REDUCE:
      return !is_bool;
    case TN_OP_WHERE:
      return port.slot == 0 ? is_bool : true;
    default:
      break;
  }
  const OpInfo& info = *sdk::op_info(port.op);
  return !sdk::is_elementwise(info) || port.op == TN_OP_CAST || sdk::takes(info.types, code);
}

std::string_view link_kind_name(LinkKind kind) {
  switch (kind) {
    case LinkKind::kFeeds:
      return "an op that feeds another, by operand and dtype";
    case LinkKind::kLanes:
      return "an op of a dtype in vectors, by lanes";
    case LinkKind::kPlace:
      return "an op of a dtype, by the regions around it";
    case LinkKind::kLaunch:
      return "an op of a dtype, by how it is launched";
    case LinkKind::kOrder:
      return "an effect after another, by spaces";
  }
  return {};
}

uint32_t link_count() { return static_cast<uint32_t>(links().size()); }
std::string link_name(uint32_t link) { return links().name(link); }
LinkKind link_kind(uint32_t link) { return links().kind(link); }

std::vector<uint32_t> links_of(const SequenceStep& step) {
  if (!is_program(step)) return {};
  const sdk::Program program = program_of(step);
  const sdk::ProgramView view = program.view();
  const std::set<uint32_t> found =
      LinkFinder(view, step.numbers.size() > 4 ? step.numbers[4] : 0).find();
  return {found.begin(), found.end()};
}

}  // namespace tenon::conformance::abi
