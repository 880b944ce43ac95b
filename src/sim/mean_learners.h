// Methods of learning orders that keep a law over orders, or its mean: all orders one by one, a
// doubly stochastic matrix, a point of the permutahedron (src/sim/order_learner.h lists them).
//
// Thread-safety: as OrderLearner.

#pragma once

#include <memory>

#include "src/sim/order_learner.h"

namespace hindsight {

/// Multiplicative weights; time and memory n! n.
std::unique_ptr<OrderLearner> make_all_orders(const OrderGame& game);
double all_orders_bound(const OrderGame& game);

std::unique_ptr<OrderLearner> make_permelearn(const OrderGame& game);
double permelearn_bound(const OrderGame& game);

std::unique_ptr<OrderLearner> make_permutahedron(const OrderGame& game);
double permutahedron_bound(const OrderGame& game);

}  // namespace hindsight
