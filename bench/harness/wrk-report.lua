-- Ends wrk's output with one JSON line. `done` runs after the load: it costs the measurement nothing.
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requestCount":%d,"requestsPerSecond":%.1f,"p50Micros":%d,"p99Micros":%d,"faultCount":%d,"unansweredCount":0}\n',
    summary.requests, summary.requests / (summary.duration / 1e6),
    latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.timeout + errors.status))
end
