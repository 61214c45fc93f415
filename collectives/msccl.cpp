// msccl.cpp: reads the XML (msccl.h says what it means).
#include "collectives/msccl.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <pugixml.hpp>
#include <set>
#include <utility>

#include "collectives/msccl_order.h"
#include "sim/input_error.h"

namespace stepsim {

namespace {

constexpr std::size_t most_problems = 20;
constexpr int most_gpus = 65536;
constexpr int most_blocks = 1024;  // per GPU; the runtime has far fewer
constexpr int most_chunks = 1 << 20;

using Names = std::vector<std::string>;

const std::array<std::pair<const char*, MscclOp>, 9> ops{{{"nop", MscclOp::nop},
                                                          {"s", MscclOp::send},
                                                          {"r", MscclOp::receive},
                                                          {"rcs", MscclOp::receive_copy_send},
                                                          {"rrs", MscclOp::receive_reduce_send},
                                                          {"rrc", MscclOp::receive_reduce_copy},
                                                          {"rrcs", MscclOp::receive_reduce_copy_send},
                                                          {"cpy", MscclOp::copy},
                                                          {"re", MscclOp::reduce}}};

std::string joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

class Reader {
 public:
  Reader(const std::string& text, const std::string& file) : text_(text), file_(file) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') line_ends_.push_back(static_cast<std::ptrdiff_t>(i));
    }
  }

  MscclAlgorithm read() {
    pugi::xml_document document;
    const pugi::xml_parse_result parsed =
        document.load_buffer(text_.data(), text_.size(), pugi::parse_default, pugi::encoding_utf8);
    if (!parsed) {
      problems_.push_back({place_of(parsed.offset), "", "not XML: " + std::string(parsed.description())});
    } else {
      read_algorithm(document);
    }
    if (!problems_.empty()) throw InputError(std::move(problems_));
    return std::move(algorithm_);
  }

 private:
  [[nodiscard]] SourcePlace place_of(std::ptrdiff_t offset) const {
    const auto end = std::lower_bound(line_ends_.begin(), line_ends_.end(), offset);
    const std::ptrdiff_t begin = end == line_ends_.begin() ? 0 : *(end - 1) + 1;
    return {file_, 1 + static_cast<int>(end - line_ends_.begin()), 1 + static_cast<int>(offset - begin)};
  }
  /// Of an element's name or a text's first letter; the document as a whole stands at its start.
  [[nodiscard]] SourcePlace place_of(const pugi::xml_node& node) const {
    return place_of(std::max<std::ptrdiff_t>(node.offset_debug(), 0));
  }

  void problem(const pugi::xml_node& node, const std::string& key, const std::string& message) {
    if (problems_.size() < most_problems) problems_.push_back({place_of(node), key, message});
  }

  // Attributes that are not known, or stand twice.
  void check_attributes(const pugi::xml_node& node, const std::string& key, const Names& known) {
    std::set<std::string> seen;
    for (const pugi::xml_attribute& attribute : node.attributes()) {
      const std::string name = attribute.name();
      const std::string near = nearest(name, known);
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        problem(node, key,
                "unknown attribute '" + name + "'" +
                    (near.empty() ? " (expected " + joined(known) + ")" : " (did you mean '" + near + "'?)"));
      } else if (seen.count(name) > 0) {
        problem(node, key, "attribute '" + name + "' stands twice");
      }
      seen.insert(name);
    }
  }

  // The children of this name; anything else is a problem.
  std::vector<pugi::xml_node> children(const pugi::xml_node& node, const std::string& key, const char* name) {
    std::vector<pugi::xml_node> all;
    for (const pugi::xml_node& child : node.children()) {
      if (child.type() == pugi::node_element && std::strcmp(child.name(), name) == 0) {
        all.push_back(child);
      } else {
        problem(child, key,
                (*name == '\0' ? "expected nothing inside" : "expected <" + std::string(name) + "> only") + ", found " +
                    (child.type() == pugi::node_element ? "<" + std::string(child.name()) + ">" : "text"));
      }
    }
    return all;
  }

  std::string word(const pugi::xml_node& node, const std::string& key, const char* name, const Names& valid) {
    const pugi::xml_attribute attribute = node.attribute(name);
    std::string found = attribute.value();
    if (!attribute) {
      problem(node, key + name, "missing");
    } else if (!valid.empty() && std::find(valid.begin(), valid.end(), found) == valid.end()) {
      problem(node, key + name, "expected one of " + joined(valid) + ", found '" + found + "'");
    }
    return found;
  }

  // low where it is missing or wrong, which is a problem.
  int number(const pugi::xml_node& node, const std::string& key, const char* name, int low, int high) {
    const pugi::xml_attribute attribute = node.attribute(name);
    if (!attribute) {
      problem(node, key + name, "missing");
      return low;
    }
    const std::string found = attribute.value();
    int value = 0;
    const auto [end, error] = std::from_chars(found.data(), found.data() + found.size(), value);
    if (error == std::errc() && end == found.data() + found.size() && value >= low && value <= high) return value;
    problem(node, key + name,
            "expected a whole number of " + std::to_string(low) + " to " + std::to_string(high) + ", found '" + found +
                "'");
    return low;
  }

  void in_order(const pugi::xml_node& node, const std::string& key, const char* name, std::size_t expected) {
    const std::string found = node.attribute(name).value();
    if (found != std::to_string(expected))
      problem(node, key + name, "expected " + std::to_string(expected) + ", found '" + found + "'");
  }

  void read_algorithm(const pugi::xml_document& document) {
    const std::vector<pugi::xml_node> roots = children(document, "", "algo");
    if (roots.size() != 1) {
      problem(document, "", "expected one <algo>, found " + std::to_string(roots.size()));
      return;
    }
    const pugi::xml_node& root = roots.front();
    check_attributes(root, "algo",
                     {"name", "proto", "nchannels", "nchunksperloop", "ngpus", "coll", "inplace", "outofplace",
                      "minBytes", "maxBytes", "redop"});
    algorithm_.file = file_;
    algorithm_.name = word(root, "algo.", "name", {});
    algorithm_.protocol = word(root, "algo.", "proto", {"Simple", "LL", "LL128"});
    algorithm_.collective = word(
        root, "algo.", "coll",
        {"allreduce", "allgather", "reduce_scatter", "alltoall", "broadcast", "reduce", "gather", "scatter", "custom"});
    algorithm_.channels = number(root, "algo.", "nchannels", 1, most_blocks);
    algorithm_.chunks = number(root, "algo.", "nchunksperloop", 1, most_chunks);
    algorithm_.in_place = number(root, "algo.", "inplace", 0, 1) == 1;
    gpus_ = number(root, "algo.", "ngpus", 1, most_gpus);
    const std::vector<pugi::xml_node> gpus = children(root, "algo", "gpu");
    if (gpus.size() != static_cast<std::size_t>(gpus_))
      problem(root, "algo.ngpus",
              "says " + std::to_string(gpus_) + ", but there are " + std::to_string(gpus.size()) + " <gpu>");
    for (const pugi::xml_node& gpu : gpus) read_gpu(gpu);
    check_waits();
  }

  void read_gpu(const pugi::xml_node& node) {
    const std::string key = "gpu[" + std::to_string(algorithm_.gpus.size()) + "]";
    check_attributes(node, key, {"id", "i_chunks", "o_chunks", "s_chunks"});
    in_order(node, key + ".", "id", algorithm_.gpus.size());
    MscclGpu& gpu = algorithm_.gpus.emplace_back();
    gpu.input_chunks = number(node, key + ".", "i_chunks", 0, most_chunks);
    gpu.output_chunks = number(node, key + ".", "o_chunks", 0, most_chunks);
    gpu.scratch_chunks = number(node, key + ".", "s_chunks", 0, most_chunks);
    const std::vector<pugi::xml_node> blocks = children(node, key, "tb");
    if (blocks.size() > most_blocks) {
      problem(
          node, key,
          "expected at most " + std::to_string(most_blocks) + " thread blocks, found " + std::to_string(blocks.size()));
      return;
    }
    for (const pugi::xml_node& block : blocks) read_block(gpu, block, key);
  }

  void read_block(MscclGpu& gpu, const pugi::xml_node& node, const std::string& gpu_key) {
    const std::string key = gpu_key + ".tb[" + std::to_string(gpu.blocks.size()) + "]";
    check_attributes(node, key, {"id", "send", "recv", "chan"});
    in_order(node, key + ".", "id", gpu.blocks.size());
    MscclBlock& block = gpu.blocks.emplace_back();
    block.to = number(node, key + ".", "send", -1, gpus_ - 1);
    block.from = number(node, key + ".", "recv", -1, gpus_ - 1);
    block.channel = number(node, key + ".", "chan", 0, algorithm_.channels - 1);
    const int self = static_cast<int>(algorithm_.gpus.size()) - 1;
    if (block.to == self) problem(node, key + ".send", "a GPU does not send to itself");
    if (block.from == self) problem(node, key + ".recv", "a GPU does not receive from itself");
    for (const pugi::xml_node& step : children(node, key, "step")) read_step(gpu, block, step, key);
  }

  void read_step(const MscclGpu& gpu, MscclBlock& block, const pugi::xml_node& node, const std::string& block_key) {
    const std::string key = block_key + ".step[" + std::to_string(block.steps.size()) + "]";
    check_attributes(node, key,
                     {"s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep"});
    in_order(node, key + ".", "s", block.steps.size());
    MscclStep& step = block.steps.emplace_back();
    const SourcePlace place = place_of(node);
    step.line = place.line;
    step.column = place.column;
    step.op = op_of(node, key);
    const bool idle = step.op == MscclOp::nop;
    step.chunks = number(node, key + ".", "cnt", idle ? 0 : 1, most_chunks);
    step.block = number(node, key + ".", "depid", -1, most_blocks);
    step.step = number(node, key + ".", "deps", -1, INT32_MAX);
    step.awaited = number(node, key + ".", "hasdep", 0, 1) == 1;
    if (sends(step.op) && block.to < 0) problem(node, key, "sends, but the thread block has send=\"-1\"");
    if (receives(step.op) && block.from < 0) problem(node, key, "receives, but the thread block has recv=\"-1\"");
    check_range(gpu, node, key, "src", step.chunks, step.op == MscclOp::send || is_local(step.op));
    check_range(gpu, node, key, "dst", step.chunks, receives(step.op) || is_local(step.op));
    children(node, key, "");  // none
  }

  static bool is_local(MscclOp op) { return op == MscclOp::copy || op == MscclOp::reduce; }

  MscclOp op_of(const pugi::xml_node& node, const std::string& key) {
    Names names;
    for (const auto& [name, op] : ops) names.emplace_back(name);
    const std::string found = word(node, key + ".", "type", names);
    const auto at = std::find(names.begin(), names.end(), found);
    return at == names.end() ? MscclOp::nop : ops[static_cast<std::size_t>(at - names.begin())].second;
  }

  // Of this GPU's own buffers; what is named on the other side is checked there.
  void check_range(const MscclGpu& gpu, const pugi::xml_node& node, const std::string& key, const std::string& end,
                   int chunks, bool own) {
    const std::string buffer = word(node, key + ".", (end + "buf").c_str(), {"i", "o", "s"});
    const int offset = number(node, key + ".", (end + "off").c_str(), own ? 0 : -1, most_chunks);
    if (!own || buffer.empty()) return;
    const int size = buffer == "i" ? gpu.input_chunks : buffer == "o" ? gpu.output_chunks : gpu.scratch_chunks;
    if (offset + chunks > size)
      problem(node, key + "." + end + "off",
              "chunks " + std::to_string(offset) + " to " + std::to_string(offset + chunks - 1) + " of a buffer of " +
                  std::to_string(size) + " (" + buffer + "_chunks)");
  }

  // Every step that is waited for exists, and says so: otherwise the one that waits would do so for ever.
  void check_waits() {
    for (std::size_t g = 0; g < algorithm_.gpus.size(); ++g) {
      const std::vector<MscclBlock>& blocks = algorithm_.gpus[g].blocks;
      for (std::size_t b = 0; b < blocks.size(); ++b) {
        for (std::size_t s = 0; s < blocks[b].steps.size(); ++s) check_wait(blocks, blocks[b].steps[s], {g, b, s});
      }
    }
  }

  void check_wait(const std::vector<MscclBlock>& blocks, const MscclStep& step, const MscclPlace& at) {
    if (step.block < 0 && step.step < 0) return;
    const auto block = static_cast<std::size_t>(std::max(step.block, 0));
    const auto awaited = static_cast<std::size_t>(std::max(step.step, 0));
    std::string what;
    if (step.block < 0 || step.step < 0) {
      what = "depid and deps: expected both or neither (-1)";
    } else if (block >= blocks.size()) {
      what = "depid: expected a thread block of 0 to " + std::to_string(blocks.size() - 1) + ", found " +
             std::to_string(block);
    } else if (awaited >= blocks[block].steps.size()) {
      what = "deps: thread block " + std::to_string(block) + " has " + std::to_string(blocks[block].steps.size()) +
             " steps, found " + std::to_string(awaited);
    } else if (!blocks[block].steps[awaited].awaited) {
      what = "waits for " + msccl_key({at.gpu, block, awaited}) + ", which has hasdep=\"0\"";
    }
    if (!what.empty() && problems_.size() < most_problems)
      problems_.push_back({{file_, step.line, step.column}, msccl_key(at), what});
  }

  const std::string& text_;
  const std::string& file_;
  std::vector<std::ptrdiff_t> line_ends_;
  MscclAlgorithm algorithm_;
  int gpus_ = 1;
  std::vector<Problem> problems_;
};

}  // namespace

bool sends(MscclOp op) {
  return op == MscclOp::send || op == MscclOp::receive_copy_send || op == MscclOp::receive_reduce_send ||
         op == MscclOp::receive_reduce_copy_send;
}

bool receives(MscclOp op) {
  return op == MscclOp::receive || op == MscclOp::receive_reduce_copy || (sends(op) && op != MscclOp::send);
}

MscclAlgorithm parse_msccl(const std::string& text, const std::string& file) {
  MscclAlgorithm algorithm = Reader(text, file).read();
  msccl_order(algorithm);
  return algorithm;
}

}  // namespace stepsim
