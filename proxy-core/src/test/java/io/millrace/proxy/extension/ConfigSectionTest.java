package io.millrace.proxy.extension;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.spi.ExtensionConfig;
import io.millrace.proxy.spi.ExtensionConfigException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class ConfigSectionTest {
    private final ExtensionConfig config = new ConfigSection(
            Map.of(
                    "text",
                    "a",
                    "number",
                    7,
                    "flag",
                    true,
                    "wait",
                    "500ms",
                    "texts",
                    List.of("a", 1),
                    "service",
                    Map.of("url", "http://a/", "retries", "many"),
                    "services",
                    List.of(Map.of("url", "b"), "no section")),
            key -> "m.yaml:" + key.length() + ":1");

    private static void assertProblem(String place, String key, String message, Executable read) {
        ExtensionConfigException problem = assertThrows(ExtensionConfigException.class, read);
        assertEquals(place, problem.place());
        assertEquals(key, problem.key());
        assertEquals(message, problem.getMessage());
    }

    @Test
    void readsEachType() throws Exception {
        assertEquals("a", config.text("text"));
        assertEquals("7", config.text("number"));
        assertEquals("b", config.text("none", "b"));
        assertEquals(7, config.number("number", 1, 0, 10));
        assertEquals(1, config.number("none", 1, 0, 10));
        assertTrue(config.flag("flag", false));
        assertFalse(config.flag("none", false));
        assertEquals(Duration.ofMillis(500), config.duration("wait", Duration.ZERO));
        assertEquals(Duration.ofDays(2), config.duration("none", Duration.ofDays(2)));
        assertEquals(List.of("a", "1"), config.texts("texts"));
        assertEquals(List.of(), config.texts("none"));
        assertEquals("http://a/", config.section("service").text("url"));
        assertFalse(config.section("none").has("url"));
        assertEquals(List.of(), config.sections("none"));
        assertEquals(7, config.keys().size());
    }

    @Test
    void reportsFaultsWithPlaceAndPath() {
        assertProblem("m.yaml:4:1", "none", "the key is missing; it needs a text", () -> config.text("none"));
        assertProblem(
                "m.yaml:6:1", "number", "\"7\" is not an integer from 8 to 9", () -> config.number("number", 8, 8, 9));
        assertProblem("m.yaml:15:1", "service.retries", "\"many\" is not an integer from 0 to 9", () -> config.section(
                        "service")
                .number("retries", 0, 0, 9));
        assertProblem("m.yaml:4:1", "text", "\"a\" is neither true nor false", () -> config.flag("text", true));
        assertProblem(
                "m.yaml:4:1",
                "text",
                "\"a\" is not a duration such as 500ms, 30s, 5m, 1h or 1d",
                () -> config.duration("text", Duration.ZERO));
        assertProblem("m.yaml:4:1", "text", "the value is not a list", () -> config.texts("text"));
        assertProblem("m.yaml:7:1", "service", "the value is not a text", () -> config.text("service"));
        assertProblem(
                "m.yaml:4:1", "text", "the value is not a section with keys of its own", () -> config.section("text"));
        assertProblem(
                "m.yaml:11:1",
                "services[1]",
                "the value is not a section with keys of its own",
                () -> config.sections("services"));
    }

    @Test
    void rejectsKeysThatWereNotRead() throws Exception {
        ExtensionConfig section = config.section("service");
        assertEquals("http://a/", section.text("url"));
        assertProblem(
                "m.yaml:15:1",
                "service.retries",
                "the extension has no such key; it reads [url]",
                section::rejectOtherKeys);
        assertEquals("many", section.text("retries"));
        section.rejectOtherKeys();
    }
}
