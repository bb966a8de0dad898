package io.millrace.proxy.observe;

import java.util.List;

/**
 * The counters that event loops maintain, one metric series per constant. Each counter has a metric family, label
 * values, and a description that completes the family's description. Its ordinal is its index in {@link LoopCounters}.
 * Immutable.
 */
public enum Counter {
    REQUESTS_HIT(MetricFamily.REQUESTS, "answered with a fresh stored response", "hit"),
    REQUESTS_STALE(MetricFamily.REQUESTS, "answered with a stale stored response; look at the origin", "stale"),
    REQUESTS_REVALIDATED(MetricFamily.REQUESTS, "answered after the origin's 304", "revalidated"),
    REQUESTS_STALE_MISS(MetricFamily.REQUESTS, "validated, and the origin sent a new response", "stale-miss"),
    REQUESTS_URI_MISS(MetricFamily.REQUESTS, "nothing was stored for the URI", "uri-miss"),
    REQUESTS_VARY_MISS(
            MetricFamily.REQUESTS,
            "only stored for other values of the Vary fields; if there are many, check the origin's Vary",
            "vary-miss"),
    REQUESTS_REQUEST(MetricFamily.REQUESTS, "forwarded because of the client's directives", "request"),
    REQUESTS_PARTIAL(MetricFamily.REQUESTS, "another part of the representation was stored", "partial"),
    REQUESTS_METHOD(MetricFamily.REQUESTS, "forwarded because of the method", "method"),
    REQUESTS_BYPASS(MetricFamily.REQUESTS, "forwarded because the cache is off for it", "bypass"),
    REQUESTS_NONE(MetricFamily.REQUESTS, "answered by the proxy itself: refusals and errors", "none"),

    RESPONSES_1XX(MetricFamily.RESPONSES, "switched protocols", "1xx"),
    RESPONSES_2XX(MetricFamily.RESPONSES, "successful", "2xx"),
    RESPONSES_3XX(MetricFamily.RESPONSES, "redirected or not modified", "3xx"),
    RESPONSES_4XX(MetricFamily.RESPONSES, "refused because of the client's error", "4xx"),
    RESPONSES_5XX(MetricFamily.RESPONSES, "failed at the origin or in this proxy", "5xx"),
    RESPONSES_NONE(MetricFamily.RESPONSES, "no final status was sent, mostly because the client left", "none"),

    REQUESTS_ACTIVE(MetricFamily.REQUESTS_ACTIVE, "in progress"),

    CLIENT_CONNECTIONS(MetricFamily.CONNECTIONS, "client connections, also idle", "client", "open"),
    ORIGIN_CONNECTIONS_ACTIVE(MetricFamily.CONNECTIONS, "origin connections with a request", "origin", "active"),
    ORIGIN_CONNECTIONS_IDLE(MetricFamily.CONNECTIONS, "origin connections kept for the next request", "origin", "idle"),
    CLIENT_CONNECTIONS_OPENED(MetricFamily.CONNECTIONS_OPENED, "accepted", "client"),
    ORIGIN_CONNECTIONS_OPENED(MetricFamily.CONNECTIONS_OPENED, "connected", "origin"),
    CLIENT_CONNECTIONS_REFUSED_LIMIT(MetricFamily.CONNECTIONS_REFUSED, "over limits.connections", "limit"),
    CLIENT_CONNECTIONS_REFUSED_CLIENT_LIMIT(
            MetricFamily.CONNECTIONS_REFUSED, "over limits.per_client.connections", "client-limit"),
    CLIENT_CONNECTIONS_REFUSED_PROXY_UNTRUSTED(
            MetricFamily.CONNECTIONS_REFUSED,
            "a PROXY header from an address that access.proxy_protocol_allow does not contain",
            "proxy-untrusted"),
    CLIENT_CONNECTIONS_REFUSED_PROXY_MALFORMED(
            MetricFamily.CONNECTIONS_REFUSED, "an invalid PROXY header, or one over its limit", "proxy-malformed"),
    CLIENT_CONNECTIONS_REFUSED_PROXY_MISSING(
            MetricFamily.CONNECTIONS_REFUSED, "no PROXY header where listen requires one", "proxy-missing"),
    CLIENT_CONNECTIONS_REFUSED_PROXY_TIMEOUT(
            MetricFamily.CONNECTIONS_REFUSED,
            "no complete PROXY header within timeouts.client_header",
            "proxy-timeout"),
    CLIENT_CONNECTIONS_REFUSED_TLS(MetricFamily.CONNECTIONS_REFUSED, "TLS handshake failed", "tls"),

    TLS_HANDSHAKES_1_2(TlsMetric.HANDSHAKES, "TLS 1.2", "1.2"),
    TLS_HANDSHAKES_1_3(TlsMetric.HANDSHAKES, "TLS 1.3", "1.3"),
    TLS_FAILURES_UNKNOWN_NAME(TlsMetric.HANDSHAKE_FAILURES, "no certificate for the requested name", "unknown-name"),
    TLS_FAILURES_CLIENT_CERTIFICATE(
            TlsMetric.HANDSHAKE_FAILURES,
            "the client presented no certificate, or an invalid one",
            "client-certificate"),
    TLS_FAILURES_NOTHING_IN_COMMON(
            TlsMetric.HANDSHAKE_FAILURES, "no common version, cipher suite or group", "nothing-in-common"),
    TLS_FAILURES_CLIENT(TlsMetric.HANDSHAKE_FAILURES, "the client closed the connection, or sent an alert", "client"),
    TLS_FAILURES_TIMEOUT(TlsMetric.HANDSHAKE_FAILURES, "not complete within 10 s", "timeout"),
    TLS_FAILURES_PROTOCOL(
            TlsMetric.HANDSHAKE_FAILURES, "the received bytes are not TLS, or violate the protocol", "protocol"),

    CLIENT_RECEIVED_BYTES(MetricFamily.RECEIVED_BYTES, "requests", "client"),
    ORIGIN_RECEIVED_BYTES(MetricFamily.RECEIVED_BYTES, "responses of origins", "origin"),
    CLIENT_SENT_BYTES(MetricFamily.SENT_BYTES, "responses", "client"),
    ORIGIN_SENT_BYTES(MetricFamily.SENT_BYTES, "requests to origins", "origin"),

    CLIENT_FAILURES_MALFORMED(MetricFamily.CLIENT_FAILURES, "the request is not valid HTTP", "malformed"),
    CLIENT_FAILURES_LINE_TOO_LONG(MetricFamily.CLIENT_FAILURES, "over limits.request_line", "line-too-long"),
    CLIENT_FAILURES_HEADER_TOO_LARGE(MetricFamily.CLIENT_FAILURES, "over limits.request_header", "header-too-large"),
    CLIENT_FAILURES_BODY_TOO_LARGE(MetricFamily.CLIENT_FAILURES, "over limits.request_body", "body-too-large"),
    CLIENT_FAILURES_TIMEOUT(MetricFamily.CLIENT_FAILURES, "head or body did not arrive in time", "timeout"),
    CLIENT_FAILURES_SLOW_BODY(
            MetricFamily.CLIENT_FAILURES, "the body came below limits.request_body_rate", "slow-body"),
    CLIENT_FAILURES_ABORTED(MetricFamily.CLIENT_FAILURES, "the client left before the end of the response", "aborted"),

    HTTP2_CONNECTIONS(MetricFamily.HTTP2_CONNECTIONS, "by ALPN or prior knowledge"),
    HTTP2_REQUESTS(MetricFamily.HTTP2_REQUESTS, "refused requests included"),
    HTTP2_RESETS(MetricFamily.HTTP2_RESETS, "RST_STREAM of a client"),
    HTTP2_FAULT_PROTOCOL(MetricFamily.HTTP2_FAULTS, "not allowed by RFC 9113", "protocol"),
    HTTP2_FAULT_FRAME_SIZE(MetricFamily.HTTP2_FAULTS, "a frame with an invalid length for its type", "frame-size"),
    HTTP2_FAULT_FLOW_CONTROL(MetricFamily.HTTP2_FAULTS, "content beyond the flow-control window", "flow-control"),
    HTTP2_FAULT_COMPRESSION(MetricFamily.HTTP2_FAULTS, "a field block that HPACK cannot decode", "compression"),
    HTTP2_FAULT_STREAM_CLOSED(MetricFamily.HTTP2_FAULTS, "a frame on a closed stream", "stream-closed"),
    HTTP2_FAULT_STREAMS(MetricFamily.HTTP2_FAULTS, "over http2.streams", "streams"),
    HTTP2_FAULT_RESETS(MetricFamily.HTTP2_FAULTS, "over http2.resets", "resets"),
    HTTP2_FAULT_STREAM_FAULTS(MetricFamily.HTTP2_FAULTS, "over http2.stream_faults", "stream-faults"),
    HTTP2_FAULT_CONTINUATION(
            MetricFamily.HTTP2_FAULTS,
            "too many frames in a field block, or a block above twice http2.header_list",
            "continuation"),
    HTTP2_FAULT_CONTROL_FRAMES(MetricFamily.HTTP2_FAULTS, "over http2.control_frames", "control-frames"),
    HTTP2_FAULT_STALLED(MetricFamily.HTTP2_FAULTS, "a window kept closed for timeouts.client_body", "stalled"),
    HTTP2_FAULT_TIMEOUT(
            MetricFamily.HTTP2_FAULTS,
            "a preface or field block not complete within timeouts.client_header",
            "timeout"),
    HTTP2_FAULT_MISDIRECTED(
            MetricFamily.HTTP2_FAULTS,
            "a request for a name that the connection's certificate does not contain",
            "misdirected"),
    TUNNELS_UPGRADE(MetricFamily.TUNNELS, "switched to another protocol", "upgrade"),
    TUNNELS_CONNECT(MetricFamily.TUNNELS, "by CONNECT", "connect"),
    TUNNELS_OPENED_UPGRADE(MetricFamily.TUNNELS_OPENED, "switched to another protocol", "upgrade"),
    TUNNELS_OPENED_CONNECT(MetricFamily.TUNNELS_OPENED, "by CONNECT", "connect"),
    TUNNELS_CLOSED(MetricFamily.TUNNELS_ENDED, "both sides have ended", "closed"),
    TUNNELS_CLIENT_BROKEN(MetricFamily.TUNNELS_ENDED, "the client's connection failed", "client-broken"),
    TUNNELS_ORIGIN_BROKEN(MetricFamily.TUNNELS_ENDED, "the origin's connection failed", "origin-broken"),
    TUNNELS_IDLE(MetricFamily.TUNNELS_ENDED, "over timeouts.tunnel_idle", "idle"),
    TUNNELS_EXPIRED(MetricFamily.TUNNELS_ENDED, "over timeouts.tunnel_max", "expired"),
    TUNNELS_STOPPED(MetricFamily.TUNNELS_ENDED, "this worker stopped", "stopped"),
    TUNNEL_BYTES_TO_CLIENT(MetricFamily.TUNNEL_BYTES, "from origins", "to-client"),
    TUNNEL_BYTES_TO_ORIGIN(MetricFamily.TUNNEL_BYTES, "from clients", "to-origin"),

    DENIED_NOT_MAPPED(MetricFamily.DENIED_REQUESTS, "no remap rule matches", "not-mapped"),
    DENIED_METHOD(MetricFamily.DENIED_REQUESTS, "CONNECT, TRACE or a method that the rules refuse", "method"),
    DENIED_FORWARD_CLIENT(
            MetricFamily.DENIED_REQUESTS,
            "a request to be forwarded, from an address that forward_proxy.allow does not contain",
            "forward-client"),
    DENIED_FORWARD_PORT(
            MetricFamily.DENIED_REQUESTS,
            "CONNECT to a port that is not in forward_proxy.connect_ports",
            "forward-port"),
    DENIED_FORWARD_DESTINATION(
            MetricFamily.DENIED_REQUESTS,
            "a request to be forwarded, to an address that forward_proxy does not permit",
            "forward-destination"),
    DENIED_SCHEME(
            MetricFamily.DENIED_REQUESTS,
            "an https URL that a rule maps, over a connection that is not secured by TLS",
            "scheme"),
    DENIED_CLIENT_CERTIFICATE(
            MetricFamily.DENIED_REQUESTS,
            "the host has other settings for client certificates than the name in the connection's TLS handshake",
            "client-certificate"),
    DENIED_PURGE(MetricFamily.DENIED_REQUESTS, "PURGE from an address that purge.allow does not contain", "purge"),
    DENIED_FILTER(
            MetricFamily.DENIED_REQUESTS, "by a filter, named in millrace_filter_denied_requests_total", "filter"),
    DENIED_CLIENT_REQUESTS(MetricFamily.DENIED_REQUESTS, "over limits.per_client.requests", "client-requests"),
    DENIED_CLIENT_TUNNELS(MetricFamily.DENIED_REQUESTS, "over limits.per_client.tunnels", "client-tunnels"),
    DENIED_REQUEST_LIMIT(
            MetricFamily.DENIED_REQUESTS,
            "over a limit of request_limits, named in millrace_request_limit_refused_requests_total",
            "request-limit"),
    DENIED_SIGNED_URL(
            MetricFamily.DENIED_REQUESTS,
            "no valid signature of the URL, where signed_urls needs one; the access log has the reason in detail",
            "signed-url"),
    DENIED_BASIC_AUTH(
            MetricFamily.DENIED_REQUESTS,
            "no name and password of a user, where basic_auth needs them; the access log has the reason in detail",
            "basic-auth"),
    DENIED_JWT(
            MetricFamily.DENIED_REQUESTS,
            "no valid token, where jwt needs one; the access log has the reason in detail",
            "jwt"),
    DENIED_CORS(
            MetricFamily.DENIED_REQUESTS,
            "a preflight request of an origin that cors.origins does not contain",
            "cors"),
    DENIED_AUTHORIZE(
            MetricFamily.DENIED_REQUESTS,
            "refused by the authorisation server of authorize, or without its decision; the access log has the reason"
                    + " in detail",
            "authorize"),
    DENIED_EXTENSION(MetricFamily.DENIED_REQUESTS, "an extension refuses the request", "extension"),
    DENIED_EXTENSION_FAILED(
            MetricFamily.DENIED_REQUESTS, "an extension failed, and on_error is closed", "extension-failed"),
    DENIED_REWRITE(MetricFamily.DENIED_REQUESTS, "a rule would rewrite the path to one with a dot segment", "rewrite"),
    DENIED_LOOP(MetricFamily.DENIED_REQUESTS, "the request passed through this proxy before", "loop"),

    AUTHORIZE_ALLOWED(ExtensionMetric.AUTHORIZE_DECISIONS, "the server allows the request", "allowed"),
    AUTHORIZE_REFUSED(
            ExtensionMetric.AUTHORIZE_DECISIONS, "the server refuses the request or redirects the client", "refused"),
    AUTHORIZE_FAILED(
            ExtensionMetric.AUTHORIZE_DECISIONS,
            "no decision within authorize.timeout, or another status; look at the server",
            "failed"),
    AUTHORIZE_REMEMBERED(ExtensionMetric.AUTHORIZE_DECISIONS, "remembered, so that no request was sent", "remembered"),
    AUTHORIZE_COLLAPSED(
            ExtensionMetric.AUTHORIZE_DECISIONS,
            "taken from the response to an equal request in progress",
            "collapsed"),

    ACME_CHALLENGES_HTTP(TlsMetric.ACME_CHALLENGES, "by a request", "http-01"),

    REDIRECTS_REMAP(MetricFamily.REDIRECTS, "by a remap rule that redirects", "remap"),
    REDIRECTS_REFERER(MetricFamily.REDIRECTS, "the request's Referer does not match referers of the rule", "referer"),
    REDIRECTS_NO_HOST(MetricFamily.REDIRECTS, "without Host and not mapped, by no_host_url_redirect", "no-host"),
    REDIRECTS_RULES(MetricFamily.REDIRECTS, "by the action redirect of an element of rules", "rules"),

    RULE_ANSWERS(MetricFamily.RULE_ANSWERS, "requests answered by a rule"),

    MIRRORED_SENT(ExtensionMetric.MIRRORED_REQUESTS, "answered by the other origin, with any status", "sent"),
    MIRRORED_DROPPED(
            ExtensionMetric.MIRRORED_REQUESTS, "not sent: too many copies in progress, or too much content", "dropped"),
    MIRRORED_FAILED(ExtensionMetric.MIRRORED_REQUESTS, "the other origin did not answer completely", "failed"),
    ESI_PAGES_ASSEMBLED(
            ExtensionMetric.ESI_PAGES, "assembled with all fragments that they need, and sent", "assembled"),
    ESI_PAGES_FAILED_DOCUMENT(
            ExtensionMetric.ESI_PAGES,
            "refused: faulty or unsupported markup, a content coding, or an incomplete document",
            "failed_document"),
    ESI_PAGES_FAILED_FRAGMENT(
            ExtensionMetric.ESI_PAGES, "refused: a fragment that the page needs failed", "failed_fragment"),
    ESI_PAGES_FAILED_LIMIT(ExtensionMetric.ESI_PAGES, "refused: a limit of esi was reached", "failed_limit"),
    ESI_PAGES_FAILED_MEMORY(ExtensionMetric.ESI_PAGES, "refused: limits.memory_esi was reached", "failed_memory"),
    ESI_PAGES_FAILED_INTERNAL(ExtensionMetric.ESI_PAGES, "failed with an internal error", "failed_internal"),
    ESI_FRAGMENTS_INCLUDED(ExtensionMetric.ESI_FRAGMENTS, "complete", "included"),
    ESI_FRAGMENTS_FAILED(
            ExtensionMetric.ESI_FRAGMENTS,
            "failed, or not requested because of a limit; an alternative or nothing may replace it",
            "failed"),
    CORS_PREFLIGHTS(ExtensionMetric.CORS_PREFLIGHTS, "permitted"),

    FAST_LANE_ANSWERED(MetricFamily.FAST_LANE_REQUESTS, "requests answered without an exchange object"),
    FAST_LANE_PROMOTED(MetricFamily.FAST_LANE_MOVES, "a request needs more than a hit in RAM", "promoted"),
    FAST_LANE_RETURNED(MetricFamily.FAST_LANE_MOVES, "the connection was idle", "returned"),

    LOOKUPS_RAM(MetricFamily.CACHE_LOOKUPS, "found in RAM", "ram"),
    LOOKUPS_DISK(MetricFamily.CACHE_LOOKUPS, "found on disk", "disk"),
    LOOKUPS_FILLING(MetricFamily.CACHE_LOOKUPS, "another request was fetching the response", "filling"),
    LOOKUPS_ABSENT(MetricFamily.CACHE_LOOKUPS, "not stored", "absent"),

    COLLAPSED_SERVED(MetricFamily.COLLAPSED_REQUESTS, "answered from the other request's fetch", "served"),
    COLLAPSED_TIMEOUT(MetricFamily.COLLAPSED_REQUESTS, "waited too long and went to the origin", "timeout"),
    COLLAPSED_UNCACHEABLE(
            MetricFamily.COLLAPSED_REQUESTS,
            "did not wait, because a recent response for the key could not be stored",
            "uncacheable"),
    COLLAPSED_FAILED(
            MetricFamily.COLLAPSED_REQUESTS, "the other fetch failed, or its response may not be shared", "failed"),

    FILLS_STORED(MetricFamily.FILLS, "stored", "stored"),
    FILLS_NOT_STORABLE(
            MetricFamily.FILLS,
            "storing is forbidden by the request, the response or the configuration",
            "not-storable"),
    FILLS_TOO_LARGE(MetricFamily.FILLS, "over cache.max_object_size", "too-large"),
    FILLS_OVER_SHARE(MetricFamily.FILLS, "over cache.object_share_max of its storage", "over-share"),
    FILLS_ORIGIN_FAILED(MetricFamily.FILLS, "the origin did not send the whole response", "origin-failed"),
    FILLS_RESUMED(
            MetricFamily.FILLS,
            "the origin broke off, or the stored response could not be read, and the rest was fetched by range",
            "resumed"),
    FILLS_CLIENT_LEFT(
            MetricFamily.FILLS,
            "the client left, and the settings cache.background_fill_* ended the fetch",
            "client-left"),
    FILLS_INVALIDATED(MetricFamily.FILLS, "purged or invalidated while it ran", "invalidated"),
    FILLS_STORE_FAILED(MetricFamily.FILLS, "the disk failed or could not keep up", "store-failed"),

    LEAK_GUARD_AUTHORIZATION(
            ExtensionMetric.LEAK_GUARD,
            "the request had Authorization, and the response permits no sharing",
            "authorization",
            "refused"),
    LEAK_GUARD_COOKIES(
            ExtensionMetric.LEAK_GUARD,
            "excluded because of cookies or credentials, by cache_responses_to_cookies or"
                    + " guessed_lifetime_with_cookies",
            "cookies",
            "refused"),
    LEAK_GUARD_TYPE(
            ExtensionMetric.LEAK_GUARD, "HTML or JSON for a URL that looks like a static file", "type", "refused"),
    LEAK_GUARD_TYPE_STORED(
            ExtensionMetric.LEAK_GUARD,
            "HTML or JSON for a URL that looks like a static file, with cache.leak_guard: warn",
            "type",
            "stored"),

    PURGES_FOUND(MetricFamily.PURGES, "a stored response was removed", "found"),
    PURGES_ABSENT(MetricFamily.PURGES, "nothing was stored", "absent"),
    PURGES_UNSUPPORTED(MetricFamily.PURGES, "an unsupported pattern was requested", "unsupported"),
    PURGES_FAILED(MetricFamily.PURGES, "could not be written to disk", "failed"),
    PURGES_UNDONE(MetricFamily.PURGES, "a soft purge was undone", "undone"),
    PURGES_CANCELLED(MetricFamily.PURGES, "a purge by pattern was cancelled", "cancelled"),
    COPIES_EXPORTED(MetricFamily.COPIES, "read for millctl cache export", "exported"),
    COPIES_IMPORTED(MetricFamily.COPIES, "stored by millctl cache import", "imported"),
    COPIES_REFUSED(MetricFamily.COPIES, "refused by millctl cache import, which prints the reason", "refused"),
    COMPRESSED_BR(MetricFamily.COMPRESSED, "encoded with Brotli", "br"),
    COMPRESSED_ZSTD(MetricFamily.COMPRESSED, "encoded with Zstandard", "zstd"),
    COMPRESSED_GZIP(MetricFamily.COMPRESSED, "encoded with gzip", "gzip"),
    COMPRESSED_DCB(MetricFamily.COMPRESSED, "encoded with Brotli and a dictionary", "dcb"),
    COMPRESSED_DCZ(MetricFamily.COMPRESSED, "encoded with Zstandard and a dictionary", "dcz"),
    COMPRESSION_PLAIN(MetricFamily.COMPRESSED, "passed without a content coding", "none"),
    COMPRESSION_IN_BR(MetricFamily.COMPRESSION_IN, "encoded with Brotli", "br"),
    COMPRESSION_IN_ZSTD(MetricFamily.COMPRESSION_IN, "encoded with Zstandard", "zstd"),
    COMPRESSION_IN_GZIP(MetricFamily.COMPRESSION_IN, "encoded with gzip", "gzip"),
    COMPRESSION_IN_DCB(MetricFamily.COMPRESSION_IN, "encoded with Brotli and a dictionary", "dcb"),
    COMPRESSION_IN_DCZ(MetricFamily.COMPRESSION_IN, "encoded with Zstandard and a dictionary", "dcz"),
    COMPRESSION_OUT_BR(MetricFamily.COMPRESSION_OUT, "made by Brotli", "br"),
    COMPRESSION_OUT_ZSTD(MetricFamily.COMPRESSION_OUT, "made by Zstandard", "zstd"),
    COMPRESSION_OUT_GZIP(MetricFamily.COMPRESSION_OUT, "made by gzip", "gzip"),
    COMPRESSION_OUT_DCB(MetricFamily.COMPRESSION_OUT, "made by Brotli with a dictionary", "dcb"),
    COMPRESSION_OUT_DCZ(MetricFamily.COMPRESSION_OUT, "made by Zstandard with a dictionary", "dcz"),
    DICTIONARY_USED(ExtensionMetric.DICTIONARY_REQUESTS, "requests for which the dictionary may be used", "used"),
    DICTIONARY_OTHER(
            ExtensionMetric.DICTIONARY_REQUESTS,
            "requests that match or match-dest excludes, or from a script or image of another site",
            "no-match"),
    DICTIONARY_UNKNOWN(
            ExtensionMetric.DICTIONARY_REQUESTS,
            "requests whose dictionary is not in memory, is stale or purged, or is named without TLS",
            "unknown"),
    VARIANTS_DROPPED(MetricFamily.VARIANTS_DROPPED, "made room for newer variants"),
    PURGES_ALL(MetricFamily.SCOPED_PURGES, "everything", "all"),
    PURGES_HOST(MetricFamily.SCOPED_PURGES, "all of a host", "host"),
    PURGES_PREFIX(MetricFamily.SCOPED_PURGES, "all responses of a host below a path", "prefix"),
    PURGES_GROUP(MetricFamily.SCOPED_PURGES, "a cache group", "group"),
    PURGES_TAG(MetricFamily.SCOPED_PURGES, "tags", "tag"),
    PURGES_PATTERN(MetricFamily.SCOPED_PURGES, "responses for which a condition holds", "pattern"),
    PURGES_URL_SOFT(MetricFamily.SCOPED_PURGES, "one URL, by a soft purge", "url"),
    INVALIDATIONS(MetricFamily.INVALIDATIONS, "by an unsafe request"),
    INVALIDATIONS_GROUP(
            MetricFamily.GROUP_INVALIDATIONS, "groups that the response to an unsafe request named", "done"),
    INVALIDATIONS_GROUP_FAILED(
            MetricFamily.GROUP_INVALIDATIONS, "responses whose groups could not be written to disk", "not-durable"),

    ORIGIN_REQUESTS_FETCH(OriginMetric.REQUESTS, "for a whole response", "fetch"),
    ORIGIN_REQUESTS_VALIDATION(OriginMetric.REQUESTS, "conditional, for a stored response", "validation"),
    ORIGIN_RETRIES(OriginMetric.RETRIES, "sent again"),
    ORIGIN_WAITS_EVENT_LOOP(OriginMetric.WAITS, "over origin.connections_max of an event loop", "event-loop"),
    ORIGIN_WAITS_PROCESS(OriginMetric.WAITS, "over origin.connections_total_max", "process"),
    ORIGIN_HTTP2_CONNECTIONS(OriginMetric.HTTP2_CONNECTIONS, "open, in use or not"),
    ORIGIN_HTTP2_CONNECTIONS_OPENED(OriginMetric.HTTP2_CONNECTIONS_OPENED, "by ALPN or prior knowledge"),
    ORIGIN_HTTP2_STREAMS(OriginMetric.HTTP2_STREAMS, "under way"),
    ORIGIN_HTTP2_REQUESTS(OriginMetric.HTTP2_REQUESTS, "sent, repeated requests included"),
    ORIGIN_HTTP2_NOT_PROCESSED(OriginMetric.HTTP2_NOT_PROCESSED, "REFUSED_STREAM, or GOAWAY with a lower stream"),
    ORIGIN_TRIES_MORE(OriginMetric.TRIES, "sent to another host of the group"),
    ORIGIN_DOWN_STALE(OriginMetric.DOWN_STALE, "answered with a stale response"),
    OVERLOAD_ANSWERS(MetricFamily.OVERLOAD_ANSWERS, "answered with a stale response"),
    DNS_LOOKUPS_CACHED(OriginMetric.DNS_LOOKUPS, "a cached answer that is still valid", "cached"),
    DNS_LOOKUPS_ANSWERED(OriginMetric.DNS_LOOKUPS, "by a name server", "answered"),
    DNS_LOOKUPS_UNKNOWN(OriginMetric.DNS_LOOKUPS, "no such name or no address", "unknown"),
    DNS_LOOKUPS_STALE(
            OriginMetric.DNS_LOOKUPS,
            "an expired answer, because no name server answered, or dns.in_flight_max was reached",
            "stale"),
    DNS_LOOKUPS_FAILED(OriginMetric.DNS_LOOKUPS, "no name server answered, or dns.in_flight_max was reached", "failed"),
    ORIGIN_FAILURES_DNS(OriginMetric.FAILURES, "the name did not resolve", "dns"),
    ORIGIN_FAILURES_CONNECT(OriginMetric.FAILURES, "refused or unreachable", "connect"),
    ORIGIN_FAILURES_CONNECT_TIMEOUT(OriginMetric.FAILURES, "over timeouts.origin_connect", "connect-timeout"),
    ORIGIN_FAILURES_TLS(OriginMetric.FAILURES, "handshake or certificate", "tls"),
    ORIGIN_FAILURES_FIRST_BYTE_TIMEOUT(OriginMetric.FAILURES, "over timeouts.origin_first_byte", "first-byte-timeout"),
    ORIGIN_FAILURES_IDLE_TIMEOUT(OriginMetric.FAILURES, "over timeouts.origin_idle", "idle-timeout"),
    ORIGIN_FAILURES_CLOSED(OriginMetric.FAILURES, "closed before the response was complete", "closed"),
    ORIGIN_FAILURES_MALFORMED(
            OriginMetric.FAILURES,
            "the response is not valid HTTP, or its head is over limits.response_header",
            "malformed"),
    ORIGIN_FAILURES_LIMIT(
            OriginMetric.FAILURES, "over origin.connections_max or origin.connections_total_max", "limit"),
    ORIGIN_FAILURES_TUNNEL_LIMIT(OriginMetric.FAILURES, "over origin.tunnels_max", "tunnel-limit"),
    ORIGIN_FAILURES_NONE_UP(OriginMetric.FAILURES, "no host of the group is up", "none-up"),
    ORIGIN_FAILURES_MEMORY(
            OriginMetric.FAILURES,
            "the memory for bytes in flight was used up, before the request or during the response",
            "memory-full"),

    TRANSACTION_TIMEOUTS_REFUSED(MetricFamily.TRANSACTION_TIMEOUTS, "without a response yet: 504", "refused"),
    TRANSACTION_TIMEOUTS_STALE(MetricFamily.TRANSACTION_TIMEOUTS, "answered with a stale response", "stale"),
    TRANSACTION_TIMEOUTS_BROKEN_OFF(MetricFamily.TRANSACTION_TIMEOUTS, "broken off within the response", "broken-off"),

    SLOW_CLIENTS_TIMEOUT(MetricFamily.SLOW_CLIENTS, "read nothing for timeouts.client_body", "send-timeout"),
    SLOW_CLIENTS_RATE(MetricFamily.SLOW_CLIENTS, "read less than limits.response_rate_min", "send-rate"),
    SLOW_CLIENTS_MEMORY(
            MetricFamily.SLOW_CLIENTS, "slow while the memory for bytes in flight was scarce", "slow-memory"),
    SLOW_CLIENTS_ORIGIN(
            MetricFamily.SLOW_CLIENTS,
            "read nothing, while another request needed the connection to the origin",
            "slow-origin");

    private static final Counter[] RESPONSES_BY_CLASS = {
        RESPONSES_NONE, RESPONSES_1XX, RESPONSES_2XX, RESPONSES_3XX, RESPONSES_4XX, RESPONSES_5XX
    };
    private static final Counter[] REQUESTS_BY_RESULT = requestsByResult();

    @SuppressWarnings("ImmutableEnumChecker") // each is a constant of an enum
    private final Metric family;

    private final String description;

    @SuppressWarnings("ImmutableEnumChecker") // created by List.of
    private final List<String> labelValues;

    Counter(Metric family, String description, String... labelValues) {
        this.family = family;
        this.description = description;
        this.labelValues = List.of(labelValues);
    }

    private static Counter[] requestsByResult() {
        CacheResult[] results = CacheResult.values();
        Counter[] counters = new Counter[results.length];
        for (CacheResult result : results) {
            counters[result.index()] = valueOf("REQUESTS_" + result.name());
        }
        return counters;
    }

    /** Index in arrays with one element per constant. */
    @SuppressWarnings("EnumOrdinal") // used only within the process: nothing depends on the order of the constants
    int index() {
        return ordinal();
    }

    /** The metric family of this series. */
    public Metric family() {
        return family;
    }

    /** A short description of the counted events. */
    public String description() {
        return description;
    }

    /** The values of the family's labels, in their order. */
    public List<String> labelValues() {
        return labelValues;
    }

    /** Returns the counter of requests that have the given cache result. */
    public static Counter requests(CacheResult result) {
        return REQUESTS_BY_RESULT[result.index()];
    }

    /**
     * Returns the counter of responses with this status code; {@link #RESPONSES_NONE} for 0 and codes outside 100 to
     * 599.
     */
    public static Counter responses(int status) {
        int statusClass = status / 100;
        return statusClass >= 1 && statusClass <= 5 ? RESPONSES_BY_CLASS[statusClass] : RESPONSES_NONE;
    }
}
