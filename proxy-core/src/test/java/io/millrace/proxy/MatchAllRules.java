package io.millrace.proxy;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import java.util.List;

/**
 * A configuration with rules that edit every request and every response, compression of every size, and keys that omit
 * query parameters. Tests of conformance must have the same results with it as without it.
 */
final class MatchAllRules {
    private MatchAllRules() {}

    static ProxyConfig.Builder addTo(ProxyConfig.Builder config) {
        List<ConfigValues> rules = RulesOnTheWireTest.rules("[{set_request_header: {X-Rule: a},"
                + " add_request_header: {X-Rule-Added: a}, remove_request_header: [X-A],"
                + " set_response_header: {X-Rule: b}, add_response_header: {X-Rule-Added: b},"
                + " remove_response_header: [X-Origin], set_stored_header: {X-Rule-Stored: c}},"
                + " {when: 'path =~ \"^/elsewhere\"', ttl: 1h}]");
        return config.rules(rules)
                .set("compression.enabled", "true")
                .set("compression.min_size", "1B")
                .set("cache.key.excluded_params", "utm_*")
                .set("cache.key.sorted_params", "true");
    }
}
