package io.millrace.launcher.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.config.ConfigControl.ReloadReport;
import io.millrace.proxy.admin.config.ConfigControl.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests the settings that a reload takes from the files, the set values that it keeps, and the plan of a reload. */
class ConfigReloadTest extends ConfigChangesFixture {
    @Test
    void aReloadKeepsSetValuesUnlessTheFileChangesTheSameKey() throws Exception {
        run(FILE);
        done(changes.set(Map.of("limits.connections", "2000", "cache.enabled", "false"), false));
        Files.writeString(file, FILE + "via: {name: edge1}\n");
        assertEquals(Map.of("via.name", Result.APPLIED), results(done(changes.reload())));
        assertEquals(2000, connections());

        Files.writeString(file, FILE.replace("1000", "3000") + "via: {name: edge1}\n");
        ReloadReport report = done(changes.reload());
        assertEquals(3000, connections());
        assertEquals(
                List.of("limits.connections: the value in the file has changed and replaces the value from config set"),
                report.notes());
        assertFalse(cacheEnabled());
    }

    @Test
    void aBrokenFileChangesNoSetting() throws Exception {
        run(FILE);
        done(changes.set(Map.of("limits.connections", "2000"), false));
        Files.writeString(file, FILE.replace("1000", "0"));
        ReloadReport report = done(changes.reload());

        assertFalse(report.ok());
        assertEquals(
                file + ":5:16: limits.connections: 0 is below the limit of 1",
                report.problems().get(0).text());
        assertEquals(2000, connections());
        assertEquals(
                List.of("a reload would be rejected: "
                        + report.problems().get(0).text()),
                inspection.diff().notes());
    }

    @Test
    void theMetricsShowWhetherTheLastReloadWasApplied() throws Exception {
        run(FILE);
        ConfigMetrics metrics = new ConfigMetrics(running);
        String loaded = "millrace_config_last_reload_timestamp_seconds{application=\"millrace\"} "
                + String.format(Locale.ROOT, "%.3f", running.loadedAt().toEpochMilli() / 1e3);
        assertEquals(List.of(reloaded(1), loaded), samples(metrics));
        Files.writeString(file, FILE.replace("1000", "0"));
        done(changes.reload());
        assertEquals(List.of(reloaded(0), loaded), samples(metrics));
        Files.writeString(file, FILE);
        done(changes.reload());
        assertEquals(reloaded(1), samples(metrics).get(0));
    }

    private static String reloaded(int value) {
        return "millrace_config_last_reload_successful{application=\"millrace\"} " + value + ".000";
    }

    private static List<String> samples(ConfigMetrics metrics) {
        return metrics.prometheusText()
                .lines()
                .filter(line -> !line.startsWith("#"))
                .toList();
    }

    @Test
    void aFileThatContradictsASettingIsRejectedWithBothNames() throws Exception {
        run(FILE);
        done(changes.set(Map.of("cache.heuristic_min_lifetime", "2h"), false));
        Files.writeString(file, FILE + "cache: {heuristic_max_lifetime: 1h}\n");
        ReloadReport report = done(changes.reload());

        assertEquals(
                "config set cache.heuristic_min_lifetime: 2h is above the limit of heuristic_max_lifetime, 1h",
                report.problems().get(0).text());
    }

    @Test
    void planReportsTheCostOfAReloadAndChangesNothing() throws Exception {
        run(FILE);
        Path other = Files.writeString(
                directory.resolve("other.yaml"),
                FILE.replace("1000", "7") + "cache: {ram_size: 64MiB}\nworker: {event_loops: 3}\n");
        ReloadReport plan = done(changes.plan(other));

        assertEquals(
                Map.of(
                        "limits.connections",
                        Result.APPLIED,
                        "cache.ram_size",
                        Result.ROLLED,
                        "worker.event_loops",
                        Result.RELAUNCH),
                results(plan));
        Files.writeString(other, FILE.replace("1000", "many"));
        assertEquals(
                other + ":5:16: limits.connections: 'many' is not a whole number",
                done(changes.plan(other)).problems().get(0).text());
        assertTrue(done(changes.plan(null)).settings().isEmpty());
        assertTrue(worker.reloaded.isEmpty() && worker.rolled.isEmpty());
        assertEquals(1, inspection.history().size());
    }

    @Test
    void readsIncludedFilesAgainAtEveryReload() throws Exception {
        Path rules = Files.createDirectories(directory.resolve("rules.d"));
        Path one = Files.writeString(
                rules.resolve("a.yaml"), "remap: [{map: http://a.example/, to: http://o.example/}]\n");
        run("include: rules.d\n" + FILE);
        Files.writeString(one, "remap:\n  - map: http://b.example/\n    to: http://o.example/\n");
        assertEquals(Map.of("remap", Result.APPLIED), results(done(changes.reload())));
        assertEquals(
                "http://b.example/",
                read(worker.reloaded.remove()).remap().get(1).from().toString());

        Files.writeString(one, "remap:\n  - map: http://b.example/\n    too: http://o.example/\n");
        assertEquals(
                one + ":3:5: remap[1].too: unknown key (did you mean to?)",
                done(changes.reload()).problems().get(0).text());
    }
}
