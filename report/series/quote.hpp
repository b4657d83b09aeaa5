// What a series says of the time of a program, as a line for a paper.
#pragma once

#include <string>

#include "analyzer/repeat/series.hpp"
#include "analyzer/repeat/stopping.hpp"
#include "report/quote.hpp"

namespace halcyon {

std::string quote_of_series(const SeriesSummary& summary, const Precision& precision, QuoteForm form);

}  // namespace halcyon
