// action_writer.h: writes the actions of one rank to its tape, one after the other.
//
// Op by op, or where nothing inside could be noticed from outside, as a block: an action of a pipeline without inner
// communication is played as one op for each kind of work in it, which takes as long and holds as much memory at most and
// in the end (action_blocks.cpp). Microbatches that come first or last on a stage, in any kind of action, are written op
// by op: with them weights arrive and gradients leave.
#pragma once

#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "schedules/edge_order.h"
#include "schedules/tape.h"

namespace stepsim {

class ActionWriter {
 public:
  ActionWriter(Tape& tape, const ModelSpec& model, const Strategy& strategy, const ChipSpec& chip,
               const PipelineOrder& order, int rank);
  void write();

 private:
  using Instances = std::vector<std::uint32_t>;  // per tensor of a section

  /// A weight gradient that W plays later.
  struct Deferred {
    const ModelSection* section = nullptr;
    const SectionOp* op = nullptr;
    Instances* made = nullptr;
    std::int32_t layer = -1;
    int first_unit = 0;
  };
  /// A microbatch on a stage, from its forward to its backward.
  struct Flight {
    Instances embedding;
    std::vector<Instances> layers;
    Instances head;
    std::uint32_t input = 0;  // tensor instances
    std::uint32_t output = 0;
    std::uint32_t output_gradient = 0;
    std::uint32_t input_gradient = 0;
    bool head_later = false;  // its forward is played with its backward, which follows
    std::vector<Deferred> weight_gradients;
  };
  /// What is played now.
  struct Now {
    Action action;
    std::size_t place = 0;  // in the rank's list
    std::size_t stage = 0;  // in Tape::stages
    std::int32_t stretch = 0;
    double duration = 1;
  };

  /// A stretch of actions of one microbatch on one stage, as blocks.
  struct Block {
    std::vector<const SectionOp*> ops;  // one for each kind of work, in order
    std::size_t before_gradient = 0;    // of them, those that need not wait for the next stage's gradient
    // Which of the tensors that pass between stages it touches.
    bool input = false, output = false, output_gradient = false, input_gradient = false;
    Bytes at_start = 0;
    Bytes at_end = 0;
  };
  struct Blocks {
    Block forward, backward, weight;  // backward: of I where W is apart
  };
  using BlockKey = std::tuple<std::size_t, std::int32_t, bool, bool>;  // stage, part of the sequence, split, head later

  void find_ends();
  [[nodiscard]] bool as_block() const;
  void write_block(Flight& flight);
  const Blocks& blocks();
  Blocks measure();
  Block block_of(std::uint32_t first, std::uint32_t last, const Flight& flight, std::uint32_t from, std::uint32_t to,
                 Bytes& live);

  void write(const Action& action, std::size_t place);
  void write_pair(std::size_t place);
  void forward(Flight& flight);
  void backward(Flight& flight);
  void weight_gradients(Flight& flight);
  void head_forward(Flight& flight);
  std::uint32_t head_backward(Flight& flight);
  void layer_backward(Flight& flight, std::int32_t layer, std::uint32_t gradient);
  void embedding_backward(Flight& flight, std::uint32_t gradient);

  [[nodiscard]] bool backward_follows(std::size_t place) const;  // of the same microbatch on the same stage
  std::uint32_t unknown();  // while trying: a tensor that another rank would have sent
  std::uint32_t from_before(const Stage& stage);
  std::uint32_t from_after(const Stage& stage);
  std::uint32_t received(std::int32_t stage, bool gradient);
  void receive(const Action& message, int from);
  void send(const Action& result, std::uint32_t tensor);
  [[nodiscard]] PipelinePhase phase_of(std::size_t place) const;

  void play(const ModelSection& section, const std::vector<SectionOp>& ops, Instances& made, std::int32_t layer,
            int first_unit);
  TapeOp& play_op(const ModelSection& section, const SectionOp& op, Instances& made, std::int32_t layer,
                  int first_unit);
  void play_again(Instances& made, std::int32_t layer);
  std::uint32_t instance(const ModelSection& section, Instances& made, TensorIndex t);
  TapeOp& add(const SectionOp& op);

  void begin_visit();
  void end_visit();
  [[nodiscard]] const Sections& sections() const;
  [[nodiscard]] const Stage& stage() const { return tape_.stages[now_.stage]; }
  [[nodiscard]] Flight& flight(std::int32_t stage, std::int32_t unit) { return flights_[{stage, unit}]; }
  [[nodiscard]] int layer_unit(std::int32_t layer) const;
  [[nodiscard]] int head_unit() const;
  [[nodiscard]] std::int32_t span() const;
  [[nodiscard]] std::int32_t stay() const;

  Tape& tape_;
  const ModelSpec& model_;
  const Strategy& strategy_;
  const PipelineOrder& order_;
  int rank_;
  const RankOrder& list_;
  std::vector<int> again_;  // indices into the layer's forward
  Arrivals arrivals_;
  std::map<ResultKey, std::uint32_t> arrived_;  // tensor instances
  std::map<std::pair<std::int32_t, std::int32_t>, Flight> flights_;
  Flight* current_ = nullptr;  // of the action that is written
  const ChipSpec& chip_;
  bool mixes_ = false;   // the parts of a fused pair are mixed: something communicates inside
  bool plain_ = false;   // nothing communicates inside actions
  bool trying_ = false;  // ops are written to be measured, and cut off again
  bool split_ = false;   // of what is tried
  bool head_follows_ = false;
  std::set<std::pair<std::int32_t, std::int32_t>> ends_;   // stage, unit: first or last there
  std::set<std::pair<std::int32_t, std::int32_t>> whole_;  // stage, unit: B, not I and W
  std::set<std::pair<std::int32_t, std::int32_t>> heads_later_;
  std::map<BlockKey, Blocks> blocks_;
  std::size_t first_backward_ = 0;  // places in list_
  std::size_t last_forward_ = 0;
  Now now_;
};

}  // namespace stepsim
