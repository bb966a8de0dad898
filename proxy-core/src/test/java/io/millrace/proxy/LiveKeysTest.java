package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ConfigCatalog;
import io.millrace.proxy.config.key.ConfigKey;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Tests that every key declared as live has a {@link LiveKey} test that observes its effect in a running proxy. */
class LiveKeysTest {
    private static final List<Class<?>> ROOMS = List.of(
            LiveRemapTest.class,
            LiveAccessTest.class,
            LiveViaTest.class,
            LiveStoringTest.class,
            LiveLifetimeTest.class,
            LiveStaleTest.class,
            LiveCacheKeyTest.class,
            LiveCacheRulesTest.class,
            LiveCompressionTest.class,
            LiveRulesTest.class,
            LiveOverloadTest.class,
            LiveMemoryTest.class,
            LiveOriginsTest.class,
            LiveHealthTest.class,
            LiveDeadOriginTest.class,
            LiveHostsTest.class,
            LiveConnectionsTest.class,
            LiveClientLimitsTest.class,
            LiveRequestLimitsTest.class,
            LiveSignedUrlsTest.class,
            LivePasswordsTest.class,
            LiveTokensTest.class,
            LiveAuthorizeTest.class,
            LiveGeoTest.class,
            LiveErrorPagesTest.class,
            LiveEdgeTest.class,
            LiveEsiTest.class,
            LiveExtensionsTest.class,
            LiveTunnelsTest.class,
            LiveOriginConnectionsTest.class,
            LiveDnsTest.class,
            LiveStoreTest.class,
            LiveTlsTest.class,
            LiveOriginHttp2Test.class,
            LiveOriginTlsTest.class,
            LiveHttp2Test.class,
            LiveLogsTest.class,
            LiveAlarmsTest.class,
            LiveTracesTest.class);

    /** Keys that the proxy does not use, and the test in dist that changes them in a running launcher. */
    private static final Map<String, String> OF_THE_LAUNCHER = launchersKeys();

    private static Map<String, String> launchersKeys() {
        Map<String, String> keys = new TreeMap<>();
        keys.put("admin.config_history", "launcher/config/ConfigHistoryTest");
        keys.put("admin.history", "launcher/config/HistorySettingTest");
        keys.put("timeouts.drain", "launcher/config/WorkerChangeTest");
        keys.put("worker.warm_up_limit", "launcher/config/WorkerChangeTest");
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            if (key.path().startsWith("tls.acme.")) {
                keys.put(key.path(), "acme/AcmeSettingsTest");
            } else if (key.path().startsWith("alarms.") && !key.path().equals("alarms.certificate_days")) {
                keys.put(key.path(), "launcher/alarm/AlarmSettingsTest");
            } else if (key.path().startsWith("fleet.")) {
                keys.put(key.path(), "launcher/fleet/FleetSettingsTest");
            } else if (key.path().startsWith("admin.token") || key.path().startsWith("admin.tls.")) {
                keys.put(key.path(), "launcher/config/AdminSettingsTest");
            }
        }
        return keys;
    }

    @Test
    void everyLiveKeyIsSeenToTakeEffect() {
        List<String> seen = new ArrayList<>();
        for (Class<?> room : ROOMS) {
            for (Method test : room.getDeclaredMethods()) {
                LiveKey key = test.getAnnotation(LiveKey.class);
                if (key != null) {
                    seen.add(key.value());
                }
            }
        }
        assertEquals(new TreeSet<>(seen).size(), seen.size(), () -> "a key twice: " + seen);
        seen.addAll(OF_THE_LAUNCHER.keySet());
        Set<String> live = new TreeSet<>();
        for (ConfigKey<?> key : ConfigCatalog.keys()) {
            if (key.apply() == ConfigKey.Apply.LIVE) {
                live.add(key.path());
            }
        }
        assertEquals(live, new TreeSet<>(seen));
    }

    @Test
    void thoseOfTheLauncherAreInItsTests() throws IOException {
        Path tests = Path.of(System.getProperty("basedir", "")).resolve("../dist/src/test/java/io/millrace");
        for (Map.Entry<String, String> each : OF_THE_LAUNCHER.entrySet()) {
            String test = Files.readString(tests.resolve(each.getValue() + ".java"));
            assertTrue(test.contains("Map.of(\"" + each.getKey() + "\""), each.toString());
        }
    }
}
