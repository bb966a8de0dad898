package io.millrace.proxy.config.yaml;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.access.ForwardProxyKeys;
import io.millrace.proxy.config.access.ProxyProtocolKeys;
import io.millrace.proxy.config.admin.AdminKeys;
import io.millrace.proxy.config.cache.CacheKeyKeys;
import io.millrace.proxy.config.dns.DnsKeys;
import io.millrace.proxy.config.fleet.FleetKeys;
import io.millrace.proxy.config.key.AlarmKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.FileKeys;
import io.millrace.proxy.config.key.LogKeys;
import io.millrace.proxy.config.key.TraceKeys;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.tls.AcmeKeys;
import io.millrace.proxy.config.tls.OriginTlsKeys;
import io.millrace.proxy.config.tls.SharedTlsKeys;
import io.millrace.proxy.config.value.Suggestions;
import io.millrace.proxy.geo.MmdbWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the packed file: it is valid and silent, and every misspelt key in it is reported with a suggestion. */
final class SampleConfigTest {
    private static final Path SAMPLE = Path.of("../dist/src/main/dist/conf/millrace.yaml");
    /** One in this many misspellings is tested; the nightly run tests all of them. */
    private static final int SLIPS_EACH = Integer.getInteger("millrace.test.effort", 1) > 1 ? 1 : 12;

    private static final Pattern KEY = Pattern.compile("^(?:#? *(?:- )?)([a-z_]+):(?: |$)");

    @Test
    void isValidWithoutAWarning() {
        ConfigResult result = ConfigLoader.load(SAMPLE, Map.of());
        assertEquals("", result.text());
        assertNotNull(result.config());
    }

    @TempDir
    Path directory;

    @Test
    void isValidWithItsCommentedKeysInForce() throws IOException {
        List<String> lines = new ArrayList<>();
        for (String line : Files.readAllLines(SAMPLE)) {
            // A comment is a sentence; a commented key is a key, a colon and a value.
            lines.add(line.matches(" *# ?( *- )? *[a-z_]+:( [^ ]+)?") ? line.replaceFirst("# ?", "") : line);
        }
        Path key = secret("key", "");
        String text = String.join("\n", lines)
                .replaceAll("/etc/millrace/tls/.*", Matcher.quoteReplacement(key.toString()))
                .replaceAll("(?m)^ - address", "  - address")
                .replaceAll("(?m)^   (tls|  certificate|  key):", "    $1:");
        ConfigResult result = ConfigLoader.parse(text, "millrace.yaml", Map.of());
        assertEquals("", result.text(), text);
        assertEquals(2, result.config().listeners().size(), text);
        assertEquals(1, result.config().storage().size(), text);
        assertEquals(4L << 30, result.config().cache().ramBytes());
    }

    @Test
    void everySlipInAKeyOfTheSampleIsOneLineThatSaysWhatWasMeant() throws IOException {
        assertTrue(mutateEveryKey(Files.readAllLines(SAMPLE)) > 500 / SLIPS_EACH);
    }

    @Test
    void everySlipInAnyKeyOfTheCatalogueIsOneLineThatSaysWhatWasMeant() throws IOException {
        String key = secret("key", "").toString();
        String token = secret("token", "0123456789abcdef").toString();
        List<String> lines = new ArrayList<>(List.of(
                "listen:",
                "- address: ':8081'",
                "- address: ':8443'",
                "  tls: {}",
                "- address: ':8080'",
                "  tls:",
                "    certificate: pom.xml",
                "    key: " + key,
                "  proxy_protocol: accept",
                "remap:",
                "- map: /",
                "  to: https://o",
                "  pristine_host_hdr: true",
                "  cache:",
                "    enabled: true",
                "    heuristic_min_lifetime: 2s",
                "    heuristic_max_lifetime: 3s",
                "    heuristic_without_last_modified: true",
                "storage:",
                "- path: /var/cache/millrace",
                "  size: 1GiB"));
        Map<String, String> values = Map.ofEntries(
                Map.entry(
                        "basic_auth.file",
                        secret("users", "one:$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe\n")
                                .toString()),
                Map.entry("basic_auth.when", "path == \"/a\""),
                Map.entry("geo.database", database("c.mmdb", MmdbWriter.country("DE", "EU"))),
                Map.entry("geo.asn_database", database("n.mmdb", MmdbWriter.network(64_500))),
                Map.entry("geo.country_field", "X-Country"),
                Map.entry("authorize.url", "http://auth.example/"),
                Map.entry("authorize.cache_key", "method"),
                Map.entry("authorize.when", "path == \"/a\""),
                Map.entry(
                        "signed_urls.keys",
                        secret("keys", "key0 = abcdefghijklmnop\n").toString()),
                Map.entry("signed_urls.when", "path == \"/a\""),
                Map.entry("cors.origins", "https://a.example"),
                Map.entry("mirror.to", "https://mirror.example"),
                Map.entry("mirror.tls.verify", "on"),
                Map.entry("mirror.tls.ca_file", token),
                Map.entry("mirror.tls.certificate", token),
                Map.entry("mirror.tls.key", token),
                Map.entry("mirror.tls.name", "mirror.example"),
                Map.entry("mirror.tls.min_version", "TLSv1.2"),
                Map.entry("fleet.name", "fleet"),
                Map.entry("fleet.node", "node"),
                Map.entry("fleet.address", "http://node.example:8080"),
                Map.entry("fleet.servers", "tls://nats.example:4222"));
        Set<String> opened = new LinkedHashSet<>();
        for (ConfigKey<?> each : ConfigCatalog.keys()) {
            // The name of a group is invalid without the group. A fleet has one kind of credentials, and a rule has
            // either passwords or tokens.
            boolean apart = each == ForwardProxyKeys.ORIGINS
                    || each == FleetKeys.NKEY_FILE
                    || each == FleetKeys.TOKEN_FILE
                    || each.path().startsWith("jwt.")
                    // The file must have a key.
                    || each.path().equals("fleet.config_public_key_file")
                    // Fields are for binary logs only.
                    || each == LogKeys.SINGLE_LOG_FIELDS;
            if (each.path().indexOf('[') < 0 && each.type() != ValueType.LIST && !apart) {
                append(each, opened, lines, token, values);
            }
        }
        assertTrue(mutateEveryKey(lines) > 2000 / SLIPS_EACH);
    }

    private String database(String name, Map<String, Object> values) throws IOException {
        byte[] content = new MmdbWriter(24, 4).add(192, 0, 2, 0, 24, values).bytes();
        return Files.write(directory.resolve(name), content).toString();
    }

    /** Returns a file that no other user can read. */
    private Path secret(String name, String content) throws IOException {
        Path file = Files.writeString(directory.resolve(name), content);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    private static void append(
            ConfigKey<?> key, Set<String> opened, List<String> lines, String token, Map<String, String> values) {
        String[] parts = key.path().split("\\.", -1);
        String indent = "";
        for (int i = 0; i < parts.length - 1; i++) {
            String section = String.join(".", List.of(parts).subList(0, i + 1));
            if (opened.add(section)) {
                lines.add(indent + parts[i] + ":");
            }
            indent += "  ";
        }
        String value = key.path().equals("worker.java_home") ? System.getProperty("java.home") : key.defaultText();
        if (key.type() == ValueType.ADDRESSES) {
            value = "127.0.0.1";
        }
        if (key == ConfigKeys.LIMITS_CONNECTIONS) {
            // The default is more than some machines permit a process to open, which causes a warning.
            value = "100";
        }
        value = key == AcmeKeys.ACCEPT_TERMS ? "true" : value;
        value = key == FleetKeys.CONFIG ? "false" : value;
        value = key == AcmeKeys.CHALLENGE ? "dns-01" : value;
        if (value == null || key == ConfigKeys.CACHE_RAM_SIZE) {
            value = key == ConfigKeys.ADMIN_LISTEN ? "':1'" : key == ConfigKeys.CACHE_RAM_SIZE ? "1GiB" : "/some/path";
            value = key == AdminKeys.TOKEN_FILE ? token : value;
            value = key.path().matches("(origin[.]|admin[.])?tls[.].*") && key.type() == ValueType.PATH ? token : value;
            value = key.path().startsWith("fleet.") && key.type() == ValueType.PATH ? token : value;
            value = key == OriginTlsKeys.GENERAL.name() ? "www.example" : value;
            value = key == FileKeys.INCLUDE ? "none-*.yaml" : value;
            value = key == ConfigKeys.CACHE_VOLUME ? "default" : value;
            value = key == SharedTlsKeys.DEFAULT_CERTIFICATE ? "www.example" : value;
            value = key == SharedTlsKeys.CLIENT_SUBJECT_FIELD ? "X-Client-Subject" : value;
            value = key == AcmeKeys.NAMES ? "www.example.com" : value;
            value = key == AcmeKeys.EMAIL ? "ops@example.com" : value;
            value = key == AcmeKeys.DNS_HOOK || key == AlarmKeys.COMMAND ? "/bin/true" : value;
            value = key == AlarmKeys.ADDRESS ? "tls://logs.example:6514" : value;
            value = key == TraceKeys.ENDPOINT ? "https://traces.example/" : value;
            value = key.path().startsWith("traces.") && key.type() == ValueType.PATH ? token : value;
            value = key.path().startsWith("alarms.syslog.") && key.type() == ValueType.PATH ? token : value;
            value = key == AcmeKeys.PROFILE ? "shortlived" : value;
            value = key == AcmeKeys.ASK ? "https://ask.example/" : value;
            value = key == CacheKeyKeys.HOST ? "shop.example" : value;
            value = key == ConfigKeys.NO_HOST_URL_REDIRECT ? "http://www.example/" : value;
            value = key == ConfigKeys.METHODS ? "GET, POST" : value;
            value = key == ProxyProtocolKeys.ALLOW ? "10.0.0.0/8" : value;
            value = key == ConfigKeys.ACCESS_TRUSTED_PROXIES ? "10.0.0.0/8" : value;
            value = key == DnsKeys.NAME_SERVERS ? "192.0.2.53" : value;
            value = key == DnsKeys.HOSTS_FILE ? "/etc/hosts" : value;
            value = values.getOrDefault(key.path(), value);
            value = key.type() == ValueType.DURATION ? "1s" : value;
            value = key.type() == ValueType.PERCENT ? "50%" : value;
        }
        lines.add(indent + parts[parts.length - 1] + ": " + value);
    }

    /**
     * Tests substitutions, deletions, repetitions and transpositions at every place of every key, one at a time, or a
     * share of them.
     */
    private static int mutateEveryKey(List<String> lines) {
        assertEquals("", parse(lines).text());
        int mutants = 0;
        int number = new Random().nextInt(SLIPS_EACH);
        System.out.println("first slip " + number + ", then each one in " + SLIPS_EACH);
        for (int i = 0; i < lines.size(); i++) {
            Matcher matcher = KEY.matcher(lines.get(i));
            if (lines.get(i).stripLeading().startsWith("#") || !matcher.find()) {
                continue;
            }
            String key = matcher.group(1);
            Set<String> siblings = siblings(lines, i);
            for (String slip : slips(key)) {
                if (++number % SLIPS_EACH != 0 || meansAnother(slip, key, siblings)) {
                    continue;
                }
                List<String> changed = new ArrayList<>(lines);
                changed.set(
                        i,
                        lines.get(i).substring(0, matcher.start(1))
                                + slip
                                + lines.get(i).substring(matcher.end(1)));
                List<ConfigProblem> problems = parse(changed).problems();
                assertEquals(1, problems.size(), () -> slip + " for " + key + ": " + problems);
                String expected = "millrace.yaml:" + (i + 1) + ":" + (matcher.start(1) + 1) + ": ";
                String text = problems.get(0).text();
                assertTrue(text.startsWith(expected), text);
                assertTrue(text.endsWith(" unknown key (did you mean " + key + "?)"), text);
                mutants++;
            }
        }
        return mutants;
    }

    /** Returns whether another name, at the top level or beside the key, is as similar and may be the intended one. */
    private static boolean meansAnother(String slip, String key, Set<String> siblings) {
        return Stream.concat(ConfigShape.root().names().stream(), siblings.stream())
                .anyMatch(name ->
                        !name.equals(key) && Suggestions.distance(slip, name) <= Suggestions.distance(slip, key));
    }

    /** Returns the names of the keys in the section of a line. */
    private static Set<String> siblings(List<String> lines, int line) {
        Set<String> names = new LinkedHashSet<>();
        int indent = indent(lines.get(line));
        for (int step : new int[] {-1, 1}) {
            for (int i = line; i >= 0 && i < lines.size() && indent(lines.get(i)) >= indent; i += step) {
                Matcher matcher = KEY.matcher(lines.get(i));
                if (indent(lines.get(i)) == indent && matcher.find()) {
                    names.add(matcher.group(1));
                }
            }
        }
        return names;
    }

    private static int indent(String line) {
        return line.length() - line.stripLeading().length();
    }

    private static Set<String> slips(String key) {
        Set<String> slips = new LinkedHashSet<>();
        for (int i = 0; i < key.length(); i++) {
            String before = key.substring(0, i);
            String after = key.substring(i + 1);
            char c = key.charAt(i);
            slips.add(before + (c == 'x' ? 'z' : 'x') + after);
            slips.add(before + after);
            slips.add(before + c + c + after);
            slips.add(before + Character.toUpperCase(c) + after);
            if (!after.isEmpty()) {
                slips.add(before + after.charAt(0) + c + after.substring(1));
            }
        }
        slips.remove(key);
        slips.remove("");
        return slips;
    }

    private static ConfigResult parse(List<String> lines) {
        return ConfigLoader.parse(String.join("\n", lines) + "\n", "millrace.yaml", Map.of());
    }
}
