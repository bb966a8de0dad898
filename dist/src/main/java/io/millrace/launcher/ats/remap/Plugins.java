package io.millrace.launcher.ats.remap;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.source.Words;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.SourceFile;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The notes of the import about Traffic Server plugins. A note names the equivalent in Millrace, if there is one.
 * Stateless.
 */
public final class Plugins {
    /** The plugin whose configuration files are imported as {@code rules}. */
    static final String HEADER_REWRITE = "header_rewrite.so";

    /** The plugin that verifies signed URLs. Its file of keys is used unchanged. */
    static final String URL_SIG = "url_sig.so";

    /** Plugins whose function Millrace has without a plugin. */
    private static final Set<String> BUILT_IN = Set.of(
            "slice.so",
            "cache_range_requests.so",
            "background_fetch.so",
            "cache_fill.so",
            "stats_over_http.so",
            "healthchecks.so",
            "xdebug.so",
            "cache_promote.so",
            "cache_inspector.so");

    /**
     * Plugins that deny clients. Without the plugin, a rule would admit all clients, so the imported rule denies all.
     */
    private static final Set<String> GUARDS = Set.of(
            "access_control.so",
            "authproxy.so",
            "basic_auth.so",
            "blacklist_0.so",
            "blacklist_1.so",
            "denylist_0.so",
            "denylist_1.so",
            "geoip_acl.so",
            "maxmind_acl.so",
            "secure_link.so",
            "uri_signing.so",
            "url_sig.so");

    /** Plugins whose configuration files may refuse requests. */
    private static final Set<String> MAY_REFUSE =
            Set.of("cripts.so", "libcripts.so", "regex_remap.so", "tslua.so", "txn_box.so", "wasm.so");

    private static final Map<String, String> ABOUT = Map.ofEntries(
            Map.entry("slice.so", "long responses are fetched and stored in ranges, see docs/guide/caching.md"),
            Map.entry(
                    "cache_range_requests.so",
                    "long responses are fetched and stored in ranges, see docs/guide/caching.md"),
            Map.entry("background_fetch.so", "cache.range.write: true fetches whole responses for range requests"),
            Map.entry("cache_fill.so", "cache.range.write: true fetches whole responses for range requests"),
            Map.entry("stats_over_http.so", "metrics are in the admin API and in millctl metric get"),
            Map.entry("healthchecks.so", "readiness is in the admin API and in millctl status"),
            Map.entry("xdebug.so", "every response has Cache-Status; millctl cache lookup URL shows more"),
            Map.entry("cache_promote.so", "store.disk_admission selects the responses that are stored on disk"),
            Map.entry(
                    "regex_revalidate.so",
                    "millctl purge --prefix, --host and --group invalidate at once; --soft marks as stale"),
            Map.entry("remap_purge.so", "use millctl purge, or allow PURGE requests with purge.allow"),
            Map.entry(
                    "stale_response.so",
                    "set cache.stale_while_revalidate and cache.stale_if_error, globally or in a rule"),
            Map.entry("cachekey.so", "set cache.key, globally or in a rule"),
            Map.entry("conf_remap.so", "write its settings into the rule in millrace.yaml"),
            Map.entry(
                    "regex_remap.so",
                    "not translated; write elements of rules with rewrite or redirect, and when: path =~"),
            Map.entry("tslua.so", "Millrace has no scripting language"),
            Map.entry(
                    "rate_limit.so",
                    "write request_limits for the rate of requests; limits.per_client limits the requests in progress of one client, origin.connections_max the connections to origins"),
            Map.entry("maxmind_acl.so", "filters match addresses, not countries"),
            Map.entry("geoip_acl.so", "filters match addresses, not countries"),
            Map.entry("access_control.so", "tokens of clients are not verified"),
            Map.entry("secure_link.so", "its form of signed URLs is not verified (write signed_urls)"),
            Map.entry("basic_auth.so", "its passwords are not imported (write basic_auth)"),
            Map.entry("url_sig.so", "url_sig.so belongs to a rule, with @plugin"),
            Map.entry("uri_signing.so", "tokens in URLs are not verified (write signed_urls)"),
            Map.entry("authproxy.so", "requests are not checked with an external service"),
            Map.entry("icap.so", "bodies are not inspected"),
            Map.entry(
                    "multiplexer.so",
                    "the importer does not translate the plugin; write mirror with the origin that gets the copies"),
            Map.entry("prefetch.so", "Millrace fetches nothing that no client has requested"),
            Map.entry("origin_server_auth.so", "requests to origins are not signed"),
            Map.entry(
                    "statichit.so",
                    "the importer does not translate the plugin; write an element of rules with answer"),
            Map.entry("traffic_dump.so", "requests are not recorded"),
            Map.entry("otel_tracer.so", "set traces.endpoint to send spans to a collector, see docs/guide/traces.md"));

    /** The parameter of header_rewrite that names a geolocation database. */
    static final String GEO_PATH = "--geo-db-path=";

    /** The plugin that assembles pages. */
    static final String ESI = "esi.so";

    /** The differences between the plugin {@link #ESI} and Millrace. */
    static final String ESI_NOTE =
            "esi.so: the origin asks with Surrogate-Control: content=\"ESI/1.0\" instead of X-Esi; esi:choose and variables"
                    + " are not supported";

    private Plugins() {}

    /**
     * Writes the path of the geolocation database into the configuration.
     *
     * @param parameter the parameter of header_rewrite, with the path as its value
     * @param source the line of the parameter
     */
    static void locations(ImportState state, String parameter, Entry source) {
        state.draft()
                .root()
                .put("geo.database", parameter.substring(GEO_PATH.length()))
                .from(source);
    }

    static boolean isBuiltIn(String plugin) {
        return BUILT_IN.contains(plugin);
    }

    /** Returns true if rules with the plugin deny all requests in Millrace. */
    static boolean deniesClients(String plugin) {
        return GUARDS.contains(plugin);
    }

    static String about(String plugin) {
        String about = ABOUT.getOrDefault(plugin, "Millrace loads no plugins of Traffic Server");
        if (deniesClients(plugin)) {
            return about
                    + ", so the affected rules deny all requests; remove the filter when another program does this check";
        }
        return MAY_REFUSE.contains(plugin) ? about + "; if the plugin refuses requests, write filters" : about;
    }

    /**
     * Imports plugin.config. Adds a note to each line. For a plugin that denies clients, all rules deny all requests,
     * and the forward proxy is disabled.
     *
     * @param remap the rules to which the plugins apply
     */
    public static void read(ImportState state, RemapRules remap) {
        SourceFile file = state.read("plugin.config");
        if (file == null) {
            return;
        }
        List<RemapRule> rules = remap.all();
        for (Words words : Words.of(file)) {
            String path = words.at(0);
            String plugin = path.substring(path.lastIndexOf('/') + 1);
            if (plugin.equals(HEADER_REWRITE)) {
                words.words().stream()
                        .skip(1)
                        .filter(word -> word.startsWith(GEO_PATH))
                        .forEach(word -> locations(state, word, words.entry()));
                words.words().stream()
                        .skip(1)
                        .filter(word -> !word.startsWith("-"))
                        .forEach(name -> remap.rewrites().write(state.draft().root(), name, words.entry(), true));
            } else if (CompressImport.isCompress(plugin)) {
                remap.compression().writeForAll(words, rules);
            } else if (plugin.equals(ESI)) {
                state.draft().root().put("esi.enabled", "true").from(words.entry());
                words.entry().note(ESI_NOTE);
            } else if (isBuiltIn(plugin)) {
                words.entry().note(about(plugin));
            } else {
                words.entry().notMapped(about(plugin));
            }
            if (deniesClients(plugin)) {
                rules.forEach(rule -> rule.denyAll(words.entry()));
                if (state.draft().root().find("forward_proxy.enabled") != null) {
                    state.draft().root().put("forward_proxy.enabled", "false").from(words.entry());
                }
            }
        }
    }
}
