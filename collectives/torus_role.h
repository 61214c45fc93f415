// torus_role.h: what one member does, stage after stage, part after part.
//
// A transfer waits for what its ring or line asks for (ring.h, line.h), and for all that the part's earlier stages
// bring to this member: its bundle is whole then. It waits for nobody else.
// Equal parts have a lane for each port and share a link when they meet. Weighted parts have one for each link and take
// turns, earlier stages first: a short early stage must not be slowed down by a long late one. The price is paid by
// small arrays: hops of parts that take turns add up.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/collective.h"
#include "collectives/parts.h"
#include "collectives/port_numbers.h"

namespace stepsim {

/// parts: the stages of each part. position: of the member along each axis; matters on lines only.
Role torus_role(const CollectiveSpec& spec, const PortNumbers& ports, const std::vector<std::vector<AxisStage>>& parts,
                const std::vector<std::uint32_t>& position);

}  // namespace stepsim
