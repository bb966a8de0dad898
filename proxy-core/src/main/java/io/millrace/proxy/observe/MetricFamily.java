package io.millrace.proxy.observe;

import java.util.List;

/**
 * The metrics of requests, connections, purges, logs, memory and the process. {@link OriginMetric}, {@link TlsMetric},
 * {@link FleetMetric}, {@link StorageMetric} and {@link ExtensionMetric} contain the other metrics. The series that
 * event loops count are the constants of {@link Counter}. Immutable.
 */
public enum MetricFamily implements Metric {
    REQUESTS(
            "millrace_requests_total",
            Kind.COUNTER,
            "requests",
            "Client requests answered, by cache result; watch the share of hit, stale and revalidated.",
            "cache"),
    RESPONSES(
            "millrace_responses_total",
            Kind.COUNTER,
            "responses",
            "Final responses sent to clients, by status class; if the share of 5xx rises, see"
                    + " millrace_origin_failures_total.",
            "status_class"),
    HOST_REQUESTS(
            "millrace_host_requests_total",
            Kind.COUNTER,
            "requests",
            "Requests by host, for the admin.hosts hosts with most requests, and for all other hosts together as"
                    + " other.",
            "host"),
    HOST_HITS(
            "millrace_host_hits_total",
            Kind.COUNTER,
            "requests",
            "Requests that the cache answered, for the same hosts as millrace_host_requests_total.",
            "host"),
    HOST_MISSES(
            "millrace_host_misses_total",
            Kind.COUNTER,
            "requests",
            "Requests that an origin answered, for the same hosts as millrace_host_requests_total.",
            "host"),
    HOST_ERRORS(
            "millrace_host_errors_total",
            Kind.COUNTER,
            "requests",
            "Responses with status 5xx, for the same hosts as millrace_host_requests_total.",
            "host"),
    HOST_SENT_BYTES(
            "millrace_host_sent_bytes_total",
            Kind.COUNTER,
            "bytes",
            "Bytes of responses to clients, heads included, for the same hosts as millrace_host_requests_total.",
            "host"),
    REQUEST_DURATION(
            "millrace_request_duration_seconds",
            Kind.HISTOGRAM,
            "seconds",
            "Time from the first byte of a request to the last byte of its response, as given to the kernel. Compare"
                    + " the series of served_from to see if the origin or this machine is slow.",
            "served_from"),
    REQUESTS_ACTIVE(
            "millrace_requests_active",
            Kind.GAUGE,
            "requests",
            "Requests in progress; if the number only grows, requests wait for an origin or a disk."),
    CONNECTIONS(
            "millrace_connections",
            Kind.GAUGE,
            "connections",
            "Connections open now; compare the client side with limits.connections.",
            "side",
            "state"),
    CONNECTIONS_OPENED(
            "millrace_connections_opened_total",
            Kind.COUNTER,
            "connections",
            "Connections opened since the start; many per origin request mean that origin keep-alive does not work.",
            "side"),
    CONNECTIONS_REFUSED(
            "millrace_connections_refused_total",
            Kind.COUNTER,
            "connections",
            "Client connections closed without an answer, by reason; for the reason limit, raise limits.connections"
                    + " if the machine has enough memory.",
            "reason"),
    RECEIVED_BYTES(
            "millrace_received_bytes_total",
            Kind.COUNTER,
            "bytes",
            "Bytes received, heads and TLS records included; the origin side shows the traffic that the cache did"
                    + " not save.",
            "side"),
    SENT_BYTES(
            "millrace_sent_bytes_total",
            Kind.COUNTER,
            "bytes",
            "Bytes sent, heads included, and to origins also TLS records; compare the client side with the capacity of"
                    + " the network.",
            "side"),
    CLIENT_FAILURES(
            "millrace_client_failures_total",
            Kind.COUNTER,
            "requests",
            "Requests that failed on the client's side; the access log names the clients.",
            "reason"),
    HTTP2_CONNECTIONS(
            "millrace_http2_connections_total",
            Kind.COUNTER,
            "connections",
            "Client connections that used HTTP/2 since the start; compare with millrace_connections_opened_total."),
    HTTP2_REQUESTS(
            "millrace_http2_requests_total",
            Kind.COUNTER,
            "requests",
            "Requests that came by HTTP/2 since the start; compare with millrace_requests_total."),
    HTTP2_RESETS(
            "millrace_http2_resets_total",
            Kind.COUNTER,
            "streams",
            "HTTP/2 requests that clients reset before they were answered; browsers do so when a user leaves a page."),
    HTTP2_FAULTS(
            "millrace_http2_faults_total",
            Kind.COUNTER,
            "faults",
            "Violations of HTTP/2 and exceeded limits, each answered with an error on the stream or the end of the"
                    + " connection. Many resets, stream-faults, continuation or control-frames indicate an attack.",
            "reason"),
    TUNNELS(
            "millrace_tunnels",
            Kind.GAUGE,
            "tunnels",
            "Client connections that form a tunnel with an origin connection; both are also counted in"
                    + " millrace_connections.",
            "kind"),
    TUNNELS_OPENED("millrace_tunnels_opened_total", Kind.COUNTER, "tunnels", "Tunnels opened since the start.", "kind"),
    TUNNELS_ENDED(
            "millrace_tunnels_ended_total",
            Kind.COUNTER,
            "tunnels",
            "Tunnels that ended, by reason; if many are idle, let clients send pings, or raise timeouts.tunnel_idle.",
            "reason"),
    TUNNEL_BYTES(
            "millrace_tunnel_bytes_total",
            Kind.COUNTER,
            "bytes",
            "Bytes transferred in tunnels, counted when a tunnel ends.",
            "direction"),
    DENIED_REQUESTS(
            "millrace_denied_requests_total",
            Kind.COUNTER,
            "requests",
            "Requests refused by the configuration; many with the reason not-mapped mean a missing remap"
                    + " rule or a scanner.",
            "reason"),
    FILTER_DENIED_REQUESTS(
            "millrace_filter_denied_requests_total",
            Kind.COUNTER,
            "requests",
            "Requests that a filter denied, by its name or its place in the configuration; a series begins with its"
                    + " first request. If a filter denies legitimate clients, correct it.",
            "filter"),
    LIMITED_REQUESTS(
            "millrace_request_limit_refused_requests_total",
            Kind.COUNTER,
            "requests",
            "Requests that a request limit refused with 429, by the name of the limit; a series begins with its first"
                    + " request. If legitimate clients are refused, raise rate or burst.",
            "limit"),
    LIMITED_IN_DRY_RUN(
            "millrace_request_limit_dry_run_requests_total",
            Kind.COUNTER,
            "requests",
            "Requests that a request limit with dry_run would have refused, by the name of the limit.",
            "limit"),
    REQUEST_LIMIT_KEYS(
            "millrace_request_limit_keys",
            Kind.GAUGE,
            "keys",
            "Keys of request limits, such as clients, whose burst is not refilled yet. The limit is 2097152 keys; from"
                    + " about a million keys on, the table deletes some keys too early."),
    REQUEST_LIMIT_EVICTIONS(
            "millrace_request_limit_evictions_total",
            Kind.COUNTER,
            "keys",
            "Keys that the table of request limits forgot too early, because too many clients are active. Such a client"
                    + " begins with its whole burst. If this increases, use a key with fewer values."),
    REDIRECTS(
            "millrace_redirects_total",
            Kind.COUNTER,
            "requests",
            "Requests that remap or a rule redirected without an origin request; the access log has the reason in"
                    + " detail.",
            "reason"),
    RULE_ANSWERS(
            "millrace_rule_answers_total",
            Kind.COUNTER,
            "requests",
            "Requests that a rule with answer answered, without cache and origin; the access log has the rule in"
                    + " detail."),
    FAST_LANE_REQUESTS(
            "millrace_fast_lane_requests_total",
            Kind.COUNTER,
            "requests",
            "Requests answered in the fast lane, a shorter code path for small hits in RAM. If these are a small"
                    + " share of the hits, most requests or objects do not meet its conditions, such as size."),
    FAST_LANE_MOVES(
            "millrace_fast_lane_moves_total",
            Kind.COUNTER,
            "connections",
            "Connections that left the fast lane for a Netty channel, and those that returned. Many moves per request"
                    + " cost CPU; worker.fast_lane: false turns the fast lane off.",
            "direction"),
    CACHE_LOOKUPS(
            "millrace_cache_lookups_total",
            Kind.COUNTER,
            "lookups",
            "Lookups by result; many disk results mean that cache.ram_size is small for this traffic.",
            "result"),
    COLLAPSED_REQUESTS(
            "millrace_collapsed_requests_total",
            Kind.COUNTER,
            "requests",
            "Requests that waited for another request's fetch; if many time out, raise cache.collapse_wait.",
            "result"),
    FILLS(
            "millrace_fills_total",
            Kind.COUNTER,
            "fills",
            "Origin responses that might have been stored, by result; not-storable is mostly caused by the origin's"
                    + " Cache-Control.",
            "result"),
    PURGES(
            "millrace_purges_total",
            Kind.COUNTER,
            "purges",
            "Removals of single URLs; absent: nothing was stored, often a wrong host or query. Also failed, undone,"
                    + " cancelled and unsupported purges of every kind.",
            "result"),
    COPIES(
            "millrace_copied_responses_total",
            Kind.COUNTER,
            "responses",
            "Stored responses that were copied out of this cache or into it; refused responses were not stored.",
            "result"),
    COMPRESSED(
            "millrace_compression_responses_total",
            Kind.COUNTER,
            "responses",
            "Origin responses that compression concerns, by the content coding in which they were encoded; none means"
                    + " that the client accepts no content coding, or that too many responses were being encoded.",
            "encoding"),
    COMPRESSION_IN(
            "millrace_compression_in_bytes_total",
            Kind.COUNTER,
            "bytes",
            "Bytes of origin responses that were encoded.",
            "encoding"),
    COMPRESSION_OUT(
            "millrace_compression_out_bytes_total",
            Kind.COUNTER,
            "bytes",
            "Encoded bytes that compression produced from the bytes in millrace_compression_in_bytes_total.",
            "encoding"),
    COMPRESSION_TIME(
            "millrace_compression_seconds_total",
            Kind.COUNTER,
            "seconds",
            "Time that encoders and decoders worked; if it is a large share of the processors' time,"
                    + " lower the levels of compression."),
    VARIANTS_DROPPED(
            "millrace_variants_dropped_total",
            Kind.COUNTER,
            "variants",
            "Variants removed because their URL had more than cache.variants_max. The log names the Vary field with"
                    + " the most values: normalise it at the origin, or remove it from Vary."),
    INVALIDATIONS(
            "millrace_invalidations_total",
            Kind.COUNTER,
            "invalidations",
            "Stored responses invalidated by a client's unsafe request (RFC 9111 section 4.4); no action needed."),
    SCOPED_PURGES(
            "millrace_scoped_purges_total",
            Kind.COUNTER,
            "purges",
            "Purges of more than one URL and soft purges, by scope; covered responses are fetched or validated"
                    + " again.",
            "scope"),
    PURGE_RECORDS_LOST(
            "millrace_purge_records_lost_total",
            Kind.COUNTER,
            "records",
            "Purges that are in force but have no audit log record, because the log could not be written or too many"
                    + " records waited; read the error log."),
    GROUP_INVALIDATIONS(
            "millrace_group_invalidations_total",
            Kind.COUNTER,
            "invalidations",
            "Cache groups invalidated by Cache-Group-Invalidation in responses to unsafe requests (RFC 9875); if"
                    + " there are many, make the groups smaller.",
            "result"),
    INVALIDATION_ENTRIES(
            "millrace_invalidation_entries",
            Kind.GAUGE,
            "entries",
            "Purges of more than one URL that are in force, by kind. If a table is full, one wider entry replaces its"
                    + " older entries. A purge of the host replaces its prefixes if there are more than 16.",
            "kind"),
    PATTERN_LOOKUPS(
            "millrace_pattern_lookups_total",
            Kind.COUNTER,
            "lookups",
            "Lookups that compared a stored response with purges by pattern; 0 while none is in force."),
    PATTERN_LOOKUP_TIME(
            "millrace_pattern_lookup_seconds",
            Kind.GAUGE,
            "seconds",
            "Moving average of the time of a lookup counted in millrace_pattern_lookups_total; many patterns and large"
                    + " regular expressions raise it."),
    PATTERN_SWEPT(
            "millrace_pattern_swept_total",
            Kind.COUNTER,
            "responses",
            "Stored responses that the sweeper removed or marked as stale for purges by pattern.",
            "result"),
    PATTERN_SWEEPS_INCOMPLETE(
            "millrace_pattern_sweeps_incomplete_total",
            Kind.COUNTER,
            "sweeps",
            "Sweeps that were not complete and are repeated; if it grows, check the storage paths and the inventory."),
    TRANSACTION_TIMEOUTS(
            "millrace_transaction_timeouts_total",
            Kind.COUNTER,
            "requests",
            "Requests that took longer than timeouts.transaction, by the response that the client received.",
            "outcome"),
    OVERLOAD_ANSWERS(
            "millrace_overload_answers_total",
            Kind.COUNTER,
            "requests",
            "Requests answered with a stored response past its lifetime, because its rule was in overload."),
    OVERLOAD_RULES(
            "millrace_overload_rules",
            Kind.GAUGE,
            "rules",
            "Rules of remap in overload now; the log names each rule and the exceeded limit of cache.overload."),
    ACCESS_LOG_RECORDS(
            "millrace_access_log_records_total",
            Kind.COUNTER,
            "records",
            "Access log records; if dropped grows, the disk of log.access.path is full or slow.",
            "result"),
    LIVE_LOG_VIEWERS("millrace_live_log_viewers", Kind.GAUGE, "viewers", "Viewers of the live log; the limit is 64."),
    LIVE_LOG_RECORDS(
            "millrace_live_log_records_total",
            Kind.COUNTER,
            "records",
            "Records of the live log by result: passed to viewers, kept (slow, failed or refused requests), or lost"
                    + " because a queue was full.",
            "result"),
    LOG_LINES(
            "millrace_log_lines_total",
            Kind.COUNTER,
            "lines",
            "Lines of each log of the list log.access. If dropped grows, the target is down or slow; filtered and"
                    + " sampled_out are requests that filter and sample left out.",
            "log",
            "result"),
    LOG_BYTES("millrace_log_bytes_total", Kind.COUNTER, "bytes", "Bytes written to each log of log.access.", "log"),
    LOG_ERRORS(
            "millrace_log_errors_total",
            Kind.COUNTER,
            "errors",
            "Failed attempts to open or write the target of a log; the program log has the reason.",
            "log"),
    TRACES_SPANS(
            "millrace_traces_spans_total",
            Kind.COUNTER,
            "spans",
            "Spans of traces: exported, or dropped because the ring of an event loop or the queue of the exporter is"
                    + " full, or because the collector failed. If dropped ones grow, lower traces.sample.",
            "result"),
    TRACES_UP("millrace_traces_up", Kind.GAUGE, "", "1 if the collector took the last spans, else 0."),
    LOG_UP("millrace_log_up", Kind.GAUGE, "", "1 if the target of a log took its last lines, else 0.", "log"),
    MEMORY(
            "millrace_memory_bytes",
            Kind.GAUGE,
            "bytes",
            "Anonymous memory of the process by use; each part is measured independently. unaccounted is the rest of"
                    + " millrace_memory_anonymous_bytes. If store_idle, malloc or unaccounted grows without end,"
                    + " report it as a fault.",
            "part"),
    MEMORY_ANONYMOUS(
            "millrace_memory_anonymous_bytes",
            Kind.GAUGE,
            "bytes",
            "Anonymous resident memory of the process as the kernel counts it (RssAnon); this figure counts against"
                    + " a container's limit."),
    MEMORY_MAPPED(
            "millrace_memory_mapped_bytes",
            Kind.GAUGE,
            "bytes",
            "Pages of files that are mapped and resident, by file; the kernel takes them back when memory is short.",
            "part"),
    CACHE_HEAP(
            "millrace_cache_heap_bytes",
            Kind.GAUGE,
            "bytes",
            "Estimated Java heap of the keys and heads of responses in RAM."),
    CACHE_HEAP_MAX(
            "millrace_cache_heap_max_bytes",
            Kind.GAUGE,
            "bytes",
            "Limit of millrace_cache_heap_bytes, half of the heap. At this limit the RAM tier is full, whatever"
                    + " cache.ram_size is; raise worker.heap_size."),
    MEMORY_BUDGET(
            "millrace_memory_store_max_bytes",
            Kind.GAUGE,
            "bytes",
            "Limit of all memory of the store together, from cache.ram_size."),
    IN_FLIGHT(
            "millrace_memory_in_flight_bytes",
            Kind.GAUGE,
            "bytes",
            "Bytes in use in buffers of client and origin connections; limits.memory_in_flight is their limit."),
    IN_FLIGHT_MAX(
            "millrace_memory_in_flight_max_bytes",
            Kind.GAUGE,
            "bytes",
            "Limit of millrace_memory_in_flight_bytes, from limits.memory_in_flight and the JVM's direct memory."),
    ALLOCATION_FAILURES(
            "millrace_memory_allocation_failures_total",
            Kind.COUNTER,
            "allocations",
            "Failed allocations of buffers: the JVM had no direct memory, although the budget was not used up."),
    SLOW_CLIENTS(
            "millrace_slow_clients_closed_total",
            Kind.COUNTER,
            "connections",
            "Client connections closed because the client took its response too slowly, by reason.",
            "reason"),
    MEMORY_REFUSED(
            "millrace_memory_refused_total",
            Kind.COUNTER,
            "requests",
            "Responses not stored, and reads that waited or bypassed the store, because the store's memory was used"
                    + " up; if this grows steadily, raise cache.ram_size.",
            "use"),
    CACHE_REFILLED(
            "millrace_cache_refilled_total",
            Kind.COUNTER,
            "entries",
            "Stored responses loaded into RAM after a start, because they had been requested often."),
    CONFIG_LAST_RELOAD_SUCCESSFUL(
            "millrace_config_last_reload_successful",
            Kind.GAUGE,
            "boolean",
            "1 if the last configuration reload was applied, 0 if it was rejected; millctl status shows the reason."),
    CONFIG_LAST_RELOAD_TIME(
            "millrace_config_last_reload_timestamp_seconds",
            Kind.GAUGE,
            "seconds",
            "Time at which the configuration in use was loaded, in seconds since 1970."),
    EVENTS(
            "millrace_events_total",
            Kind.COUNTER,
            "events",
            "Events since the start of the launcher, by kind, including those that millctl events does not list"
                    + " because there were too many; docs/guide/operating.md has the meaning and the"
                    + " severity of each kind.",
            "kind"),
    ALARMS(
            "millrace_alarms",
            Kind.GAUGE,
            "alarms",
            "Alarms that are raised now, by kind; millctl alarm list names them, and what to do is in"
                    + " docs/guide/operating.md.",
            "kind"),
    ALARM_ACTIONS(
            "millrace_alarm_actions_total",
            Kind.COUNTER,
            "actions",
            "Commands run and messages sent for changes of alarms; failed and dropped ones reached nobody, and the"
                    + " program log has the reason.",
            "action",
            "result"),
    DRAINING(
            "millrace_draining",
            Kind.GAUGE,
            "boolean",
            "1 while this worker drains: by command (millctl server drain), or because it finishes its requests"
                    + " before it exits."),
    BUILD(
            "millrace_build",
            Kind.GAUGE,
            "boolean",
            "Always 1; the label is the version of the running product.",
            "version");

    @SuppressWarnings("ImmutableEnumChecker") // a record of immutable values
    private final Definition definition;

    MetricFamily(String metricName, Kind kind, String unit, String description, String... labels) {
        definition = new Definition(metricName, kind, unit, description, List.of(labels));
    }

    @Override
    public Definition definition() {
        return definition;
    }
}
