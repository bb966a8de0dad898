package io.millrace.system;

/**
 * Sections of a configuration with rules that edit every request and every response, and keys that omit query
 * parameters. Suites for conformance must have the same results with them as without them.
 */
final class MatchAllRules {
    static final String YAML = """
            rules:
              - remove_request_header: [X-Rule-Removed]
                set_request_header: {X-Rule-Request: a}
                add_request_header: {X-Rule-Request-Added: a}
                remove_stored_header: [X-Rule-Removed]
                set_stored_header: {X-Rule-Stored: b}
                remove_response_header: [X-Rule-Removed]
                set_response_header: {X-Rule-Response: c}
                add_response_header: {X-Rule-Response-Added: c}
              - when: path =~ "^/elsewhere/"
                ttl: 1h
            cache_rules:
              - {prefix: /elsewhere/, revalidate: 1h}
            cache:
              key: {excluded_params: [utm_*], sorted_params: true}
            """;

    private MatchAllRules() {}
}
