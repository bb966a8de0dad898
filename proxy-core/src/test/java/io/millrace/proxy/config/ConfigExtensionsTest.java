package io.millrace.proxy.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.extension.ExtensionKeys;
import io.millrace.proxy.config.extension.ExtensionSettings;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigTree;
import io.millrace.proxy.config.key.OnError;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.config.yaml.FlowText;
import io.millrace.proxy.extension.load.ExtensionJars;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests {@code extensions} in the file. */
final class ConfigExtensionsTest {
    private static final String GOOD = "listen: [':8080']\nremap: [{map: /, to: 'http://o/'}]\n";

    @TempDir
    private Path directory;

    private ConfigResult read(String text) {
        return ConfigLoader.parse(text.contains("remap:") ? text : GOOD + text, "m.yaml", directory, Map.of());
    }

    private ProxyConfig config(String text) {
        ConfigResult result = read(text);
        assertNotNull(result.config(), result::text);
        return result.config();
    }

    private void writePlain(String name) throws Exception {
        ExtensionJars.one(directory.resolve("a.jar"), name, ExtensionJars.PLAIN.formatted(name));
    }

    @Test
    void readsEveryKey() throws Exception {
        writePlain("Plain");
        List<ExtensionSettings> list = config("""
                extensions:
                  - name: ab
                    jar: a.jar
                    class: Plain
                    on_error: closed
                    deadline: 300ms
                    config: {cookie: variant, shares: [50, 50]}
                  - name: own
                """).extensions().list();
        ExtensionSettings first = list.get(0);
        assertEquals("ab", first.name());
        assertEquals(directory.resolve("a.jar"), first.jar().path());
        assertEquals("Plain", first.className());
        assertEquals(OnError.CLOSED, first.onError());
        assertEquals(Duration.ofMillis(300), first.deadline());
        assertEquals("{cookie=variant, shares=[50, 50]}", first.config().toString());
        assertEquals("m.yaml:4:5", first.place());
        ExtensionSettings second = list.get(1);
        assertNull(second.jar());
        assertNull(second.onError());
        assertEquals(Duration.ofSeconds(5), second.deadline());
        assertEquals(ConfigTree.EMPTY, second.config());
    }

    @Test
    void everyRuleUsesAllExtensionsUnlessItNamesSome() {
        ProxyConfig config = config("""
                listen: [':8080']
                remap:
                  - {map: 'http://a/', to: 'http://o/'}
                  - {map: 'http://b/', to: 'http://o/', extensions: [two]}
                  - {map: 'http://c/', to: 'http://o/', extensions: []}
                extensions: [{name: one}, {name: two}]
                """);
        assertTrue(config.remap().get(0).usesExtension("one"));
        assertFalse(config.remap().get(1).usesExtension("one"));
        assertTrue(config.remap().get(1).usesExtension("two"));
        assertFalse(config.remap().get(2).usesExtension("two"));
        assertTrue(config.forwardRule().usesExtension("one"));
    }

    @Test
    void faultsOfTheListHavePlaces() throws Exception {
        writePlain("Plain");
        Files.writeString(directory.resolve("text.jar"), "no jar");
        ExtensionJars.write(
                directory.resolve("none.jar"), List.of(), Map.of("Plain", ExtensionJars.PLAIN.formatted("Plain")));
        ExtensionJars.write(
                directory.resolve("two.jar"), List.of("A", "B"), Map.of("A", ExtensionJars.PLAIN.formatted("A")));
        ConfigResult result = read("""
                listen: [':8080']
                remap: [{map: /, to: 'http://o/', extensions: [tow]}]
                extensions:
                  - {name: two, jar: two.jar}
                  - {name: missing, jar: nowhere.jar}
                  - {name: text, jar: text.jar}
                  - {name: none, jar: none.jar}
                  - {name: class, jar: none.jar, class: Other}
                  - {name: two}
                  - {name: "no name"}
                  - {name: empty, config: {a: {b: }}}
                  - {name: twice, config: {a: 1, a: 2}}
                  - {jar: a.jar}
                """.replace("none.jar, class: Other", "a.jar, class: Other"));
        String at = directory + "/";
        assertEquals(
                List.of(
                        "m.yaml:4:17: extensions[0].jar: " + at
                                + "two.jar names 2 extensions: A, B; choose one by class",
                        "m.yaml:5:26: extensions[1].jar: " + at + "nowhere.jar: no such file",
                        "m.yaml:6:18: extensions[2].jar: " + at + "text.jar is not a jar: zip END header not found",
                        "m.yaml:7:18: extensions[3].jar: " + at + "none.jar names no extension: it has no class in"
                                + " META-INF/services/io.millrace.proxy.spi.Extension",
                        "m.yaml:8:19: extensions[4].jar: " + at + "a.jar has no class Other",
                        "m.yaml:9:6: extensions[5].name: 'two' is the name of extensions[0] too",
                        "m.yaml:10:6: extensions[6].name: 'no name' is not a name of 1 to 64 letters, digits, '-' and '_'",
                        "m.yaml:11:34: extensions[7].config.a.b: has no value",
                        "m.yaml:12:34: extensions[8].config.a: set twice",
                        "m.yaml:13:5: extensions[9].name: missing; it takes a text (text)"),
                result.problems().stream().map(Object::toString).toList());
    }

    @Test
    void aRuleNamesKnownExtensions() {
        assertEquals(
                "m.yaml:2:35: remap[0].extensions: 'tow' is not the name of an element of extensions (did you mean two?)",
                read("""
                        listen: [':8080']
                        remap: [{map: /, to: 'http://o/', extensions: [tow]}]
                        extensions: [{name: two}]
                        """).text());
        assertTrue(read("""
                        listen: [':8080']
                        remap: [{redirect: /, to: 'http://o/', extensions: [two]}]
                        extensions: [{name: two}]
                        """).text().contains("cannot be set for redirect"));
    }

    @Test
    void aChangedJarIsAChangeThatNeedsANewWorker() throws Exception {
        String text = "extensions: [{name: a, jar: a.jar}]\n";
        writePlain("Plain");
        ProxyConfig before = config(text);
        assertEquals(List.of(), ConfigChange.between(before, config(text)));
        writePlain("Other");
        List<ConfigChange> changes = ConfigChange.between(before, config(text));
        assertEquals(
                List.of("extensions"), changes.stream().map(ConfigChange::key).toList());
        assertEquals(ConfigKey.Apply.ROLLING, changes.get(0).apply());
    }

    @Test
    void aNamedExtensionOfARuleIsALiveChange() {
        String list = "extensions: [{name: a}]\n";
        List<ConfigChange> changes = ConfigChange.between(
                config(GOOD + list), config(GOOD.replace("'http://o/'", "'http://o/', extensions: []") + list));
        assertEquals(List.of("remap"), changes.stream().map(ConfigChange::key).toList());
        assertEquals(ConfigKey.Apply.LIVE, changes.get(0).apply());
    }

    /** The text of the list, as {@code config get} shows it, can be set again. */
    @Test
    void theTextOfTheListReadsAsTheSameList() {
        ProxyConfig config = config("extensions: [{name: a, on_error: open, config:"
                + " {'a b': ['x: y', {c: \"d\\\"\"}], n: 1, t: 'true', e: ''}}]");
        String text = FlowText.of(config.values(), ExtensionKeys.EXTENSIONS, 10_000);
        ProxyConfig again = config("extensions: " + text);
        assertEquals(
                config.extensions().list().get(0).config(),
                again.extensions().list().get(0).config(),
                text);
        assertEquals(List.of(), ConfigChange.between(config, again));
        assertNotEquals(config, config("extensions: [{name: a, on_error: open}]"));
    }

    /** Aliases can make a node contain itself. */
    @Test
    void refusesSectionsThatAreNestedTooDeeply() {
        String text = read("extensions: [{name: a, config: &x {y: *x}}]\n").text();
        assertTrue(text.contains("is nested more deeply than the limit of 20"), text);
    }
}
