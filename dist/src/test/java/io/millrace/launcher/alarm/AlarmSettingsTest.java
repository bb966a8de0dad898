package io.millrace.launcher.alarm;

import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.AlarmConfig;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each key of the section changes the settings that {@link Alarms} reads before each action. */
class AlarmSettingsTest {
    @TempDir
    Path directory;

    static List<Map<String, String>> changes() {
        return List.of(
                Map.of("alarms.exec.command", "/bin/false"),
                Map.of("alarms.exec.timeout", "5s"),
                Map.of("alarms.exec.runs_per_minute", "1"),
                Map.of("alarms.syslog.address", "udp://127.0.0.1:514"),
                Map.of("alarms.syslog.facility", "auth"),
                Map.of("alarms.syslog.app_name", "edge"),
                Map.of("alarms.syslog.ca_file", "/ca.pem"),
                Map.of("alarms.syslog.certificate", "/c.pem"),
                Map.of("alarms.syslog.key", "/k.pem"));
    }

    @ParameterizedTest
    @MethodSource("changes")
    void changeIsInTheSettings(Map<String, String> change) {
        Map<String, String> before =
                Map.of("alarms.exec.command", "/bin/true", "alarms.syslog.address", "tls://127.0.0.1:6514");
        Map<String, String> after = new HashMap<>(before);
        after.putAll(change);
        assertNotEquals(settings(before), settings(after));
    }

    private static AlarmConfig settings(Map<String, String> values) {
        ProxyConfig.Builder builder = ProxyConfig.builder();
        values.forEach(builder::set);
        return AlarmConfig.from(builder.build().values());
    }
}
