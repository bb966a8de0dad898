package io.millrace.proxy.config.yaml;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.origins.TunnelKeys;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests YAML features beyond keys and values, and their limits. */
final class ConfigYamlTest {
    private static final String BASE = """
            listen: [":8080"]
            remap:
              - &base {map: http://a.test/, to: http://127.0.0.1:9000/, pristine_host_hdr: true}
            """;

    private static ConfigResult load(String text) {
        return ConfigLoader.parse(text, "test.yaml", Map.of());
    }

    @Test
    void mergesSectionsWithTheirOwnKeysFirst() {
        ConfigResult result = load(BASE + """
                  - {<<: *base, map: http://b.test/}
                  - <<: [*base]
                    map: http://c.test/
                    pristine_host_hdr: false
                """);
        ProxyConfig config = result.config();
        assertNotNull(config, () -> result.problems().toString());
        assertEquals(
                List.of(true, true, false),
                config.remap().stream().map(RemapRuleConfig::pristineHostHdr).toList());
        assertEquals("b.test", config.remap().get(1).from().host());
    }

    @Test
    void namesThePlaceOfAnUnmergeableNode() {
        assertEquals(
                "test.yaml:4:6: remap[1]: << must have a section or a list of sections, such as *defaults",
                load(BASE + "  - {<<: 7, map: http://b.test/, to: http://127.0.0.1:9000/}\n")
                        .problems()
                        .get(0)
                        .text());
    }

    @Test
    void aSectionThatMergesItselfHasNothingToAdd() {
        ConfigResult result = load(BASE + "  - &own {<<: *own, map: http://b.test/, to: http://127.0.0.1:9000/}\n");
        assertNotNull(result.config(), () -> result.problems().toString());
    }

    @Test
    void limitsTheExpansionOfAliases() {
        String word = "w".repeat(1 << 20);
        StringBuilder text = new StringBuilder("x: &a " + word + "\nlisten: [':8080']\nremap:\n");
        text.append("  - {map: /, to: *a}\n".repeat(100));
        ConfigResult result = load(text.toString());
        assertNull(result.config());
        assertTrue(
                result.problems().stream()
                        .anyMatch(problem -> problem.text().contains("aliases")
                                && problem.text().contains("limit of 64MiB")),
                () -> result.problems().get(0).text());
    }

    @Test
    void keepsProblemsAndTheirTextsShort() {
        ConfigResult many = load(BASE + lines(5000));
        assertEquals(ConfigProblems.PROBLEMS_MAX + 1, many.problems().size());
        assertTrue(many.problems().get(ConfigProblems.PROBLEMS_MAX).text().contains("4000 more problems"));

        ConfigResult large = load(BASE + "cache: {enabled: " + "x".repeat(3 << 20) + "}\n");
        assertTrue(large.problems().get(0).text().length() < 2000);
        assertEquals(4, large.problems().get(0).line());
    }

    private static String lines(int count) {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < count; i++) {
            lines.append("k").append(i).append(": 1\n");
        }
        return lines.toString();
    }

    @Test
    void takesListsOfWordsInBrackets() {
        for (String value : List.of("[\"websocket\"]", "[websocket]", "websocket", " [ 'websocket' ] ")) {
            ConfigResult result = ConfigLoader.parse(BASE, "test.yaml", Map.of("upgrade", value));
            assertNotNull(result.config(), () -> result.problems().toString());
            assertEquals(List.of("websocket"), result.config().values().get(TunnelKeys.UPGRADE));
            assertEquals(
                    BASE + "upgrade: [websocket]\n",
                    ConfigEdit.of(BASE, "test.yaml", "upgrade", value).text());
        }
    }
}
