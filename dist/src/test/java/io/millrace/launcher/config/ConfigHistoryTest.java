package io.millrace.launcher.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.config.ConfigControl.ReloadReport;
import io.millrace.proxy.admin.config.ConfigControl.Result;
import io.millrace.proxy.admin.config.ConfigInspector;
import io.millrace.proxy.admin.config.ConfigInspector.Difference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests which configurations are kept, for how long and for whom, and rollbacks to them. */
class ConfigHistoryTest extends ConfigChangesFixture {
    @Test
    void rollsBackWithoutTouchingTheFileUntilTheNextReload() throws Exception {
        run(FILE);
        Files.writeString(file, FILE.replace("1000", "2000"));
        done(changes.reload());
        done(changes.set(Map.of("cache.enabled", "false"), false));
        ReloadReport report = done(changes.rollback(1));

        assertEquals(Map.of("limits.connections", Result.APPLIED, "cache.enabled", Result.APPLIED), results(report));
        assertEquals(1000, connections());
        assertEquals(FILE.replace("1000", "2000"), Files.readString(file));
        List<Difference> pending = inspection.diff().pending();
        assertEquals("limits.connections", pending.get(0).key());
        assertEquals("2000", pending.get(0).after());
        assertTrue(inspection.diff().notes().contains("configuration 1 of the history is in use instead of the file"));
        assertTrue(
                done(changes.reload()).notes().get(0).startsWith("the file is used again instead of configuration 1"));
        assertEquals(2000, connections());
        assertEquals(List.of("start", "reload", "set", "rollback to 1", "reload"), by());
    }

    @Test
    void rollsBackToThePreviousConfigurationAndFurtherEachTime() throws Exception {
        run(FILE);
        done(changes.set(Map.of("limits.connections", "2000"), false));
        done(changes.set(Map.of("limits.connections", "3000"), false));
        done(changes.rollback(0));
        assertEquals(2000, connections());
        done(changes.rollback(0));
        assertEquals(1000, connections());
        assertEquals(List.of(), inspection.diff().notes(), "it is the file again");
        assertFalse(done(changes.rollback(99)).ok());
        assertFalse(done(changes.rollback(0)).ok(), "there is none before the first");
        assertEquals(1000, connections(), "never what was rolled back from");
    }

    @Test
    void keepsTheConfiguredNumberOfConfigurationsForThisUserOnly() throws Exception {
        run(FILE + "admin: {config_history: 2}\n");
        for (int i = 1; i <= 3; i++) {
            done(changes.set(Map.of("limits.connections", Integer.toString(i)), false));
        }
        assertEquals(
                List.of(3, 4),
                inspection.history().stream().map(ConfigInspector.Entry::number).toList());
        Path kept = directory.resolve("state/config-history");
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(kept)));
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(kept.resolve("4.json"))));
    }

    @Test
    void keepsFewerConfigurationsAtOnceAfterTheSetting() throws Exception {
        run(FILE);
        for (int i = 1; i <= 3; i++) {
            done(changes.set(Map.of("limits.connections", Integer.toString(i)), false));
        }
        assertEquals(4, inspection.history().size());
        done(changes.set(Map.of("admin.config_history", "2"), false));
        assertEquals(2, inspection.history().size());
    }

    @Test
    void aDamagedHistoryEntryIsIgnored() throws Exception {
        run(FILE);
        Files.writeString(directory.resolve("state/config-history/1.json"), "{\"number\": 1, ");
        assertTrue(
                done(changes.set(Map.of("limits.connections", "2000"), false)).ok());
        assertEquals(List.of("set"), by());
        assertTrue(done(changes.rollback(1)).problems().get(0).text().contains("1.json is damaged"));
        assertEquals(2000, connections());
    }

    @Test
    void aDamagedEntryOfTheHistoryKeepsNoLauncherFromStarting() throws Exception {
        run(FILE);
        changes.close();
        Files.writeString(
                directory.resolve("state/config-history/1.json"),
                "{\"number\": \"one\", \"at\": \"\", \"by\": \"start\", \"name\": \"\", \"directory\": \"/\", \"text\": \"\"}");
        launch(Map.of());

        assertEquals(List.of("start"), by());
        assertEquals(2, inspection.history().get(0).number());
    }

    @Test
    void theSameFileStartsNoNewEntry() throws Exception {
        run(FILE);
        changes.close();
        launch(Map.of());
        assertEquals(List.of("start"), by());
    }
}
