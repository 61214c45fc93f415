// topology_parts.h: the parts of `stepsim topology` that look at single links: the table of links, routes of a pair.
#pragma once

#include <string>

#include "topology/cluster.h"

namespace stepsim {

/// A chip by id ("5"), coordinates ("1,3,2") or name ("device 5"); InputError on `key` with what would be valid.
ChipId chip_called(const Cluster& cluster, const std::string& key, const std::string& text);

/// Every route, link by link, with the share of the bytes that takes it.
std::string routes_text(const Cluster& cluster, ChipId from, ChipId to, bool colour);
/// The same as the text of JSON.
std::string routes_json(const Cluster& cluster, ChipId from, ChipId to);

/// The first `most` links.
std::string links_text(const Cluster& cluster, std::size_t most, bool colour);
std::string links_json(const Cluster& cluster, std::size_t most);

}  // namespace stepsim
