package io.millrace.launcher.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.millrace.proxy.admin.config.ConfigControl.ReloadReport;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the report of a rollback about settings over the file. */
class ConfigRollbackTest {
    private static final String FILE_DIFFERS =
            "the file was not changed and differs from the running configuration (see millctl config diff); the next reload applies the file";

    @TempDir
    Path directory;

    private final CannedRun run = new CannedRun();
    private ConfigChanges changes;

    @BeforeEach
    void begin() throws Exception {
        changes = new ConfigChanges(
                run.of(directory, "listen: ['127.0.0.1:0']\nremap: [{map: /, to: http://origin.example/}]\n"));
        done(changes.set(Map.of("limits.connections", "2000"), false));
        done(changes.set(Map.of("cache.enabled", "false"), false));
    }

    @AfterEach
    void close() {
        changes.close();
    }

    private static ReloadReport done(CompletionStage<ReloadReport> change) {
        return change.toCompletableFuture().join();
    }

    @Test
    void settingsOfTheEarlierConfigurationAreNotReportedAsRemoved() {
        assertEquals(
                List.of(
                        FILE_DIFFERS,
                        "values from config set were dropped: cache.enabled",
                        "configuration 2 contains values from config set: limits.connections"),
                done(changes.rollback(0)).notes());
    }

    @Test
    void rollbackReportsDroppedSavedValues() {
        assertEquals(
                List.of("values from config set were dropped: cache.enabled, limits.connections"),
                done(changes.rollback(1)).notes());
    }

    @Test
    void oneThatTheWorkerRefusesLeavesAllAsItWas() {
        run.refuse("the worker is starting; try again");
        ReloadReport report = done(changes.rollback(1));

        assertFalse(report.ok());
        assertEquals(List.of(), report.notes());
    }
}
