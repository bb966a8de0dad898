package io.millrace.launcher.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.config.ConfigControl.ReloadReport;
import io.millrace.proxy.admin.config.ConfigControl.Result;
import io.millrace.proxy.admin.config.ConfigInspector;
import io.millrace.proxy.admin.resource.AdminException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Tests the values that {@code config set} puts over the file, their lifetime, and concurrent changes. */
class ConfigSetTest extends ConfigChangesFixture {
    @Test
    void setsSeveralKeysAtOnceOverTheFile() throws Exception {
        run(FILE);
        ReloadReport report = done(changes.set(Map.of("limits.connections", "2000", "cache.enabled", "false"), false));

        assertEquals(Map.of("limits.connections", Result.APPLIED, "cache.enabled", Result.APPLIED), results(report));
        assertEquals(2000, connections());
        assertEquals(FILE, Files.readString(file));
        assertEquals(2000, read(worker.reloaded.remove()).limits().connections());
    }

    @Test
    void setsNoneWhenOneIsWrong() throws Exception {
        run(FILE);
        ReloadReport report = done(changes.set(Map.of("limits.connections", "2000", "cache.enabled", "maybe"), false));

        assertFalse(report.ok());
        assertEquals(Map.of("limits.connections", Result.REJECTED, "cache.enabled", Result.REJECTED), results(report));
        assertEquals(
                "config set cache.enabled: 'maybe' is neither true nor false",
                report.problems().get(0).text());
        assertEquals(1000, connections());
        assertTrue(worker.reloaded.isEmpty());
    }

    @Test
    void twoThatAreAskedForAtOnceKnowOfEachOther() throws Exception {
        run(FILE);
        worker.gate = new CompletableFuture<>();
        CompletionStage<ReloadReport> one = changes.set(Map.of("limits.connections", "2000"), false);
        CompletionStage<ReloadReport> other = changes.set(Map.of("cache.enabled", "false"), false);
        worker.gate.complete(null);

        assertTrue(done(one).ok() && done(other).ok());
        assertEquals(2000, connections());
        assertFalse(cacheEnabled());
    }

    @Test
    void refusesMoreChangesThanMayWait() throws Exception {
        run(FILE);
        worker.gate = new CompletableFuture<>();
        List<CompletionStage<ReloadReport>> asked = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            asked.add(changes.set(Map.of("limits.connections", Integer.toString(2000 + i)), false));
        }
        worker.gate.complete(null);
        List<Throwable> refused = new ArrayList<>();
        for (CompletionStage<ReloadReport> one : asked) {
            refused.add(one.handle((report, failure) -> failure)
                    .toCompletableFuture()
                    .join());
        }
        refused.removeIf(Objects::isNull);
        assertFalse(refused.isEmpty());
        assertEquals("busy", ((AdminException) refused.get(0)).code());
    }

    @Test
    void launcherSettingsAreNotSetWithoutSave() throws Exception {
        run(FILE);
        ReloadReport report = done(changes.set(Map.of("worker.event_loops", "3"), false));
        assertTrue(report.settings().get(0).detail().contains("add --save"), report::toString);

        assertEquals(
                Map.of("worker.event_loops", Result.RELAUNCH),
                results(done(changes.set(Map.of("worker.event_loops", "3"), true))));
        done(changes.set(Map.of("cache.ram_size", "64MiB"), false));
        assertEquals(
                0,
                read(worker.rolled.remove()).worker().eventLoops(),
                "another worker of this launcher has as many loops as it has sockets");
        ConfigInspector.KeyValue setting =
                inspection.settings(List.of("worker.event_loops")).get(0);
        assertEquals("3", setting.value());
        assertEquals("0", setting.inUse());
    }

    @Test
    void resetGivesTheFileBack() throws Exception {
        run(FILE);
        done(changes.set(Map.of("limits.connections", "2000", "cache.enabled", "false"), false));
        assertFalse(
                done(changes.reset(List.of("limits.connections", "via.name"))).ok());
        assertEquals(2000, connections());

        assertTrue(done(changes.reset(List.of("limits.connections"))).ok());
        assertEquals(1000, connections());
        assertFalse(cacheEnabled());
        assertTrue(done(changes.reset(List.of())).ok());
        assertTrue(cacheEnabled());
    }

    @Test
    void theNextLauncherHasNoneOfTheSettings() throws Exception {
        run(FILE);
        done(changes.set(Map.of("limits.connections", "2000"), false));
        changes.close();
        launch(Map.of());

        assertEquals(1000, connections());
        assertEquals(List.of(), inspection.diff().notes());
        assertEquals(List.of("start", "set", "start"), by());
    }
}
