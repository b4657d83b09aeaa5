#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "report/layout.hpp"
#include "report/live.hpp"
#include "report/live_screen.hpp"
#include "report/words.hpp"

namespace halcyon {
namespace {

JobView job_of(const std::string& name, double percent, double rate) {
  JobView job;
  job.job = name;
  job.command = "./app --with many --words";
  job.hosts = {"node7"};
  job.ranks = 4;
  job.ranks_read = 4;
  job.elapsed_seconds = 200.0;
  job.state = JobState::running;
  job.progress_rate = rate;
  for (int i = 0; i < 200; ++i) job.history.push_back({static_cast<double>(i), i < 100 ? 1.0 : rate});
  job.interference =
      InterferenceSoFar{.percent = percent, .interval_percent = {0.0, 2.0 * percent}, .coverage_percent = 95.0};
  job.slowest_ranks = {3};
  job.slowest_hosts = {"node7"};
  job.waiting_percent = 12.0;
  job.last_boundary_seconds_ago = 0.1;
  job.last_place = "allreduce@app+0x10";
  return job;
}

TEST(Words, SaySecondsMinutesOrHours) {
  EXPECT_EQ(duration_text(45.2), "45 s");
  EXPECT_EQ(duration_text(200.0), "3 min 20 s");
  EXPECT_EQ(duration_text(7500.0), "2 h 5 min");
}

TEST(LiveView, TellsAJobInWords) {
  const std::string text = job_text(job_of("42", 3.0, 0.9));
  EXPECT_NE(text.find("job 42 on node7: ./app"), std::string::npos) << text;
  EXPECT_NE(text.find("running for 3 min 20 s, 4 ranks"), std::string::npos) << text;
  EXPECT_NE(text.find("90 % of the usual"), std::string::npos) << text;
  EXPECT_NE(text.find("3.0 % so far (90 % interval 0.0 to 6.0)"), std::string::npos) << text;
  EXPECT_NE(text.find("3 on node7: the others wait 12 % of their time"), std::string::npos) << text;
  EXPECT_NE(text.find("allreduce@app+0x10"), std::string::npos) << text;
}

TEST(LiveView, SaysTheMostImportantInALine) {
  JobView job = job_of("42", 3.0, 0.9);
  job.segments_per_second = 640.4;
  EXPECT_EQ(job_in_a_line(job, 80), "halcyon: 3 min 20 s, 640 segments/s, rate 90 %, slow: rank 3, lost 3 % (0 to 6)");
  EXPECT_LE(columns_of(job_in_a_line(job, 60)), 60u);
  job.interference->interval_percent = {0.0, 100.0};  // says nothing yet
  job.slowest_ranks.clear();
  job.left_seconds = 130.0;
  EXPECT_EQ(job_in_a_line(job, 80), "halcyon: 3 min 20 s, 640 segments/s, rate 90 %, 2 min 10 s left");
  job.state = JobState::stands_still;
  job.last_boundary_seconds_ago = 20.0;
  job.left_seconds.reset();
  EXPECT_EQ(job_in_a_line(job, 80), "halcyon: 3 min 20 s, stands still for 20 s");
}

TEST(LiveView, SaysWhatIsLeftWhereEarlierRunsAreKnown) {
  JobView job = job_of("42", 3.0, 0.9);
  EXPECT_EQ(job_text(job).find("left"), std::string::npos);
  job.left_seconds = 130.0;
  job.known_runs = 2;
  EXPECT_NE(job_text(job).find("2 min 10 s at the usual rate, known from 2 earlier runs"), std::string::npos)
      << job_text(job);
}

TEST(LiveView, SaysWhatStandsStill) {
  JobView job = job_of("42", 3.0, 0.0);
  job.state = JobState::stands_still;
  job.last_boundary_seconds_ago = 12.0;
  job.stopped_ranks = {1};
  job.last_rank = 3;
  EXPECT_NE(job_text(job).find("12.00 s ago, allreduce@app+0x10; rank 3 came last"), std::string::npos)
      << job_text(job);
  EXPECT_NE(job_text(job).find("stands still for 12 s, rank 1 is stopped by a signal"), std::string::npos)
      << job_text(job);
}

TEST(LiveView, SaysOfWhichHostsNothingIsHeard) {
  JobView job = job_of("42", 3.0, 0.9);
  job.hosts = {"node7", "node8"};
  job.stale_hosts = {{"node8", 25.0}};
  job.ranks_read = 2;
  EXPECT_NE(job_text(job).find("nothing heard of  node8 for 25 s"), std::string::npos) << job_text(job);
  EXPECT_NE(job_line(job).find("2 of 4 ranks read, nothing heard of 1 host;"), std::string::npos) << job_line(job);
  EXPECT_EQ(jobs_json({job})[0]["stale_hosts"], nlohmann::ordered_json::array({"node8"}));
  EXPECT_EQ(jobs_json({job})[0]["ranks_read"], 2);
  job.hosts = {"1", "2", "3", "4", "5"};
  EXPECT_NE(job_text(job).find("job 42 on 5 hosts"), std::string::npos) << job_text(job);
}

TEST(LiveView, HasTheKeysOfTheContract) {
  const nlohmann::ordered_json list = jobs_json({job_of("42", 3.0, 0.9), JobView{}});
  ASSERT_EQ(list.size(), 2U);
  for (const std::string key :
       {"job", "command", "ranks", "hosts", "elapsed_seconds", "progress_rate", "interference_percent",
        "interference_interval_percent", "slowest_ranks", "last_boundary_seconds_ago", "state"}) {
    EXPECT_TRUE(list[0].contains(key)) << key;
  }
  EXPECT_EQ(list[0]["state"], "running");
  EXPECT_TRUE(list[1]["progress_rate"].is_null());
  EXPECT_TRUE(list[1]["interference_percent"].is_null());
}

TEST(LiveView, DrawsTheRateOfTheLastMinutes) {
  std::vector<RateAt> history;
  for (int i = 0; i < 300; ++i) history.push_back({static_cast<double>(i), i < 150 ? 1.0 : 0.0});
  const std::string line = sparkline(history, 300.0, 10);
  EXPECT_EQ(line, "▇▇▇▇▇▁▁▁▁▁");
  EXPECT_EQ(sparkline({}, 300.0, 3), "   ");
}

TEST(LiveView, IsOpenMetrics) {
  const std::string text = jobs_openmetrics({job_of("42", 3.0, 0.9), JobView{}});
  EXPECT_NE(
      text.find("halcyon_job_progress_ratio{job=\"42\",host=\"node7\",command=\"./app --with many --words\"} 0.9\n"),
      std::string::npos)
      << text;
  EXPECT_TRUE(text.ends_with("# EOF\n"));
}

TEST(LiveScreen, FitsAnySize) {
  const std::vector<JobView> jobs{job_of("1", 3.0, 0.9), job_of("a-long-name-of-a-job", 30.0, 0.4), JobView{}};
  for (const std::size_t columns : {20U, 80U, 200U}) {
    for (const std::size_t rows : {2U, 5U, 24U}) {
      for (const bool helps : {false, true}) {
        const auto lines =
            live_screen(jobs, {.columns = columns, .rows = rows, .shows_help = helps, .message = "told"});
        EXPECT_LE(lines.size(), rows);
        for (const std::string& line : lines) EXPECT_LE(columns_of(line), columns) << line;
        EXPECT_EQ(lines.back().substr(0, 4), "told");
      }
    }
  }
  EXPECT_FALSE(live_screen({}, {}).empty());
}

TEST(LiveScreen, SortsTheWorstFirst) {
  std::vector<JobView> jobs{job_of("b", 3.0, 0.9), job_of("a", 30.0, 0.95), job_of("c", 10.0, 0.4)};
  const auto first_by = [&jobs](JobOrder order) {
    sort_jobs(jobs, order);
    return jobs.front().job;
  };
  EXPECT_EQ(first_by(JobOrder::job), "a");
  EXPECT_EQ(first_by(JobOrder::rate), "c");
  EXPECT_EQ(first_by(JobOrder::interference), "a");
}

TEST(LiveScreen, DoesNotLetACommandSteerTheTerminal) {
  JobView job = job_of("1", 3.0, 0.9);
  job.command = "./app \x1b[31m\n evil";
  for (const std::string& line : live_screen({job}, {})) {
    EXPECT_EQ(line.find('\x1b'), std::string::npos) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace halcyon
