#include "src/engine/model.h"

#include <algorithm>

#include "src/core/check.h"
#include "src/core/planted.h"
#include "src/engine/config_bytes.h"

namespace hindsight {

std::size_t ItemInfo::memory_bytes() const {
  constexpr std::size_t kSharedCount = 16;
  constexpr std::size_t kTopic = 3 * sizeof(std::uint32_t);  // here and, with room to grow, there
  return sizeof(ItemInfo) + kSharedCount + topics.capacity() * kTopic +
         columns.capacity() * sizeof(std::uint32_t) + values.capacity() * sizeof(double) +
         links.capacity() * sizeof(ItemIndex);
}

namespace {

// Adds items to a ranker, without their features where it refuses those: the numbers of items must
// not depend on the ranker.
void give_items(Ranker& ranker, std::span<const Item> items) {
  if (ranker.add_items(items).ok()) {
    return;
  }
  for (const Item& item : items) {
    if (!ranker.add_items(std::span(&item, 1)).ok()) {
      const Item bare{.index = item.index,
                      .dense = {},
                      .sparse_index = {},
                      .sparse_value = {},
                      .links = item.links};
      HINDSIGHT_CHECK(ranker.add_items(std::span(&bare, 1)).ok());
    }
  }
}

}  // namespace

Result<std::unique_ptr<Model>> Model::make(const CollectionConfig& config) {
  std::unique_ptr<Model> model(new Model());
  HINDSIGHT_ASSIGN_OR_RETURN(std::unique_ptr<Ranker> ranker,
                             make_ranker(config.ranker, config.params));
  model->config_ = config;
  model->set_ranker(std::move(ranker));
  return model;
}

void Model::set_ranker(std::unique_ptr<Ranker> ranker) {
  const auto info = find_ranker(config_.ranker);
  HINDSIGHT_CHECK(info.ok());
  learns_on_close_ = (*info)->learns == Learns::kOnClose;
  sublinear_ = (*info)->sublinear;
  ranker_ = std::move(ranker);
}

std::optional<ItemIndex> Model::find(std::string_view id) const {
  const std::optional<std::uint32_t> item = ids_.find(id);
  return item && (ranker_->is_live(*item) || planted(Fault::kReuseItem)) ? item : std::nullopt;
}

std::span<const ItemIndex> Model::topic(std::string_view name) const {
  const std::optional<std::uint32_t> number = topic_number(name);
  return number ? topic(*number) : std::span<const ItemIndex>();
}

std::span<const ItemIndex> Model::topic(std::uint32_t number) const {
  return number < topic_items_.size() ? std::span<const ItemIndex>(topic_items_[number])
                                      : std::span<const ItemIndex>();
}

std::uint64_t Model::memory_bytes() const {
  return ids_.memory_bytes() + topics_.memory_bytes() + columns_.memory_bytes() +
         infos_.capacity() * sizeof(std::shared_ptr<const ItemInfo>) + info_bytes_ +
         ranker_->memory_bytes() + signals_.memory_bytes() +
         topic_items_.capacity() * sizeof(std::vector<ItemIndex>);
}

Item Model::ranker_item(ItemIndex item, const ItemInfo* info, bool with_links) const {
  Item out{.index = item, .dense = {}, .sparse_index = {}, .sparse_value = {}, .links = {}};
  if (info != nullptr) {
    out.sparse_index = info->columns;
    out.sparse_value = info->values;
    if (with_links) {
      out.links = info->links;
    }
  }
  return out;
}

void Model::leave_topics(ItemIndex item) {
  if (infos_[item] == nullptr) {
    return;
  }
  for (const std::uint32_t topic : infos_[item]->topics) {
    std::vector<ItemIndex>& items = topic_items_[topic];
    const auto place = std::lower_bound(items.begin(), items.end(), item);
    HINDSIGHT_CHECK(place != items.end() && *place == item);
    items.erase(place);
  }
}

void Model::set_info(ItemIndex item, std::shared_ptr<const ItemInfo> info) {
  leave_topics(item);
  info_bytes_ -= infos_[item] == nullptr ? 0 : infos_[item]->memory_bytes();
  infos_[item] = std::move(info);
  if (infos_[item] == nullptr) {
    return;
  }
  info_bytes_ += infos_[item]->memory_bytes();
  for (const std::uint32_t topic : infos_[item]->topics) {
    std::vector<ItemIndex>& items = topic_items_[topic];
    items.insert(std::lower_bound(items.begin(), items.end(), item), item);
  }
}

void Model::apply(const ItemsChange& change, std::int64_t time_ms) {
  for (const std::string& name : change.new_topics) {
    topics_.add(name);
    topic_items_.emplace_back();
  }
  for (const std::string& name : change.new_columns) {
    columns_.add(name);
  }
  std::vector<Item> first;
  std::vector<Item> with_links;  // once every item that they may point to is there
  for (const ItemsChange::Entry& entry : change.entries) {
    if (entry.is_new) {
      HINDSIGHT_CHECK(ids_.add(entry.id) == entry.index);
      infos_.emplace_back();
      signals_.item_added(entry.index, time_ms);
    }
    set_info(entry.index, entry.info);
    first.push_back(ranker_item(entry.index, entry.info.get(), false));
    if (entry.info != nullptr && !entry.info->links.empty()) {
      with_links.push_back(ranker_item(entry.index, entry.info.get(), true));
    }
  }
  for (const ItemsChange::Entry& entry : change.entries) {
    signals_.set_links(entry.index,
                       entry.info == nullptr ? std::span<const ItemIndex>() : entry.info->links);
  }
  give_items(*ranker_, first);
  give_items(*ranker_, with_links);
}

void Model::remove(ItemIndex item) {
  HINDSIGHT_CHECK(ranker_->remove_items(std::span(&item, 1)).ok());
  set_info(item, nullptr);
}

Result<LearnReport> Model::learn(const Decision& decision, const Feedback& feedback) {
  return ranker_->learn(decision, feedback, signals_);
}

void Model::picked(ItemIndex item, std::int64_t time_ms, const Decision& decision) {
  signals_.picked(item, time_ms, decision.session, decision.group);
}

void Model::teach_items(Ranker& ranker) const {
  constexpr std::size_t kBatch = 4096;
  std::vector<Item> batch;
  for (const bool with_links : {false, true}) {
    for (ItemIndex item = 0; item < ids_.size(); ++item) {
      const ItemInfo* info = infos_[item].get();
      if (!with_links || (info != nullptr && !info->links.empty())) {
        batch.push_back(ranker_item(item, info, with_links));
      }
      if (batch.size() == kBatch || item + 1 == ids_.size()) {
        give_items(ranker, batch);
        batch.clear();
      }
    }
  }
  std::vector<ItemIndex> removed;
  for (ItemIndex item = 0; item < ids_.size(); ++item) {
    if (!ranker_->is_live(item)) {
      removed.push_back(item);
    }
  }
  HINDSIGHT_CHECK(ranker.remove_items(removed).ok());
}

void Model::use_ranker(std::unique_ptr<Ranker> ranker, Learns learns) {
  teach_items(*ranker);
  ranker_ = std::move(ranker);
  learns_on_close_ = learns == Learns::kOnClose;
  sublinear_ = false;
}

Result<void> Model::check_ranker(const std::string& name, const ParamMap& params) const {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::unique_ptr<Ranker> ranker, make_ranker(name, params));
  for (ItemIndex item = 0; item < ids_.size(); ++item) {
    const ItemInfo* info = infos_[item].get();
    if (info != nullptr && !info->columns.empty() && ranker_->is_live(item)) {
      Item probe = ranker_item(item, info, false);
      probe.index = 0;  // an empty ranker's next item
      if (const Result<void> taken = ranker->check_add_items(std::span(&probe, 1)); !taken.ok()) {
        Error error = taken.error();
        error.message = "item \"" + std::string(id_of(item)) + "\": " + error.message;
        error.field = "ranker";
        return error;
      }
    }
  }
  return {};
}

Result<void> Model::configure(const CollectionConfig& config, bool anew) {
  if (anew || !same_ranker(config, config_)) {
    HINDSIGHT_ASSIGN_OR_RETURN(std::unique_ptr<Ranker> ranker,
                               make_ranker(config.ranker, config.params));
    teach_items(*ranker);
    config_ = config;
    set_ranker(std::move(ranker));
  }
  config_ = config;
  return {};
}

}  // namespace hindsight
