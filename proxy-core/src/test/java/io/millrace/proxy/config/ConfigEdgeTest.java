package io.millrace.proxy.config;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests {@code cors} and {@code cache.leak_guard} in the file. */
class ConfigEdgeTest {
    private static ConfigResult read(String text) {
        return ConfigLoader.parse("listen: [':1']\n" + text, "m.yaml", Map.of());
    }

    private static String general(String text) {
        return "remap: [{map: /, to: 'http://o/'}]\n" + text;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "cache: {leak_guard: yes} # cache.leak_guard: 'yes' is none of off, warn, on",
                "cors: {origins: a.example} # cors.origins: 'a.example' is not an origin, such as https://www",
                "cors: {origins: 'https://'} # cors.origins: 'https://' is not an origin",
                "cors: {origins: 'https://a.example/'} # cors.origins: 'https://a.example/' has more than scheme, host",
                "cors: {origins: 'https://A.example'} # cors.origins: 'https://A.example' has capital letters",
                "cors: {origins: 'https://a.example:443'} # cors.origins: 'https://a.example:443' has the default port",
                "cors: {origins: 'https://*.example'} # cors.origins: 'https://*.example' contains *; use an",
                "cors: {origins: '~('} # cors.origins: '~(' is not a regular expression",
                "cors: {origins: ['*', 'https://a.example']} # cors.origins: * stands for all origins; remove",
                "cors: {origins: '*', credentials: true} # cors.credentials: cannot be used with cors.origins: *;",
                "cors: {origins: 'null', credentials: true} # cors.credentials: cannot be used with the origin null",
                "cors: {origins: 'https://a', credentials: true, headers: '*'} # cors.headers: cors.headers: * has no",
                "cors: {origins: 'https://a', headers: ['*', X-A]} # cors.headers: * stands for all; remove the",
                "cors: {max_age: 1h} # cors.max_age: has no effect without cors.origins",
                "cors: {origins: '*', max_age: 2d} # cors.max_age",
            })
    void faultsHaveTheirPlace(String text, String message) {
        ConfigResult result = read(general(text));
        assertNull(result.config());
        assertTrue(
                result.text().matches("(?s)m\\.yaml:3:\\d+: .*")
                        && result.text().contains(message),
                result::text);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "{cors: {origins: '*', credentials: true}} # remap[0].cors.credentials: cannot be used with",
                "{cors: {expose: [X-A]}} # remap[0].cors.expose: has no effect without cors.origins",
            })
    void faultsOfRulesHaveTheirPlace(String settings, String message) {
        String keys = settings.substring(1, settings.length() - 1);
        ConfigResult result = read("remap:\n- {map: /, to: 'http://o/', " + keys + "}\n");
        assertNull(result.config());
        assertTrue(
                result.text().matches("(?s)m\\.yaml:3:\\d+: .*")
                        && result.text().contains(message),
                result::text);
    }

    /** A rule turns credentials on that the general origins do not permit. */
    @org.junit.jupiter.api.Test
    void rulesAreCheckedWithTheGeneralSettings() {
        ConfigResult result =
                read("cors: {origins: '*'}\nremap:\n- {map: /, to: 'http://o/', cors: {credentials: true}}\n");
        assertNull(result.config());
        assertTrue(result.text().startsWith("m.yaml:4:"), result::text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "cors: {origins: ['https://a.example', 'http://localhost:3000', '~https://.{1,3}\\.example', 'null']}",
                "cors: {origins: ['https://a.example'], credentials: true, headers: [X-A], max_age: 1d}",
                "cors: {origins: '*', headers: '*', methods: '*', expose: '*'}",
                "cors: {enabled: false}",
                "cors: {origins: '*', credentials: true, enabled: false}",
                "cache: {leak_guard: off}",
                "cache: {leak_guard: on}"
            })
    void validSettingsAreAccepted(String text) {
        ConfigResult result = read(general(text));
        assertNotNull(result.config(), result::text);
    }
}
