// Model in bytes: the larger part of a snapshot (docs/log-format.md).

#include <algorithm>

#include "src/core/check.h"
#include "src/engine/config_bytes.h"
#include "src/engine/model.h"

namespace hindsight {

void Model::save(ByteWriter& out) const {
  put_config(out, config_);
  out.put(version_);
  ids_.save(out);
  topics_.save(out);
  columns_.save(out);
  std::uint64_t with_info = 0;
  for (const auto& info : infos_) {
    with_info += info != nullptr ? 1 : 0;
  }
  out.put(with_info);
  for (ItemIndex item = 0; item < infos_.size(); ++item) {
    if (const ItemInfo* info = infos_[item].get()) {
      out.put(item);
      out.put(info->topics);
      out.put(info->columns);
      out.put(info->values);
      out.put(info->links);
    }
  }
  const std::vector<std::byte> ranker = save_ranker(*ranker_);
  out.put(static_cast<std::uint64_t>(ranker.size()));
  out.put_raw(ranker);
  signals_.save(out);
}

bool Model::load_infos(ByteReader& in) {
  infos_.resize(ids_.size());
  topic_items_.resize(topics_.size());
  std::uint64_t count = 0;
  in.get(count);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    ItemIndex item = 0;
    ItemInfo info;
    in.get(item);
    in.get(info.topics);
    in.get(info.columns);
    in.get(info.values);
    in.get(info.links);
    const auto all_below = [](const std::vector<std::uint32_t>& numbers, std::size_t limit) {
      return std::all_of(numbers.begin(), numbers.end(),
                         [limit](std::uint32_t number) { return number < limit; });
    };
    const auto ascending = [](const std::vector<std::uint32_t>& numbers) {
      return std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) ==
             numbers.end();
    };
    if (!in.ok() || item >= ids_.size() || infos_[item] != nullptr ||
        info.columns.size() != info.values.size() || !all_below(info.topics, topics_.size()) ||
        !all_below(info.columns, columns_.size()) || !all_below(info.links, ids_.size()) ||
        !ascending(info.topics) || !ascending(info.columns)) {
      return false;
    }
    set_info(item, std::make_shared<const ItemInfo>(std::move(info)));
  }
  return in.ok();
}

// Signals of the first version knew no links; to others this changes nothing.
void Model::link_signals() {
  for (ItemIndex item = 0; item < infos_.size(); ++item) {
    if (infos_[item] != nullptr && signals_.links(item).empty()) {
      signals_.set_links(item, infos_[item]->links);
    }
  }
}

Result<std::unique_ptr<Model>> Model::load(ByteReader& in) {
  const Error corrupt{ErrorCode::kCorrupt, "the saved model's parts do not fit together", ""};
  std::unique_ptr<Model> model(new Model());
  if (!get_config(in, model->config_) || !in.get(model->version_) || !model->ids_.load(in) ||
      !model->topics_.load(in) || !model->columns_.load(in) || !model->load_infos(in)) {
    return corrupt;
  }
  std::uint64_t size = 0;
  in.get(size);
  const auto bytes = in.take(in.ok() ? size : 0);
  HINDSIGHT_RETURN_IF_ERROR(in.check("model"));
  HINDSIGHT_ASSIGN_OR_RETURN(std::unique_ptr<Ranker> ranker, load_ranker(bytes));
  if (ranker->name() != model->config_.ranker || ranker->params() != model->config_.params) {
    return corrupt;
  }
  model->set_ranker(std::move(ranker));
  HINDSIGHT_RETURN_IF_ERROR(model->signals_.load(in));
  if (model->ranker_->items_added() != model->ids_.size() ||
      model->signals_.size() != model->ids_.size()) {
    return corrupt;
  }
  model->link_signals();
  return model;
}

std::unique_ptr<Model> Model::clone() const {
  ByteWriter out;
  save(out);
  ByteReader in(out.bytes());
  Result<std::unique_ptr<Model>> copy = load(in);
  HINDSIGHT_CHECK(copy.ok());
  return *std::move(copy);
}

}  // namespace hindsight
