package io.millrace.proxy.observe;

import java.util.List;

/**
 * The metrics of extensions, authorisation servers, CORS, canary splits, mirrored requests, ESI and compression
 * dictionaries. Also the metrics of the leak guard, the protection against web cache deception. Immutable.
 */
public enum ExtensionMetric implements Metric {
    CALLS(
            "millrace_extension_calls_total",
            Kind.COUNTER,
            "calls",
            "Calls of the hooks of extensions.",
            "extension",
            "hook"),
    FAILURES(
            "millrace_extension_failures_total",
            Kind.COUNTER,
            "calls",
            "Calls of hooks that failed, by reason; the log has the first exception of each kind.",
            "extension",
            "hook",
            "reason"),
    SECONDS(
            "millrace_extension_seconds_total",
            Kind.COUNTER,
            "seconds",
            "Time of event loops that hooks have used; without the time that requests wait for"
                    + " asynchronous hooks.",
            "extension",
            "hook"),
    CIRCUIT_OPEN(
            "millrace_extension_circuit_open",
            Kind.GAUGE,
            "state",
            "1 while the circuit breaker of at least one hook is open: that hook is not called, because many calls"
                    + " failed in succession.",
            "extension"),
    COUNTER(
            "millrace_extension_counter_total",
            Kind.COUNTER,
            "events",
            "Counters that extensions define.",
            "extension",
            "counter"),
    LEAK_GUARD(
            "millrace_leak_guard_responses_total",
            Kind.COUNTER,
            "responses",
            "Origin responses that look personal, by reason, and whether they were stored; many of reason type can be"
                    + " an attack by deceptive URLs (cache.leak_guard).",
            "reason",
            "result"),
    CORS_PREFLIGHTS(
            "millrace_cors_preflights_total",
            Kind.COUNTER,
            "requests",
            "Preflight requests that this proxy answered by cors, without the origin."),
    SPLIT_REQUESTS(
            "millrace_split_requests_total",
            Kind.COUNTER,
            "requests",
            "Requests of rules with split, by the branch; own: the rule's own origin.",
            "branch"),
    MIRRORED_REQUESTS(
            "millrace_mirrored_requests_total",
            Kind.COUNTER,
            "requests",
            "Requests of which mirror made a copy, by the result of the copy; if many are dropped, lower"
                    + " mirror.sample.",
            "result"),
    ESI_PAGES(
            "millrace_esi_pages_total",
            Kind.COUNTER,
            "pages",
            "ESI documents on all levels, by the result of their assembly; the access log has the reason of a failure"
                    + " in detail.",
            "result"),
    ESI_FRAGMENTS(
            "millrace_esi_fragments_total",
            Kind.COUNTER,
            "fragments",
            "Fragments of pages that were requested for esi:include, by their result.",
            "result"),
    ESI_MEMORY(
            "millrace_esi_memory_bytes",
            Kind.GAUGE,
            "bytes",
            "Bytes in the Java heap of pages in assembly; limits.memory_esi is their limit."),
    AUTHORIZE_DECISIONS(
            "millrace_authorize_decisions_total",
            Kind.COUNTER,
            "decisions",
            "Decisions of the authorisation servers in the setting authorize, by result. If failed rises, look at"
                    + " the server and at authorize.timeout.",
            "result"),
    DICTIONARY_REQUESTS(
            "millrace_compression_dictionary_requests_total",
            Kind.COUNTER,
            "requests",
            "Requests with Available-Dictionary in rules with compression.dictionaries, by result; if many are unknown,"
                    + " raise compression.dictionaries.memory and max_size.",
            "result"),
    DICTIONARIES(
            "millrace_compression_dictionaries",
            Kind.GAUGE,
            "responses",
            "Stored responses that are dictionaries for compression."),
    DICTIONARY_BYTES(
            "millrace_compression_dictionary_bytes",
            Kind.GAUGE,
            "bytes",
            "Memory of dictionaries; the limit is compression.dictionaries.memory.");

    @SuppressWarnings("ImmutableEnumChecker") // a record of immutable values
    private final Definition definition;

    ExtensionMetric(String metricName, Kind kind, String unit, String description, String... labels) {
        definition = new Definition(metricName, kind, unit, description, List.of(labels));
    }

    @Override
    public Definition definition() {
        return definition;
    }
}
