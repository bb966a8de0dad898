package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.ConfigParts;
import io.millrace.proxy.config.OtherValues;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.LogKeys;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.extension.load.ExtensionJars;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests every key of the catalogue in a running proxy: live keys change the snapshot of settings that event loops read,
 * and other keys are reported as requiring another proxy.
 */
class LiveSettingsTest {
    /**
     * Live keys that are not in the snapshot of settings, and their readers. Each has its own test. A new key must be
     * in the snapshot or here.
     */
    private static final Map<String, String> READ_ELSEWHERE = new TreeMap<>(Map.ofEntries(
            Map.entry("include", "the launcher, at each reload"),
            Map.entry("admin.token_file", "the launcher, at each reload"),
            Map.entry("admin.tokens", "the launcher, at each reload"),
            Map.entry("admin.tls.certificate", "the launcher, at each reload"),
            Map.entry("admin.tls.key", "the launcher, at each reload"),
            Map.entry("admin.tls.client_ca_file", "the launcher, at each reload"),
            Map.entry("admin.tls.client_revocation_file", "the launcher, at each reload"),
            Map.entry("alarms.certificate_days", "ProxyAlarms, at each call"),
            Map.entry("alarms.exec.command", "the launcher, at each change of an alarm"),
            Map.entry("alarms.exec.timeout", "the launcher, at each change of an alarm"),
            Map.entry("alarms.exec.runs_per_minute", "the launcher, at each change of an alarm"),
            Map.entry("alarms.syslog.address", "the launcher, at each change of an alarm"),
            Map.entry("alarms.syslog.facility", "the launcher, at each change of an alarm"),
            Map.entry("alarms.syslog.app_name", "the launcher, at each change of an alarm"),
            Map.entry("alarms.syslog.ca_file", "the launcher, at each change of an alarm"),
            Map.entry("alarms.syslog.certificate", "the launcher, at each change of an alarm"),
            Map.entry("alarms.syslog.key", "the launcher, at each change of an alarm"),
            Map.entry("admin.history", "the launcher, at each reload"),
            Map.entry("admin.hosts", "HostFigures, told at each reload"),
            Map.entry("admin.config_history", "the launcher, when it writes an entry"),
            Map.entry("timeouts.drain", "the launcher, when a worker is to go"),
            Map.entry("purge.history", "PurgeHistory, at each purge"),
            Map.entry("purge.undo_window", "Invalidator, at each purge and undo"),
            Map.entry("limits.connections", "ConnectionSet, at each connection"),
            Map.entry("limits.memory_in_flight", "InFlightMemory, at each measurement"),
            Map.entry("limits.response_rate_min", "SlowClients, at each tick"),
            Map.entry("worker.fast_lane", "FastLane, at each connection"),
            Map.entry("worker.warm_up_limit", "the next worker, before it takes over"),
            Map.entry("store.scrub_rate", "the store, told at each reload"),
            Map.entry("cache.curve", "the store, told at each reload"),
            Map.entry("cache.ram_admission", "the store, told at each reload"),
            Map.entry("log.slow_threshold", "LiveLog, told at each reload"),
            Map.entry("log.kept_requests", "LiveLog, told at each reload"),
            Map.entry("fleet.name", "the launcher, at each reload"),
            Map.entry("fleet.servers", "the launcher, at each reload"),
            Map.entry("fleet.node", "the launcher, at each reload"),
            Map.entry("fleet.tier", "the launcher, at each reload"),
            Map.entry("fleet.address", "the launcher, at each reload"),
            Map.entry("fleet.credentials_file", "the launcher, at each reload"),
            Map.entry("fleet.nkey_file", "the launcher, at each reload"),
            Map.entry("fleet.token_file", "the launcher, at each reload"),
            Map.entry("fleet.tls.ca_file", "the launcher, at each reload"),
            Map.entry("fleet.tls.certificate", "the launcher, at each reload"),
            Map.entry("fleet.tls.key", "the launcher, at each reload"),
            Map.entry("fleet.on_gap", "the launcher, at each reload"),
            Map.entry("fleet.replicas", "the launcher, at each reload"),
            Map.entry("fleet.outbox_size", "the launcher, at each reload"),
            Map.entry("fleet.config", "the launcher, at each reload"),
            Map.entry("fleet.config_public_key_file", "the launcher, at each reload"),
            Map.entry("basic_auth.enabled", "nobody without a file of users; LivePasswordsTest has one"),
            Map.entry("basic_auth.realm", "nobody without a file of users; LivePasswordsTest has one"),
            Map.entry("basic_auth.when", "nobody without a file of users; LivePasswordsTest has one"),
            Map.entry("cors.enabled", "nobody without origins; LiveEdgeTest has some"),
            Map.entry("cors.methods", "nobody without origins; LiveEdgeTest has some"),
            Map.entry("cors.headers", "nobody without origins; LiveEdgeTest has some"),
            Map.entry("cors.expose", "nobody without origins; LiveEdgeTest has some"),
            Map.entry("cors.credentials", "nobody without origins; LiveEdgeTest has some"),
            Map.entry("cors.max_age", "nobody without origins; LiveEdgeTest has some"),
            Map.entry("mirror.sample", "nobody without another origin; LiveEdgeTest has one"),
            Map.entry("mirror.bodies", "nobody without another origin; LiveEdgeTest has one"),
            Map.entry("mirror.body_max", "nobody without another origin; LiveEdgeTest has one"),
            Map.entry("mirror.connections", "nobody without another origin; LiveEdgeTest has one"),
            Map.entry("mirror.queue", "nobody without another origin; LiveEdgeTest has one"),
            Map.entry("mirror.tls.verify", "nobody without another origin; LiveOriginTlsTest has one"),
            Map.entry("mirror.tls.ca_file", "nobody without another origin; LiveOriginTlsTest has one"),
            Map.entry("mirror.tls.certificate", "nobody without another origin; LiveOriginTlsTest has one"),
            Map.entry("mirror.tls.key", "nobody without another origin; LiveOriginTlsTest has one"),
            Map.entry("mirror.tls.sni", "nobody without another origin; LiveOriginTlsTest has one"),
            Map.entry("mirror.tls.name", "nobody without another origin; LiveOriginTlsTest has one"),
            Map.entry("mirror.tls.min_version", "nobody without another origin; LiveOriginTlsTest has one"),
            Map.entry("jwt.enabled", "nobody without keys; LiveTokensTest has some"),
            Map.entry("jwt.issuer", "nobody without keys; LiveTokensTest has some"),
            Map.entry("jwt.audience", "nobody without keys; LiveTokensTest has some"),
            Map.entry("jwt.required_claims", "nobody without keys; LiveTokensTest has some"),
            Map.entry("jwt.cookie", "nobody without keys; LiveTokensTest has some"),
            Map.entry("jwt.forward", "nobody without keys; LiveTokensTest has some"),
            Map.entry("jwt.realm", "nobody without keys; LiveTokensTest has some"),
            Map.entry("jwt.clock_skew", "nobody without keys; LiveTokensTest has some"),
            Map.entry("jwt.when", "nobody without keys; LiveTokensTest has some"),
            Map.entry("authorize.enabled", "nobody without a server; LiveAuthorizeTest has one"),
            Map.entry("authorize.method", "nobody without a server; LiveAuthorizeTest has one"),
            Map.entry("authorize.send_fields", "nobody without a server; LiveAuthorizeTest has one"),
            Map.entry("authorize.receive_fields", "nobody without a server; LiveAuthorizeTest has one"),
            Map.entry("authorize.cache_key", "nobody without a server; LiveAuthorizeTest has one"),
            Map.entry("authorize.ttl", "nobody without a server; LiveAuthorizeTest has one"),
            Map.entry("authorize.negative_ttl", "nobody without a server; LiveAuthorizeTest has one"),
            Map.entry("authorize.timeout", "nobody without a server; LiveAuthorizeTest has one"),
            Map.entry("authorize.on_error", "nobody without a server; LiveAuthorizeTest has one"),
            Map.entry("authorize.on_limit", "nobody without a server; LiveAuthorizeTest has one"),
            Map.entry("authorize.forward", "nobody without a server; LiveAuthorizeTest has one"),
            Map.entry("authorize.when", "nobody without a server; LiveAuthorizeTest has one"),
            Map.entry("signed_urls.enabled", "nobody without keys; LiveSignedUrlsTest has some"),
            Map.entry("signed_urls.url", "nobody without keys; LiveSignedUrlsTest has some"),
            Map.entry("signed_urls.when", "nobody without keys; LiveSignedUrlsTest has some"),
            Map.entry("traces.endpoint", "Traces, told at each reload"),
            Map.entry("traces.sample", "Traces, told at each reload"),
            Map.entry("traces.slow_threshold", "Traces, told at each reload"),
            Map.entry("traces.service_name", "Traces, told at each reload"),
            Map.entry("traces.query", "Traces, told at each reload"),
            Map.entry("traces.compression", "Traces, told at each reload"),
            Map.entry("traces.headers_file", "Traces, told at each reload"),
            Map.entry("traces.tls.ca_file", "Traces, told at each reload"),
            Map.entry("traces.tls.certificate", "Traces, told at each reload"),
            Map.entry("traces.tls.key", "Traces, told at each reload"),
            Map.entry("filters", "the rules that name them, and access.filters"),
            Map.entry("tls.certificates", "CertificateStore, told at each reload"),
            Map.entry("tls.default_certificate", "CertificateStore, told at each reload"),
            Map.entry("tls.unknown_name", "CertificateStore, told at each reload"),
            Map.entry("tls.ticket_keys_file", "ServerTls, told at each reload"),
            Map.entry("tls.check_interval", "ServerTls, before each look"),
            Map.entry("tls.acme.names", "the launcher, and ServerTls at each reload"),
            Map.entry("tls.acme.email", "the launcher, and ServerTls at each reload"),
            Map.entry("tls.acme.accept_terms", "the launcher, and ServerTls at each reload"),
            Map.entry("tls.acme.issuers", "the launcher, and ServerTls at each reload"),
            Map.entry("tls.acme.ca_file", "the launcher, and ServerTls at each reload"),
            Map.entry("tls.acme.challenge", "ChallengeAnswers and ServerTls, at each reload"),
            Map.entry("tls.acme.dns_hook", "the launcher, and ServerTls at each reload"),
            Map.entry("tls.acme.dns_hook_timeout", "the launcher, and ServerTls at each reload"),
            Map.entry("tls.acme.profile", "the launcher, and ServerTls at each reload"),
            Map.entry("tls.acme.key_type", "the launcher, and ServerTls at each reload"),
            Map.entry("tls.acme.issuances_per_name_per_hour", "the launcher, and ServerTls at each reload"),
            Map.entry("tls.acme.storage", "the launcher, and ServerTls at each reload"),
            Map.entry("tls.acme.on_demand.ask", "the launcher, and ServerTls at each reload"),
            Map.entry("tls.acme.on_demand.wait", "the launcher, and ServerTls at each reload"),
            Map.entry("tls.acme.on_demand.pending_max", "the launcher, and ServerTls at each reload")));

    /**
     * Keys of list elements that are not live, each with a file before and after the change: {@code <before|after>}.
     */
    private static final Map<String, String> ELEMENTS = new TreeMap<>(Map.ofEntries(
            Map.entry("extensions[].name", "extensions: [{name: <a|b>}]"),
            Map.entry("extensions[].jar", "extensions: [{name: a, jar: <one|two>.jar}]"),
            Map.entry("extensions[].class", "extensions: [{name: a, class: <A|B>}]"),
            Map.entry("extensions[].on_error", "extensions: [{name: a, on_error: <open|closed>}]"),
            Map.entry("extensions[].deadline", "extensions: [{name: a, deadline: <1s|2s>}]"),
            Map.entry("extensions[].config", "extensions: [{name: a, config: {b: <1|2>}}]"),
            Map.entry("listen[].address", "listen: ['127.0.0.1:<1|2>']"),
            Map.entry("listen[].socket_mode", "listen: [{address: 'unix:/run/a.sock', socket_mode: '<0660|0666>'}]"),
            Map.entry("listen[].transparent", "listen: [{address: '127.0.0.1:1', transparent: <in|out>}]"),
            Map.entry("listen[].socket_owner", "listen: [{address: 'unix:/run/a.sock', socket_owner: <root|nobody>}]"),
            Map.entry(
                    "listen[].proxy_protocol",
                    "listen: [{address: '127.0.0.1:1', proxy_protocol: <off|accept>}]\naccess: {proxy_protocol_allow: 10.0.0.1}"),
            Map.entry(
                    "listen[].http2",
                    "listen: [{address: '127.0.0.1:1', http2: <true|false>, tls: {certificate: one.pem, key: key.pem}}]"),
            Map.entry("listen[].h2c", "listen: [{address: '127.0.0.1:1', h2c: <true|false>}]"),
            Map.entry(
                    "listen[].tls.enabled",
                    "listen: [{address: '127.0.0.1:1', tls: {enabled: <true|false>, certificate: one.pem, key: key.pem}}]"),
            Map.entry(
                    "listen[].tls.certificate",
                    "listen: [{address: '127.0.0.1:1', tls: {certificate: <one|two>.pem, key: key.pem}}]"),
            Map.entry(
                    "listen[].tls.key",
                    "listen: [{address: '127.0.0.1:1', tls: {certificate: one.pem, key: <one|two>.pem}}]"),
            Map.entry(
                    "listen[].tls.min_version",
                    "listen: [{address: '127.0.0.1:1', tls: {certificate: one.pem, key: key.pem, min_version: <TLSv1.2|TLSv1.3>}}]"),
            Map.entry(
                    "listen[].tls.max_version",
                    "listen: [{address: '127.0.0.1:1', tls: {certificate: one.pem, key: key.pem, max_version: <TLSv1.2|TLSv1.3>}}]"),
            Map.entry(
                    "listen[].tls.ciphers",
                    "listen: [{address: '127.0.0.1:1', tls: {certificate: one.pem, key: key.pem, ciphers: [TLS_ECDHE_RSA_WITH_AES_<128_GCM_SHA256|256_GCM_SHA384>]}}]"),
            Map.entry(
                    "listen[].tls.groups",
                    "listen: [{address: '127.0.0.1:1', tls: {certificate: one.pem, key: key.pem, groups: [<x25519|P-256>]}}]"),
            Map.entry(
                    "listen[].tls.client_certificates",
                    "listen: [{address: '127.0.0.1:1', tls: {certificate: one.pem, key: key.pem, client_ca_file: ca.pem, client_certificates: <request|require>}}]"),
            Map.entry(
                    "listen[].tls.client_ca_file",
                    "listen: [{address: '127.0.0.1:1', tls: {certificate: one.pem, key: key.pem, client_ca_file: <one|two>.pem, client_certificates: require}}]"),
            Map.entry(
                    "listen[].tls.client_revocation_file",
                    "listen: [{address: '127.0.0.1:1', tls: {certificate: one.pem, key: key.pem, client_ca_file: ca.pem, client_revocation_file: <one|two>.pem, client_certificates: require}}]"),
            Map.entry(
                    "listen[].tls.hsts.max_age",
                    "listen: [{address: '127.0.0.1:1', tls: {certificate: one.pem, key: key.pem, hsts: {max_age: <1|2>m}}}]"),
            Map.entry(
                    "listen[].tls.hsts.include_subdomains",
                    "listen: [{address: '127.0.0.1:1', tls: {certificate: one.pem, key: key.pem, hsts: {max_age: 1m, include_subdomains: <true|false>}}}]"),
            Map.entry(
                    "listen[].tls.hsts.preload",
                    "listen: [{address: '127.0.0.1:1', tls: {certificate: one.pem, key: key.pem, hsts: {max_age: 365d, include_subdomains: true, preload: <true|false>}}}]"),
            Map.entry(
                    "listen[].tls.ocsp_stapling",
                    "listen: [{address: '127.0.0.1:1', tls: {certificate: one.pem, key: key.pem, ocsp_stapling: <true|false>}}]"),
            Map.entry("storage[].path", "storage: [{path: <one|two>, size: 1GiB}]"),
            Map.entry("storage[].size", "storage: [{path: one, size: <1|2>GiB}]"),
            Map.entry("storage[].index_path", "storage: [{path: one, size: 1GiB, index_path: <two|three>}]"),
            Map.entry("storage[].format", "storage: [{path: one, size: 1GiB, index_path: two, format: <false|true>}]"),
            Map.entry("storage[].direct_writes", "storage: [{path: one, size: 1GiB, direct_writes: <auto|off>}]"),
            Map.entry("volumes[].name", "volumes: [{name: <one|two>, share: 10%}]\nstorage: [{path: a, size: 1GiB}]"),
            Map.entry("volumes[].share", "volumes: [{name: one, share: <10|20>%}]\nstorage: [{path: a, size: 1GiB}]"),
            Map.entry(
                    "volumes[].hosts",
                    "volumes: [{name: one, share: 10%, hosts: [<a|b>.example]}]\nstorage: [{path: a, size: 1GiB}]"),
            Map.entry(
                    "volumes[].scheme",
                    "volumes: [{name: one, share: 10%, scheme: <http|https>}]\nstorage: [{path: a, size: 1GiB}]")));

    @TempDir
    Path directory;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private static List<ConfigKey<?>> keys(ConfigKey.Apply apply) {
        List<ConfigKey<?>> keys = new ArrayList<>();
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            if (key.path().indexOf('[') < 0 && key.apply() == apply) {
                keys.add(key);
            }
        }
        return keys;
    }

    private ProxyConfig read(String file, boolean after) {
        String text = file.replaceAll("<([^|]*)\\|([^>]*)>", after ? "$2" : "$1");
        String rest =
                (text.contains("listen:") ? "" : "listen: ['127.0.0.1:1']\n") + "remap: [{map: /, to: http://o/}]\n";
        ConfigResult result = ConfigLoader.parse(text + "\n" + rest, "millrace.yaml", directory, Map.of());
        assertNotNull(result.config(), result::text);
        return result.config();
    }

    private static String snapshot(ProxyServer server) {
        return new Fingerprint(ProxyConfig.class).of(server.snapshot());
    }

    @Test
    void whatIsLiveIsInWhatTheEventLoopsReadAfterAReload() throws IOException {
        // The other keys of cache.overload have no effect without a limit, and those of compression, its dictionaries
        // and esi while they are off.
        ProxyServer server = proxy.start(request -> {}, config -> config.set("cache.overload.latency", "1s")
                .set("compression.enabled", "true")
                .set("compression.dictionaries.enabled", "true")
                .set("esi.enabled", "true"));
        ProxyConfig base = server.config();
        Map<String, String> unseen = new TreeMap<>();
        for (ConfigKey<?> key : keys(ConfigKey.Apply.LIVE)) {
            if (key == LogKeys.LOGS || key.type() == ValueType.FILE) {
                // LiveLogsTest changes lists. From one log to a list, a new proxy is needed. LivePasswordsTest and
                // LiveSignedUrlsTest change files, whose content must be right.
                continue;
            }
            server.reload(base);
            String before = snapshot(server);
            server.reload(base);
            assertTrue(before.equals(snapshot(server)), "the same settings make the same snapshot");
            ProxyConfig changed = OtherValues.with(base, key);
            ReloadReport report = server.reload(changed);
            assertTrue(
                    report.settings().contains(new ReloadReport.Setting(key.path(), ReloadReport.Result.APPLIED)),
                    () -> key + ": " + report);
            if (snapshot(server).equals(before)) {
                unseen.put(key.path(), READ_ELSEWHERE.getOrDefault(key.path(), "nobody knows whom"));
            }
        }
        assertEquals(READ_ELSEWHERE, unseen);
    }

    @Test
    void whatIsNotLiveIsReportedAndLeavesTheRestApplied() throws IOException {
        ProxyServer server = proxy.start(request -> {}, config -> config);
        ProxyConfig base = server.config();
        List<ConfigKey<?>> keys = new ArrayList<>(keys(ConfigKey.Apply.ROLLING));
        keys.addAll(keys(ConfigKey.Apply.RELAUNCH));
        for (ConfigKey<?> key : keys) {
            ReloadReport report = server.reload(OtherValues.with(base, key));
            assertEquals(
                    List.of(new ReloadReport.Setting(key.path(), ReloadReport.Result.NEEDS_NEW_PROXY)),
                    report.settings(),
                    key.path());
            server.reload(base);
        }
        assertNotEquals(0, keys.size());
    }

    @Test
    void whatIsNotLiveInElementsOfListsIsReportedToo() throws IOException {
        for (String file : List.of("one.pem", "two.pem", "key.pem")) {
            Files.createFile(directory.resolve(file));
        }
        for (String file : List.of("one.jar", "two.jar")) {
            ExtensionJars.one(directory.resolve(file), "Plain", ExtensionJars.PLAIN.formatted("Plain"));
        }
        ProxyServer server = proxy.start(request -> {}, config -> config);
        for (Map.Entry<String, String> each : ELEMENTS.entrySet()) {
            String key = each.getKey();
            ProxyConfig before = read(each.getValue(), false);
            ProxyConfig after = read(each.getValue(), true);
            assertTrue(ConfigParts.differing(before, after).contains(key), key);
            server.reload(before);
            assertEquals(
                    List.of(new ReloadReport.Setting(
                            key.replaceFirst("\\[.*", ""), ReloadReport.Result.NEEDS_NEW_PROXY)),
                    server.reload(after).settings(),
                    key);
        }
        List<String> others = new ArrayList<>();
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            if (key.path().indexOf('[') >= 0 && key.apply() != ConfigKey.Apply.LIVE) {
                others.add(key.path());
            }
        }
        assertEquals(ELEMENTS.keySet(), Set.copyOf(others));
    }
}
