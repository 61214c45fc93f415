// families.h: what each file of this folder adds to the registry (registry.cpp calls them in order).
#pragma once

#include "schedules/pipeline/family.h"

namespace stepsim {

void add_gpipe(Registry<PipelineFamily>& families);
void add_one_forward_one_backward(Registry<PipelineFamily>& families);
void add_interleaved(Registry<PipelineFamily>& families);
void add_looped_bfs(Registry<PipelineFamily>& families);
void add_seq1f1b(Registry<PipelineFamily>& families);
void add_grouped_interleaved(Registry<PipelineFamily>& families);
void add_dualpipe(Registry<PipelineFamily>& families);
void add_chimera(Registry<PipelineFamily>& families);
void add_hanayo(Registry<PipelineFamily>& families);
void add_zero_bubble(Registry<PipelineFamily>& families);
void add_zero_bubble_auto(Registry<PipelineFamily>& families);
void add_torch_zbv(Registry<PipelineFamily>& families);
void add_zbv_auto(Registry<PipelineFamily>& families);
void add_controllable_memory(Registry<PipelineFamily>& families);
void add_v_one_forward_one_backward(Registry<PipelineFamily>& families);
void add_v_adaptive(Registry<PipelineFamily>& families);

}  // namespace stepsim
