package io.millrace.proxy.config.yaml;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.problem.ConfigDocument;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.value.Environment;
import io.millrace.proxy.config.value.InvalidValueException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.Tag;

final class ConfigEditTest {
    private static final String FILE = """
            # Our proxy.
            listen: [":8080"]   # the load balancer's

            remap:
              - map: /          # everything
                to: http://origin/
            # What we cache.
            cache:
                ram_size: 1GiB  # half of it
                # ttl of the shop
                heuristic_max_lifetime: "1h"

            # the end
            """;

    private static String edited(String text, String key, String value) {
        ConfigEdit edit = ConfigEdit.of(text, "m.yaml", key, value);
        assertEquals("", edit.obstacle());
        String changed = edit.text();
        assertNotNull(changed);
        ConfigDocument before = new ConfigDocument("m.yaml", Path.of("/"), text, Map.of());
        ConfigDocument after = new ConfigDocument("m.yaml", Path.of("/"), changed, Map.of());
        ConfigResult wanted = ConfigLoader.parse(before, Map.of(), Map.of(key, value));
        ConfigResult is = ConfigLoader.parse(after, Map.of(), Map.of());
        // The test machine may permit fewer open files than the default of limits.connections, which causes a warning.
        assertTrue(is.isOk(), is::text);
        assertEquals(wanted.config(), is.config(), changed);
        return changed;
    }

    private static String obstacle(String text, String key, String value) {
        ConfigEdit edit = ConfigEdit.of(text, "m.yaml", key, value);
        assertNull(edit.text());
        return edit.obstacle();
    }

    @Test
    void replacesAValueAndNothingElse() {
        assertEquals(FILE.replace("1GiB", "2GiB"), edited(FILE, "cache.ram_size", "2GiB"));
        assertEquals(FILE.replace("\"1h\"", "2h"), edited(FILE, "cache.heuristic_max_lifetime", "2h"));
        assertEquals(
                FILE.replace("[\":8080\"]", "[\":8081\", \":8082\"]"),
                edited(FILE, "listen", "[\":8081\", \":8082\"]"));
    }

    @Test
    void addsAKeyAtTheEndOfItsSectionIndentedAsTheOthersAre() {
        assertEquals(FILE.replace("\"1h\"\n", "\"1h\"\n    enabled: false\n"), edited(FILE, "cache.enabled", "false"));
        assertEquals(
                FILE.replace("\"1h\"\n", "\"1h\"\n    range:\n        lookup: false\n"),
                edited(FILE, "cache.range.lookup", "false"));
    }

    @Test
    void addsASectionBehindTheLastLineOfContent() {
        assertEquals(
                FILE.replace("\"1h\"\n", "\"1h\"\nlimits:\n    connections: 77\n"),
                edited(FILE, "limits.connections", "77"));
        assertEquals(
                FILE.replace("\"1h\"\n", "\"1h\"\npristine_host_hdr: true\n"),
                edited(FILE, "pristine_host_hdr", "true"));
    }

    @Test
    void fillsASectionThatIsThereAndEmpty() {
        String text = FILE + "limits:   # none yet\n  # connections: 5\n";
        assertEquals(
                text.replace("none yet\n", "none yet\n    connections: 77\n"),
                edited(text, "limits.connections", "77"));
    }

    @Test
    void goesOnInTheStyleOfAFlow() {
        String text = "{listen: [':1'], remap: [{map: /, to: 'http://o/'}], limits: {}, cache: {enabled: true, }}";
        assertTrue(edited(text, "limits.connections", "7").contains("limits: {connections: 7}"));
        assertTrue(edited(text, "cache.ram_size", "1GiB").contains("{enabled: true, ram_size: 1GiB, }"));
        assertTrue(edited(text, "dns.prefer", "ipv4").endsWith(", dns: {prefer: ipv4}}"));
    }

    @Test
    void keepsTheEndsOfLinesAndAMissingLastOne() {
        String text = FILE.replace("\n", "\r\n");
        assertEquals(
                text.replace("\"1h\"\r\n", "\"1h\"\r\n    enabled: false\r\n"), edited(text, "cache.enabled", "false"));
        String unended = FILE.substring(0, FILE.indexOf("\n\n# the end"));
        assertEquals(unended + "\n    enabled: false", edited(unended, "cache.enabled", "false"));
        assertEquals("\uFEFF" + FILE.replace("1GiB", "2GiB"), edited("\uFEFF" + FILE, "cache.ram_size", "2GiB"));
    }

    @Test
    void countsCharactersOutsideOfTheBasicPlaneAsTheParserDoes() {
        String text = FILE.replace("Our proxy", "Unser Proxy 🚀 \u4e16");
        assertEquals(text.replace("1GiB", "2GiB"), edited(text, "cache.ram_size", "2GiB"));
    }

    @Test
    void writesAListOverSeveralLinesAsOneLineWhenItHasNoComment() {
        String text = FILE + "methods:\n  - GET\n  - HEAD\n\n# more\n";
        assertEquals(
                text.replace("methods:\n  - GET\n  - HEAD\n", "methods: [GET, POST]\n"),
                edited(text, "methods", "GET,POST"));
        assertEquals(
                "m.yaml:15:3: has comments inside, which would be lost; change it by hand, then reload",
                obstacle(text.replace("- GET", "- GET # and"), "methods", "GET"));
    }

    @Test
    void leavesAnchorsAndAliasesUnchanged() {
        String text = FILE + "timeouts:\n  client_body: &t 5s\n  client_header: *t\n";
        assertEquals(
                "m.yaml:15:3: has an anchor or an alias; change it by hand, then reload",
                obstacle(text, "timeouts.client_body", "6s"));
        assertEquals(
                "m.yaml:16:3: has an anchor or an alias; change it by hand, then reload",
                obstacle(text, "timeouts.client_header", "6s"));
        assertEquals(text.replace("*t\n", "*t\n  tunnel_idle: 9s\n"), edited(text, "timeouts.tunnel_idle", "9s"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "null",
                "a: b # c",
                "it's \"so\"",
                "${HOME}",
                "\\",
                "&a",
                "*",
                "- x",
                "[1]",
                "ü",
                "true",
                "",
                "~",
                "$${A}",
                "a\tb",
                "\u2028",
                "http://h/?a=b&c#d"
            })
    void quotesAmbiguousValuesForYamlAndTheEnvironment(String value) throws InvalidValueException {
        ConfigProblems problems = new ConfigProblems();
        String flow = "{key: " + FlowText.scalar(value) + "}";
        MappingNode mapping = (MappingNode) YamlText.compose(flow, "t", problems);
        assertNotNull(mapping, () -> flow + problems.sorted());
        ScalarNode scalar = (ScalarNode) mapping.getValue().get(0).getValueNode();
        assertNotEquals(Tag.NULL, scalar.getTag());
        assertEquals(value, new Environment(name -> "replaced").expand(scalar.getValue(), name -> {}));
    }

    /** Operators start from the sample: every key with a default can be written into it. */
    @Test
    void writesEveryKeyOfTheCatalogueIntoTheSample() throws Exception {
        String sample = Files.readString(Path.of("../dist/src/main/dist/conf/millrace.yaml"));
        int written = 0;
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            Object value = key.defaultValue();
            boolean inElement = key.path().indexOf('[') >= 0;
            if (inElement
                    || value == null
                    || List.of(ConfigKeys.LISTEN, ConfigKeys.REMAP).contains(key)) {
                continue;
            }
            String text = edited(sample, key.path(), key.format(value));
            List<String> kept = text.lines().toList();
            assertTrue(
                    kept.containsAll(sample.lines().filter(l -> l.contains("#")).toList()), key.path());
            written++;
        }
        assertTrue(written > 100, () -> "only some of the keys");
    }
}
