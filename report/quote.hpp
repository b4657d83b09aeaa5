// A time as a line for a paper, a table or a slide: in plain text, Markdown or LaTeX.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/judge/analysis.hpp"
#include "libprofile/format/profile.hpp"

namespace halcyon {

enum class QuoteForm : std::uint8_t { text, markdown, latex };
inline constexpr std::array<std::string_view, 3> quote_form_names{"text", "markdown", "latex"};
QuoteForm quote_form_of(std::string_view name);

/// The time of one run. Says so if it should not be quoted.
std::string quote_of_run(const Profile& profile, const Analysis& analysis, QuoteForm form);

/// "5.02 ± 0.06 s": with so many digits that the half width has two.
std::string with_half_width(double seconds, double half_width);

/// A sentence that begins with the number to quote, in the form: `number` stands out in Markdown.
std::string quoted(std::string_view number, std::string_view rest, QuoteForm form);

}  // namespace halcyon
