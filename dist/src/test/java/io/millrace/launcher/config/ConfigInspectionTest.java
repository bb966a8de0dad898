package io.millrace.launcher.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.config.ConfigInspector;
import io.millrace.proxy.admin.config.ConfigInspector.Difference;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Tests the report about the running configuration: the sources of its values, and its differences from other
 * configurations.
 */
class ConfigInspectionTest extends ConfigChangesFixture {
    /** Every environment has PATH. */
    @Test
    void aValueFromTheEnvironmentIsShownWithItsVariable() throws Exception {
        run(FILE + "admin: {token_file: \"/x${PATH}\"}\n");
        ConfigInspector.KeyValue setting =
                inspection.settings(List.of("admin.token_file")).get(0);
        assertEquals("/x" + System.getenv("PATH"), setting.value());
        assertEquals(List.of("PATH"), setting.variables());
        assertTrue(setting.place().endsWith("millrace.yaml:" + (FILE.lines().count() + 1) + ":9"), setting::place);
        assertEquals(
                List.of("PATH"),
                inspection.diff().differences().stream()
                        .filter(difference -> difference.key().equals("admin.token_file"))
                        .findFirst()
                        .orElseThrow()
                        .variables());
        done(changes.set(Map.of("limits.connections", "9"), false));
        assertEquals(
                List.of(),
                inspection.settings(List.of("limits.connections")).get(0).variables());
    }

    @Test
    void comparesTwoConfigurationsOfTheHistory() throws Exception {
        run(FILE);
        done(changes.set(Map.of("limits.connections", "2000"), false));
        Difference difference = inspection.diff(1, 2).differences().get(0);
        assertEquals(
                "limits.connections 1000 2000",
                difference.key() + " " + difference.before() + " " + difference.after());
    }
}
