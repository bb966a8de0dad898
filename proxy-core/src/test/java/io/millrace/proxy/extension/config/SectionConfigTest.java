package io.millrace.proxy.extension.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.spi.ExtensionConfig;
import io.millrace.proxy.spi.ExtensionConfigException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Tests the configuration that extensions read. */
final class SectionConfigTest {
    private static ExtensionConfig read(String config) {
        String text = "listen: [':8080']\nremap: [{map: /, to: 'http://o/'}]\nextensions:\n  - name: ext\n    config:\n"
                + config.indent(6);
        ConfigResult result = ConfigLoader.parse(text, "m.yaml", Map.of());
        ProxyConfig read = result.config();
        if (read == null) {
            throw new AssertionError(result.text());
        }
        return SectionConfig.of(read.extensions().list().get(0).config());
    }

    private static void assertProblem(String expected, Executable call) {
        ExtensionConfigException problem = assertThrows(ExtensionConfigException.class, call);
        assertEquals(expected, problem.place() + " " + problem.key() + " " + problem.getMessage());
    }

    @Test
    void readsEveryType() throws Exception {
        ExtensionConfig config = read("""
                text: some words
                number: 42
                flag: true
                wait: 1m30s
                list: [a, b]
                service: {url: "http://auth/"}
                routes:
                  - {path: /a}
                  - {path: /b}
                """);
        assertEquals("some words", config.text("text"));
        assertEquals(42, config.number("number", 1, 0, 100));
        assertTrue(config.flag("flag", false));
        assertEquals(Duration.ofSeconds(90), config.duration("wait", Duration.ZERO));
        assertEquals(List.of("a", "b"), config.texts("list"));
        assertEquals("http://auth/", config.section("service").text("url"));
        assertEquals("/b", config.sections("routes").get(1).text("path"));
        assertEquals(
                List.of("text", "number", "flag", "wait", "list", "service", "routes"), List.copyOf(config.keys()));
        config.rejectOtherKeys();
    }

    @Test
    void missingKeysHaveTheDefault() throws Exception {
        ExtensionConfig config = read("{other: 1}");
        assertEquals("d", config.text("text", "d"));
        assertEquals(7, config.number("number", 7, 0, 100));
        assertFalse(config.flag("flag", false));
        assertEquals(Duration.ofSeconds(2), config.duration("wait", Duration.ofSeconds(2)));
        assertEquals(List.of(), config.texts("list"));
        assertEquals(List.of(), config.sections("routes"));
        assertEquals("d", config.section("service").text("url", "d"));
        assertProblem("m.yaml:6:7 text missing; it takes a text", () -> config.text("text"));
    }

    @Test
    void problemsHaveThePlaceOfTheValue() throws Exception {
        ExtensionConfig config = read("""
                number: many
                big:     101
                flag: maybe
                wait: 5 apples
                list: [a, [b]]
                service: {url: [1]}
                routes: [x]
                """);
        assertProblem("m.yaml:6:15 number 'many' is not an integer", () -> config.number("number", 1, 0, 100));
        assertProblem("m.yaml:7:16 big 101 is above the limit of 100", () -> config.number("big", 1, 0, 100));
        assertProblem("m.yaml:7:16 big 101 is below the limit of 200", () -> config.number("big", 1, 200, 300));
        assertProblem("m.yaml:8:13 flag 'maybe' is neither true nor false", () -> config.flag("flag", true));
        assertThrows(ExtensionConfigException.class, () -> config.duration("wait", Duration.ZERO));
        assertProblem("m.yaml:10:17 list[1] must be a single value, this is a list", () -> config.texts("list"));
        assertProblem("m.yaml:10:13 list must be a single value, this is a list", () -> config.text("list"));
        assertProblem("m.yaml:6:15 number must be a list, this is a single value", () -> config.texts("number"));
        assertProblem("m.yaml:11:22 service.url must be a single value, this is a list", () -> config.section("service")
                .text("url"));
        assertProblem(
                "m.yaml:12:16 routes[0] must be a section, this is a single value", () -> config.sections("routes"));
        ExtensionConfigException own = config.problem("flag", "is not possible today");
        assertEquals("m.yaml:8:13 flag is not possible today", own.place() + " " + own.key() + " " + own.getMessage());
    }

    @Test
    void rejectsKeysThatNobodyReads() throws Exception {
        ExtensionConfig config = read("{url: x, servce: 1, deep: {a: 1, port: 2}}");
        config.text("url");
        config.text("service", "");
        ExtensionConfig deep = config.section("deep");
        assertProblem("m.yaml:6:24 servce unknown key (did you mean service?)", config::rejectOtherKeys);
        config.text("servce");
        config.rejectOtherKeys();
        deep.text("a");
        assertProblem("m.yaml:6:46 deep.port unknown key", deep::rejectOtherKeys);
    }
}
