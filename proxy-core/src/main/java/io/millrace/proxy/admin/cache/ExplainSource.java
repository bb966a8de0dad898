package io.millrace.proxy.admin.cache;

import io.millrace.proxy.admin.resource.AdminException;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Explains how the proxy would answer a request, as a dry run. Thread-safe; never blocks. */
@FunctionalInterface
public interface ExplainSource {
    /** Explains a request; completes with an {@link AdminException} if the request is invalid. */
    CompletionStage<Explanation> explain(Question question);

    /**
     * A request to explain. Immutable.
     *
     * @param url an absolute http or https URL, as clients request it
     * @param method the method
     * @param fields the header fields, without Host
     * @param client the client's address; null for loopback
     * @param port the local port; 0 for the first listener of the URL's scheme
     * @param toProxy whether the client uses a forward proxy and sends an absolute URL (RFC 9112 section 3.2.2)
     * @param http2 whether the request uses HTTP/2
     */
    record Question(
            String url,
            String method,
            List<LookupSource.Field> fields,
            @Nullable String client,
            int port,
            boolean toProxy,
            boolean http2) {
        /** Creates a request of HTTP/1.1. */
        public Question(
                String url,
                String method,
                List<LookupSource.Field> fields,
                @Nullable String client,
                int port,
                boolean toProxy) {
            this(url, method, fields, client, port, toProxy, false);
        }
    }

    /**
     * The expected handling of a request. Immutable.
     *
     * @param url the URL after parsing
     * @param method the method
     * @param client the client's address for filters and rules
     * @param port the local port for filters and rules
     * @param outcome the handling as a word: {@code deny}, {@code answer}, {@code redirect}, {@code tunnel}, {@code
     *     pass}, {@code hit}, {@code stale}, {@code validate}, {@code complete}, {@code fetch} or {@code unavailable}
     * @param status status of a local answer or an answer from the cache; 0 for an answer of the origin
     * @param rule the remap rule; null for none
     * @param denial log name of the check that denies the request, such as a filter or request limit; null for none
     * @param key the cache key; null without a lookup
     * @param tier {@code ram} or {@code disk}; null if no response is stored
     * @param originUrl the URL at the origin; null without a request to an origin
     * @param originGroup the group of origins; null for the host of the rule
     * @param originHost the next host of the group; null for none
     * @param collapsed whether the request joins a fetch in progress
     * @param steps the decisions, in the order of the request path
     */
    record Explanation(
            String url,
            String method,
            String client,
            int port,
            String outcome,
            int status,
            @Nullable String rule,
            @Nullable String denial,
            @Nullable String key,
            @Nullable String tier,
            @Nullable String originUrl,
            @Nullable String originGroup,
            @Nullable String originHost,
            boolean collapsed,
            List<Step> steps) {}

    /**
     * One decision. Immutable.
     *
     * @param name the subject of the decision: {@code rule}, {@code filters}, {@code rules}, {@code cache-rules},
     *     {@code key}, {@code lookup}, {@code lifetime}, {@code age}, {@code reuse}, {@code storing}, {@code origin},
     *     {@code answer} and others
     * @param text the result for display
     * @param by the place in the configuration, or the header field, that decided; null for none
     */
    record Step(String name, String text, @Nullable String by) {}
}
