#include "analyzer/groups/expected_time.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/groups/grouping.hpp"
#include "analyzer/groups/work_model.hpp"
#include "analyzer/statistics/sorting.hpp"

namespace halcyon {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Delays make durations longer, never shorter: so the costs are those of the lower quartile.
constexpr double quantile_of_cost = 0.25;

// Numerics: the distance of quantile regression has a corner, which is rounded within this share of the usual distance.
constexpr double rounded_within = 0.3;
constexpr double least_distance = 1e-3;  // of the duration
constexpr int reweightings = 25;
constexpr int sweeps = 15;  // over the coefficients, for each reweighting; they begin where the last ones ended

// The terms of one segment in units of its duration, so that distances are relative to that.
struct Row {
  Index site;
  double at_site;
  VectorXd features;
};

// Rows for a regression. The first `sites` coefficients are those of places, the others those of features.
struct Terms {
  std::vector<Row> rows;
  Index sites = 0;
  double scale_of_site = 1.0;  // coefficients are multiplied by it
  VectorXd scales;             // (features) divided by these
};

// For each site its column, or -1 if it ends too few segments.
std::vector<Index> columns_of_sites(const Profile& profile) {
  std::vector<std::size_t> segments(std::max<std::size_t>(1, profile.sites.size()), 0);
  for (std::size_t segment = 0; segment < profile.duration.size(); ++segment) ++segments[site_of(profile, segment)];
  std::vector<Index> columns;
  Index used = 0;
  for (const std::size_t count : segments) columns.push_back(count >= smallest_judged_group ? used++ : Index{-1});
  return columns;
}

Terms terms_of(const Profile& profile, const std::vector<const FeatureColumn*>& features,
               const std::vector<Index>& column_of_site) {
  Terms terms{.sites = *std::ranges::max_element(column_of_site) + 1,
              .scales = VectorXd::Zero(static_cast<Index>(features.size()))};
  std::vector<double> durations;
  const std::size_t stride = 1 + profile.duration.size() / enough_for_a_quartile;
  for (std::size_t segment = 0; segment < profile.duration.size(); segment += stride) {
    const auto duration = static_cast<double>(profile.duration[segment]);
    const Index site = column_of_site[site_of(profile, segment)];
    if (site < 0 || !(duration > 0.0)) continue;
    Row row{.site = site, .at_site = 1.0 / duration, .features = VectorXd(terms.scales.size())};
    for (std::size_t j = 0; j < features.size(); ++j) {
      row.features[static_cast<Index>(j)] = features[j]->bins[features[j]->bin_of(segment)] / duration;
    }
    terms.scales += row.features.cwiseAbs2();
    terms.rows.push_back(std::move(row));
    durations.push_back(duration);
  }
  if (terms.rows.empty()) return terms;
  terms.scales = (terms.scales / static_cast<double>(terms.rows.size())).cwiseSqrt();
  terms.scales = (terms.scales.array() > 0.0).select(terms.scales, 1.0);
  terms.scale_of_site = median_in_place(durations);
  for (Row& row : terms.rows) {
    row.features = row.features.cwiseQuotient(terms.scales);
    row.at_site *= terms.scale_of_site;
  }
  return terms;
}

// Least squares with coefficients that are not negative, by coordinate descent: each in turn takes its best value (D.
// Chen, R. J. Plemmons, Nonnegativity constraints in numerical analysis, 2009, section 5). `products`: symmetric.
void improve(VectorXd& coefficients, const MatrixXd& products, const VectorXd& targets) {
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (Index j = 0; j < coefficients.size(); ++j) {
      if (!(products(j, j) > 0.0)) continue;
      const double slope = targets[j] - products.col(j).dot(coefficients);
      coefficients[j] = std::max(0.0, coefficients[j] + slope / products(j, j));
    }
  }
}

void improve(VectorXd& coefficients, const Terms& terms, const std::vector<double>& weights) {
  const Index all = coefficients.size();
  const Index features = all - terms.sites;
  MatrixXd products = MatrixXd::Zero(all, all);  // its lower triangle
  VectorXd targets = VectorXd::Zero(all);
  for (std::size_t i = 0; i < terms.rows.size(); ++i) {
    const Row& row = terms.rows[i];
    const double weighted = weights[i] * row.at_site;
    products(row.site, row.site) += weighted * row.at_site;
    products.col(row.site).tail(features) += weighted * row.features;
    products.bottomRightCorner(features, features).selfadjointView<Eigen::Lower>().rankUpdate(row.features, weights[i]);
    targets[row.site] += weighted;
    targets.tail(features) += weights[i] * row.features;
  }
  improve(coefficients, MatrixXd(products.selfadjointView<Eigen::Lower>()), targets);
}

// Quantile regression by iteratively reweighted least squares (E. J. Schlossmacher, J. Am. Stat. Assoc. 68, 1973, for
// the median).
VectorXd fit(const Terms& terms) {
  VectorXd coefficients = VectorXd::Zero(terms.sites + terms.scales.size());
  std::vector<double> weights(terms.rows.size(), 1.0);
  for (int step = 0; step < reweightings; ++step) {
    improve(coefficients, terms, weights);
    std::vector<double> distances;
    std::vector<double> sizes;
    for (const Row& row : terms.rows) {
      distances.push_back(1.0 - coefficients[row.site] * row.at_site -
                          coefficients.tail(terms.scales.size()).dot(row.features));
      sizes.push_back(std::abs(distances.back()));
    }
    const double corner = rounded_within * std::max(least_distance, median_in_place(sizes));
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double side = distances[i] > 0.0 ? quantile_of_cost : 1.0 - quantile_of_cost;
      weights[i] = side / std::max(std::abs(distances[i]), corner);
    }
  }
  return coefficients;
}

}  // namespace

ExpectedTime::ExpectedTime(const Profile& profile, const FeatureColumn& work) : profile_(profile) {
  for (const FeatureInfo& info : features) {
    const FeatureColumn& column = info.kind == FeatureKind::work ? work : profile.features[index_of(info.feature)];
    if (!column.index.empty()) features_.push_back(&column);
  }
  costs_.assign(features_.size(), 0.0);
  const std::vector<Index> column_of_site = columns_of_sites(profile);
  of_site_.assign(column_of_site.size(), 0.0);
  const Terms terms = terms_of(profile, features_, column_of_site);
  if (terms.rows.empty()) return;
  const VectorXd coefficients = fit(terms);
  for (std::size_t site = 0; site < of_site_.size(); ++site) {
    if (column_of_site[site] >= 0) of_site_[site] = coefficients[column_of_site[site]] * terms.scale_of_site;
  }
  for (std::size_t j = 0; j < costs_.size(); ++j) {
    const auto at = static_cast<Index>(j);
    costs_[j] = coefficients[terms.sites + at] / terms.scales[at];
  }
}

double ExpectedTime::of(std::size_t segment) const {
  double seconds = of_site_[site_of(profile_, segment)];
  for (std::size_t j = 0; j < features_.size(); ++j) {
    seconds += costs_[j] * features_[j]->bins[features_[j]->bin_of(segment)];
  }
  return seconds;
}

}  // namespace halcyon
