package io.millrace.proxy.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.settings.ContentCoding;
import io.millrace.proxy.caching.settings.DictionaryRules;
import io.millrace.proxy.caching.settings.EncodingRules;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests {@code compression} in the file. */
class ConfigCompressionTest {
    private static ConfigResult read(String text) {
        return ConfigLoader.parse("listen: [':1']\n" + text, "m.yaml", Path.of("/"), Map.of());
    }

    private static List<EncodingRules> rules(String text) {
        ConfigResult result = read(text);
        assertNotNull(result.config(), result::text);
        return result.config().remap().stream()
                .map(rule -> rule.cache().settings().encoding())
                .toList();
    }

    @Test
    void anEmptySectionTurnsItOn() {
        EncodingRules all =
                rules("compression: {}\nremap: [{map: /, to: 'http://o/'}]").get(0);
        assertEquals(List.of(ContentCoding.BROTLI, ContentCoding.ZSTD, ContentCoding.GZIP), all.codings());
        assertEquals(1024, all.bytesMin());
        assertTrue(rules("remap: [{map: /, to: 'http://o/'}]").get(0).isOff());
    }

    @ParameterizedTest
    @CsvSource({"'', false", "'compression: {enabled: false}', true", "'compression: {gzip_level: 9}', false"})
    void aKeySetOutsideOfTheFileTurnsItOnUnlessTheFileTurnsItOff(String section, boolean isOff) {
        String text = "listen: [':1']\n" + section + "\nremap: [{map: /, to: 'http://o/'}]\n";
        ConfigResult result = ConfigLoader.parse(text, "m.yaml", Path.of("/"), Map.of("compression.encodings", "[br]"));
        assertNotNull(result.config(), result::text);
        EncodingRules rules = result.config().remap().get(0).cache().settings().encoding();
        assertEquals(isOff, rules.isOff());
        assertEquals(isOff ? List.of() : List.of(ContentCoding.BROTLI), rules.codings());
    }

    @Test
    void rulesOverrideIt() {
        List<EncodingRules> rules = rules("compression: {gzip_level: 9}\nremap:\n"
                + "  - {map: /a/, to: 'http://o/a/', compression: {enabled: false}}\n"
                + "  - {map: /b/, to: 'http://o/b/', compression: {encodings: [gzip]}}\n"
                + "  - {map: /, to: 'http://o/'}\n");
        assertTrue(rules.get(0).isOff());
        assertEquals(List.of(ContentCoding.GZIP), rules.get(1).codings());
        assertEquals(9, rules.get(1).level(ContentCoding.GZIP));
        assertEquals(3, rules.get(2).codings().size());
        List<EncodingRules> one = rules(
                "remap:\n  - {map: /a/, to: 'http://o/a/', compression: {}}\n" + "  - {map: /, to: 'http://o/'}\n");
        assertEquals(3, one.get(0).codings().size());
        assertTrue(one.get(1).isOff());
    }

    @Test
    void anEmptySectionTurnsDictionariesOn() {
        DictionaryRules all = rules("compression: {dictionaries: {}}\nremap: [{map: /, to: 'http://o/'}]")
                .get(0)
                .dictionaries();
        assertEquals(List.of(ContentCoding.DICTIONARY_BROTLI, ContentCoding.DICTIONARY_ZSTD), all.codings());
        assertEquals(2 << 20, all.bytesMax());
        assertTrue(rules("compression: {}\nremap: [{map: /, to: 'http://o/'}]")
                .get(0)
                .dictionaries()
                .isOff());
        List<EncodingRules> one = rules("compression: {br_level: 7}\nremap:\n"
                + "  - {map: /a/, to: 'http://o/a/', compression: {dictionaries: {encodings: [dcb]}}}\n"
                + "  - {map: /, to: 'http://o/'}\n");
        assertEquals(7, one.get(0).level(ContentCoding.DICTIONARY_BROTLI));
        assertTrue(one.get(1).dictionaries().isOff());
    }

    /** The memory is that of all rules, so a rule that turns dictionaries on is checked too. */
    @ParameterizedTest
    @CsvSource({"8MiB, 2MiB, false", "8MiB, 1MiB, true", "14MiB, 2MiB, true"})
    void theMemoryIsEnoughForADictionaryOfEachRule(String memory, String size, boolean isValid) {
        String rule = "{map: /, to: 'http://o/', compression: {dictionaries: {max_size: " + size + "}}}";
        String general = "compression: {enabled: false, dictionaries: {enabled: false, memory: " + memory + "}}\n";
        assertEquals(isValid, read(general + "remap: [" + rule + "]\n").config() != null);
        String byDefault = "{map: /, to: 'http://o/', compression: {dictionaries: {}}}";
        boolean isDefaultValid = !memory.equals("8MiB");
        assertEquals(
                isDefaultValid, read(general + "remap: [" + byDefault + "]\n").config() != null);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "compression: {encodings: [deflate]} # compression.encodings: 'deflate' is not an encoding; use br, zstd",
                "compression: {encodings: [br, br]} # compression.encodings: 'br' is listed twice",
                "compression: {encodings: [dcb]} # compression.encodings: 'dcb' is not an encoding; use br, zstd and gzip",
                "compression: {dictionaries: {encodings: [br]}} # 'br' is not an encoding with a dictionary; use dcb and dcz",
                "compression: {dictionaries: {max_size: 1GiB}} # compression.dictionaries.max_size: 1GiB is above the",
                "compression: {dictionaries: {max_size: 8MiB}} # max_size 8MiB needs 51204KiB of memory with the tables of"
                        + " encoders, above compression.dictionaries.memory 32MiB; lower max_size or raise memory",
                "compression: {dictionaries: {memory: 8MiB}} # compression.dictionaries.memory: max_size 2MiB needs",
                "compression: {types: [html]} # compression.types: 'html' is no media type, such as text/html or",
                "compression: {min_size: 2MiB, max_size: 1MiB} # compression.min_size: min_size 2MiB is above max_size",
                "compression: {br_level: 12} # compression.br_level: 12 is above the limit of 11",
                "compression: true # compression: must be a section with keys such as enabled"
            })
    void faultsHaveTheirPlace(String text, String message) {
        ConfigResult result = read(text + "\nremap: [{map: /, to: 'http://o/'}]\n");
        assertNull(result.config());
        assertTrue(
                result.text().matches("(?s)m\\.yaml:2:\\d+: .*")
                        && result.text().contains(message),
                result::text);
    }
}
