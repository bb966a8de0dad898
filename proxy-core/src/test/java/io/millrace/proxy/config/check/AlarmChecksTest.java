package io.millrace.proxy.config.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.AlarmConfig;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Problems of the section alarms, with the key and the reason. */
class AlarmChecksTest {
    @TempDir
    Path directory;

    private ConfigResult read(String alarms) {
        return ConfigLoader.parse(
                "listen: [':1']\nremap: [{map: /, to: 'http://o/'}]\nalarms: " + alarms.replace('`', '"') + "\n",
                "m.yaml",
                directory,
                Map.of());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{certificate_days: 0} | alarms.certificate_days: 0 is below the limit",
                "{exec: {command: /nowhere/page}} | alarms.exec.command: /nowhere/page: no such file",
                "{exec: {command: /etc/passwd}} | alarms.exec.command: /etc/passwd: is not executable",
                "{exec: {command: /usr}} | alarms.exec.command: /usr: is not executable",
                "{exec: {timeout: 1h}} | alarms.exec.timeout: 1h is above the limit of 10m",
                "{syslog: {facility: auth}} | alarms.syslog.facility: needs alarms.syslog.address",
                "{syslog: {address: `h:1`}} | alarms.syslog.address: 'h:1' is not",
                "{syslog: {address: `udp://h:1`, ca_file: /etc/passwd}} | alarms.syslog.ca_file: needs an address",
                "{syslog: {address: `tls://h:1`, ca_file: /nowhere}} | alarms.syslog.ca_file: /nowhere: no such file",
                "{syslog: {address: `tls://h:1`, key: /etc/passwd}} | alarms.syslog.key: needs both alarms.sys",
            })
    void aProblemHasItsPlaceAndTheReason(String alarms, String expected) {
        String text = read(alarms).text();
        assertTrue(text.contains(expected), text);
        assertTrue(text.startsWith("m.yaml:3:"), text);
    }

    @Test
    void settingsAreReadAndNoneIsTheDefault() throws Exception {
        Path command = Files.writeString(directory.resolve("page"), "#!/bin/sh\n");
        assertTrue(command.toFile().setExecutable(true));
        ConfigResult result = read("{exec: {command: page, timeout: 5s}, syslog: {address: `tcp://h:601`}}");
        assertEquals("", result.text());
        ProxyConfig config = result.config();
        assertNotNull(config);
        AlarmConfig alarms = AlarmConfig.from(config.values());
        assertEquals(command, alarms.command());
        assertEquals(Duration.ofSeconds(5), alarms.timeout());
        assertEquals("tcp://h:601", alarms.syslog().address().toString());
        ProxyConfig none = read("{}").config();
        assertNotNull(none);
        assertNull(AlarmConfig.from(none.values()).command());
        assertNull(AlarmConfig.from(none.values()).syslog());
    }
}
