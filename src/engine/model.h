// Model: all that ranking needs of one collection, as of one position of its log.
//
// The item table (ids, topics, features, links), the ranker and the signals. It is changed by the
// fold alone, through the functions below; applying the same changes to an equal model gives an
// equal model.
//
// Thread-safety: const functions may run concurrently with each other, not with the others.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/ranker.h"
#include "hindsight/signals.h"
#include "src/core/bytes.h"
#include "src/engine/api.h"
#include "src/engine/event.h"
#include "src/engine/name_table.h"

namespace hindsight {

/// What an item has beside its id; shared by the copies of a model.
struct ItemInfo {
  std::vector<std::uint32_t> topics;   // ascending
  std::vector<std::uint32_t> columns;  // of its features, ascending
  std::vector<double> values;
  std::vector<ItemIndex> links;

  bool empty() const { return topics.empty() && columns.empty() && links.empty(); }
  std::size_t memory_bytes() const;
};

/// A call of "add items", with names turned into numbers: what is done to a model.
struct ItemsChange {
  struct Entry {
    ItemIndex index = 0;
    bool is_new = false;
    std::string id;                        // of a new item
    std::shared_ptr<const ItemInfo> info;  // null: nothing beside its id
  };
  std::vector<std::string> new_topics;
  std::vector<std::string> new_columns;
  std::vector<Entry> entries;
  std::uint64_t added = 0;
  std::uint64_t updated = 0;
};

class Model {
 public:
  /// FAILS: as make_ranker
  static Result<std::unique_ptr<Model>> make(const CollectionConfig& config);

  // What is known.
  const CollectionConfig& config() const { return config_; }
  Position version() const { return version_; }
  const Ranker& ranker() const { return *ranker_; }
  bool learns_on_close() const { return learns_on_close_; }
  bool sublinear() const { return sublinear_; }
  const Signals& signals() const { return signals_; }
  std::size_t items_added() const { return ids_.size(); }

  /// RETURNS: the live item of this id.
  std::optional<ItemIndex> find(std::string_view id) const;
  /// REQUIRES: item < items_added()
  std::string_view id_of(ItemIndex item) const { return ids_.name(item); }
  /// RETURNS: null where the item has nothing beside its id. REQUIRES: item < items_added()
  const ItemInfo* info_of(ItemIndex item) const { return infos_[item].get(); }
  /// RETURNS: the live items of a topic, ascending; empty for a topic that nobody has.
  std::span<const ItemIndex> topic(std::string_view name) const;
  /// The number of a topic, which is the same in every fold of the log.
  std::optional<std::uint32_t> topic_number(std::string_view name) const {
    return topics_.find(name);
  }
  /// RETURNS: likewise, by number; empty for one that nobody has.
  std::span<const ItemIndex> topic(std::uint32_t number) const;
  std::string_view topic_name(std::uint32_t topic) const { return topics_.name(topic); }
  std::optional<std::uint32_t> column(std::string_view feature) const {
    return columns_.find(feature);
  }
  std::string_view column_name(std::uint32_t column) const { return columns_.name(column); }
  /// RETURNS: an estimate of the bytes in use.
  std::uint64_t memory_bytes() const;

  // Changes, in log order.

  /// Does not ask the ranker, so that an item's number is the same whatever ranks it.
  /// FAILS: kUnknownItem (a link), kDuplicateItem, kNotFinite, kTooLarge
  Result<ItemsChange> resolve(const ItemsEvent& event) const;
  /// Whether the ranker takes the items as they are. FAILS: as Ranker::add_items
  Result<void> check(const ItemsChange& change) const;
  /// Whether a new ranker takes every item as it is. FAILS: as make_ranker and Ranker::add_items
  Result<void> check_ranker(const std::string& name, const ParamMap& params) const;
  /// Features that the ranker refuses are kept in the table and not shown to it.
  /// REQUIRES: `change` was resolved by an equal model
  void apply(const ItemsChange& change, std::int64_t time_ms);
  /// REQUIRES: the item is live
  void remove(ItemIndex item);
  Result<LearnReport> learn(const Decision& decision, const Feedback& feedback);
  /// A click that counts, for the signals.
  void picked(ItemIndex item, std::int64_t time_ms, const Decision& decision);
  /// Other settings; where ranker or parameters differ, or `anew`, a new ranker that knows every
  /// item and has learned nothing. FAILS: as make_ranker; nothing has changed then
  Result<void> configure(const CollectionConfig& config, bool anew);
  void set_version(Position version) { version_ = version; }
  /// A ranker that is in no registry: an experiment's own. Such a model cannot be saved.
  void use_ranker(std::unique_ptr<Ranker> ranker, Learns learns);

  // Bytes.
  void save(ByteWriter& out) const;
  /// FAILS: kCorrupt, and as load_ranker
  static Result<std::unique_ptr<Model>> load(ByteReader& in);
  /// RETURNS: an equal model.
  std::unique_ptr<Model> clone() const;

 private:
  Model() = default;

  Item ranker_item(ItemIndex item, const ItemInfo* info, bool with_links) const;
  void teach_items(Ranker& ranker) const;
  void set_ranker(std::unique_ptr<Ranker> ranker);
  void set_info(ItemIndex item, std::shared_ptr<const ItemInfo> info);
  void leave_topics(ItemIndex item);
  bool load_infos(ByteReader& in);
  void link_signals();

  CollectionConfig config_;
  bool learns_on_close_ = false;
  bool sublinear_ = false;
  Position version_ = 0;
  NameTable ids_;
  NameTable topics_;
  NameTable columns_;
  std::vector<std::shared_ptr<const ItemInfo>> infos_;
  std::vector<std::vector<ItemIndex>> topic_items_;
  std::unique_ptr<Ranker> ranker_;
  Signals signals_;
  std::uint64_t info_bytes_ = 0;
};

}  // namespace hindsight
