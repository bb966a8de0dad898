package io.millrace.proxy.config;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Returns for each key a valid value that is not the default. Thread-safe: stateless. */
public final class OtherValues {
    /** Values of keys whose type does not determine the valid values. */
    private static final Map<String, String> BY_KEY = Map.ofEntries(
            Map.entry("tls.acme.names", "other.example"),
            Map.entry("access.forwarded_fields", "forwarded"),
            Map.entry("compression.encodings", "gzip"),
            Map.entry("compression.types", "text/html"),
            Map.entry("compression.dictionaries.encodings", "dcz"),
            Map.entry("access.trusted_proxies", "10.0.0.0/8"),
            Map.entry("purge.allow", "10.0.0.0/8"),
            Map.entry("methods", "GET"),
            Map.entry("file_mode", "0600"),
            Map.entry("include", "rules.d"),
            Map.entry("tls.ciphers", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
            Map.entry("tls.groups", "P-256"),
            Map.entry("listen[].tls.ciphers", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
            Map.entry("listen[].tls.groups", "P-256"),
            Map.entry("tls.certificates[].ciphers", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
            Map.entry("tls.certificates[].groups", "P-256"),
            Map.entry("dns.name_servers", "192.0.2.53"),
            Map.entry("fleet.address", "http://other.example:8080"),
            Map.entry("fleet.servers", "nats://other.example:4222"),
            Map.entry("forward_proxy.connect_ports", "8443"),
            Map.entry("authorize.url", "http://auth.example/"));

    private static final Map<String, String> BY_TYPE = Map.ofEntries(
            Map.entry("path", "/some/path"),
            Map.entry("file", "/some/file"),
            Map.entry("syslog address", "udp://192.0.2.1:514"),
            Map.entry("application name", "other"),
            Map.entry("host", "other.example"),
            Map.entry("URL", "http://other.example/"),
            Map.entry("URL without path", "http://other.example"),
            Map.entry("text", "other"),
            Map.entry("address", ":1"),
            Map.entry("format", "combined"),
            Map.entry("codes", "chi"),
            Map.entry("addresses", "10.9.0.0/16"),
            Map.entry("source addresses", "192.0.2.7"),
            Map.entry("field name", "X-Other"),
            Map.entry("field names", "x-other"),
            Map.entry("cookie names", "other"),
            Map.entry("names", "role=other"),
            Map.entry("web origins", "https://other.example"),
            Map.entry("parameter names", "other"),
            Map.entry("protocol names", "websocket"),
            Map.entry("status codes", "404"));

    private static final Map<String, String> LISTS = Map.ofEntries(
            Map.entry("listen", "listen: [':2']\nremap: [{map: /, to: http://o/}]\n"),
            Map.entry("remap", "remap: [{map: /other/, to: http://o/}]\n"),
            Map.entry("origins", "origins: [{name: shop, hosts: ['http://10.0.0.1:80']}]\n"),
            Map.entry("filters", "filters: [{name: inside, action: allow, src_ip: 10.0.0.0/8}]\n"),
            Map.entry("access.filters", "access: {filters: [{action: deny, src_ip: 10.0.0.0/8}]}\n"),
            Map.entry("storage", "storage: [{path: /var/cache/other, size: 1GiB}]\n"),
            Map.entry(
                    "volumes",
                    "volumes: [{name: other, share: 10%}]\nstorage: [{path: /var/cache/other, size: 1GiB}]\n"),
            Map.entry("rules", "rules: [{when: 'method == \"GET\"', set_response_header: {X-Other: a}}]\n"),
            Map.entry("extensions", "extensions: [{name: other, config: {a: b}}]\n"),
            Map.entry("error_pages", "error_pages: [{status: 404, file: /etc/passwd}]\n"),
            Map.entry("request_limits", "request_limits: [{name: other, rate: 7/s}]\n"),
            Map.entry("log.access", "log: {access: [{name: other, target: stdout}]}\n"),
            Map.entry("cache_rules", "cache_rules: [{suffix: css, ttl_in_cache: 1h}]\n"),
            Map.entry("tls.certificates", "tls: {certificates: [{directory: /etc/other}]}\n"),
            Map.entry("tls.acme.issuers", "tls: {acme: {issuers: ['https://other.example/directory']}}\n"),
            Map.entry("admin.tokens", "admin: {tokens: [{name: other, file: /some/token, role: viewer}]}\n"),
            Map.entry("dns.split", "dns: {split: [{domains: [other.example], name_servers: [192.0.2.53]}]}\n"));

    private OtherValues() {}

    /** Returns {@code base} with another value of one key, without the checks across keys. */
    public static ProxyConfig with(ProxyConfig base, ConfigKey<?> key) {
        ConfigValues.Builder values = base.values().toBuilder();
        if (key.type() == ValueType.LIST) {
            values.put(key, list(key));
        } else {
            values.put(key, read(key, text(key, base.values().text(key))));
        }
        return new ProxyConfig(values.build());
    }

    private static Object list(ConfigKey<?> key) {
        String text = LISTS.get(key.path());
        String listen = "listen: [':1']\n";
        String remap = "remap: [{map: /, to: http://o/}]\n";
        String whole = (text.contains("listen:") ? "" : listen) + (text.contains("remap:") ? "" : remap) + text;
        ConfigResult result = ConfigLoader.parse(whole, "t", Map.of());
        if (result.config() == null) {
            throw new AssertionError(key + ": " + result.text());
        }
        return result.config().values().find(key);
    }

    /** Returns a valid text of a key that is not a list. */
    public static String text(ConfigKey<?> key) {
        return text(key, key.defaultText());
    }

    private static String text(ConfigKey<?> key, String now) {
        for (String candidate : candidates(key)) {
            try {
                if (!key.format(key.read(candidate)).equals(now)) {
                    return candidate;
                }
            } catch (InvalidValueException e) {
                // The value is out of bounds, so the next one is tried.
            }
        }
        throw new AssertionError("no other value of " + key + " is known here");
    }

    private static List<String> candidates(ConfigKey<?> key) {
        String own = BY_KEY.getOrDefault(key.path(), BY_TYPE.get(key.type().name()));
        if (own != null) {
            return List.of(own);
        }
        if (key.type().words() != null) {
            return key.type().words();
        }
        List<String> candidates = new ArrayList<>(
                switch (key.type().name()) {
                    case "boolean" -> List.of("true", "false");
                    case "integer" -> List.of("7", "300", "5000");
                    case "size" -> List.of("77KiB", "3MiB", "200MiB", "2GiB");
                    case "duration" -> List.of("7s", "777ms", "3m", "5h", "3d");
                    case "number" -> List.of("0.3", "3");
                    case "percent" -> List.of("33%");
                    default -> List.<String>of();
                });
        if (key.minText() != null) {
            candidates.add(key.minText());
            candidates.add(key.maxText());
        }
        return candidates;
    }

    private static Object read(ConfigKey<?> key, String text) {
        try {
            return key.read(text);
        } catch (InvalidValueException e) {
            throw new AssertionError(key + ": " + e.problem(), e);
        }
    }
}
