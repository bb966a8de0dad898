package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.ConfigKey;
import io.millrace.proxy.config.OtherValues;
import io.millrace.proxy.config.ProxyConfig;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Every key of the catalogue, changed in a running proxy: what is declared live is in what the event loops read from then
 * on, what is not is reported as needing another proxy.
 */
class LiveSettingsTest {
    /**
     * Live keys that are read from elsewhere than from the snapshot of settings, and who does. Each has a test of its own;
     * a new key must be in the snapshot, or here.
     */
    private static final Map<String, String> READ_ELSEWHERE = new TreeMap<>(Map.of(
            "include", "the launcher, at each reload",
            "admin.config_history", "the launcher, when it writes an entry",
            "timeouts.drain", "the launcher, when a worker is to go",
            "limits.connections", "ConnectionSet, at each connection",
            "worker.fast_lane", "FastLane, at each connection",
            "store.scrub_rate", "the store, told at each reload",
            "filters", "the rules that name them, and access.filters"));

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private static List<ConfigKey<?>> keys(ConfigKey.Apply apply) {
        List<ConfigKey<?>> keys = new ArrayList<>();
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            if (key.path().indexOf('[') < 0 && key.apply() == apply) {
                keys.add(key);
            }
        }
        return keys;
    }

    private static String snapshot(ProxyServer server) {
        return new Fingerprint(ProxyConfig.class).of(server.snapshot());
    }

    @Test
    void whatIsLiveIsInWhatTheEventLoopsReadAfterAReload() throws IOException {
        // The other keys of cache.overload mean nothing without a limit.
        ProxyServer server = proxy.start(request -> {}, config -> config.set("cache.overload.latency", "1s"));
        ProxyConfig base = server.config();
        Map<String, String> unseen = new TreeMap<>();
        for (ConfigKey<?> key : keys(ConfigKey.Apply.LIVE)) {
            server.reload(base);
            String before = snapshot(server);
            server.reload(base);
            assertTrue(before.equals(snapshot(server)), "the same settings make the same snapshot");
            ProxyConfig changed = OtherValues.with(base, key);
            ReloadReport report = server.reload(changed);
            assertTrue(
                    report.settings().contains(new ReloadReport.Setting(key.path(), ReloadReport.Result.APPLIED)),
                    () -> key + ": " + report);
            if (snapshot(server).equals(before)) {
                unseen.put(key.path(), READ_ELSEWHERE.getOrDefault(key.path(), "nobody knows whom"));
            }
        }
        assertEquals(READ_ELSEWHERE, unseen);
    }

    @Test
    void whatIsNotLiveIsReportedAndLeavesTheRestApplied() throws IOException {
        ProxyServer server = proxy.start(request -> {}, config -> config);
        ProxyConfig base = server.config();
        List<ConfigKey<?>> keys = new ArrayList<>(keys(ConfigKey.Apply.ROLLING));
        keys.addAll(keys(ConfigKey.Apply.RELAUNCH));
        for (ConfigKey<?> key : keys) {
            ReloadReport report = server.reload(OtherValues.with(base, key));
            assertEquals(
                    List.of(new ReloadReport.Setting(key.path(), ReloadReport.Result.NEEDS_NEW_PROXY)),
                    report.settings(),
                    key.path());
            server.reload(base);
        }
        assertNotEquals(0, keys.size());
    }
}
