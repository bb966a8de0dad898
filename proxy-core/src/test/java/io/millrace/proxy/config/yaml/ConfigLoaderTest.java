package io.millrace.proxy.config.yaml;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.settings.StoringRules;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.ListenerConfig;
import io.millrace.proxy.config.key.StorageConfig;
import io.millrace.proxy.config.key.WorkerConfig;
import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.problem.SettingPlace;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.value.Environment;
import io.millrace.proxy.config.value.FileMode;
import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.config.value.ListenAddress;
import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.observe.log.AccessLogFormat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ConfigLoaderTest {
    private static final String GOOD = """
            listen: [":8080"]
            remap:
              - map: /
                to: http://127.0.0.1:9000
            """;

    @TempDir
    Path directory;

    @Test
    void readsAWholeFile() {
        ProxyConfig config = good("""
                listen:
                  - ":8080"
                  - address: "[::1]:8081"
                remap:
                  - map: http://cdn.example.com/js/
                    to: https://js.example.com/assets/
                    pristine_host_hdr: true
                    cache: {enabled: false, required_headers: 2}
                  - map: /
                    to: http://127.0.0.1:9000
                storage: [{path: /var/cache/millrace, size: 100GiB}]
                cache: {ram_size: 4GiB, required_headers: last_modified, collapse_wait: 250ms}
                timeouts: {drain: 1m30s}
                log:
                  access: {format: combined}
                worker: {transport: nio}
                """);
        assertEquals(
                List.of(
                        new ListenerConfig(
                                new ListenAddress(null, 8080),
                                ListenerConfig.ProxyProtocol.OFF,
                                ListenerConfig.Transparency.OFF,
                                false,
                                null,
                                new FileMode(0660),
                                null),
                        new ListenerConfig(
                                new ListenAddress("::1", 8081),
                                ListenerConfig.ProxyProtocol.OFF,
                                ListenerConfig.Transparency.OFF,
                                false,
                                null,
                                new FileMode(0660),
                                null)),
                config.listeners());
        assertEquals(List.of(new StorageConfig(Path.of("/var/cache/millrace"), 100L << 30)), config.storage());
        assertEquals(4L << 30, config.cache().ramBytes());
        assertEquals(250_000_000L, config.cache().collapseWaitNanos());
        assertEquals(90_000_000_000L, config.timeouts().drainNanos());
        assertEquals(AccessLogFormat.COMBINED, config.log().accessFormat());
        assertEquals(WorkerConfig.Transport.NIO, config.worker().transport());
        RemapRuleConfig first = config.remap().get(0);
        assertEquals(new RuleUrl("http", "cdn.example.com", -1, "/js/"), first.from());
        assertEquals(new RuleUrl("https", "js.example.com", -1, "/assets/"), first.to());
        assertTrue(first.pristineHostHdr());
        assertEquals(false, first.cache().settings().enabled());
        assertEquals(
                StoringRules.RequiredHeaders.LIFETIME,
                first.cache().settings().storing().requiredHeaders());
        assertEquals(4L << 30, first.cache().ramBytes());
        assertEquals("millrace.yaml:5:5", first.location());
        RemapRuleConfig second = config.remap().get(1);
        assertEquals(
                StoringRules.RequiredHeaders.LAST_MODIFIED,
                second.cache().settings().storing().requiredHeaders());
        assertEquals(false, second.pristineHostHdr());
    }

    @Test
    void nulledSectionsAreEmptyOnes() {
        ProxyConfig config = good(GOOD + "cache:\nlog:\n  access:\nstorage:\n");
        assertEquals(ProxyConfig.defaults().cache(), config.cache());
        assertEquals(List.of(), config.storage());
    }

    @Test
    void oneAddressNeedsNoList() {
        assertEquals(
                8080,
                good("listen: :8080\nremap: [{map: /, to: 'http://o'}]\n")
                        .listeners()
                        .get(0)
                        .address()
                        .port());
    }

    @Test
    void reportsAnUnknownKeyWithLineColumnAndSuggestion() {
        assertEquals(
                List.of("millrace.yaml:6:3: cache.ram_szie: unknown key (did you mean ram_size?)"),
                bad(GOOD + "cache:\n  ram_szie: 1GiB\n"));
    }

    @Test
    void reportsAllProblemsAtOnceInTheOrderOfTheFile() {
        assertEquals(
                List.of(
                        "millrace.yaml:1:13: listen[0]: 'localhost' is not an IP address (did you mean 127.0.0.1:80?)",
                        "millrace.yaml:3:5: remap[0].to: missing; it takes a URL (http://host[:port]/path)",
                        "millrace.yaml:4:5: remap[1].mapp: unknown key (did you mean map?)",
                        "millrace.yaml:6:14: cache.enabled: 'yes' is neither true nor false (did you mean true?)",
                        "millrace.yaml:7:13: cache.ram_size: '4' has no unit; a size is written like 512MiB (B, KiB, MiB, "
                                + "GiB, TiB) (did you mean 4B?)",
                        "millrace.yaml:8:3: cache.enabled: set twice; the first value is on line 6",
                        "millrace.yaml:9:11: timeouts: must be a section with keys such as client_header, "
                                + "client_keep_alive, client_body, this is a single value"),
                bad("""
                        listen: [   localhost:80]
                        remap:
                          - map: /
                          - mapp: http://a/
                        cache:
                          enabled:   yes
                          ram_size: 4
                          enabled: true
                        timeouts: 30s
                        """));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "store: {segment_size: 2GiB} | 5:23: store.segment_size: 2GiB is above the limit of 1GiB",
                "store: {segment_size: 1MiB} | 5:23: store.segment_size: 1MiB is below the limit of 4MiB, and not 0",
                "timeouts: {drain: 25h}      | 5:19: timeouts.drain: 25h is above the limit of 1d",
                "timeouts: {origin_idle: 1ms} | 5:25: timeouts.origin_idle: 1ms is below the limit of 10ms",
                "cache: {heuristic_lm_factor: 1.5} | 5:30: cache.heuristic_lm_factor: 1.5 is above the limit of 1",
                "cache: {heuristic_lm_factor: NaN} | 5:30: cache.heuristic_lm_factor: 'NaN' is not a number such as 0.1",
                "cache: {max_stale_age: 1.5s} | 5:24: cache.max_stale_age: 1500ms is not a whole number of seconds",
                "limits: {connections: 1k}   | 5:23: limits.connections: '1k' is not a whole number",
                "limits: {connections: [1]}  | 5:23: limits.connections: takes an integer (a whole number), this is a list",
                "limits: {connections: }     | 5:22: limits.connections: has no value; it takes an integer (a whole number)",
                "log: {access: {format: squit}} | 5:24: log.access.format: 'squit' is none of squid, combined, common, json, binary, and not a template with %<code> fields (did you mean squid?)",
                "cache: {required_headers: 3} | 5:27: cache.required_headers: '3' is none of none, last_modified, lifetime",
                "cache: {required_headers: lifetme} | 5:27: cache.required_headers: 'lifetme' is none of none, last_modified, lifetime (did you mean lifetime?)",
                "storage: /var/cache         | 5:10: storage: must be a list, this is a single value",
                "storage: {path: /a, size: 1GiB} | 5:10: storage: must be a list, this is a section; put a dash before the first key of each element",
                "storage: [/var/cache]       | 5:11: storage[0]: must be a section with keys such as path, size, index_path, this is a single value",
                "storage: [{path: /a, size: 1GiB}, {path: /a/, size: 2GiB}] | 5:36: storage[1].path: /a is already storage[0]",
                "storage: [{path: /a, size: 1GiB}, {path: /a/b, size: 2GiB}] | 5:36: storage[1].path: /a/b is inside /a, which is storage[0]",
                "storage: [{path: /a/b, size: 1GiB}, {path: /a, size: 2GiB}] | 5:38: storage[1].path: /a contains /a/b, which is storage[0]",
                "volumes: [{name: a, share: 30}] | 5:28: volumes[0].share: '30' is not a percentage such as 30%",
                "volumes: [{name: default, share: 30%}] | 5:12: volumes[0].name: 'default' is the name of the space without a share; choose another name",
                "volumes: [{name: A/b, share: 30%}] | 5:12: volumes[0].name: 'A/b' is not permitted; a name has 1 to 32 lower-case letters, digits, '-' and '_', and is not the name of a file of the cache: volume, index, lock, owner, inventory, object-lists",
                "volumes: [{name: a, share: 60%}, {name: b, share: 50%}] | 5:44: volumes[1].share: the shares add up to 110%; the sum must be less than 100%, because the rest is for all other responses",
                "volumes: [{name: a, share: 5%, hosts: [x y]}] | 5:32: volumes[0].hosts: 'x y' is neither a host nor a domain such as *.example.com",
                "volumes: [{name: a, share: 5%, hosts: [x]}, {name: b, share: 5%, hosts: [X]}] | 5:66: volumes[1].hosts: X is already in volumes[0]",
                "volumes: [{name: a, share: 5%, scheme: http}, {name: b, share: 5%, scheme: http}] | 5:68: volumes[1].scheme: all hosts with this scheme are already in volumes[0]",
                "cache: {volume: api} | 5:9: cache.volume: no volume has the name 'api' in volumes",
                "storage: [{path: /a}] | 5:12: storage[0].size: missing; only a block device needs no size, but /a is not a block device",
                "storage: [{path: /tmp, size: 1GiB, index_path: /i}] | 5:36: storage[0].index_path: is only for block devices and files, but /tmp is a directory",
                "storage: [{path: /tmp, size: 1GiB, format: true}] | 5:36: storage[0].format: is only for block devices and files, but /tmp is a directory",
                "storage: [{path: /dev/no-such-device, format: maybe}] | 5:47: storage[0].format: 'maybe' is neither true nor false",
                "storage: [{path: /a, size: 1GiB, direct_writes: yes}] | 5:49: storage[0].direct_writes: 'yes' is none of auto, on, off",
                "storage: [{path: /a, size: 1KiB}] | 5:28: storage[0].size: 1KiB is below the limit of 1MiB",
                "ram_size: 1GiB              | 5:1: ram_size: unknown key (did you mean cache.ram_size?)",
                "{a: b}: c                   | 5:1: a key must be a word, this is a section",
                "admin: {listen: ':1'}       | 5:9: admin.listen: needs admin.token_file or admin.tokens, because otherwise any client could purge and reconfigure",
                "worker: {heartbeat_timeout: 1s, heartbeat_interval: 900ms} | 5:10: worker.heartbeat_timeout: 1s is below the limit of two heartbeat_interval, 1800ms",
                "worker: {java_home: /nowhere} | 5:10: worker.java_home: /nowhere has no executable bin/java",
                "cache: {heuristic_min_lifetime: 2d} | 5:9: cache.heuristic_min_lifetime: 2d is above the limit of heuristic_max_lifetime, 1d",
                "cache: {heuristic_max_lifetime: 1m} | 5:9: cache.heuristic_max_lifetime: 1m is below the limit of heuristic_min_lifetime, 1h"
            })
    void reportsOneProblem(String line, String expected) {
        assertEquals(List.of("millrace.yaml:" + expected), bad(GOOD + line + "\n"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "regex_map: http://a/ | 5:5: remap[1].regex_map: a rule has only one kind, and this rule already has map",
                "ram_size: 1GiB       | 5:5: remap[1].ram_size: unknown key (did you mean cache.ram_size?)",
                "cache: {ram_size: 1GiB} | 5:13: remap[1].cache.ram_size: cannot be set for one rule, only for all",
                "cache: {enabld: true} | 5:13: remap[1].cache.enabld: unknown key (did you mean enabled?)",
                "timeouts: {drain: 1s} | 5:16: remap[1].timeouts.drain: cannot be set for one rule, only for all",
                "limits: {connections: 1} | 5:5: remap[1].limits: cannot be set for one rule, only for all",
                "pristine_host_hdr: 2 | 5:24: remap[1].pristine_host_hdr: '2' is neither true nor false"
            })
    void reportsProblemsWithinARule(String line, String expected) {
        assertEquals(
                List.of("millrace.yaml:" + expected), bad(GOOD + "  - " + line + "\n    map: /a\n    to: http://o\n"));
    }

    @Test
    void reportsYamlErrorsWithLineAndColumn() {
        List<String> problems = bad("listen: [\":8080\"\nremap:\n  - map: /\n");
        assertEquals(1, problems.size());
        assertTrue(problems.get(0).startsWith("millrace.yaml:2:1: YAML: "), problems.get(0));
        assertTrue(bad("a:\n\t- b\n").get(0).startsWith("millrace.yaml:2:1: YAML: "));
        assertTrue(bad("a: \"\u0000\"\n").get(0).startsWith("millrace.yaml:1:5: YAML: the character U+0000"));
        assertTrue(bad("a: 1\n---\nb: 2\n").get(0).startsWith("millrace.yaml:2:1: YAML: "));
        assertTrue(bad("a: *x\n").get(0).startsWith("millrace.yaml:1:4: YAML: "));
    }

    @Test
    void survivesTextThatIsNestedTooDeeply() {
        assertEquals(List.of("millrace.yaml: YAML: the text is nested too deeply"), bad("[".repeat(200_000)));
        assertEquals(
                List.of(
                        "millrace.yaml:5:10: storage[0]: must be a section with keys such as path, size, index_path, this is a list"),
                bad(GOOD + "storage: &a [*a]\n"));
    }

    @Test
    void reportsAnEmptyFileAndWhatIsNoMapping() {
        assertEquals(
                List.of("millrace.yaml:1:1: is empty; a configuration needs at least listen and remap"),
                bad("# nothing\n"));
        assertEquals(
                List.of("millrace.yaml:1:1: a configuration must consist of 'key: value' lines, this is a list"),
                bad("- a\n"));
    }

    @Test
    void reportsAMissingListen() {
        assertEquals(
                List.of("millrace.yaml: listen: missing; set the addresses for clients, such as [\":8080\"]"),
                bad("remap: [{map: /, to: 'http://o'}]\n"));
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void readsNeitherPipesNorDevices() throws Exception {
        Path pipe = directory.resolve("pipe");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        Path zero = Path.of("/dev/zero");
        String none = ": is a pipe, a socket or a device";
        assertEquals(pipe + none, ConfigLoader.load(pipe, Map.of()).text());
        assertEquals(zero + none, ConfigLoader.load(zero, Map.of()).text());
        Path including = Files.writeString(
                directory.resolve("including.yaml"),
                "listen: [':1']\ninclude: [pipe, /dev/zero]\nremap: [{map: /, to: http://o.example/}]\n");
        assertEquals(
                pipe + none + "\n" + zero + none,
                ConfigLoader.load(including, Map.of()).text());
    }

    @Test
    void noProblemSteersATerminal() {
        String text = ConfigLoader.parse(
                        "listen: [':1']\nremap: [{map: /, to: http://o.example/}]\n"
                                + "cache: {ram_size: \"x\\e[2J\\u009b\\u061c\\n\\u202e\u00e9\"}\n",
                        "a.yaml",
                        Map.of())
                .text();
        assertTrue(
                text.startsWith("a.yaml:3:19: cache.ram_size: 'x\\u001b[2J\\u009b\\u061c\\u000a\\u202e\u00e9' "), text);
        assertEquals(1, text.lines().count());
    }

    @Test
    void reportsFilesThatCannotBeRead() throws IOException {
        Path missing = directory.resolve("missing.yaml");
        assertEquals(
                missing + ": no such file", ConfigLoader.load(missing, Map.of()).text());
        assertEquals(
                directory + ": is a directory",
                ConfigLoader.load(directory, Map.of()).text());
        Path latin = directory.resolve("latin.yaml");
        Files.write(latin, "a: 1\nb: \u00e4".getBytes(StandardCharsets.ISO_8859_1));
        assertEquals(
                latin + ":2:4: is not UTF-8 from here on",
                ConfigLoader.load(latin, Map.of()).text());
    }

    @Test
    void startsRelativePathsAtTheFile() throws IOException {
        Path file = directory.resolve("millrace.yaml");
        Files.writeString(file, "\uFEFF" + GOOD + "storage: [{path: cache/a, size: 1GiB}]\n");
        ConfigResult result = ConfigLoader.load(file, Map.of("log.access.path", "x.log"));
        ProxyConfig config = Objects.requireNonNull(result.config(), result.text());
        assertEquals(directory.resolve("cache/a"), config.storage().get(0).path());
        assertEquals(Path.of("x.log").toAbsolutePath(), config.log().accessPath());
    }

    @Test
    void checksThatCertificatesAreThere() throws IOException {
        Path file = directory.resolve("millrace.yaml");
        Files.writeString(file, GOOD.replace("\":8080\"", "{address: ':1', tls: {certificate: c.pem, key: k.pem}}"));
        Files.writeString(directory.resolve("c.pem"), "");
        assertEquals(
                file + ":1:52: listen[0].tls.key: " + directory.resolve("k.pem") + ": no such file",
                ConfigLoader.load(file, Map.of()).text());
        Files.writeString(directory.resolve("k.pem"), "");
        ListenerConfig listener = Objects.requireNonNull(
                        ConfigLoader.load(file, Map.of()).config())
                .listeners()
                .get(0);
        assertEquals("https", listener.scheme());
        assertEquals(
                directory.resolve("k.pem"),
                Objects.requireNonNull(listener.tls()).key());
    }

    @Test
    void needsBothFilesOfTls() {
        assertEquals(
                List.of("millrace.yaml:5:17: listen[0].tls.key: missing; certificate and key must be set together"),
                bad(GOOD.substring(GOOD.indexOf("remap"))
                        + "\nlisten: [{tls: {certificate: pom.xml}, address: ':1'}]\n"));
    }

    @Test
    void certificatesOfAllAreFilesOrADirectoryAndAddressesSayThatTheyUseThem() throws IOException {
        Files.createFile(directory.resolve("a.pem"));
        Path key = Files.createFile(
                directory.resolve("key.pem"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        String rest = GOOD.substring(GOOD.indexOf("remap"));
        String file = rest + "\nlisten: [{tls: %s, address: ':1'}]\ntls: {certificates: [%s]}\n";
        record Case(String tls, String certificates, String problem) {}
        List<Case> cases = List.of(
                new Case("{}", "{certificate: pom.xml, names: [a.example, '*.a.example']}", ""),
                new Case(
                        "{}",
                        "",
                        "listen[0].tls: has no certificate: set certificate and key here, or tls.certificates"),
                new Case("{enabled: false}", "", ""),
                new Case(
                        "{}",
                        "{names: [a.example]}",
                        "tls.certificates[0]: must have either certificate (and key) or directory"),
                new Case(
                        "{}",
                        "{directory: ., key: pom.xml}",
                        "tls.certificates[0].key: cannot be combined with directory, which contains the keys"),
                new Case(
                        "{}",
                        "{directory: ., names: ['a.*']}",
                        "tls.certificates[0].names: 'a.*' is not a name such as www.example.com or *.example.com"),
                new Case("{}", "{certificate: gone.pem}", "tls.certificates[0].certificate: warning"),
                new Case(
                        "{certificate: pom.xml, key: %s}".formatted(key),
                        "{directory: .}",
                        "tls.certificates: warning"));
        for (Case each : cases) {
            ConfigResult result =
                    ConfigLoader.parse(file.formatted(each.tls, each.certificates), "millrace.yaml", Map.of());
            boolean warned = each.problem.endsWith(": warning");
            String expected = warned ? each.problem.replace(": warning", "") : each.problem;
            assertEquals(each.problem.isEmpty() || warned, result.config() != null, result::text);
            assertTrue(result.text().contains(expected), result::text);
            assertEquals(each.problem.isEmpty() ? 0 : 1, result.problems().size(), result::text);
        }
    }

    @Test
    void refusesTheSameAddressTwice() {
        assertEquals(
                List.of("millrace.yaml:1:17: listen[1]: listens on :80 as listen[0] does"),
                bad(GOOD.replace("\":8080\"", "\":80\", \":80\"")));
        good(GOOD.replace("\":8080\"", "\":0\", \":0\""));
    }

    @Test
    void takesScalarsFromTheEnvironment() {
        Environment environment =
                new Environment(Map.of("PORT", "81", "ORIGIN", "o: {x}", "SIZE", "3GiB", "EMPTY", "")::get);
        ProxyConfig config = Objects.requireNonNull(
                ConfigLoader.parse("""
                        listen: [":${PORT:80}", "127.0.0.1:${OTHER:82}"]
                        remap: [{map: "/$${x}", to: "http://${HOST:o.example}:90${NONE:}"}]
                        cache: {ram_size: "${SIZE}"}
                        """.replace("$${x}", "x"), "millrace.yaml", Map.of(), environment)
                        .config());
        assertEquals(81, config.listeners().get(0).address().port());
        assertEquals(82, config.listeners().get(1).address().port());
        assertEquals("http://o.example:90/", config.remap().get(0).to().toString());
        assertEquals(3L << 30, config.cache().ramBytes());
    }

    /** A reader of the value must see why it differs from the file. */
    @Test
    void remembersWhichVariablesAValueWasTakenFrom() {
        Environment environment =
                new Environment(Map.of("PORT", "81", "HOST", "a.example", "RAM", "3", "NONE", "no")::get);
        Map<String, SettingPlace> places = ConfigLoader.parse(
                        """
                        listen: [":${PORT:80}", "127.0.0.1:${OTHER:82}"]
                        remap: [{map: /, to: "http://${HOST}:${PORT}", filters: ["${NONE}"]}]
                        filters: [{name: "no", action: deny}]
                        cache: {ram_size: "${RAM}GiB", fill_window: "${UNSET:1MiB}", stale_while_revalidate: 1s}
                        limits: {connections: "${PORT}"}
                        """, "millrace.yaml", Map.of("limits.connections", "7"), environment)
                .places();
        assertEquals(new SettingPlace("millrace.yaml:4:9", List.of("RAM")), places.get("cache.ram_size"));
        assertEquals(List.of(), places.get("cache.fill_window").variables(), "the default is the file's");
        assertEquals(List.of("PORT"), places.get("listen").variables());
        assertEquals(List.of("HOST", "NONE", "PORT"), places.get("remap").variables());
        assertEquals(
                new SettingPlace("--set limits.connections", List.of()),
                places.get("limits.connections"),
                "what wins over the file is not from its variables");
    }

    @Test
    void neverReadsAVariableAsYaml() {
        Environment environment = new Environment(Map.of("FORMAT", "squid\nworker: {}", "KEY", "cache")::get);
        assertEquals(
                List.of(
                        "millrace.yaml:5:24: log.access.format: 'squid\\u000aworker: {}' is none of squid, combined, common, json, binary, and not a template with %<code> fields",
                        "millrace.yaml:6:1: ${KEY}: unknown key",
                        "millrace.yaml:7:19: cache.ram_size: the environment variable UNSET is not set, and ${UNSET} has no default",
                        "millrace.yaml:7:44: cache.fill_window: '${1}' is not of the form ${NAME} or ${NAME:default}",
                        "millrace.yaml:7:69: cache.max_object_size: '${A' has ${ without }"),
                ConfigLoader.parse(GOOD + """
                                        log: {access: {format: "${FORMAT}"}}
                                        "${KEY}": {}
                                        cache: {ram_size: "${UNSET}", fill_window: "${1}", max_object_size: "${A"}
                                        """, "millrace.yaml", Map.of(), environment).problems().stream()
                        .map(ConfigProblem::text)
                        .toList());
    }

    @Test
    void escapesAReferenceWithASecondDollar() throws InvalidValueException {
        Environment environment = new Environment(Map.of("A", "1")::get);
        List<String> used = new ArrayList<>();
        assertEquals("${A}1$A", environment.expand("$${A}${A}$A", used::add));
        assertEquals(List.of("A"), used);
    }

    @Test
    void overridesWinOverTheFile() {
        Map<String, String> overrides = new LinkedHashMap<>();
        overrides.put("cache.ram_size", "2GiB");
        overrides.put("listen", "[\":1\", \":2\"]");
        overrides.put("remap", "[{map: /, to: 'http://other', cache: {enabled: 0}}]");
        ProxyConfig config = Objects.requireNonNull(
                ConfigLoader.parse(GOOD + "cache: {ram_size: 1GiB}\n", "millrace.yaml", overrides)
                        .config());
        assertEquals(2L << 30, config.cache().ramBytes());
        assertEquals(2, config.listeners().size());
        assertEquals("http://other/", config.remap().get(0).to().toString());
        assertEquals("--set remap", config.remap().get(0).location());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "cache.ram_szie | 1GiB | --set cache.ram_szie: unknown key (did you mean cache.ram_size?)",
                "cache.ram_size | 1    | --set cache.ram_size: '1' has no unit; a size is written like 512MiB (B, KiB, MiB, GiB, TiB) (did you mean 1B?)",
                "cache.ram_size | 1KiB | --set cache.ram_size: 1KiB is below the limit of 1MiB",
                "cache          | x    | --set cache: is a section; set one of its keys, such as cache.enabled",
                "remap[0].to    | x    | --set remap[0].to: an element of a list cannot be set; set the whole list (did you mean remap?)",
                "listen         | x    | --set listen: listen[0]: 'x' is not an address such as :8080, 127.0.0.1:8080 or [::1]:8080",
                "remap          | [{map: /}] | --set remap: remap[0].to: missing; it takes a URL (http://host[:port]/path)"
            })
    void overridesAreCheckedLikeTheFile(String key, String value, String expected) {
        assertEquals(
                expected,
                ConfigLoader.parse(GOOD, "millrace.yaml", Map.of(key, value)).text());
    }

    @Test
    void needsNoFileForOneOrigin() {
        ProxyConfig config = Objects.requireNonNull(ConfigLoader.forOrigin(
                        List.of(":8080", "[::1]:8081"), "http://[::1]:9000", Map.of("cache.ram_size", "64MiB"))
                .config());
        assertEquals("http://[::1]:9000/", config.remap().get(0).to().toString());
        assertEquals(2, config.listeners().size());
        assertEquals(64L << 20, config.cache().ramBytes());
        assertEquals(
                ProxyConfig.forOrigin(":8080", "http://o").remap().get(0).to(),
                Objects.requireNonNull(ConfigLoader.forOrigin(List.of(":8080"), "http://o", Map.of())
                                .config())
                        .remap()
                        .get(0)
                        .to());
        assertEquals(
                "--listen: 'x' is not an address such as :8080, 127.0.0.1:8080 or [::1]:8080\n"
                        + "--origin: 'localhost:9000' is not a URL such as http://host/path (did you mean "
                        + "http://localhost:9000?)",
                ConfigLoader.forOrigin(List.of("x"), "localhost:9000", Map.of()).text());
    }

    @Test
    void warnsOfRulesThatCannotMatchAndStillLoads() {
        ConfigResult result = ConfigLoader.parse("""
                listen: [":8080"]
                remap:
                  - {map: "http://a/x", to: "http://o"}
                  - {map: "http://a/x/y", to: "http://o"}
                  - {map: "http://a:80/x/y", to: "http://o"}
                  - {map: "http://b/x/y", to: "http://o"}
                  - {map: "/", to: "http://o"}
                  - {map: "/x", to: "http://o"}
                  - {map: "http://a/", to: "http://o"}
                  - {map: "https://a/", to: "http://o"}
                """, "millrace.yaml", Map.of());
        assertNotNull(result.config());
        assertEquals("""
            millrace.yaml:4:6: warning: remap[1].map: can never match, because remap[0] (http://a/x) precedes it \
            and takes its requests
            millrace.yaml:8:6: warning: remap[5].map: can never match, because remap[4] (/) precedes it and takes \
            its requests
            millrace.yaml:10:6: warning: remap[7].map: matches only requests for a whole URL, \
            because no address in listen has tls""", result.text());
    }

    @Test
    void warnsOfMoreStorageThanTheFileSystemHolds() {
        ConfigResult result = ConfigLoader.parse(
                GOOD + "storage: [{path: /var/cache/a, size: 200TiB}, {path: /var/cache/b, size: 200TiB}]\n",
                "millrace.yaml",
                Map.of());
        assertNotNull(result.config());
        assertTrue(
                result.text().contains("warning: storage[0].size: the file system of /var/cache/a has "),
                result.text());
        assertTrue(
                result.text().contains(", but the storage paths on it have 400TiB together; lower their sizes"),
                result.text());
    }

    @Test
    void warnsOfAnEmptyRemap() {
        ConfigResult result = ConfigLoader.parse("listen: :1\n", "millrace.yaml", Map.of());
        assertEquals("millrace.yaml: warning: remap: no rule, so every request is answered with 404", result.text());
        assertTrue(result.isOk());
    }

    private static ProxyConfig good(String text) {
        ConfigResult result = ConfigLoader.parse(text, "millrace.yaml", Map.of());
        assertEquals("", result.text());
        return Objects.requireNonNull(result.config());
    }

    private static List<String> bad(String text) {
        ConfigResult result = ConfigLoader.parse(text, "millrace.yaml", Map.of());
        assertNull(result.config());
        return result.problems().stream().map(ConfigProblem::text).toList();
    }
}
