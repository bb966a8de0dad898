package io.millrace.proxy.admin.cache;

import io.millrace.proxy.admin.resource.AdminException;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Says what would become of a request and why, without doing any of it. Thread-safe; never blocks. */
@FunctionalInterface
public interface ExplainSource {
    /** What would become of it now; an {@link AdminException} for what no request can be. */
    CompletionStage<Explanation> explain(Question question);

    /**
     * A request that nobody made. Immutable.
     *
     * @param url an absolute http or https URL, as clients ask for it
     * @param method its method
     * @param fields its header fields, without Host
     * @param client the client's address; null for loopback
     * @param port the local port that it came on; 0 for the first that the URL's scheme is served on
     * @param toProxy whether the client takes this for its proxy and sends the whole URL (RFC 9112 section 3.2.2)
     * @param http2 whether the request comes by HTTP/2
     */
    record Question(
            String url,
            String method,
            List<LookupSource.Field> fields,
            @Nullable String client,
            int port,
            boolean toProxy,
            boolean http2) {
        /** A request of HTTP/1.1. */
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
     * What would become of it. Immutable.
     *
     * @param url the URL as it was understood
     * @param method its method
     * @param client the client's address that filters and rules were asked with
     * @param port the local port that they were asked with
     * @param outcome what would be done, in a word: {@code deny}, {@code answer}, {@code redirect}, {@code tunnel}, {@code pass},
     *     {@code hit}, {@code stale}, {@code validate}, {@code complete}, {@code fetch} or {@code unavailable}
     * @param status of an answer that the proxy gives by itself or from the cache; 0 where the origin gives it
     * @param rule of {@code remap}, null for none
     * @param filter the filter that refuses; null for none
     * @param key the cache key; null where nothing is looked up
     * @param tier {@code ram} or {@code disk}; null where nothing is stored
     * @param originUrl what an origin is asked for; null where none is asked
     * @param originGroup the group of origins; null for the host of the rule
     * @param originHost the host of the group that is next in turn; null where none is
     * @param collapsed whether another request fetches the same already, so that this one asks no origin
     * @param steps how that was found, in the order of a request's way
     */
    record Explanation(
            String url,
            String method,
            String client,
            int port,
            String outcome,
            int status,
            @Nullable String rule,
            @Nullable String filter,
            @Nullable String key,
            @Nullable String tier,
            @Nullable String originUrl,
            @Nullable String originGroup,
            @Nullable String originHost,
            boolean collapsed,
            List<Step> steps) {}

    /**
     * One step. Immutable.
     *
     * @param name what is decided: {@code rule}, {@code filters}, {@code methods}, {@code cache-rules}, {@code key}, {@code lookup},
     *     {@code lifetime}, {@code age}, {@code reuse}, {@code storing}, {@code origin}, {@code answer} and the like
     * @param text what came of it, for people
     * @param by the place in the configuration or the header field that decided; null where there is none
     */
    record Step(String name, String text, @Nullable String by) {}
}
