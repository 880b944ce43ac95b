// Model::resolve: from names, as callers send them, to the numbers of the item table.

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "src/core/check.h"
#include "src/core/planted.h"
#include "src/engine/model.h"

namespace hindsight {
namespace {

std::string at(const std::string& list, std::size_t i) {
  return list + "[" + std::to_string(i) + "]";
}

// Names that the model knows, and those that this call brings.
class Names {
 public:
  Names(const NameTable& known, std::vector<std::string>& fresh) : known_(known), fresh_(fresh) {}

  std::uint32_t number(const std::string& name) {
    if (const auto found = known_.find(name)) {
      return *found;
    }
    const auto [place, is_new] =
        numbers_.try_emplace(name, static_cast<std::uint32_t>(known_.size() + fresh_.size()));
    if (is_new) {
      fresh_.push_back(name);
    }
    return place->second;
  }

 private:
  const NameTable& known_;
  std::vector<std::string>& fresh_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

// A name of more than kMaxIdBytes bytes: no caller's, since calls are checked before.
bool too_long(const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return name.size() > kMaxIdBytes; });
}

bool too_long(const ItemInput& item) {
  return item.id.size() > kMaxIdBytes || too_long(item.topics) ||
         std::any_of(item.features.begin(), item.features.end(),
                     [](const auto& feature) { return feature.first.size() > kMaxIdBytes; });
}

// Sorts features by column. FAILS: kInvalidArgument (the same name twice), kNotFinite
Result<void> put_features(const NamedFeatures& features, Names& columns, const std::string& field,
                          ItemInfo& info) {
  std::vector<std::pair<std::uint32_t, double>> sorted;
  for (const auto& [name, value] : features) {
    if (!std::isfinite(value) && !planted(Fault::kAcceptNotFinite)) {
      std::string place = field;
      place += ".features.";
      place += name;
      return Error{ErrorCode::kNotFinite, "must be a finite number", std::move(place)};
    }
    sorted.emplace_back(columns.number(name), value);
  }
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [column, value] : sorted) {
    if (!info.columns.empty() && info.columns.back() == column) {
      return Error{ErrorCode::kInvalidArgument, "a feature stands here twice", field + ".features"};
    }
    if (column >= kMaxSparseColumns) {
      return Error{ErrorCode::kTooLarge, "there are too many names of features in the collection",
                   field + ".features"};
    }
    info.columns.push_back(column);
    info.values.push_back(value);
  }
  return {};
}

}  // namespace

Result<ItemsChange> Model::resolve(const ItemsEvent& event) const {
  if (too_long(event.feature_names) ||
      std::any_of(event.items.begin(), event.items.end(),
                  [](const ItemInput& item) { return too_long(item); })) {
    return Error{ErrorCode::kTooLarge, "names have at most 256 bytes", "items"};
  }
  ItemsChange change;
  Names topics(topics_, change.new_topics);
  Names columns(columns_, change.new_columns);
  for (const std::string& name : event.feature_names) {
    columns.number(name);
  }
  // Every id first, since links may point forward within the call.
  std::unordered_map<std::string_view, ItemIndex> in_call;
  std::size_t next = ids_.size();
  std::vector<std::size_t> source;  // the place in the call of each entry
  for (std::size_t i = 0; i < event.items.size(); ++i) {
    const ItemInput& input = event.items[i];
    const std::optional<ItemIndex> known = find(input.id);
    if (known && event.by_use) {
      continue;
    }
    if (!known && next >= kMaxItems) {
      return Error{ErrorCode::kTooLarge, "the collection holds as many items as it can",
                   at("items", i)};
    }
    const ItemIndex index = known ? *known : static_cast<ItemIndex>(next);
    if (!in_call.try_emplace(input.id, index).second) {
      if (event.by_use) {
        continue;
      }
      return Error{ErrorCode::kDuplicateItem, "the same id stands here twice",
                   at("items", i) + ".id"};
    }
    next += known ? 0 : 1;
    (known ? change.updated : change.added) += 1;
    change.entries.push_back({.index = index,
                              .is_new = !known,
                              .id = known ? std::string() : input.id,
                              .info = nullptr});
    source.push_back(i);
  }
  for (std::size_t e = 0; e < change.entries.size(); ++e) {
    const ItemInput& input = event.items[source[e]];
    const std::string field = at("items", source[e]);
    ItemInfo info;
    for (const std::string& topic : input.topics) {
      info.topics.push_back(topics.number(topic));
    }
    std::sort(info.topics.begin(), info.topics.end());
    info.topics.erase(std::unique(info.topics.begin(), info.topics.end()), info.topics.end());
    HINDSIGHT_RETURN_IF_ERROR(put_features(input.features, columns, field, info));
    for (std::size_t j = 0; j < input.links.size(); ++j) {
      const auto place = in_call.find(input.links[j]);
      const auto target =
          place != in_call.end() ? std::optional(place->second) : find(input.links[j]);
      if (!target) {
        return Error{ErrorCode::kUnknownItem,
                     "links point to items of the library; add \"" + input.links[j] +
                         "\" first, or in the same call",
                     field + at(".links", j)};
      }
      info.links.push_back(*target);
    }
    if (!info.empty()) {
      change.entries[e].info = std::make_shared<const ItemInfo>(std::move(info));
    }
  }
  return change;
}

Result<void> Model::check(const ItemsChange& change) const {
  std::vector<Item> items;
  items.reserve(change.entries.size());
  for (const ItemsChange::Entry& entry : change.entries) {
    items.push_back(ranker_item(entry.index, entry.info.get(), false));
  }
  return ranker_->check_add_items(items);
}

}  // namespace hindsight
