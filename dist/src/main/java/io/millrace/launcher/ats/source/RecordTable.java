package io.millrace.launcher.ats.source;

import io.millrace.launcher.importing.source.Quantity;
import io.millrace.launcher.importing.source.Quantity.BadValueException;
import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.key.ConfigKey;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The table of Traffic Server records (settings) that have keys in Millrace. Contains the defaults of Traffic Server
 * 10.2. Immutable.
 */
public final class RecordTable {
    /** The type of a record's value. */
    enum Kind {
        SECONDS,
        SIZE,
        INTEGER,
        DECIMAL,
        FLAG,
        /** A number: the index of a word in the list of values that the Millrace key accepts. */
        WORD,
        TEXT,
        /** Words separated by white space, commas or semicolons. */
        LIST
    }

    /**
     * The mapping of one record. Immutable.
     *
     * @param name without {@code proxy.config.}
     * @param atsDefault Traffic Server's default, if Millrace has another default; null otherwise
     * @param note a difference in behaviour, for the report; empty for none
     */
    public record Mapping(
            String name,
            Kind kind,
            List<String> keys,
            @Nullable String atsDefault,
            String note) {
        /**
         * Converts the value to Millrace's syntax. Always returns an empty list for {@code LIST}; see {@link #words}.
         */
        public String convert(String key, String value) throws BadValueException {
            return switch (kind) {
                case SECONDS -> Quantity.seconds(Quantity.integer(value));
                case SIZE -> Quantity.size(Quantity.integer(value));
                case INTEGER -> Long.toString(Quantity.integer(value));
                case DECIMAL -> Quantity.decimal(value);
                case FLAG -> flag(key, Quantity.integer(value) != 0);
                case WORD -> word(key, Quantity.integer(value));
                case TEXT -> value;
                case LIST -> "[]";
            };
        }

        /** Returns the words of a list; null for any other kind. */
        @Nullable
        public List<String> words(String value) {
            return kind != Kind.LIST ? null : split(value);
        }

        /** Converts a flag. Some keys have two words instead of true and false; the first word means 0. */
        private static String flag(String key, boolean set) throws BadValueException {
            ConfigKey<?> millraceKey = ConfigCatalog.find(key);
            boolean words = millraceKey != null && millraceKey.type().words() != null;
            return words ? word(key, set ? 1 : 0) : Boolean.toString(set);
        }

        private static String word(String key, long number) throws BadValueException {
            ConfigKey<?> millraceKey = ConfigCatalog.find(key);
            List<String> words = millraceKey == null ? null : millraceKey.type().words();
            if (words == null || number < 0 || number >= words.size()) {
                throw new BadValueException("'" + number + "' is not a valid value");
            }
            return words.get((int) number);
        }
    }

    private static final Map<String, Mapping> ALL = new LinkedHashMap<>();

    static {
        addRoutes();
        addFreshness();
        addStoring();
        addFetching();
        addTimeouts();
        addLimits();
        addNames();
        addLogs();
        addHttp2();
    }

    private RecordTable() {}

    /** Returns the mapping of a record; null if there is none. */
    public static @Nullable Mapping find(String name) {
        return ALL.get(name);
    }

    /** Returns all records that have a key. */
    public static Collection<Mapping> all() {
        return ALL.values();
    }

    /** Splits the value of a list record into words. */
    public static List<String> split(String value) {
        List<String> words = new ArrayList<>();
        for (String word : value.split("[\\s,;]+", -1)) {
            if (!word.isEmpty()) {
                words.add(word);
            }
        }
        return words;
    }

    private static void add(String name, Kind kind, @Nullable String atsDefault, String... keys) {
        ALL.put(name, new Mapping(name, kind, List.of(keys), atsDefault, ""));
    }

    private static void addNoted(String name, Kind kind, @Nullable String atsDefault, String note, String... keys) {
        ALL.put(name, new Mapping(name, kind, List.of(keys), atsDefault, note));
    }

    private static void addRoutes() {
        add("url_remap.pristine_host_hdr", Kind.FLAG, "0", "pristine_host_hdr");
        add("header.parse.no_host_url_redirect", Kind.TEXT, null, "no_host_url_redirect");
        addNoted(
                "proxy_name",
                Kind.TEXT,
                null,
                "proxies that pass requests to each other need different names",
                "via.name");
        add("http.insert_request_via_str", Kind.WORD, "1", "via.request");
        add("http.proxy_protocol_allowlist", Kind.LIST, null, "access.proxy_protocol_allow");
        add("proxy_protocol.max_header_size", Kind.SIZE, null, "limits.proxy_protocol_header");
    }

    private static void addFreshness() {
        add("http.cache.http", Kind.FLAG, "1", "cache.enabled");
        add("http.cache.required_headers", Kind.WORD, "2", "cache.required_headers");
        add("http.cache.when_to_revalidate", Kind.WORD, "0", "cache.when_to_revalidate");
        add("http.cache.heuristic_lm_factor", Kind.DECIMAL, "0.10", "cache.heuristic_lm_factor");
        add("http.cache.heuristic_min_lifetime", Kind.SECONDS, "3600", "cache.heuristic_min_lifetime");
        add("http.cache.heuristic_max_lifetime", Kind.SECONDS, "86400", "cache.heuristic_max_lifetime");
        add("http.cache.guaranteed_min_lifetime", Kind.SECONDS, "0", "cache.guaranteed_min_lifetime");
        add("http.cache.guaranteed_max_lifetime", Kind.SECONDS, "31536000", "cache.guaranteed_max_lifetime");
        add("http.cache.max_stale_age", Kind.SECONDS, "604800", "cache.max_stale_age");
        add("http.cache.ignore_client_no_cache", Kind.FLAG, "1", "cache.ignore_client_no_cache");
        add("http.cache.ignore_client_cc_max_age", Kind.FLAG, "1", "cache.ignore_client_max_age");
        add("http.cache.ims_on_client_no_cache", Kind.FLAG, "1", "cache.ims_on_client_no_cache");
        add("http.cache.ignore_server_no_cache", Kind.FLAG, "0", "cache.ignore_server_no_cache");
        add("http.cache.targeted_cache_control_headers", Kind.LIST, "", "cache.targeted_cache_control");
        add("http.negative_caching_enabled", Kind.FLAG, "0", "cache.negative_caching.enabled");
        add("http.negative_caching_lifetime", Kind.SECONDS, "1800", "cache.negative_caching.lifetime");
        add("http.negative_caching_list", Kind.LIST, null, "cache.negative_caching.list");
        add("http.negative_revalidating_enabled", Kind.FLAG, "1", "cache.negative_revalidating.enabled");
        add("http.negative_revalidating_lifetime", Kind.SECONDS, "1800", "cache.negative_revalidating.lifetime");
        add("http.negative_revalidating_list", Kind.LIST, null, "cache.negative_revalidating.list");
    }

    private static void addStoring() {
        add("cache.ram_cache.use_seen_filter", Kind.FLAG, null, "cache.ram_admission");
        addNoted(
                "http.cache.ignore_authentication",
                Kind.FLAG,
                "0",
                "responses to requests with Authorization are stored only with public, s-maxage or must-revalidate, regardless of the setting",
                "cache.ignore_authentication",
                "cache.reuse_with_authorization");
        add("http.cache.cache_responses_to_cookies", Kind.WORD, "1", "cache.cache_responses_to_cookies");
        add("http.cache.cache_urls_that_look_dynamic", Kind.FLAG, "1", "cache.cache_urls_that_look_dynamic");
        add("http.cache.post_method", Kind.FLAG, "0", "cache.post_method");
        add("http.cache.generation", Kind.INTEGER, "-1", "cache.key.generation");
        add("cache.limits.http.max_alts", Kind.INTEGER, "5", "cache.variants_max");
        add("cache.max_doc_size", Kind.SIZE, "0", "cache.max_object_size");
        add("cache.permit.pinning", Kind.FLAG, "0", "cache.permit_pinning");
        add("cache.dir.sync_frequency", Kind.SECONDS, null, "store.sync_interval");
    }

    private static void addFetching() {
        add("http.cache.range.lookup", Kind.FLAG, "1", "cache.range.lookup");
        add("http.cache.range.write", Kind.FLAG, "0", "cache.range.write");
        add("cache.enable_read_while_writer", Kind.WORD, "1", "cache.read_while_writing");
        add("http.background_fill_active_timeout", Kind.SECONDS, "0", "cache.background_fill_active_timeout");
        add(
                "http.background_fill_completed_threshold",
                Kind.DECIMAL,
                "0.0",
                "cache.background_fill_completed_threshold");
    }

    private static void addTimeouts() {
        add("http.accept_no_activity_timeout", Kind.SECONDS, "120", "timeouts.client_header");
        add("http.keep_alive_no_activity_timeout_in", Kind.SECONDS, "120", "timeouts.client_keep_alive");
        add("http.keep_alive_no_activity_timeout_out", Kind.SECONDS, "120", "origin.keep_alive");
        add("http.transaction_no_activity_timeout_in", Kind.SECONDS, "30", "timeouts.client_body");
        add(
                "http.transaction_no_activity_timeout_out",
                Kind.SECONDS,
                "30",
                "timeouts.origin_first_byte",
                "timeouts.origin_idle");
        add("http.transaction_active_timeout_in", Kind.SECONDS, "900", "timeouts.transaction");
        add("http.connect_attempts_timeout", Kind.SECONDS, "30", "timeouts.origin_connect");
        add("websocket.no_activity_timeout", Kind.SECONDS, "600", "timeouts.tunnel_idle");
        add("websocket.active_timeout", Kind.SECONDS, "3600", "timeouts.tunnel_max");
        add("stop.shutdown_timeout", Kind.SECONDS, null, "timeouts.drain");
    }

    private static void addLimits() {
        add("http.request_line_max_size", Kind.SIZE, "65535", "limits.request_line");
        add("http.request_header_max_size", Kind.SIZE, "32768", "limits.request_header");
        add("http.response_header_max_size", Kind.SIZE, "32768", "limits.response_header");
        add("http.max_post_size", Kind.SIZE, "0", "limits.request_body");
        add("net.per_client.max_connections_in", Kind.INTEGER, "0", "limits.per_client.connections");
    }

    private static void addNames() {
        add("dns.nameservers", Kind.LIST, null, "dns.name_servers");
        addNoted(
                "dns.lookup_timeout",
                Kind.SECONDS,
                null,
                "Millrace applies this timeout to each name server, and then queries the next one",
                "dns.query_timeout");
        add("srv_enabled", Kind.FLAG, null, "dns.srv");
        add("dns.max_dns_in_flight", Kind.INTEGER, "2048", "dns.in_flight_max");
        add("hostdb.fail.timeout", Kind.SECONDS, "0", "dns.negative_ttl");
        add("hostdb.serve_stale_for", Kind.SECONDS, "0", "dns.serve_stale_for");
        add("hostdb.host_file.path", Kind.TEXT, null, "dns.hosts_file");
        addNoted(
                "http.down_server.cache_time",
                Kind.SECONDS,
                "60",
                "a failed address is tried after all others for this time; Traffic Server does not try it",
                "dns.down_time");
    }

    private static void addLogs() {
        addNoted(
                "log.rolling_min_count",
                Kind.INTEGER,
                null,
                "Traffic Server keeps at least this many, Millrace keeps at most this many; 0 keeps all",
                "log.access.rotate_keep");
    }

    private static void addHttp2() {
        add("http2.max_concurrent_streams_in", Kind.INTEGER, null, "http2.streams");
        add("http2.max_header_list_size", Kind.SIZE, null, "http2.header_list");
        add("http2.initial_window_size_in", Kind.SIZE, null, "http2.stream_window");
        add("http2.max_concurrent_streams_out", Kind.INTEGER, null, "origin.http2_streams");
        add("http2.initial_window_size_out", Kind.SIZE, null, "origin.http2_stream_window");
    }
}
